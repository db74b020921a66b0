/* The profile of few Laplace draws of few kinds, in doubles with running error bounds: the sum over
 * sign patterns of sign_pattern.c where it does not cancel much. */
#ifndef BRUME_ACCOUNTANT_EXACT_FEW_LAPLACE_H
#define BRUME_ACCOUNTANT_EXACT_FEW_LAPLACE_H

#include "accountant/exact/closed_form.h"

enum { BRUME_FEW_DRAWS = 12, BRUME_FEW_PATTERNS = 128 };

typedef struct brume_few_laplace {
    size_t draws, patterns; /* K; patterns with a positive shift, the largest first */
    double top;             /* the largest loss */
    double normal;          /* prod (e^{-e/2}/2)^count */
    double shift[BRUME_FEW_PATTERNS], weight[BRUME_FEW_PATTERNS];
    size_t ups[BRUME_FEW_PATTERNS];
    double row[BRUME_FEW_DRAWS + 1][BRUME_FEW_DRAWS]; /* of F_{A,K-A}: the coefficients of x^j */
    double steepness; /* sum of weight times the largest slope of a pattern's terms, moduli */
} brume_few_laplace;

/* The Laplace laws among `laws` with their parameters moved to `side`; other kinds are passed over.
 * False if there are too many draws or patterns. */
bool brume_few_laplace_open(const brume_law *laws, size_t count, brume_side side,
                            brume_few_laplace *out);

/* E(1 - e^{-(x+L)})_+, L the sum of the draws (0 if there are none); *error bounds its error, but
 * for (8 K + 16) units of it and for x itself. */
double brume_few_laplace_value(const brume_few_laplace *few, double x, double *error);

#endif
