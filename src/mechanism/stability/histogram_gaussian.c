/* The exact delta of a stable histogram with continuous Gaussian noise.
 *
 * Let p = P[a key that only one unit has stays hidden] = Phi((threshold - Linf)/sigma) at least,
 * and delta_G(e; mu) the Gaussian profile. With j keys that only the first of two neighbours has
 * and j' that only the second has, hidden with p^j and p^j', the rest is post-processed Gaussian
 * noise: add-remove  max over j of 1 - p^j + p^j dG(e - j ln p; mu_j)  and  dG(e + j ln p; mu_j),
 *               mu_j = sqrt(L0 - j) Linf/sigma
 *   replace     max over j, j' of 1 - p^j + p^j dG(e - (j - j') ln p; sqrt(2 L0 - j - j')
 * Linf/sigma) proofs/stable_histogram.md */
#include "mechanism/stability/histogram_gaussian.h"

#include <math.h>

#include "number/ball.h"
#include "number/rounding.h"

/* out = Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu); for mu = 0: max(0, 1 - exp(e)). */
static void gaussian_profile(arb_t out, const arb_t e, const arb_t mu, slong precision)
{
    arb_t ratio, half, lower;
    arb_init(ratio);
    arb_init(half);
    arb_init(lower);
    if (arb_is_zero(mu)) {
        arb_expm1(out, e, precision);
        arb_neg(out, out);
        if (!arb_is_positive(out))
            arb_nonnegative_part(out, out);
    } else {
        arb_div(ratio, e, mu, precision);
        arb_mul_2exp_si(half, mu, -1);
        arb_sub(out, half, ratio, precision);
        brume_ball_normal_cdf(out, out, precision);
        arb_add(lower, half, ratio, precision);
        arb_neg(lower, lower);
        brume_ball_normal_cdf(lower, lower, precision);
        arb_exp(half, e, precision);
        arb_submul(out, lower, half, precision);
    }
    arb_clear(ratio);
    arb_clear(half);
    arb_clear(lower);
}

typedef struct histogram_question {
    const brume_histogram_rule *rule;
    double sigma, threshold;
    uint64_t gone, come; /* j and j' */
    bool second;         /* the second direction under add-remove */
} histogram_question;

static void one_case(arb_t out, const void *context, slong precision)
{
    const histogram_question *asked = context;
    uint64_t keys = asked->rule->keys_per_unit;
    bool replace = asked->rule->adjacency == BRUME_REPLACE;
    arb_t log_hidden, mu, e, hidden, sigma;
    arb_init(log_hidden);
    arb_init(mu);
    arb_init(e);
    arb_init(hidden);
    arb_init(sigma);
    arb_set_d(sigma, asked->sigma);
    /* ln p = log1p(-Phi(-z)), z = (threshold - Linf)/sigma */
    arb_set_d(e, asked->threshold);
    arb_sub_ui(e, e, asked->rule->amount_per_key, precision);
    arb_neg(e, e);
    arb_div(e, e, sigma, precision);
    brume_ball_normal_cdf(e, e, precision);
    arb_neg(e, e);
    arb_log1p(log_hidden, e, precision);
    /* mu */
    arb_set_ui(mu, (replace ? 2 * keys : keys) - asked->gone - asked->come);
    arb_sqrt(mu, mu, precision);
    arb_mul_ui(mu, mu, asked->rule->amount_per_key, precision);
    arb_div(mu, mu, sigma, precision);
    arb_set_d(e, asked->rule->epsilon);
    if (asked->second) {
        arb_addmul_ui(e, log_hidden, asked->gone, precision);
        gaussian_profile(out, e, mu, precision);
    } else {
        arb_submul_ui(e, log_hidden, asked->gone, precision);
        arb_addmul_ui(e, log_hidden, asked->come, precision);
        gaussian_profile(out, e, mu, precision);
        arb_mul_ui(hidden, log_hidden, asked->gone, precision);
        arb_expm1(hidden, hidden, precision); /* p^j - 1 */
        arb_addmul(out, out, hidden, precision);
        arb_sub(out, out, hidden, precision); /* (1 - p^j) + p^j dG */
    }
    arb_clear(log_hidden);
    arb_clear(mu);
    arb_clear(e);
    arb_clear(hidden);
    arb_clear(sigma);
}

bool brume_histogram_gaussian_holds(const brume_histogram_rule *rule, double sigma,
                                    double threshold, double *delta_upper)
{
    histogram_question asked = {.rule = rule, .sigma = sigma, .threshold = threshold};
    bool replace = rule->adjacency == BRUME_REPLACE;
    double worst = 0;
    for (uint64_t gone = 0; gone <= rule->keys_per_unit; gone++)
        for (uint64_t come = 0; come <= (replace ? rule->keys_per_unit : 1); come++) {
            asked.gone = gone;
            asked.come = replace ? come : 0;
            asked.second = !replace && come == 1;
            double here = brume_ball_evaluate(one_case, &asked, 0, 1).upper;
            if (!(here <= rule->delta))
                return false;
            worst = here > worst ? here : worst;
        }
    if (delta_upper)
        *delta_upper = worst;
    return true;
}
