/* Tails and point masses of the noises. Everything is a ball until the last step; what is not exact
 * is an upper bound and says so. */
#include "mechanism/noise/tail.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "base/error.h"

enum { BITS = BRUME_BALL_BITS };

/* out = exp(-num/den) */
static void decay(arb_t out, double num, double den)
{
    arb_t d;
    arb_init(d);
    arb_set_d(out, num);
    arb_set_d(d, den);
    arb_div(out, out, d, BITS);
    arb_neg(out, out);
    arb_exp(out, out, BITS);
    arb_clear(d);
}

void brume_tail_laplace(arb_t out, double scale, double alpha)
{
    decay(out, alpha, scale);
}

/* P[|X| >= k] = 2 q^k/(1+q), k = ceil(alpha) >= 1; 1 at 0. */
void brume_tail_discrete_laplace(arb_t out, double scale, double alpha)
{
    double k = ceil(alpha);
    if (k < 1) {
        arb_one(out);
        return;
    }
    arb_t q;
    arb_init(q);
    decay(q, 1, scale);
    arb_add_ui(q, q, 1, BITS);
    decay(out, k, scale);
    arb_mul_2exp_si(out, out, 1);
    arb_div(out, out, q, BITS);
    arb_clear(q);
}

/* out = erfc(x/(sigma sqrt 2)) */
static void erfc_of(arb_t out, const arb_t x, double sigma)
{
    arb_t s, root;
    arb_init(s);
    arb_init(root);
    arb_set_d(s, sigma);
    arb_sqrt_ui(root, 2, BITS);
    arb_mul(s, s, root, BITS);
    arb_div(s, x, s, BITS);
    arb_hypgeom_erfc(out, s, BITS);
    arb_clear(s);
    arb_clear(root);
}

void brume_tail_gaussian(arb_t out, double sigma, double alpha)
{
    arb_t x;
    arb_init(x);
    arb_set_d(x, alpha);
    erfc_of(out, x, sigma);
    arb_clear(x);
}

/* out = exp(-k^2/(2 sigma^2)) */
static void gaussian_weight(arb_t out, double k, double sigma)
{
    arb_t s;
    arb_init(s);
    arb_set_d(out, k);
    arb_set_d(s, sigma);
    arb_div(out, out, s, BITS);
    arb_mul(out, out, out, BITS);
    arb_mul_2exp_si(out, out, -1);
    arb_neg(out, out);
    arb_exp(out, out, BITS);
    arb_clear(s);
}

/* out = 1 + 2 sum_{j >= 1} exp(-c j^2), for c >= 1/2 or so: the terms after the n-th sum to at most
 * their first one over 1 - exp(-c), which is added as a radius. */
static void theta(arb_t out, const arb_t c)
{
    arb_t term, rest;
    arb_init(term);
    arb_init(rest);
    arb_one(out);
    for (ulong j = 1; j < 200; j++) {
        arb_mul_ui(term, c, j * j, BITS);
        arb_neg(term, term);
        arb_exp(term, term, BITS);
        arb_mul_2exp_si(term, term, 1);
        arb_add(out, out, term, BITS);
        if (arf_cmpabs_2exp_si(arb_midref(term), -BITS - 10) < 0)
            break;
    }
    /* the next term is smaller than the last; the ratio of neighbours is below exp(-c) */
    arb_neg(rest, c);
    arb_exp(rest, rest, BITS);
    arb_sub_ui(rest, rest, 1, BITS);
    arb_neg(rest, rest);
    arb_div(term, term, rest, BITS);
    arb_zero(rest);
    arb_union(rest, rest, term, BITS); /* between nothing and all of it */
    arb_add(out, out, rest, BITS);
    arb_clear(term);
    arb_clear(rest);
}

/* sum over the integers of exp(-k^2/(2 sigma^2)); by Poisson summation it is
 * sigma sqrt(2 pi) (1 + 2 sum exp(-2 pi^2 sigma^2 j^2)). */
static void gaussian_normaliser(arb_t out, double sigma)
{
    arb_t c, pi;
    arb_init(c);
    arb_init(pi);
    arb_set_d(c, sigma);
    if (sigma < 0.4) {
        arb_mul(c, c, c, BITS);
        arb_mul_2exp_si(c, c, 1);
        arb_inv(c, c, BITS); /* 1/(2 sigma^2) > 3 */
        theta(out, c);
    } else {
        arb_const_pi(pi, BITS);
        arb_mul(c, c, pi, BITS);
        arb_mul(c, c, c, BITS);
        arb_mul_2exp_si(c, c, 1); /* 2 pi^2 sigma^2 > 3 */
        theta(out, c);
        arb_mul_2exp_si(pi, pi, 1);
        arb_sqrt(pi, pi, BITS);
        arb_mul(out, out, pi, BITS);
        arb_set_d(c, sigma);
        arb_mul(out, out, c, BITS);
    }
    arb_clear(c);
    arb_clear(pi);
}

/* The sum of the weights at k and beyond, k >= 1. Each weight is the one before it times a ratio
 * exp(-(2j+1)/(2 sigma^2)), which itself falls by exp(-1/sigma^2) a step: two products a term, in
 * balls that carry their error along. It ends where a weight is below 2^-BITS of the first; from
 * there on each is at most the last ratio times the one before: the rest is between 0 and that
 * geometric series. */
static void gaussian_far_sum(arb_t out, double sigma, double k)
{
    arb_t weight, ratio, fall, rest;
    arb_init(weight), arb_init(ratio), arb_init(fall), arb_init(rest);
    arb_set_d(rest, sigma);
    arb_mul(rest, rest, rest, BITS);
    arb_inv(rest, rest, BITS); /* 1/sigma^2 */
    arb_neg(fall, rest);
    arb_exp(fall, fall, BITS);
    arb_set_d(ratio, k);
    arb_mul_2exp_si(ratio, ratio, 1);
    arb_add_ui(ratio, ratio, 1, BITS);
    arb_mul(ratio, ratio, rest, BITS);
    arb_mul_2exp_si(ratio, ratio, -1);
    arb_neg(ratio, ratio);
    arb_exp(ratio, ratio, BITS);
    arb_one(weight); /* as shares of the first */
    arb_zero(out);
    for (int j = 0; j < 4096 && arf_cmpabs_2exp_si(arb_midref(weight), -BITS) >= 0; j++) {
        arb_add(out, out, weight, BITS);
        arb_mul(weight, weight, ratio, BITS);
        arb_mul(ratio, ratio, fall, BITS);
    }
    arb_sub_ui(rest, ratio, 1, BITS);
    arb_neg(rest, rest);
    arb_div(weight, weight, rest, BITS);
    arb_zero(rest);
    arb_union(rest, rest, weight, BITS); /* between nothing and all of it */
    arb_add(out, out, rest, BITS);
    gaussian_weight(weight, k, sigma);
    arb_mul(out, out, weight, BITS);
    arb_clear(weight), arb_clear(ratio), arb_clear(fall), arb_clear(rest);
}

void brume_tail_discrete_gaussian(arb_t out, double sigma, double alpha)
{
    double k = ceil(alpha);
    if (k < 1) {
        arb_one(out);
        return;
    }
    arb_t whole;
    arb_init(whole);
    if (sigma <= 64) {
        /* exact */
        gaussian_far_sum(out, sigma, k);
        gaussian_normaliser(whole, sigma);
        arb_div(out, out, whole, BITS);
        arb_mul_2exp_si(out, out, 1);
    } else if (k >= sigma + 1) {
        /* the weight is convex beyond sigma, so each is at most its integral over [j-1/2, j+1/2];
         * and the whole is at least sigma sqrt(2 pi):  P <= erfc((k-1/2)/(sigma sqrt 2)) */
        arb_set_d(whole, k);
        arb_t half;
        arb_init(half);
        arb_set_d(half, 0.5);
        arb_sub(whole, whole, half, BITS);
        erfc_of(out, whole, sigma);
        arb_clear(half);
    } else {
        /* the weight falls, so each is at most its integral over [j-1, j] */
        arb_set_d(whole, k);
        arb_sub_ui(whole, whole, 1, BITS);
        erfc_of(out, whole, sigma);
    }
    arb_clear(whole);
}

/* --- masses --- */

void brume_mass_discrete_laplace(arb_t out, double scale, int64_t k)
{
    arb_t half, magnitude, b;
    arb_init(half);
    arb_init(magnitude);
    arb_init(b);
    arb_set_d(b, scale);
    arb_inv(half, b, BITS);
    arb_mul_2exp_si(half, half, -1);
    arb_tanh(half, half, BITS); /* (1-q)/(1+q) */
    arb_set_si(magnitude, k);
    arb_abs(magnitude, magnitude);
    arb_div(magnitude, magnitude, b, BITS);
    arb_neg(magnitude, magnitude);
    arb_exp(out, magnitude, BITS);
    arb_mul(out, out, half, BITS);
    arb_clear(half);
    arb_clear(magnitude);
    arb_clear(b);
}

/* a^m/(1+a) for m >= 1, a = exp(-1/scale); 1 - a^(1-m)/(1+a) below, by symmetry. */
void brume_reach_discrete_laplace(arb_t out, double scale, int64_t m)
{
    double k = m >= 1 ? (double)m : 1 - (double)m;
    arb_t q;
    arb_init(q);
    decay(q, 1, scale);
    arb_add_ui(q, q, 1, BITS);
    decay(out, k, scale);
    arb_div(out, out, q, BITS);
    if (m < 1) {
        arb_sub_ui(out, out, 1, BITS);
        arb_neg(out, out);
    }
    arb_clear(q);
}

void brume_mass_discrete_gaussian(arb_t out, double sigma, int64_t k)
{
    arb_t whole, s;
    arb_init(whole);
    arb_init(s);
    arb_set_si(out, k);
    arb_set_d(s, sigma);
    arb_div(out, out, s, BITS);
    arb_mul(out, out, out, BITS);
    arb_mul_2exp_si(out, out, -1);
    arb_neg(out, out);
    arb_exp(out, out, BITS);
    gaussian_normaliser(whole, sigma);
    arb_div(out, out, whole, BITS);
    arb_clear(whole);
    arb_clear(s);
}

/* k = 0: 1 - exp(-1/(2b)); else exp(-(|k|-1/2)/b) (1 - exp(-1/b))/2. */
void brume_mass_rounded_laplace(arb_t out, double scale, int64_t k)
{
    arb_t b, x;
    arb_init(b);
    arb_init(x);
    arb_set_d(b, scale);
    arb_inv(b, b, BITS); /* 1/b */
    if (k == 0) {
        arb_mul_2exp_si(out, b, -1);
        arb_neg(out, out);
        arb_expm1(out, out, BITS);
        arb_neg(out, out);
    } else {
        arb_set_si(x, k);
        arb_abs(x, x);
        arb_mul_2exp_si(x, x, 1);
        arb_sub_ui(x, x, 1, BITS);
        arb_mul_2exp_si(x, x, -1); /* |k| - 1/2 */
        arb_mul(x, x, b, BITS);
        arb_neg(x, x);
        arb_exp(x, x, BITS);
        arb_neg(b, b);
        arb_expm1(out, b, BITS);
        arb_neg(out, out);
        arb_mul(out, out, x, BITS);
        arb_mul_2exp_si(out, out, -1);
    }
    arb_clear(b);
    arb_clear(x);
}

void brume_mass_rounded_gaussian(arb_t out, double sigma, int64_t k)
{
    arb_t x, far;
    arb_init(x);
    arb_init(far);
    arb_set_si(x, k);
    arb_abs(x, x);
    arb_mul_2exp_si(x, x, 1);
    arb_add_ui(x, x, 1, BITS);
    arb_mul_2exp_si(x, x, -1); /* |k| + 1/2 */
    erfc_of(far, x, sigma);
    if (k == 0) {
        arb_sub_ui(out, far, 1, BITS);
        arb_neg(out, out);
    } else {
        arb_sub_ui(x, x, 1, BITS);
        erfc_of(out, x, sigma);
        arb_sub(out, out, far, BITS);
        arb_mul_2exp_si(out, out, -1);
    }
    arb_clear(x);
    arb_clear(far);
}

/* --- accuracy --- */

/* For m independent errors: p becomes 1 - (1-p)^m, the chance that any of them is that large. */
static void any_of(arb_t p, double m)
{
    if (m == 1)
        return;
    arb_t times;
    arb_init(times);
    arb_set_d(times, m);
    arb_neg(p, p);
    arb_log1p(p, p, BITS); /* -inf or indeterminate at p = 1: then the upper end is infinite */
    arb_mul(p, p, times, BITS);
    arb_expm1(p, p, BITS);
    arb_neg(p, p);
    arb_clear(times);
}

double brume_tail_beta_upper(brume_tail *tail, double parameter, double m, double alpha)
{
    arb_t p;
    arb_init(p);
    tail(p, parameter, alpha);
    any_of(p, m);
    double result = brume_ball_upper(p);
    arb_clear(p);
    return result;
}

brume_status brume_tail_alpha_upper(brume_tail *tail, double parameter, double m, double beta,
                                    bool whole, double *alpha, brume_error *error)
{
    double low = 0, high = whole ? fmax(1, floor(parameter)) : parameter;
    while (brume_tail_beta_upper(tail, parameter, m, high) > beta) {
        low = high;
        high *= 2;
        if (high > DBL_MAX / 4)
            return brume_fail(error, BRUME_EOVERFLOW, NULL, "the error is beyond all bounds");
    }
    /* tail(high) <= beta holds from here on; low is 0 or fails */
    for (int i = 0; i < 200; i++) {
        double middle = low + (high - low) / 2;
        if (whole)
            middle = floor(middle);
        if (middle <= low || middle >= high)
            break;
        if (brume_tail_beta_upper(tail, parameter, m, middle) <= beta)
            high = middle;
        else
            low = middle;
    }
    *alpha = high;
    return BRUME_OK;
}
