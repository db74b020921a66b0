/* Which parts of a line count: where a product of many Laplace and pure factors may be above a
 * threshold.
 *
 * log |psi| of each factor is a concave function of sin^2(ya), so it lies below its tangents, and
 * all together below a sum of cosines, which is cheap, smooth, and bounded over a cell of
 * consecutive nodes by its derivatives at the middle. proofs/accountant.md, section 12. */
#ifndef BRUME_ACCOUNTANT_SIEVE_H
#define BRUME_ACCOUNTANT_SIEVE_H

#include "accountant/line.h"

/* Four laws: g and its share of the first three derivatives over half a cell; e^{2iay} in the
 * middle of a cell, and its turn from cell to cell. */
typedef struct brume_sieve_lane {
    double size[4], slope[4], curve[4], twist[4];
    double wave_re[4], wave_im[4], turn_re[4], turn_im[4];
} brume_sieve_lane;

typedef struct brume_sieve brume_sieve;
struct brume_sieve {
    size_t law_count;
    double nodes;      /* of a cell */
    double reach;      /* half the width of a cell */
    double allowed;    /* |psi| <= allowed * y is nothing */
    double level;      /* the tangents are those for thresholds near exp(-level) ... */
    double from;       /* ... and y from here on */
    double base, bend; /* the constant part of -log |psi|; the rest of its series over a cell */
    double threshold;
    double index;   /* of the current cell's first node */
    unsigned turns; /* since the waves were computed afresh */
    bool useful;    /* else: nothing would be left out */
    brume_sieve_lane *lane;
    size_t lane_count;
    double (*cell)(brume_sieve *sieve); /* the bound over a cell */
};

/* From node `index` >= 2 on; `allowed` as above; `wide`: by the widest instructions. False if
 * memory ran out. Laws are settled, all Laplace or pure, and nodes * cell divides `block`. */
BRUME_MUST_USE bool brume_sieve_open(const brume_line *line, double index, double block,
                                     double allowed, bool wide, brume_sieve *out);

/* The first node >= the current one of a cell that may count, or `end`; the cells passed over have
 * |psi| <= allowed * y. *passed grows by what they count at most, relative as line->skipped. */
double brume_sieve_next(const brume_line *line, brume_sieve *sieve, double end, double *passed);

/* Go on at a node `index`, a whole number of cells after the current one. */
void brume_sieve_go(const brume_line *line, brume_sieve *sieve, double index);

void brume_sieve_close(brume_sieve *sieve);

#endif
