/* Is accounting fast and exact everywhere? A sweep over mechanisms, counts and deltas against the
 * goals that hold for each class: one family without sampling and compositions with a Gaussian
 * 1e-9 and 5 ms, all others 1e-6 and 100 ms.
 *
 *   accounting_sweep [--verbose] [CLASS]
 *       a table with a line per class; --verbose: also every point that misses a goal; CLASS: only
 *       the classes whose name begins so
 *
 * A point is epsilon at a delta, or delta at the epsilon just found. Its time is processor time,
 * the least of at least three runs, parsing not included. Its width is (upper - lower)/upper; that
 * of a delta may instead be what it amounts to in epsilon: next to the largest loss, or to a point
 * of a lattice of losses, delta moves by many times what the parameters do. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <brume/brume.h>

enum { LONG_TEXT = 16000, MOST_POINTS = 20000 };

static const double every_count[] = {1, 2, 3, 5, 10, 30, 100, 1000, 1e4, 1e5, 1e6, 0};
static const double once[] = {1, 0};
static const double deltas[] = {1e-3, 1e-6, 1e-9, 1e-12, 1e-20, 1e-30};

typedef struct class
{
    const char *name;
    double seconds, width; /* the goals */
    const double *counts;  /* of each expression, ends with 0 */
    const char *const *expressions;
    int ladders; /* instead of expressions: how many of them */
    void (*write_ladder)(int number, char text[LONG_TEXT]);
} class;

/* --- homogeneous: the parameters of tests/golden/accounting.json and a range around them --- */

static const char *const gaussians[] = {
    "gaussian(sigma=0.1)", "gaussian(sigma=0.5)", "gaussian(sigma=1)",
    "gaussian(sigma=2)",   "gaussian(sigma=10)",  "gaussian(sigma=30)",
    "gaussian(sigma=100)", "gaussian(sigma=1e4)", NULL};
static const char *const laplaces[] = {"laplace(scale=0.1)",
                                       "laplace(scale=0.2)",
                                       "laplace(scale=0.5)",
                                       "laplace(scale=1)",
                                       "laplace(scale=2)",
                                       "laplace(scale=5)",
                                       "laplace(scale=10)",
                                       "laplace(scale=20)",
                                       "laplace(scale=100)",
                                       "laplace(scale=1e4)",
                                       NULL};
static const char *const discrete_laplaces[] = {"discrete_laplace(scale=0.3)",
                                                "discrete_laplace(scale=1)",
                                                "discrete_laplace(scale=2)",
                                                "discrete_laplace(scale=5)",
                                                "discrete_laplace(scale=5, sensitivity=3)",
                                                "discrete_laplace(scale=20, sensitivity=3)",
                                                "discrete_laplace(scale=100)",
                                                "discrete_laplace(scale=1e4)",
                                                NULL};
static const char *const discrete_gaussians[] = {
    "discrete_gaussian(sigma=0.1)", "discrete_gaussian(sigma=0.3)",
    "discrete_gaussian(sigma=0.7)", "discrete_gaussian(sigma=1)",
    "discrete_gaussian(sigma=2)",   "discrete_gaussian(sigma=2.5)",
    "discrete_gaussian(sigma=4)",   "discrete_gaussian(sigma=10)",
    "discrete_gaussian(sigma=100)", NULL};
static const char *const answers[] = {"randomized_response(epsilon=0.1)",
                                      "randomized_response(epsilon=1.0986122886681098)",
                                      "randomized_response(epsilon=5)",
                                      "randomized_response(epsilon=1.6094379124341003, k=4)",
                                      "randomized_response(epsilon=0.6931471805599453, k=4)",
                                      "randomized_response(epsilon=1, k=10)",
                                      "randomized_response(epsilon=3, k=1000)",
                                      NULL};
static const char *const pures[] = {"pure(epsilon=0.01)", "pure(epsilon=0.1)", "pure(epsilon=0.2)",
                                    "pure(epsilon=0.3)",  "pure(epsilon=0.5)", "pure(epsilon=1)",
                                    "pure(epsilon=3)",    "pure(epsilon=20)",  NULL};
static const char *const approximates[] = {
    "approximate(epsilon=0.01, delta=1e-11)", "approximate(epsilon=0.02, delta=1e-9)",
    "approximate(epsilon=0.05, delta=1e-8)",  "approximate(epsilon=0.1, delta=1e-8)",
    "approximate(epsilon=1, delta=1e-40)",    NULL};
static const char *const sampled[] = {"poisson(rate=0.01, gaussian(sigma=1))",
                                      "poisson(rate=0.001, gaussian(sigma=0.8))",
                                      "poisson(rate=0.1, gaussian(sigma=2))", NULL};

/* --- different mechanisms --- */

/* Whole numbers that look random and never change. */
static unsigned long long scrambled(unsigned long long state)
{
    state = (state + 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL;
    state = (state ^ (state >> 31)) * 0x94d049bb133111ebULL;
    return state ^ (state >> 29);
}

/* between 0 and 1, of four digits, so that the text is the number */
static double share(int number, int index)
{
    return (double)(scrambled((unsigned long long)number * 1000 + (unsigned)index) % 10000) / 1e4;
}

static void append(char *text, const char *kind, double parameter, double count)
{
    size_t used = strlen(text);
    char event[64];
    snprintf(event, sizeof event, kind, parameter);
    snprintf(text + used, LONG_TEXT - used, "%s%s*%.0f", used ? " + " : "", event, count);
}

/* A hundred mechanisms, all different, at least one of them Gaussian: half Laplace; all but one
 * Laplace; all but one pure; every kind in turn, and the same with small noise. */
static void write_hundred(int number, char text[LONG_TEXT])
{
    static const char *const kinds[] = {"gaussian(sigma=%.8g)", "laplace(scale=%.8g)",
                                        "discrete_laplace(scale=%.8g)",
                                        "discrete_gaussian(sigma=%.8g)", "pure(epsilon=%.8g)"};
    text[0] = '\0';
    for (int i = 0; i < 100; i++) {
        double noise = 20 + 0.5 * i + share(number, i) / 4;
        switch (number % 5) {
        case 0:
            append(text, kinds[i % 2], noise, 1);
            break;
        case 1:
            append(text, kinds[i > 0], noise, 1);
            break;
        case 2:
            append(text, kinds[i > 0 ? 4 : 0], i > 0 ? 1 / noise : noise, 1);
            break;
        default: {
            double scale = number % 5 == 3 ? noise : 1 + noise / 10;
            append(text, kinds[i % 5], i % 5 == 4 ? 1 / scale : scale, 1 + (i % 3));
            break;
        }
        }
    }
}

/* Two to nine different mechanisms, Laplace or pure, few draws of each. */
static void write_few(int number, char text[LONG_TEXT])
{
    static const double draws[] = {1, 2, 3, 5, 10};
    int different = 2 + number % 8;
    text[0] = '\0';
    for (int i = 0; i < different; i++) {
        double scale = exp(6 * share(number, i) - 1.5); /* 0.2 .. 90 */
        bool pure = share(number, i + 500) < 0.3;
        double count = draws[(int)(5 * share(number, i + 900))];
        append(text, pure ? "pure(epsilon=%.6g)" : "laplace(scale=%.6g)", pure ? 1 / scale : scale,
               count);
    }
}

/* Ten kinds, a Gaussian among them: once each, or, for odd numbers, a million events in all. */
static void write_ten(int number, char text[LONG_TEXT])
{
    text[0] = '\0';
    for (int i = 0; i < 10; i++) {
        double million = number % 2 ? 316.2277660168379 : 1; /* noise that keeps epsilon alike */
        double noise = (5 + number / 2 + i + share(number / 2, i) / 2) * million;
        append(text, i % 3 == 0 ? "gaussian(sigma=%.8g)" : "laplace(scale=%.8g)", noise,
               number % 2 ? 1e5 : 1);
    }
}

/* No Gaussian, no common lattice: laws on lattices of their own with few Laplaces. */
static void write_lattices(int number, char text[LONG_TEXT])
{
    text[0] = '\0';
    for (int i = 0; i < 1 + number % 3; i++) {
        double noise = exp(3 * share(number, i) - 0.3); /* 0.7 .. 15 */
        double count = 1 + floor(5 * share(number, i + 200));
        switch ((number / 3 + i) % 3) {
        case 0:
            append(text, "discrete_gaussian(sigma=%.6g)", noise, count);
            break;
        case 1:
            append(text, "pure(epsilon=%.6g)", 1 / noise, count);
            break;
        default:
            append(text, "discrete_laplace(scale=%.6g)", noise, count);
        }
    }
    for (int i = 0; i < (number % 4 ? 1 : 2); i++)
        append(text, "laplace(scale=%.6g)", exp(3.5 * share(number, i + 400) - 0.5),
               1 + floor(5 * share(number, i + 600)));
}

/* Two to five kinds of Laplace, some hundred draws in all. */
static void write_kinds(int number, char text[LONG_TEXT])
{
    int kinds = 2 + number % 4;
    text[0] = '\0';
    for (int i = 0; i < kinds; i++)
        append(text, "laplace(scale=%.6g)", exp(1 + 3 * share(number, i)),
               floor((100 + 130 * share(number, 800)) / kinds * (0.5 + share(number, i + 300))));
}

/* A hundred Laplaces, all different. */
static void write_laplaces(int number, char text[LONG_TEXT])
{
    double first = exp(0.7 + 2.3 * share(number, 0)),
           last = first * exp(0.4 + 2 * share(number, 1));
    text[0] = '\0';
    for (int i = 0; i < 100; i++)
        append(text, "laplace(scale=%.8g)", first + (last - first) * i / 99, 1);
}

/* A subsampled Gaussian drawn at random: rates 1e-6 .. 1, sigmas 0.3 .. 1e4, counts 1 .. 1e6. */
static void write_sample(int number, char text[LONG_TEXT])
{
    snprintf(text, LONG_TEXT, "poisson(rate=%.4g, gaussian(sigma=%.4g))*%.0f",
             pow(10, -6 * share(number, 11)), 0.3 * pow(10, 4.5229 * share(number, 12)),
             floor(pow(10, 6 * share(number, 13))));
}

static const class classes[] = {
    {"gaussian", 5e-3, 1e-9, every_count, gaussians, 0, NULL},
    {"laplace", 5e-3, 1e-9, every_count, laplaces, 0, NULL},
    {"discrete_laplace", 5e-3, 1e-9, every_count, discrete_laplaces, 0, NULL},
    {"discrete_gaussian", 5e-3, 1e-9, every_count, discrete_gaussians, 0, NULL},
    {"randomized_response", 5e-3, 1e-9, every_count, answers, 0, NULL},
    {"pure", 5e-3, 1e-9, every_count, pures, 0, NULL},
    {"approximate", 5e-3, 1e-9, every_count, approximates, 0, NULL},
    {"subsampled gaussian", 100e-3, 1e-6, every_count, sampled, 0, NULL},
    {"subsampled, random", 100e-3, 1e-6, once, NULL, 24, write_sample},
    {"100 different, a gaussian among them", 5e-3, 1e-9, once, NULL, 10, write_hundred},
    {"few different laplace and pure", 100e-3, 1e-6, once, NULL, 24, write_few},
    {"lattice laws with few laplaces", 100e-3, 1e-6, once, NULL, 24, write_lattices},
    {"some hundred laplaces of few kinds", 100e-3, 1e-6, once, NULL, 24, write_kinds},
    {"100 different laplaces", 100e-3, 1e-6, once, NULL, 10, write_laplaces},
};

/* --- measuring --- */

typedef struct point {
    double value, lower, width, seconds; /* seconds of -1: failed */
} point;

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Epsilon at a delta, or delta at an epsilon; the least of 3 to 25 runs of a fiftieth of a second
 * in all. */
static point measure(const brume_term *terms, size_t count, bool epsilon, double at,
                     const char *text)
{
    brume_bound bound = {0};
    brume_error error = {0};
    double best = INFINITY, begun = processor_seconds();
    for (int runs = 0; runs < 25 && (runs < 3 || processor_seconds() - begun < 0.02); runs++) {
        double start = processor_seconds();
        brume_status status =
            epsilon ? brume_account_epsilon(BRUME_METHOD_AUTO, terms, count, at, &bound, &error)
                    : brume_account_delta(BRUME_METHOD_AUTO, terms, count, at, &bound, &error);
        double took = processor_seconds() - start;
        if (status != BRUME_OK) {
            fprintf(stderr, "%.200s: %s\n", text, error.message);
            return (point){.seconds = -1};
        }
        best = fmin(best, took);
    }
    bool same = bound.upper == bound.lower && bound.has_lower; /* 0 or infinity, too */
    double width = bound.has_lower ? (bound.upper - bound.lower) / bound.upper : INFINITY;
    return (point){bound.upper, bound.lower, same ? 0 : width, best};
}

/* The width of a delta in the epsilon that it amounts to: the least relative move of epsilon, to
 * half a digit, that certainly takes delta beyond either end of its interval, up to 1e-10. */
static double width_in_epsilon(const brume_term *terms, size_t count, double epsilon, double lower,
                               double upper)
{
    double apart = 0;
    for (int halves = -30; halves < -2; halves++) {
        apart = pow(10, 0.5 * halves);
        brume_bound before, after;
        brume_error error;
        if (brume_account_delta(BRUME_METHOD_AUTO, terms, count, epsilon * (1 - apart), &before,
                                &error) != BRUME_OK ||
            brume_account_delta(BRUME_METHOD_AUTO, terms, count, epsilon * (1 + apart), &after,
                                &error) != BRUME_OK)
            return INFINITY;
        if (before.lower >= upper * (1 - 1e-10) && after.upper <= lower * (1 + 1e-10))
            break;
    }
    return apart;
}

static point measure_delta(const brume_term *terms, size_t count, double epsilon, const char *text)
{
    point p = measure(terms, count, false, epsilon, text);
    if (p.width > 1e-10)
        p.width = fmin(p.width, width_in_epsilon(terms, count, epsilon, p.lower, p.value));
    return p;
}

/* Parse; false with a message if the text is no expression. */
static bool open_terms(const char *text, brume_expression *expression, brume_term **terms)
{
    brume_error error = {0};
    if (brume_expression_parse(text, BRUME_ADD_REMOVE, expression, &error) == BRUME_OK) {
        if (brume_account_terms(expression->events, expression->count, 1, BRUME_METHOD_AUTO, terms,
                                &error) == BRUME_OK)
            return true;
        brume_expression_free(expression);
    }
    fprintf(stderr, "%.200s: %s\n", text, error.message);
    return false;
}

typedef struct tally {
    const class *of;
    bool verbose;
    point *points;
    size_t count, good, failed;
} tally;

static void record(tally *t, point p, const char *text, const char *asked, double at)
{
    if (p.seconds < 0 || t->count == MOST_POINTS) {
        t->failed++;
        return;
    }
    bool quick = p.seconds <= t->of->seconds, narrow = p.width <= t->of->width;
    t->points[t->count++] = p;
    t->good += quick && narrow;
    if (t->verbose && !(quick && narrow))
        printf("  %-7s at %-9.3g %12.1f us %s width %8.1e %s %.10g  %.90s\n", asked, at,
               1e6 * p.seconds, quick ? " " : "!", p.width, narrow ? " " : "!", p.value, text);
}

static void sweep_expression(tally *t, const char *text)
{
    brume_expression expression;
    brume_term *terms = NULL;
    if (!open_terms(text, &expression, &terms)) {
        t->failed++;
        return;
    }
    for (size_t i = 0; i < sizeof deltas / sizeof *deltas; i++) {
        point epsilon = measure(terms, expression.count, true, deltas[i], text);
        record(t, epsilon, text, "epsilon", deltas[i]);
        if (epsilon.seconds >= 0 && isfinite(epsilon.value))
            record(t, measure_delta(terms, expression.count, epsilon.value, text), text, "delta",
                   epsilon.value);
    }
    free(terms);
    brume_expression_free(&expression);
}

static int by_time(const void *a, const void *b)
{
    double x = ((const point *)a)->seconds, y = ((const point *)b)->seconds;
    return x < y ? -1 : x > y;
}

static size_t sweep_class(const class *c, bool verbose, point *points)
{
    static char text[LONG_TEXT];
    tally t = {.of = c, .verbose = verbose, .points = points};
    for (int number = 0; number < c->ladders; number++) {
        c->write_ladder(number, text);
        sweep_expression(&t, text);
    }
    for (const char *const *e = c->expressions; e && *e; e++)
        for (const double *count = c->counts; *count > 0; count++) {
            snprintf(text, sizeof text, "%s*%.0f", *e, *count);
            sweep_expression(&t, text);
        }
    double worst_width = 0;
    for (size_t i = 0; i < t.count; i++)
        worst_width = fmax(worst_width, points[i].width);
    qsort(points, t.count, sizeof *points, by_time);
    if (t.count > 0)
        printf("%-37s %6zu %6zu %10.1f %10.1f %9.0f %9.1e %9.0e\n", c->name, t.count, t.good,
               1e6 * points[t.count / 2].seconds, 1e6 * points[t.count - 1].seconds,
               1e6 * c->seconds, worst_width, c->width);
    fflush(stdout);
    return t.failed;
}

/* A million events of ten kinds, and one of each: how much longer the first takes. */
static size_t sweep_million(void)
{
    static char text[LONG_TEXT];
    double total[2] = {0, 0}, worst = 0, seconds[2] = {0, 0};
    size_t failed = 0, count = 0;
    for (int number = 0; number < 16; number++)
        for (size_t i = 0; i < sizeof deltas / sizeof *deltas; i++) {
            brume_expression expression;
            brume_term *terms = NULL;
            write_ten(number, text);
            if (!open_terms(text, &expression, &terms)) {
                failed++;
                continue;
            }
            point p = measure(terms, expression.count, true, deltas[i], text);
            failed += p.seconds < 0;
            count++;
            seconds[number % 2] = fmax(seconds[number % 2], p.seconds);
            total[number % 2] += p.seconds;
            worst = fmax(worst, p.width);
            free(terms);
            brume_expression_free(&expression);
        }
    printf("\na million events of ten kinds, over one of each: %.2f times the time (%zu points, "
           "worst %.1f us over %.1f us, worst width %.1e)\n",
           total[1] / total[0], count, 1e6 * seconds[1], 1e6 * seconds[0], worst);
    return failed;
}

int main(int argc, char **argv)
{
    bool verbose = argc > 1 && strcmp(argv[1], "--verbose") == 0;
    const char *only = argc > 1 + verbose ? argv[1 + verbose] : "";
    point *points = calloc(MOST_POINTS, sizeof *points);
    if (!points)
        return 1;
    size_t failed = 0;
    printf("%-37s %6s %6s %10s %10s %9s %9s %9s\n", "", "", "within", "median", "worst", "goal",
           "worst", "goal");
    printf("%-37s %6s %6s %10s %10s %9s %9s %9s\n", "class", "points", "goals", "us", "us", "us",
           "width", "width");
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strncmp(classes[i].name, only, strlen(only)) == 0)
            failed += sweep_class(&classes[i], verbose, points);
    if (strncmp("million", only, strlen(only)) == 0)
        failed += sweep_million();
    free(points);
    return failed > 0;
}
