/* Quantiles, medians beside private keys, and means as they are printed: their laws on all small
 * neighbouring tables, against the price of the planner. */
#include "check.h"

#include "atoms.h"
#include "query/release/present_parts.h"
#include "query/price/price.h"

enum { POINTS = 5, VALUES = 8, LISTS = 400 };

typedef struct list {
    int value[VALUES];
    size_t count;
} list;

/* Every ascending list of up to `most` values of 0 .. points-1. */
static size_t make_lists(size_t most, int points, list *out)
{
    size_t count = 1;
    out[0] = (list){.count = 0};
    for (size_t i = 0; i < count; i++) /* grows while it is read */
        if (out[i].count < most)
            for (int x = out[i].count ? out[i].value[out[i].count - 1] : 0; x < points; x++) {
                out[count] = out[i];
                out[count].value[out[count].count++] = x;
                count++;
            }
    return count;
}

static list joined(const list *a, const list *b)
{
    list both = *a;
    for (size_t i = 0; i < b->count; i++)
        both.value[both.count++] = b->value[i];
    return both;
}

/* Values within low .. high; P[v] proportional to exp(rate u(v)). */
static void quantile_law(const list *values, double q, double rate, int low, int high, double *law)
{
    double total = 0;
    for (int v = low; v <= high; v++) {
        double below = 0, upto = 0, n = (double)values->count;
        for (size_t i = 0; i < values->count; i++) {
            below += values->value[i] < v;
            upto += values->value[i] <= v;
        }
        double u = -fmax(0, fmax(below - q * n, q * n - upto));
        law[v - low] = exp(rate * u);
        total += law[v - low];
    }
    for (int v = low; v <= high; v++)
        law[v - low] /= total;
}

/* ---- one quantile ---- */

typedef struct extremes {
    double loss, range;
} extremes;

static extremes worst_quantile(double q, double rate, size_t rows, bool replace)
{
    static list base[LISTS], units[LISTS];
    size_t tables = make_lists(4, POINTS, base), contributions = make_lists(rows, POINTS, units);
    extremes worst = {0, 0};
    for (size_t t = 0; t < tables; t++)
        for (size_t a = 0; a < contributions; a++)
            for (size_t b = replace ? a + 1 : 0; b < (replace ? contributions : 1); b++) {
                double p[POINTS], r[POINTS], least = INFINITY, most = -INFINITY;
                list before = joined(&base[t], &units[a]), after = joined(&base[t], &units[b]);
                quantile_law(&before, q, rate, 0, POINTS - 1, p);
                quantile_law(&after, q, rate, 0, POINTS - 1, r);
                for (int v = 0; v < POINTS; v++) {
                    least = fmin(least, log(p[v] / r[v]));
                    most = fmax(most, log(p[v] / r[v]));
                }
                worst.loss = fmax(worst.loss, fmax(most, -least));
                worst.range = fmax(worst.range, most - least);
            }
    return worst;
}

static void a_quantile_has_the_range_that_is_paid(void **state)
{
    (void)state;
    brume_error error = {0};
    static const int64_t fractions[][2] = {{0, 1}, {1, 4}, {1, 2}, {9, 10}, {1, 1}};
    for (size_t i = 0; i < 5; i++)
        for (uint64_t rows = 1; rows <= 2; rows++)
            for (int replace = 0; replace <= 1; replace++) {
                brume_measure measure[] = {{.kind = BRUME_MEASURE_QUANTILES,
                                            .high = POINTS - 1,
                                            .fractions = &fractions[i],
                                            .fraction_count = 1}};
                brume_shape shape = {
                    .max_groups = 1, .max_rows = rows, .cells = 1, .replace = replace};
                brume_price price;
                assert_ok(brume_price_laplace(measure, 1, &shape, 1, 0, &price, &error));
                double q = (double)fractions[i][0] / (double)fractions[i][1];
                extremes worst = worst_quantile(q, measure[0].scale, rows, replace);
                /* half of the price; the rest is its interval's (test_interval.c) */
                assert_holds(worst.range <= .5 + 1e-9);
                bool attained = fabs(q - 0.9) > 1e-9 && !(q == 0.25 && rows == 2);
                if (attained) /* the others need longer tables */
                    assert_holds(worst.range >= .5 - 1e-6);
                /* concentrated: (range)^2/8 is the price */
                assert_ok(brume_price_concentrated(measure, 1, &shape, 0.125, 0, &price, &error));
                worst = worst_quantile(q, measure[0].scale, rows, replace);
                assert_holds(worst.range * worst.range / 8 <= 0.125 / 2 * (1 + 1e-9));
                if (attained)
                    assert_holds(worst.range * worst.range / 8 >= 0.125 / 2 * (1 - 1e-6));
            }
    /* the mutants: a rate for one row, or for a unit that comes where it is replaced */
    brume_measure median[] = {{.kind = BRUME_MEASURE_QUANTILES,
                               .high = POINTS - 1,
                               .fractions = &fractions[1],
                               .fraction_count = 1}};
    brume_shape shape = {.max_groups = 1, .max_rows = 1, .cells = 1};
    brume_price price;
    assert_ok(brume_price_laplace(median, 1, &shape, 1, 0, &price, &error));
    assert_holds(worst_quantile(.25, median[0].scale, 2, false).range > .75);
    assert_holds(worst_quantile(.25, median[0].scale, 1, true).range > .6);
}

/* ---- several quantiles by halving ---- */

enum { GRID = 4, OUTPUTS = 64 }; /* up to three quantiles of 0 .. 3: base 4 digits */

/* Adds to `law` the mass of each way to answer fractions first .. last-1 on low .. high, given the
 * digits answered so far. */
static void many_law(const list *values, const double *q, size_t first, size_t last, double below,
                     double above, int low, int high, double rate, double mass, size_t digits,
                     const size_t *place, double *law)
{
    /* An explicit list of what is still to answer would be longer: recurse left, then right. */
    if (first >= last) {
        law[digits] += mass;
        return;
    }
    size_t middle = first + (last - first) / 2;
    double at[GRID];
    quantile_law(values, (q[middle] - below) / (above - below), rate, low, high, at);
    for (int v = low; v <= high; v++) {
        list left = {.count = 0}, right = {.count = 0};
        for (size_t i = 0; i < values->count; i++) {
            list *to = values->value[i] < v ? &left : &right;
            to->value[to->count++] = values->value[i];
        }
        double lower[OUTPUTS] = {0}, upper[OUTPUTS] = {0};
        many_law(&left, q, first, middle, below, q[middle], low, v - 1 < low ? low : v - 1, rate, 1,
                 0, place, lower);
        many_law(&right, q, middle + 1, last, q[middle], above, v, high, rate, 1, 0, place, upper);
        for (size_t a = 0; a < OUTPUTS; a++)
            for (size_t b = 0; lower[a] > 0 && b < OUTPUTS; b++)
                if (upper[b] > 0)
                    law[digits + a + b + (size_t)v * place[middle]] += mass * at[v - low] *
                                                                       lower[a] * upper[b];
    }
}

static double worst_many(const double *q, size_t count, double rate, size_t rows, bool replace)
{
    static list base[LISTS], units[LISTS];
    static double laws[LISTS][OUTPUTS];
    static const size_t place[] = {1, 4, 16};
    size_t tables = make_lists(3, GRID, base), contributions = make_lists(rows, GRID, units);
    double worst = 0;
    for (size_t t = 0; t < tables; t++) {
        for (size_t a = 0; a < contributions; a++) {
            list all = joined(&base[t], &units[a]);
            memset(laws[a], 0, sizeof laws[a]);
            many_law(&all, q, 0, count, 0, 1, 0, GRID - 1, rate, 1, 0, place, laws[a]);
        }
        for (size_t a = 0; a < contributions; a++)
            for (size_t b = replace ? a + 1 : 0; b < (replace ? contributions : 1); b++)
                for (size_t i = 0; i < OUTPUTS; i++)
                    if (laws[a][i] > 0)
                        worst = fmax(worst, fabs(log(laws[a][i] / laws[b][i])));
    }
    return worst;
}

static void several_quantiles_cost_what_is_charged(void **state)
{
    (void)state;
    brume_error error = {0};
    static const struct {
        size_t count;
        int64_t fractions[3][2];
        double q[3];
    } cases[] = {{3, {{1, 4}, {1, 2}, {3, 4}}, {.25, .5, .75}},
                 {2, {{1, 10}, {9, 10}}, {.1, .9}},
                 {3, {{1, 20}, {1, 2}, {4, 5}}, {.05, .5, .8}}};
    for (size_t i = 0; i < 3; i++)
        for (uint64_t rows = 1; rows <= 2; rows++)
            for (int replace = 0; replace <= 1; replace++) {
                brume_measure measure[] = {{.kind = BRUME_MEASURE_QUANTILES,
                                            .high = GRID - 1,
                                            .fractions = cases[i].fractions,
                                            .fraction_count = cases[i].count}};
                brume_shape shape = {
                    .max_groups = 1, .max_rows = rows, .cells = 1, .replace = replace};
                brume_price price;
                assert_ok(brume_price_laplace(measure, 1, &shape, 1, 0, &price, &error));
                double worst =
                    worst_many(cases[i].q, cases[i].count, measure[0].scale, rows, replace);
                assert_holds(worst <= 1 + 1e-9);
                if (i == 0) /* the levels' worst cases do not all meet; others need longer tables */
                    assert_holds(worst >= 0.6);
                if (i == 0 && rows == 1) /* the mutant: charged as if a unit had one row */
                    assert_holds(worst_many(cases[i].q, cases[i].count, measure[0].scale, 2,
                                            replace) > 1.05);
            }
}

/* ---- a private key and the median of its group ---- */

static double key_and_median(const brume_measure *measures, double threshold, const list *others,
                             const list *before, const list *after, double epsilon)
{
    /* units beside ours: those of `others`, each with one value */
    int units = (int)others->count;
    double p[GRID], q[GRID];
    list first = joined(others, before), second = joined(others, after);
    quantile_law(&first, .5, measures[1].scale, 0, GRID - 1, p);
    quantile_law(&second, .5, measures[1].scale, 0, GRID - 1, q);
    atoms shown = atoms_make(GRID);
    for (int v = 0; v < GRID; v++)
        atoms_add(&shown, p[v], q[v]);
    atoms_merge(&shown, 1e-12);
    atoms all = atoms_tested(BRUME_NOISE_DISCRETE_LAPLACE, measures[0].scale, threshold,
                             units + (before->count > 0), units + (after->count > 0), shown, 1e-9);
    double worst = atoms_hockey_stick(&all, epsilon);
    atoms_free(&all);
    return worst;
}

static double worst_key_and_median(const brume_measure *measures, double threshold, size_t rows,
                                   bool stays, double epsilon)
{
    static list contributions[LISTS], small[LISTS];
    size_t count = make_lists(rows, GRID, contributions), tables = make_lists(3, GRID, small);
    double worst = 0;
    for (size_t t = 0; t < tables; t++)
        for (size_t a = 1; a < count; a++)
            for (size_t b = stays ? a + 1 : 0; b < (stays ? count : 1); b++)
                worst = fmax(worst, key_and_median(measures, threshold, &small[t],
                                                   &contributions[a], &contributions[b], epsilon));
    return worst;
}

static void a_private_key_with_its_median_costs_what_is_charged(void **state)
{
    (void)state;
    brume_error error = {0};
    static const int64_t half[][2] = {{1, 2}};
    for (uint64_t rows = 1; rows <= 2; rows++)
        for (int replace = 0; replace <= 1; replace++) {
            brume_measure measures[] = {{.kind = BRUME_MEASURE_UNITS},
                                        {.kind = BRUME_MEASURE_QUANTILES,
                                         .high = GRID - 1,
                                         .fractions = half,
                                         .fraction_count = 1}};
            brume_shape shape = {
                .max_groups = 1, .max_rows = rows, .replace = replace, .private_keys = true};
            brume_price price;
            assert_ok(brume_price_laplace(measures, 2, &shape, 1, 0.05, &price, &error));
            double threshold = (double)price.threshold;
            /* in one group the unit comes, goes or is replaced; a move is a product of two of these
             */
            double one = worst_key_and_median(measures, threshold, rows, false, 1);
            assert_holds(one <= price.delta * (1 + 1e-9));
            if (!replace)
                assert_holds(one >= 0.99 * price.delta); /* tight: the unit brings the key */
            if (replace)
                assert_holds(worst_key_and_median(measures, threshold, rows, true, 1) <=
                             price.delta * (1 + 1e-9));
            assert_holds(worst_key_and_median(measures, threshold - 1, rows, false, 1) >
                         price.delta); /* the mutant */
        }
}

/* ---- a mean, as it is printed ---- */

/* What brume_present_show says of AVG(x), x in 0 .. 3, for every pair of noisy numbers; -1 stands
 * for NULL. Outputs are compared as doubles. */
typedef struct printed {
    double value;
    int number[2]; /* of values, and their centred sum */
} printed;

static int compare_printed(const void *left, const void *right)
{
    const printed *a = left, *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

typedef struct mean_query {
    brume_expression argument;
    brume_aggregate aggregate;
    brume_query query;
    brume_measure measures[2];
    brume_plan_value value;
    brume_plan_aggregate from;
    brume_plan plan;
    brume_terms terms;
    int reach[2];
    printed *outputs; /* sorted by value */
    size_t count;
} mean_query;

static void print_all(mean_query *all)
{
    size_t room = 1;
    for (int i = 0; i < 2; i++) {
        all->reach[i] = (int)(12 * all->measures[i].scale) + 6;
        room *= (size_t)(2 * all->reach[i] + 1);
    }
    all->outputs = calloc(room, sizeof *all->outputs);
    for (int n = -all->reach[0]; n <= all->reach[0]; n++)
        for (int s = -all->reach[1]; s <= all->reach[1]; s++) {
            double numbers[] = {n, s};
            static const brume_bounded_group everybody;
            const brume_bounded_group *groups[] = {&everybody};
            brume_drawn drawn = {.count = 1, .groups = groups, .numbers = numbers};
            brume_present_source source = {&all->terms, &drawn, NULL};
            brume_shown shown = brume_present_show(&source, 0, 0, 0.05);
            bool null = shown.value.kind == BRUME_VALUE_NULL;
            all->outputs[all->count++] = (printed){null ? -1 : shown.value.number, {n, s}};
        }
    qsort(all->outputs, all->count, sizeof *all->outputs, compare_printed);
}

static void open_mean(mean_query *all, uint64_t rows, bool replace, double epsilon)
{
    brume_error error = {0};
    *all = (mean_query){
        .argument = {.type = {BRUME_TYPE_BIGINT, 0, 0}},
        .measures = {{.kind = BRUME_MEASURE_VALUES, .low = 0, .high = 3},
                     {.kind = BRUME_MEASURE_CENTRED, .low = 0, .high = 3}},
        .value = {.low = 0, .high = 3, .step = 1},
        .from =
            {.value = 0, .count = 0, .centred = 1, .squares = -1, .direct = -1, .selection = -1},
    };
    all->value.argument = &all->argument;
    all->aggregate = (brume_aggregate){.kind = BRUME_AGGREGATE_AVG, .argument = &all->argument};
    all->query = (brume_query){.aggregates = &all->aggregate, .aggregate_count = 1};
    all->plan = (brume_plan){.query = &all->query,
                             .measures = all->measures,
                             .measure_count = 2,
                             .values = &all->value,
                             .value_count = 1,
                             .aggregates = &all->from,
                             .units = BRUME_NOT_MEASURED};
    all->terms = (brume_terms){.plan = &all->plan, .measures = all->measures};
    brume_shape shape = {.max_groups = 1, .max_rows = rows, .cells = 1, .replace = replace};
    assert_ok(brume_price_laplace(all->measures, 2, &shape, epsilon, 0, &all->terms.price, &error));
    print_all(all);
}

static double mean_divergence(const mean_query *all, const int before[2], const int after[2],
                              double epsilon)
{
    double *mass[2], there = 0, back = 0, e = exp(epsilon);
    const double *first[2], *second[2]; /* P[noisy number = y], at [y] */
    for (int i = 0; i < 2; i++) {
        mass[i] =
            noise_table(BRUME_NOISE_DISCRETE_LAPLACE, all->measures[i].scale, 2 * all->reach[i]);
        first[i] = mass[i] + 2 * all->reach[i] - before[i];
        second[i] = mass[i] + 2 * all->reach[i] - after[i];
    }
    for (size_t i = 0; i < all->count;) {
        double p = 0, q = 0, value = all->outputs[i].value;
        for (; i < all->count && all->outputs[i].value == value; i++) {
            const int *number = all->outputs[i].number;
            p += first[0][number[0]] * first[1][number[1]];
            q += second[0][number[0]] * second[1][number[1]];
        }
        there += fmax(0, p - e * q);
        back += fmax(0, q - e * p);
    }
    free(mass[0]);
    free(mass[1]);
    return fmax(there, back);
}

static double worst_mean(const mean_query *all, uint64_t rows, bool replace, double epsilon)
{
    static const int rows_of[][2] = {{0, 0}, {1, -1}, {1, 0}, {1, 1}, {1, 2}}; /* NULL, 0 .. 3 */
    static const int base[][2] = {{0, 0}, {2, 1}};
    double worst = 0;
    for (size_t t = 0; t < 2; t++)
        for (int a = 0; a < 25; a++)
            for (int b = 0; b < (replace ? a : 1); b++) {
                if (rows == 1 && (a >= 5 || b >= 5))
                    continue;
                int before[2], after[2];
                for (int i = 0; i < 2; i++) {
                    before[i] = base[t][i] + rows_of[a % 5][i] + rows_of[a / 5][i];
                    after[i] = base[t][i] + rows_of[b % 5][i] + rows_of[b / 5][i];
                }
                if (a / 5 > a % 5 || b / 5 > b % 5) /* each multiset once */
                    continue;
                worst = fmax(worst, mean_divergence(all, before, after, epsilon));
            }
    return worst;
}

static void a_printed_mean_costs_what_is_charged(void **state)
{
    (void)state;
    for (uint64_t rows = 1; rows <= 2; rows++)
        for (int replace = 0; replace <= 1; replace++) {
            mean_query all;
            open_mean(&all, rows, replace, 1);
            /* tails beyond 12 scales are cut: e^-12 of each of two coordinates, times e */
            assert_holds(worst_mean(&all, rows, replace, 1) < 4e-5);
            /* at a lower epsilon than was paid for, more shows: the price is needed */
            assert_holds(worst_mean(&all, rows, replace, 0.8) > 1e-3);
            free(all.outputs);
        }
    mean_query little; /* the mutant: noise for one row where units have two */
    open_mean(&little, 1, false, 1);
    assert_holds(worst_mean(&little, 2, false, 1) > 1e-2);
    free(little.outputs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quantile_has_the_range_that_is_paid),
        cmocka_unit_test(several_quantiles_cost_what_is_charged),
        cmocka_unit_test(a_private_key_with_its_median_costs_what_is_charged),
        cmocka_unit_test(a_printed_mean_costs_what_is_charged),
    };
    return cmocka_run_group_tests_name("privacy of answers", tests, NULL, NULL);
}
