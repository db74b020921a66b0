/* What a group of g can be told apart by, of any pure epsilon-DP mechanism: by enumeration. */
#include "check.h"

#include <math.h>

#include <brume/account/method.h>

#include "accountant/renyi/renyi.h"
#include "accountant/solve/solve.h"
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

/* ---- concentrated ---- */

/* The Renyi divergence of Gaussian noise on the integers from the same noise `shift` further. */
static double shifted_divergence(double sigma, int shift, double alpha)
{
    long double sum = 0, all = 0;
    int reach = (int)(alpha * shift + 12 * sigma) + 2; /* the largest is at alpha shift */
    for (int x = -reach; x <= reach; x++) {
        double here = -x * x / (2 * sigma * sigma);
        double there = -(x - shift) * (x - shift) / (2 * sigma * sigma);
        all += expl(here);
        sum += expl(alpha * here - (alpha - 1) * there);
    }
    return (double)logl(sum / all) / (alpha - 1);
}

/* ---- with a failure ---- */

/* The same for (epsilon, delta). */
static double next_with_failure(double power, double epsilon, double delta)
{
    return fmin(1, fmin(delta + exp(epsilon) * power, 1 - exp(-epsilon) * (1 - delta - power)));
}

/* Data sets in a row whose outputs have the iterated powers as distribution functions, on a grid.
 * Rejects: a delta that they exceed, and one that is above what they reach. */
static void a_group_with_a_failure_costs_what_a_chain_of_steps_reaches(void **state)
{
    (void)state;
    static const struct {
        double epsilon, delta;
        int size;
    } cases[] = {{2, 0.001, 5}, {1, 0.01, 3}, {0.5, 1e-5, 6}, {3, 0.2, 2}, {0, 0.05, 6}};
    enum { CELLS = 4000 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double epsilon = cases[i].epsilon, delta = cases[i].delta, reached = 0;
        static double mass[MOST_GROUP + 1][CELLS + 1]; /* the atom at 0, then cells */
        for (int j = 0; j <= cases[i].size; j++)
            for (int c = 0; c <= CELLS; c++) {
                double ends[2] = {(c - 1.0) / CELLS, (double)c / CELLS};
                for (int end = 0; end < 2; end++)
                    for (int step = 0; step < j; step++)
                        ends[end] = next_with_failure(ends[end], epsilon, delta);
                mass[j][c] = c == 0 ? ends[1] : ends[1] - ends[0];
            }
        for (int j = 0; j < cases[i].size; j++) { /* each step is a step */
            double up = 0, down = 0;
            for (int c = 0; c <= CELLS; c++) {
                up += fmax(0, mass[j + 1][c] - exp(epsilon) * mass[j][c]);
                down += fmax(0, mass[j][c] - exp(epsilon) * mass[j + 1][c]);
            }
            assert_holds(up <= delta + 1e-9 && down <= delta + 1e-9);
        }
        for (int c = 0; c <= CELLS; c++)
            reached += fmax(0, mass[cases[i].size][c] - exp(epsilon * cases[i].size) * mass[0][c]);
        brume_cost cost = {.pure = BRUME_UPPER, .epsilon = epsilon, .delta_failure = delta}, group;
        brume_error error;
        assert_ok(brume_cost_group(&cost, (uint64_t)cases[i].size, &group, &error));
        assert_holds(reached <= group.delta_failure + 1e-9);
        assert_close(group.delta_failure, reached, 1e-6);
    }
}

/* Each of the group moves the number by 1, so that the group moves it by all of its members: rho
 * grows with their square. A cost that has nothing but rho, by which nothing else can cover.
 * Rejects: a rho that grows with the members, or with less than their square. */
static void the_rho_of_a_group_grows_with_the_square_of_its_size(void **state)
{
    (void)state;
    brume_error error;
    for (double sigma = .8; sigma < 30; sigma *= 2.3)
        for (int size = 2; size <= 12; size++) {
            brume_cost one = {.concentrated = BRUME_EXACT, .rho = 1 / (2 * sigma * sigma)}, group;
            assert_ok(brume_cost_group(&one, (uint64_t)size, &group, &error));
            double most = 0;
            for (double alpha = 1.5; alpha < 6; alpha += .5)
                most = fmax(most, shifted_divergence(sigma, size, alpha) / alpha);
            assert_true(group.concentrated == BRUME_UPPER);
            if (!(group.rho >= most * (1 - 1e-9)))
                fail_msg("sigma %g, %d: rho %.17g, the curve %.17g", sigma, size, group.rho, most);
            assert_true(group.rho <= most * 1.01); /* and it is met */
        }
}

/* ---- a Gaussian on a Poisson sample ---- */

/* The density of the noisy sum when each of `members` is in the sample by itself, all of them
 * moving it in one direction; sigma in units of the sensitivity, without the factor of the noise.
 */
static double mixture(double x, double sigma, double rate, int members, int direction)
{
    double p = 0, ways = 1;
    for (int j = 0; j <= members; j++) {
        double away = x - direction * j;
        p += ways * pow(rate, j) * pow(1 - rate, members - j) *
             exp(-away * away / (2 * sigma * sigma));
        ways *= (double)(members - j) / (j + 1);
    }
    return p;
}

/* What lies above t of that mixture. */
static double mixture_above(double t, double sigma, double rate, int members, int direction)
{
    double p = 0, ways = 1;
    for (int j = 0; j <= members; j++) {
        p += ways * pow(rate, j) * pow(1 - rate, members - j) * .5 *
             erfc((t - direction * j) / (sigma * M_SQRT2));
        ways *= (double)(members - j) / (j + 1);
    }
    return p;
}

/* The delta of the very pair in which `gone` leave and `come` come, who pull the other way: the
 * loss grows with x, so that the best test is a threshold. */
static double mixture_delta(double sigma, double rate, int gone, int come, double epsilon)
{
    double low = -come - 30 * sigma, high = gone + 30 * sigma, all = high;
    for (int i = 0; i < 90; i++) {
        double t = .5 * (low + high);
        bool above = mixture(t, sigma, rate, gone, 1) >
                     exp(epsilon) * mixture(t, sigma, rate, come, -1);
        *(above ? &high : &low) = t;
    }
    return high < all ? mixture_above(high, sigma, rate, gone, 1) -
                            exp(epsilon) * mixture_above(high, sigma, rate, come, -1)
                      : 0;
}

static double mixture_divergence(double sigma, double rate, int gone, int come, double alpha)
{
    double sum = 0, step = sigma / 100, size = gone + come;
    for (double x = -alpha * size - 9 * sigma; x < alpha * size + 9 * sigma; x += step) {
        double p = mixture(x, sigma, rate, gone, 1), q = mixture(x, sigma, rate, come, -1);
        if (p > 0 && q > 1e-290) /* beyond, all is less than can be seen */
            sum += exp(alpha * log(p) + (1 - alpha) * log(q)) * step;
    }
    return log(sum / (sigma * sqrt(2 * M_PI))) / (alpha - 1);
}

static brume_term sampled_gaussian(double sigma, double rate)
{
    return (brume_term){
        .cost = {.loss = BRUME_EXACT,
                 .law = {.kind = BRUME_LOSS_POISSON_GAUSSIAN, .a = sigma, .rate = rate}},
        .count = 1};
}

/* Some of the members are in the sample with this rate, and all of them move it the furthest. */
static brume_term members_on_a_sample(double sigma, double rate, int size)
{
    return sampled_gaussian(sigma / size, 1 - pow(1 - rate, size));
}

/* The largest share of the bound that the pair itself reaches; above 1 it is no bound. */
static double reached(const brume_term *term, double sigma, double rate, int size)
{
    double most = 0;
    for (double epsilon = 0; epsilon < 3; epsilon += .4)
        for (int gone = 0; gone <= size; gone += size) {
            double exact = mixture_delta(sigma, rate, gone, size - gone, epsilon);
            if (exact > 1e-9)
                most = fmax(most, exact / delta_at(term, epsilon).upper);
        }
    return most;
}

static void members_who_all_leave_are_dominated(void **state)
{
    (void)state;
    for (double sigma = .7; sigma < 3; sigma *= 2)
        for (double rate = .02; rate < .6; rate *= 5)
            for (int size = 2; size <= 4; size++) {
                brume_term all = members_on_a_sample(sigma, rate, size), mutant = all;
                assert_true(reached(&all, sigma, rate, size) <= 1 + 1e-6);
                mutant.cost.law.rate = rate; /* of one member */
                assert_true(reached(&mutant, sigma, rate, size) > 1.001);
                mutant = all;
                mutant.cost.law.a = sigma; /* the shift of one member */
                assert_true(reached(&mutant, sigma, rate, size) > 1.001);
            }
}

/* The curve of the group is above the divergence of every pair, whoever of them leaves or comes; it
 * is that of all who leave where that is the largest. */
static void the_curve_of_a_group_on_a_sample_holds(void **state)
{
    (void)state;
    double nearest = 0;
    for (double sigma = .7; sigma < 3; sigma *= 2)
        for (double rate = .02; rate < .6; rate *= 5)
            for (int size = 2; size <= 4; size++) {
                brume_term one = sampled_gaussian(sigma, rate), group = one;
                brume_term all = members_on_a_sample(sigma, rate, size);
                brume_error error;
                assert_ok(brume_cost_group(&one.cost, (uint64_t)size, &group.cost, &error));
                group.cost.loss = BRUME_ABSENT; /* the curve alone */
                for (double alpha = 1.5; alpha < 5; alpha += .75) {
                    double bound = brume_renyi_upper(&group.cost, alpha);
                    double least = brume_renyi_sampled_gaussian_upper(&all.cost, alpha);
                    assert_true(bound >= least * (1 - 1e-9));
                    for (int gone = 0; gone <= size; gone++) {
                        double exact = mixture_divergence(sigma, rate, gone, size - gone, alpha);
                        assert_true(exact <= bound * (1 + 1e-6));
                        nearest = fmax(nearest, exact / bound);
                        if (gone == size && sigma > 1) /* the curve of one member is below it */
                            assert_true(exact > 1.01 * brume_renyi_sampled_gaussian_upper(&one.cost,
                                                                                          alpha));
                    }
                }
            }
    assert_true(nearest > 0.5);
}

/* One of two leaves and the other comes; a pure mechanism tells them apart too. Neither order of
 * the sampled law says as much as this pair of data reaches: that was the bound once. */
static void who_comes_while_another_goes_is_covered(void **state)
{
    (void)state;
    const double rates[] = {.5, .3, .1}, pures[] = {1.5, 1, .3}, epsilons[] = {1, .9, .3};
    for (int i = 0; i < 3; i++) {
        double sigma = .1, a = exp(-pures[i]), exact = 0;
        const double mass[] = {1 / (1 + a), (1 - a) / (1 + a) * a, a * a / (1 + a)};
        for (int x = 0; x < 3; x++) /* the law of two steps of the pure one */
            exact += mass[x] *
                     mixture_delta(sigma, rates[i], 1, 1, epsilons[i] - 2 * (1 - x) * pures[i]);
        brume_term one = sampled_gaussian(sigma, rates[i]), terms[2] = {one, group_of(pures[i], 2)};
        brume_composition out;
        brume_error error;
        assert_ok(brume_cost_group(&one.cost, 2, &terms[0].cost, &error));
        assert_ok(brume_compose_delta(terms, 2, epsilons[i], NULL, &out, &error));
        assert_true(out.value.upper >= exact * (1 - 1e-6));
        assert_true(out.value.upper <= exact * 1.3); /* other splits may cost a little more */
        terms[0] = members_on_a_sample(sigma, rates[i], 2);
        assert_ok(brume_compose_delta(terms, 2, epsilons[i], NULL, &out, &error));
        assert_true(out.value.upper < exact * .99);
    }
}

/* Certified delta of `count` releases if `come` of the group come, by that order's law alone. */
static double order_delta(double sigma, double rate, int size, int come, double count,
                          double epsilon)
{
    brume_loss loss = {.kind = BRUME_LOSS_POISSON_GAUSSIAN_GROUP,
                       .a = sigma,
                       .rate = rate,
                       .shift = (uint64_t)size};
    brume_law law;
    brume_error error;
    brume_certified certified;
    brume_asked asked = {.at = epsilon, .width = 1e-8};
    assert_ok(brume_law_open(&loss, count, (uint64_t)come, &law, &error));
    assert_true(law.orders_differ && law.members == (uint64_t)size && law.lost < 1e-50);
    assert_true(brume_solve(&law, 1, &asked, &certified));
    brume_law_close(&law);
    return certified.value.upper + count * law.lost;
}

static void each_order_of_a_group_is_one_split(void **state)
{
    (void)state;
    const double epsilons[] = {-.7, 0, .3, 1, 2.5};
    for (double sigma = .3; sigma < 6; sigma *= 2.7)
        for (double rate = .004; rate < 1; rate *= 6)
            for (int size = 1; size <= 5; size += 2)
                for (int come = 0; come <= size; come++)
                    for (int i = 0; i < 5; i++) {
                        double bound = order_delta(sigma, rate, size, come, 1, epsilons[i]);
                        double exact = mixture_delta(sigma, rate, size - come, come, epsilons[i]);
                        assert_true(exact <= bound * (1 + 1e-9) + 1e-15);
                        /* tight: between neighbouring losses of the table it lies on a chord */
                        if (exact > 1e-12 && epsilons[i] >= 0)
                            assert_true(bound <= exact * 1.03 + 1e-6 * rate * rate);
                        /* the mutant: one who comes counts as one who leaves */
                        if (come > 0 && exact > 1e-3 && rate > .5 && sigma < 1 && i == 3)
                            assert_true(fabs(order_delta(sigma, rate, size, come - 1, 1, 1) -
                                             exact) > 1e-6);
                    }
}

/* Two releases, exactly: the sum over x of P(x) (P[l > e - l(x)] - e^{e - l(x)} Q[...]), by a rule
 * of equal steps. */
static double two_releases_delta(double sigma, double rate, int gone, int come, double epsilon)
{
    enum { PLACES = 16000 };
    static double p[PLACES], q[PLACES], loss[PLACES], p_above[PLACES + 1], q_above[PLACES + 1];
    double from = -come - 9 * sigma, step = (gone + come + 18 * sigma) / PLACES, sum = 0;
    for (int i = 0; i < PLACES; i++) {
        double x = from + (i + .5) * step;
        p[i] = mixture(x, sigma, rate, gone, 1) * step / (sigma * sqrt(2 * M_PI));
        q[i] = mixture(x, sigma, rate, come, -1) * step / (sigma * sqrt(2 * M_PI));
        loss[i] = log(p[i] / q[i]);
    }
    p_above[PLACES] = q_above[PLACES] = 0;
    for (int i = PLACES - 1; i >= 0; i--) {
        p_above[i] = p_above[i + 1] + p[i];
        q_above[i] = q_above[i + 1] + q[i];
    }
    for (int i = 0, k = PLACES; i < PLACES; i++) { /* the loss grows with the place */
        while (k > 0 && loss[k - 1] > epsilon - loss[i])
            k--;
        sum += fmax(p[i] * p_above[k] - exp(epsilon) * q[i] * q_above[k], 0);
    }
    return sum;
}

static void two_releases_for_a_group_cost_what_their_worst_split_does(void **state)
{
    (void)state;
    for (double sigma = .4; sigma < 3; sigma *= 2.4)
        for (double rate = .02; rate < .7; rate *= 5)
            for (int size = 2; size <= 4; size++)
                for (double epsilon = 0; epsilon < 3; epsilon += .9) {
                    double most = 0;
                    for (int gone = 0; gone <= size; gone++)
                        most =
                            fmax(most, two_releases_delta(sigma, rate, gone, size - gone, epsilon));
                    brume_term term = sampled_gaussian(sigma, rate);
                    brume_error error;
                    assert_ok(brume_cost_group(&term.cost, (uint64_t)size, &term.cost, &error));
                    term.count = 2;
                    double bound = delta_at(&term, epsilon).upper;
                    assert_true(most <= bound * (1 + 1e-5));
                    assert_true(bound <= most * 1.03 + 1e-7);
                }
}

/* In the plane, each member pulls in a direction and with a length of its own, at most 1: no pair
 * of such data is further apart. One who is `gone` is in the first data, the others in the second.
 */
static double plane_delta(double sigma, double rate, int size, int gone, double pull[][2],
                          double epsilon)
{
    double sum = 0, step = sigma / 8, reach = size + 6 * sigma;
    for (double x = -reach; x < reach; x += step)
        for (double y = -reach; y < reach; y += step) {
            double p = 0, q = 0;
            for (int in = 0; in < 1 << size; in++) {
                double at[2][2] = {{0, 0}, {0, 0}}, weight[2] = {1, 1};
                for (int i = 0; i < size; i++) {
                    int side = i >= gone;
                    weight[side] *= in >> i & 1 ? rate : 1 - rate;
                    for (int d = 0; d < 2 && (in >> i & 1); d++)
                        at[side][d] += pull[i][d];
                }
                /* the others' coins only average over the same law */
                p += weight[0] * weight[1] *
                     exp(-(pow(x - at[0][0], 2) + pow(y - at[0][1], 2)) / (2 * sigma * sigma));
                q += weight[0] * weight[1] *
                     exp(-(pow(x - at[1][0], 2) + pow(y - at[1][1], 2)) / (2 * sigma * sigma));
            }
            sum += fmax(p - exp(epsilon) * q, 0) * step * step;
        }
    return sum / (2 * M_PI * sigma * sigma);
}

static void no_contributions_in_the_plane_exceed_the_law_of_a_group(void **state)
{
    (void)state;
    double nearest = 0;
    for (int trial = 0; trial < 36; trial++) {
        double sigma = .6 + .5 * (trial % 3), rate = .1 + .25 * (trial % 4), pull[3][2];
        int size = 2 + trial % 2, gone = (int)(next() % (uint64_t)(size + 1));
        double epsilon = .4 * (trial % 4), base = 6.283 * (double)(next() >> 11) * 0x1p-53;
        for (int i = 0; i < size; i++) {
            double turn = base + (trial < 20 ? 0 : 3 * (double)(next() >> 11) * 0x1p-53);
            double length = trial < 20 || next() % 2 ? 1 : (double)(next() >> 11) * 0x1p-53;
            turn += i >= gone ? M_PI : 0;
            pull[i][0] = length * cos(turn);
            pull[i][1] = length * sin(turn);
        }
        double exact = plane_delta(sigma, rate, size, gone, pull, epsilon);
        double bound = order_delta(sigma, rate, size, size - gone, 1, epsilon);
        assert_true(exact <= bound * (1 + 2e-3) + 1e-9); /* of the rule in the plane */
        nearest = fmax(nearest, exact / bound);
        /* the mutant: half of the shift */
        if (trial < 20 && gone > 0)
            assert_true(exact > order_delta(2 * sigma, rate, size, size - gone, 1, epsilon));
    }
    assert_true(nearest > .98);
}

/* A member that is in both data only moves both, and one of another size has another order. */
static void groups_of_different_sizes_are_refused(void **state)
{
    (void)state;
    brume_term terms[2] = {sampled_gaussian(1, .1), sampled_gaussian(1, .1)};
    brume_composition out;
    brume_error error;
    assert_ok(brume_cost_group(&terms[0].cost, 2, &terms[0].cost, &error));
    assert_int_equal(brume_compose_delta(terms, 2, 1, NULL, &out, &error), BRUME_EUNSUPPORTED);
}

/* Beyond what a curve is computed for, the sample is not counted on. */
static void a_large_group_is_charged_without_its_sample(void **state)
{
    (void)state;
    brume_term one = sampled_gaussian(3, .01), group = one;
    brume_error error;
    assert_ok(brume_cost_group(&one.cost, 1000, &group.cost, &error));
    assert_int_equal(group.cost.loss, BRUME_UPPER);
    assert_int_equal(group.cost.law.kind, BRUME_LOSS_GAUSSIAN);
    assert_true(group.cost.law.a >= 1000. / 3 && group.cost.law.a < 1000. / 3 * (1 + 1e-12));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_law_of_a_group_is_the_iterated_power),
        cmocka_unit_test(no_chain_of_steps_exceeds_it),
        cmocka_unit_test(a_group_with_a_failure_costs_what_a_chain_of_steps_reaches),
        cmocka_unit_test(the_rho_of_a_group_grows_with_the_square_of_its_size),
        cmocka_unit_test(members_who_all_leave_are_dominated),
        cmocka_unit_test(the_curve_of_a_group_on_a_sample_holds),
        cmocka_unit_test(who_comes_while_another_goes_is_covered),
        cmocka_unit_test(each_order_of_a_group_is_one_split),
        cmocka_unit_test(two_releases_for_a_group_cost_what_their_worst_split_does),
        cmocka_unit_test(no_contributions_in_the_plane_exceed_the_law_of_a_group),
        cmocka_unit_test(groups_of_different_sizes_are_refused),
        cmocka_unit_test(a_large_group_is_charged_without_its_sample),
    };
    return cmocka_run_group_tests_name("accountant group", tests, NULL, NULL);
}
