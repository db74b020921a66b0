/* More noise never costs more, a smaller delta never less: up to the widths that are certified, and
 * for parameters as near to each other as doubles are. proofs/accountant/solve.md, section solve.4.
 */
#include "check.h"

#include <math.h>

#include "accountant/terms.h"

typedef struct kind {
    const char *name;
    size_t (*make)(double noise, uint64_t count, brume_term *terms); /* how many terms */
    double noise, width;
} kind;

static size_t of_gaussian(double noise, uint64_t count, brume_term *terms)
{
    terms[0] = gaussian(noise, count);
    return 1;
}

static size_t of_laplace(double noise, uint64_t count, brume_term *terms)
{
    terms[0] = laplace(1 / noise, count);
    return 1;
}

static size_t of_pure(double noise, uint64_t count, brume_term *terms)
{
    terms[0] = pure(1 / noise, count);
    return 1;
}

static size_t of_answers(double noise, uint64_t count, brume_term *terms)
{
    terms[0] = kary(1 / noise, 5, count);
    return 1;
}

static size_t of_discrete_laplace(double noise, uint64_t count, brume_term *terms)
{
    terms[0] = discrete_laplace(1 / noise, 3, count);
    return 1;
}

static size_t of_far_discrete_laplace(double noise, uint64_t count, brume_term *terms)
{
    terms[0] = discrete_laplace(1 / noise, 100, count);
    return 1;
}

static size_t of_approximate(double noise, uint64_t count, brume_term *terms)
{
    terms[0] = approximate(1 / noise, 1e-40, count);
    return 1;
}

static size_t of_sampled(double noise, uint64_t count, brume_term *terms)
{
    terms[0] = poisson_gaussian(0.02, noise, count);
    return 1;
}

static size_t of_rate(double noise, uint64_t count, brume_term *terms)
{
    terms[0] = poisson_gaussian(1 / noise, 1.5, count);
    return 1;
}

static size_t of_laplace_with_gaussian(double noise, uint64_t count, brume_term *terms)
{
    terms[0] = laplace(1 / noise, count);
    terms[1] = gaussian(7, 3);
    return 2;
}

static size_t of_laplace_with_pure(double noise, uint64_t count, brume_term *terms)
{
    terms[0] = laplace(1 / noise, count < 5 ? count : 5);
    terms[1] = pure(0.3, 2);
    return 2;
}

static size_t of_multiples(double noise, uint64_t count, brume_term *terms)
{
    terms[0] = pure(1 / noise, count); /* near a multiple of the other's lattice, and off it */
    terms[1] = pure(0.1, 10);
    return 2;
}

/* The noise is where each family changes its route, too. */
static const kind kinds[] = {
    {"gaussian", of_gaussian, 3, 1e-9},
    {"laplace", of_laplace, 2, 1e-9},
    {"laplace, little noise", of_laplace, 0.2, 1e-9},
    {"laplace, much noise", of_laplace, 100, 1e-9},
    {"pure", of_pure, 5, 1e-9},
    {"pure, little noise", of_pure, 0.3, 1e-9},
    {"k-ary", of_answers, 1, 1e-9},
    {"discrete laplace", of_discrete_laplace, 4, 1e-9},
    {"discrete laplace, far", of_far_discrete_laplace, 90, 1e-9},
    {"approximate", of_approximate, 10, 1e-9},
    {"sampled gaussian", of_sampled, 1.1, 1e-6},
    {"sampling rate", of_rate, 60, 1e-6},
    {"laplace with gaussian", of_laplace_with_gaussian, 6, 1e-9},
    {"laplace with pure", of_laplace_with_pure, 3, 1e-6},
    {"pure multiples", of_multiples, 10.0 / 3, 1e-9},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const uint64_t counts[] = {1, 7, 100, 10000};
static const double deltas[] = {1e-2, 1e-6, 1e-13, 1e-25};

static double moved(double x, int move)
{
    const double by[] = {0x1p-52, 1e-12, 1e-6, 0.01, 0.5};
    return x * (1 + by[move]);
}
enum { MOVES = 5 };

static brume_interval epsilon_at(const brume_term *terms, size_t count, double delta)
{
    brume_composition out;
    brume_error error;
    assert_ok(brume_compose_epsilon(terms, count, delta, NULL, &out, &error));
    assert_true(out.value.lower <= out.value.upper);
    return out.value;
}

static brume_interval delta_at(const brume_term *terms, size_t count, double epsilon)
{
    brume_composition out;
    brume_error error;
    assert_ok(brume_compose_delta(terms, count, epsilon, NULL, &out, &error));
    assert_true(out.value.lower <= out.value.upper);
    return out.value;
}

/* `less` must not be above `more` but for its own width: its lower end tells. */
#define assert_not_above(less, more, what, k, n, move)                                             \
    do {                                                                                           \
        if (!((less).lower <= (more).upper))                                                       \
            fail_msg("%s: %s, count %llu, move %d: [%.17g, %.17g] above [%.17g, %.17g]", what,     \
                     (k)->name, (unsigned long long)(n), move, (less).lower, (less).upper,         \
                     (more).lower, (more).upper);                                                  \
    } while (0)

/* One kind, count and delta, with what is certified there. */
typedef struct place {
    const kind *k;
    uint64_t releases;
    double at;
    brume_term terms[2];
    size_t count;
    brume_interval epsilon, delta; /* at `at`, and at the epsilon found */
} place;

static void visit_places(void (*visit)(place *here))
{
    for (size_t i = 0; i < KINDS; i++)
        for (size_t n = 0; n < 4; n++)
            for (size_t d = 0; d < 4; d++) {
                place here = {.k = &kinds[i], .releases = counts[n], .at = deltas[d]};
                here.count = here.k->make(here.k->noise, here.releases, here.terms);
                here.epsilon = epsilon_at(here.terms, here.count, here.at);
                here.delta = delta_at(here.terms, here.count, here.epsilon.upper);
                visit(&here);
            }
}

static void add_noise(place *here)
{
    const kind *k = here->k;
    brume_interval epsilon = here->epsilon;
    if (!(epsilon.upper - epsilon.lower <= k->width * epsilon.upper))
        fail_msg("%s, count %llu, delta %g: [%.17g, %.17g] is wide", k->name,
                 (unsigned long long)here->releases, here->at, epsilon.lower, epsilon.upper);
    for (int move = 0; move < MOVES; move++) {
        k->make(moved(k->noise, move), here->releases, here->terms);
        brume_interval less = epsilon_at(here->terms, here->count, here->at);
        assert_not_above(less, epsilon, "epsilon", k, here->releases, move);
        brume_interval fewer = delta_at(here->terms, here->count, epsilon.upper);
        assert_not_above(fewer, here->delta, "delta", k, here->releases, move);
        if (move == MOVES - 1 && epsilon.upper > 0) /* half as much again is seen */
            assert_true(less.upper < epsilon.lower);
    }
}

static void more_noise_never_costs_more_than_its_own_width(void **state)
{
    (void)state;
    visit_places(add_noise);
}

static void move_target(place *here)
{
    for (int move = 0; move < MOVES; move++) {
        brume_interval less = epsilon_at(here->terms, here->count, moved(here->at, move));
        assert_not_above(less, here->epsilon, "epsilon", here->k, here->releases, move);
        double further = moved(here->epsilon.upper, move);
        brume_interval fewer = delta_at(here->terms, here->count, further);
        assert_not_above(fewer, here->delta, "delta", here->k, here->releases, move);
    }
}

static void a_smaller_delta_or_epsilon_never_costs_less_than_its_width(void **state)
{
    (void)state;
    visit_places(move_target);
}

/* One release more costs more, and the same if there is nothing else. */
static void one_release_more_never_costs_less(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++)
        for (size_t n = 0; n < 3; n++) {
            const kind *k = &kinds[i];
            brume_term terms[2];
            size_t count = k->make(k->noise, counts[n], terms);
            brume_interval one = epsilon_at(terms, count, 1e-6);
            terms[0].count++;
            brume_interval more = epsilon_at(terms, count, 1e-6);
            assert_not_above(one, more, "epsilon", k, counts[n], 0);
            assert_true(more.upper > one.lower || one.upper == 0);
        }
}

/* Few draws of a discrete Gaussian are the exception, in truth and not by rounding: their losses
 * lie D/sigma^2 apart, and more noise brings more mass to the next one. The exact masses at sigma
 * 0.12 and 0.15, delta 1e-12: the loss 1/(2 sigma^2) has all but 2e-15 of the mass, and all but
 * 4.5e-10, which is at 3/(2 sigma^2). */
static void few_discrete_gaussians_may_cost_more_with_more_noise(void **state)
{
    (void)state;
    brume_term narrow = discrete_gaussian(0.12, 1, 1), wide = discrete_gaussian(0.15, 1, 1);
    brume_interval less = epsilon_at(&narrow, 1, 1e-12), more = epsilon_at(&wide, 1, 1e-12);
    assert_close(less.upper, 1 / (2 * 0.12 * 0.12), 1e-12);
    double jump = exp(-1 / (2 * 0.15 * 0.15)), mass = jump / (1 + 2 * jump);
    assert_close(more.upper, 3 / (2 * 0.15 * 0.15) + log1p(-1e-12 / mass), 1e-12);
    assert_true(more.lower > less.upper);
    /* such steps are there beyond sigma = 2 */
    int steps = 0;
    for (double sigma = 2; sigma < 3; sigma *= 1.01) {
        narrow = discrete_gaussian(sigma, 1, 1);
        wide = discrete_gaussian(1.01 * sigma, 1, 1);
        steps += epsilon_at(&wide, 1, 1e-6).lower > epsilon_at(&narrow, 1, 1e-6).upper;
    }
    assert_true(steps > 0);
    /* many draws forget their lattice */
    for (double sigma = 0.6; sigma < 8; sigma *= 1.07) {
        narrow = discrete_gaussian(sigma, 1, 60);
        wide = discrete_gaussian(1.07 * sigma, 1, 60);
        assert_true(epsilon_at(&wide, 1, 1e-6).lower <= epsilon_at(&narrow, 1, 1e-6).upper);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_noise_never_costs_more_than_its_own_width),
        cmocka_unit_test(a_smaller_delta_or_epsilon_never_costs_less_than_its_width),
        cmocka_unit_test(one_release_more_never_costs_less),
        cmocka_unit_test(few_discrete_gaussians_may_cost_more_with_more_noise),
    };
    return cmocka_run_group_tests_name("accountant monotone", tests, NULL, NULL);
}
