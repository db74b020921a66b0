/* The Poisson-subsampled Gaussian: its two tables, the one on the real line and the one on the
 * moved line. See sampled_gaussian.c. */
#ifndef BRUME_ACCOUNTANT_LAW_SAMPLED_GAUSSIAN_H
#define BRUME_ACCOUNTANT_LAW_SAMPLED_GAUSSIAN_H

#include "accountant/law/points.h"

enum { BRUME_SAMPLED_MOST = 100000, BRUME_SAMPLED_LAYERS = 24 }; /* points of a table */

typedef struct brume_sampled_tables {
    /* on the real line, good for every order up to `covered` */
    brume_points real;
    double step, covered;
    double uncovered; /* 0, or from this order on the table would be too long */
    double layer_height[BRUME_SAMPLED_LAYERS], layer_length[BRUME_SAMPLED_LAYERS];

    /* on the line Im x = height: psi(y) = sum w_j exp(i y lambda_j), with lambda_j in atom + i spot
     * and w_j in loss + i log_mass */
    brume_points moved;
    double height, moved_step;
    double rule_error;                         /* of psi */
    double bend;                               /* how far |w| may rise between two points */
    double size, moment, deviation, spread;    /* sums of |w|, |w lambda|, and of their errors */
    double wave_size, wave_doubt, wave_gain;   /* bounds of sums over the waves */
    double envelope_low, bound_at, bound_from; /* |psi| at that y, and from there on */
} brume_sampled_tables;

/* The tables of a law of this family. */
static inline brume_sampled_tables *brume_sampled_tables_of(const brume_law *law)
{
    return law->state;
}

/* --- what the two files share --- */

#endif
