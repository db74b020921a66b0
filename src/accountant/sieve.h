/* Which parts of a line count: where a product of many Laplace and pure factors may be above a
 * threshold.
 *
 * log |psi| of each factor is a concave function of sin^2(ya), so it lies below its tangents, and
 * all together below a sum of cosines, which is cheap, smooth, and bounded over a cell of
 * consecutive nodes by its derivatives at the middle. Of many laws the cosines of like frequencies
 * are taken together: the modulus of their sum beats slowly, so that its cells are long.
 * proofs/accountant.md, section 12. */
#ifndef BRUME_ACCOUNTANT_SIEVE_H
#define BRUME_ACCOUNTANT_SIEVE_H

#include "accountant/line.h"

/* Four laws: g and its share of the first three derivatives over half a cell (of a group: of the
 * first alone, and of the second harmonic); e^{iy frequency} in the middle of a cell, its turn from
 * cell to cell, and from the cell after one that counts to the first after the block there. */
typedef struct brume_sieve_lane {
    double size[4], slope[4], curve[4], twist[4], second[4], second_slope[4], frequency[4];
    double wave_re[4], wave_im[4], turn_re[4], turn_im[4], leap_re[4], leap_im[4];
} brume_sieve_lane;

enum { BRUME_SIEVE_GROUPS = 8 };

typedef struct brume_sieve brume_sieve;
struct brume_sieve {
    size_t law_count;
    double block;      /* nodes that are laid where a cell counts */
    double nodes;      /* of a cell */
    double reach;      /* half the width of a cell */
    double allowed;    /* |psi| <= allowed * y is nothing */
    double level;      /* the tangents are those for thresholds near exp(-level) ... */
    double from;       /* ... and y from here on */
    double base, bend; /* the constant part of -log |psi|; the rest of its series over a cell */
    double threshold;
    double index;   /* of the current cell's first node */
    double stand;   /* of the cell's first node in whose middle the waves stand */
    unsigned turns; /* since the waves were computed afresh */
    bool useful;    /* else: nothing would be left out */
    brume_sieve_lane *lane;
    size_t lane_count;
    size_t *slot;                            /* of each law, among all the lanes' places */
    size_t group_count;                      /* 0: every law by itself */
    size_t group_end[BRUME_SIEVE_GROUPS];    /* lanes */
    double group_centre[BRUME_SIEVE_GROUPS]; /* a in the middle of the group */
    double (*cell)(brume_sieve *sieve);      /* the bound over a cell */
};

/* From node `index` >= 2 on; `allowed` as above; `wide`: by the widest instructions. False if
 * memory ran out. Laws are settled, all Laplace or pure. */
BRUME_MUST_USE bool brume_sieve_open(const brume_line *line, double index, double block,
                                     double allowed, bool wide, brume_sieve *out);

/* The first node >= the current one of a cell that may count, or `end`; the cells passed over have
 * |psi| <= allowed * y. *passed grows by what they count at most, relative as line->skipped. */
double brume_sieve_next(const brume_line *line, brume_sieve *sieve, double end, double *passed);

/* Go on at a node `index`. */
void brume_sieve_go(const brume_line *line, brume_sieve *sieve, double index);

void brume_sieve_close(brume_sieve *sieve);

/* The cells' bounds, which turn the waves to the next cell: sieve_cell.c. */
double brume_sieve_cell(brume_sieve *sieve);
double brume_sieve_cell_wide(brume_sieve *sieve); /* NULL-free: plain where there is no AVX2 */
double brume_sieve_group(brume_sieve *sieve);
double brume_sieve_group_wide(brume_sieve *sieve);

#endif
