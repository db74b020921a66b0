/* How long accounting takes, and how wide its certificates are.
 *
 *   accounting                 every task: median time, certified interval
 *   accounting --json [NAME]   the same as one JSON object a line, for bench/peers/accounting.py
 *
 * A time is the median of the runs that fit in a fifth of a second, parsing not included. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <brume/brume.h>

enum { MOST_RUNS = 2000, LONG_TEXT = 8000 };

typedef struct task {
    const char *name, *expression;
    double delta;
    double epsilon; /* of a calibration; else 0 */
} task;

static char ladder[LONG_TEXT], laplaces[LONG_TEXT];

static const task tasks[] = {
    {"laplace x1000", "laplace(scale=10)*1000", 1e-6, 0},
    {"laplace x1000, delta 1e-12", "laplace(scale=10)*1000", 1e-12, 0},
    {"laplace x10", "laplace(scale=1)*10", 1e-6, 0},
    {"gaussian x10000, delta 1e-12", "gaussian(sigma=100)*10000", 1e-12, 0},
    {"randomized response x100", "randomized_response(epsilon=1.0986122886681098)*100", 1e-6, 0},
    {"pure x1000", "pure(epsilon=0.1)*1000", 1e-6, 0},
    {"50 gaussians + 50 laplaces", ladder, 1e-6, 0},
    {"100 different laplaces", laplaces, 1e-6, 0},
    {"laplace x5", "laplace(scale=1)*5", 1e-6, 0},
    {"laplace x30, epsilon 2.5", "laplace(scale=0.4)*30", 1e-6, 0},
    {"pure of three multiples x1000",
     "pure(epsilon=0.1)*1000 + pure(epsilon=0.3)*1000 + pure(epsilon=0.5)*1000", 1e-6, 0},
    {"subsampled gaussian x1000", "poisson(rate=0.01, gaussian(sigma=1))*1000", 1e-6, 0},
    {"subsampled gaussian x1", "poisson(rate=0.01, gaussian(sigma=1))", 1e-6, 0},
    {"subsampled gaussian x2", "poisson(rate=0.01, gaussian(sigma=1))*2", 1e-6, 0},
    {"subsampled gaussian x10", "poisson(rate=0.01, gaussian(sigma=1))*10", 1e-6, 0},
    {"subsampled gaussian x100", "poisson(rate=0.01, gaussian(sigma=1))*100", 1e-6, 0},
    {"subsampled gaussian x1e6", "poisson(rate=0.01, gaussian(sigma=1))*1000000", 1e-6, 0},
    {"subsampled x10, delta 1e-30", "poisson(rate=0.1, gaussian(sigma=1))*10", 1e-30, 0},
    {"subsampled x100, deep tail", "poisson(rate=0.01, gaussian(sigma=2))*100", 1e-16, 0},
    {"calibrate gaussian, 1e-5", "gaussian(sigma=?)", 1e-5, 1},
    {"calibrate gaussian, 1e-15", "gaussian(sigma=?)", 1e-15, 1},
    {"calibrate gaussian, 1e-30", "gaussian(sigma=?)", 1e-30, 1},
    {"calibrate in a mixture", "gaussian(sigma=?)*100 + laplace(scale=100)*10", 1e-6, 1},
    {"calibrate laplace x1000", "laplace(scale=?)*1000", 1e-6, 1},
    {"calibrate laplace x100", "laplace(scale=?)*100", 1e-6, 1},
    {"calibrate subsampled sigma", "poisson(rate=0.01, gaussian(sigma=?))*1000", 1e-5, 2},
    {"calibrate subsampling rate", "poisson(rate=?, gaussian(sigma=1))*1000", 1e-5, 2},
    {"calibrate laplace with laplace", "laplace(scale=?)*1000 + laplace(scale=10)*3", 1e-6, 2},
    {"calibrate laplace with pure", "laplace(scale=?)*300 + pure(epsilon=0.7)", 1e-9, 2},
    {"calibrate laplace with three others",
     "laplace(scale=?)*1000 + laplace(scale=2) + laplace(scale=3) + laplace(scale=5)", 1e-6, 3},
    {"calibrate laplace x1e5", "laplace(scale=?)*100000 + pure(epsilon=1)", 1e-6, 3},
    {"calibrate ten answers", "randomized_response(epsilon=?, k=10)*100", 1e-6, 3},
    {"calibrate how many laplaces", "laplace(scale=100)*? + laplace(scale=3)", 1e-6, 1},
    {"calibrate how many samples", "poisson(rate=0.01, gaussian(sigma=1))*?", 1e-6, 2},
};

/* sigma = 30.5, 31, ... 55 and scale = 30.5, 31, ... 55; scale = 5.1, 5.2 ... 15 */
static void make_ladders(void)
{
    size_t used = 0;
    size_t second = 0;
    for (int i = 1; i <= 100; i++)
        second += (size_t)snprintf(laplaces + second, sizeof laplaces - second,
                                   "%slaplace(scale=%g)", i > 1 ? " + " : "", 5 + i * 0.1);
    for (int i = 1; i <= 50; i++)
        used += (size_t)snprintf(ladder + used, sizeof ladder - used,
                                 "%sgaussian(sigma=%g) + laplace(scale=%g)", i > 1 ? " + " : "",
                                 30 + i * 0.5, 30 + i * 0.5);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

typedef struct outcome {
    double lower, upper, median;
    int runs;
} outcome;

static brume_status run_once(const task *t, brume_expression *expression, const brume_term *terms,
                             outcome *out, brume_error *error)
{
    if (t->epsilon > 0) {
        brume_calibration calibration;
        brume_status status =
            brume_calibrate(expression, t->epsilon, t->delta, &calibration, error);
        out->lower = out->upper = calibration.value;
        return status;
    }
    brume_bound bound;
    brume_status status =
        brume_account_epsilon(BRUME_METHOD_AUTO, terms, expression->count, t->delta, &bound, error);
    out->lower = bound.lower;
    out->upper = bound.upper;
    return status;
}

static brume_status measure(const task *t, outcome *out, brume_error *error)
{
    static double times[MOST_RUNS];
    brume_expression expression;
    brume_term *terms = NULL;
    brume_status status =
        brume_expression_parse(t->expression, BRUME_ADD_REMOVE, &expression, error);
    if (status != BRUME_OK)
        return status;
    if (!expression.has_unknown)
        status = brume_account_terms(expression.events, expression.count, 1, BRUME_METHOD_AUTO,
                                     &terms, error);
    int runs = 0;
    for (double begun = seconds();
         status == BRUME_OK && runs < MOST_RUNS && (runs < 3 || seconds() - begun < 0.2); runs++) {
        double start = seconds();
        status = run_once(t, &expression, terms, out, error);
        times[runs] = seconds() - start;
    }
    if (status == BRUME_OK) {
        qsort(times, (size_t)runs, sizeof *times, ascending);
        out->median = times[runs / 2];
        out->runs = runs;
    }
    free(terms);
    brume_expression_free(&expression);
    return status;
}

/* Charges of 0.1 to a budget, and the text form there and back. */
static void measure_filter(void)
{
    brume_decimal epsilon, price;
    brume_filter filter;
    brume_charge charge;
    char text[BRUME_FILTER_TEXT];
    const int rounds = 20000;
    if (brume_decimal_parse("1e6", &epsilon, NULL) || brume_decimal_parse("0.1", &price, NULL) ||
        brume_filter_make(BRUME_RULE_PURE, &epsilon, NULL, NULL, &filter, NULL) ||
        brume_charge_make(BRUME_RULE_PURE, &price, NULL, &charge, NULL))
        return;
    double start = seconds();
    for (int i = 0; i < rounds; i++)
        if (brume_filter_charge(&filter, &charge, NULL))
            return;
    double charged = seconds();
    for (int i = 0; i < rounds; i++)
        if (brume_filter_print(&filter, text, NULL) || brume_filter_parse(text, &filter, NULL))
            return;
    double printed = seconds();
    printf("%-30s %10.2f us\n", "filter: one charge", 1e6 * (charged - start) / rounds);
    printf("%-30s %10.2f us\n", "filter: to text and back", 1e6 * (printed - charged) / rounds);
}

int main(int argc, char **argv)
{
    int json = argc > 1 && strcmp(argv[1], "--json") == 0, failed = 0;
    const char *only = argc > 2 ? argv[2] : NULL;
    make_ladders();
    if (!json)
        printf("%-30s %13s %20s %9s\n", "task", "median", "epsilon or value", "width");
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        const task *t = &tasks[i];
        brume_error error = {0};
        outcome result = {0};
        if (only && strcmp(only, t->name) != 0)
            continue;
        if (measure(t, &result, &error) != BRUME_OK) {
            fprintf(stderr, "%s: %s\n", t->name, error.message);
            failed = 1;
            continue;
        }
        if (json)
            printf(
                "{\"task\": \"%s\", \"expression\": \"%s\", \"delta\": %.17g, \"target\": %.17g, "
                "\"seconds\": %.9g, \"lower\": %.17g, \"upper\": %.17g}\n",
                t->name, t->expression, t->delta, t->epsilon, result.median, result.lower,
                result.upper);
        else
            printf("%-30s %10.1f us %20.15g %9.1e\n", t->name, 1e6 * result.median, result.upper,
                   (result.upper - result.lower) / result.upper);
        fflush(stdout);
    }
    if (!json)
        measure_filter();
    return failed;
}
