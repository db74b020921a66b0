/* Terms known by a curve only, with terms with laws: the upper end against sums over the others'
 * atoms of what the curve says of the profile, against mechanisms that have such a curve, also
 * chosen after the others' outcomes, and as a smooth function of its parameters. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "accountant/solve/curves.h"
#include "accountant/renyi/renyi.h"
#include "accountant/terms.h"

/* log D(e^x) for x >= 0 by rho alone: the least over c of rho c (c+1) - c x + c log c - (c+1)
 * log(c+1), where 2 rho c + rho = x + log(1 + 1/c). */
static long double log_profile(long double rho, long double x)
{
    long double low = -40, high = 60;
    while (high - low > 1e-9L) {
        long double c = expl((low + high) / 2);
        *(rho * (2 * c + 1) - log1pl(1 / c) < x ? &low : &high) = (low + high) / 2;
    }
    long double c = expl((low + high) / 2);
    return fminl(0, rho * c * (c + 1) - c * x - log1pl(c) - c * log1pl(1 / c));
}

static long double profile(long double rho, long double x)
{
    if (x >= 0)
        return expl(log_profile(rho, x));
    return fminl(1, -expm1l(x) + expl(x + log_profile(rho, -x)));
}

/* A profile is convex in u = e^x, and what moments say at each x is not, near 0: there its convex
 * hull on a fine grid, which is above the true hull by next to nothing. */
enum { GRID = 3000 };
typedef struct hull {
    long double x[GRID + 1], d[GRID + 1];
    int count;
} hull;

static void hull_of(long double rho, hull *out)
{
    long double deviation = sqrtl(2 * rho), low = -5 * deviation, high = 5 * deviation;
    out->count = 0;
    for (int i = 0; i <= GRID; i++) {
        long double x = low + (high - low) * i / GRID, d = profile(rho, x);
        long double *xs = out->x, *ds = out->d;
        for (; out->count >= 2; out->count--) {
            int k = out->count - 1;
            long double before = (ds[k] - ds[k - 1]) / expm1l(xs[k] - xs[k - 1]) *
                                 expl(xs[k] - xs[k - 1]);
            if (before < (d - ds[k]) / expm1l(x - xs[k])) /* slopes over e^{x_k} */
                break;
        }
        xs[out->count] = x;
        ds[out->count++] = d;
    }
}

static long double hull_at(const hull *h, long double rho, long double x)
{
    int low = 0, high = h->count - 1;
    if (x <= h->x[low] || x >= h->x[high])
        return profile(rho, x);
    while (high - low > 1)
        *(h->x[(low + high) / 2] <= x ? &low : &high) = (low + high) / 2;
    long double share = expm1l(x - h->x[low]) / expm1l(h->x[high] - h->x[low]);
    return fminl(profile(rho, x), h->d[low] + share * (h->d[high] - h->d[low]));
}

static double delta_upper(const brume_term *terms, size_t count, double epsilon)
{
    brume_composition out;
    assert_int_equal(brume_compose_delta(terms, count, epsilon, NULL, &out, NULL), BRUME_OK);
    assert_false(out.contradictory);
    return out.value.upper;
}

static double epsilon_upper(const brume_term *terms, size_t count, double delta)
{
    brume_composition out;
    assert_int_equal(brume_compose_epsilon(terms, count, delta, NULL, &out, NULL), BRUME_OK);
    assert_false(out.contradictory);
    return out.value.upper;
}

/* n releases of randomized response: what the curve says, averaged over the others' losses. */
static long double with_pure(long double rho, long double e, int n, long double epsilon)
{
    static hull h;
    hull_of(rho, &h);
    long double sum = 0, log_term = -n * log1pl(expl(-e)); /* all n of loss e */
    for (int k = 0; k <= n; k++) {                         /* k of them have loss -e */
        sum += expl(log_term) * hull_at(&h, rho, epsilon - (n - 2 * k) * e);
        log_term += logl((long double)(n - k) / (k + 1)) - e;
    }
    return sum;
}

static const struct {
    double rho, e;
    int n;
    double epsilon;
} pure_cases[] = {
    {0.02, 0.3, 1, 1},     {0.02, 0.3, 1, 2.5},    {0.5, 0.1, 1, 6},     {1e-4, 0.05, 40, 0.9},
    {1e-8, 0.01, 60, 0.4}, {0.005, 1, 5, 6},       {3, 0.5, 3, 25},      {0.05, 0.05, 2, 0.3},
    {0.08, 4, 1, 1},       {1e-3, 0.002, 10, 0.2}, {0.01, 0.1, 30, 2.2}, {20, 1, 2, 150},
};

static void upper_ends_are_the_average_of_what_the_curve_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pure_cases / sizeof *pure_cases; i++) {
        double rho = pure_cases[i].rho, e = pure_cases[i].e, epsilon = pure_cases[i].epsilon;
        int n = pure_cases[i].n;
        brume_term terms[] = {concentrated(rho, 1), pure(e, (uint64_t)n)};
        long double truth = with_pure(rho, e, n, epsilon);
        double upper = delta_upper(terms, 2, epsilon);
        print_message("# rho %g, %d of %g, epsilon %g: %.4Lg, excess %.2Lg\n", rho, n, e, epsilon,
                      truth, upper / truth - 1);
        assert_true(upper >= truth * (1 - 1e-5L));
        assert_true(upper <= truth * 1.01L);
        double back = epsilon_upper(terms, 2, (double)truth);
        assert_true(back >= epsilon * (1 - 1e-5));
        assert_true(back <= epsilon * 1.003);
    }
}

static void many_curves_are_one(void **state)
{
    (void)state;
    brume_term many[] = {concentrated(2e-6, 10000), laplace(0.05, 40), concentrated(0.03, 1)};
    brume_term one[] = {concentrated(0.05, 1), laplace(0.05, 40)};
    assert_true(fabs(delta_upper(many, 3, 2) / delta_upper(one, 2, 2) - 1) < 1e-9);
    assert_true(fabs(epsilon_upper(many, 3, 1e-9) / epsilon_upper(one, 2, 1e-9) - 1) < 1e-9);
}

/* The same curve, by a function. */
static double line_upper(const brume_cost *cost, double alpha)
{
    return cost->law.a * alpha * (1 + 0x1p-50);
}

static void a_curve_by_a_function_is_worth_nearly_its_rho(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pure_cases / sizeof *pure_cases; i++) {
        double rho = pure_cases[i].rho, e = pure_cases[i].e, epsilon = pure_cases[i].epsilon;
        brume_term terms[] = {concentrated(rho, 1), pure(e, (uint64_t)pure_cases[i].n)};
        double by_rho = delta_upper(terms, 2, epsilon);
        terms[0].cost =
            (brume_cost){.renyi = BRUME_UPPER, .renyi_upper = line_upper, .law = {.a = rho}};
        double by_function = delta_upper(terms, 2, epsilon);
        long double truth = with_pure(rho, e, pure_cases[i].n, epsilon);
        assert_true(by_function >= truth * (1 - 1e-5L));
        assert_true(by_function <= by_rho * 1.05);
    }
}

/* Gaussian noise has the curve rho alpha: the bound may not be below its exact cost. */
static void gaussian_noise_of_that_rho_costs_less(void **state)
{
    (void)state;
    static const double rhos[] = {1e-9, 1e-5, 1e-3, 0.03, 0.5};
    for (size_t i = 0; i < sizeof rhos / sizeof *rhos; i++) {
        double rho = rhos[i];
        brume_term others[] = {laplace(0.2, 3), poisson_gaussian(0.01, 0.7, 4), kary(0.02, 5, 300),
                               discrete_gaussian(20, 1, 9),
                               term_of(BRUME_LOSS_POISSON_LAPLACE, 0.7, 0.05, 0, 20)};
        for (size_t j = 0; j + 1 < sizeof others / sizeof *others; j++) {
            brume_term terms[] = {concentrated(rho / 50, 50), others[j], others[j + 1]};
            brume_term known[] = {gaussian(1 / sqrt(2 * rho), 1), others[j], others[j + 1]};
            brume_composition exact;
            assert_int_equal(brume_compose_epsilon(known, 3, 1e-7, NULL, &exact, NULL), BRUME_OK);
            double upper = epsilon_upper(terms, 3, 1e-7);
            print_message("# rho %g with %zu: %.6g, Gaussian %.6g\n", rho, j, upper,
                          exact.value.lower);
            assert_true(upper >= exact.value.lower);
            assert_true(upper <= 1.2 * exact.value.upper); /* nor far above it */
        }
    }
}

/* A mechanism whose loss is `a` with probability p and else nearly 0: its divergence of order
 * alpha, over alpha, is largest at some alpha, in one of the two directions. */
static double rho_of_leak(double p, double a)
{
    double most = 0, q = p * exp(-a), rest = log1p(-p) - log1p(-q);
    for (double t = 1e-3; t < 1e4; t *= 1.01) {
        double forth = t * a > 600 ? a + log(p) / t
                                   : log1p(p * expm1(t * a) + (1 - p) * expm1(t * rest)) / t;
        double back = log1p(q * expm1(-t * a) + (1 - q) * expm1(-t * rest)) / t;
        most = fmax(most, fmax(forth, back) / (1 + t));
    }
    return most * 1.001; /* between the points */
}

/* The most that such a mechanism may leak at loss a with this rho. */
static double most_leak(double rho, double a)
{
    double low = 0, high = 0.9;
    for (int i = 0; i < 60; i++) {
        double p = 0.5 * (low + high);
        *(rho_of_leak(p, a) <= rho ? &low : &high) = p;
    }
    return low;
}

/* First randomized response; then, knowing its answer, the leak that costs most. What they cost
 * together must be covered, and a bound that is right is not far above it. */
static void mechanisms_chosen_by_the_others_answers_are_covered(void **state)
{
    (void)state;
    static const struct {
        double rho, e, epsilon;
    } cases[] = {{0.5, 0.5, 5}, {0.1, 0.4, 2.5}, {2, 1, 12}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double rho = cases[i].rho, e = cases[i].e, epsilon = cases[i].epsilon, adaptive = 0;
        for (int sign = -1; sign <= 1; sign += 2) {
            double rest = epsilon - sign * e, best = 0;
            for (double a = rest + 0.06; a < rest + 3; a += 0.08)
                best = fmax(best, most_leak(rho, a) * -expm1(rest - a));
            adaptive += best / (1 + exp(-sign * e));
        }
        brume_term terms[] = {concentrated(rho, 1), pure(e, 1)};
        double upper = delta_upper(terms, 2, epsilon);
        print_message("# rho %g, e %g, epsilon %g: leaks %.4g, bound %.4g\n", rho, e, epsilon,
                      adaptive, upper);
        assert_true(upper >= adaptive);
        assert_true(upper <= 1.3 * adaptive);
    }
}

/* One release of integer Gaussian noise on a Poisson sample, known by its curve, with randomized
 * response: what they cost, summed over all outputs in both directions, is covered. */
static void sampled_integer_noise_with_others_is_covered(void **state)
{
    (void)state;
    static const double sigmas[] = {0.5, 1, 3}, rates[] = {0.003, 0.05, 0.4};
    for (int i = 0; i < 9; i++) {
        double sigma = sigmas[i / 3], rate = rates[i % 3], e = 0.4;
        brume_cost curve = {.renyi = BRUME_UPPER,
                            .renyi_upper = brume_renyi_sampled_gaussian_upper,
                            .law = {BRUME_LOSS_POISSON_GAUSSIAN, sigma, rate, 0}};
        brume_term terms[] = {{.count = 1, .cost = curve}, pure(e, 1)};
        for (double epsilon = 0.05; epsilon < 8; epsilon *= 2) {
            long double both[2] = {0, 0}, all = 0;
            for (int k = -60; k <= 60; k++)
                all += expl(-k * k / (2 * (long double)sigma * sigma));
            for (int k = -60; k <= 60; k++)
                for (int sign = -1; sign <= 1; sign += 2) {
                    long double q = expl(-k * k / (2 * (long double)sigma * sigma)) / all;
                    long double ratio =
                        1 + rate * expm1l((2 * k - 1) / (2 * (long double)sigma * sigma));
                    long double rest = expl(epsilon - sign * e), p = 1 / (1 + expl(-sign * e));
                    both[0] += p * q * fmaxl(ratio - rest, 0);
                    both[1] += p * q * fmaxl(1 - rest * ratio, 0);
                }
            double upper = delta_upper(terms, 2, epsilon);
            assert_true(upper >= both[0] * (1 - 1e-12L) && upper >= both[1] * (1 - 1e-12L));
        }
    }
}

static void bounds_move_smoothly_and_one_way(void **state)
{
    (void)state;
    for (int mix = 0; mix < 3; mix++) {
        double before = 0, last_step = 0;
        for (int k = 0; k < 12; k++) {
            double rho = 0.004 * (1 + 1e-6 * k);
            brume_term terms[] = {concentrated(rho, 5), laplace(0.07, 1),
                                  poisson_gaussian(0.005, 0.5, 1), kary(0.003, 5, 1000)};
            double delta = delta_upper(terms, 2 + (size_t)mix, 3 + mix), step = log(delta) - before;
            if (k > 0)
                assert_true(step > 0);
            if (k > 1) /* the second difference of a smooth function is negligible against it */
                assert_true(fabs(step / last_step - 1) < 1e-3);
            before = log(delta);
            last_step = step;
        }
    }
}

static void a_better_rho_of_a_pure_term_is_used(void **state)
{
    (void)state;
    brume_term selection = {.count = 2000};
    selection.cost.pure = selection.cost.loss = selection.cost.concentrated = BRUME_UPPER;
    selection.cost.epsilon = 0.02;
    selection.cost.law = (brume_loss){.kind = BRUME_LOSS_PURE, .a = 0.02};
    selection.cost.rho = 0.02 * 0.02 / 8;
    brume_term terms[] = {selection, laplace(0.1, 50), concentrated(0.01, 1)};
    brume_term all[] = {concentrated(2000 * selection.cost.rho, 1), terms[1], terms[2]};
    double both = epsilon_upper(terms, 3, 1e-8), by_rho = epsilon_upper(all, 3, 1e-8);
    assert_true(fabs(both / by_rho - 1) < 1e-9);
    terms[0].cost.concentrated = BRUME_ABSENT;
    assert_true(both < 0.8 * epsilon_upper(terms, 3, 1e-8));
    /* one release of a large epsilon is bounded: there its rho says less */
    selection.count = 1;
    selection.cost.epsilon = selection.cost.law.a = 3;
    selection.cost.rho = 9.0 / 8;
    terms[0] = selection;
    double bounded = epsilon_upper(terms, 3, 1e-8);
    all[0] = concentrated(9.0 / 8, 1);
    assert_true(bounded < 0.8 * epsilon_upper(all, 3, 1e-8));
}

static void failures_are_added(void **state)
{
    (void)state;
    brume_term terms[] = {concentrated(0.02, 1), pure(0.3, 1)};
    double without = delta_upper(terms, 2, 1.5);
    terms[0].cost.delta_failure = 1e-6;
    double with = delta_upper(terms, 2, 1.5);
    assert_true(with >= 1e-6 + without * (1 - 1e-6) && with <= (1e-6 + without) * (1 + 1e-9));
    brume_composition out;
    assert_int_equal(brume_compose_epsilon(terms, 2, 1e-7, NULL, &out, NULL), BRUME_OK);
    assert_true(out.infinite);
    assert_true(isfinite(epsilon_upper(terms, 2, 1.1e-6)));
}

static void extreme_curves_end(void **state)
{
    (void)state;
    static const double rhos[] = {1e-300, 1e-30, 1e-12, 1, 1e3, 1e9, 1e300};
    for (size_t i = 0; i < sizeof rhos / sizeof *rhos; i++) {
        brume_term terms[] = {concentrated(rhos[i], 1), laplace(0.1, 10), gaussian(5, 1)};
        double epsilon = epsilon_upper(terms, 3, 1e-6), delta = delta_upper(terms, 3, 1);
        print_message("# rho %g: epsilon %g, delta %g\n", rhos[i], epsilon, delta);
        assert_true(epsilon > 0 && delta > 0 && delta <= 1);
        brume_composition exact;
        assert_int_equal(brume_compose_epsilon(terms + 1, 2, 1e-6, NULL, &exact, NULL), BRUME_OK);
        assert_true(epsilon >= exact.value.lower);
        if (rhos[i] <= 1e-12)
            assert_true(epsilon <= exact.value.upper * 1.001);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(upper_ends_are_the_average_of_what_the_curve_says),
        cmocka_unit_test(many_curves_are_one),
        cmocka_unit_test(a_curve_by_a_function_is_worth_nearly_its_rho),
        cmocka_unit_test(gaussian_noise_of_that_rho_costs_less),
        cmocka_unit_test(mechanisms_chosen_by_the_others_answers_are_covered),
        cmocka_unit_test(sampled_integer_noise_with_others_is_covered),
        cmocka_unit_test(bounds_move_smoothly_and_one_way),
        cmocka_unit_test(a_better_rho_of_a_pure_term_is_used),
        cmocka_unit_test(failures_are_added),
        cmocka_unit_test(extreme_curves_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
