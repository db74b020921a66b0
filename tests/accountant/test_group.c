/* What a group of g can be told apart by, of any pure epsilon-DP mechanism: by enumeration. */
#include "check.h"

#include <math.h>

#include <brume/account/method.h>

#include "accountant/terms.h"

enum { OUTCOMES = 7, MOST_GROUP = 6 };

/* A fixed splitmix64, so that a failure can be repeated. */
static uint64_t seed = 5;

static uint64_t next(void)
{
    uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static brume_term group_of(double epsilon, uint64_t size)
{
    brume_term term = pure(epsilon, 1);
    brume_error error;
    term.cost.pure = BRUME_EXACT;
    term.cost.epsilon = epsilon;
    assert_ok(brume_cost_group(&term.cost, size, &term.cost, &error));
    return term;
}

static brume_interval delta_at(const brume_term *term, double epsilon)
{
    brume_composition out;
    brume_error error;
    assert_ok(brume_compose_delta(term, 1, epsilon, NULL, &out, &error));
    return out.value;
}

/* What a test of this power has on the next data set, at most. */
static double next_power(double power, double epsilon)
{
    return fmin(exp(epsilon) * power, 1 - exp(-epsilon) * (1 - power));
}

static double iterated(double power, double epsilon, int times)
{
    for (int i = 0; i < times; i++)
        power = next_power(power, epsilon);
    return power;
}

/* delta(t) = sup over a of power - e^t a; the iterated power is piecewise linear and concave, with
 * corners where the orbit meets 1/(1 + e^eps). */
static void the_law_of_a_group_is_the_iterated_power(void **state)
{
    (void)state;
    for (double epsilon = 0.05; epsilon < 4; epsilon *= 1.9)
        for (int size = 2; size <= MOST_GROUP; size++) {
            brume_term term = group_of(epsilon, (uint64_t)size);
            for (double part = 0; part < 1; part += 0.09) {
                double t = part * epsilon * size, best = 0;
                for (int j = 0; j <= size; j++) {
                    double a = exp(-j * epsilon) / (1 + exp(epsilon));
                    best = fmax(best, iterated(a, epsilon, size) - exp(t) * a);
                }
                brume_interval delta = delta_at(&term, t);
                assert_close(delta.upper, best, 1e-10);
                assert_true(delta.upper >= best * (1 - 1e-12));
                assert_true(delta.lower <= best * (1 + 1e-12));
                /* tight: randomized response of size * epsilon would say more */
                if (part < 0.9)
                    assert_true(best < (1 - exp(t - size * epsilon)) / (1 + exp(-size * epsilon)));
            }
        }
}

/* A step of at most epsilon: outcomes in a random order get e^eps, the others e^-eps, one between,
 * so that the masses sum to 1. */
static void random_step(const double *from, double epsilon, double *to)
{
    int order[OUTCOMES];
    double spare = 1 - exp(-epsilon);
    for (int i = 0; i < OUTCOMES; i++) {
        int j = (int)(next() % (uint64_t)(i + 1));
        order[i] = order[j];
        order[j] = i;
        to[i] = from[i] * exp(-epsilon);
    }
    for (int i = 0; i < OUTCOMES; i++) {
        int k = order[i];
        double room = fmin(spare, from[k] * (exp(epsilon) - exp(-epsilon)));
        to[k] += room;
        spare -= room;
    }
}

static double hockey_stick(const double *p, const double *q, double epsilon)
{
    double sum = 0;
    for (int i = 0; i < OUTCOMES; i++)
        sum += fmax(p[i] - exp(epsilon) * q[i], 0);
    return sum;
}

static void no_chain_of_steps_exceeds_it(void **state)
{
    (void)state;
    double nearest = 0;
    for (int trial = 0; trial < 20000; trial++) {
        double epsilon = 0.1 + 0.3 * (trial % 5);
        int size = 2 + trial % 4;
        static brume_interval known[5][MOST_GROUP][3];
        brume_interval *bounds = known[trial % 5][size];
        if (bounds[0].upper == 0) {
            brume_term term = group_of(epsilon, (uint64_t)size);
            for (int i = 0; i < 3; i++)
                bounds[i] = delta_at(&term, 0.35 * i * epsilon * size);
        }
        double chain[MOST_GROUP + 1][OUTCOMES], total = 0;
        for (int i = 0; i < OUTCOMES; i++)
            total += chain[0][i] = exp(-8 * (double)(next() >> 11) * 0x1p-53);
        for (int i = 0; i < OUTCOMES; i++)
            chain[0][i] /= total;
        for (int j = 0; j < size; j++)
            random_step(chain[j], epsilon, chain[j + 1]);
        for (int i = 0; i < 3; i++) {
            double t = 0.35 * i * epsilon * size;
            double one = hockey_stick(chain[0], chain[size], t);
            double other = hockey_stick(chain[size], chain[0], t);
            assert_true(fmax(one, other) <= bounds[i].upper * (1 + 1e-12));
            nearest = fmax(nearest, fmax(one, other) / bounds[i].upper);
        }
    }
    assert_true(nearest > 0.95); /* the chains come near it */
}

/* ---- a Gaussian on a Poisson sample ---- */

/* The delta of the very pair: every member of the group in the sample by itself, against nobody,
 * in one direction; sigma in units of the sensitivity. */
static double mixture_delta(double sigma, double rate, int size, double epsilon, bool reversed)
{
    double sum = 0, step = sigma / 400;
    for (double x = -12 * sigma; x < size + 12 * sigma; x += step) {
        double q = exp(-x * x / (2 * sigma * sigma)), p = 0, ways = 1;
        for (int j = 0; j <= size; j++) {
            p += ways * pow(rate, j) * pow(1 - rate, size - j) *
                 exp(-(x - j) * (x - j) / (2 * sigma * sigma));
            ways *= (double)(size - j) / (j + 1);
        }
        sum += fmax(reversed ? q - exp(epsilon) * p : p - exp(epsilon) * q, 0) * step;
    }
    return sum / (sigma * sqrt(2 * M_PI));
}

static brume_term sampled_gaussian(double sigma, double rate)
{
    return (brume_term){
        .cost = {.loss = BRUME_EXACT,
                 .law = {.kind = BRUME_LOSS_POISSON_GAUSSIAN, .a = sigma, .rate = rate}},
        .count = 1};
}

/* The largest share of the bound that the pair itself reaches; above 1 it is no bound. */
static double reached(const brume_term *term, double sigma, double rate, int size)
{
    double most = 0;
    for (double epsilon = 0; epsilon < 3; epsilon += .4)
        for (int reversed = 0; reversed < 2; reversed++) {
            double exact = mixture_delta(sigma, rate, size, epsilon, reversed);
            if (exact > 1e-9)
                most = fmax(most, exact / delta_at(term, epsilon).upper);
        }
    return most;
}

static void a_group_on_a_sample_is_dominated(void **state)
{
    (void)state;
    for (double sigma = .7; sigma < 3; sigma *= 2)
        for (double rate = .02; rate < .6; rate *= 5)
            for (int size = 2; size <= 4; size++) {
                brume_term one = sampled_gaussian(sigma, rate), group = one, mutant;
                brume_error error;
                assert_ok(brume_cost_group(&one.cost, (uint64_t)size, &group.cost, &error));
                assert_int_equal(group.cost.loss, BRUME_UPPER);
                assert_true(reached(&group, sigma, rate, size) <= 1 + 1e-6);
                mutant = group; /* the rate of one member */
                mutant.cost.law.rate = rate;
                assert_true(reached(&mutant, sigma, rate, size) > 1.001);
                mutant = group; /* the shift of one member */
                mutant.cost.law.a = sigma;
                assert_true(reached(&mutant, sigma, rate, size) > 1.001);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_law_of_a_group_is_the_iterated_power),
        cmocka_unit_test(no_chain_of_steps_exceeds_it),
        cmocka_unit_test(a_group_on_a_sample_is_dominated),
    };
    return cmocka_run_group_tests_name("accountant group", tests, NULL, NULL);
}
