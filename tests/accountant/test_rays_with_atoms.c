/* Subsampled Gaussians with pure and Laplace losses, by rays: one draw against quadratures of the
 * definition, several against lines between band-limited functions; and values a hair away, which
 * the same comparison must reject. */
#include "check.h"

#include <math.h>

#include "accountant/contour/line.h"
#include "accountant/draws.h"
#include "accountant/ray/solve.h"
#include "accountant/ray/transform.h"
#include "accountant/solve/solve.h"
#include "accountant/terms.h"

/* --- one draw: the definition in long doubles --- */
enum { PANELS = 8 };

typedef struct draw {
    long double rate, sigma;
} draw;

static long double tail(long double x)
{
    return 0.5L * erfcl(x / sqrtl(2));
}

/* delta of one draw, a record removed; x: beyond it the loss exceeds epsilon */
static long double one(const draw *d, long double epsilon)
{
    long double q = d->rate, s = d->sigma, u = expl(epsilon);
    long double ratio = (u - 1 + q) / q;
    if (ratio <= 0)
        return 1 - u;
    long double x = s * s * logl(ratio) + 0.5L;
    return q * tail((x - 1) / s) + (1 - q - u) * tail(x / s);
}

/* composed with Laplace draws, one after the other: two atoms and a density between, by Gauss's
 * rules */
static long double with_laplace(const draw *d, const double *a, int count, long double epsilon)
{
    if (count == 0)
        return one(d, epsilon);
    long double e = a[0], sum = 0, half = expl(-e);
    sum += 0.5L * with_laplace(d, a + 1, count - 1, epsilon - e);
    sum += 0.5L * half * with_laplace(d, a + 1, count - 1, epsilon + e);
    long double part = 0, half_panel = e / PANELS;
    for (int i = 0; i < PANELS; i++)
        for (int j = 0; j < BRUME_GAUSS_NODES; j++) {
            long double l = -e + half_panel * (2 * i + 1 + (long double)brume_gauss_place(j));
            long double mass = (long double)brume_gauss_weight(j) * expl((l - e) / 2) / 4;
            part += mass * with_laplace(d, a + 1, count - 1, epsilon - l);
        }
    return sum + part * half_panel;
}

/* and with pure draws */
static long double with_pure(const draw *d, const double *a, int laplaces, double pure_epsilon,
                             int pures, long double epsilon)
{
    if (pures == 0)
        return with_laplace(d, a, laplaces, epsilon);
    long double e = pure_epsilon, above = 1 / (1 + expl(-e));
    return above * with_pure(d, a, laplaces, pure_epsilon, pures - 1, epsilon - e) +
           (1 - above) * with_pure(d, a, laplaces, pure_epsilon, pures - 1, epsilon + e);
}

static brume_interval by_rays(const brume_term *terms, size_t count, double epsilon)
{
    brume_merged merged;
    brume_certified certified = {.value = {0, 1}};
    assert_int_equal(brume_merge_terms(terms, count, false, &merged, NULL), BRUME_OK);
    assert_true(
        brume_ray_atoms_delta(merged.laws, merged.law_count, epsilon, 1e-10, &certified, NULL));
    brume_merged_close(&merged);
    return certified.value;
}

static void one_draw_encloses_its_definition(void **state)
{
    (void)state;
    draws_state = 3;
    int narrow = 0, rejected = 0;
    for (int i = 0; i < 48; i++) {
        int laplaces = i % 8 == 0 ? 2 : 1, pures = i % 4;
        double rate = between(1e-3, 0.5), sigma = between(0.4, 2), e = between(0.02, 1);
        double a[2] = {between(0.02, 0.5), 0};
        a[1] = a[0];
        double epsilon = between(0.3, 4);
        draw d = {rate, sigma};
        brume_term terms[3] = {poisson_gaussian(rate, sigma, 1), laplace(a[0], (uint64_t)laplaces),
                               pure(e, (uint64_t)pures)};
        brume_interval ends = by_rays(terms, pures > 0 ? 3 : 2, epsilon);
        double exact = (double)with_pure(&d, a, laplaces, e, pures, epsilon);
        double slack = 1e-13 * exact + 1e-17; /* of these rules */
        if (!(ends.lower <= exact + slack && exact <= ends.upper + slack))
            fail_msg("case %d: %.15g not in [%.15g, %.15g]", i, exact, ends.lower, ends.upper);
        if (exact > 1e-14 && ends.upper - ends.lower <= 1e-8 * ends.upper) {
            narrow++;
            double other = (double)with_pure(&d, a, laplaces, e, pures, epsilon * (1 + 1e-6));
            rejected += other < ends.lower - slack;
        }
    }
    assert_true(narrow >= 20);
    assert_true(rejected >= narrow - 2);
}

/* --- several draws: a line laid by hand --- */
static brume_interval by_line(const brume_term *terms, size_t count, double epsilon)
{
    brume_merged merged;
    assert_int_equal(brume_merge_terms(terms, count, false, &merged, NULL), BRUME_OK);
    brume_line line = {.laws = merged.laws, .law_count = merged.law_count};
    brume_interval ends;
    brume_line_aim(&line, epsilon);
    line.width = 0.02 / fmax(line.c, 0.5);
    assert_true(brume_line_lay(&line, epsilon, brume_line_size(&line, epsilon)));
    brume_line_certify(&line, epsilon, &ends.lower, &ends.upper);
    brume_line_close(&line);
    brume_merged_close(&merged);
    return ends;
}

static void several_draws_agree_with_lines(void **state)
{
    (void)state;
    draws_state = 3;
    int narrow = 0, compared = 0;
    for (int i = 0; i < 24; i++) {
        brume_term terms[4] = {
            poisson_gaussian(between(1e-3, 0.1), between(0.5, 2), 1 + (uint64_t)(8 * uniform())),
            poisson_gaussian(between(1e-3, 0.1), between(0.5, 2), 1 + (uint64_t)(4 * uniform())),
            laplace(between(0.02, 0.5), 1 + (uint64_t)(2 * uniform())),
            pure(between(0.01, 0.5), 1 + (uint64_t)(20 * uniform()))};
        if (i % 4 == 1)
            terms[3] = kary(between(0.01, 0.5), 3 + (uint64_t)(20 * uniform()), 12);
        if (i % 4 == 2)
            terms[3] = discrete_laplace(between(0.01, 0.3), 7, 2);
        if (i % 4 == 3)
            terms[3] = discrete_gaussian(between(3, 8), 1, 3);
        double epsilon = between(0.5, 4);
        brume_interval rays = by_rays(terms, 4, epsilon);
        assert_true(rays.lower <= rays.upper);
        brume_interval line = by_line(terms, 4, epsilon);
        if (!(rays.lower <= line.upper && line.lower <= rays.upper))
            fail_msg("case %d: [%.15g, %.15g] and [%.15g, %.15g]", i, rays.lower, rays.upper,
                     line.lower, line.upper);
        narrow += rays.upper - rays.lower <= 1e-8 * rays.upper;
        compared += line.upper - line.lower <= 0.01 * line.upper;
    }
    assert_true(narrow >= 8);
    assert_true(compared >= 12);
}

static void epsilon_and_delta_are_inverse(void **state)
{
    (void)state;
    draws_state = 3;
    brume_term terms[] = {poisson_gaussian(0.0024, 0.5, 3), laplace(0.165, 1), pure(0.02, 40)};
    brume_composition delta, epsilon;
    assert_int_equal(brume_compose_delta(terms, 3, 5, NULL, &delta, NULL), BRUME_OK);
    assert_true(delta.value.upper - delta.value.lower <= 1e-8 * delta.value.upper);
    assert_int_equal(brume_compose_epsilon(terms, 3, delta.value.upper, NULL, &epsilon, NULL),
                     BRUME_OK);
    assert_true(epsilon.value.lower <= 5 && epsilon.value.upper >= 5 * (1 - 1e-9));
    assert_true(epsilon.value.upper - epsilon.value.lower <= 1e-8 * epsilon.value.upper);
}

static void other_laws_are_left_to_other_routes(void **state)
{
    (void)state;
    draws_state = 3;
    const brume_term no[][2] = {
        {poisson_gaussian(0.01, 1, 3), gaussian(3, 1)},
        {poisson_gaussian(0.01, 1, 3), poisson_gaussian(0.1, 1, 3)},
        {pure(0.1, 3), laplace(0.1, 2)},
        {poisson_gaussian(0.01, 1, 1), pure(0.1, 3)},       /* has a closed form */
        {poisson_gaussian(0.01, 1, 3), laplace(0.1, 5000)}, /* too many */
    };
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        brume_merged merged;
        assert_int_equal(brume_merge_terms(no[i], 2, false, &merged, NULL), BRUME_OK);
        assert_false(brume_ray_atoms_suits(merged.laws, merged.law_count));
        assert_null(brume_ray_atoms_open(merged.laws, merged.law_count, 1e-9));
        brume_merged_close(&merged);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_draw_encloses_its_definition),
        cmocka_unit_test(several_draws_agree_with_lines),
        cmocka_unit_test(epsilon_and_delta_are_inverse),
        cmocka_unit_test(other_laws_are_left_to_other_routes),
    };
    return cmocka_run_group_tests_name("accountant rays with atoms", tests, NULL, NULL);
}
