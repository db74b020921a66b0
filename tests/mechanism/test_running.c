/* Running totals: the coefficients, what a unit shifts by enumeration in both adjacencies, with
 * mutants that are found, the noise as an exact ratio, and the decoder with its bars. No draw is
 * fresh. */
#include "check.h"

#include <stdlib.h>

#include "chance.h"
#include "mechanism/series/running.h"
#include "number/flint.h"
#include "random/tape.h"

enum { HORIZON = 4, ROWS = 3, CELLS = 2, SCHEDULES = 20000 };

static brume_error error;

static brume_running *open_root(uint64_t horizon)
{
    brume_running_shape shape;
    brume_running *running = NULL;
    assert_ok(brume_running_choose(BRUME_RULE_CONCENTRATED, horizon, &shape, &error));
    assert_ok(brume_running_open(&shape, &running, &error));
    return running;
}

static brume_running *open_tree(uint64_t horizon, size_t levels, const uint64_t *radix)
{
    brume_running_shape shape = {.kind = BRUME_RUNNING_TREE, .horizon = horizon, .levels = levels};
    for (size_t i = 0; i < levels; i++)
        shape.radix[i] = radix[i];
    brume_running *running = NULL;
    assert_ok(brume_running_open(&shape, &running, &error));
    return running;
}

static brume_charge rho_of(const char *text)
{
    brume_decimal amount;
    brume_charge price;
    assert_ok(brume_decimal_parse(text, &amount, &error));
    assert_ok(brume_charge_make(BRUME_RULE_CONCENTRATED, &amount, NULL, &price, &error));
    return price;
}

static brume_charge epsilon_of(const char *text)
{
    brume_decimal amount;
    brume_charge price;
    assert_ok(brume_decimal_parse(text, &amount, &error));
    assert_ok(brume_charge_make(BRUME_RULE_PURE, &amount, NULL, &price, &error));
    return price;
}

/* ---- coefficients ---- */

/* Rejects: truncation, a wrong product, coefficients that are rounded after they were summed up. */
static void coefficients_are_rounded_from_exact_fractions_and_never_increase(void **state)
{
    (void)state;
    enum { MANY = 4000 };
    brume_running *running = open_root(MANY);
    const uint32_t *c = brume_running_coefficients(running);
    fmpz_t numerator, denominator, twice;
    fmpz_init_set_ui(numerator, 65536);
    fmpz_init_set_ui(denominator, 1);
    fmpz_init(twice);
    for (uint64_t k = 0; k < MANY; k++) {
        if (k > 0) {
            fmpz_mul_ui(numerator, numerator, 2 * k - 1);
            fmpz_mul_ui(denominator, denominator, 2 * k);
        }
        /* 2c - 1 <= 2 x < 2c + 1 */
        fmpz_mul_ui(twice, denominator, 2 * c[k] - 1);
        fmpz_submul_ui(twice, numerator, 2);
        assert_true(fmpz_sgn(twice) <= 0);
        fmpz_mul_ui(twice, denominator, 2 * c[k] + 1);
        fmpz_submul_ui(twice, numerator, 2);
        assert_true(fmpz_sgn(twice) > 0);
        assert_true(c[k] >= 1 && (k == 0 || c[k] <= c[k - 1]));
    }
    fmpz_clear(numerator);
    fmpz_clear(denominator);
    fmpz_clear(twice);
    brume_running_close(running);
    running = open_root(BRUME_RUNNING_WINDOWS);
    c = brume_running_coefficients(running);
    assert_true(c[BRUME_RUNNING_WINDOWS - 1] >= 1);
    brume_running_close(running);
}

/* ---- what a unit shifts ---- */

typedef struct row {
    int date, comes, goes, cell;
} row;

typedef struct schedule {
    row rows[ROWS];
    int count;
} schedule;

typedef enum rule {
    EARLIEST,
    LATEST,      /* mutant */
    EACH_WINDOW, /* T in each window */
} rule;

static int later_date(const void *a, const void *b)
{
    return ((const row *)a)->date - ((const row *)b)->date;
}

/* What counts at close t, by a rule: the totals of windows in each cell. */
static void keep(const schedule *rows, int t, int limit, rule how, brume_i128 x[CELLS][HORIZON])
{
    row there[ROWS];
    int count = 0, in_window[HORIZON] = {0};
    memset(x, 0, sizeof(brume_i128) * CELLS * HORIZON);
    for (int i = 0; i < rows->count; i++)
        if (rows->rows[i].comes <= t && t < rows->rows[i].goes && rows->rows[i].date <= t)
            there[count++] = rows->rows[i];
    qsort(there, (size_t)count, sizeof *there, later_date);
    for (int i = 0; i < count; i++) {
        int place = how == LATEST        ? count - 1 - i
                    : how == EACH_WINDOW ? in_window[there[i].date]++
                                         : i;
        x[there[i].cell][there[i].date] += place < limit;
    }
}

/* All that is released because of these rows, without noise: at most HORIZON * 2 numbers a cell. */
enum { NUMBERS = CELLS * HORIZON * 2 };

static void shift_of(const brume_running *running, const schedule *rows, int limit, rule how,
                     int64_t out[NUMBERS])
{
    size_t at = 0;
    memset(out, 0, NUMBERS * sizeof *out);
    for (int t = 0; t < HORIZON; t++) {
        brume_i128 x[CELLS][HORIZON], numbers[BRUME_RUNNING_LEVELS];
        keep(rows, t, limit, how, x);
        for (int cell = 0; cell < CELLS; cell++) {
            brume_running_encode(running, (uint64_t)t, x[cell], numbers);
            for (size_t i = 0; i < brume_running_numbers(running, (uint64_t)t); i++)
                out[at++] = (int64_t)numbers[i];
        }
    }
}

/* Of two shifts: the distance to the power p. */
static double distance(const int64_t *a, const int64_t *b, int p)
{
    double sum = 0;
    for (int i = 0; i < NUMBERS; i++) {
        double d = fabs((double)(a[i] - (b ? b[i] : 0)));
        sum += p == 1 ? d : d * d;
    }
    return sum;
}

/* All schedules of up to `count` rows. `day`: rows of that window alone (-1: any); `vanish`: rows
 * may go; `cells`: in how many. */
static size_t all_schedules(schedule *out, int count, int day, bool vanish, int cells)
{
    row choices[200];
    size_t choice_count = 0, made = 0;
    for (int date = 0; date < HORIZON; date++)
        for (int comes = date; comes < HORIZON; comes++)
            for (int goes = vanish ? comes + 1 : HORIZON; goes <= HORIZON; goes++)
                for (int cell = 0; cell < cells; cell++)
                    if (day < 0 || date == day)
                        choices[choice_count++] = (row){date, comes, goes, cell};
    out[made++] = (schedule){.count = 0};
    for (size_t begin = 0, end = 1; count-- > 0; begin = end, end = made)
        for (size_t i = begin; i < end; i++)
            for (size_t j = 0; j < choice_count; j++) {
                if (out[i].count > 0 &&
                    memcmp(&choices[j], &out[i].rows[out[i].count - 1], sizeof *choices) < 0)
                    continue;
                assert_true(made < SCHEDULES);
                out[made] = out[i];
                out[made].rows[out[made].count++] = choices[j];
                made++;
            }
    return made;
}

/* The square that a price pays for: 2 rho sigma^2 where it is exact, over T^2. */
static double charged_square(const brume_running *running, uint64_t limit, bool replace, bool signs)
{
    brume_charge price = rho_of("0.5");
    brume_running_noise noise;
    assert_ok(brume_running_pay(running, &price, limit, replace, signs, &noise, &error));
    assert_true(noise.denominator == 1);
    return (double)noise.numerator;
}

static double charged_sum(const brume_running *running, uint64_t limit, bool replace)
{
    brume_charge price = epsilon_of("1");
    brume_running_noise noise;
    assert_ok(brume_running_pay(running, &price, limit, replace, false, &noise, &error));
    assert_true(noise.denominator == 1);
    return (double)noise.numerator;
}

static double largest(const brume_running *running, const schedule *rows, size_t count, int limit,
                      rule how, int p)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t shift[NUMBERS];
        shift_of(running, &rows[i], limit, how, shift);
        double by = distance(shift, NULL, p);
        most = by > most ? by : most;
    }
    return most;
}

static schedule *room(void)
{
    schedule *rows = malloc(SCHEDULES * sizeof *rows);
    assert_non_null(rows);
    return rows;
}

/* Claim 6, add-remove: at most what is charged, and attained. Rejects: latest rows first, single
 * rows that vanish, noise for the last column, a factor that is forgotten. */
static void a_unit_limited_in_all_shifts_by_what_is_charged(void **state)
{
    (void)state;
    static const uint64_t radix[] = {2, 3};
    schedule *rows = room();
    for (int tree = 0; tree < 2; tree++) {
        brume_running *running = tree ? open_tree(HORIZON, 2, radix) : open_root(HORIZON);
        int p = tree ? 1 : 2;
        for (int limit = 1; limit <= 2; limit++) {
            double charged = tree ? charged_sum(running, (uint64_t)limit, false)
                                  : charged_square(running, (uint64_t)limit, false, false);
            size_t count = all_schedules(rows, 3, -1, false, 1);
            assert_true(largest(running, rows, count, limit, EARLIEST, p) == charged);
            assert_true(largest(running, rows, count, limit, LATEST, p) > charged);
            count = all_schedules(rows, 2, -1, false, CELLS);
            assert_true(largest(running, rows, count, limit, EARLIEST, p) == charged);
            if (limit == 1) { /* a single row vanishes, another one takes its place */
                count = all_schedules(rows, 2, -1, true, 1);
                assert_true(largest(running, rows, count, limit, EARLIEST, p) > charged);
            }
            for (int gone = 1; gone <= HORIZON; gone++) { /* all rows of the unit go at once */
                count = all_schedules(rows, 3, -1, false, 1);
                for (size_t i = 0; i < count; i++)
                    for (int j = 0; j < rows[i].count; j++)
                        rows[i].rows[j].goes = gone;
                assert_true(largest(running, rows, count, limit, EARLIEST, p) <= charged);
            }
        }
        if (!tree) {
            const uint32_t *c = brume_running_coefficients(running);
            double first = charged_square(running, 1, false, false);
            assert_true(first == (double)c[0] * c[0] + (double)c[1] * c[1] + (double)c[2] * c[2] +
                                     (double)c[3] * c[3]);
            assert_true(first > 1.4 * c[0] * c[0]);                 /* mutant: the last column */
            assert_true(first + (double)c[0] * c[0] > 1.5 * first); /* mutant: a window twice */
        }
        brume_running_close(running);
    }
    free(rows);
}

/* Claim 5: any rows of one window come and vanish. */
static void a_unit_limited_in_each_window_shifts_by_what_is_charged_whatever_comes_and_goes(
    void **state)
{
    (void)state;
    static const uint64_t radix[] = {2, 3};
    schedule *rows = room();
    for (int tree = 0; tree < 2; tree++) {
        brume_running *running = tree ? open_tree(HORIZON, 2, radix) : open_root(HORIZON);
        for (int limit = 1; limit <= 2; limit++) {
            double charged = tree ? charged_sum(running, (uint64_t)limit, false)
                                  : charged_square(running, (uint64_t)limit, false, false);
            double most = 0;
            for (int day = 0; day < HORIZON; day++) {
                size_t count = all_schedules(rows, 3, day, true, 1);
                double one = largest(running, rows, count, limit, EACH_WINDOW, tree ? 1 : 2);
                most = one > most ? one : most;
                count = all_schedules(rows, 2, day, true, CELLS);
                assert_true(largest(running, rows, count, limit, EACH_WINDOW, tree ? 1 : 2) <=
                            charged);
            }
            assert_true(most == charged);
            /* mutant: the unit's whole history under a limit that is of windows */
            size_t count = all_schedules(rows, 3, -1, false, 1);
            assert_true(largest(running, rows, count, limit, EACH_WINDOW, tree ? 1 : 2) >
                        1.2 * charged);
        }
        brume_running_close(running);
    }
    free(rows);
}

/* Replace: the unit's rows are others, or those of one of its windows. Rejects: charging either as
 * if a unit came or went. */
static void a_replaced_unit_and_a_replaced_window_shift_by_what_is_charged_for_them(void **state)
{
    (void)state;
    static const uint64_t radix[] = {2, 3};
    schedule *rows = room();
    for (int tree = 0; tree < 2; tree++) {
        brume_running *running = tree ? open_tree(HORIZON, 2, radix) : open_root(HORIZON);
        int p = tree ? 1 : 2;
        double charged = tree ? charged_sum(running, 1, true)
                              : charged_square(running, 1, true, false);
        double once = tree ? charged_sum(running, 1, false)
                           : charged_square(running, 1, false, false);
        size_t count = all_schedules(rows, 2, -1, false, CELLS);
        int64_t(*shifts)[NUMBERS] = malloc(count * sizeof *shifts);
        assert_non_null(shifts);
        for (size_t i = 0; i < count; i++)
            shift_of(running, &rows[i], 1, EARLIEST, shifts[i]);
        double whole = 0, window = 0;
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < i; j++) {
                double d = distance(shifts[i], shifts[j], p);
                whole = d > whole ? d : whole;
                /* the same rows but those of one window: then the other ones fill up */
                bool kept = rows[i].count == 2 && rows[j].count == 1 &&
                            (memcmp(&rows[i].rows[0], &rows[j].rows[0], sizeof(row)) == 0 ||
                             memcmp(&rows[i].rows[1], &rows[j].rows[0], sizeof(row)) == 0);
                window = kept && d > window ? d : window;
            }
        assert_true(whole <= charged && whole > 0.99 * charged);
        assert_true(window <= charged && window > 1.2 * once);
        free(shifts);
        brume_running_close(running);
    }
    /* with signs: u and -u are 2T apart, 4 in squares */
    brume_running *running = open_root(HORIZON);
    assert_true(charged_square(running, 3, true, true) ==
                4 * 9 * charged_square(running, 1, false, false));
    assert_true(charged_square(running, 3, false, true) ==
                9 * charged_square(running, 1, false, false));
    brume_running_close(running);
    free(rows);
}

/* ---- the noise ---- */

/* Rejects: rho rounded up, a horizon that is too short, squares that are not. */
static void sigma_is_an_exact_ratio_or_above_it(void **state)
{
    (void)state;
    static const char *const prices[] = {"0.125", "0.1", "3e-3", "1.7", "0.0314159265358979323846"};
    for (size_t i = 0; i < 5; i++)
        for (uint64_t limit = 1; limit < (1 << 22); limit = 3 * limit + 1)
            for (uint64_t horizon = 1; horizon <= 3650; horizon = 15 * horizon + 5) {
                brume_running *running = open_root(horizon);
                brume_charge price = rho_of(prices[i]);
                brume_running_noise noise;
                assert_ok(brume_running_pay(running, &price, limit, false, false, &noise, &error));
                const uint32_t *c = brume_running_coefficients(running);
                long double square = 0;
                for (uint64_t k = 0; k < horizon; k++)
                    square += (long double)c[k] * c[k];
                long double sigma2 = square * (long double)limit * (long double)limit /
                                     (2 * strtold(prices[i], NULL));
                long double told = noise.numerator ? (long double)noise.numerator /
                                                         (long double)noise.denominator
                                                   : (long double)noise.scale * noise.scale;
                assert_true(fabsl(told / sigma2 - 1) < 1e-15L * (noise.numerator ? 0.001L : 1.0L));
                assert_true((long double)noise.scale * noise.scale >= sigma2 * (1 - 1e-18L));
                assert_true(noise.numerator || told >= sigma2 * (1 - 1e-18L));
                brume_running_close(running);
            }
    brume_running *running = open_root(365);
    brume_running_noise noise = {0};
    brume_charge price = rho_of("1e-20");
    assert_fails(brume_running_pay(running, &price, 1u << 20, false, false, &noise, &error),
                 BRUME_EOVERFLOW);
    assert_fails(brume_running_pay(running, &price, 0, false, false, &noise, &error),
                 BRUME_EARGUMENT);
    price = epsilon_of("1");
    assert_fails(brume_running_pay(running, &price, 1, false, false, &noise, &error),
                 BRUME_EINTERNAL);
    assert_true(noise.scale == 0);
    brume_running_close(running);
}

/* Exact delta of all releases of horizon 3 on both neighbours, in both directions: not above what
 * rho is converted to. Rejects: noise of half the variance. */
static void delta_of_a_whole_series_is_at_most_what_rho_says(void **state)
{
    (void)state;
    enum { REACH = 26, SIDE = 2 * REACH + 1 };
    /* the ratios of the coefficients on a grid of 1/4, so that all triples can be added up */
    static const int c[] = {4, 2, 2};
    const double rho = 0.5;
    for (int mutant = 0; mutant < 2; mutant++) {
        double sigma2 = (16 + 4 + 4) / (2 * rho) / (mutant ? 2 : 1), sum = 0;
        bool found = false;
        for (int k = -60; k <= 60; k++)
            sum += exp(-k * k / (2 * sigma2));
        for (int sign = -1; sign <= 1; sign += 2)
            for (double epsilon = 1; epsilon <= 3; epsilon++) {
                double delta = 0, bound = 1;
                for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
                    int z[] = {i % SIDE - REACH, i / SIDE % SIDE - REACH, i / SIDE / SIDE - REACH};
                    double p = 0, loss = 0;
                    for (int j = 0; j < 3; j++) {
                        int other = z[j] - sign * c[j];
                        p -= z[j] * z[j] / (2 * sigma2) + log(sum);
                        loss += (other * other - z[j] * z[j]) / (2 * sigma2);
                    }
                    if (loss > epsilon)
                        delta += exp(p) * (1 - exp(epsilon - loss));
                }
                for (double order = 1.01; order < 20; order += 0.005) {
                    double at =
                        exp((order - 1) * (order * rho - epsilon) + order * log1p(-1 / order)) /
                        (order - 1);
                    bound = at < bound ? at : bound;
                }
                found = found || delta > bound;
                if (!mutant)
                    assert_true(delta > 0.1 * bound && delta <= bound);
            }
        assert_true(found == (mutant == 1));
    }
}

/* ---- decoding ---- */

static void totals_without_noise_come_back(void **state)
{
    (void)state;
    static const uint64_t radix[] = {6, 7, 10};
    enum { N = 365 };
    uint64_t seed = 7;
    for (int tree = 0; tree < 2; tree++) {
        brume_running *running = tree ? open_tree(N, 3, radix) : open_root(N);
        brume_i128 x[N],
            *numbers = calloc(brume_running_numbers_before(running, N), sizeof *numbers);
        assert_non_null(numbers);
        for (int i = 0; i < N; i++)
            x[i] = (brume_i128)(brume_tape_splitmix(&seed) % 1000000) - 200000;
        for (uint64_t t = 0; t < N; t++)
            brume_running_encode(running, t, x, numbers + brume_running_numbers_before(running, t));
        for (uint64_t first = 0; first < N; first += 13)
            for (uint64_t last = first; last < N; last += 29) {
                double total = 0, truth = 0, spread = 0;
                for (uint64_t k = first; k <= last; k++)
                    truth += (double)x[k];
                assert_ok(brume_running_total(running, numbers, first, last, &total, &error));
                assert_true(fabs(total - truth) < 1e-4);
                assert_ok(brume_running_spread(running, first, last, &spread, &error));
                assert_true(spread > 0);
            }
        double total;
        assert_fails(brume_running_total(running, numbers, 0, N, &total, &error), BRUME_EINTERNAL);
        free(numbers);
        brume_running_close(running);
    }
}

/* A range of the square root has the error that is told, in draws; bars of 95 % cover it. Rejects:
 * bars of a fresh count, bars of the difference of independent totals. */
static void bars_cover_what_is_drawn(void **state)
{
    (void)state;
    enum { N = 100, RUNS = 4000, RANGES = 3 };
    static const uint64_t ranges[RANGES][2] = {{0, 99}, {99, 99}, {60, 89}};
    brume_running *running = open_root(N);
    brume_charge price = rho_of("0.5");
    brume_running_noise noise;
    assert_ok(brume_running_pay(running, &price, 1, false, false, &noise, &error));
    double sigma = sqrt((double)noise.numerator / (double)noise.denominator);
    brume_bits *bits = brume_tape_open_seeded(5);
    uint64_t covered[RANGES] = {0}, mutant = 0;
    double spread[RANGES];
    for (int i = 0; i < RANGES; i++)
        assert_ok(brume_running_spread(running, ranges[i][0], ranges[i][1], &spread[i], &error));
    for (int run = 0; run < RUNS; run++) {
        brume_i128 numbers[N] = {0};
        assert_ok(brume_running_draw(&noise, bits, numbers, N, &error));
        for (int i = 0; i < RANGES; i++) {
            double off = 0;
            assert_ok(
                brume_running_total(running, numbers, ranges[i][0], ranges[i][1], &off, &error));
            covered[i] += fabs(off) <= 1.959964 * sigma * spread[i];
            mutant += i == 0 && fabs(off) <= 1.959964 * sigma / 65536;
        }
    }
    double share = false_alarm_share(false_alarm_series_bars) / RANGES;
    for (int i = 0; i < RANGES; i++)
        assert_true(binomial_plausible(RUNS, covered[i], 0.95, 0.95, share));
    assert_false(binomial_plausible(RUNS, mutant, 0.95, 0.95, share));
    brume_bits_close(bits);
    brume_running_close(running);
}

/* In units of one count at the whole price (GROWING 2.5): 1.05 of the best known at 365 and 3650
 * windows. The best lower bounds are 2.58 and 3.31. */
static void worst_totals_are_near_the_best_known(void **state)
{
    (void)state;
    static const struct {
        uint64_t windows;
        double best, pure;
    } known[] = {{365, 2.86, 12.0}, {3650, 3.59, 19.8}};
    for (size_t i = 0; i < 2; i++) {
        brume_running *running = open_root(known[i].windows);
        const uint32_t *c = brume_running_coefficients(running);
        double square = 0, spread = 0;
        for (uint64_t k = 0; k < known[i].windows; k++)
            square += (double)c[k] * c[k];
        assert_ok(brume_running_spread(running, 0, known[i].windows - 1, &spread, &error));
        assert_true(sqrt(square) * spread < 1.05 * known[i].best);
        brume_running_close(running);
        brume_running_shape shape;
        assert_ok(brume_running_choose(BRUME_RULE_PURE, known[i].windows, &shape, &error));
        assert_ok(brume_running_open(&shape, &running, &error));
        double most = 0;
        for (uint64_t last = 0; last < known[i].windows; last++) {
            assert_ok(brume_running_spread(running, 0, last, &spread, &error));
            most = spread > most ? spread : most;
        }
        assert_true((double)shape.levels * sqrt(most) <= known[i].pure);
        brume_running_close(running);
    }
}

static void shapes_that_nobody_chose_are_damage(void **state)
{
    (void)state;
    brume_running *running = NULL;
    static const brume_running_shape wrong[] = {
        {.kind = BRUME_RUNNING_SQUARE_ROOT, .horizon = 0},
        {.kind = BRUME_RUNNING_SQUARE_ROOT, .horizon = BRUME_RUNNING_WINDOWS + 1},
        {.kind = BRUME_RUNNING_SQUARE_ROOT, .horizon = 5, .levels = 1, .radix = {6}},
        {.kind = BRUME_RUNNING_TREE, .horizon = 5},
        {.kind = BRUME_RUNNING_TREE, .horizon = 6, .levels = 2, .radix = {2, 3}},
        {.kind = BRUME_RUNNING_TREE, .horizon = 5, .levels = 2, .radix = {1, 30}},
        {.kind = (brume_running_kind)3, .horizon = 5},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(brume_running_open(&wrong[i], &running, &error), BRUME_EDAMAGED);
    brume_running_shape shape;
    assert_fails(brume_running_choose(BRUME_RULE_PURE, 0, &shape, &error), BRUME_EARGUMENT);
    for (uint64_t horizon = 1; horizon < 2000; horizon = 2 * horizon + 1) {
        assert_ok(brume_running_choose(BRUME_RULE_PURE, horizon, &shape, &error));
        assert_ok(brume_running_open(&shape, &running, &error));
        brume_running_close(running);
    }
    assert_ok(brume_running_choose(BRUME_RULE_PURE, BRUME_RUNNING_WINDOWS, &shape, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_are_rounded_from_exact_fractions_and_never_increase),
        cmocka_unit_test(a_unit_limited_in_all_shifts_by_what_is_charged),
        cmocka_unit_test(
            a_unit_limited_in_each_window_shifts_by_what_is_charged_whatever_comes_and_goes),
        cmocka_unit_test(a_replaced_unit_and_a_replaced_window_shift_by_what_is_charged_for_them),
        cmocka_unit_test(sigma_is_an_exact_ratio_or_above_it),
        cmocka_unit_test(delta_of_a_whole_series_is_at_most_what_rho_says),
        cmocka_unit_test(totals_without_noise_come_back),
        cmocka_unit_test(bars_cover_what_is_drawn),
        cmocka_unit_test(worst_totals_are_near_the_best_known),
        cmocka_unit_test(shapes_that_nobody_chose_are_damage),
    };
    return cmocka_run_group_tests_name("running totals", tests, NULL, NULL);
}
