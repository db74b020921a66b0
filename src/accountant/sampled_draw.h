/* One Poisson-subsampled Gaussian in doubles with running error bounds: its profile, and its law
 * cut into cells. proofs/accountant.md, section 21. */
#ifndef BRUME_ACCOUNTANT_SAMPLED_DRAW_H
#define BRUME_ACCOUNTANT_SAMPLED_DRAW_H

#include "accountant/closed.h"

/* Its parameters moved to a side; they count as exact from there on. */
typedef struct brume_sampled_draw {
    double sigma, rate;
    bool reversed;
} brume_sampled_draw;

brume_sampled_draw brume_sampled_draw_of(const brume_law *law, brume_side side);

/* E(1 - e^{-(x+L)})_+, which is delta(-x); *error bounds its error. */
double brume_sampled_value(const brume_sampled_draw *draw, double x, double *error);

/* A finite law on one side of the draw's: atoms, what may be missing, and by how much every loss
 * may be off in the direction that counts. */
typedef struct brume_cells {
    brume_side side;
    double *edge; /* places x_0 < x_1 < ..: count + 1 of them */
    size_t count;
    double *loss, *mass; /* upper: at the edges, count + 1; lower: one a cell */
    double missed;       /* upper: the mass beyond the last loss, which counts in full */
    double shift;        /* upper: losses may be larger by this */
    double *memory;
} brume_cells;

/* Cells between `edge`s, which are copied; false if memory ran out. */
BRUME_MUST_USE bool brume_cells_open(const brume_sampled_draw *draw, brume_side side,
                                     const double *edge, size_t count, brume_cells *out);
void brume_cells_close(brume_cells *cells);

/* Places beyond which at most some e^{-depth} lies on either side. */
void brume_cells_range(const brume_sampled_draw *draw, double depth, double *low, double *high);

#endif
