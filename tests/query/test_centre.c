/* The centre of a mean, the sum and the squares about it: what one unit adds to the cells of means,
 * to the histograms of distances and of squares and to both sums under a limit, by the shipped
 * collection, for all units of up to three rows; and the loss of centre, histograms, number and
 * sums together, against the price, in both adjacencies, with prices that are wrong. */
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
    int64_t squares[POINTS][LIMITS + 1];
    size_t bin[POINTS], square_bin[POINTS];
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

static const brume_bound_value value_plan[] = {
    {.low = 0, .high = POINTS - 1, .centre = 2},
    {.low = 0, .high = (POINTS - 1) * (POINTS - 1), .centre = 8}};

/* The rows of some units, each with a number of its own. */
static brume_bounder *take(const unit *of, size_t count, brume_bounded_group **groups)
{
    brume_error error = {0};
    brume_bound_plan plan = {
        .value_count = 2, .values = value_plan, .closed = true, .totals = true};
    brume_bits *bits = brume_tape_open_seeded(7);
    brume_bounder *bounder = NULL;
    size_t group_count = 0;
    assert_ok(brume_bounder_open(&plan, bits, &bounder, &error));
    brume_key_value key = {0};
    assert_ok(brume_bounder_declare(bounder, &key, &error));
    for (size_t i = 0; i < count; i++) {
        int64_t who[ROWS] = {(int64_t)i, (int64_t)i, (int64_t)i}, square[ROWS];
        for (size_t row = 0; row < ROWS; row++)
            square[row] = of[i].value[row] * of[i].value[row];
        brume_chunk_column columns[] = {{.wire = BRUME_WIRE_INTEGER, .integers = who},
                                        {.wire = BRUME_WIRE_INTEGER, .integers = of[i].value},
                                        {.wire = BRUME_WIRE_INTEGER, .integers = square}};
        brume_chunk chunk = {.row_count = of[i].count, .column_count = 3, .columns = columns};
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

/* A statistic in the histogram and under each limit. */
static void add_statistic(brume_bounder *bounder, const brume_total *of, brume_measure_kind kind,
                          brume_bounded_group *groups, size_t *bin, int64_t *sum)
{
    brume_error error = {0};
    uint64_t bins[BINS];
    assert_ok(brume_totals_histogram(bounder, of, 1, BINS, NULL, bins, &error));
    *bin = BINS;
    for (size_t i = 0; i < BINS; i++)
        if (bins[i] > 0)
            *bin = i;
    for (uint64_t limit = 1; limit <= LIMITS; limit++) {
        brume_total_limit limits[] = {{*of, limit, 0}};
        brume_limited_sum sums[] = {{.kind = kind, .value = of->value}};
        assert_ok(brume_totals_limit(bounder, limits, 1, 1, NULL, sums, 1, groups, 1, &error));
        sum[limit] = (int64_t)groups[0].limited[0];
    }
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
        brume_total sum = {.kind = BRUME_TOTAL_SUM, .centre = centre};
        brume_total squares = {
            .kind = BRUME_TOTAL_SUM, .value = 1, .centre = centre, .root = 1, .steps = 1};
        add_statistic(bounder, &sum, BRUME_MEASURE_DEVIATION, groups, &to->bin[centre],
                      to->sum[centre]);
        add_statistic(bounder, &squares, BRUME_MEASURE_DIRECT, groups, &to->square_bin[centre],
                      to->squares[centre]);
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

static int64_t squares_about(const unit *of, int64_t centre)
{
    int64_t sum = 0;
    for (size_t i = 0; i < of->count; i++)
        sum += (of->value[i] - centre) * (of->value[i] - centre);
    return sum;
}

/* ---- what one unit adds ---- */

/* Rejects: a mean that is rounded another way, or weighs as many rows as there are; a distance from
 * another centre than the one asked for; a sum that is not cut, or on one side only; squares about
 * the middle of the bounds. */
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
            int64_t squares = squares_about(&units[i], centre);
            size_t square_bin = brume_limit_bin((brume_u128)squares, 1, BINS);
            assert_int_equal(all[i].square_bin[centre],
                             square_bin == BRUME_LIMIT_NO_BIN ? BINS : square_bin);
            for (int64_t limit = 1; limit <= LIMITS; limit++)
                assert_int_equal(all[i].squares[centre][limit], squares > limit ? limit : squares);
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
                for (size_t limit = 1; limit <= LIMITS; limit++) {
                    assert_int_equal(both.sum[centre][limit],
                                     all[i].sum[centre][limit] + all[j].sum[centre][limit]);
                    assert_int_equal(both.squares[centre][limit],
                                     all[i].squares[centre][limit] + all[j].squares[centre][limit]);
                }
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

/* What is asked: a mean, whose sum has a histogram; a spread, whose squares have one; or both,
 * whose histograms are about one centre. */
typedef enum question { MEAN, SPREAD, BOTH, QUESTIONS } question;

/* The prices: the rate of the centre, and the noise for a limit of 1 on number and sums; 0: there
 * is none. */
typedef struct priced {
    double rate, number, sum, squares, histogram, square_histogram;
} priced;

static priced price_of(question asked, bool replace)
{
    brume_error error = {0};
    bool spread = asked != MEAN;
    brume_measure measures[] = {
        {.kind = BRUME_MEASURE_DEVIATION, .high = POINTS - 1, .divides = asked == SPREAD},
        {.kind = BRUME_MEASURE_ROWS, .divides = true, .of_spread = spread},
        {.kind = BRUME_MEASURE_DIRECT, .expression = 1, .high = (POINTS - 1) * (POINTS - 1)}};
    brume_limited_shape shape = {.cells = 1,
                                 .replace = replace,
                                 .deviations = asked == BOTH ? 2 : 1,
                                 .shared = asked == BOTH,
                                 .deviation_step = BRUME_CHOICE_HISTOGRAM};
    brume_limited_price paid;
    brume_price price;
    assert_ok(brume_limited_pay(measures, spread ? 3 : 2, &shape, BRUME_NOISE_DISCRETE_LAPLACE, 1,
                                0, 0, &paid, &price, &error));
    return (priced){paid.centre_rate,
                    measures[1].noise,
                    measures[0].noise,
                    spread ? measures[2].noise : 0,
                    asked == SPREAD ? 0 : paid.deviation_histogram_scale,
                    spread ? paid.deviation_histogram_scale : 0};
}

static double over(double moved, double scale)
{
    return scale > 0 ? moved / scale : 0;
}

static int bins_moved(size_t before, size_t after)
{
    return before == after ? 0 : (before < BINS) + (after < BINS);
}

typedef struct losses {
    double centre, histogram, whole;
} losses;

/* The largest loss, over pairs of units beside the same others, at these prices: of the centre
 * alone, of the histograms about it alone, and of centre, histograms, number and sums, whose limits
 * are others for each centre. `most`: what a unit may weigh; `divided`: that the rate is divided by
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
                    size_t limit = 1 + c % LIMITS, other = 1 + (c + 2) % LIMITS;
                    double histogram =
                        over(bins_moved(all[i].bin[c], all[j].bin[c]), at->histogram) +
                        over(bins_moved(all[i].square_bin[c], all[j].square_bin[c]),
                             at->square_histogram);
                    double sum = fabs((double)(all[i].sum[c][limit] - all[j].sum[c][limit])) /
                                 ((double)limit * at->sum);
                    double squares =
                        over(fabs((double)(all[i].squares[c][other] - all[j].squares[c][other])),
                             (double)other * at->squares);
                    double centre = fabs(p[c] - r[c]);
                    out.centre = fmax(out.centre, centre);
                    out.histogram = fmax(out.histogram, histogram);
                    out.whole = fmax(out.whole, centre + histogram + number + sum + squares);
                }
            }
    return out;
}

/* Rejects: a centre whose rate is not for what a unit weighs; histograms that move by 2 and are
 * paid for 1, or two of them that are paid for one; a sum about a centre that turns under
 * replacement and is paid as if it came or went; squares for nothing. */
static void centre_number_and_sums_cost_their_price(void **state)
{
    (void)state;
    for (question asked = MEAN; asked < QUESTIONS; asked++)
        for (int replace = 0; replace < 2; replace++)
            for (uint64_t most = 1; most <= ROWS; most++) {
                priced at = price_of(asked, replace);
                losses found = worst(&at, replace, most, true);
                assert_holds(found.centre <= .05 * (1 + 1e-9));
                assert_holds(found.histogram <= .08 * (1 + 1e-9));
                assert_holds(found.histogram >= .08 * (1 - 1e-9));
                assert_holds(found.whole <= 1 + 1e-9);
                assert_holds(found.whole >= (replace ? .7 : .9));
            }
    for (question asked = MEAN; asked < QUESTIONS; asked++) {
        priced at = price_of(asked, false);
        assert_holds(worst(&at, false, ROWS, false).centre > .06);     /* not divided */
        assert_holds(worst(&at, true, 1, true).histogram > .08 * 1.9); /* replaced, as if added */
        assert_holds(asked != MEAN || worst(&at, true, 1, true).whole > 1.2);
    }
    priced at = price_of(MEAN, false), once = price_of(MEAN, true);
    once.sum = at.sum;
    assert_holds(worst(&once, true, 1, true).whole > 1.2);
    priced both = price_of(BOTH, false), spread = price_of(SPREAD, false);
    both.histogram = both.square_histogram = spread.square_histogram;
    assert_holds(worst(&both, false, 1, true).histogram > .08 * 1.9);
    at.squares = spread.squares; /* a mean at its price, and the squares as well */
    assert_holds(worst(&at, false, 1, true).whole > 1.2);
}

/* A sum that is scaled down by the rows beyond `most` before its own limit cuts it: nearer to 0
 * than what the limit leaves, so that the noise for the limit is enough, and as much as the rows
 * say but for roundings; the same where a unit has no more rows. Rejects: a limit that is raised by
 * what was scaled down, a sum that turns, and one that is scaled by the values. */
static void what_is_scaled_down_stays_within_the_limit(void **state)
{
    (void)state;
    brume_error error = {0};
    size_t scaled = 0;
    for (size_t i = 0; i < UNITS; i++) {
        brume_bounded_group *groups = NULL;
        brume_bounder *bounder = take(&units[i], 1, &groups);
        for (int64_t centre = 0; centre < POINTS; centre++)
            for (uint64_t limit = 1; limit <= LIMITS; limit++)
                for (uint64_t most = 1; most <= ROWS; most++) {
                    brume_total sum = {.kind = BRUME_TOTAL_SUM, .centre = centre},
                                rows = {.kind = BRUME_TOTAL_ROWS};
                    brume_total_limit limits[] = {{sum, limit, 0}, {rows, most, 0}};
                    brume_limited_sum sums[] = {
                        {.kind = BRUME_MEASURE_DEVIATION, .shift = 10, .spared = 2}};
                    assert_ok(brume_totals_limit(bounder, limits, 2, 1, NULL, sums, 1, groups, 1,
                                                 &error));
                    double got = ldexp((double)groups[0].limited[0], -10);
                    double whole = (double)all[i].sum[centre][limit];
                    double count = (double)units[i].count;
                    bool more = units[i].count > most;
                    assert_true(fabs(got) <= fabs(whole) && got * whole >= 0);
                    assert_true(more || got == whole);
                    if (more) /* a row's sum is a whole number before it is scaled by the limit */
                        assert_true(fabs(got) >= fabs(whole) * (double)most / count - 1.01);
                    assert_true(fabs(got) <= (double)limit * fmin(1, (double)most / count) ||
                                fabs(whole) < (double)limit || !more);
                    scaled += more && got != whole;
                }
        brume_bounder_close(bounder);
    }
    assert_true(scaled > UNITS);
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
        cmocka_unit_test(what_is_scaled_down_stays_within_the_limit),
        cmocka_unit_test(centre_number_and_sums_cost_their_price),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
