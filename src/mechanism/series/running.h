/* Running totals of a table that grows, window by window, for one charge.
 *
 * Let x_k be the true total of window k, a whole number. When window t closes, one number is
 * released (in a tree: some), and never again:
 *
 *   square root   y_t = sum over k <= t of c_{t-k} x_k + z_t,  c_k = round(2^16 binom(2k, k)/4^k),
 *                 z_t fresh Gaussian noise. Whatever is shown is decoded from released numbers.
 *   tree          the sums of the blocks of windows that end with t, of 1, r_1, r_1 r_2, ...
 * windows, each with fresh discrete Laplace noise.
 *
 * 1. No noise is kept. z_t is drawn once and forgotten, so there is no state to leak, to keep, or
 * to use twice. The price of that is that each close reads all windows up to t again.
 * 2. The coefficients are rounded, never the results: all is whole numbers, and the sensitivity has
 *    no rounding to bound.
 * 3. What is promised (proofs/series.md): if each unit adds at most T to the windows together, its
 *    earliest rows first, or at most T to each window, and rows come, change and go as those claims
 *    allow, all numbers together cost what brume_running_pay was given.
 * 4. A window that is released twice is not covered by that: whoever calls keeps the first. */
#ifndef BRUME_MECHANISM_RUNNING_H
#define BRUME_MECHANISM_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/account/filter.h>
#include <brume/bits.h>

#include "number/wide.h"

typedef enum brume_running_kind {
    BRUME_RUNNING_SQUARE_ROOT = 1,
    BRUME_RUNNING_TREE = 2,
} brume_running_kind;

enum {
    BRUME_RUNNING_BITS = 16,         /* of a coefficient, behind the point */
    BRUME_RUNNING_WINDOWS = 65536,   /* the longest horizon */
    BRUME_RUNNING_LEVELS = 8,        /* of a tree, at most */
    BRUME_RUNNING_LIMIT_DIGITS = 40, /* T is below 2^40 */
};

/* How totals are released: chosen once, public, and recorded with a series. */
typedef struct brume_running_shape {
    brume_running_kind kind;
    uint64_t horizon;                     /* windows */
    size_t levels;                        /* TREE; a block of a level has the windows of `radix` */
    uint64_t radix[BRUME_RUNNING_LEVELS]; /* blocks of the level below; radix[0] single windows */
} brume_running_shape;

/* The shape for a rule and a horizon: a tree under pure, of the radices with the least worst error.
 * BRUME_EARGUMENT unless 1 <= horizon <= BRUME_RUNNING_WINDOWS. */
BRUME_MUST_USE brume_status brume_running_choose(brume_rule rule, uint64_t horizon,
                                                 brume_running_shape *out, brume_error *error);

typedef struct brume_running brume_running;

/* Prepare. BRUME_EDAMAGED for a shape that brume_running_choose cannot have made. */
BRUME_MUST_USE brume_status brume_running_open(const brume_running_shape *shape,
                                               brume_running **out, brume_error *error);
void brume_running_close(brume_running *running);

/* The coefficients, horizon of them; NULL for a tree. They never increase and are at least 1. */
const uint32_t *brume_running_coefficients(const brume_running *running);

/* ---- the noise ---- */

/* For one released number; public, and recorded with a series. */
typedef struct brume_running_noise {
    brume_rule rule; /* concentrated: discrete Gaussian; approximate: rounded Gaussian; pure:
                        discrete Laplace */
    uint64_t numerator, denominator; /* sigma^2, or the scale, as an exact ratio; or both 0, */
    double scale;                    /* sigma, or the scale: rounded up */
} brume_running_noise;

/* The noise with which all numbers together cost `price`, where a unit adds at most `limit`.
 * `replace`: neighbours replace a unit's rows by others; `signs`: values may be negative. Factors
 * of proofs/series.md: squares of distances 1, 2 under replace, 4 with signs; of a tree 1 and 2.
 * Under concentrated sigma^2 = factor T^2 sum c_k^2 / (2 rho) exactly, where that has 64 bits above
 * and below, else rounded up. Everything is rounded towards more noise.
 * Errors: BRUME_EARGUMENT a limit of 0 or too large; BRUME_EOVERFLOW noise beyond the samplers. */
BRUME_MUST_USE brume_status brume_running_pay(const brume_running *running,
                                              const brume_charge *price, uint64_t limit,
                                              bool replace, bool signs, brume_running_noise *out,
                                              brume_error *error);

/* ---- releasing ---- */

/* How many numbers are released when this window closes: 1, or in a tree 1 to its levels; and when
 * all windows before it closed, together. */
size_t brume_running_numbers(const brume_running *running, uint64_t window);
size_t brume_running_numbers_before(const brume_running *running, uint64_t window);

/* The true numbers of a window from the totals x[0] .. x[window]: a secret until it has noise. */
void brume_running_encode(const brume_running *running, uint64_t window, const brume_i128 *x,
                          brume_i128 *out);

/* Add fresh noise to `count` numbers, which may be of several windows and keys. On error all of
 * them are 0. */
BRUME_MUST_USE brume_status brume_running_draw(const brume_running_noise *noise, brume_bits *bits,
                                               brume_i128 *numbers, size_t count,
                                               brume_error *error);

/* ---- decoding: from released numbers only ---- */

/* The total of the windows first .. last from all numbers released up to `last`, in the order of
 * their windows. Requires first <= last < horizon. Totals of adjacent ranges add up under the
 * square root; in a tree a range is put together from as few blocks as there are. */
BRUME_MUST_USE brume_status brume_running_total(brume_running *running, const brume_i128 *numbers,
                                                uint64_t first, uint64_t last, double *out,
                                                brume_error *error);

/* How uncertain it is: the square root of the sum of squares by which independent noises of one law
 * are multiplied (Gaussian); in a tree, the number of noises that are added. */
BRUME_MUST_USE brume_status brume_running_spread(brume_running *running, uint64_t first,
                                                 uint64_t last, double *out, brume_error *error);

#endif
