/* Engines against real files and a real PostgreSQL server: the same rows from both, lock-down,
 * cancelling, and every kind of failure. */
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/engine.h"
#include "postgresql.h"
#include "sources.h"

static void a_file_engine_runs_one_select_and_nothing_else(void **state)
{
    (void)state;
    write_file("locked.csv", "a\n1\n");
    write_file("secret.csv", "a\n42\n");
    brume_engine *engine = open_declared(path_of("locked.csv"), "a bigint");
    const char *const refused[] = {
        "COPY (SELECT 1) TO '%s'",
        "SELECT a FROM read_csv('%s')",
        "SELECT CAST(1 AS BIGINT); SELECT CAST(2 AS BIGINT)",
        "SET threads = 1",
        "CREATE TABLE t AS SELECT 1",
        "DROP VIEW memory.main.source_0",
        "ATTACH '%s' AS d",
        "INSTALL httpfs",
        "SELECT a FROM no_such_table",
        "SELECT CAST(a AS INTEGER) FROM memory.main.source_0",
        "",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char sql[300];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(sql, sizeof sql, refused[i], path_of("secret.csv"));
#pragma GCC diagnostic pop
        int64_t total;
        size_t count;
        if (sum(engine, sql, &total, &count) == BRUME_OK)
            fail_msg("ran: %s", sql);
        assert_null(strstr(error.message, "secret"));
    }
    int64_t total;
    size_t count;
    assert_ok(sum(engine, "SELECT a FROM memory.main.source_0", &total, &count));
    assert_int_equal(total, 1);
    brume_engine_close(engine);
}

static void an_engine_error_in_mid_stream_is_an_error_and_quotes_no_row(void **state)
{
    (void)state;
    write_file("late.csv", "a\n1\n");
    brume_engine *engine = open_declared(path_of("late.csv"), "a bigint");
    int64_t total;
    size_t count;
    /* The failing row comes late: what streamed before must not pass for the answer. */
    assert_fails(sum(engine,
                     "SELECT CAST(CASE WHEN i = 900000 THEN 'hidden value' ELSE '1' END AS BIGINT) "
                     "FROM range(1000000) r(i)",
                     &total, &count),
                 BRUME_EENGINE);
    assert_null(strstr(error.message, "hidden"));
    assert_null(strstr(error.hint, "hidden"));
    assert_ok(sum(engine, "SELECT a FROM memory.main.source_0", &total, &count));
    brume_engine_close(engine);
}

static void *cancel_soon(void *engine)
{
    usleep(100000);
    brume_engine_cancel(engine);
    return NULL;
}

static void cancelled(brume_engine *engine, const char *sql, const char *after)
{
    pthread_t thread;
    int64_t total;
    size_t count;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, engine), 0);
    assert_fails(sum(engine, sql, &total, &count), BRUME_ECANCELLED);
    pthread_join(thread, NULL);
    assert_ok(sum(engine, after, &total, &count));
    assert_int_equal(total, 7);
}

static void a_cancelled_query_ends_and_the_engine_stays_usable(void **state)
{
    (void)state;
    brume_engine *engine = open_declared(path_of("late.csv"), "a bigint");
    cancelled(engine,
              "SELECT CAST(sum(hash(a.i + b.i) % 7) AS BIGINT) FROM range(3000000) a(i), "
              "range(100000) b(i)",
              "SELECT CAST(7 AS BIGINT)");
    brume_engine_close(engine);
    engine = open_one(getenv("BRUME_TEST_POSTGRESQL"), "visits");
    cancelled(engine, "SELECT 1::int8 FROM (SELECT pg_sleep(60)) q", "SELECT 7::int8");
    brume_engine_close(engine);
}

static void postgresql_is_described_and_streams_typed_rows(void **state)
{
    (void)state;
    brume_engine *engine = open_one(getenv("BRUME_TEST_POSTGRESQL"), "visits");
    assert_int_equal(brume_engine_dialect(engine), BRUME_DIALECT_POSTGRESQL);
    assert_string_equal(brume_engine_table(engine, 0), "\"public\".\"visits\"");
    brume_description found = {0};
    assert_ok(brume_engine_describe(engine, 0, &found, &error));
    static const struct {
        const char *name;
        brume_type type;
        brume_leaf leaf;
    } expected[] = {
        {"who", {BRUME_TYPE_BIGINT, 0, 0}, BRUME_LEAF_PLAIN},
        {"age", {BRUME_TYPE_INTEGER, 0, 0}, BRUME_LEAF_CAST},
        {"cost", {BRUME_TYPE_DECIMAL, 9, 2}, BRUME_LEAF_NUMERIC},
        {"loose", {BRUME_TYPE_DOUBLE, 0, 0}, BRUME_LEAF_FREE_NUMERIC},
        {"ratio", {BRUME_TYPE_DOUBLE, 0, 0}, BRUME_LEAF_FINITE},
        {"note", {BRUME_TYPE_TEXT, 0, 0}, BRUME_LEAF_PLAIN},
        {"mood", {BRUME_TYPE_TEXT, 0, 0}, BRUME_LEAF_CAST},
        {"at", {BRUME_TYPE_TIMESTAMP, 0, 0}, BRUME_LEAF_ZONED},
        {"blob", {BRUME_TYPE_REFUSED, 0, 0}, BRUME_LEAF_PLAIN},
    };
    assert_int_equal(found.column_count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < found.column_count; i++) {
        assert_string_equal(found.columns[i].name, expected[i].name);
        assert_true(brume_type_equal(found.columns[i].type, expected[i].type));
        assert_int_equal(found.columns[i].leaf, expected[i].leaf);
    }
    assert_true(found.columns[0].not_null);
    brume_description_clear(&found);

    const brume_wire wires[] = {BRUME_WIRE_INTEGER, BRUME_WIRE_REAL, BRUME_WIRE_TEXT};
    brume_rows *rows = NULL;
    assert_ok(brume_engine_select(engine,
                                  "SELECT who, ratio, note FROM \"public\".\"visits\" ORDER BY who",
                                  wires, 3, &rows, &error));
    const brume_chunk *chunk = NULL;
    size_t seen = 0;
    assert_ok(brume_rows_next(rows, &chunk, &error));
    while (chunk) {
        for (size_t i = 0; i < chunk->row_count; i++, seen++) {
            int64_t who = chunk->columns[0].integers[i];
            assert_int_equal(who, (int64_t)seen + 1);
            bool absent = who % 3 == 0;
            assert_int_equal(brume_chunk_is_null(&chunk->columns[1], i), absent);
            assert_int_equal(brume_chunk_is_null(&chunk->columns[2], i), absent);
            if (absent)
                continue;
            assert_true(chunk->columns[1].reals[i] == (double)who / 2);
            char note[32];
            int length = snprintf(note, sizeof note, "note %d", (int)who);
            assert_int_equal(chunk->columns[2].texts[i].length, length);
            assert_memory_equal(chunk->columns[2].texts[i].data, note, (size_t)length);
        }
        assert_ok(brume_rows_next(rows, &chunk, &error));
    }
    assert_int_equal(seen, 5000);
    brume_rows_close(rows);
    brume_engine_close(engine);
}

static void postgresql_refuses_writing_other_statements_and_wrong_types(void **state)
{
    (void)state;
    brume_engine *engine = open_one(getenv("BRUME_TEST_POSTGRESQL"), "visits");
    const char *const refused[] = {
        "DELETE FROM public.visits RETURNING who",
        "SELECT nextval('public.counter')",
        "SELECT 1::int8; DELETE FROM public.visits",
        "SELECT 1::int4",
        "SELECT who FROM visits",
        "SELECT 1::int8 / (who - who) FROM public.visits",
        "WITH d AS (DELETE FROM public.visits RETURNING who) SELECT who FROM d",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        int64_t total;
        size_t count;
        if (sum(engine, refused[i], &total, &count) == BRUME_OK)
            fail_msg("ran: %s", refused[i]);
        assert_null(strstr(error.message, "zero"));
    }
    int64_t total;
    size_t count;
    assert_ok(sum(engine, "SELECT who FROM public.visits", &total, &count));
    assert_int_equal(count, 5000);
    /* A result left before its end does not spoil the next one. */
    brume_rows *rows = NULL;
    brume_wire wire = BRUME_WIRE_INTEGER;
    const brume_chunk *chunk;
    assert_ok(
        brume_engine_select(engine, "SELECT who FROM public.visits", &wire, 1, &rows, &error));
    assert_ok(brume_rows_next(rows, &chunk, &error));
    brume_rows_close(rows);
    assert_ok(sum(engine, "SELECT who FROM public.visits", &total, &count));
    assert_int_equal(count, 5000);
    brume_engine_close(engine);
    brume_source source = {.location = getenv("BRUME_TEST_POSTGRESQL"), .table = "nowhere"};
    assert_fails(brume_engine_open(&source, 1, &engine, &error), BRUME_ESOURCE);
    source.table = NULL;
    assert_fails(brume_engine_open(&source, 1, &engine, &error), BRUME_EARGUMENT);
    source = (brume_source){.location = "postgresql://nobody@/x?host=%2Fnowhere", .table = "t"};
    assert_fails(brume_engine_open(&source, 1, &engine, &error), BRUME_ESOURCE);
    assert_null(strstr(error.message, "nowhere"));
}

static void a_server_that_dies_in_mid_query_is_a_clear_error(void **state)
{
    (void)state;
    brume_engine *engine = open_one(getenv("BRUME_TEST_POSTGRESQL"), "visits");
    brume_rows *rows = NULL;
    brume_wire wire = BRUME_WIRE_INTEGER;
    assert_ok(brume_engine_select(engine,
                                  "SELECT a.who FROM public.visits a CROSS JOIN public.visits b",
                                  &wire, 1, &rows, &error));
    const brume_chunk *chunk = NULL;
    assert_ok(brume_rows_next(rows, &chunk, &error));
    assert_non_null(chunk);
    const char *postmaster = getenv("BRUME_TEST_POSTMASTER");
    if (!postmaster) {
        fail_msg("run me by with-cluster");
        return;
    }
    assert_int_equal(kill((pid_t)atoi(postmaster), SIGQUIT), 0);
    brume_status status;
    while ((status = brume_rows_next(rows, &chunk, &error)) == BRUME_OK && chunk)
        ;
    assert_int_equal(status, BRUME_EENGINE);
    assert_non_null(strstr(error.message, "lost"));
    brume_rows_close(rows);
    int64_t total;
    size_t count;
    assert_fails(sum(engine, "SELECT 7::int8", &total, &count), BRUME_EENGINE);
    brume_engine_close(engine);
}

static int prepare(void **state)
{
    if (make_folder(state) != 0)
        return 1;
    postgresql_run(
        "CREATE TYPE mood AS ENUM ('low', 'high'); CREATE SEQUENCE counter;"
        "CREATE TABLE visits (who bigint NOT NULL, age smallint, cost numeric(9,2), loose numeric,"
        " ratio double precision, note text, mood mood, at timestamptz, blob bytea);"
        "INSERT INTO visits SELECT i, 30, 1.5, 2.5, CASE WHEN i % 3 <> 0 THEN i / 2.0 END,"
        " CASE WHEN i % 3 <> 0 THEN 'note ' || i END, 'low', now(), NULL"
        " FROM generate_series(1, 5000) i");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_engine_runs_one_select_and_nothing_else),
        cmocka_unit_test(an_engine_error_in_mid_stream_is_an_error_and_quotes_no_row),
        cmocka_unit_test(postgresql_is_described_and_streams_typed_rows),
        cmocka_unit_test(postgresql_refuses_writing_other_statements_and_wrong_types),
        cmocka_unit_test(a_cancelled_query_ends_and_the_engine_stays_usable),
        cmocka_unit_test(a_server_that_dies_in_mid_query_is_a_clear_error),
    };
    return cmocka_run_group_tests_name("engine", tests, prepare, remove_folder);
}
