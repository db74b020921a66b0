/* means: how good means and spreads are where people have many rows, beside SUM/COUNT.
 *
 *   means [DRAWS [PEOPLE [EPSILON [HIGH [RULE]]]]]
 *                       20 draws of one data set of each shape, of 10,000 people, at epsilon 1,
 * with bounds 0..500, unless said; RULE `gaussian` pays rho = EPSILON^2 / 2
 *
 * Every question is planned, collected, drawn and presented as `brume query` does it; only the
 * ledger is left out. Values are lognormal, with a mean of about 33, clamped to the bounds; of
 * `lean` and `loud` people with many rows have larger ones. A line for each shape and question: the
 * truth, the mean of |answer - truth|, the median bar that a reader is shown, how often in 100 the
 * bar covers the truth (`cover`), how often it does not and nothing says that units may be hidden
 * (`unsaid`), how often the answer is NULL because of too few values (`few`), and how often a
 * spread is shown as 0 (`zero`). Answers that are NULL or without a bar are in no mean. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <duckdb.h>

#include "query/plan/make_plan.h"
#include "query/plan/plan_terms.h"
#include "query/release/choice.h"
#include "query/release/measurement.h"
#include "query/release/present.h"

#include "people.h"

static char folder[64];
static const char *epsilon = "1", *high = "500";
static bool gaussian_noise;

static void stop(const char *what)
{
    fprintf(stderr, "means: %s\n", what);
    exit(1);
}

static void must(brume_status status, const brume_error *error)
{
    if (status != BRUME_OK)
        stop(error->message);
}

/* ---- data ---- */

/* `lean`: the logarithm of a value grows by so much with that of the number of rows. */
typedef struct shape {
    const char *name;
    long (*rows)(void);
    double lean;
} shape;

static const shape shapes[] = {
    {"one", rows_one, 0},           {"few", rows_returning, 0},
    {"many", rows_text, 0},         {"Zipf", rows_zipf, 0},
    {"bots", rows_bots, 0},         {"two speeds", rows_two_speeds, 0},
    {"dialysis", rows_dialysis, 0}, {"lean", rows_lognormal1, 0.5},
    {"loud", rows_bots, 0.2},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

typedef struct totals {
    double rows, sum, squares;
} totals;

/* A file of typed columns, in place of the other. */
static void convert(const char *csv, char *path, size_t size)
{
    char sql[400];
    duckdb_database database;
    duckdb_connection connection;
    snprintf(path, size, "%s/t.parquet", folder);
    snprintf(sql, sizeof sql,
             "COPY (SELECT person::BIGINT AS person, x::DECIMAL(9, 2) AS x FROM read_csv('%s')) TO "
             "'%s' (FORMAT parquet)",
             csv, path);
    if (duckdb_open(NULL, &database) != DuckDBSuccess ||
        duckdb_connect(database, &connection) != DuckDBSuccess ||
        duckdb_query(connection, sql, NULL) != DuckDBSuccess)
        stop("DuckDB does not write");
    duckdb_disconnect(&connection);
    duckdb_close(&database);
    unlink(csv);
}

static totals make_file(const shape *of, long people, char *path, size_t size)
{
    totals all = {0};
    char csv[96];
    snprintf(csv, sizeof csv, "%s/t.csv", folder);
    FILE *file = fopen(csv, "w");
    if (!file)
        stop("no file can be written");
    fputs("person,x\n", file);
    seed = 1;
    for (int i = 0; i < 8; i++)
        uniform();
    for (long person = 0; person < people; person++) {
        long rows = of->rows();
        for (long n = rows; n > 0; n--) {
            double x = exp(log(33) - 0.32 + 0.8 * gaussian() + of->lean * log((double)rows) * 0.5);
            x = fmin(floor(100 * x) / 100, atof(high));
            fprintf(file, "%ld,%.2f\n", person, x);
            all.rows++;
            all.sum += x;
            all.squares += x * x;
        }
    }
    if (fclose(file) != 0)
        stop("no file can be written");
    convert(csv, path, size);
    return all;
}

/* ---- a question, collected once ---- */

typedef struct collected {
    brume_question *question;
    brume_plan *plan;
    brume_terms *terms;
    brume_collected *rows;
    brume_bits *bits;
} collected;

static brume_policy *policy_of(const char *path, brume_engine *engine)
{
    brume_error error = {0};
    brume_description description = {0};
    brume_policy *policy = NULL;
    must(brume_engine_describe(engine, 0, &description, &error), &error);
    must(brume_policy_make(path, NULL, &description, &policy, &error), &error);
    brume_description_clear(&description);
    must(brume_policy_set_unit(policy, "person", &error), &error);
    must(brume_policy_set_bounds(policy, "x", "0", high, &error), &error);
    return policy;
}

static collected collect(const char *sql, const char *path)
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
    brume_policy *policy = policy_of(path, engine);
    must(brume_bits_open(&all.bits, &error), &error);
    must(brume_question_alone(policy, "t", sql, &all.question, &error), &error);
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

static void close_collected(collected *all)
{
    brume_collected_close(all->rows);
    brume_terms_close(all->terms);
    brume_query_plan_close(all->plan);
    brume_question_close(all->question);
    brume_bits_close(all->bits);
}

/* ---- draws ---- */

typedef struct tally {
    double error, covered, unsaid, few, zero;
    double *bars;
    size_t count; /* of bars */
} tally;

static void draw(collected *all, double truth, tally *to)
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
    double bar = brume_query_answer_bar(answer, 0), off = fabs(answer->values[0].number - truth);
    to->few += answer->too_few && answer->too_few[0];
    if (answer->values[0].kind == BRUME_VALUE_NUMBER && isfinite(bar)) {
        bool said = answer->columns[0].cut_hidden > 0;
        to->error += off;
        to->covered += off <= bar;
        to->unsaid += off > bar && !said;
        to->zero += !(answer->values[0].number > 0);
        to->bars[to->count++] = bar;
    }
    brume_query_answer_close(answer);
    brume_drawn_close(drawn);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void measure(const shape *of, const char *name, const char *sql, const char *path,
                    double truth, long draws)
{
    collected all = collect(sql, path);
    tally sum = {.bars = calloc((size_t)draws + 1, sizeof *sum.bars)};
    if (!sum.bars)
        stop("no memory");
    for (long i = 0; i < draws; i++)
        draw(&all, truth, &sum);
    close_collected(&all);
    qsort(sum.bars, sum.count, sizeof *sum.bars, by_size);
    double n = (double)sum.count, part = 100 / fmax(1, n);
    printf("%-11s %-10s %8.4g %8.3g %8.3g %5.0f %6.0f %5.0f %5.0f\n", of->name, name, truth,
           n > 0 ? sum.error / n : NAN, n > 0 ? sum.bars[sum.count / 2] : NAN, part * sum.covered,
           part * sum.unsaid, 100 * sum.few / (double)draws, part * sum.zero);
    fflush(stdout);
    free(sum.bars);
}

int main(int count, char **words)
{
    long draws = count > 1 ? atol(words[1]) : 20, people = count > 2 ? atol(words[2]) : 10000;
    epsilon = count > 3 ? words[3] : epsilon;
    high = count > 4 ? words[4] : high;
    gaussian_noise = count > 5 && strcmp(words[5], "gaussian") == 0;
    strcpy(folder, "/tmp/brume-means-XXXXXX");
    if (draws < 1 || people < 1 || !(atof(epsilon) > 0) || !(atof(high) > 0) || !mkdtemp(folder))
        stop("means [DRAWS [PEOPLE [EPSILON [HIGH [RULE]]]]]");
    printf("epsilon %s, %ld people, bounds 0..%s, %ld draws%s\n\n", epsilon, people, high, draws,
           gaussian_noise ? ", gaussian noise" : "");
    printf("%-11s %-10s %8s %8s %8s %5s %6s %5s %5s\n", "shape", "question", "truth", "error",
           "bar", "cover", "unsaid", "few", "zero");
    for (size_t i = 0; i < SHAPES; i++) {
        char path[96];
        totals all = make_file(&shapes[i], people, path, sizeof path);
        double mean = all.sum / all.rows;
        double spread = sqrt(fmax(0, all.squares / all.rows - mean * mean));
        measure(&shapes[i], "AVG", "SELECT AVG(x) FROM t", path, mean, draws);
        measure(&shapes[i], "SUM/COUNT", "SELECT SUM(x) / COUNT(x) FROM t", path, mean, draws);
        measure(&shapes[i], "STDDEV_POP", "SELECT STDDEV_POP(x) FROM t", path, spread, draws);
        unlink(path);
    }
    rmdir(folder);
    return 0;
}
