/* What the two tables of a subsampled Gaussian share: the one on the real line (law_sampled.c) and
 * the one on the moved line (law_sampled_line.c). See there. */
#ifndef BRUME_ACCOUNTANT_LAW_SAMPLED_GAUSSIAN_H
#define BRUME_ACCOUNTANT_LAW_SAMPLED_GAUSSIAN_H

#include "accountant/law/law.h"

enum { BRUME_SAMPLED_MOST = 100000 }; /* points of a table */

/* A strip 0 < Im x < height in which r has no zero and nothing grows much; how far it grows up to
 * Im x = d; and the step of a rule that a strip to either side makes exact. */
double brume_strip_height(const brume_law *law, double c);
double brume_strip_growth(const brume_law *law, double c, double d);
double brume_strip_step(const brume_law *law, double c, double height, double width);

/* t = (2x - 1)/(2 sigma^2) at some places, at most 600. */
void brume_sampled_logits(const double *place, size_t count, double square, double *out);

/* In units: how far the 8 units of sigma and rate move the loss at some places (x/sigma fixed). */
void brume_sampled_loss_errors(const brume_law *law, const double *place, size_t count,
                               double *out);

/* Build the table on the moved line. False if memory ran out. */
BRUME_MUST_USE bool brume_sampled_lay(brume_law *law);

/* Where no table reaches the line: nothing is known of psi. */
void brume_sampled_claim_nothing(brume_law *law);

#endif
