/* Scans: every row reaches the taker exactly once, on several threads, whatever its columns are
 * made of and whoever reads the file; errors, other columns and cancelling end it. */
#include "check.h"
#include "columns.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include <duckdb.h>

#include "base/error.h"
#include "engine/engine.h"

enum { ROWS = 300000 };

static char folder[64];
static brume_error error;

static void run_duckdb(const char *sql)
{
    duckdb_database database;
    duckdb_connection connection;
    assert_int_equal(duckdb_open(NULL, &database), DuckDBSuccess);
    assert_int_equal(duckdb_connect(database, &connection), DuckDBSuccess);
    assert_int_equal(duckdb_query(connection, sql, NULL), DuckDBSuccess);
    duckdb_disconnect(&connection);
    duckdb_close(&database);
}

static bool as_csv; /* the file is a CSV, of several parts; else Parquet */

/* i = 0..ROWS-1; a constant column; a few words, which Parquet keeps as a dictionary; NULLs; long
 * text. */
static void make_file(char *path, size_t room)
{
    char sql[640];
    const char *format = as_csv ? "csv" : "parquet";
    snprintf(path, room, "%s/rows.%s", folder, format);
    snprintf(sql, sizeof sql,
             "COPY (SELECT CAST(i AS BIGINT) AS i, CAST(7 AS BIGINT) AS seven,"
             " ['ash', 'birch', 'a cedar of Lebanon'][1 + i %% 3] AS tree,"
             " CASE WHEN i %% 5 <> 0 THEN CAST(i AS DOUBLE) / 4 END AS quarter,"
             " repeat('x', CAST(i %% 40 AS BIGINT)) AS marks"
             " FROM range(%d) AS r(i)) TO '%s' (FORMAT %s)",
             ROWS, path, format);
    run_duckdb(sql);
}

typedef struct counted {
    atomic_uint_fast64_t rows, nulls, integers, lengths, cedars, quarters;
    uint64_t stop_after; /* fail then; 0: never */
    brume_engine *cancel;
} counted;

static const brume_wire wires[] = {BRUME_WIRE_INTEGER, BRUME_WIRE_INTEGER, BRUME_WIRE_TEXT,
                                   BRUME_WIRE_REAL, BRUME_WIRE_TEXT};
static const char columns[] = "i, seven, tree, quarter, marks";

static brume_status count_rows(void *context, const brume_chunk *chunk, brume_error *failure)
{
    counted *all = context;
    for (size_t i = 0; i < chunk->row_count; i++)
        for (size_t c = 0; c < chunk->column_count; c++) {
            const brume_chunk_column *column = &chunk->columns[c];
            if (brume_chunk_is_null(column, i))
                all->nulls++;
            else if (column->wire == BRUME_WIRE_INTEGER)
                all->integers += (uint64_t)column->integers[i];
            else if (column->wire == BRUME_WIRE_REAL)
                all->quarters += (uint64_t)(4 * column->reals[i]);
            else {
                all->lengths += column->texts[i].length;
                all->cedars += column->texts[i].length == 18 &&
                               memcmp(column->texts[i].data, "a cedar of Lebanon", 18) == 0;
            }
        }
    uint64_t rows = atomic_fetch_add(&all->rows, chunk->row_count) + chunk->row_count;
    if (all->cancel)
        brume_engine_cancel(all->cancel);
    if (all->stop_after && rows >= all->stop_after)
        return brume_fail(failure, BRUME_EOVERFLOW, NULL, "enough");
    return BRUME_OK;
}

static brume_engine *open_file(void)
{
    char path[160];
    make_file(path, sizeof path);
    declared_columns declared;
    columns_read("i bigint, seven bigint, tree text, quarter double, marks text", &declared);
    brume_source source = columns_source(path, &declared);
    brume_engine *engine = NULL;
    assert_ok(brume_engine_open(&source, 1, &engine, &error));
    return engine;
}

static const char *select_from(brume_engine *engine, const char *list, const char *rest)
{
    static char sql[512];
    snprintf(sql, sizeof sql, "SELECT %s FROM %s %s", list, brume_engine_table(engine, 0), rest);
    return sql;
}

static void every_row_is_taken_exactly_once(void **state)
{
    (void)state;
    brume_engine *engine = open_file();
    counted all = {0};
    for (int again = 0; again < 2; again++) {
        memset(&all, 0, sizeof all);
        assert_ok(brume_engine_scan(engine, select_from(engine, columns, ""), wires, 5, count_rows,
                                    &all, &error));
        uint64_t n = ROWS, total = n * (n - 1) / 2, fifths = n / 5;
        assert_int_equal(all.rows, n);
        assert_int_equal(all.integers, total + 7 * n);
        assert_int_equal(all.nulls, fifths);
        assert_int_equal(all.quarters, total - 5 * (fifths * (fifths - 1) / 2));
        assert_int_equal(all.cedars, n / 3);
        assert_int_equal(all.lengths, n / 3 * (3 + 5 + 18) + n / 40 * (39 * 40 / 2));
    }
    /* One row, no row, constants alone, and a filter that leaves parts of chunks. */
    static const struct {
        const char *list, *rest;
        uint64_t rows, integers;
    } cases[] = {{"i", "WHERE i = 4711", 1, 4711},
                 {"i", "WHERE i < 0", 0, 0},
                 {"seven", "", ROWS, (uint64_t)7 * ROWS},
                 {"CAST(3 AS BIGINT)", "", ROWS, (uint64_t)3 * ROWS},
                 {"CAST(NULL AS BIGINT)", "", ROWS, 0},
                 {"i", "WHERE i % 2 = 1", ROWS / 2, (uint64_t)ROWS / 2 * (ROWS / 2)},
                 {"i", "ORDER BY i LIMIT 10", 10, 45},
                 {"count(*)", "GROUP BY i % 9000", 9000, ROWS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(&all, 0, sizeof all);
        assert_ok(brume_engine_scan(engine, select_from(engine, cases[i].list, cases[i].rest),
                                    wires, 1, count_rows, &all, &error));
        assert_int_equal(all.rows, cases[i].rows);
        assert_int_equal(all.integers, cases[i].integers);
    }
    brume_engine_close(engine);
}

static void the_takers_error_ends_the_scan_and_the_engine_stays_usable(void **state)
{
    (void)state;
    brume_engine *engine = open_file();
    counted all = {.stop_after = 1};
    assert_fails(brume_engine_scan(engine, select_from(engine, columns, ""), wires, 5, count_rows,
                                   &all, &error),
                 BRUME_EOVERFLOW);
    assert_string_equal(error.message, "enough");
    assert_holds(all.rows < ROWS);
    counted rest = {0};
    assert_ok(brume_engine_scan(engine, select_from(engine, columns, ""), wires, 5, count_rows,
                                &rest, &error));
    assert_int_equal(rest.rows, ROWS);
    brume_engine_close(engine);
}

static void a_cancelled_scan_ends(void **state)
{
    (void)state;
    brume_engine *engine = open_file();
    counted all = {.cancel = engine};
    assert_fails(brume_engine_scan(engine, select_from(engine, columns, ""), wires, 5, count_rows,
                                   &all, &error),
                 BRUME_ECANCELLED);
    brume_engine_cancel(engine); /* before it begins */
    all.cancel = NULL;
    assert_fails(brume_engine_scan(engine, select_from(engine, columns, ""), wires, 5, count_rows,
                                   &all, &error),
                 BRUME_ECANCELLED);
    assert_ok(brume_engine_scan(engine, select_from(engine, columns, ""), wires, 5, count_rows,
                                &all, &error));
    brume_engine_close(engine);
}

static void other_columns_other_statements_and_broken_queries_are_refused(void **state)
{
    (void)state;
    brume_engine *engine = open_file();
    counted all = {0};
    static const struct {
        const char *sql;
        brume_status status;
    } cases[] = {{"SELECT CAST(1 AS INTEGER)", BRUME_EINTERNAL},
                 {"SELECT 'one'", BRUME_EINTERNAL},
                 {"SELECT CAST(1 AS BIGINT), CAST(2 AS BIGINT)", BRUME_EINTERNAL},
                 {"SELECT CAST(1 AS BIGINT)) AS t; SELECT (2", BRUME_EINTERNAL},
                 {"DELETE FROM nothing", BRUME_EINTERNAL},
                 {"SELECT CAST(error('row 17') AS BIGINT)", BRUME_EENGINE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_status status =
            brume_engine_scan(engine, cases[i].sql, wires, 1, count_rows, &all, &error);
        if (status != cases[i].status)
            fail_msg("%s: %d", cases[i].sql, (int)status);
        assert_null(strstr(error.message, "17"));
    }
    assert_int_equal(all.rows, 0);
    assert_fails(brume_engine_scan(engine, "SELECT 1", wires, 0, count_rows, &all, &error),
                 BRUME_EINTERNAL);
    brume_engine_close(engine);
}

static int prepare(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/brume-test-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int clean_up(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_taken_exactly_once),
        cmocka_unit_test(the_takers_error_ends_the_scan_and_the_engine_stays_usable),
        cmocka_unit_test(a_cancelled_scan_ends),
        cmocka_unit_test(other_columns_other_statements_and_broken_queries_are_refused),
    };
    as_csv = argc > 1 && strcmp(argv[1], "csv") == 0;
    return cmocka_run_group_tests_name("scans", tests, prepare, clean_up);
}
