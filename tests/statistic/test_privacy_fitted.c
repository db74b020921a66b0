/* Privacy by enumeration of releases fitted to the data, beyond those of test_privacy.c: bins of
 * the interquartile range, and the median with Student and Laplace-log-normal noise. All small
 * databases, all neighbours, both directions; and broken versions that the same sums reject. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include <brume/statistic/interquartile.h>
#include <brume/statistic/quantile.h>
#include <brume/mechanism/smooth.h>
#include <brume/mechanism/stability.h>

#include "chance.h"
#include "multisets.h"
#include "passes.h"

static brume_error error;

static uint64_t threshold_of(double epsilon, double delta, double *exact)
{
    uint64_t m = 0;
    assert_ok(brume_stability_threshold(epsilon, delta, &m, exact, &error));
    return m;
}

static bool neighbours(const multiset *a, const multiset *b, brume_adjacency adjacency)
{
    if (adjacency == BRUME_REPLACE && a->size != b->size)
        return false;
    return multiset_distance(a, b) == (adjacency == BRUME_REPLACE ? 2 : 1);
}

/* ---- bins of the interquartile range ---- */

enum { DOMAIN = 6, MOST_SETS = 800, EDGES = 4, OUTCOMES = EDGES + 1 };

/* Outcome 0 is "nothing", outcome 1 + i is bin i. `more` overstates the distance. */
static double worst_bins(int size, const uint64_t *edges, double epsilon, double delta,
                         uint64_t more)
{
    static multiset all[MOST_SETS];
    static double law[MOST_SETS][OUTCOMES];
    double exact, worst = 0;
    uint64_t m = threshold_of(epsilon, delta, &exact);
    int count = multisets_of_size(size, DOMAIN, all, 0);
    memset(law, 0, sizeof law);
    for (int i = 0; i < count; i++) {
        brume_interquartile *range = NULL;
        size_t bin;
        uint64_t distance;
        assert_ok(brume_interquartile_open(0, DOMAIN - 1, 1, BRUME_REPLACE, all[i].value,
                                           (size_t)size, &range, &error));
        assert_ok(brume_interquartile_bin(range, edges, EDGES, &bin, &distance, &error));
        brume_interquartile_close(range);
        double shown = passes(distance == UINT64_MAX ? distance : distance + more, m, epsilon);
        law[i][0] = 1 - shown;
        law[i][1 + bin] = shown;
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (neighbours(&all[i], &all[j], BRUME_REPLACE))
                worst = fmax(worst, hockey_stick(law[i], law[j], OUTCOMES, epsilon));
    return worst;
}

static void bins_of_the_interquartile_range_are_private_and_tight(void **state)
{
    (void)state;
    const uint64_t edges[][EDGES] = {{0, 1, 2, 4}, {0, 1, 3, 5}, {0, 2, 3, 4}};
    const double settings[][2] = {{1, 1e-2}, {.3, 1e-2}, {2, 1e-4}};
    for (int e = 0; e < 3; e++)
        for (int i = 0; i < 3; i++) {
            double epsilon = settings[i][0], delta = settings[i][1], exact;
            threshold_of(epsilon, delta, &exact);
            assert_holds(exact <= delta);
            for (int size = 2; size <= 6; size++) {
                double worst = worst_bins(size, edges[e], epsilon, delta, 0);
                assert_holds(worst <= exact * (1 + 1e-9));
                assert_holds(worst >= exact * (1 - 1e-9));
                /* Changes to another bin, without the "less one". */
                assert_holds(worst_bins(size, edges[e], epsilon, delta, 1) > exact * 1.3);
            }
            /* One value: the range is 0 whatever it is. */
            assert_holds(worst_bins(1, edges[e], epsilon, delta, 0) == 0);
        }
}

static void bins_need_a_public_number_of_values(void **state)
{
    (void)state;
    const int64_t values[] = {1, 2, 3, 5};
    const uint64_t edges[EDGES] = {0, 1, 2, 4};
    const brume_adjacency adjacencies[] = {BRUME_ADD_REMOVE, BRUME_REPLACE};
    for (int i = 0; i < 2; i++) {
        brume_interquartile *range = NULL;
        size_t bin = 42;
        uint64_t distance = 42;
        assert_ok(brume_interquartile_open(0, DOMAIN - 1, 1 + (uint64_t)i, adjacencies[i], values,
                                           4, &range, &error));
        assert_fails(brume_interquartile_bin(range, edges, EDGES, &bin, &distance, &error),
                     BRUME_EARGUMENT);
        assert_true(bin == 42 && distance == 42);
        brume_interquartile_close(range);
    }
}

/* ---- the median with smooth noise ---- */

enum { MEDIAN_DOMAIN = 5 };

typedef enum scale_version { SMOOTH, LOCAL_ONLY } scale_version;

typedef struct median_law {
    multiset data;
    double centre, scale;
} median_law;

/* Centre and scale of the release for every database: of 4 values where their number is public, of
 * up to 4 where it is not. */
static int median_laws(brume_adjacency adjacency, const brume_smooth_plan *plan,
                       scale_version version, median_law *laws)
{
    static multiset all[MOST_SETS];
    int count = 0;
    for (int size = adjacency == BRUME_REPLACE ? 4 : 0; size <= 4; size++)
        count = multisets_of_size(size, MEDIAN_DOMAIN, all, count);
    for (int i = 0; i < count; i++) {
        brume_quantile_rule rule = {1, 2, 1, adjacency, 0, MEDIAN_DOMAIN - 1};
        brume_quantile *quantile = NULL;
        double smooth;
        assert_ok(brume_quantile_open(&rule, all[i].value, (size_t)all[i].size, &quantile, &error));
        assert_ok(brume_quantile_smooth(quantile, plan->t, &smooth, &error));
        if (version == LOCAL_ONLY)
            smooth = fmax((double)brume_quantile_local(quantile, 0), .01);
        laws[i] = (median_law){all[i], (double)brume_quantile_value(quantile), smooth / plan->s};
        brume_quantile_close(quantile);
    }
    return count;
}

/* A measure of how far apart two laws of one family are: centres `shift` apart (in units of the
 * first scale), the second `widen` times as wide. */
typedef double loss_function(double shape, double shift, double widen);

static double worst_median(brume_adjacency adjacency, const brume_smooth_plan *plan,
                           scale_version version, loss_function *loss)
{
    enum { MOST_PAIRS = 4096 };
    static median_law laws[MOST_SETS];
    static double known[MOST_PAIRS][2]; /* equal pairs are measured once */
    int count = median_laws(adjacency, plan, version, laws), pairs = 0;
    double worst = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            if (!neighbours(&laws[i].data, &laws[j].data, adjacency))
                continue;
            double shift = fabs(laws[j].centre - laws[i].centre) / laws[i].scale;
            double widen = laws[j].scale / laws[i].scale;
            bool seen = false;
            for (int k = 0; k < pairs && !seen; k++)
                seen = known[k][0] == shift && known[k][1] == widen;
            if (seen)
                continue;
            assert_in_range(pairs, 0, MOST_PAIRS - 1);
            known[pairs][0] = shift;
            known[pairs++][1] = widen;
            worst = fmax(worst, loss(plan->shape, shift, widen));
        }
    return worst;
}

/* The largest ln(p/q) over outputs x = sinh(y). */
static double student_loss(double d, double shift, double widen)
{
    double largest = -d * log(widen); /* in the limit of large outputs */
    for (double y = -14; y <= 14; y += 1. / 128) {
        double x = sinh(y), z = (x - shift) / widen;
        largest = fmax(largest, (d + 1) / 2 * (log1p(z * z / d) - log1p(x * x / d)) + log(widen));
    }
    return largest;
}

static const brume_adjacency both[] = {BRUME_REPLACE, BRUME_ADD_REMOVE};

static void a_median_with_student_noise_is_private(void **state)
{
    (void)state;
    const uint64_t degrees[] = {1, 3, 8};
    const double epsilons[] = {.3, 1, 3};
    for (int a = 0; a < 2; a++)
        for (int i = 0; i < 3; i++)
            for (int e = 0; e < 3; e++) {
                brume_smooth_plan plan;
                double epsilon = epsilons[e], d = (double)degrees[i];
                assert_ok(brume_smooth_plan_student(epsilon, degrees[i], 0, &plan, &error));
                double claimed = d * plan.t + plan.s * (d + 1) / (2 * sqrt(d));
                assert_holds(claimed <= epsilon * (1 + 1e-15));
                double worst = worst_median(both[a], &plan, SMOOTH, student_loss);
                assert_holds(worst <= claimed * (1 + 1e-9));
                assert_holds(worst >= claimed * .4);
                /* Noise scaled to the local sensitivity, and a third of the noise. */
                assert_holds(worst_median(both[a], &plan, LOCAL_ONLY, student_loss) > epsilon);
                plan.s *= 3;
                assert_holds(worst_median(both[a], &plan, SMOOTH, student_loss) > epsilon);
            }
}

/* Density of Laplace exp(sigma N), by the trapezoidal rule over N. */
static double log_normal_density(double sigma, double z)
{
    enum { NODES = 193 };
    static double made_for = -1, inverse[NODES], weight[NODES];
    const double step = 1. / 8, root = sqrt(2 * acos(-1));
    if (made_for != sigma)
        for (int i = 0; i < NODES; i++) {
            double n = (i - NODES / 2) * step;
            inverse[i] = exp(-sigma * n);
            weight[i] = inverse[i] / 2 * exp(-n * n / 2) * step / root;
        }
    made_for = sigma;
    double sum = 0;
    for (int i = 0; i < NODES; i++)
        sum += weight[i] * exp(-fabs(z) * inverse[i]);
    return sum;
}

/* The Renyi divergence of order 2, ln of the integral of p^2/q, over outputs x = sinh(y). */
static double renyi_loss(double sigma, double shift, double widen)
{
    const double step = 1. / 64;
    double sum = 0;
    for (double y = -5; y <= 5; y += step) {
        double x = sinh(y), p = log_normal_density(sigma, x);
        double q = log_normal_density(sigma, (x - shift) / widen) / widen;
        sum += p * p / q * cosh(y) * step;
    }
    return log(sum);
}

static void a_median_with_log_normal_noise_is_concentrated(void **state)
{
    (void)state;
    /* Against known divergences; the corner is not the worst, equal scales are. */
    assert_close(renyi_loss(.5, .5, 1), .2372, 1e-3);
    double there = renyi_loss(.5, .5, exp(.1)), back = renyi_loss(.5, .5 * exp(-.1), exp(-.1));
    assert_close(fmax(there, back), .2283, 1e-3);
    assert_close(fmin(there, back), .2213, 1e-3);
    const double rhos[] = {.1, .5};
    for (int a = 0; a < 2; a++)
        for (int i = 0; i < 2; i++) {
            brume_smooth_plan plan;
            assert_ok(brume_smooth_plan_log_normal(rhos[i], 0, &plan, &error));
            double root = plan.t / plan.shape + exp(1.5 * plan.shape * plan.shape) * plan.s;
            assert_holds(root * root / 2 <= rhos[i] * (1 + 1e-14));
            double worst = worst_median(both[a], &plan, SMOOTH, renyi_loss);
            assert_holds(worst <= 2 * rhos[i]);
            assert_holds(worst >= 2 * rhos[i] * .1);
            plan.s *= 4; /* a quarter of the noise */
            assert_holds(worst_median(both[a], &plan, SMOOTH, renyi_loss) > 2 * rhos[i]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_of_the_interquartile_range_are_private_and_tight),
        cmocka_unit_test(bins_need_a_public_number_of_values),
        cmocka_unit_test(a_median_with_student_noise_is_private),
        cmocka_unit_test(a_median_with_log_normal_noise_is_concentrated),
    };
    return cmocka_run_group_tests_name("privacy_fitted", tests, NULL, NULL);
}
