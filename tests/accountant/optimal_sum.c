/* The textbook's sum for optimal composition, in balls. See the header.
 *
 *   delta(eps) = 1 - prod(1 - delta_i)^count_i (1 - sum_L P[L] (1 - e^{eps-L})_+),
 *
 * L the total loss: count_i signs of size epsilon_i each, a sign being + with probability
 * 1/(1+e^{-epsilon_i}). One distinct epsilon: a binomial sum, walked from its last term downwards
 * with a geometric bound on the rest. Several: all patterns of how many signs are minus. */
#include "optimal_sum.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "accountant/search.h"
#include "base/error.h"
#include "number/ball.h"

enum { MOST_PATTERNS = 1 << 20, MOST_SIGNS = 10000000, MOST_STEPS = 64 };

/* out = 1 - e^{eps - L} where L > eps, else 0; L = a ball. */
static void gain(arb_t out, const arb_t epsilon, const arb_t loss, slong precision)
{
    arb_t zero;
    arb_init(zero);
    arb_sub(out, epsilon, loss, precision);
    arb_expm1(out, out, precision);
    arb_neg(out, out);
    arb_max(out, out, zero, precision);
    arb_clear(zero);
}

/* ------------------------------------------------------------------ one distinct epsilon */

/* sum over l, 0 <= l <= last, of Bin(k, q)(l) (1 - e^{eps - (k-2l) e0})_+, q = 1/(1+e^e0).
 * From l = last down: the weight ratio w_{l-1}/w_l = l e^{e0}/(k-l+1) falls with l; once it is
 * below 1 the rest is at most w_l r/(1-r), and the gain at most 1. */
static void homogeneous(arb_t out, double epsilon0, uint64_t k, double epsilon, slong precision)
{
    arb_t e0, eps, weight, growth, ratio, loss, value, rest;
    arb_init(e0), arb_init(eps), arb_init(weight), arb_init(growth);
    arb_init(ratio), arb_init(loss), arb_init(value), arb_init(rest);
    arb_set_d(e0, epsilon0);
    arb_set_d(eps, epsilon);
    /* (k - 2l) e0 > eps; one more term than the estimate costs nothing: its gain is 0 */
    double bound = floor((brume_ball_upper(e0) > 0 ? ((double)k - epsilon / epsilon0) / 2 : 0) + 2);
    uint64_t last = bound >= (double)k ? k : bound <= 0 ? 0 : (uint64_t)bound;
    arb_exp(growth, e0, precision);
    /* w_last = C(k, last) e^{(k-last) e0} / (1+e^e0)^k */
    arb_add_ui(weight, growth, 1, precision);
    arb_log(weight, weight, precision);
    arb_mul_ui(weight, weight, k, precision);
    arb_neg(weight, weight);
    arb_addmul_ui(weight, e0, k - last, precision);
    arb_set_ui(value, k);
    arb_add_ui(value, value, 1, precision);
    arb_lgamma(value, value, precision);
    arb_add(weight, weight, value, precision);
    arb_set_ui(value, last + 1);
    arb_lgamma(value, value, precision);
    arb_sub(weight, weight, value, precision);
    arb_set_ui(value, k - last);
    arb_add_ui(value, value, 1, precision);
    arb_lgamma(value, value, precision);
    arb_sub(weight, weight, value, precision);
    arb_exp(weight, weight, precision);
    arb_zero(out);
    for (uint64_t l = last;; l--) {
        /* loss = (k - 2l) e0 */
        arb_mul_ui(loss, e0, k - l, precision);
        arb_submul_ui(loss, e0, l, precision);
        gain(value, eps, loss, precision);
        arb_addmul(out, value, weight, precision);
        if (l == 0)
            break;
        arb_mul_ui(ratio, growth, l, precision);
        arb_div_ui(ratio, ratio, k - l + 1, precision);
        if ((l & 15) == 0) {
            /* rest <= w r/(1-r); stop when it no longer shows */
            arb_sub_ui(rest, ratio, 1, precision);
            arb_neg(rest, rest);
            if (arb_is_positive(rest)) {
                arb_div(rest, ratio, rest, precision);
                arb_mul(rest, rest, weight, precision);
                arb_mul_2exp_si(value, rest, 70);
                if (arb_lt(value, out)) {
                    arb_zero(value);
                    arb_union(value, value, rest, precision); /* the rest is in [0, bound] */
                    arb_add(out, out, value, precision);
                    break;
                }
            }
        }
        arb_mul(weight, weight, ratio, precision);
    }
    arb_clear(e0), arb_clear(eps), arb_clear(weight), arb_clear(growth);
    arb_clear(ratio), arb_clear(loss), arb_clear(value), arb_clear(rest);
}

/* -------------------------------------------------------------------- several epsilons */

/* Add the patterns of steps[i..n), given the loss and the weight so far. */
static void patterns(arb_t out, const brume_pure_step *steps, size_t n, const arb_t epsilon,
                     const arb_t loss, const arb_t weight, slong precision)
{
    arb_t value;
    arb_init(value);
    if (n == 0) {
        gain(value, epsilon, loss, precision);
        arb_addmul(out, value, weight, precision);
        arb_clear(value);
        return;
    }
    arb_t e0, decay, next_loss, next_weight;
    arb_init(e0), arb_init(decay), arb_init(next_loss), arb_init(next_weight);
    uint64_t k = steps->count;
    arb_set_d(e0, steps->epsilon);
    arb_neg(decay, e0);
    arb_exp(decay, decay, precision); /* weight of one minus sign against one plus sign */
    arb_add_ui(value, decay, 1, precision);
    arb_pow_ui(value, value, k, precision);
    arb_div(next_weight, weight, value, precision); /* no minus sign: (1+e^-e0)^-k */
    arb_set(next_loss, loss);
    arb_addmul_ui(next_loss, e0, k, precision);
    for (uint64_t l = 0;; l++) {
        patterns(out, steps + 1, n - 1, epsilon, next_loss, next_weight, precision);
        if (l == k)
            break;
        arb_mul(next_weight, next_weight, decay, precision);
        arb_mul_ui(next_weight, next_weight, k - l, precision);
        arb_div_ui(next_weight, next_weight, l + 1, precision);
        arb_submul_ui(next_loss, e0, 2, precision);
    }
    arb_clear(e0), arb_clear(decay), arb_clear(next_loss), arb_clear(next_weight);
    arb_clear(value);
}

/* ------------------------------------------------------------------------------- both */

typedef struct composition {
    brume_pure_step steps[MOST_STEPS]; /* distinct epsilons above 0 */
    size_t n;
    const brume_pure_step *all; /* as given, for the failure */
    size_t all_n;
    double epsilon;
} composition;

/* Merge equal epsilons; returns how many terms the sum has, infinite if there is no room. */
static double gather(const brume_pure_step *steps, size_t n, composition *out)
{
    *out = (composition){.all = steps, .all_n = n};
    for (size_t i = 0; i < n; i++) {
        if (steps[i].epsilon == 0)
            continue;
        size_t j = 0;
        while (j < out->n && out->steps[j].epsilon != steps[i].epsilon)
            j++;
        if (j == MOST_STEPS)
            return INFINITY;
        if (j == out->n)
            out->steps[out->n++] = (brume_pure_step){.epsilon = steps[i].epsilon};
        if (out->steps[j].count > UINT64_MAX / 2 - steps[i].count)
            return INFINITY;
        out->steps[j].count += steps[i].count;
    }
    double terms = 1;
    for (size_t j = 0; j < out->n; j++)
        terms *= (double)out->steps[j].count + 1;
    return terms;
}

static brume_status gather_few(const brume_pure_step *steps, size_t n, composition *out,
                               brume_error *error)
{
    double terms = gather(steps, n, out);
    if (terms <= (out->n == 1 ? MOST_SIGNS : MOST_PATTERNS))
        return BRUME_OK;
    return brume_fail(error, BRUME_EUNSUPPORTED, "method 'pld' gives a certified bound",
                      "the optimal sum has too many terms: at most 10^7 of one epsilon and 2^20 "
                      "sign patterns of several");
}

double optimal_sum_terms(const brume_pure_step *steps, size_t n)
{
    composition c;
    return gather(steps, n, &c);
}

static void delta_ball(arb_t out, const void *context, slong precision)
{
    const composition *c = context;
    arb_zero(out);
    if (c->n == 1) {
        homogeneous(out, c->steps[0].epsilon, c->steps[0].count, c->epsilon, precision);
    } else if (c->n > 1) {
        arb_t epsilon, loss, weight;
        arb_init(epsilon), arb_init(loss), arb_init(weight);
        arb_set_d(epsilon, c->epsilon);
        arb_one(weight);
        patterns(out, c->steps, c->n, epsilon, loss, weight, precision);
        arb_clear(epsilon), arb_clear(loss), arb_clear(weight);
    }
    /* 1 - survival (1 - finite part) = finite + failure (1 - finite) */
    arb_t survival, term;
    arb_init(survival), arb_init(term);
    for (size_t i = 0; i < c->all_n; i++) {
        arb_set_d(term, -c->all[i].delta);
        arb_log1p(term, term, precision);
        arb_addmul_ui(survival, term, c->all[i].count, precision);
    }
    arb_expm1(survival, survival, precision);
    arb_neg(survival, survival); /* failure */
    arb_sub_ui(term, out, 1, precision);
    arb_neg(term, term);
    arb_addmul(out, survival, term, precision);
    arb_clear(survival), arb_clear(term);
}

brume_status optimal_sum_delta(const brume_pure_step *steps, size_t n, double epsilon,
                               brume_interval *delta, brume_error *error)
{
    composition c;
    BRUME_TRY(gather_few(steps, n, &c, error));
    c.epsilon = epsilon;
    *delta = brume_ball_evaluate(delta_ball, &c, 0, 1);
    return BRUME_OK;
}

static brume_status delta_at(void *context, double epsilon, double *delta, brume_error *error)
{
    (void)error;
    composition c = *(const composition *)context;
    c.epsilon = epsilon;
    *delta = brume_ball_evaluate(delta_ball, &c, 0, 1).upper;
    return BRUME_OK;
}

brume_status optimal_sum_epsilon_upper(const brume_pure_step *steps, size_t n, double delta,
                                       double *epsilon, brume_error *error)
{
    composition c;
    BRUME_TRY(gather_few(steps, n, &c, error));
    double most = brume_basic_epsilon_upper(steps, n), at_most, at_zero;
    BRUME_TRY(delta_at(&c, most, &at_most, error));
    BRUME_TRY(delta_at(&c, 0, &at_zero, error));
    if (at_zero <= delta) {
        *epsilon = 0;
    } else if (at_most > delta) {
        /* the failure probability alone is too large, unless it is the very delta asked for, at
         * which basic composition is a bound too */
        *epsilon = brume_pure_failure_upper(steps, n) <= delta ? most : INFINITY;
    } else if (!(delta > 0)) {
        *epsilon = most;
    } else {
        brume_search search = {delta_at, &c, delta, most * 1e-12, most, 1e-13, 0};
        double found = most;
        brume_status status = brume_search_least(&search, most / 2, &found, error);
        /* the search ends at exp(log(most)), which may be below `most` and not enough */
        if (status != BRUME_OK && status != BRUME_EUNSUPPORTED)
            return status;
        *epsilon = status == BRUME_OK ? fmin(found, most) : most;
    }
    return BRUME_OK;
}
