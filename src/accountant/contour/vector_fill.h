/* psi at blocks of nodes of a dense line, a few nanoseconds a law and node.
 * proofs/accountant/contour.md, section contour.3. */
#ifndef BRUME_ACCOUNTANT_CONTOUR_VECTOR_FILL_H
#define BRUME_ACCOUNTANT_CONTOUR_VECTOR_FILL_H

#include "accountant/contour/line.h"

/* One law: its two shares over D, and the turns of R within a block. */
typedef struct brume_vector_line_wave {
    double turn_re[BRUME_VECTOR_LINE_BLOCK], turn_im[BRUME_VECTOR_LINE_BLOCK];
    double high, low, angle;
    double start_re, start_im; /* R at a block's first node, */
    double next_re, next_im;   /* its turn to the next block, */
    double lead_re, lead_im;   /* and low times it */
    unsigned draws;
    bool laplace;
} brume_vector_line_wave;

/* psi at y, y + h, .. without its big phase; tilt = c + 1/2. */
typedef struct brume_vector_line_nodes {
    double re[BRUME_VECTOR_LINE_BLOCK], im[BRUME_VECTOR_LINE_BLOCK];
    double tilt, y, h;
} brume_vector_line_nodes;

/* One wave for each law, settled; NULL if memory ran out. */
brume_vector_line_wave *brume_vector_line_waves_open(const brume_line *line);

void brume_vector_line_waves_close(brume_vector_line_wave *waves);

/* To the block that starts at y; `turned`: it follows the last one, else the waves start afresh. */
void brume_vector_line_waves_turn(brume_vector_line_wave *waves, size_t count, double y,
                                  bool turned);

/* Fill a block whose waves were turned to it. */
typedef void brume_fill_function(brume_vector_line_nodes *block,
                                 const brume_vector_line_wave *waves, size_t count);

/* NULL where the machine lacks the instructions; the plain one is everywhere. */
typedef enum brume_filling {
    BRUME_FILL_PLAIN,
    BRUME_FILL_FOUR,  /* four at a time, products and sums fused */
    BRUME_FILL_EIGHT, /* eight */
} brume_filling;
brume_fill_function *brume_vector_line_filler(brume_filling filling);

#endif
