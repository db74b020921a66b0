/* Stable histogram: noise, threshold, release, and the card.
 *
 * Promises: (epsilon, delta)-DP under the rule's adjacency. Keys that both neighbours have are
 * post-processed noisy counts; S keys change, S = L0 under add-remove and 2 L0 under replace, so
 * Laplace noise of scale S Linf/epsilon. A key that only one of them has holds at most Linf there
 * and is shown with at most the share 1-(1-delta)^(1/L0) of delta; at most L0 such keys are on one
 * side. proofs/stable_histogram.md. */
#include <brume/mechanism/stable_histogram.h>

#include <brume/noise/noise.h>

#include "accountant/exact/delta_bounds.h"
#include "base/error.h"
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/stability/histogram_gaussian.h"
#include "mechanism/stability/laplace_tail.h"
#include "mechanism/stability/stability.h"
#include "mechanism/stability/trial.h"

enum { MOST_KEYS = 1 << 20, MOST_GAUSSIAN_KEYS = 64, MOST_AMOUNT = 1 << 30 };

static brume_status check(const brume_histogram_rule *rule, brume_error *error)
{
    if (rule->adjacency != BRUME_ADD_REMOVE && rule->adjacency != BRUME_REPLACE)
        return brume_fail(error, BRUME_EARGUMENT, "use add-remove or replace",
                          "a stable histogram is not defined under this 'adjacency'");
    if (rule->noise < BRUME_HISTOGRAM_DISCRETE_LAPLACE || rule->noise > BRUME_HISTOGRAM_GAUSSIAN)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no such noise for a histogram");
    if (!(rule->epsilon >= 0x1p-30 && rule->epsilon <= 700))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'epsilon' is %.17g, must be in [2^-30, 700]", rule->epsilon);
    if (!(rule->delta >= 0x1p-1000 && rule->delta < .5))
        return brume_fail(error, BRUME_EARGUMENT, "private keys need a delta",
                          "'delta' is %.17g, must be in (0, 1/2)", rule->delta);
    uint64_t most = rule->noise == BRUME_HISTOGRAM_GAUSSIAN ? MOST_GAUSSIAN_KEYS : MOST_KEYS;
    if (rule->keys_per_unit < 1 || rule->keys_per_unit > most)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "%llu keys a unit, must be in [1, %llu]",
                          (unsigned long long)rule->keys_per_unit, (unsigned long long)most);
    if (rule->amount_per_key < 1 || rule->amount_per_key > MOST_AMOUNT)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "%llu a key, must be in [1, 2^30]",
                          (unsigned long long)rule->amount_per_key);
    return BRUME_OK;
}

/* Keys that change between neighbours. */
static uint64_t changing(const brume_histogram_rule *rule)
{
    return rule->adjacency == BRUME_REPLACE ? 2 * rule->keys_per_unit : rule->keys_per_unit;
}

static double laplace_scale(const brume_histogram_rule *rule)
{
    /* S Linf < 2^52: exact. */
    return brume_scale_upper((double)(changing(rule) * rule->amount_per_key), rule->epsilon);
}

/* Linf + scale ln(1/(2 share)), each step up. */
static double laplace_threshold(const brume_histogram_rule *rule, double scale)
{
    double share = brume_delta_share_lower(rule->delta, rule->keys_per_unit);
    double reach = brume_multiply_up(scale, -brume_log_down(2 * share)); /* share < 1/2 */
    return brume_add_up((double)rule->amount_per_key, reach);
}

static double gaussian_sigma(const brume_histogram_rule *rule)
{
    double change =
        brume_multiply_up(brume_sqrt_up((double)changing(rule)), (double)rule->amount_per_key);
    /* Up: a sigma for half of delta; the threshold then takes what is left of all of it. */
    return brume_multiply_up(brume_profile_gaussian_sigma_upper(rule->epsilon, rule->delta / 2),
                             change);
}

brume_status brume_histogram_threshold_real(const brume_histogram_rule *rule, double *scale,
                                            double *threshold, brume_error *error)
{
    BRUME_TRY(check(rule, error));
    if (rule->noise == BRUME_HISTOGRAM_DISCRETE_LAPLACE)
        return brume_fail(error, BRUME_EARGUMENT, "its threshold is an integer",
                          "discrete Laplace noise has no real threshold");
    if (rule->noise == BRUME_HISTOGRAM_LAPLACE) {
        *scale = laplace_scale(rule);
        *threshold = laplace_threshold(rule, *scale);
        return BRUME_OK;
    }
    double sigma = gaussian_sigma(rule), low = (double)rule->amount_per_key, high = low + sigma;
    while (!brume_histogram_gaussian_holds(rule, sigma, high, NULL))
        high += sigma;
    while (high - low > high * 0x1p-50) {
        double middle = low + (high - low) / 2;
        if (brume_histogram_gaussian_holds(rule, sigma, middle, NULL))
            high = middle; /* certified */
        else
            low = middle;
    }
    *scale = sigma;
    *threshold = high;
    return BRUME_OK;
}

/* Before a scale is made an integer: below 2^50 the thresholds are below 2^61. */
static brume_status check_scale(double scale, brume_error *error)
{
    if (!(scale <= 0x1p50))
        return brume_fail(error, BRUME_EARGUMENT, "use a larger 'epsilon'",
                          "the noise would exceed 2^50");
    return BRUME_OK;
}

static brume_status plan_discrete(const brume_histogram_rule *rule, brume_histogram_plan *plan,
                                  brume_error *error)
{
    uint64_t m;
    double tail;
    plan->scale = laplace_scale(rule);
    BRUME_TRY(check_scale(plan->scale, error));
    BRUME_TRY(brume_discrete_tail_threshold(
        plan->scale, brume_delta_share_lower(rule->delta, rule->keys_per_unit), &m, &tail, error));
    plan->threshold = (int64_t)(rule->amount_per_key + m);
    plan->delta_upper = brume_delta_joint_upper(tail, rule->keys_per_unit);
    return BRUME_OK;
}

static brume_status plan_laplace(const brume_histogram_rule *rule, brume_histogram_plan *plan,
                                 brume_error *error)
{
    plan->scale = laplace_scale(rule);
    BRUME_TRY(check_scale(plan->scale, error));
    /* Rounded noise reaches the threshold only if the real one reaches threshold - 1/2: the least
     * integer not below t + 1/2. The difference t - 1/2 is exact, or its ceiling is that of t. */
    plan->threshold = (int64_t)ceil(laplace_threshold(rule, plan->scale) - .5) + 1;
    double reach = (double)plan->threshold - .5 - (double)rule->amount_per_key;
    double tail = brume_exp_up(-brume_divide_down(reach, plan->scale)) / 2; /* up */
    plan->delta_upper = brume_delta_joint_upper(tail, rule->keys_per_unit);
    return BRUME_OK;
}

static brume_status plan_gaussian(const brume_histogram_rule *rule, brume_histogram_plan *plan,
                                  brume_error *error)
{
    plan->scale = gaussian_sigma(rule);
    BRUME_TRY(check_scale(plan->scale, error));
    int64_t low = (int64_t)rule->amount_per_key, step = 1 + (int64_t)plan->scale, high = low;
    do
        high += step;
    while (!brume_histogram_gaussian_holds(rule, plan->scale, (double)high - .5, NULL));
    low = high - step;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (brume_histogram_gaussian_holds(rule, plan->scale, (double)middle - .5, NULL))
            high = middle;
        else
            low = middle;
    }
    plan->threshold = high;
    (void)brume_histogram_gaussian_holds(rule, plan->scale, (double)high - .5, &plan->delta_upper);
    return BRUME_OK;
}

brume_status brume_histogram_plan_make(const brume_histogram_rule *rule, brume_histogram_plan *out,
                                       brume_error *error)
{
    BRUME_TRY(check(rule, error));
    brume_histogram_plan plan = {.rule = *rule};
    if (rule->noise == BRUME_HISTOGRAM_DISCRETE_LAPLACE)
        BRUME_TRY(plan_discrete(rule, &plan, error));
    else if (rule->noise == BRUME_HISTOGRAM_LAPLACE)
        BRUME_TRY(plan_laplace(rule, &plan, error));
    else
        BRUME_TRY(plan_gaussian(rule, &plan, error));
    *out = plan;
    return BRUME_OK;
}

static brume_status open_noise(const brume_histogram_plan *plan, brume_noise **out,
                               brume_error *error)
{
    switch (plan->rule.noise) {
    case BRUME_HISTOGRAM_DISCRETE_LAPLACE:
        return brume_noise_open_discrete_laplace(plan->scale, out, error);
    case BRUME_HISTOGRAM_LAPLACE:
        return brume_noise_open_rounded_laplace(plan->scale, out, error);
    default:
        return brume_noise_open_rounded_gaussian(plan->scale, out, error);
    }
}

brume_status brume_histogram_release(const brume_histogram_plan *plan, brume_bits *bits,
                                     const int64_t *counts, int64_t *noisy, unsigned char *keep,
                                     size_t n, brume_error *error)
{
    enum { BLOCK = 1024 };
    brume_noise *noise = NULL;
    BRUME_TRY(open_noise(plan, &noise, error));
    brume_status status = BRUME_OK;
    for (size_t done = 0; done < n && status == BRUME_OK;) {
        int64_t block[BLOCK];
        size_t here = n - done < BLOCK ? n - done : BLOCK;
        status = brume_noise_add(noise, bits, counts + done, block, here, error);
        for (size_t i = 0; i < here && status == BRUME_OK; i++) {
            /* A key that does not occur may not be shown: nobody would know of it. */
            bool shown = counts[done + i] > 0 && block[i] >= plan->threshold;
            keep[done + i] = shown;
            noisy[done + i] = shown ? block[i] : 0;
        }
        done += here;
    }
    brume_noise_close(noise);
    if (status != BRUME_OK)
        for (size_t i = 0; i < n; i++)
            noisy[i] = keep[i] = 0;
    return status;
}

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_EPSILON_("what the noisy counts cost"),
    BRUME_PARAMETER_DELTA_("probability of showing a key that only one unit has"),
    {.name = "keys",
     .type = BRUME_PARAMETER_INTEGER,
     .least = 1,
     .most = 0x1p53,
     .optional = true,
     .standard = 1,
     .direction = BRUME_MORE_NOISE,
     .unit = "",
     .help =
         "how many keys some unit has, at most the number of units: the accuracy is that of all "
         "of them at once; the price does not depend on it"},
};

static const char *const examples[] = {
    "account 'stable_histogram(epsilon=1, delta=1e-6)' --epsilon 1",
    "accuracy 'stable_histogram(epsilon=1, delta=1e-6, keys=1000)' --beta 0.05",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    brume_cost_of_failing(event->parameter[0], event->parameter[1], cost);
    return BRUME_OK;
}

/* Noise and threshold of one key a unit, by discrete Laplace noise. */
static brume_status plan_of(const brume_event *event, brume_histogram_plan *plan,
                            brume_error *error)
{
    brume_histogram_rule rule = {.noise = BRUME_HISTOGRAM_DISCRETE_LAPLACE,
                                 .epsilon = event->parameter[0],
                                 .delta = event->parameter[1],
                                 .keys_per_unit = 1,
                                 .amount_per_key = 1,
                                 .adjacency = event->adjacency};
    return brume_histogram_plan_make(&rule, plan, error);
}

static brume_status alpha_upper(const brume_event *event, double beta, double *alpha,
                                brume_error *error)
{
    brume_histogram_plan plan;
    BRUME_TRY(plan_of(event, &plan, error));
    return brume_histogram_alpha_upper(plan.scale, (uint64_t)plan.threshold,
                                       (uint64_t)event->parameter[2], beta, alpha, error);
}

static brume_status beta_upper(const brume_event *event, double alpha, double *beta,
                               brume_error *error)
{
    brume_histogram_plan plan;
    BRUME_TRY(plan_of(event, &plan, error));
    brume_histogram_beta_upper(plan.scale, (uint64_t)plan.threshold, (uint64_t)event->parameter[2],
                               alpha, beta);
    return BRUME_OK;
}

const brume_card brume_card_stable_histogram = {
    .id = 17,
    .name = "stable_histogram",
    .summary = "noisy counts of private keys, shown above a threshold",
    .guarantee = "(epsilon, delta)",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE,
    .sensitivity = "none",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "stable_histogram.md",
    .examples = examples,
    .cost = cost,
    .accuracy = "of any of the keys: how far what is shown is from its units, all of them where "
                "it is not shown; a count that is shown has the smaller error of discrete_laplace("
                "scale = 1 / epsilon), twice that under replace",
    .alpha_upper = alpha_upper,
    .beta_upper = beta_upper,
    .trial = &brume_stable_histogram_trial,
};
