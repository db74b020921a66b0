/* The threshold of private keys under rounded Gaussian noise: the whole query's delta, summed over
 * all that one unit may change, is within what is said to be used, and one unit less on the
 * threshold would not do.
 *
 * Of its keys b are those that a replaced unit stays in, j are new on one side, k on the other, and
 * the rest have many units and move. A new key stays hidden with probability p. With mu^2 the sum
 * of the squares that move, the divergence is exactly
 *     1 - p^j + p^j delta_mu(epsilon + (k - j) ln p). */
#include "check.h"

#include <stdbool.h>

#include "accountant/exact/delta_bounds.h"
#include "query/price/key_threshold.h"

static brume_error error;

typedef struct query {
    double groups, cell, stay, epsilon, sigma;
    bool replace;
} query;

static double divergence(const query *q, double squares, double j, double k, double log_hidden)
{
    double e = q->epsilon + (k - j) * log_hidden, p = exp(j * log_hidden);
    double rest = squares > 0 ? brume_profile_gaussian(sqrt(squares), e).lower : fmax(0, -expm1(e));
    return 1 - p + p * rest;
}

/* Of many keys the ends are tried alone. */
static bool tried(double x, double most)
{
    return most <= 5 || x <= 1 || x == most;
}

/* The dearest neighbours when a key shows from 1 + m on. */
static double worst(const query *q, uint64_t m)
{
    double shown = erfc(((double)m - .5) / (q->sigma * sqrt(2))) / 2, log_hidden = log1p(-shown);
    double most = 0;
    for (double b = 0; b <= (q->replace ? q->groups : 0); b++)
        for (double j = 0; j <= q->groups - b; j++)
            for (double k = 0; k <= q->groups - b; k++) {
                double moved = (q->replace ? 2 : 1) * (q->groups - b) - j - k;
                if (!q->replace && j * k > 0)
                    continue; /* only one side has keys of its own */
                if (!tried(b, q->groups) || !tried(j, q->groups - b) || !tried(k, q->groups - b))
                    continue;
                most = fmax(most, divergence(q, moved * q->cell + b * q->stay, j, k, log_hidden));
            }
    return most;
}

static void check_threshold(const query *q, double delta)
{
    uint64_t m = 0;
    double used = 0;
    assert_ok(brume_key_threshold_gaussian(q->sigma, (uint64_t)q->groups, q->cell, q->stay,
                                           q->replace, q->epsilon, delta, &m, &used, &error));
    assert_holds(used <= delta);
    double true_delta = worst(q, m);
    if (!(true_delta <= used * (1 + 1e-9)))
        fail_msg("%g keys, replace %d, stay %g, sigma %g: %g of %g used", q->groups, q->replace,
                 q->stay / q->cell, q->sigma, true_delta, used);
    /* with few keys the sum is over all cases: one less is too much, or nearly */
    if (q->groups <= 8 && m > 1)
        assert_holds(worst(q, m - 1) > 0.8 * delta);
}

/* Rejects: half the cells counted under replace, in the sum for few keys or in the one for many;
 * cells that a unit stays in forgotten; a threshold one less. */
static void check_queries(uint64_t groups)
{
    static const double prices[][2] = {{1, 1e-3}, {2.5, 1e-5}, {0.3, 1e-6}};
    for (int replace = 0; replace <= 1; replace++)
        for (int stay = 0; stay <= replace; stay++)
            for (size_t i = 0; i < 3; i++)
                for (int little = 0; little <= 1; little++) {
                    double epsilon = prices[i][0], delta = prices[i][1];
                    double cells = (double)groups * (stay ? 3 : replace ? 2 : 1);
                    /* half of delta for what moves, as plans have it; or nearly all of it, and
                     * steps of the threshold that are felt */
                    double sigma =
                        brume_profile_gaussian_sigma_upper(epsilon, delta * (little ? .97 : .5));
                    double cell = 1 / (cells * sigma * sigma);
                    query q = {(double)groups,
                               cell,
                               3 * stay * cell,
                               epsilon,
                               little ? 2 : sigma * sqrt(2 * cells),
                               replace};
                    check_threshold(&q, delta);
                }
}

static void queries_of_one_or_two_keys_are_within_what_is_used(void **state)
{
    (void)state;
    check_queries(1);
    check_queries(2);
}

static void queries_of_few_keys_are_within_what_is_used(void **state)
{
    (void)state;
    check_queries(3);
    check_queries(5);
    check_queries(8);
}

static void queries_of_many_keys_are_within_what_is_used(void **state)
{
    (void)state;
    check_queries(9);
    check_queries(12);
    check_queries(30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_of_one_or_two_keys_are_within_what_is_used),
        cmocka_unit_test(queries_of_few_keys_are_within_what_is_used),
        cmocka_unit_test(queries_of_many_keys_are_within_what_is_used),
    };
    return cmocka_run_group_tests_name("gaussian keys", tests, NULL, NULL);
}
