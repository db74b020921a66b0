/* Random SQL expressions over nasty values, through parser, builder and printer, on two engines:
 * no error, the same values, and every value within the bounds that were derived for it. The first
 * is DuckDB, the second PostgreSQL or, where BRUME_TEST_SPARK has the URL of one, Spark, which may
 * refuse an expression by name.
 *
 *   test_differential [SEED [COUNT [DEPTH [mutants]]]]
 *
 * With `mutants` instead: broken printers (a text replaced in what is printed for one engine) must
 * be caught by the same comparison. */
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#include "nasty.h"
#include "query/expression/literal.h"
#include "query/print/statement.h"
#include "query/sql/parse.h"
#include "spark.h"

enum { BATCH = 8, TEXT = 60000 };

static uint64_t seed = 1;
static size_t wanted = 240;
static int depth = 4;
static bool with_mutants;
static brume_engine *engines[2];
static const brume_catalog *catalogs[2];
static char folder[64];
static brume_error error;

typedef struct findings {
    size_t expressions, refused, refused_there, values, not_null, errors, differences, bounds;
} findings;

/* One cell of a result. */
typedef struct cell {
    bool null;
    int64_t integer;
    double real;
    char *text;
    size_t length;
} cell;

typedef struct table {
    size_t rows, columns;
    cell *cells;
} table;

static void table_clear(table *t)
{
    for (size_t i = 0; i < t->rows * t->columns; i++)
        free(t->cells[i].text);
    free(t->cells);
    *t = (table){0};
}

static brume_status fetch(brume_engine *engine, const char *sql, const brume_wire *wires,
                          size_t count, table *out)
{
    brume_rows *rows = NULL;
    brume_status status = brume_engine_select(engine, sql, wires, count, &rows, &error);
    if (status != BRUME_OK)
        return status;
    *out = (table){.columns = count};
    const brume_chunk *chunk;
    while ((status = brume_rows_next(rows, &chunk, &error)) == BRUME_OK && chunk) {
        out->cells = realloc(out->cells, (out->rows + chunk->row_count) * count * sizeof(cell));
        assert_non_null(out->cells);
        for (size_t i = 0; i < chunk->row_count; i++, out->rows++)
            for (size_t j = 0; j < count; j++) {
                const brume_chunk_column *column = &chunk->columns[j];
                cell *made = &out->cells[out->rows * count + j];
                *made = (cell){.null = brume_chunk_is_null(column, i)};
                if (made->null)
                    continue;
                if (column->integers)
                    made->integer = column->integers[i];
                else if (column->reals)
                    made->real = column->reals[i];
                else {
                    made->length = column->texts[i].length;
                    made->text = strndup(column->texts[i].data, made->length);
                }
            }
    }
    brume_rows_close(rows);
    if (status != BRUME_OK)
        table_clear(out);
    return status;
}

static int compare_cells(const cell *a, const cell *b)
{
    if (a->null || b->null)
        return a->null - b->null;
    if (a->text && b->text) {
        size_t shorter = a->length < b->length ? a->length : b->length;
        int order = memcmp(a->text, b->text, shorter);
        return order ? order : (a->length > b->length) - (a->length < b->length);
    }
    if (a->integer != b->integer)
        return a->integer < b->integer ? -1 : 1;
    return (a->real > b->real) - (a->real < b->real);
}

static size_t sorted_columns;
static int compare_rows(const void *a, const void *b)
{
    for (size_t i = 0; i < sorted_columns; i++) {
        int order = compare_cells((const cell *)a + i, (const cell *)b + i);
        if (order)
            return order;
    }
    return 0;
}

static void sort(table *t)
{
    sorted_columns = t->columns;
    if (t->rows)
        qsort(t->cells, t->rows, t->columns * sizeof(cell), compare_rows);
}

static bool in_bounds(const brume_expression *node, const cell *value)
{
    if (value->null)
        return node->nullable;
    if (node->type.kind == BRUME_TYPE_DOUBLE)
        return value->real >= node->bounds.real_low && value->real <= node->bounds.real_high;
    if (node->type.kind == BRUME_TYPE_TEXT)
        return value->length <= node->max_length;
    if (!brume_type_is_number(node->type) && !brume_type_is_time(node->type))
        return true;
    brume_wide units = value->integer;
    int scale;
    if (value->text &&
        (!brume_wide_parse(value->text, &units, &scale) ||
         !brume_wide_rescale(units, scale, node->type.scale, BRUME_WIDE_TO_ZERO, &units)))
        return false;
    return units >= node->bounds.low && units <= node->bounds.high;
}

/* ---- a broken printer ---- */

typedef struct mutant {
    int engine;
    const char *from, *to;
} mutant;

static char *mutate(char *sql, const mutant *broken, int engine)
{
    if (!broken || broken->engine != engine)
        return sql;
    size_t count = 0, from = strlen(broken->from), to = strlen(broken->to);
    for (char *at = sql; (at = strstr(at, broken->from)); at += from)
        count++;
    char *made = malloc(strlen(sql) + count * to + 1), *end = made;
    assert_non_null(made);
    for (char *at = sql; *at;) {
        if (strncmp(at, broken->from, from) == 0) {
            end = stpcpy(end, broken->to);
            at += from;
        } else {
            *end++ = *at++;
        }
    }
    *end = 0;
    free(sql);
    return made;
}

/* ---- the comparison ---- */

static const char *table_of(int engine)
{
    return brume_engine_table(engines[engine], 0);
}

/* Print, run and fetch one parsed query on one engine. */
static brume_status run(const brume_query *query, int engine, const brume_expression *const *nodes,
                        size_t count, const mutant *broken, table *out)
{
    brume_wire wires[BATCH + 1];
    for (size_t i = 0; i < count; i++)
        wires[i] = brume_type_wire(nodes[i]->type);
    char *sql = NULL;
    const char *tables[] = {table_of(engine)};
    brume_status printed = brume_query_print_rows(query, brume_engine_dialect(engines[engine]),
                                                  tables, nodes, count, &sql, &error);
    if (printed == BRUME_EUNSUPPORTED && spark_url() && engine == 1)
        return printed;
    assert_int_equal(printed, BRUME_OK);
    sql = mutate(sql, broken, engine);
    brume_status status = fetch(engines[engine], sql, wires, count, out);
    if (status != BRUME_OK && !broken && getenv("BRUME_TEST_SHOW"))
        printf("# %s\n", sql);
    free(sql);
    return status;
}

static void show(const char *what, int engine, const char *expression)
{
    if (getenv("BRUME_TEST_SHOW"))
        printf("# %s (%s): %s\n", what,
               engine == 0   ? "DuckDB"
               : spark_url() ? "Spark"
                             : "PostgreSQL",
               expression);
}

/* COUNT(e1), COUNT(e2) ...: the arguments are the expressions. Returns whether all went well. */
static bool project(char (*texts)[TEXT], size_t count, const mutant *broken, findings *found)
{
    static char sql[BATCH * TEXT + 100];
    size_t length = (size_t)snprintf(sql, sizeof sql, "SELECT ");
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(sql + length, sizeof sql - length, "%sCOUNT(%s)", i ? ", " : "",
                                   texts[i]);
    snprintf(sql + length, sizeof sql - length, " FROM nasty");
    brume_query *query[2] = {NULL, NULL};
    table result[2] = {{0}, {0}};
    bool fine = true;
    const brume_expression *nodes[2][BATCH + 1];
    size_t node_count = 0;
    for (int e = 0; e < 2; e++) {
        brume_status parsed = brume_query_parse(sql, catalogs[e], &query[e], &error);
        if (parsed == BRUME_EUNSUPPORTED && count > 1) { /* too many tokens together */
            brume_query_free(query[0]);
            table_clear(&result[0]);
            return false;
        }
        assert_int_equal(parsed, BRUME_OK);
        nodes[e][0] = query[e]->unit;
        node_count = query[e]->aggregate_count + 1;
        for (size_t i = 0; i < query[e]->aggregate_count; i++)
            nodes[e][i + 1] = query[e]->aggregates[i].argument;
        brume_status status = run(query[e], e, nodes[e], node_count, broken, &result[e]);
        if (status == BRUME_EUNSUPPORTED && count == 1) {
            found->refused_there++;
            table_clear(&result[0]);
            brume_query_free(query[0]);
            brume_query_free(query[1]);
            return true;
        }
        fine = fine && status == BRUME_OK;
        if (status != BRUME_OK && count == 1)
            show("error", e, texts[0]);
    }
    if (fine) {
        sort(&result[0]);
        sort(&result[1]);
        assert_int_equal(result[0].rows, NASTY_ROWS);
        assert_int_equal(result[1].rows, NASTY_ROWS);
        for (size_t j = 1; j < node_count; j++) {
            bool different = false, outside = false;
            for (size_t i = 0; i < NASTY_ROWS; i++) {
                const cell *a = &result[0].cells[i * node_count + j];
                const cell *b = &result[1].cells[i * node_count + j];
                found->values++;
                found->not_null += !a->null;
                if (!different && compare_cells(a, b) != 0 && getenv("BRUME_TEST_SHOW"))
                    printf("# row %zu: %s %lld %.17g %s, %s %lld %.17g %s\n", i,
                           a->null ? "NULL" : "", (long long)a->integer, a->real,
                           a->text ? a->text : "", b->null ? "NULL" : "", (long long)b->integer,
                           b->real, b->text ? b->text : "");
                different = different || compare_cells(a, b) != 0;
                outside = outside || !in_bounds(nodes[0][j], a) || !in_bounds(nodes[1][j], b);
            }
            found->differences += different;
            found->bounds += outside;
            if ((different || outside) && node_count == count + 1)
                show(different ? "difference" : "outside its bounds", 0, texts[j - 1]);
            else if (different || outside)
                for (size_t k = 0; k < count; k++)
                    show(different ? "difference, one of" : "bounds, one of", 0, texts[k]);
        }
    }
    for (int e = 0; e < 2; e++) {
        table_clear(&result[e]);
        brume_query_free(query[e]);
    }
    return fine;
}

/* The next random expression that brume accepts. */
static void next_expression(nasty_random *random, char *text, findings *found)
{
    for (;;) {
        nasty_expression(random, 1 + (int)nasty_below(random, (size_t)depth), text, TEXT);
        char *sql = NULL;
        assert_true(asprintf(&sql, "SELECT COUNT(%s) FROM nasty", text) > 0);
        brume_query *query = NULL;
        brume_status status = brume_query_parse(sql, catalogs[0], &query, &error);
        brume_query_free(query);
        free(sql);
        if (status == BRUME_OK)
            return;
        /* For want of digits, or because the parser folded a sign into a wider constant. */
        if (status != BRUME_EUNSUPPORTED && status != BRUME_EARGUMENT)
            fail_msg("%s: %s", text, error.message);
        found->refused++;
    }
}

static findings compare(size_t count, const mutant *broken)
{
    static char texts[BATCH][TEXT];
    nasty_random random = {seed * 1000003};
    findings found = {0};
    for (size_t done = 0; done < count; done += BATCH) {
        for (size_t i = 0; i < BATCH; i++)
            next_expression(&random, texts[i], &found);
        found.expressions += BATCH;
        if (project(texts, BATCH, broken, &found))
            continue;
        for (size_t i = 0; i < BATCH; i++)
            if (!project(&texts[i], 1, broken, &found))
                found.errors++;
    }
    return found;
}

static void projections_agree_raise_nothing_and_keep_their_bounds(void **state)
{
    (void)state;
    findings found = {0};
    if (getenv("BRUME_TEST_EXPRESSION")) { /* one expression, to look into a finding */
        static char text[1][TEXT];
        snprintf(text[0], TEXT, "%s", getenv("BRUME_TEST_EXPRESSION"));
        assert_true(project(text, 1, NULL, &found));
        assert_int_equal(found.differences + found.bounds, 0);
        return;
    }
    found = compare(wanted, NULL);
    printf("# seed %llu: %zu expressions (%zu refused, %zu by the second engine), %zu values, %zu "
           "not NULL\n",
           (unsigned long long)seed, found.expressions, found.refused, found.refused_there,
           found.values, found.not_null);
    assert_int_equal(found.errors, 0);
    assert_int_equal(found.differences, 0);
    assert_int_equal(found.bounds, 0);
    assert_true(found.not_null * 3 > found.values);
}

static void conditions_select_the_same_rows(void **state)
{
    (void)state;
    static char condition[TEXT];
    nasty_random random = {seed * 7919};
    size_t selected = 0;
    for (size_t i = 0; i < wanted / 4; i++) {
        nasty_condition(&random, 1 + (int)nasty_below(&random, (size_t)depth), condition, TEXT);
        char *sql = NULL;
        assert_true(asprintf(&sql, "SELECT COUNT(*) FROM nasty WHERE %s", condition) > 0);
        table result[2] = {{0}, {0}};
        bool refused = false;
        for (int e = 0; e < 2 && !refused; e++) {
            brume_query *query = NULL;
            refused = brume_query_parse(sql, catalogs[e], &query, &error) != BRUME_OK;
            if (!refused) {
                const brume_expression *nodes[] = {query->unit};
                brume_status status = run(query, e, nodes, 1, NULL, &result[e]);
                refused = status == BRUME_EUNSUPPORTED;
                if (status != BRUME_OK && !refused)
                    fail_msg("error on engine %d: %s", e, condition);
                sort(&result[e]);
            }
            brume_query_free(query);
        }
        if (!refused) {
            if (result[0].rows != result[1].rows)
                fail_msg("different rows: %s", condition);
            selected += result[0].rows;
            for (size_t j = 0; j < result[0].rows; j++)
                assert_int_equal(compare_cells(&result[0].cells[j], &result[1].cells[j]), 0);
        }
        table_clear(&result[0]);
        table_clear(&result[1]);
        free(sql);
    }
    assert_true(selected > 0);
}

static void groups_have_the_same_keys_counts_and_exact_sums(void **state)
{
    (void)state;
    static char key[TEXT];
    nasty_random random = {seed * 104729};
    size_t groups = 0;
    for (size_t i = 0; i < wanted / 4; i++) {
        nasty_expression(&random, 1 + (int)nasty_below(&random, (size_t)depth), key, TEXT);
        char *sql = NULL;
        assert_true(asprintf(&sql,
                             "SELECT SUM(f2), SUM(i2), SUM(d2), COUNT(*) FROM nasty GROUP BY (%s)",
                             key) > 0);
        table result[2] = {{0}, {0}};
        bool refused = false;
        for (int e = 0; e < 2 && !refused; e++) {
            brume_query *query = NULL;
            refused = brume_query_parse(sql, catalogs[e], &query, &error) != BRUME_OK;
            if (!refused &&
                query->key_count == 0) { /* the key is a constant, and makes no groups */
                brume_query_free(query);
                refused = true;
            }
            if (refused)
                break;
            brume_group_sum sums[3];
            int digits[] = {20, 0, 0};
            for (int j = 0; j < 3; j++) {
                const brume_expression *argument = query->aggregates[j].argument;
                sums[j] = (brume_group_sum){.centre = j, .squares = j != 0};
                assert_ok(brume_query_grid(query, argument, &argument->bounds, digits[j],
                                           &sums[j].value, &error));
            }
            const brume_wire wires[] = {brume_type_wire(query->keys[0].expression->type),
                                        BRUME_WIRE_INTEGER,
                                        BRUME_WIRE_INTEGER,
                                        BRUME_WIRE_TEXT,
                                        BRUME_WIRE_INTEGER,
                                        BRUME_WIRE_TEXT,
                                        BRUME_WIRE_TEXT,
                                        BRUME_WIRE_INTEGER,
                                        BRUME_WIRE_TEXT,
                                        BRUME_WIRE_TEXT};
            const char *tables[] = {table_of(e)};
            char *text = NULL;
            brume_status printed = brume_query_print_groups(query, brume_engine_dialect(engines[e]),
                                                            tables, sums, 3, &text, &error);
            refused = printed == BRUME_EUNSUPPORTED && spark_url() && e == 1;
            if (refused) {
                brume_query_free(query);
                break;
            }
            assert_int_equal(printed, BRUME_OK);
            if (fetch(engines[e], text, wires, 10, &result[e]) != BRUME_OK)
                fail_msg("error on engine %d: %s\n%s", e, key, text);
            sort(&result[e]);
            free(text);
            brume_query_free(query);
        }
        if (!refused) {
            if (result[0].rows != result[1].rows)
                fail_msg("different groups: %s", key);
            groups += result[0].rows;
            for (size_t j = 0; j < result[0].rows * 10; j++)
                if (compare_cells(&result[0].cells[j], &result[1].cells[j]) != 0)
                    fail_msg("different group %zu: %s", j / 10, key);
        }
        table_clear(&result[0]);
        table_clear(&result[1]);
        free(sql);
    }
    assert_true(groups > 0);
}

/* dt2 lies within 1970-01-02..2024-02-28, ts2 within half a second before 1970..2024-02-29. */
static void times_with_bounds_lend_them_to_what_is_made_of_them(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t low, high;
        bool bounded;
    } forms[] = {
        {"dt2 - DATE '2024-02-28'", 1 - 19781, 0, true},
        {"DATE '1970-01-01' - dt2", -19781, -1, true},
        {"dt2 - dt2", -19780, 19780, true},
        {"dt2 - CAST(ts2 AS date)", 1 - 19782, 19781 + 1, true},
        {"date_diff('day', ts2, dt2)", 1 - 19782, 19781 + 1, true},
        {"EXTRACT(epoch FROM ts2)", -500000, INT64_C(19782) * 86400000000, true},
        {"EXTRACT(epoch FROM dt2)", INT64_C(86400000000), INT64_C(19781) * 86400000000, true},
        {"COALESCE(dt2, DATE '1960-01-01') - DATE '1970-01-01'", -3653, 19781, true},
        {"dt2 - dt1", 1 - 2932896, 19781 + 719162, false},
        {"(dt2 + 1) - dt2", -719162 - 19781, 2932896 - 1, false},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        static char text[1][TEXT];
        char sql[200];
        findings found = {0};
        brume_query *query = NULL;
        snprintf(text[0], TEXT, "%s", forms[i].text);
        snprintf(sql, sizeof sql, "SELECT COUNT(%s) FROM nasty", forms[i].text);
        assert_ok(brume_query_parse(sql, catalogs[0], &query, &error));
        const brume_expression *node = query->aggregates[0].argument;
        if (node->bounds.low != forms[i].low || node->bounds.high != forms[i].high ||
            node->bounded != forms[i].bounded)
            fail_msg("%s: %lld..%lld, %d", forms[i].text, (long long)node->bounds.low,
                     (long long)node->bounds.high, node->bounded);
        brume_query_free(query);
        project(text, 1, NULL, &found);
        if (found.refused_there) /* by Spark */
            continue;
        assert_true(found.not_null > 0);
        assert_int_equal(found.errors + found.differences + found.bounds, 0);
    }
    static char text[1][TEXT] = {"dt2 - DATE '1970-01-01'"};
    const mutant wider = {1, "'2024-02-28'", "'2024-02-29'"};
    findings found = {0};
    project(text, 1, &wider, &found);
    assert_true(found.differences > 0 && found.bounds > 0);
}

static bool is_broken(findings found)
{
    return found.errors + found.differences + found.bounds > 0;
}

/* Is it seen in one of the forms that Spark's printers have a rule for? To ask Spark a few hundred
 * random expressions for each broken printer takes minutes: that is done only if not. */
static bool shows(const mutant *broken)
{
    static char forms[][TEXT] = {
        "ROUND(f1)",           "FLOOR(f1)",    "CAST(s1 AS integer)",      "CAST(f1 AS integer)",
        "CAST(s1 AS boolean)", "s1 LIKE '%a'", "EXTRACT(isodow FROM dt1)", "s1 || s2"};
    findings found = {0};
    for (size_t i = 0; i < sizeof forms / sizeof *forms && !is_broken(found); i++)
        if (!project(&forms[i], 1, broken, &found))
            found.errors++;
    return is_broken(found);
}

static void broken_printers_are_caught(void **state)
{
    (void)state;
    static const mutant of_spark[] = {
        {1, "rint(", "("},                   /* fractions are cut off */
        {1, "'4503599627370496'", "'0'"},    /* floor of nothing */
        {1, "\\\\z", ""},                    /* anything may follow a number */
        {1, "'2147483648'", "'2147483647'"}, /* the range is off by one */
        {1, "weekday(", "dayofweek("},       /* another Monday */
        {1, "<= 65536 AND", "<= 20 AND"},    /* long texts vanish */
    };
    static const mutant of_postgresql[] = {
        {1, "'1e-150'", "'0'"},                  /* tiny factors underflow: PostgreSQL raises */
        {0, "'ABCDEFGHIJKLM", "'?BCDEFGHIJKLM"}, /* lower() forgets a letter */
        {0, "'2147483648'", "'2147483647'"},     /* the range is off by one */
        {1, "round(", "trunc("},                 /* another rounding */
        {0, "GREATEST(\"v", "LEAST(\"v"},        /* another start of a substring */
        {1, "<= 65536 THEN", "<= 20 THEN"},      /* long texts vanish */
    };
    const mutant *mutants = spark_url() ? of_spark : of_postgresql;
    enum { MUTANTS = sizeof of_spark / sizeof *of_spark };
    _Static_assert(MUTANTS == sizeof of_postgresql / sizeof *of_postgresql, "as many of each");
    size_t caught = 0;
    assert_false(spark_url() && shows(NULL)); /* the printers as they are */
    for (size_t i = 0; i < MUTANTS; i++) {
        bool seen = (spark_url() && shows(&mutants[i])) || is_broken(compare(wanted, &mutants[i]));
        caught += seen;
        if (!seen)
            printf("# not caught: %s\n", mutants[i].from);
    }
    assert_int_equal(caught, MUTANTS);
}

static int prepare(void **state)
{
    (void)state;
    char path[128];
    const char *url = spark_url() ? spark_url() : getenv("BRUME_TEST_POSTGRESQL");
    snprintf(folder, sizeof folder, "/tmp/brume-query.XXXXXX");
    if (!url || !mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/nasty.parquet", folder);
    nasty_make(seed, spark_url() ? NULL : url, path);
    if (spark_url())
        spark_load("nasty", folder, path);
    brume_source sources[] = {{.location = path}, {.location = url, .table = "nasty"}};
    for (int e = 0; e < 2; e++) {
        if (brume_engine_open(&sources[e], 1, &engines[e], &error) != BRUME_OK)
            return 1;
        catalogs[e] = nasty_catalog(engines[e], e);
    }
    return 0;
}

static int tidy(void **state)
{
    (void)state;
    char command[128];
    brume_engine_close(engines[0]);
    brume_engine_close(engines[1]);
    if (spark_url())
        spark_run("DROP TABLE nasty");
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        seed = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        wanted = strtoull(argv[2], NULL, 10);
    if (argc > 3)
        depth = atoi(argv[3]);
    with_mutants = argc > 4 && strcmp(argv[4], "mutants") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projections_agree_raise_nothing_and_keep_their_bounds),
        cmocka_unit_test(times_with_bounds_lend_them_to_what_is_made_of_them),
        cmocka_unit_test(conditions_select_the_same_rows),
        cmocka_unit_test(groups_have_the_same_keys_counts_and_exact_sums),
    };
    const struct CMUnitTest controls[] = {cmocka_unit_test(broken_printers_are_caught)};
    if (with_mutants)
        return cmocka_run_group_tests_name("broken printers", controls, prepare, tidy);
    return cmocka_run_group_tests_name("differential", tests, prepare, tidy);
}
