/* The law of a whole private-key query on neighbouring tables, summed exactly, against its price.
 *
 * A table is, for this query, the number of units in each key. Neighbours differ by one unit in up
 * to G keys (add-remove), or by one unit leaving up to G keys and entering up to G others
 * (replace). A key's output is "hidden" or a number; keys are independent; the hockey-stick
 * divergence is summed over all outputs, in both directions. */
#include "check.h"

#include <stdlib.h>

#include "query/price/price.h"

enum { KEYS = 4 };

/* Output law of one key with n units: [0] hidden, [1 + i] the number lowest + i. */
typedef struct law {
    size_t size;
    double *mass;
} law;

static law key_law(double n, double scale, double threshold, double span)
{
    law out = {(size_t)(2 * span) + 2, calloc((size_t)(2 * span) + 2, sizeof(double))};
    double a = exp(-1 / scale), normal = (1 - a) / (1 + a), shown = 0;
    for (size_t i = 1; n > 0 && i < out.size; i++) {
        double value = threshold + (double)(i - 1);
        out.mass[i] = normal * exp(-fabs(value - n) / scale);
        shown += out.mass[i];
    }
    out.mass[0] = 1 - shown; /* a key without units is never shown */
    return out;
}

/* sup_S P(S) - e^epsilon Q(S) for independent keys: losses of all but the last two keys are
 * convolved by plain enumeration of distinct (mass, loss) classes; small spans keep it exact and
 * quick. */
static double divergence(const law *p, const law *q, size_t keys, size_t at, double mass_p,
                         double mass_q, double e)
{
    if (mass_p < 1e-18)
        return mass_p; /* counted in full: an upper bound of what is cut */
    if (at == keys)
        return fmax(0, mass_p - e * mass_q);
    double total = 0;
    for (size_t i = 0; i < p[at].size; i++)
        total += divergence(p, q, keys, at + 1, mass_p * p[at].mass[i], mass_q * q[at].mass[i], e);
    return total;
}

static double worst_delta(const double *before, const double *after, double scale, double threshold,
                          double epsilon)
{
    law p[KEYS], q[KEYS];
    size_t moved = 0;
    for (size_t k = 0; k < KEYS; k++)
        if (before[k] != after[k]) { /* equal keys contribute nothing */
            p[moved] = key_law(before[k], scale, threshold, 25 * scale);
            q[moved++] = key_law(after[k], scale, threshold, 25 * scale);
        }
    double e = exp(epsilon);
    double worst = fmax(divergence(p, q, moved, 0, 1, 1, e), divergence(q, p, moved, 0, 1, 1, e));
    for (size_t k = 0; k < moved; k++) {
        free(p[k].mass);
        free(q[k].mass);
    }
    return worst;
}

/* Largest divergence over neighbours whose moved keys hold 0, 1 or many other units. */
static double search(uint64_t groups, bool replace, double scale, double threshold, double epsilon)
{
    const double others[] = {0, threshold + 2};
    double worst = 0;
    size_t moved = replace ? 2 * groups : groups;
    for (size_t choice = 0; choice < (size_t)1 << moved; choice++) {
        double before[KEYS] = {0}, after[KEYS] = {0};
        for (size_t k = 0; k < moved; k++) {
            double rest = others[choice >> k & 1];
            bool leaves = k < groups;
            before[k] = rest + (leaves ? 1 : 0);
            after[k] = rest + (leaves ? 0 : 1);
        }
        worst = fmax(worst, worst_delta(before, after, scale, threshold, epsilon));
    }
    return worst;
}

static void private_keys_cost_no_more_than_charged_and_hardly_less(void **state)
{
    (void)state;
    brume_error error = {0};
    const double prices[][2] = {{1, 1e-3}, {2.5, 1e-5}, {0.7, 1e-2}};
    for (size_t i = 0; i < 3; i++)
        for (uint64_t groups = 1; groups <= 2; groups++)
            for (int replace = 0; replace <= (groups == 1); replace++) {
                brume_measure units[] = {{.kind = BRUME_MEASURE_UNITS}};
                brume_shape shape = {
                    .max_groups = groups, .max_rows = 1, .replace = replace, .private_keys = true};
                brume_price price;
                assert_ok(brume_price_laplace(units, 1, &shape, prices[i][0], prices[i][1], &price,
                                              &error));
                double worst =
                    search(groups, replace, units[0].scale, (double)price.threshold, prices[i][0]);
                assert_holds(price.delta <= prices[i][1]);
                assert_holds(worst <= price.delta * (1 + 1e-6) + 1e-12);
                assert_holds(worst >= price.delta * 0.99); /* tight */
            }
}

/* The controls: what goes wrong if the threshold is one less, or the noise is of one group only. */
static void a_threshold_off_by_one_or_noise_for_one_group_is_caught(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_measure units[] = {{.kind = BRUME_MEASURE_UNITS}};
    brume_shape shape = {.max_groups = 1, .max_rows = 1, .private_keys = true};
    brume_price price;
    assert_ok(brume_price_laplace(units, 1, &shape, 1, 1e-3, &price, &error));
    double threshold = (double)price.threshold;
    assert_holds(search(1, false, units[0].scale, threshold - 1, 1) > 1e-3);
    assert_holds(search(1, true, units[0].scale, threshold, 1) > 0.1);  /* replace, unpaid */
    assert_holds(search(2, false, units[0].scale, threshold, 1) > 0.1); /* two groups, unpaid */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(private_keys_cost_no_more_than_charged_and_hardly_less),
        cmocka_unit_test(a_threshold_off_by_one_or_noise_for_one_group_is_caught),
    };
    return cmocka_run_group_tests_name("private keys", tests, NULL, NULL);
}
