/* The centre of a mean and the sum about it: what one unit adds to the cells of means, to the
 * histogram of distances and to the sum under a limit, by the shipped collection, for all units of
 * up to three rows; and the loss of centre, number and sum together, against the price, in both
 * adjacencies, with prices that are wrong. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "query/collect/totals.h"
#include "query/limit/clip.h"
#include "query/limit/grid.h"
#include "query/price/limited.h"
#include "random/tape.h"

enum { POINTS = 5, ROWS = 3, UNITS = 56, LIMITS = 4, BINS = 12, OTHERS = 4 };

/* A unit's values, each within 0 .. POINTS-1. */
typedef struct unit {
    int64_t value[ROWS];
    size_t count;
} unit;

/* What it adds, by itself, about each centre. */
typedef struct added {
    uint64_t weights[ROWS + 1][POINTS]; /* by the most that it may weigh */
    int64_t sum[POINTS][LIMITS + 1];    /* about a centre, under a limit */
    size_t bin[POINTS];
} added;

static unit units[UNITS];
static added all[UNITS];

static size_t make_units(void)
{
    size_t count = 1;                  /* the first has no row */
    for (size_t i = 0; i < count; i++) /* grows while it is read */
        for (int64_t x = units[i].count ? units[i].value[units[i].count - 1] : 0;
             units[i].count < ROWS && x < POINTS; x++) {
            units[count] = units[i];
            units[count].value[units[count].count++] = x;
            count++;
        }
    return count;
}

static const brume_bound_value value_plan = {.low = 0, .high = POINTS - 1, .centre = 2};

/* The rows of some units, each with a number of its own. */
static brume_bounder *take(const unit *of, size_t count, brume_bounded_group **groups)
{
    brume_error error = {0};
    brume_bound_plan plan = {
        .value_count = 1, .values = &value_plan, .closed = true, .totals = true};
    brume_bits *bits = brume_tape_open_seeded(7);
    brume_bounder *bounder = NULL;
    size_t group_count = 0;
    assert_ok(brume_bounder_open(&plan, bits, &bounder, &error));
    brume_key_value key = {0};
    assert_ok(brume_bounder_declare(bounder, &key, &error));
    for (size_t i = 0; i < count; i++) {
        int64_t who[ROWS] = {(int64_t)i, (int64_t)i, (int64_t)i};
        brume_chunk_column columns[] = {{.wire = BRUME_WIRE_INTEGER, .integers = who},
                                        {.wire = BRUME_WIRE_INTEGER, .integers = of[i].value}};
        brume_chunk chunk = {.row_count = of[i].count, .column_count = 2, .columns = columns};
        if (of[i].count > 0)
            assert_ok(brume_bounder_take(bounder, &chunk, &error));
    }
    const brume_bounded_group *found = NULL;
    assert_ok(brume_bounder_finish(bounder, &found, &group_count, &error));
    assert_int_equal(group_count, 1);
    *groups = (brume_bounded_group *)found;
    brume_bits_close(bits);
    return bounder;
}

static void add_up(const unit *of, size_t count, added *to)
{
    brume_error error = {0};
    brume_bounded_group *groups = NULL;
    brume_bounder *bounder = take(of, count, &groups);
    for (uint64_t most = 1; most <= ROWS; most++) {
        brume_mean_cells cells = {.width = 1, .count = POINTS, .most = most};
        assert_ok(brume_totals_means(bounder, &cells, NULL, to->weights[most], &error));
    }
    for (int64_t centre = 0; centre < POINTS; centre++) {
        brume_total total = {BRUME_TOTAL_SUM, 0, centre};
        uint64_t bins[BINS];
        assert_ok(brume_totals_histogram(bounder, &total, 1, BINS, NULL, bins, &error));
        to->bin[centre] = BINS;
        for (size_t i = 0; i < BINS; i++)
            if (bins[i] > 0)
                to->bin[centre] = i;
        for (uint64_t limit = 1; limit <= LIMITS; limit++) {
            brume_total_limit limits[] = {{total, limit, 0}};
            brume_limited_sum sums[] = {{.kind = BRUME_MEASURE_DEVIATION}};
            assert_ok(brume_totals_limit(bounder, limits, 1, 1, NULL, sums, 1, groups, 1, &error));
            to->sum[centre][limit] = (int64_t)groups[0].limited[0];
        }
    }
    brume_bounder_close(bounder);
}

static int64_t sum_about(const unit *of, int64_t centre)
{
    int64_t sum = 0;
    for (size_t i = 0; i < of->count; i++)
        sum += of->value[i] - centre;
    return sum;
}

/* ---- what one unit adds ---- */

/* Rejects: a mean that is rounded another way, or weighs as many rows as there are; a distance from
 * another centre than the one asked for; a sum that is not cut, or on one side only. */
static void a_unit_adds_what_the_definition_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNITS; i++)
        for (int64_t centre = 0; centre < POINTS; centre++) {
            int64_t sum = sum_about(&units[i], centre), values = sum_about(&units[i], 0);
            for (uint64_t most = 1; most <= ROWS; most++) {
                uint64_t weight = units[i].count < most ? units[i].count : most;
                for (int64_t cell = 0; cell < POINTS; cell++) {
                    bool here = units[i].count > 0 && values / (int64_t)units[i].count == cell;
                    assert_int_equal(all[i].weights[most][cell], here ? weight : 0);
                }
            }
            size_t bin = brume_limit_bin((brume_u128)llabs(sum), 1, BINS);
            assert_int_equal(all[i].bin[centre], bin == BRUME_LIMIT_NO_BIN ? BINS : bin);
            for (int64_t limit = 1; limit <= LIMITS; limit++)
                assert_int_equal(all[i].sum[centre][limit], sum > limit    ? limit
                                                            : sum < -limit ? -limit
                                                                           : sum);
        }
}

/* What a unit adds does not depend on the others. Rejects: weights or sums that are shared. */
static void units_add_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNITS; i += 3)
        for (size_t j = 0; j < UNITS; j += 2) {
            unit two[] = {units[i], units[j]};
            added both;
            add_up(two, 2, &both);
            for (size_t most = 1; most <= ROWS; most++)
                for (size_t cell = 0; cell < POINTS; cell++)
                    assert_int_equal(both.weights[most][cell],
                                     all[i].weights[most][cell] + all[j].weights[most][cell]);
            for (size_t centre = 0; centre < POINTS; centre++)
                for (size_t limit = 1; limit <= LIMITS; limit++)
                    assert_int_equal(both.sum[centre][limit],
                                     all[i].sum[centre][limit] + all[j].sum[centre][limit]);
        }
}

/* ---- what two neighbours are apart ---- */

/* log P[the median is in each cell]. */
static void median_law(const uint64_t weights[POINTS], double rate, double law[POINTS])
{
    double all_weights = 0, below = 0, total = 0;
    for (size_t i = 0; i < POINTS; i++)
        all_weights += (double)weights[i];
    for (size_t i = 0; i < POINTS; below += (double)weights[i++]) {
        double upto = below + (double)weights[i];
        law[i] = -rate * fmax(0, fmax(below - all_weights / 2, all_weights / 2 - upto));
        total += exp(law[i]);
    }
    for (size_t i = 0; i < POINTS; i++)
        law[i] -= log(total);
}

/* The prices of a mean: the rate of its centre, and the noise for a limit of 1 on number and sum.
 */
typedef struct priced {
    double rate, number, sum, histogram;
} priced;

static priced price_of(bool replace)
{
    brume_error error = {0};
    brume_measure measures[] = {{.kind = BRUME_MEASURE_DEVIATION, .high = POINTS - 1},
                                {.kind = BRUME_MEASURE_ROWS, .divides = true}};
    brume_limited_shape shape = {
        .cells = 1, .replace = replace, .deviations = 1, .deviation_step = BRUME_CHOICE_HISTOGRAM};
    brume_limited_price paid;
    brume_price price;
    assert_ok(brume_limited_pay(measures, 2, &shape, BRUME_NOISE_DISCRETE_LAPLACE, 1, 0, 0, &paid,
                                &price, &error));
    return (priced){paid.centre_rate, measures[1].noise, measures[0].noise,
                    paid.deviation_histogram_scale};
}

typedef struct losses {
    double centre, histogram, whole;
} losses;

/* The largest loss, over pairs of units beside the same others, at these prices: of the centre
 * alone, of the histogram about it alone, and of centre, histogram, number and sum, whose limit is
 * another for each centre. `most`: what a unit may weigh; `divided`: that the rate is divided by
 * it. */
static losses worst(const priced *at, bool replace, uint64_t most, bool divided)
{
    losses out = {0, 0, 0};
    double rate = at->rate / (divided ? (double)most : 1);
    for (size_t others = 0; others < OTHERS; others++)
        for (size_t i = 0; i < UNITS; i++)
            for (size_t j = 0; j < (replace ? UNITS : 1); j++) {
                static const uint64_t beside[OTHERS][POINTS] = {
                    {0}, {9, 0, 0, 0, 9}, {0, 0, 6, 0, 0}, {3, 0, 0, 2, 2}};
                uint64_t before[POINTS], after[POINTS];
                double p[POINTS], r[POINTS];
                for (size_t k = 0; k < POINTS; k++) {
                    before[k] = beside[others][k] + all[i].weights[most][k];
                    after[k] = beside[others][k] + all[j].weights[most][k];
                }
                median_law(before, rate, p);
                median_law(after, rate, r);
                double rows = fabs((double)units[i].count - (double)units[j].count);
                double number = fmin(rows, ROWS) / (ROWS * at->number);
                for (size_t c = 0; c < POINTS; c++) {
                    size_t limit = 1 + c % LIMITS;
                    int bins = all[i].bin[c] == all[j].bin[c]
                                   ? 0
                                   : (all[i].bin[c] < BINS) + (all[j].bin[c] < BINS);
                    double histogram = (double)bins / at->histogram;
                    double sum = fabs((double)(all[i].sum[c][limit] - all[j].sum[c][limit])) /
                                 ((double)limit * at->sum);
                    double centre = fabs(p[c] - r[c]);
                    out.centre = fmax(out.centre, centre);
                    out.histogram = fmax(out.histogram, histogram);
                    out.whole = fmax(out.whole, centre + histogram + number + sum);
                }
            }
    return out;
}

/* Rejects: a centre whose rate is not for what a unit weighs; a histogram that moves by 2 and is
 * paid for 1; a sum about a centre that turns under replacement and is paid as if it came or went.
 */
static void centre_number_and_sum_cost_their_price(void **state)
{
    (void)state;
    for (int replace = 0; replace < 2; replace++)
        for (uint64_t most = 1; most <= ROWS; most++) {
            priced at = price_of(replace);
            losses found = worst(&at, replace, most, true);
            assert_holds(found.centre <= .05 * (1 + 1e-9));
            assert_holds(found.histogram <= .08 * (1 + 1e-9));
            assert_holds(found.histogram >= .08 * (1 - 1e-9));
            assert_holds(found.whole <= 1 + 1e-9);
            assert_holds(found.whole >= (replace ? .7 : .9));
        }
    priced at = price_of(false);
    assert_holds(worst(&at, false, ROWS, false).centre > .06);     /* not divided */
    assert_holds(worst(&at, true, 1, true).histogram > .08 * 1.9); /* replaced, as if added */
    assert_holds(worst(&at, true, 1, true).whole > 1.5);
    priced once = price_of(true);
    once.sum = at.sum;
    assert_holds(worst(&once, true, 1, true).whole > 1.2);
}

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(make_units(), UNITS);
    for (size_t i = 0; i < UNITS; i++)
        add_up(&units[i], 1, &all[i]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_adds_what_the_definition_says),
        cmocka_unit_test(units_add_up),
        cmocka_unit_test(centre_number_and_sum_cost_their_price),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
