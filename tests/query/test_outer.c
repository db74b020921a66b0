/* The SQL around inner queries: random statements against DuckDB on the same noisy rows, and what
 * error bars cover. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <duckdb.h>

#include "ask_json.h"
#include "registered.h"

enum { STATEMENTS = 60, LEDGERS = 24, LEAST = 13 };

#define GROUPS "SELECT k, m, COUNT(*) AS n, SUM(v) AS s FROM things GROUP BY k, m"
#define TOTALS "SELECT k, AVG(v) AS mean FROM things GROUP BY k"

static const char *const kinds[] = {"a", "b", "c"}, *const months[] = {"1", "2", "3", "4"};
static int counts[3][4]; /* of kind and month */
static double sums[3][4];

static void open_rows(registered *all, uint64_t seed)
{
    static const registered_terms terms = {"things", BRUME_RULE_PURE, "1e6", NULL,
                                           BRUME_ADD_REMOVE};
    brume_error error = {0};
    FILE *file = registered_begin(all);
    fputs("k,m,v\n", file);
    for (int k = 0; k < 3; k++)
        for (int m = 0; m < 4; m++) {
            counts[k][m] = 200 + 40 * k + 25 * m;
            sums[k][m] = 0;
            for (int i = 0; i < counts[k][m]; i++) {
                fprintf(file, "%s,%s,%d\n", kinds[k], months[m], (i * 7 + k) % 11);
                sums[k][m] += (i * 7 + k) % 11;
            }
        }
    registered_open(all, file, seed);
    brume_policy *policy = registered_file(all->csv, "k text, m integer, v bigint");
    assert_ok(brume_policy_set_domain(policy, "k", kinds, 3, &error));
    assert_ok(brume_policy_set_domain(policy, "m", months, 4, &error));
    assert_ok(brume_policy_set_bounds(policy, "v", "0", "10", &error));
    registered_enter(all->ledger, policy, &terms);
}

static json_t *ask(registered *all, const char *sql, const char *epsilon)
{
    const brume_payment payment = {.epsilon = epsilon};
    brume_error error = {0};
    json_t *answer = NULL;
    if (ask_json(all->ledger, sql, &payment, NULL, all->bits, NULL, &answer, &error) != BRUME_OK)
        fail_msg("%s: %s (%s)", sql, error.message, error.hint);
    return answer;
}

/* ---- random statements ---- */

/* {G} and {T} are the tables; every SELECT has an order that is total. */
static uint64_t state_of_draws = 11;

static unsigned below(unsigned n)
{
    state_of_draws = state_of_draws * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state_of_draws >> 33) % n;
}

#define PICK(list) list[below(sizeof list / sizeof *list)]

static const char *pick_number(void)
{
    static const char *const numbers[] = {"n",
                                          "s",
                                          "n + s",
                                          "s / NULLIF(n, 0)",
                                          "n * 2 - s",
                                          "m",
                                          "abs(n - 250)",
                                          "round(s / 10.0, 1)",
                                          "sqrt(abs(s))",
                                          "CASE WHEN n > 260 THEN n ELSE s END",
                                          "n::float8 / 3",
                                          "coalesce(nullif(m, 2), 0)",
                                          "greatest(n, s / 5)",
                                          "ln(abs(n) + 1)"};
    return PICK(numbers);
}

static const char *pick_window(void)
{
    static const char *const windows[] = {
        "lag(n) OVER (PARTITION BY k ORDER BY m)",
        "lead(s, 1, 0) OVER (PARTITION BY k ORDER BY m)",
        "sum(n) OVER (ORDER BY k, m ROWS 2 PRECEDING)",
        "avg(s) OVER (PARTITION BY m ORDER BY k ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
        "row_number() OVER (PARTITION BY k ORDER BY n DESC, m)",
        "rank() OVER (ORDER BY s, k, m)",
        "first_value(m) OVER (PARTITION BY k ORDER BY n DESC, m)",
        "ntile(3) OVER (ORDER BY n, k, m)",
        "100.0 * n / sum(n) OVER (PARTITION BY m)",
        "max(n) OVER (PARTITION BY k) - n",
    };
    return PICK(windows);
}

static const char *pick_aggregate(void)
{
    static const char *const aggregates[] = {
        "sum(n)",
        "avg(s)",
        "max(n) - min(n)",
        "count(*)",
        "stddev(n)",
        "median(s)",
        "string_agg(k || m, ',' ORDER BY k, m)",
        "sum(CASE WHEN m = 1 THEN n END)",
        "count(*) FILTER (WHERE n > 250)",
        "arg_max(m, n)",
        "corr(n, s)",
        "quantile_cont(n, 0.25)",
    };
    return PICK(aggregates);
}

static void make_statement(char *out, size_t size)
{
    static const char *const keys[] = {"k", "m"}, *const unions[] = {"UNION ALL", "UNION", "EXCEPT",
                                                                     "INTERSECT"};
    const char *key = PICK(keys);
    switch (below(7)) {
    case 0:
        snprintf(out, size, "SELECT k, m, %s AS x, %s AS y FROM {G} t ORDER BY k, m", pick_number(),
                 pick_window());
        break;
    case 1:
        snprintf(out, size,
                 "SELECT %s, %s AS x, %s AS y FROM {G} t WHERE %s > %u GROUP BY %s ORDER BY 1", key,
                 pick_aggregate(), pick_aggregate(), pick_number(), below(300), key);
        break;
    case 2:
        snprintf(
            out, size,
            "WITH g AS {G} SELECT a.k, a.m, a.n - b.n AS d FROM g a LEFT JOIN g b ON a.k = b.k "
            "AND a.m = b.m + 1 WHERE a.n > (SELECT %s FROM g) - %u ORDER BY 1, 2",
            below(2) ? "avg(n)" : "min(n)", below(100));
        break;
    case 3:
        snprintf(
            out, size,
            "SELECT g.k, g.m, %s AS x, t.mean - g.s / g.n AS y FROM {G} g JOIN {T} t USING (k) "
            "ORDER BY g.k, g.m",
            below(2) ? "n" : "s * 2");
        break;
    case 4:
        snprintf(
            out, size,
            "SELECT * FROM (SELECT k, m, %s AS x, row_number() OVER (PARTITION BY %s ORDER BY n "
            "DESC, k, m) AS place FROM {G} t) r WHERE place <= %u ORDER BY k, m",
            pick_number(), key, 1 + below(3));
        break;
    case 5:
        snprintf(
            out, size,
            "SELECT k, n FROM {G} a WHERE m = %u %s SELECT k, n FROM {G} b WHERE m < %u ORDER BY "
            "k, n",
            1 + below(4), PICK(unions), 1 + below(5));
        break;
    default:
        snprintf(
            out, size,
            "SELECT upper(k) || '-' || m AS label, CASE WHEN %s > 250 THEN 'much' ELSE 'little' "
            "END AS x, %s AS y FROM {G} t ORDER BY 1 LIMIT %u",
            pick_number(), pick_number(), 1 + below(12));
    }
}

/* The statement with these texts for {G} and {T}; the caller frees it. */
static char *filled(const char *text, const char *groups, const char *totals)
{
    char *made = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&made, &size);
    assert_non_null(out);
    for (; *text; text++)
        if (strncmp(text, "{G}", 3) == 0 || strncmp(text, "{T}", 3) == 0) {
            fputs(text[1] == 'G' ? groups : totals, out);
            text += 2;
        } else {
            fputc(*text, out);
        }
    fclose(out);
    return made;
}

/* ---- DuckDB by itself ---- */

static duckdb_database database;
static duckdb_connection connection;

static void run_plain(const char *sql)
{
    duckdb_result result;
    if (duckdb_query(connection, sql, &result) != DuckDBSuccess)
        fail_msg("%s: %s", sql, duckdb_result_error(&result));
    duckdb_destroy_result(&result);
}

static void fill_table(const char *name, const char *columns, const json_t *rows)
{
    char sql[400];
    snprintf(sql, sizeof sql, "CREATE TABLE %s (%s)", name, columns);
    run_plain(sql);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        size_t used = (size_t)snprintf(sql, sizeof sql, "INSERT INTO %s VALUES ", name);
        const json_t *row = json_array_get(rows, i);
        for (size_t j = 0; j < json_array_size(row); j++) {
            const json_t *cell = json_array_get(row, j);
            used += (size_t)(json_is_string(cell)
                                 ? snprintf(sql + used, sizeof sql - used, "%s'%s'", j ? "," : "(",
                                            json_string_value(cell))
                                 : snprintf(sql + used, sizeof sql - used, "%s%.17g::DOUBLE",
                                            j ? "," : "(", json_number_value(cell)));
        }
        snprintf(sql + used, sizeof sql - used, ")");
        run_plain(sql);
    }
}

static void open_plain(const json_t *groups, const json_t *totals)
{
    assert_int_equal(duckdb_open(NULL, &database), DuckDBSuccess);
    assert_int_equal(duckdb_connect(database, &connection), DuckDBSuccess);
    fill_table("g0", "k VARCHAR, m BIGINT, n BIGINT, s DOUBLE", groups);
    fill_table("t0", "k VARCHAR, mean DOUBLE", totals);
}

static bool same_cell(const json_t *cell, char *plain)
{
    if (!plain || json_is_null(cell))
        return !plain == json_is_null(cell) || (plain && !isfinite(strtod(plain, NULL)));
    if (json_is_string(cell))
        return strcmp(json_string_value(cell), plain) == 0;
    double a = json_number_value(cell), b = strtod(plain, NULL);
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), 1);
}

static void compare(const char *sql, const json_t *rows)
{
    duckdb_result result;
    if (duckdb_query(connection, sql, &result) != DuckDBSuccess)
        fail_msg("%s: %s", sql, duckdb_result_error(&result));
    if (duckdb_row_count(&result) != json_array_size(rows))
        fail_msg("%s: %zu rows, not %zu", sql, json_array_size(rows),
                 (size_t)duckdb_row_count(&result));
    for (size_t i = 0; i < json_array_size(rows); i++)
        for (size_t j = 0; j < duckdb_column_count(&result); j++) {
            char *plain = duckdb_value_is_null(&result, j, i) ? NULL
                                                              : duckdb_value_varchar(&result, j, i);
            const json_t *cell = json_array_get(json_array_get(rows, i), j);
            if (!same_cell(cell, plain)) {
                char *got = json_dumps(cell, JSON_ENCODE_ANY);
                fail_msg("%s: row %zu column %zu is %s, not %s", sql, i, j, got, plain);
            }
            duckdb_free(plain);
        }
    duckdb_destroy_result(&result);
}

static void random_statements_are_what_duckdb_makes_of_the_rows(void **state)
{
    (void)state;
    registered all;
    open_rows(&all, 21);
    /* the same price alone as in statements of one and of two inner queries */
    json_t *groups[2] = {ask(&all, GROUPS, "1"), ask(&all, GROUPS, "0.5")};
    json_t *totals = ask(&all, TOTALS, "0.5");
    for (int i = 0; i < STATEMENTS; i++) {
        char text[600];
        make_statement(text, sizeof text);
        bool two = strstr(text, "{T}") != NULL;
        open_plain(json_object_get(groups[two], "rows"), json_object_get(totals, "rows"));
        char *sql = filled(text, "(" GROUPS ")", "(" TOTALS ")"),
             *plain = filled(text, "(SELECT * FROM g0)", "(SELECT * FROM t0)");
        json_t *answer = ask(&all, sql, "1");
        if (!json_is_true(json_object_get(answer, "cached")))
            fail_msg("it was measured again: %s", sql);
        compare(plain, json_object_get(answer, "rows"));
        json_decref(answer);
        free(sql);
        free(plain);
        duckdb_disconnect(&connection);
        duckdb_close(&database);
    }
    json_decref(groups[0]);
    json_decref(groups[1]);
    json_decref(totals);
    registered_close(&all);
}

/* ---- bars ---- */

static double ratio(int k) /* of sums of months 4 and 1 */
{
    return sums[k][3] / sums[k][0];
}

static double share(int k)
{
    double own = 0, whole = 0;
    for (int i = 0; i < 3; i++)
        for (int m = 0; m < 4; m++) {
            own += i == k ? counts[i][m] : 0;
            whole += counts[i][m];
        }
    return 100 * own / whole;
}

static double largest_difference(int k)
{
    return counts[k][3] - counts[k][2];
}

static double running(int k)
{
    double all = 0;
    for (int i = 0; i <= k; i++)
        all += counts[i][1];
    return all;
}

static const struct {
    const char *sql;
    double (*truth)(int k);
} shapes[] = {
    {"SELECT a.k, a.s / b.s AS x FROM "
     "(" GROUPS ")"
     " a JOIN "
     "(" GROUPS ")"
     " b ON a.k = b.k AND a.m = 4 AND b.m = 1 ORDER BY 1",
     ratio},
    {"SELECT k, 100.0 * SUM(n) / (SELECT SUM(n) FROM (" GROUPS ") u) AS x FROM (" GROUPS
     ") t GROUP BY k ORDER BY 1",
     share},
    {"SELECT k, d FROM (SELECT k, m, n - LAG(n) OVER (PARTITION BY k ORDER BY m) AS d FROM (" GROUPS
     ") t) u WHERE m = 4 ORDER BY k",
     largest_difference},
    {"SELECT k, SUM(n) OVER (ORDER BY k) AS x FROM (" GROUPS ") t WHERE m = 2 ORDER BY k", running},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Of 24 ledgers at 95 % fewer than 13 cover with a chance below 1e-9 in a cell, by the binomial
 * tail; 12 cells are looked at. The control has a tenth of each bar. The draws are those of a
 * seeded tape. */
static void bars_cover_the_truth(void **state)
{
    (void)state;
    int covered[SHAPES][3] = {{0}}, tenth[SHAPES] = {0};
    double widths[SHAPES] = {0};
    for (uint64_t seed = 1; seed <= LEDGERS; seed++) {
        registered all;
        open_rows(&all, seed);
        for (size_t i = 0; i < SHAPES; i++) {
            json_t *answer = ask(&all, shapes[i].sql, "1");
            const json_t *rows = json_object_get(answer, "rows");
            assert_int_equal(json_array_size(rows), 3);
            for (size_t k = 0; k < 3; k++) {
                double value = json_number_value(json_array_get(json_array_get(rows, k), 1));
                const json_t *bars = json_object_get(answer, "rows_bar_95");
                const json_t *bar =
                    bars ? json_array_get(json_array_get(bars, k), 1)
                         : json_object_get(json_array_get(json_object_get(answer, "columns"), 1),
                                           "bar_95");
                assert_true(json_is_number(bar) && json_number_value(bar) > 0);
                double off = fabs(value - shapes[i].truth((int)k)), half = json_number_value(bar);
                covered[i][k] += off <= half;
                tenth[i] += off <= half / 10;
                widths[i] += half / (3 * LEDGERS);
            }
            json_decref(answer);
        }
        registered_close(&all);
    }
    for (size_t i = 0; i < SHAPES; i++) {
        for (size_t k = 0; k < 3; k++)
            if (covered[i][k] < LEAST)
                fail_msg("shape %zu, row %zu: %d of %d", i, k, covered[i][k], LEDGERS);
        print_message("# shape %zu: %d of %d covered, mean bar %.3g, a tenth of it covers %d\n", i,
                      covered[i][0] + covered[i][1] + covered[i][2], 3 * LEDGERS, widths[i],
                      tenth[i]);
        assert_true(tenth[i] < 3 * LEAST);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_statements_are_what_duckdb_makes_of_the_rows),
        cmocka_unit_test(bars_cover_the_truth),
    };
    return cmocka_run_group_tests_name("SQL over released tables", tests, NULL, NULL);
}
