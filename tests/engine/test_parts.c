/* Tables of PostgreSQL read in parts on several connections: each row exactly once and all of one
 * moment, while others write; partitions and children; what is not divided; failures end all. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include <libpq-fe.h>

#include "base/error.h"
#include "engine/engine.h"

enum { ROWS = 260000, EACH = 100 };

static const char *url;
static brume_error error;

static PGconn *connect_here(void)
{
    PGconn *connection = PQconnectdb(url);
    assert_int_equal(PQstatus(connection), CONNECTION_OK);
    return connection;
}

static void execute(const char *sql)
{
    PGconn *connection = connect_here();
    PGresult *result = PQexec(connection, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        fail_msg("%s", PQerrorMessage(connection));
    PQclear(result);
    PQfinish(connection);
}

static int make_tables(void **state)
{
    (void)state;
    url = getenv("BRUME_TEST_POSTGRESQL");
    assert_non_null(url);
    assert_int_equal(setenv("BRUME_CONNECTIONS", "3", 1), 0);
    execute(
        "CREATE TABLE money AS SELECT i::int8 AS i, 100::int8 AS x, repeat('x', 20) AS t FROM "
        "generate_series(1, 260000) AS s(i); CREATE INDEX ON money (i);"
        "CREATE TABLE small AS SELECT 1::int8 AS i, 2::int8 AS x;"
        "CREATE VIEW seen AS SELECT * FROM money;"
        "CREATE TABLE parent (i int8, x int8, t text) PARTITION BY RANGE (i);"
        "CREATE TABLE low PARTITION OF parent FOR VALUES FROM (0) TO (200000);"
        "CREATE TABLE high PARTITION OF parent FOR VALUES FROM (200000) TO (300000);"
        "INSERT INTO parent SELECT * FROM money;"
        "CREATE TABLE elder AS SELECT * FROM money WHERE i <= 250000;"
        "CREATE TABLE child () INHERITS (elder);"
        "INSERT INTO child SELECT * FROM money WHERE i > 250000;"
        "CREATE TABLE mixed (i int8, x int8, t text) PARTITION BY RANGE (i);"
        "CREATE TABLE mixed_here PARTITION OF mixed FOR VALUES FROM (0) TO (300000);"
        "INSERT INTO mixed SELECT * FROM money;"
        "CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;"
        "CREATE FOREIGN TABLE mixed_there PARTITION OF mixed FOR VALUES FROM (300000) TO "
        "(400000) SERVER nowhere");
    return 0;
}

static brume_engine *open_table(const char *table)
{
    brume_source source = {.location = url, .table = table};
    brume_engine *engine = NULL;
    assert_ok(brume_engine_open(&source, 1, &engine, &error));
    return engine;
}

/* ---- what was read ---- */

typedef struct seen {
    atomic_uint_fast64_t rows, sum;
    atomic_uchar *times; /* that i was seen, from 0 */
    uint64_t fail_after; /* rows; 0: never */
    brume_engine *cancel;
    bool kill; /* the backend of another connection */
    atomic_bool killed;
} seen;

static const brume_wire wires[] = {BRUME_WIRE_INTEGER, BRUME_WIRE_INTEGER};

static void kill_one(void)
{
    PGconn *connection = connect_here();
    PQclear(PQexec(connection, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                               "application_name = 'brume' AND query LIKE 'COPY%' LIMIT 1"));
    PQfinish(connection);
}

static brume_status take(void *context, const brume_chunk *chunk, brume_error *failure)
{
    seen *all = context;
    for (size_t i = 0; i < chunk->row_count; i++) {
        int64_t number = chunk->columns[0].integers[i];
        if (all->times && number >= 0 && number <= ROWS)
            atomic_fetch_add(&all->times[number], 1);
        atomic_fetch_add(&all->sum, (uint64_t)chunk->columns[1].integers[i]);
    }
    uint64_t rows = atomic_fetch_add(&all->rows, chunk->row_count) + chunk->row_count;
    if (all->fail_after && rows >= all->fail_after)
        return brume_fail(failure, BRUME_EMEMORY, NULL, "enough");
    if (all->cancel)
        brume_engine_cancel(all->cancel);
    if (all->kill && !atomic_exchange(&all->killed, true))
        kill_one();
    return BRUME_OK;
}

static char **print(const brume_parts *parts)
{
    char **statements = calloc(parts->count, sizeof *statements);
    for (size_t i = 0; i < parts->count; i++) {
        size_t room = strlen(parts->texts[i]) + 64;
        statements[i] = malloc(room);
        snprintf(statements[i], room, "SELECT i, x FROM %s", parts->texts[i]);
    }
    return statements;
}

static brume_status scan(brume_engine *engine, size_t least, seen *all)
{
    brume_parts parts = {0};
    assert_ok(brume_engine_divide(engine, 0, &parts, &error));
    assert_true(parts.count >= least);
    char **statements = print(&parts);
    brume_status status = brume_engine_scan_parts(engine, (const char *const *)statements,
                                                  parts.count, wires, 2, take, all, &error);
    for (size_t i = 0; i < parts.count; i++)
        free(statements[i]);
    free(statements);
    brume_parts_clear(&parts);
    return status;
}

static void check_whole(const char *table)
{
    brume_engine *engine = open_table(table);
    seen all = {.times = calloc(ROWS + 1, 1)};
    assert_ok(scan(engine, 2, &all));
    assert_int_equal(atomic_load(&all.rows), ROWS);
    assert_int_equal(atomic_load(&all.sum), (uint64_t)ROWS * EACH);
    for (size_t i = 1; i <= ROWS; i++)
        assert_int_equal(all.times[i], 1);
    free(all.times);
    brume_engine_close(engine);
}

/* ---- tests ---- */

static void each_row_is_in_one_part(void **state)
{
    (void)state;
    check_whole("money");
    check_whole("parent");
    check_whole("elder");
}

static void only_what_can_be_is_divided(void **state)
{
    (void)state;
    static const char *const whole[] = {"small", "seen", "mixed"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        brume_engine *engine = open_table(whole[i]);
        brume_parts parts = {0};
        assert_ok(brume_engine_divide(engine, 0, &parts, &error));
        assert_int_equal(parts.count, 0);
        brume_engine_close(engine);
    }
    assert_int_equal(setenv("BRUME_CONNECTIONS", "1", 1), 0);
    brume_engine *engine = open_table("money");
    brume_parts parts = {0};
    assert_ok(brume_engine_divide(engine, 0, &parts, &error));
    assert_int_equal(parts.count, 0);
    brume_engine_close(engine);
    assert_int_equal(setenv("BRUME_CONNECTIONS", "3", 1), 0);
}

/* Moves money from one row to another, in one transaction each, until it is told to stop: a row
 * version of the sum moves to another page with every step. */
static atomic_bool stop_moving;
static atomic_uint moved;

static void *move_money(void *argument)
{
    (void)argument;
    PGconn *connection = connect_here();
    for (unsigned step = 0; !atomic_load(&stop_moving); step++) {
        char sql[200];
        snprintf(sql, sizeof sql,
                 "UPDATE money SET x = x + CASE WHEN i = %u THEN 7 ELSE -7 END WHERE i IN (%u, %u)",
                 1 + step * 7919 % ROWS, 1 + step * 7919 % ROWS, 1 + (step * 7919 + 130000) % ROWS);
        PQclear(PQexec(connection, sql));
        atomic_fetch_add(&moved, 1);
    }
    PQfinish(connection);
    return NULL;
}

/* Without one snapshot for all connections a sum of parts would differ from ROWS * EACH as soon as
 * money moves between parts that are read at different times. */
static void all_parts_are_of_one_moment(void **state)
{
    (void)state;
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, move_money, NULL), 0);
    while (atomic_load(&moved) < 20)
        usleep(1000);
    for (int i = 0; i < 4; i++)
        check_whole("money");
    atomic_store(&stop_moving, true);
    pthread_join(writer, NULL);
}

/* The engine answers again after a scan that failed. */
static void check_alive(brume_engine *engine)
{
    seen all = {0};
    assert_ok(scan(engine, 2, &all));
    assert_int_equal(atomic_load(&all.sum), (uint64_t)ROWS * EACH);
}

static void a_failure_of_the_taker_ends_all(void **state)
{
    (void)state;
    brume_engine *engine = open_table("money");
    seen all = {.fail_after = 1};
    assert_fails(scan(engine, 2, &all), BRUME_EMEMORY);
    assert_string_equal(error.message, "enough");
    assert_true(atomic_load(&all.rows) < ROWS);
    check_alive(engine);
    brume_engine_close(engine);
}

static void cancelling_ends_all(void **state)
{
    (void)state;
    brume_engine *engine = open_table("money");
    seen all = {.cancel = engine};
    assert_fails(scan(engine, 2, &all), BRUME_ECANCELLED);
    assert_true(atomic_load(&all.rows) < ROWS);
    check_alive(engine);
    brume_engine_close(engine);
}

static void a_connection_that_dies_ends_all(void **state)
{
    (void)state;
    brume_engine *engine = open_table("money");
    seen all = {.kill = true};
    assert_fails(scan(engine, 2, &all), BRUME_EENGINE);
    brume_engine_close(engine);
}

/* Only the first connection is to be had: the others' places on the server are taken. */
static void with_one_connection_all_parts_are_read(void **state)
{
    (void)state;
    brume_engine *engine = open_table("money");
    enum { MOST = 128 }; /* the server takes fewer (tests/support/with-cluster) */
    PGconn *held[MOST] = {0};
    size_t count = 0;
    while (count < MOST) {
        held[count] = PQconnectdb(url);
        if (PQstatus(held[count++]) != CONNECTION_OK)
            break;
    }
    assert_true(count < MOST);
    check_alive(engine);
    for (size_t i = 0; i < count; i++)
        PQfinish(held[i]);
    brume_engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_is_in_one_part),
        cmocka_unit_test(only_what_can_be_is_divided),
        cmocka_unit_test(all_parts_are_of_one_moment),
        cmocka_unit_test(a_failure_of_the_taker_ends_all),
        cmocka_unit_test(cancelling_ends_all),
        cmocka_unit_test(a_connection_that_dies_ends_all),
        cmocka_unit_test(with_one_connection_all_parts_are_read),
    };
    return cmocka_run_group_tests(tests, make_tables, NULL);
}
