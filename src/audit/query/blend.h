/* How much each of several estimates of the same odds counts.
 *
 * Features of one answer often are the same drawn number again: a mean, its error, the one over the
 * other. Each has weights of its own, as if it were the only one, and their sum would count a
 * number as often as it is shown. Factors of at least 0 are found that give the examples the
 * largest likelihood (logistic regression; a factor needs evidence against a penalty). Nothing is
 * claimed of them: poor ones find less. */
#ifndef BRUME_AUDIT_BLEND_H
#define BRUME_AUDIT_BLEND_H

#include <stddef.h>

/* columns[i * count + k]: what estimate k says of example i, as a logarithm of odds for the second
 * database; examples of the two databases in turn, the first of the first one. Fills factors[k],
 * and sums[i] with what all of them then say of example i. */
void brume_blend_learn(const double *columns, size_t count, size_t examples, double *factors,
                       double *sums);

#endif
