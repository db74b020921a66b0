/* The Poisson-subsampled Gaussian: its two tables, the one on the real line (sampled_gaussian.c)
 * and the one on the moved line (sampled_gaussian_line.c). See there. */
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

/* A strip 0 < Im x < height in which r has no zero and nothing grows much; how far it grows up to
 * Im x = d; and the step of a rule that a strip to either side makes exact. */
double brume_strip_height(const brume_law *law, double c);
double brume_strip_growth(const brume_law *law, double c, double d);
double brume_strip_step(const brume_law *law, double c, double height, double width);

/* A bound of the relative error of the rule on the real line. */
double brume_sampled_real_error(const brume_law *law, double c);

/* t = (2x - 1)/(2 sigma^2) at some places, at most 600. */
void brume_sampled_logits(const double *place, size_t count, double square, double *out);

/* In units: how far the 8 units of sigma and rate move the loss at some places (x/sigma fixed). */
void brume_sampled_loss_errors(const brume_law *law, const double *place, size_t count,
                               double *out);

/* Build the table on the moved line. False if memory ran out. */
BRUME_MUST_USE bool brume_sampled_lay(brume_law *law);

/* Where no table reaches the line: nothing is known of psi. */
void brume_sampled_claim_nothing(brume_law *law);

/* As law.h. */
brume_log_psi brume_sampled_node(brume_law *law, long index, double h);
double brume_sampled_envelope(brume_law *law, double low, double high);

#endif
