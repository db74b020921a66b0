/* Random plans with limited totals cost no more than their price, in exact rationals, and hardly
 * less: what choosing the limits, asking, the test of keys and the measures let one unit change is
 * added up without a rounding from the scales that are written, by the distances of
 * proofs/limits.md.
 *
 * No draw is fresh. */
#include "check.h"

#include <gmp.h>
#include <mpfr.h>

#include "accountant/exact/delta_bounds.h"
#include "query/limit/clip.h"
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
    static const brume_measure_kind kinds[] = {BRUME_MEASURE_ROWS,         BRUME_MEASURE_VALUES,
                                               BRUME_MEASURE_CENTRED,      BRUME_MEASURE_SQUARES,
                                               BRUME_MEASURE_DIRECT,       BRUME_MEASURE_PRESENCE,
                                               BRUME_MEASURE_HOLDERS,      BRUME_MEASURE_MODE,
                                               BRUME_MEASURE_PRIVATE_MODE, BRUME_MEASURE_QUANTILES};
    static const int64_t lows[] = {-5, 0, 2, -9}, highs[] = {7, 4, 11, 0};
    size_t range = below(4), which = below(3);
    brume_measure one = {.kind = kinds[below(pure_parts ? 10 : 7)],
                         .expression = below(2),
                         .low = lows[range],
                         .high = highs[range]};
    if (one.kind == BRUME_MEASURE_DIRECT && below(2))
        one.kind = BRUME_MEASURE_DEVIATION;
    one.divides = below(3) == 0 &&
                  (one.kind == BRUME_MEASURE_ROWS || one.kind == BRUME_MEASURE_VALUES ||
                   one.kind == BRUME_MEASURE_DEVIATION);
    one.of_spread = one.divides && below(2);
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
    p.shape.counted = below(p.shape.choices + 1);
    p.step = (brume_choice_step)below(4);
    p.shape.deviations = gaussian || (p.shape.choices_only && p.shape.cells == 0) ? 0 : below(3);
    p.shape.shared = p.shape.deviations == 2 && below(2);
    p.shape.equal_shares = below(2);
    p.shape.deviation_step = (brume_choice_step)below(p.shape.cells == 0 ? 3 : 4);
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
                      m->kind == BRUME_MEASURE_DEVIATION ||
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
        double half = m->fractions == least ? .5 : 1, part = power == 1 ? half : half * half;
        /* the ends of the interval of one, together; an extreme has half of the range, and its ends
         * half of the rate */
        double ends = one ? part : 0;
        if (power == 2)
            mpfr_sqr(e, e, MPFR_RNDD);
        mpfr_mul_d(e, e, (power == 1 ? 2 * sums : squares) * (part + ends), MPFR_RNDD);
    }
    mpfr_get_q(cost, e);
    mpq_add(sum, sum, cost);
    mpfr_clears(e, x, (mpfr_ptr)NULL);
    mpq_clear(cost);
}

/* Which measure counts what a sum adds up: the first number of its values, else that of rows. */
static int number_of(const plan *p, size_t sum)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->measures[i].kind == BRUME_MEASURE_VALUES &&
            p->measures[i].expression == p->measures[sum].expression)
            return (int)i;
    for (size_t i = 0; i < p->count; i++)
        if (p->measures[i].kind == BRUME_MEASURE_ROWS)
            return (int)i;
    return -1;
}

/* The one sum of a mean in one cell, by its number; -1: the number has no sum, or several, or
 * squares follow it too, or nobody is replaced. */
static int sum_of(const plan *p, int number)
{
    int found = -1;
    for (size_t i = 0; i < p->count; i++) {
        bool squares = p->measures[i].kind == BRUME_MEASURE_SQUARES;
        if ((!squares && p->measures[i].kind != BRUME_MEASURE_CENTRED) || number_of(p, i) != number)
            continue;
        if (squares || found >= 0)
            return -1;
        found = (int)i;
    }
    return p->shape.replace && p->shape.cells == 1 ? found : -1;
}

/* A unit with a mean that comes or goes moves number and sum by 1, one that turns the sum by 2. */
static void add_mean(mpq_t sum, const plan *p, int number, int power)
{
    const brume_measure *y = &p->measures[number], *z = &p->measures[sum_of(p, number)];
    mpq_t both, turned;
    mpq_inits(both, turned, NULL);
    add_moved(both, 1, y->noise, power);
    add_moved(both, 1, z->noise, power);
    add_moved(turned, power == 1 ? 2 : 4, z->noise, power);
    mpq_add(sum, sum, mpq_cmp(both, turned) > 0 ? both : turned);
    mpq_clears(both, turned, NULL);
}

/* Medians of means, where a unit weighs 1: u moves by at most 1/2 either way if it comes or goes,
 * and by 1 if it is replaced; then histograms and tails. */
static void add_deviations(const plan *p, int power, mpq_t sum)
{
    double count = (double)p->shape.deviations, moved = (p->shape.replace ? 2 : 1) * count;
    brume_choice_step step = p->shape.choices_only ? BRUME_CHOICE_AGAIN : p->shape.deviation_step;
    mpq_t rate, part;
    mpq_inits(rate, part, NULL);
    mpq_set_d(rate, p->limited.centre_rate);
    mpq_set_d(part, p->shape.replace ? 2 : 1); /* p = 1: the range; p = 2: (range / 2)^2 */
    mpq_mul(rate, rate, part);
    if (power == 2) {
        mpq_div_2exp(rate, rate, 1);
        mpq_mul(rate, rate, rate);
    }
    mpq_set_d(part, count - (double)p->shape.shared); /* so many centres */
    mpq_mul(rate, rate, part);
    mpq_add(sum, sum, rate);
    if (step >= BRUME_CHOICE_HISTOGRAM)
        add_moved(sum, moved, p->limited.deviation_histogram_scale, power);
    if (step >= BRUME_CHOICE_TAIL)
        add_moved(sum, moved, p->limited.deviation_tail_scale, power);
    if (step >= BRUME_CHOICE_AGAIN)
        add_moved(sum, moved, p->limited.deviation_again_scale, power);
    mpq_clears(rate, part, NULL);
}

static void total_cost(const plan *p, int power, mpq_t sum)
{
    double choices = (double)p->shape.choices, twice = p->shape.replace ? 2 : 1;
    mpq_set_ui(sum, 0, 1);
    if (p->shape.choices) {
        brume_choice_step step = p->shape.choices_only ? BRUME_CHOICE_AGAIN : p->step;
        if (p->shape.counted)
            add_moved(sum, (double)p->shape.counted, p->limited.count_scale, power);
        if (step >= BRUME_CHOICE_HISTOGRAM)
            add_moved(sum, twice * choices, p->limited.histogram_scale, power);
        if (step >= BRUME_CHOICE_TAIL)
            add_moved(sum, twice * choices, p->limited.tail_scale, power);
        if (step >= BRUME_CHOICE_AGAIN)
            add_moved(sum, twice * choices, p->limited.again_scale, power);
    }
    if (p->shape.deviations)
        add_deviations(p, power, sum);
    for (size_t i = 0; i < p->count && !p->shape.choices_only; i++) {
        const brume_measure *m = &p->measures[i];
        if (m->kind == BRUME_MEASURE_UNITS)
            add_moved(sum, twice, m->noise, power);
        else if (m->kind == BRUME_MEASURE_PRIVATE_MODE)
            add_moved(sum, twice * (double)p->shape.pairs, m->noise, power);
        else if (m->kind == BRUME_MEASURE_MODE || m->kind == BRUME_MEASURE_QUANTILES)
            add_selection(sum, p, m, power);
        else if (sum_of(p, (int)i) >= 0)
            add_mean(sum, p, (int)i, power);
        else if (m->kind != BRUME_MEASURE_CENTRED || number_of(p, i) < 0 ||
                 sum_of(p, number_of(p, i)) < 0) /* a mean's is in its number's */
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
        double most_noise = 0; /* beyond 2^8 a mean has a little more */
        for (size_t k = 0; k < p.count; k++)
            most_noise = fmax(most_noise, p.measures[k].noise);
        mpq_set_d(least_cost, most_noise > 0x1p8 ? 1 - 0x1p-28 : 1 - 0x1p-40);
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

/* ---- a mean in one cell ---- */

/* What a unit with n rows and a centred sum s has after the clip, of number and sum, in limits. */
static void clip_mean(uint64_t n, int64_t s, uint64_t limit, double reach, const int shift[2],
                      double out[2])
{
    brume_limit_factor factor = brume_limit_factor_of(n, limit, 1);
    out[0] =
        ldexp((double)brume_limit_clip((brume_i128)n, &factor, limit, shift[0], 1), -shift[0]) /
        (double)limit;
    out[1] = ldexp((double)brume_limit_follow(s, &factor, shift[1]), -shift[1]) /
             ((double)limit * reach);
}

/* The dearest pair of units with numbers of rows among `rows` and at most `most` sums for each, the
 * least and the greatest among them; with the noise of `p`, as a share of its price. */
static double dearest_pair(const plan *p, const uint64_t *rows, size_t count, uint64_t limit,
                           int64_t most)
{
    enum { MOST = 4000 };
    static double all[MOST][2];
    const brume_measure *sum = &p->measures[1];
    int64_t centre = (sum->low + sum->high) >> 1, low = sum->low - centre,
            high = sum->high - centre;
    double reach = (double)(high > -low ? high : -low), worst = 0;
    int power = p->noise == BRUME_NOISE_DISCRETE_LAPLACE ? 1 : 2;
    const int shift[] = {brume_limit_shift((double)limit, false, p->measures[0].noise),
                         brume_limit_shift((double)limit * reach, true, sum->noise)};
    size_t units = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t range = (int64_t)rows[i] * (high - low), parts = range < most ? range : most;
        for (int64_t k = 0; k <= parts; k++) {
            assert_true(units < MOST);
            clip_mean(rows[i], (int64_t)rows[i] * low + (parts ? range * k / parts : 0), limit,
                      reach, shift, all[units++]);
        }
    }
    for (size_t i = 0; i < units; i++)
        for (size_t j = 0; j < units; j++) {
            double y = fabs(all[i][0] - all[j][0]) / p->measures[0].noise;
            double z = fabs(all[i][1] - all[j][1]) / sum->noise;
            worst = fmax(worst, power == 1 ? y + z : y * y + z * z);
        }
    return worst / (power == 1 ? p->amount : 2 * p->amount);
}

static plan plan_of_mean(brume_noise_kind noise, int64_t low, int64_t high, double amount)
{
    plan p = {.measures = {{.kind = BRUME_MEASURE_VALUES},
                           {.kind = BRUME_MEASURE_CENTRED, .low = low, .high = high}},
              .count = 2,
              .shape = {.cells = 1, .replace = true},
              .noise = noise,
              .amount = amount};
    assert_ok(brume_limited_pay(p.measures, p.count, &p.shape, noise, amount, 0, 0, &p.limited,
                                &p.price, &error));
    return p;
}

/* Every unit of up to seven rows, on the grids that are drawn on. Rejects: distances by which one
 * of the two ways of being replaced costs more than the price; twice the noise that is needed. */
static void a_mean_in_one_cell_costs_its_price(void **state)
{
    (void)state;
    static const uint64_t few_rows[] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const int64_t bounds[][2] = {{-2, 2}, {0, 5}, {3, 4}};
    for (int gaussian = 0; gaussian < 2; gaussian++)
        for (size_t b = 0; b < 3; b++)
            for (uint64_t limit = 1; limit <= 5; limit++) {
                plan p = plan_of_mean(gaussian ? BRUME_NOISE_DISCRETE_GAUSSIAN
                                               : BRUME_NOISE_DISCRETE_LAPLACE,
                                      bounds[b][0], bounds[b][1], 0.75);
                double share = dearest_pair(&p, few_rows, 8, limit, 100);
                assert_holds(share <= 1 + 1e-12 && share > 1 - 1e-5);
                plan less = p; /* a control: the noise of add-remove on the sum, for less */
                less.measures[1].noise *= gaussian ? M_SQRT1_2 : .9;
                assert_holds(dearest_pair(&less, few_rows, 8, limit, 100) > 1.05);
            }
    /* numbers on a grid of 8 rows: what is beyond the triangle is paid for, and must be */
    const uint64_t limit = 1 << 16;
    const uint64_t rows[] = {0, 1, 5, limit - 6, limit - 5, limit - 1, limit, limit + 3};
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        plan p =
            plan_of_mean(gaussian ? BRUME_NOISE_DISCRETE_GAUSSIAN : BRUME_NOISE_DISCRETE_LAPLACE,
                         -125, 125, gaussian ? 0.66 * 0x1p-70 : 0.99 * 0x1p-34);
        double share = dearest_pair(&p, rows, 8, limit, 32);
        assert_int_equal(brume_limit_shift((double)limit, false, p.measures[0].noise), -3);
        assert_holds(share <= 1);
        plan plain = p; /* a control: as if no grid were coarse */
        for (int i = 0; i < 2; i++)
            plain.measures[i].noise /= 1 + plain.measures[i].noise * 0x1p-45;
        if (!gaussian) /* squares do not see so little */
            assert_holds(dearest_pair(&plain, rows, 8, limit, 32) > 1 + 1e-6);
    }
}

/* Rejects: the distances of a mean for two sums that follow one number, which may turn at once; for
 * squares; for several cells, where number and sum come and go in different ones. */
static void only_a_mean_in_one_cell_has_its_distances(void **state)
{
    (void)state;
    plan p = {.measures = {{.kind = BRUME_MEASURE_ROWS},
                           {.kind = BRUME_MEASURE_CENTRED, .low = -2, .high = 2},
                           {.kind = BRUME_MEASURE_CENTRED, .expression = 1, .low = -2, .high = 2}},
              .shape = {.cells = 1, .replace = true}};
    for (int which = 0; which < 3; which++) {
        size_t count = which == 2 ? 2 : 3;
        p.measures[2].kind = which == 1 ? BRUME_MEASURE_SQUARES : BRUME_MEASURE_CENTRED;
        p.measures[2].expression = which == 0;
        p.shape.cells = which == 2 ? 2 : 1;
        assert_ok(brume_limited_pay(p.measures, count, &p.shape, BRUME_NOISE_DISCRETE_LAPLACE, 1, 0,
                                    0, &p.limited, &p.price, &error));
        double turned = 0;
        for (size_t i = 1; i < count; i++)
            turned += 2 / p.measures[i].noise;
        if (which == 2) /* all of one unit goes, and all of another comes elsewhere */
            turned += 2 / p.measures[0].noise;
        assert_holds(turned <= 1 + 1e-12);
    }
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
                : which == 3 ? 0x1p-37 /* 8 % of it, for a histogram, are not enough */
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
    static const double laplace[] = {.05, .08, .12, .15}, gaussian[] = {.04, .08, .12, .15};
    double of_laplace = 0, of_gaussian = 0;
    for (int i = 0; i < 4; i++) {
        brume_choice_step step = (brume_choice_step)i;
        of_laplace += laplace[i];
        of_gaussian += gaussian[i];
        assert_close(brume_limited_choice_share(1, 3, step, true), of_laplace, 1e-15);
        assert_close(brume_limited_choice_share(2, 3, step, true), of_gaussian, 1e-15);
        assert_close(brume_limited_choice_share(1, 3, step, false), of_laplace - .05, 1e-15);
        assert_close(brume_limited_choice_share(2, 3, step, false), of_gaussian - .04, 1e-15);
        assert_close(brume_limited_step_share(2, .1, step), gaussian[i], 1e-15);
        if (i > 0)
            assert_close(brume_limited_step_share(1, .1, step), laplace[i], 1e-15);
    }
    assert_close(brume_limited_step_share(1, .1, BRUME_CHOICE_COUNT), .12, 1e-15);
    assert_close(brume_limited_step_share(1, 2, BRUME_CHOICE_COUNT), .06, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limited_plans_cost_their_price_in_exact_rationals),
        cmocka_unit_test(a_mean_in_one_cell_costs_its_price),
        cmocka_unit_test(only_a_mean_in_one_cell_has_its_distances),
        cmocka_unit_test(what_cannot_be_bought_is_refused),
        cmocka_unit_test(the_largest_scale_of_choosing_ends_at_two_to_the_40),
        cmocka_unit_test(shares_are_as_stated),
    };
    return cmocka_run_group_tests_name("prices of limited totals", tests, NULL, NULL);
}
