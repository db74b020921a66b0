/* Intervals of quantiles: their cells, their law against its definition, what a quantile and its
 * interval cost together by enumeration, and how often an interval holds the quantile. */
#include "check.h"

#include <stdlib.h>

#include "query/price/price.h"
#include "query/release/rank.h"
#include "random/tape.h"

/* ---- cells ---- */

static void check_cells(int64_t low, int64_t high)
{
    brume_cells cells;
    brume_error error = {0};
    uint64_t most = ((uint64_t)high - (uint64_t)low) / 1024 + 1;
    assert_ok(brume_cells_open(low, high, &cells, &error));
    assert_true(cells.count >= 1 && cells.count < 1024 + (2 * 64 << 8) && cells.first[0] == low);
    for (size_t i = 0; i < cells.count; i++) {
        bool last = i + 1 == cells.count;
        int64_t end = last ? high : cells.first[i + 1] - 1;
        uint64_t length = (uint64_t)end - (uint64_t)cells.first[i] + 1;
        assert_true(end >= cells.first[i] && length <= most);
        double near = fmin(fabs((double)cells.first[i]), fabs((double)end));
        assert_true(length == 1 || (double)length <= near / 256 + 1); /* 256 to an octave */
    }
    assert_int_equal(cells.high, high);
    brume_cells_close(&cells);
}

static void cells_are_small_and_leave_nothing_out(void **state)
{
    (void)state;
    const int64_t ends[] = {0,     1,  7,  -5, 110,  1023,        40000, 9999999, -20000,
                            18262, 31, 32, 33, 1024, -1000000007, 10957, -1024,   1025};
    const int64_t wide = INT64_C(1) << 61;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (size_t j = 0; j < sizeof ends / sizeof *ends; j++)
            if (ends[i] <= ends[j])
                check_cells(ends[i], ends[j]);
    check_cells(-wide, wide);
    check_cells(-wide, -wide + 5);
    check_cells(wide - 3, wide);
    brume_cells cells;
    brume_error error = {0};
    assert_ok(brume_cells_open(-10000000, 10000000, &cells, &error));
    for (size_t i = 0; i + 1 < cells.count; i++) /* near 0 fine, and as fine below it */
        if (llabs(cells.first[i]) < 511)
            assert_int_equal(cells.first[i + 1], cells.first[i] + 1);
    brume_cells_close(&cells);
}

/* ---- the law, as the header has it ---- */

enum { MOST = 64 }; /* cells */

typedef enum mutant {
    SHIPPED,
    NO_OFFSET, /* the ends aim at the quantile itself */
    SHORT,     /* a quarter of b */
    GROWS,     /* b is made from the number of values */
    INSIDE,    /* no place below and above all cells */
} mutant;

/* Places of an end: one below all cells, the cells, one above: log-weights, -INFINITY for the one
 * that it does not have. */
static void define_end(const double *weights, size_t cells, double q, double b, double rate,
                       bool upper, mutant how, double *law)
{
    double all = 0, below = 0, total = 0;
    for (size_t i = 0; i < cells; i++)
        all += weights[i];
    b = how == NO_OFFSET ? 0 : how == SHORT ? b / 4 : how == GROWS ? all * all / 2 : b;
    double aim = q * all + (upper ? b : -b);
    law[0] = upper || how == INSIDE ? 0 : exp(-rate * fmax(0, aim));
    law[cells + 1] = !upper || how == INSIDE ? 0 : exp(-rate * fmax(0, all - aim));
    double best = -INFINITY;
    for (int pass = 0; pass < 2; pass++, below = 0)
        for (size_t i = 0; i < cells; i++) {
            double u = -fmax(0, fmax(below - aim, aim - below - weights[i]));
            best = fmax(best, u);
            law[i + 1] = exp(rate * (u - (how == INSIDE ? best : 0)));
            below += weights[i];
        }
    for (size_t i = 0; i < cells + 2; i++)
        total += law[i];
    for (size_t i = 0; i < cells + 2; i++)
        law[i] /= total;
}

static double offset(size_t cells, double rate)
{
    return log(40 * (double)cells) / rate;
}

/* P[end <= place], or >= where it is an upper one. */
static double chance_beside(const double *law, size_t cells, size_t cell, bool upper)
{
    double sum = 0;
    for (size_t i = upper ? cell + 1 : 0; upper ? i < cells + 2 : i <= cell + 1; i++)
        sum += law[i];
    return sum;
}

/* 20000 draws: |count - n p| <= 700 fails with probability below 2 exp(-2 * 700^2 / 20000) = 1e-21
 * each (Hoeffding); 6 cases, 2 ends, 24 places. Rejects: an end at the wrong side of its cell, a
 * place that is missing, the offset of one end on the other, weights that are rows. */
static void the_ends_have_the_stated_law(void **state)
{
    (void)state;
    enum { HIGH = 21 };
    static const struct {
        int64_t num, den;
        double rate;
        bool weighted;
    } cases[] = {{1, 2, .4, false}, {1, 2, 1.5, false}, {0, 1, 1, false},
                 {1, 1, 1, false},  {9, 10, 1, false},  {1, 4, 1.2, true}};
    int64_t values[40];
    uint32_t weights[40];
    brume_error error = {0};
    brume_bits *bits = brume_tape_open_seeded(12);
    for (size_t i = 0; i < 40; i++) {
        values[i] = (int64_t)(i * i) % (HIGH + 1);
        weights[i] = (uint32_t)(i % 3 + 1) << 15;
    }
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        brume_ranked list;
        brume_cells cells;
        double of[HIGH + 1] = {0}, law[2][HIGH + 3], control[HIGH + 3], off = 0;
        long seen[2][HIGH + 1] = {{0}};
        for (size_t i = 0; i < 40; i++)
            of[values[i]] += cases[c].weighted ? (double)weights[i] * 0x1p-16 : 1;
        assert_ok(brume_ranked_open(values, cases[c].weighted ? weights : NULL, 40, 0, HIGH,
                                    BRUME_RANKED_POINTS, &list, &error));
        assert_ok(brume_cells_open(0, HIGH, &cells, &error)); /* whole steps */
        double q = (double)cases[c].num / (double)cases[c].den, rate = cases[c].rate;
        double steps = (double)cases[c].den * (cases[c].weighted ? 0x1p16 : 1);
        double cut = c % 2 ? 4 : 0, b = 0; /* rows that a limit may have left out */
        for (int upper = 1; upper >= 0; upper--) {
            b = offset(cells.count, rate) + (upper ? q : 1 - q) * cut;
            b = ceil(b * steps) / steps;
            define_end(of, HIGH + 1, q, b, rate, upper, SHIPPED, law[upper]);
        }
        define_end(of, HIGH + 1, q, b, rate, false, NO_OFFSET, control);
        for (int i = 0; i < 20000; i++) {
            int64_t ends[2];
            assert_ok(brume_rank_interval(bits, &list, &cells, cases[c].num, cases[c].den, rate,
                                          cut, ends, &error));
            assert_true(0 <= ends[0] && ends[0] <= ends[1] && ends[1] <= HIGH);
            seen[0][ends[0]]++;
            seen[1][ends[1]]++;
        }
        /* places outside are shown as the bounds; ends that cross are too rare here to show */
        law[0][1] += law[0][0];
        law[1][HIGH + 1] += law[1][HIGH + 2];
        control[1] += control[0];
        for (int v = 0; v <= HIGH; v++) {
            for (int upper = 0; upper < 2; upper++)
                assert_holds(fabs((double)seen[upper][v] - 20000 * law[upper][v + 1]) <= 700);
            off = fmax(off, fabs((double)seen[0][v] - 20000 * control[v + 1]));
        }
        assert_holds(off > 1400 || q < 0.1);
        brume_cells_close(&cells);
        brume_ranked_close(&list);
    }
    brume_bits_close(bits);
}

/* ---- privacy ---- */

enum { POINTS = 4, TABLES = 70 };

typedef struct loss {
    double up, down, range, squares;
} loss;

static void add_loss(const double *p, const double *r, size_t count, loss *sum)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < count; i++)
        if (p[i] > 0 && r[i] > 0) {
            least = fmin(least, log(p[i] / r[i]));
            most = fmax(most, log(p[i] / r[i]));
        }
    sum->up += most;
    sum->down -= least;
    sum->range += most - least;
    sum->squares += (most - least) * (most - least);
}

/* The law of the quantile itself is that of an end that aims at it, over cells of one point. */
static loss compare(const double *a, const double *b, double q, const double rates[2], double at,
                    mutant how)
{
    loss sum = {0, 0, 0, 0};
    double p[POINTS + 2], r[POINTS + 2];
    define_end(a, POINTS, q, 0, rates[0], false, INSIDE, p);
    define_end(b, POINTS, q, 0, rates[0], false, INSIDE, r);
    add_loss(p, r, POINTS + 2, &sum);
    for (int upper = 0; upper < 2; upper++) {
        define_end(a, POINTS, q, at, rates[1], upper, how, p);
        define_end(b, POINTS, q, at, rates[1], upper, how, r);
        add_loss(p, r, POINTS + 2, &sum);
    }
    return sum;
}

/* Largest of all tables of up to 4 other values and a unit of `rows` values that comes or goes, or
 * is replaced; both orders of neighbours. */
static loss worst_of(double q, const double rates[2], int rows, bool replace, mutant how)
{
    static const double offsets[] = {0, .5, 1, 2.7, 40};
    loss worst = {0, 0, 0, 0};
    for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++)
        for (int code = 0; code < 625; code++) {
            int parts[] = {code % 5, code / 5 % 5, code / 25 % 5, code / 125};
            if (parts[0] + parts[1] + parts[2] + parts[3] > 4)
                continue;
            for (int v = 0; v < POINTS; v++)
                for (int w = replace ? 0 : -1; w < (replace ? POINTS : 0); w++) {
                    double a[POINTS], b[POINTS];
                    for (int i = 0; i < POINTS; i++) {
                        a[i] = parts[i] + (i == v ? rows : 0);
                        b[i] = parts[i] + (i == w ? rows : 0);
                    }
                    loss one = compare(a, b, q, rates, offsets[o], how);
                    worst.up = fmax(worst.up, fmax(one.up, one.down));
                    worst.range = fmax(worst.range, one.range);
                    worst.squares = fmax(worst.squares, one.squares);
                }
        }
    return worst;
}

static void price(int64_t (*fraction)[2], int rows, bool replace, brume_noise_kind noise,
                  double rates[2])
{
    brume_error error = {0};
    brume_price paid;
    brume_measure measure[] = {{.kind = BRUME_MEASURE_QUANTILES,
                                .high = POINTS - 1,
                                .fractions = (const int64_t(*)[2])fraction,
                                .fraction_count = 1}};
    brume_shape shape = {
        .max_groups = 1, .max_rows = (uint64_t)rows, .cells = 1, .replace = replace};
    if (noise == BRUME_NOISE_DISCRETE_LAPLACE)
        assert_ok(brume_price_laplace(measure, 1, &shape, 1, 0, &paid, &error));
    else
        assert_ok(brume_price_concentrated(measure, 1, &shape, 0.125, 0, &paid, &error));
    rates[0] = measure[0].scale;
    rates[1] = brume_interval_rate_down(&measure[0], noise);
}

static void a_quantile_and_its_interval_cost_what_is_charged(void **state)
{
    (void)state;
    static int64_t fractions[][2] = {{0, 1}, {1, 4}, {1, 2}, {9, 10}, {1, 1}};
    for (size_t i = 0; i < 5; i++)
        for (int rows = 1; rows <= 2; rows++)
            for (int replace = 0; replace < 2; replace++) {
                double q = (double)fractions[i][0] / (double)fractions[i][1], rates[2];
                price(&fractions[i], rows, replace, BRUME_NOISE_DISCRETE_LAPLACE, rates);
                loss pure = worst_of(q, rates, rows, replace, SHIPPED);
                assert_holds(pure.up <= 1 + 1e-9 && pure.range <= 1 + 1e-9);
                assert_holds(pure.range >= (fabs(q - 0.9) < 1e-9 ? 0.69 : 0.83));
                const double twice[] = {rates[0], 2 * rates[1]};
                if (rows == 1) /* the mutant: half of the sensitivity for the ends */
                    assert_holds(worst_of(q, twice, rows, replace, SHIPPED).range > 1.1);
                price(&fractions[i], rows, replace, BRUME_NOISE_DISCRETE_GAUSSIAN, rates);
                loss slow = worst_of(q, rates, rows, replace, SHIPPED);
                assert_holds(slow.squares / 8 <= 0.125 * (1 + 1e-9));
            }
    /* the mutants: ends of the least value with its own range, one way; a b that is no constant; a
     * rate for one row, or for a unit that comes where it is replaced */
    double rates[2];
    price(&fractions[0], 1, false, BRUME_NOISE_DISCRETE_LAPLACE, rates);
    const double one_way[] = {rates[0], 2 * rates[1]};
    assert_holds(worst_of(0, one_way, 1, false, SHIPPED).range > 1.2 &&
                 fabs(rates[1] - rates[0] / 4) <= 1e-15);
    price(&fractions[2], 1, false, BRUME_NOISE_DISCRETE_LAPLACE, rates);
    assert_holds(worst_of(.5, rates, 1, false, GROWS).range > 1.1);
    assert_holds(worst_of(.5, rates, 2, false, SHIPPED).range > 1.2);
    price(&fractions[1], 1, false, BRUME_NOISE_DISCRETE_LAPLACE, rates);
    assert_holds(worst_of(.25, rates, 1, true, SHIPPED).range > 1.1);
}

/* ---- how often it holds the quantile ---- */

/* The data: all low, spread, two humps with nothing between them, few values. */
static void make_data(int which, double *weights, size_t cells)
{
    for (size_t i = 0; i < cells; i++)
        weights[i] = which == 0   ? (i == 0 ? 2 : 0)
                     : which == 1 ? 5
                     : which == 2 ? (i < 3 || i + 3 >= cells ? 40 : 0)
                     : which == 3 ? 0
                                  : (i % 9 == 4 ? 30 : 0);
}

/* Exact chances, from the law: P[a lower end is above the quantile] and P[an upper one is below it]
 * are .025 at most. The quantile is any cell whose ranks hold qW. */
static double worst_cover(mutant how)
{
    static const double fractions[] = {0, .01, .25, .5, .9, 1}, rates[] = {.02, .1, 1};
    double worst = 1, weights[MOST], law[MOST + 2];
    for (int which = 0; which < 5; which++)
        for (size_t f = 0; f < 6; f++)
            for (size_t r = 0; r < 3; r++) {
                double all = 0, below = 0, b = offset(MOST, rates[r]);
                make_data(which, weights, MOST);
                for (size_t i = 0; i < MOST; i++)
                    all += weights[i];
                for (size_t i = 0; i < MOST; below += weights[i++]) {
                    double target = fractions[f] * all;
                    if (below > target || below + weights[i] < target)
                        continue;
                    double chance = 1;
                    for (int upper = 0; upper < 2; upper++) {
                        define_end(weights, MOST, fractions[f], b, rates[r], upper, how, law);
                        chance -= 1 - chance_beside(law, MOST, i, upper);
                    }
                    worst = fmin(worst, chance);
                }
            }
    return worst;
}

static void the_interval_holds_the_quantile_for_any_data(void **state)
{
    (void)state;
    assert_holds(worst_cover(SHIPPED) >= .95);
    assert_holds(worst_cover(NO_OFFSET) < .6);
    assert_holds(worst_cover(SHORT) < .95);
    assert_holds(worst_cover(INSIDE) < .6);
}

/* 4000 intervals of each of 12 lists: more than 200 + 240 of them beside the quantile have a
 * probability below exp(-2 * 240^2 / 4000) = 3e-13 (Hoeffding), where the chance of each is .05.
 * The control is an interval of half the price's quantile: it is beside the quantile of .6 far more
 * often. */
static void drawn_intervals_hold_the_quantile(void **state)
{
    (void)state;
    enum { COUNT = 500, ROUNDS = 4000 };
    static const int64_t fractions[][2] = {{1, 4}, {1, 2}, {9, 10}, {1, 100}};
    brume_error error = {0};
    brume_bits *bits = brume_tape_open_seeded(5);
    uint64_t seed = 77;
    long beside_another = 0;
    for (int kind = 0; kind < 3; kind++) {
        int64_t values[COUNT], high = 1000000;
        for (size_t i = 0; i < COUNT; i++) {
            double u = (double)(brume_tape_splitmix(&seed) >> 11) * 0x1p-53;
            double x = kind == 0 ? exp(13 * u) : kind == 1 ? floor(u * 8) * 1000 : 900000 * u;
            values[i] = (int64_t)fmin(x, (double)high);
        }
        brume_ranked list;
        brume_cells cells;
        assert_ok(
            brume_ranked_open(values, NULL, COUNT, 0, high, BRUME_RANKED_POINTS, &list, &error));
        assert_ok(brume_cells_open(0, high, &cells, &error));
        for (size_t f = 0; f < 4; f++) {
            size_t at = 0, other = 0;
            double rank = (double)fractions[f][0] / (double)fractions[f][1] * COUNT;
            while ((double)list.upto[at + 1] < rank)
                at++;
            while ((double)list.upto[other + 1] < .7 * COUNT)
                other++;
            int64_t quantile = list.values[at];
            long beside = 0;
            for (int i = 0; i < ROUNDS; i++) {
                int64_t ends[2];
                assert_ok(brume_rank_interval(bits, &list, &cells, fractions[f][0], fractions[f][1],
                                              0.3, 0, ends, &error));
                beside += quantile < ends[0] || ends[1] < quantile;
                beside_another += f == 1 && kind == 2 && ends[1] < list.values[other];
            }
            assert_true(beside <= 440);
        }
        brume_cells_close(&cells);
        brume_ranked_close(&list);
    }
    assert_true(beside_another > 2000); /* and it is no longer than it must be */
    brume_bits_close(bits);
}

/* Of 500 rows the 150 with the largest values are left out: the interval that allows for them holds
 * the median of all, and the control, which does not, nearly never. 440 as above. */
static void what_a_limit_cuts_is_allowed_for(void **state)
{
    (void)state;
    enum { ALL = 500, LEFT = 350, ROUNDS = 4000 };
    int64_t values[LEFT];
    brume_error error = {0};
    brume_ranked list;
    brume_cells cells;
    brume_bits *bits = brume_tape_open_seeded(6);
    for (size_t i = 0; i < LEFT; i++)
        values[i] = (int64_t)i;
    int64_t quantile = ALL / 2 - 1;
    assert_ok(brume_ranked_open(values, NULL, LEFT, 0, 1000, BRUME_RANKED_POINTS, &list, &error));
    assert_ok(brume_cells_open(0, 1000, &cells, &error));
    for (int allowed = 0; allowed < 2; allowed++) {
        long beside = 0;
        for (int i = 0; i < ROUNDS; i++) {
            int64_t ends[2];
            assert_ok(brume_rank_interval(bits, &list, &cells, 1, 2, 0.3, allowed ? ALL - LEFT : 0,
                                          ends, &error));
            beside += quantile < ends[0] || ends[1] < quantile;
        }
        assert_true(allowed ? beside <= 440 : beside > 2000);
    }
    brume_cells_close(&cells);
    brume_ranked_close(&list);
    brume_bits_close(bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_small_and_leave_nothing_out),
        cmocka_unit_test(the_ends_have_the_stated_law),
        cmocka_unit_test(a_quantile_and_its_interval_cost_what_is_charged),
        cmocka_unit_test(the_interval_holds_the_quantile_for_any_data),
        cmocka_unit_test(drawn_intervals_hold_the_quantile),
        cmocka_unit_test(what_a_limit_cuts_is_allowed_for),
    };
    return cmocka_run_group_tests_name("intervals of quantiles", tests, NULL, NULL);
}
