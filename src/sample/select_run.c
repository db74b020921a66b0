/* The exponential mechanism over runs: P[i] proportional to length_i exp(k u_i / d), by inversion
 * with one uniform.
 *
 * With w_i = length_i exp(-k (u_max - u_i) / d), S their sum and C_i the sum of the first i + 1,
 * the choice is the first i with U S < C_i. Doubles decide where U S is further from the C_i beside
 * it than their proven error (proofs/selection.md); else balls do, over more and more bits of U. */
#include <brume/noise/select.h>

#include <math.h>

#include "base/error.h"
#include "sample/cell.h"
#include "sample/kernel.h"

#ifndef SELECT_FIRST_TIER
#define SELECT_FIRST_TIER 1
#endif

typedef struct select_runs {
    double coefficient, factor; /* k; k / d, within 2^-51.9 relative */
    const uint64_t *lengths;
    const int64_t *utilities;
    uint64_t denominator;
    size_t n, last; /* the last run with a length */
    int64_t most;   /* the greatest utility of a run with a length */
} select_runs;

static uint64_t below_most(const select_runs *r, size_t i)
{
    return (uint64_t)r->most - (uint64_t)r->utilities[i]; /* exact: the difference is below 2^64 */
}

/* w_i within 2^-41 relative, or below 2^-900 where the truth is too. */
static double weight(const select_runs *r, size_t i)
{
    if (r->lengths[i] == 0)
        return 0;
    double x = r->factor * (double)below_most(r, i);
    return (double)r->lengths[i] * brume_exp_neg(x < 700 ? x : 700);
}

static void weight_ball(arb_t ball, const select_runs *r, size_t i, slong precision)
{
    arb_t factor;
    arb_init(factor);
    arb_set_d(factor, r->coefficient);
    arb_set_ui(ball, below_most(r, i));
    arb_mul(ball, ball, factor, ARF_PREC_EXACT);
    arb_div_ui(ball, ball, r->denominator, precision + 1100);
    arb_neg(ball, ball);
    arb_exp(ball, ball, precision);
    arb_mul_ui(ball, ball, r->lengths[i], precision);
    arb_clear(factor);
}

/* The first i with U S < C_i, by balls. */
static brume_status choose_deep(const select_runs *r, uint64_t word, brume_bits *bits, size_t *out,
                                brume_error *error)
{
    brume_cell u;
    arb_t place, sum, term;
    arb_init(place);
    arb_init(sum);
    arb_init(term);
    brume_cell_open(&u, word >> (64 - BRUME_WORD_BITS), BRUME_WORD_BITS);
    brume_status status = BRUME_OK;
    bool found = false;
    while (!found && status == BRUME_OK) {
        slong precision = brume_cell_precision(&u) + 64;
        arb_zero(sum);
        for (size_t i = 0; i < r->n; i++) {
            if (r->lengths[i] == 0)
                continue;
            weight_ball(term, r, i, precision);
            arb_add(sum, sum, term, precision);
        }
        brume_cell_ball(place, &u);
        arb_mul(place, place, sum, precision); /* U S */
        arb_zero(sum);
        for (size_t i = 0; i < r->n; i++) {
            if (r->lengths[i] == 0)
                continue;
            weight_ball(term, r, i, precision);
            arb_add(sum, sum, term, precision);
            if (i < r->last && arb_ge(place, sum))
                continue; /* U S >= C_i for certain */
            found = i == r->last || arb_lt(place, sum);
            *out = found ? i : *out;
            break;
        }
        if (!found && !brume_cell_extend(&u, bits))
            status = brume_bits_failed(bits, error);
    }
    brume_cell_close(&u);
    arb_clear(place);
    arb_clear(sum);
    arb_clear(term);
    return status;
}

/* The first i with U S < C_i by doubles; r->n if they cannot say. */
static size_t choose_double(const select_runs *r, uint64_t word)
{
    double total = 0;
    for (size_t i = 0; i < r->n; i++)
        total += weight(r, i);
    double place = brume_uniform_middle(word) * total, sum = 0;
    double margin = total * (0x1p-39 + (double)r->n * 0x1p-50 +
                             (BRUME_PREFIX < 52 ? 1.0 / (double)(UINT64_C(1) << BRUME_PREFIX) : 0));
    bool first = true; /* nothing before: U S >= 0 needs no margin */
    for (size_t i = 0; i < r->n; i++) {
        if (r->lengths[i] == 0)
            continue;
        double before = sum;
        sum += weight(r, i);
        if (sum > place || i == r->last) {
            bool above = first || place - before > margin;
            bool below = i == r->last || sum - place > margin; /* U S < S needs none either */
            return above && below ? i : r->n;
        }
        first = false;
    }
    return r->n;
}

static brume_status choose(const select_runs *r, brume_bits *bits, size_t *out, brume_error *error)
{
    uint64_t word;
    if (!brume_bits_word(bits, bits->main, &word))
        return brume_bits_failed(bits, error);
    size_t choice = SELECT_FIRST_TIER == 1 ? choose_double(r, word) : r->n;
    if (choice == r->n)
        return choose_deep(r, word, bits, out, error);
    *out = choice;
    return BRUME_OK;
}

brume_status brume_select_run(brume_bits *bits, double coefficient, const uint64_t *lengths,
                              const int64_t *utilities, uint64_t denominator, size_t n, size_t *out,
                              brume_error *error)
{
    if (!bits || !lengths || !utilities || n == 0 || !out)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "no bit source, no runs or no place for the choice");
    if (!(coefficient >= 0) || isinf(coefficient))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the coefficient %.17g must be at least 0 and finite", coefficient);
    if (denominator == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "the denominator of the utilities is 0");
    if (n > (size_t)1 << 40)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "more than 2^40 runs");
    if (!brume_rounds_to_nearest())
        return brume_fail(error, BRUME_EARGUMENT, "call fesetround(FE_TONEAREST) before drawing",
                          "the floating-point rounding mode is not to nearest");
    select_runs r = {.coefficient = coefficient,
                     .factor = coefficient / (double)denominator,
                     .lengths = lengths,
                     .utilities = utilities,
                     .denominator = denominator,
                     .n = n,
                     .last = n};
    for (size_t i = 0; i < n; i++) {
        if (lengths[i] == 0)
            continue;
        if (r.last == n || utilities[i] > r.most)
            r.most = utilities[i];
        r.last = i;
    }
    if (r.last == n)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "every run has length 0");
    if (n == 1) {
        *out = 0;
        return BRUME_OK;
    }
    return choose(&r, bits, out, error);
}
