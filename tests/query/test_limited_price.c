/* Random plans with limited totals cost no more than their price, in exact rationals, and hardly
 * less: what choosing the limits, asking, the test of keys and the measures let one unit change is
 * added up without a rounding from the scales that are written, by the distances of
 * proofs/limits.md.
 *
 * No draw is fresh. */
#include "check.h"

#include <gmp.h>
#include <mpfr.h>

#include "accountant/exact/profile.h"
#include "query/price/key_threshold.h"
#include "query/price/limited.h"
#include "random/tape.h"

enum { MEASURES = 8, PLANS = 3000 };

static brume_error error;
static uint64_t state_of_draws = 9;

static uint64_t below(uint64_t n)
{
    return brume_tape_splitmix(&state_of_draws) % n;
}

static double some_price(int least, uint64_t octaves)
{
    double mantissa = 1 + (double)(brume_tape_splitmix(&state_of_draws) >> 12) * 0x1p-52;
    return ldexp(mantissa, least + (int)below(octaves));
}

typedef struct plan {
    brume_measure measures[MEASURES];
    size_t count;
    brume_choice_step step;
    brume_limited_shape shape;
    brume_noise_kind noise;
    double amount, delta;
    brume_limited_price limited;
    brume_price price;
} plan;

static const int64_t median[][2] = {{1, 2}}, least[][2] = {{0, 1}}, few[][2] = {{1, 4}, {1, 2}};

static brume_measure random_measure(bool pure_parts)
{
    static const brume_measure_kind kinds[] = {
        BRUME_MEASURE_ROWS,    BRUME_MEASURE_VALUES,       BRUME_MEASURE_CENTRED,
        BRUME_MEASURE_SQUARES, BRUME_MEASURE_DIRECT,       BRUME_MEASURE_PRESENCE,
        BRUME_MEASURE_MODE,    BRUME_MEASURE_PRIVATE_MODE, BRUME_MEASURE_QUANTILES};
    static const int64_t lows[] = {-5, 0, 2, -9}, highs[] = {7, 4, 11, 0};
    size_t range = below(4), which = below(3);
    brume_measure one = {
        .kind = kinds[below(pure_parts ? 9 : 6)], .low = lows[range], .high = highs[range]};
    if (one.kind == BRUME_MEASURE_QUANTILES) {
        one.fractions = which == 0 ? median : which == 1 ? least : few;
        one.fraction_count = which == 2 ? 2 : 1;
    }
    return one;
}

static plan random_plan(void)
{
    plan p = {.count = 1 + below(4),
              .shape = {.cells = below(5),
                        .replace = below(2),
                        .choices = below(3),
                        .pairs = 1 + below(6),
                        .choices_only = false},
              .noise = (brume_noise_kind)below(3),
              .amount = some_price(-7, 12),
              .delta = some_price(-40, 36)};
    bool gaussian = p.noise == BRUME_NOISE_ROUNDED_GAUSSIAN;
    p.shape.cells += gaussian;
    p.shape.choices_only = p.shape.choices > 0 && below(6) == 0;
    p.step = (brume_choice_step)below(4);
    for (size_t i = 0; i < p.count; i++)
        p.measures[i] = random_measure(!gaussian);
    if (p.shape.cells == 0) { /* the test of keys, and something beside it */
        p.measures[0] = (brume_measure){.kind = BRUME_MEASURE_UNITS};
        p.count += p.count == 1;
        p.measures[1] = random_measure(true);
    }
    return p;
}

/* ---- what it costs ---- */

/* sum += moved / scale^p: moved is a p-th power already */
static void add_moved(mpq_t sum, double moved, double scale, int p)
{
    mpq_t x, y;
    mpq_inits(x, y, NULL);
    mpq_set_d(x, moved);
    mpq_set_d(y, scale);
    mpq_div(x, x, y);
    if (p == 2) {
        mpq_set_d(y, scale);
        mpq_div(x, x, y);
    }
    mpq_add(sum, sum, x);
    mpq_clears(x, y, NULL);
}

/* One unit against nothing, or against another one: to the power p, of numbers in a ball of 1. */
static double distance(const plan *p, const brume_measure *m, int power)
{
    bool both_signs = m->kind == BRUME_MEASURE_CENTRED || m->kind == BRUME_MEASURE_SQUARES ||
                      (m->kind == BRUME_MEASURE_DIRECT && m->low < 0 && m->high > 0);
    if (!p->shape.replace)
        return 1;
    if (both_signs) /* from one end to the other */
        return power == 1 ? 2 : 4;
    return p->shape.cells == 1 ? 1 : 2; /* of one sign: in one cell either is within the other */
}

/* A rate of 1/noise for what a unit has in all; replaced, twice that: but one quantile in one cell
 * is moved by the rows of one and the other less than twice (proofs/query-price.md). The cost of a
 * rate e, rounded down: p = 1 is 2 e sum kappa, p = 2 e^2 sum kappa^2; of a mode e, 2 e tanh(e/2).
 */
static void add_selection(mpq_t sum, const plan *p, const brume_measure *m, int power)
{
    mpq_t cost;
    mpfr_t e, x;
    mpq_init(cost);
    mpfr_inits2(300, e, x, (mpfr_ptr)NULL);
    bool one = m->kind == BRUME_MEASURE_QUANTILES && m->fraction_count == 1;
    double kappa = one && m->fractions == median ? .5 : 1;
    mpfr_set_d(e, !p->shape.replace ? 1 : one && p->shape.cells == 1 ? 1 / kappa : 2, MPFR_RNDN);
    mpfr_div_d(e, e, m->noise, MPFR_RNDD);
    if (m->kind == BRUME_MEASURE_MODE && power == 2) {
        mpfr_div_2ui(x, e, 1, MPFR_RNDN);
        mpfr_tanh(x, x, MPFR_RNDD);
        mpfr_mul(e, e, x, MPFR_RNDD);
        mpfr_mul_2ui(e, e, 1, MPFR_RNDN);
    } else if (m->kind == BRUME_MEASURE_QUANTILES) {
        /* two: the median first, then a quarter of the whole, half of its part; kappas 1/2, 1/2 */
        double sums = one ? kappa : 1, squares = one ? kappa * kappa : .5;
        double half = m->fractions == least ? .5 : 1;
        if (power == 2)
            mpfr_sqr(e, e, MPFR_RNDD);
        mpfr_mul_d(e, e, power == 1 ? 2 * sums * half : squares * half * half, MPFR_RNDD);
    }
    mpfr_get_q(cost, e);
    mpq_add(sum, sum, cost);
    mpfr_clears(e, x, (mpfr_ptr)NULL);
    mpq_clear(cost);
}

static void total_cost(const plan *p, int power, mpq_t sum)
{
    double choices = (double)p->shape.choices, twice = p->shape.replace ? 2 : 1;
    mpq_set_ui(sum, 0, 1);
    if (p->shape.choices) {
        brume_choice_step step = p->shape.choices_only ? BRUME_CHOICE_AGAIN : p->step;
        add_moved(sum, choices, p->limited.count_scale, power);
        if (step >= BRUME_CHOICE_HISTOGRAM)
            add_moved(sum, twice * choices, p->limited.histogram_scale, power);
        if (step >= BRUME_CHOICE_TAIL)
            add_moved(sum, twice * choices, p->limited.tail_scale, power);
        if (step >= BRUME_CHOICE_AGAIN)
            add_moved(sum, twice * choices, p->limited.again_scale, power);
    }
    for (size_t i = 0; i < p->count && !p->shape.choices_only; i++) {
        const brume_measure *m = &p->measures[i];
        if (m->kind == BRUME_MEASURE_UNITS)
            add_moved(sum, twice, m->noise, power);
        else if (m->kind == BRUME_MEASURE_PRIVATE_MODE)
            add_moved(sum, twice * (double)p->shape.pairs, m->noise, power);
        else if (m->kind == BRUME_MEASURE_MODE || m->kind == BRUME_MEASURE_QUANTILES)
            add_selection(sum, p, m, power);
        else
            add_moved(sum, distance(p, m, power), m->noise, power);
    }
}

/* epsilon; 2 rho; 1/sigma^2 of the noise that a sensitivity of 1 needs. */
static void price_of(const plan *p, mpq_t price)
{
    double whole = p->noise == BRUME_NOISE_DISCRETE_LAPLACE ? p->amount : 2 * p->amount;
    mpq_set_d(price, whole);
    if (p->noise == BRUME_NOISE_ROUNDED_GAUSSIAN) {
        mpq_set_d(price, brume_profile_gaussian_sigma_upper(p->amount, p->delta));
        mpq_mul(price, price, price);
        mpq_inv(price, price);
    }
}

/* The tests of keys and of values: together within what is said, which is within delta; and each
 * threshold is the least that its part allows. */
static void check_thresholds(const plan *p)
{
    brume_noise_tail_upper tail = p->noise == BRUME_NOISE_DISCRETE_LAPLACE
                                      ? brume_noise_tail_laplace_upper
                                      : brume_noise_tail_discrete_gaussian_upper;
    double used = 0, parts = 0, lowest = 1;
    for (size_t i = 0; i < p->count; i++) {
        const brume_measure *m = &p->measures[i];
        bool keys = m->kind == BRUME_MEASURE_UNITS;
        if (!keys && m->kind != BRUME_MEASURE_PRIVATE_MODE)
            continue;
        uint64_t threshold = keys ? p->price.threshold : m->threshold;
        uint64_t pairs = keys ? 1 : p->shape.pairs;
        assert_true(m->scale == m->noise && m->sensitivity == 1);
        used += brume_key_shown_upper(tail, m->scale, pairs, threshold);
        if (threshold > 2)
            lowest = fmin(lowest, brume_key_shown_upper(tail, m->scale, pairs, threshold - 1));
        parts++;
    }
    assert_holds(used <= p->price.delta * (1 + 1e-12) && p->price.delta <= p->delta);
    assert_holds(parts > 0 || p->price.delta == 0);
    if (parts > 0)
        assert_holds(lowest > p->delta / parts * (1 - 1e-9));
}

/* Rejects: a factor, a share or a distance that is too small or too large, under either adjacency,
 * for one cell, several or private keys, whatever was bought; a part of delta used twice. */
static void limited_plans_cost_their_price_in_exact_rationals(void **state)
{
    (void)state;
    mpq_t cost, price, least_cost;
    mpq_inits(cost, price, least_cost, NULL);
    for (int i = 0; i < PLANS; i++) {
        plan p = random_plan();
        int power = p.noise == BRUME_NOISE_DISCRETE_LAPLACE ? 1 : 2;
        assert_ok(brume_limited_pay(p.measures, p.count, &p.shape, p.noise, p.amount, p.delta,
                                    p.step, &p.limited, &p.price, &error));
        total_cost(&p, power, cost);
        price_of(&p, price);
        if (mpq_cmp(cost, price) > 0)
            fail_msg("plan %d costs %.17g of %.17g", i, mpq_get_d(cost), mpq_get_d(price));
        mpq_set_d(least_cost, 1 - 0x1p-40);
        mpq_mul(least_cost, least_cost, price);
        if (mpq_cmp(cost, least_cost) < 0)
            fail_msg("plan %d costs %.17g of %.17g", i, mpq_get_d(cost), mpq_get_d(price));
        if (p.noise == BRUME_NOISE_ROUNDED_GAUSSIAN)
            assert_true(p.price.delta == p.delta);
        else if (!p.shape.choices_only)
            check_thresholds(&p);
        assert_true((p.noise == BRUME_NOISE_DISCRETE_GAUSSIAN ? p.price.rho : p.price.epsilon) ==
                    p.amount);
    }
    mpq_clears(cost, price, least_cost, NULL);
}

/* Rejects: prices and noise beyond what is possible, not refused. */
static void what_cannot_be_bought_is_refused(void **state)
{
    (void)state;
    static const double bad[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) {
        plan p = {.measures = {{.kind = BRUME_MEASURE_ROWS}}, .shape = {.cells = 1}};
        assert_fails(brume_limited_pay(p.measures, 1, &p.shape, BRUME_NOISE_DISCRETE_LAPLACE,
                                       bad[i], 0, 0, &p.limited, &p.price, &error),
                     BRUME_EARGUMENT);
        assert_fails(brume_limited_pay(p.measures, 1, &p.shape, BRUME_NOISE_ROUNDED_GAUSSIAN, 1,
                                       i == 3 ? .5 : bad[i], 0, &p.limited, &p.price, &error),
                     BRUME_EARGUMENT);
    }
    /* each of the scales has its end: of a measure, of keys, of values, and of the three for limits
     */
    for (int which = 0; which < 4; which++)
        for (int enough = 0; enough < 2; enough++) {
            plan p = {.measures = {{.kind = which == 1   ? BRUME_MEASURE_UNITS
                                            : which == 2 ? BRUME_MEASURE_PRIVATE_MODE
                                                         : BRUME_MEASURE_ROWS}},
                      .shape = {.cells = which != 1, .choices = which == 3, .pairs = 1}};
            brume_status status = brume_limited_pay(
                p.measures, 1, &p.shape, BRUME_NOISE_DISCRETE_LAPLACE,
                enough       ? 0x1p-30
                : which == 3 ? 0x1p-37 /* 9 % of it, for a histogram, are not enough */
                             : 0x1p-41,
                1e-6, 0, &p.limited, &p.price, &error);
            assert_int_equal((int)status, (int)(enough ? BRUME_OK : BRUME_EOVERFLOW));
        }
}

/* Rejects: one of the scales of choosing that nobody checks: whichever is the largest, the price at
 * which it is 2^40 is the last that is possible. */
static void the_largest_scale_of_choosing_ends_at_two_to_the_40(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        bool gaussian = i & 1;
        brume_noise_kind noise = gaussian ? BRUME_NOISE_DISCRETE_GAUSSIAN
                                          : BRUME_NOISE_DISCRETE_LAPLACE;
        plan p = {.measures = {{.kind = BRUME_MEASURE_ROWS}},
                  .shape = {.cells = 1, .replace = i & 2, .choices = 1, .choices_only = i & 4}};
        double amount = 0x1p-9;
        assert_ok(brume_limited_pay(p.measures, 1, &p.shape, noise, amount, 0, 0, &p.limited,
                                    &p.price, &error));
        double largest = fmax(fmax(p.limited.count_scale, p.limited.histogram_scale),
                              fmax(p.limited.tail_scale, p.limited.again_scale));
        amount *= pow(largest * 0x1p-40, gaussian ? 2 : 1);
        for (int enough = 0; enough < 2; enough++)
            assert_int_equal((int)brume_limited_pay(p.measures, 1, &p.shape, noise,
                                                    amount * (enough ? 1 + 1e-9 : 1 - 1e-9), 0, 0,
                                                    &p.limited, &p.price, &error),
                             (int)(enough ? BRUME_OK : BRUME_EOVERFLOW));
    }
}

/* Any shares that add up would do; these are the ones that the header states. */
static void shares_are_as_stated(void **state)
{
    (void)state;
    static const double laplace[] = {.06, .09, .13, .2}, gaussian[] = {.04, .2, .06, .1};
    double of_laplace = 0, of_gaussian = 0;
    for (int i = 0; i < 4; i++) {
        of_laplace += laplace[i];
        of_gaussian += gaussian[i];
        assert_close(brume_limited_choice_share(1, 3, (brume_choice_step)i), of_laplace, 1e-15);
        assert_close(brume_limited_choice_share(2, 3, (brume_choice_step)i), of_gaussian, 1e-15);
    }
    assert_close(brume_limited_choice_share(1, .5, BRUME_CHOICE_COUNT), .12, 1e-15);
    assert_close(brume_limited_choice_share(1, .1, BRUME_CHOICE_COUNT), .15, 1e-15);
    assert_close(brume_limited_histogram_share(1), .09, 1e-15);
    assert_close(brume_limited_histogram_share(2), .2, 1e-15);
    assert_close(brume_limited_tail_share(1), .13, 1e-15);
    assert_close(brume_limited_tail_share(2), .06, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limited_plans_cost_their_price_in_exact_rationals),
        cmocka_unit_test(what_cannot_be_bought_is_refused),
        cmocka_unit_test(the_largest_scale_of_choosing_ends_at_two_to_the_40),
        cmocka_unit_test(shares_are_as_stated),
    };
    return cmocka_run_group_tests_name("prices of limited totals", tests, NULL, NULL);
}
