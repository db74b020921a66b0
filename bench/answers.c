/* answers: how good answers are, noise and cut together, where people have many rows.
 *
 *   answers [DRAWS [PEOPLE]]     5 data sets of 10,000 people, 40 draws each, unless said
 *
 * Every question is planned, collected and drawn as `brume query` does it, at epsilon 1; only the
 * ledger is left out. Beside the mean error of the whole answer stands that of the best limit one
 * could have chosen by looking at the data, at the same price: what is cut by it is known exactly,
 * and the mean of |Laplace noise - what is cut| in closed form. `covered` is how often the truth is
 * within the bar that a reader is shown, noise and allowance; `noise alone` without the allowance.
 *
 * The data is made here, five sets from fixed seeds: one row each; orders and line items as in
 * TPC-H (about 15 orders a customer, 1 to 7 items each, priced); rows by Zipf's law of index 2; a
 * text table with a lognormal number of rows, 28 on average. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <duckdb.h>

#include "query/limit/grid.h"
#include "query/plan/make_plan.h"
#include "query/plan/plan_limit.h"
#include "query/release/choice.h"
#include "query/release/measurement.h"
#include "query/release/present.h"

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

static uint64_t seed;

static double uniform(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(seed >> 11) + 0.5) * 0x1p-53;
}

static double gaussian(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static int poisson(double mean)
{
    int n = 0;
    for (double p = uniform(); p > exp(-mean); p *= uniform())
        n++;
    return n;
}

static long rows_one(void)
{
    return 1;
}

static long rows_orders(void)
{
    int n = poisson(15);
    return n ? n : 1;
}

static long rows_items(void)
{
    long items = 0;
    for (long n = rows_orders(); n > 0; n--)
        items += 1 + (long)(7 * uniform());
    return items;
}

static long rows_zipf(void)
{
    return (long)fmin(1e6, floor(pow(uniform(), -0.5)));
}

static long rows_text(void)
{
    return (long)ceil(exp(log(28) - 1.125 + 1.5 * gaussian()));
}

typedef struct question {
    const char *name, *sql;
    long (*rows)(void);
    int cells;
} question;

static const question questions[] = {
    {"one row each, COUNT", "SELECT COUNT(*) FROM t", rows_one, 1},
    {"orders, COUNT", "SELECT COUNT(*) FROM t", rows_orders, 1},
    {"line items, COUNT", "SELECT COUNT(*) FROM t", rows_items, 1},
    {"line items, SUM(price)", "SELECT SUM(price) FROM t", rows_items, 1},
    {"Zipf 2, COUNT", "SELECT COUNT(*) FROM t", rows_zipf, 1},
    {"text, COUNT", "SELECT COUNT(*) FROM t", rows_text, 1},
    {"one row each, 10 groups", "SELECT cell, COUNT(*) FROM t GROUP BY cell", rows_one, 10},
    {"orders, 5 groups", "SELECT cell, COUNT(*) FROM t GROUP BY cell", rows_orders, 5},
    {"line items, SUM, 7 groups", "SELECT cell, SUM(price) FROM t GROUP BY cell", rows_items, 7},
    {"text, 100 groups", "SELECT cell, COUNT(*) FROM t GROUP BY cell", rows_text, 100},
};
enum { QUESTIONS = sizeof questions / sizeof *questions, SETS = 5 };

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
            fprintf(file, "%ld,%d,%ld\n", person, (int)(of->cells * uniform()),
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
    brume_payment payment = {.epsilon = "1"};
    must(brume_engine_open(&source, 1, &engine, &error), &error);
    brume_policy *policy = policy_of(path, of->cells, engine);
    must(brume_bits_open(&all.bits, &error), &error);
    must(brume_question_alone(policy, "t", of->sql, &all.question, &error), &error);
    brume_decimal budget;
    must(brume_decimal_parse("1", &budget, &error), &error);
    must(brume_filter_make(BRUME_RULE_PURE, &budget, NULL, NULL, &all.question->datasets[0]->filter,
                           &error),
         &error);
    must(brume_query_plan_make(all.question->query, all.question->tables, &payment, &all.plan,
                               &error),
         &error);
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
    brume_total_limit one = {plan->limits[0].of, limit};
    brume_limited_sum sum = {.kind = plan->measures[0].kind,
                             .value = plan->measures[0].expression,
                             .shift = limit < 1 << 20 ? 20 : 0};
    must(brume_collected_limit(all->rows, &one, 1, 1, NULL, &sum, 1, &error), &error);
    const brume_bounded_group *groups = brume_collected_groups(all->rows, &count);
    for (size_t i = 0; i < count; i++)
        sums[i] = ldexp((double)groups[i].limited[0], -sum.shift) *
                  brume_plan_step(plan, &plan->measures[0]);
}

/* The least mean error over all limits of the grid, known by looking. E|X - b| for a Laplace X of
 * scale s is b + s exp(-b/s). */
static double best_error(const collected *all, size_t cells, const double *truth)
{
    double best = INFINITY, *sums = calloc(cells, sizeof *sums);
    double step = brume_plan_step(all->plan, &all->plan->measures[0]);
    for (size_t bin = 0; bin < 80; bin++) {
        uint64_t limit = brume_limit_edge(bin);
        double error = 0, scale = (double)limit * step;
        sums_under(all, limit, sums);
        for (size_t i = 0; i < cells; i++) {
            double cut = truth[i] - sums[i];
            error += (cut + scale * exp(-cut / scale)) / (double)cells;
        }
        best = fmin(best, error);
    }
    free(sums);
    return best;
}

/* ---- draws ---- */

typedef struct tally {
    double error, covered, noise_alone, limit;
    size_t values;
} tally;

static void draw(collected *all, size_t cells, const double *truth, tally *to)
{
    brume_error error = {0};
    brume_drawn *drawn = NULL;
    brume_query_answer *answer = NULL;
    must(brume_plan_forget_limits(all->plan, &error), &error);
    must(brume_drawn_open(all->plan, &drawn, &error), &error);
    must(brume_draw_keys(all->plan, all->rows, all->bits, drawn, &error), &error);
    must(brume_choose_limits(all->plan, all->rows, drawn, all->bits, NULL, &error), &error);
    must(brume_measurement_draw(all->plan, 0, all->rows, all->bits, drawn, &error), &error);
    must(brume_present(all->plan, drawn, &answer, &error), &error);
    size_t column = answer->column_count - 1;
    for (size_t i = 0; i < cells; i++) {
        size_t cell = i * answer->column_count + column;
        double off = fabs(answer->values[cell].number - truth[i]);
        to->error += off;
        to->noise_alone += off <= answer->errors[cell];
        to->covered += off <= brume_query_answer_bar(answer, cell);
        to->values++;
    }
    to->limit += log(answer->columns[column].limit);
    brume_query_answer_close(answer);
    brume_drawn_close(drawn);
}

/* One data set: its draws, and the error of the best limit for it. */
static double measure_set(const question *of, long draws, long people, uint64_t number, tally *to,
                          double *mean)
{
    char path[96];
    make_file(of, people, number, path, sizeof path);
    collected all = collect(of, path);
    size_t cells = (size_t)of->cells;
    double *truth = calloc(cells, sizeof *truth);
    sums_under(&all, UINT64_C(1) << 42, truth);
    double best = best_error(&all, cells, truth);
    for (size_t i = 0; i < cells; i++)
        *mean += truth[i] / (double)(cells * SETS);
    for (long i = 0; i < draws; i++)
        draw(&all, cells, truth, to);
    free(truth);
    brume_collected_close(all.rows);
    brume_query_plan_close(all.plan);
    brume_question_close(all.question);
    brume_bits_close(all.bits);
    unlink(path);
    return best;
}

static void measure(const question *of, long draws, long people)
{
    double best = 0, mean = 0, ratio = 0, error = 0, covered = 0, noise_alone = 0, limit = 0;
    for (uint64_t number = 1; number <= SETS; number++) {
        tally set = {0};
        double least = measure_set(of, draws, people, number, &set, &mean);
        double values = (double)set.values * SETS;
        best += least / SETS;
        error += set.error / values;
        ratio += set.error / values / least;
        covered += set.covered / values;
        noise_alone += set.noise_alone / values;
        limit += set.limit / (double)(draws * SETS);
    }
    printf("%-26s %12.0f %10.4g %10.4g %6.2f %9.3g %8.1f %% %10.1f %%\n", of->name, mean, error,
           best, ratio, exp(limit), 100 * covered, 100 * noise_alone);
    fflush(stdout);
}

int main(int count, char **words)
{
    long draws = count > 1 ? atol(words[1]) : 40, people = count > 2 ? atol(words[2]) : 10000;
    strcpy(folder, "/tmp/brume-answers-XXXXXX");
    if (draws < 1 || people < 1 || !mkdtemp(folder))
        stop("answers [DRAWS [PEOPLE]]");
    printf(
        "epsilon 1, %ld people, 5 data sets, %ld draws of each; errors are means of |answer - truth| per value\n\n",
        people, draws);
    printf("%-26s %12s %10s %10s %6s %9s %10s %12s\n", "question", "truth", "error", "best limit",
           "ratio", "limit", "covered", "noise alone");
    for (size_t i = 0; i < QUESTIONS; i++)
        measure(&questions[i], draws, people);
    rmdir(folder);
    return 0;
}
