/* answers: how good answers are, noise and cut together, where people have many rows.
 *
 *   answers [DRAWS [PEOPLE [SETS [EPSILON [NOISE [NAME]]]]]]
 *                       40 draws of each of 5 data sets of 10,000 people at epsilon 1, with laplace
 *                       noise, unless said; NAME: questions that have it in their name
 *   answers coverage [DRAWS [SETS]]
 *                       how often bars cover the truth, all questions together: 5 draws of each of
 * 3 data sets of 300, 1,000 and 10,000 people, at four prices, with both kinds of noise
 *
 * Every question is planned, collected and drawn as `brume query` does it; only the ledger is left
 * out. NOISE `gaussian` pays rho = EPSILON^2 / 2: then the noise on a number has the deviation that
 * Laplace noise has as its scale. Beside the mean error of the whole answer stands that of the best
 * limit one could have chosen by looking at the data, at the same price: what is cut by it is known
 * exactly, and the mean of |noise - what is cut| in closed form. `covered` is how often the truth
 * is within the bar that a reader is shown, noise and allowance; `no bar` how often there is none,
 * because what was cut is not known (it counts as not covered); `wrong` how often a bar is shown
 * that does not cover the truth; `noise alone` is without the allowance. `said` is how often the
 * answer says that units may be hidden which its bar does not cover (cut_hidden), `unsaid` how
 * often a bar is wrong and it does not; `width` the median bar, in parts of the truth; `/ oracle`
 * the median, and then the 99th percentile, of the bar of the first cell over the shortest one that
 * it could have, noise and all that is cut of it, by someone who sees the data and pays the whole
 * price for the answer. Of all questions together `width` is the median of theirs, and `worst` the
 * question that is most often wrong unsaid.
 *
 * The data is made here (people.h), sets from fixed seeds: one row each; orders and line items as
 * in TPC-H (about 15 orders a customer, 1 to 7 items each, priced); rows by Zipf's law of index 2;
 * a text table with a lognormal number of rows, 28 on average. The constants of the rule were set
 * on these; those of the tail, of the allowance and of what is said to be hidden on the others too.
 * None is held out any more. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <duckdb.h>

#include "query/limit/grid.h"
#include "query/plan/make_plan.h"
#include "query/plan/plan_limit.h"
#include "query/plan/plan_terms.h"
#include "query/release/choice.h"
#include "query/release/measurement.h"
#include "query/release/present.h"

#include "people.h"

static char folder[64];

static void stop(const char *what)
{
    fprintf(stderr, "answers: %s\n", what);
    exit(1);
}

static void must(brume_status status, const brume_error *error)
{
    if (status != BRUME_OK)
        stop(error->message);
}

/* ---- data ---- */

typedef struct question {
    const char *name, *sql;
    long (*rows)(void);
    int cells;
    double skew; /* groups are cells * uniform^(1 + skew) */
} question;

static const question questions[] = {
    {"one row each, COUNT", "SELECT COUNT(*) FROM t", rows_one, 1, 0},
    {"orders, COUNT", "SELECT COUNT(*) FROM t", rows_orders, 1, 0},
    {"line items, COUNT", "SELECT COUNT(*) FROM t", rows_items, 1, 0},
    {"line items, SUM(price)", "SELECT SUM(price) FROM t", rows_items, 1, 0},
    {"Zipf 2, COUNT", "SELECT COUNT(*) FROM t", rows_zipf, 1, 0},
    {"text, COUNT", "SELECT COUNT(*) FROM t", rows_text, 1, 0},
    {"one row each, 10 groups", "SELECT cell, COUNT(*) FROM t GROUP BY cell", rows_one, 10, 0},
    {"orders, 5 groups", "SELECT cell, COUNT(*) FROM t GROUP BY cell", rows_orders, 5, 0},
    {"line items, SUM, 7 groups", "SELECT cell, SUM(price) FROM t GROUP BY cell", rows_items, 7, 0},
    {"text, 100 groups", "SELECT cell, COUNT(*) FROM t GROUP BY cell", rows_text, 100, 0},
    {"looked at once:", NULL, NULL, 0, 0},
    {"Zipf 1.5, COUNT", "SELECT COUNT(*) FROM t", rows_zipf15, 1, 0},
    {"Zipf 3, COUNT", "SELECT COUNT(*) FROM t", rows_zipf3, 1, 0},
    {"lognormal 1, COUNT", "SELECT COUNT(*) FROM t", rows_lognormal1, 1, 0},
    {"lognormal 2, COUNT", "SELECT COUNT(*) FROM t", rows_lognormal2, 1, 0},
    {"lognormal 1, SUM(price)", "SELECT SUM(price) FROM t", rows_lognormal1, 1, 0},
    {"uniform 1..30, COUNT", "SELECT COUNT(*) FROM t", rows_uniform, 1, 0},
    {"negative binomial, COUNT", "SELECT COUNT(*) FROM t", rows_negative_binomial, 1, 0},
    {"two kinds, COUNT", "SELECT COUNT(*) FROM t", rows_two_kinds, 1, 0},
    {"forum, COUNT", "SELECT COUNT(*) FROM t", rows_forum, 1, 0},
    {"forum, 20 unequal groups", "SELECT cell, COUNT(*) FROM t GROUP BY cell", rows_forum, 20, 2},
    {"lognormal 1, 12 groups", "SELECT cell, COUNT(*) FROM t GROUP BY cell", rows_lognormal1, 12,
     0},
    {"held out once, seen since:", NULL, NULL, 0, 0},
    {"Weibull 0.6, COUNT", "SELECT COUNT(*) FROM t", rows_weibull, 1, 0},
    {"one in fifty 100, COUNT", "SELECT COUNT(*) FROM t", rows_one_in_fifty, 1, 0},
    {"mixed tails, COUNT", "SELECT COUNT(*) FROM t", rows_mixed, 1, 0},
    {"mixed tails, SUM(price)", "SELECT SUM(price) FROM t", rows_mixed, 1, 0},
    {"visits, COUNT", "SELECT COUNT(*) FROM t", rows_visits, 1, 0},
    {"visits, 8 unequal groups", "SELECT cell, COUNT(*) FROM t GROUP BY cell", rows_visits, 8, 1},
    {"few loud among ones, COUNT", "SELECT COUNT(*) FROM t", rows_few_loud, 1, 0},
    {"geometric, 50 loud, COUNT", "SELECT COUNT(*) FROM t", rows_geometric_crowd, 1, 0},
    {"Zipf 1.7, COUNT", "SELECT COUNT(*) FROM t", rows_zipf17, 1, 0},
    {"lognormal 1.5, COUNT", "SELECT COUNT(*) FROM t", rows_lognormal15, 1, 0},
    {"lognormal 0.6, COUNT", "SELECT COUNT(*) FROM t", rows_lognormal_small, 1, 0},
    {"gamma 3, COUNT", "SELECT COUNT(*) FROM t", rows_gamma, 1, 0},
    {"shops, COUNT", "SELECT COUNT(*) FROM t", rows_shops, 1, 0},
    {"shops, SUM(price)", "SELECT SUM(price) FROM t", rows_shops, 1, 0},
    {"Pareto 2.5 to 2000, COUNT", "SELECT COUNT(*) FROM t", rows_pareto, 1, 0},
    {"eightfold, COUNT", "SELECT COUNT(*) FROM t", rows_eightfold, 1, 0},
    {"eightfold, 10 groups", "SELECT cell, COUNT(*) FROM t GROUP BY cell", rows_eightfold, 10, 0},
    {"held out later, seen since:", NULL, NULL, 0, 0},
    {"Poisson, COUNT", "SELECT COUNT(*) FROM t", rows_poisson, 1, 0},
    {"two speeds, COUNT", "SELECT COUNT(*) FROM t", rows_two_speeds, 1, 0},
    {"two speeds, SUM(price)", "SELECT SUM(price) FROM t", rows_two_speeds, 1, 0},
    {"two crowds, COUNT", "SELECT COUNT(*) FROM t", rows_two_crowds, 1, 0},
    {"bots, COUNT", "SELECT COUNT(*) FROM t", rows_bots, 1, 0},
    {"bots, 6 unequal groups", "SELECT cell, COUNT(*) FROM t GROUP BY cell", rows_bots, 6, 1},
    {"Pareto 1.8 to 500, COUNT", "SELECT COUNT(*) FROM t", rows_pareto_short, 1, 0},
    {"returning, COUNT", "SELECT COUNT(*) FROM t", rows_returning, 1, 0},
    {"fixed before the rule of bars was measured on them:", NULL, NULL, 0, 0},
    {"dialysis, COUNT", "SELECT COUNT(*) FROM t", rows_dialysis, 1, 0},
    {"loans to 400, COUNT", "SELECT COUNT(*) FROM t", rows_loans, 1, 0},
    {"log lines, COUNT", "SELECT COUNT(*) FROM t", rows_log_lines, 1, 0},
    {"fixed before limits were chosen by the bar itself:", NULL, NULL, 0, 0},
    {"calls, COUNT", "SELECT COUNT(*) FROM t", rows_calls, 1, 0},
    {"cards, COUNT", "SELECT COUNT(*) FROM t", rows_cards, 1, 0},
    {"staff, COUNT", "SELECT COUNT(*) FROM t", rows_staff, 1, 0},
    {"looked at then:", NULL, NULL, 0, 0},
    {"Pareto 1.3 to 200, COUNT", "SELECT COUNT(*) FROM t", rows_pareto_200, 1, 0},
};
enum { QUESTIONS = sizeof questions / sizeof *questions };
static long sets = 5;

/* What is paid: epsilon, or rho = epsilon^2 / 2. */
static const char *epsilon = "1";
static bool gaussian_noise;

static void make_file(const question *of, long people, uint64_t number, char *path, size_t size)
{
    char csv[96], sql[400];
    snprintf(csv, sizeof csv, "%s/t.csv", folder);
    snprintf(path, size, "%s/t.parquet", folder);
    FILE *file = fopen(csv, "w");
    if (!file)
        stop("no file can be written");
    fputs("person,cell,price\n", file);
    seed = number;
    for (int i = 0; i < 8; i++)
        uniform();
    for (long person = 0; person < people; person++)
        for (long n = of->rows(); n > 0; n--)
            fprintf(file, "%ld,%d,%ld\n", person, (int)(of->cells * pow(uniform(), 1 + of->skew)),
                    (long)((1 + floor(50 * uniform())) * (900 + 1200 * uniform())));
    if (fclose(file) != 0)
        stop("no file can be written");
    duckdb_database database;
    duckdb_connection connection;
    snprintf(sql, sizeof sql,
             "COPY (SELECT person::BIGINT AS person, cell::VARCHAR AS cell, price::BIGINT AS price "
             "FROM read_csv('%s')) TO '%s' (FORMAT parquet)",
             csv, path);
    if (duckdb_open(NULL, &database) != DuckDBSuccess ||
        duckdb_connect(database, &connection) != DuckDBSuccess ||
        duckdb_query(connection, sql, NULL) != DuckDBSuccess)
        stop("DuckDB does not write");
    duckdb_disconnect(&connection);
    duckdb_close(&database);
    unlink(csv);
}

/* ---- a question, collected once ---- */

typedef struct collected {
    brume_question *question;
    brume_plan *plan;
    brume_terms *terms;
    brume_collected *rows;
    brume_bits *bits;
} collected;

static brume_policy *policy_of(const char *path, int cells, brume_engine *engine)
{
    brume_error error = {0};
    brume_description description = {0};
    brume_policy *policy = NULL;
    static char text[128][16];
    const char *values[128];
    must(brume_engine_describe(engine, 0, &description, &error), &error);
    must(brume_policy_make(path, NULL, &description, &policy, &error), &error);
    brume_description_clear(&description);
    must(brume_policy_set_unit(policy, "person", &error), &error);
    must(brume_policy_set_bounds(policy, "price", "0", "200000", &error), &error);
    for (int i = 0; i < cells; i++) {
        snprintf(text[i], sizeof text[i], "%d", i);
        values[i] = text[i];
    }
    must(brume_policy_set_domain(policy, "cell", values, (size_t)cells, &error), &error);
    return policy;
}

static collected collect(const question *of, const char *path)
{
    brume_error error = {0};
    collected all = {0};
    brume_engine *engine = NULL;
    brume_source source = {.location = path};
    brume_payment payment = {0};
    char rho[32];
    snprintf(rho, sizeof rho, "%.9g", atof(epsilon) * atof(epsilon) / 2);
    *(gaussian_noise ? &payment.rho : &payment.epsilon) = gaussian_noise ? rho : epsilon;
    must(brume_engine_open(&source, 1, &engine, &error), &error);
    brume_policy *policy = policy_of(path, of->cells, engine);
    must(brume_bits_open(&all.bits, &error), &error);
    must(brume_question_alone(policy, "t", of->sql, &all.question, &error), &error);
    brume_decimal budget, delta;
    must(brume_decimal_parse("100", &budget, &error), &error);
    must(brume_decimal_parse("0.1", &delta, &error), &error);
    must(brume_filter_make(gaussian_noise ? BRUME_RULE_CONCENTRATED : BRUME_RULE_PURE, &budget,
                           gaussian_noise ? &delta : NULL, NULL, &all.question->datasets[0]->filter,
                           &error),
         &error);
    must(brume_query_plan_make(all.question->query, all.question->tables, &payment, &all.plan,
                               &error),
         &error);
    must(brume_terms_make(all.plan, NULL, 0, &all.terms, &error), &error);
    must(brume_collect(&all.plan->measurements[0].collection, engine, 1, all.bits, &all.rows,
                       &error),
         &error);
    brume_engine_close(engine);
    return all;
}

/* The sums of every cell under a limit, in the units of the question. */
static void sums_under(const collected *all, uint64_t limit, double *sums)
{
    brume_error error = {0};
    const brume_plan *plan = all->plan;
    size_t count = 0;
    brume_total_limit one = {.of = plan->limits[0].of, .limit = limit};
    brume_limited_sum sum = {.kind = plan->measures[0].kind,
                             .value = plan->measures[0].expression,
                             .shift = limit < 1 << 20 ? 20 : 0};
    must(brume_collected_limit(all->rows, &one, 1, plan->norm, NULL, &sum, 1, &error), &error);
    const brume_bounded_group *groups = brume_collected_groups(all->rows, &count);
    for (size_t i = 0; i < count; i++)
        sums[i] = ldexp((double)groups[i].limited[0], -sum.shift) *
                  brume_plan_step(plan, &plan->measures[0]);
}

/* E|X - b|, for Laplace noise X of scale s, or Gaussian of deviation s. */
static double mean_error(double b, double s)
{
    if (!gaussian_noise)
        return b + s * exp(-b / s);
    return s * sqrt(2 / M_PI) * exp(-b * b / (2 * s * s)) + b * erf(b / s / sqrt(2));
}

/* The least mean error over all limits of the grid, known by looking. */
static double best_error(const collected *all, size_t cells, const double *truth)
{
    double best = INFINITY, *sums = calloc(cells, sizeof *sums);
    double step = brume_plan_step(all->plan, &all->plan->measures[0]);
    for (size_t bin = 0; bin < 80; bin++) {
        uint64_t limit = brume_limit_edge(bin);
        double error = 0, scale = (double)limit * step / atof(epsilon);
        sums_under(all, limit, sums);
        for (size_t i = 0; i < cells; i++) {
            double cut = truth[i] - sums[i];
            error += mean_error(cut, scale) / (double)cells;
        }
        best = fmin(best, error);
    }
    free(sums);
    return best;
}

/* The shortest bar of the first cell, of noise and all that is cut of it, over all limits, known by
 * looking. */
static double oracle_bar(const collected *all, size_t cells, const double *truth)
{
    double best = INFINITY, *sums = calloc(cells, sizeof *sums);
    double step = brume_plan_step(all->plan, &all->plan->measures[0]);
    if (!sums)
        stop("no memory");
    for (size_t bin = 0; bin < 80; bin++) {
        uint64_t limit = brume_limit_edge(bin);
        sums_under(all, limit, sums);
        best = fmin(best,
                    (gaussian_noise ? 1.959964 : 2.995732) * (double)limit * step / atof(epsilon) +
                        truth[0] - sums[0]);
    }
    free(sums);
    return best;
}

/* ---- draws ---- */

typedef struct tally {
    double error, covered, no_bar, noise_alone, limit, largest; /* limit: of its logarithm */
    double said, unsaid;                                        /* hidden units */
    size_t values, draws;
    double oracle;  /* the shortest bar of the first cell */
    double *widths; /* the bars of it, in parts of the oracle's, and of the truth, */
    double *parts;
    size_t count; /* and how many: where there is a bar */
} tally;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double quantile(double *numbers, size_t count, double share)
{
    qsort(numbers, count, sizeof *numbers, by_size);
    return count ? numbers[(size_t)(share * (double)(count - 1) + 0.5)] : NAN;
}

static double median(double *numbers, size_t count)
{
    return quantile(numbers, count, 0.5);
}

static void add_width(tally *to, double bar, double truth)
{
    to->widths = realloc(to->widths, (to->count + 1) * sizeof *to->widths);
    to->parts = realloc(to->parts, (to->count + 1) * sizeof *to->parts);
    if (!to->widths || !to->parts)
        stop("no memory");
    to->widths[to->count] = bar / fmax(1, fabs(truth));
    to->parts[to->count++] = bar / to->oracle;
}

static void draw(collected *all, size_t cells, const double *truth, tally *to)
{
    brume_error error = {0};
    brume_drawn *drawn = NULL;
    brume_query_answer *answer = NULL;
    brume_terms *terms = NULL;
    must(brume_drawn_open(all->plan, &drawn, &error), &error);
    must(brume_draw_keys(all->terms, all->rows, all->bits, drawn, &error), &error);
    must(brume_choose_all_limits(all->terms, &all->rows, drawn, all->bits, NULL, &terms, &error),
         &error);
    must(brume_sum_under_limits(terms, all->rows, drawn, &error), &error);
    must(brume_measurement_draw(terms, 0, all->rows, all->bits, drawn, &error), &error);
    must(brume_present(terms, drawn, &answer, &error), &error);
    brume_terms_close(terms);
    size_t column = answer->column_count - 1;
    for (size_t i = 0; i < cells; i++) {
        size_t cell = i * answer->column_count + column;
        double off = fabs(answer->values[cell].number - truth[i]);
        to->error += off;
        to->noise_alone += off <= answer->errors[cell];
        double bar = brume_query_answer_bar(answer, cell);
        bool said = answer->columns[column].cut_hidden > 0;
        to->covered += off <= bar;
        to->no_bar += isnan(bar);
        to->said += said && !isnan(bar);
        to->unsaid += off > bar && !said;
        to->values++;
        if (i == 0 && !isnan(bar))
            add_width(to, bar, truth[i]);
    }
    to->draws++;
    to->limit += log(answer->columns[column].limit);
    to->largest = fmax(to->largest, answer->columns[column].limit);
    brume_query_answer_close(answer);
    brume_drawn_close(drawn);
}

static void close_collected(collected *all)
{
    brume_collected_close(all->rows);
    brume_terms_close(all->terms);
    brume_query_plan_close(all->plan);
    brume_question_close(all->question);
    brume_bits_close(all->bits);
}

/* The draws of one data set that is in a file; `least` gets the error of the best limit for it. */
static void measure_file(const question *of, const char *path, long draws, tally *to, double *least,
                         double *mean)
{
    collected all = collect(of, path);
    size_t cells = (size_t)of->cells;
    double *truth = calloc(cells, sizeof *truth);
    sums_under(&all, UINT64_C(1) << 42, truth);
    to->oracle = oracle_bar(&all, cells, truth);
    if (least)
        *least = best_error(&all, cells, truth);
    for (size_t i = 0; mean && i < cells; i++)
        *mean += truth[i] / (double)(cells * (size_t)sets);
    for (long i = 0; i < draws; i++)
        draw(&all, cells, truth, to);
    free(truth);
    close_collected(&all);
}

/* ---- a question, a line ---- */

/* Of all questions with a bar: how many, and sums of the logarithms. */
static double questions_asked, medians, highs;

static void measure(const question *of, long draws, long people)
{
    double best = 0, mean = 0, ratio = 0, error = 0, worst = 0;
    tally all = {0};
    char path[96];
    if (!of->sql) {
        printf("%s\n", of->name);
        return;
    }
    for (uint64_t number = 1; number <= (uint64_t)sets; number++) {
        double least = 0, before = all.error;
        make_file(of, people, number, path, sizeof path);
        all.largest = 0;
        measure_file(of, path, draws, &all, &least, &mean);
        unlink(path);
        double own = (all.error - before) / (double)(draws * of->cells);
        best += least / (double)sets;
        error += own / (double)sets;
        ratio += own / least / (double)sets;
        worst = fmax(worst, all.largest);
    }
    double part = 100 / (double)all.values;
    printf(
        "%-27s %12.0f %10.4g %10.4g %6.2f %9.3g %9.3g %7.1f %% %5.1f %% %6.1f %% %10.1f %% %5.1f "
        "%% %5.1f %% %8.2g %8.2f %8.2f\n",
        of->name, mean, error, best, ratio, exp(all.limit / (double)all.draws), worst,
        part * all.covered, part * all.no_bar,
        part * fabs((double)all.values - all.covered - all.no_bar), part * all.noise_alone,
        part * all.said, part * all.unsaid, median(all.widths, all.count),
        median(all.parts, all.count), quantile(all.parts, all.count, 0.99));
    fflush(stdout);
    if (all.count > 0) {
        questions_asked++;
        medians += log(median(all.parts, all.count));
        highs += log(quantile(all.parts, all.count, 0.99));
    }
    free(all.widths);
    free(all.parts);
}

/* ---- all questions together ---- */

static const char *const prices[] = {"0.1", "0.3", "1", "3"};
static const long crowds[] = {300, 1000, 10000};
enum { PRICES = 4, CROWDS = 3 };

/* Means over the questions, in per cent. */
typedef struct line {
    double covered, no_bar, said, wrong, unsaid, most;
    const char *worst;
    double widths[QUESTIONS];
    size_t count,
        many; /* questions, and of how many more than one in ten answers is wrong unsaid */
} line;

static void add_question(line *to, const question *of, tally *all)
{
    double part = 100 / (double)all->values, unsaid = part * all->unsaid;
    to->covered += part * all->covered;
    to->no_bar += part * all->no_bar;
    to->said += part * all->said;
    to->wrong += part * fabs((double)all->values - all->covered - all->no_bar);
    to->unsaid += unsaid;
    to->many += unsaid > 10;
    if (!to->worst || unsaid > to->most) {
        to->most = unsaid;
        to->worst = of->name;
    }
    to->widths[to->count++] = all->count ? median(all->widths, all->count) : INFINITY;
    free(all->widths);
    free(all->parts);
}

/* One question for so many people, at all prices: each data set is made once. */
static void cover_question(const question *of, long draws, long people, line lines[2][PRICES])
{
    tally all[2][PRICES] = {0};
    char path[96];
    for (uint64_t number = 1; number <= (uint64_t)sets; number++) {
        make_file(of, people, number, path, sizeof path);
        for (int i = 0; i < 2 * PRICES; i++) {
            gaussian_noise = i >= PRICES;
            epsilon = prices[i % PRICES];
            measure_file(of, path, draws, &all[gaussian_noise][i % PRICES], NULL, NULL);
        }
        unlink(path);
    }
    for (int i = 0; i < 2 * PRICES; i++)
        add_question(&lines[i / PRICES][i % PRICES], of, &all[i / PRICES][i % PRICES]);
}

static void cover(long draws)
{
    printf(
        "%ld data sets of each kind, %ld draws of each; means over the questions, in per cent\n\n",
        sets, draws);
    printf("%-8s %7s %6s %8s %7s %6s %6s %7s %9s %8s  %s\n", "noise", "epsilon", "people",
           "covered", "no bar", "said", "wrong", "unsaid", "over 10 %", "width", "worst");
    for (size_t c = 0; c < CROWDS; c++) {
        line lines[2][PRICES] = {0};
        for (size_t i = 0; i < QUESTIONS; i++)
            if (questions[i].sql)
                cover_question(&questions[i], draws, crowds[c], lines);
        for (int i = 0; i < 2 * PRICES; i++) {
            line *one = &lines[i / PRICES][i % PRICES];
            double n = (double)one->count;
            printf("%-8s %7s %6ld %8.1f %7.1f %6.1f %6.1f %7.1f %4zu of %zu %8.2g  %s, %.1f\n",
                   i < PRICES ? "laplace" : "gaussian", prices[i % PRICES], crowds[c],
                   one->covered / n, one->no_bar / n, one->said / n, one->wrong / n,
                   one->unsaid / n, one->many, one->count, median(one->widths, one->count),
                   one->worst, one->most);
        }
        fflush(stdout);
    }
}

static long number_of(int count, char **words, int which, long usual)
{
    return count > which ? atol(words[which]) : usual;
}

int main(int count, char **words)
{
    const char *only = count > 6 ? words[6] : NULL;
    bool covers = count > 1 && strcmp(words[1], "coverage") == 0;
    long draws = covers ? number_of(count, words, 2, 5) : number_of(count, words, 1, 40);
    long people = covers ? 1 : number_of(count, words, 2, 10000);
    strcpy(folder, "/tmp/brume-answers-XXXXXX");
    sets = covers ? number_of(count, words, 3, 3) : number_of(count, words, 3, 5);
    epsilon = !covers && count > 4 ? words[4] : "1";
    gaussian_noise = !covers && count > 5 && strcmp(words[5], "gaussian") == 0;
    if (draws < 1 || people < 1 || sets < 1 || !(atof(epsilon) > 0) || !mkdtemp(folder))
        stop(
            "answers [DRAWS [PEOPLE [SETS [EPSILON [NOISE [NAME]]]]]], or answers coverage [DRAWS [SETS]]");
    if (covers) {
        cover(draws);
        rmdir(folder);
        return 0;
    }
    printf(
        "epsilon %s, %ld people, %ld data sets, %ld draws of each%s; errors are means of |answer - truth| per value\n\n",
        epsilon, people, sets, draws, gaussian_noise ? ", gaussian noise" : "");
    printf("%-27s %12s %10s %10s %6s %9s %9s %9s %7s %8s %12s %7s %7s %8s %8s %8s\n", "question",
           "truth", "error", "best limit", "ratio", "limit", "largest", "covered", "no bar",
           "wrong", "noise alone", "said", "unsaid", "width", "/ oracle", "99 %");
    for (size_t i = 0; i < QUESTIONS; i++)
        if (!only || (questions[i].sql && strstr(questions[i].name, only)))
            measure(&questions[i], draws, people);
    printf(
        "\nbar over the oracle's, geometric means of %.0f questions: median %.2f, 99th percentile %.2f\n",
        questions_asked, exp(medians / questions_asked), exp(highs / questions_asked));
    rmdir(folder);
    return 0;
}
