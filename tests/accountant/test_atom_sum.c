/* Lattice laws with few Laplaces, summed over their atoms: against independent sums in MPFR and
 * against sums over sign patterns in balls, both ends. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/exact/atom_sum.h"
#include "accountant/draws.h"
#include "accountant/reference.h"
#include "accountant/terms.h"

enum { MOST = 6 };

/* A random mixture on one lattice, and Laplaces with it. */
typedef struct mixture {
    reference law;
    brume_term terms[MOST];
    size_t count;
    double epsilons[2];
    unsigned draws[2], kinds;
    double top; /* of bounded parts, and some of the others */
} mixture;

static mixture random_mixture(unsigned most_laplaces)
{
    double step = ldexp(4 + (double)below(60), -9);
    mixture m = {.law = reference_zero(step)};
    size_t lattices = 1 + below(2);
    for (size_t i = 0; i < lattices; i++) {
        long multiple = 1 + (long)below(3);
        uint64_t draws = 1 + below(4);
        double a = step * (double)multiple;
        switch (below(4)) {
        case 0:
            m.terms[m.count++] = pure(a, draws);
            reference_pure(&m.law, multiple, draws);
            break;
        case 1: {
            uint64_t k = 3 + below(7);
            m.terms[m.count++] = kary(a, k, draws);
            reference_kary(&m.law, multiple, k, draws);
            break;
        }
        case 2: {
            long shift = 1 + (long)below(4);
            m.terms[m.count++] = discrete_laplace(a, (uint64_t)shift, draws);
            reference_discrete_laplace(&m.law, multiple, shift, draws);
            a *= (double)shift;
            break;
        }
        default: { /* sigma^2 = shift/(multiple step), rounded: within the parameter's units */
            long shift = 1 + (long)below(3);
            m.terms[m.count++] =
                discrete_gaussian(sqrt((double)shift / (2 * a)), (uint64_t)shift, draws);
            reference_discrete_gaussian(&m.law, 2 * multiple, shift, draws);
            a = 3 * sqrt(2 * a * (double)shift);
        }
        }
        m.top += a * (double)draws;
    }
    m.kinds = below(3);
    for (unsigned i = 0; i < m.kinds; i++) {
        m.epsilons[i] = exp2(-6 + 7 * uniform());
        m.draws[i] = 1 + below(most_laplaces);
        m.terms[m.count++] = laplace(m.epsilons[i], m.draws[i]);
        m.top += m.epsilons[i] * m.draws[i];
    }
    return m;
}

static brume_law open_term(const brume_term *term)
{
    brume_law law;
    brume_error error;
    assert_ok(brume_law_open(&term->cost.law, (double)term->count, false, &law, &error));
    return law;
}

/* Both sides of the sum itself at random epsilons. */
static void both_sides_enclose_exact_sums(void **state)
{
    (void)state;
    draws_state = 11;
    mpfr_t exact;
    mpfr_init2(exact, REFERENCE_BITS);
    unsigned checked = 0, sharp = 0;
    for (unsigned trial = 0; trial < 160; trial++) {
        mixture m = random_mixture(3);
        brume_law laws[MOST];
        for (size_t i = 0; i < m.count; i++)
            laws[i] = open_term(&m.terms[i]);
        double epsilon = m.top * (uniform() - 0.1);
        if (below(6) == 0) /* on an atom */
            epsilon = m.law.step * (double)(m.law.first + (long)below((unsigned)m.law.count));
        reference_laplace_delta(exact, &m.law, m.epsilons, m.draws, m.kinds, epsilon);
        double truth = mpfr_get_d(exact, MPFR_RNDN);
        brume_atom_sum *sum =
            truth > 1e-60 && truth < 1 ? brume_atom_sum_open(laws, m.count, epsilon, truth) : NULL;
        if (sum) {
            brume_delta_bounds bounds = brume_atom_sum_bounds(sum);
            double upper = bounds.delta(bounds.context, epsilon, BRUME_UPPER_SIDE);
            double lower = bounds.delta(bounds.context, epsilon, BRUME_LOWER_SIDE);
            if (!(mpfr_cmp_d(exact, upper) <= 0 && mpfr_cmp_d(exact, lower) >= 0))
                fail_msg("trial %u: %.17g not in [%.17g, %.17g]", trial, truth, lower, upper);
            checked++;
            sharp += upper - lower <= 1e-10 * upper;
            brume_atom_sum_close(sum);
        }
        for (size_t i = 0; i < m.count; i++)
            brume_law_close(&laws[i]);
        reference_clear(&m.law);
    }
    mpfr_clear(exact);
    print_message("# %u checked, %u sharp\n", checked, sharp);
    assert_true(checked >= 100 && sharp >= checked * 9 / 10);
}

/* The whole way: epsilon of a delta, whichever route it takes. */
static void epsilons_of_mixtures_enclose_exact_ones(void **state)
{
    (void)state;
    draws_state = 12;
    mpfr_t exact;
    mpfr_init2(exact, REFERENCE_BITS);
    unsigned atoms = 0;
    double widest = 0;
    for (unsigned trial = 0; trial < 80; trial++) {
        mixture m = random_mixture(2);
        double delta = exp10(-2 - 14 * uniform());
        brume_composition out;
        brume_error error;
        assert_ok(brume_compose_epsilon(m.terms, m.count, delta, NULL, &out, &error));
        reference_laplace_delta(exact, &m.law, m.epsilons, m.draws, m.kinds, out.value.upper);
        bool holds = mpfr_cmp_d(exact, delta) <= 0;
        if (out.value.lower > 0) {
            reference_laplace_delta(exact, &m.law, m.epsilons, m.draws, m.kinds, out.value.lower);
            holds = holds && mpfr_cmp_d(exact, delta) >= 0;
        }
        if (!holds)
            fail_msg("trial %u: epsilon at %g not in [%.17g, %.17g] by %s", trial, delta,
                     out.value.lower, out.value.upper, out.route);
        atoms += strstr(out.route, "atoms") != NULL;
        widest = fmax(widest, (out.value.upper - out.value.lower) / fmax(out.value.upper, 1e-300));
        reference_clear(&m.law);
    }
    mpfr_clear(exact);
    print_message("# %u by atoms, widest %g\n", atoms, widest);
    assert_true(atoms >= 20 && widest <= 1e-9);
}

/* Lattices that are not commensurable, and Laplaces up to the most there may be: against balls. */
static void sums_over_patterns_agree(void **state)
{
    (void)state;
    draws_state = 13;
    unsigned checked = 0, sharp = 0;
    for (unsigned trial = 0; trial < 400; trial++) {
        brume_term terms[MOST];
        size_t count = 0, lattices = below(3), kinds = 1 + below(2);
        double top = 0;
        for (size_t i = 0; i < lattices; i++) {
            double a = exp2(-5 + 5 * uniform());
            uint64_t draws = 1 + below(3), k = 2 + below(6);
            terms[count++] = below(2)   ? pure(a, draws)
                             : below(2) ? kary(a, k, draws)
                                        : discrete_laplace(a, 2, draws);
            top += a * (double)draws;
        }
        for (size_t i = 0; i < kinds; i++) {
            double a = exp2(-6 + 6 * uniform());
            uint64_t draws = 1 + below(6);
            terms[count++] = laplace(a, draws);
            top += a * (double)draws;
        }
        brume_law laws[MOST];
        for (size_t i = 0; i < count; i++)
            laws[i] = open_term(&terms[i]);
        double epsilon = top * (uniform() * 0.98 - 0.05);
        brume_pattern *pattern = brume_pattern_open(laws, count, epsilon, 1e5);
        assert_non_null(pattern);
        brume_delta_bounds balls = brume_pattern_bounds(pattern);
        double ball_upper = balls.delta(balls.context, epsilon, BRUME_UPPER_SIDE);
        double ball_lower = balls.delta(balls.context, epsilon, BRUME_LOWER_SIDE);
        brume_pattern_close(pattern);
        brume_atom_sum *sum = ball_lower > 0 ? brume_atom_sum_open(laws, count, epsilon, ball_lower)
                                             : NULL;
        if (sum) {
            brume_delta_bounds bounds = brume_atom_sum_bounds(sum);
            double upper = bounds.delta(bounds.context, epsilon, BRUME_UPPER_SIDE);
            double lower = bounds.delta(bounds.context, epsilon, BRUME_LOWER_SIDE);
            double middle = 0.5 * (ball_upper + ball_lower);
            if (!(lower <= middle && middle <= upper))
                fail_msg("trial %u: [%.17g, %.17g] and balls [%.17g, %.17g]", trial, lower, upper,
                         ball_lower, ball_upper);
            checked++;
            sharp += upper - lower <= 1e-10 * upper;
            brume_atom_sum_close(sum);
        }
        for (size_t i = 0; i < count; i++)
            brume_law_close(&laws[i]);
    }
    print_message("# %u checked, %u sharp\n", checked, sharp);
    assert_true(checked >= 300 && sharp >= checked * 9 / 10);
}

static void what_is_too_much_is_left_to_other_routes(void **state)
{
    (void)state;
    const brume_term terms[] = {discrete_gaussian(1e6, 1, 2), laplace(0.1, 13),
                                pure(1e-4, 2000000000), gaussian(1, 1),
                                poisson_gaussian(0.1, 1, 1)};
    const brume_term other = laplace(0.2, 1);
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        brume_law laws[2] = {open_term(&terms[i]), open_term(&other)};
        assert_null(brume_atom_sum_open(laws, 2, 0.1, 1e-6));
        brume_law_close(&laws[0]);
        brume_law_close(&laws[1]);
    }
    brume_law one = open_term(&other);
    assert_null(brume_atom_sum_open(&one, 1, 0.1, 0));
    brume_law_close(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_enclose_exact_sums),
        cmocka_unit_test(epsilons_of_mixtures_enclose_exact_ones),
        cmocka_unit_test(sums_over_patterns_agree),
        cmocka_unit_test(what_is_too_much_is_left_to_other_routes),
    };
    return cmocka_run_group_tests_name("accountant atom sum", tests, NULL, NULL);
}
