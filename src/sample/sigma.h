/* The standard deviation of a Gaussian, exactly: a double, or the square root of a ratio. */
#ifndef BRUME_SAMPLE_SIGMA_H
#define BRUME_SAMPLE_SIGMA_H

#include <stdbool.h>
#include <stdint.h>

#include "number/flint.h"

typedef struct brume_sigma {
    double value; /* sigma rounded to nearest; sigma itself unless `ratio` */
    bool ratio;   /* sigma^2 = numerator/denominator */
    uint64_t numerator, denominator;
    uint64_t mantissa; /* mantissa 2^exponent <= sigma < (mantissa + 1) 2^exponent, */
    int exponent;      /* mantissa >= 2^63 */
} brume_sigma;

#define BRUME_SIGMA_LARGEST 0x1p50

/* 0 < sigma <= BRUME_SIGMA_LARGEST. */
void brume_sigma_from_double(brume_sigma *out, double sigma);
/* numerator, denominator >= 1. */
void brume_sigma_from_ratio(brume_sigma *out, uint64_t numerator, uint64_t denominator);

/* A ball around sigma; its radius is 0 or at most sigma 2^(1 - precision). */
void brume_sigma_ball(arb_t ball, const brume_sigma *sigma, slong precision);

/* sigma as a ratio, where it is one: every double is; else false. */
bool brume_sigma_rational(fmpq_t out, const brume_sigma *sigma);

/* A ball around exp(-x^2 / (2 sigma^2)), x an integer. */
void brume_sigma_bell(arb_t ball, const brume_sigma *sigma, const fmpz_t x, slong precision);

#endif
