/* Databases that are used again: nothing of one engine's sources is there for the next, what was
 * cut short is not used again, two engines never share one, and a forked child has its own. */
#include "check.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "engine/duckdb.h"
#include "engine/driver.h"
#include "engine/libduckdb_version.h"
#include "engine/libduckdb.h"
#include "sources.h"

static int64_t total;
static size_t count;

static brume_duckdb_instance *take(void)
{
    brume_duckdb_instance *instance = NULL;
    assert_ok(brume_duckdb_instance_take(&instance, &error));
    return instance;
}

static void one_that_is_given_back_is_the_next_and_two_are_never_one(void **state)
{
    (void)state;
    brume_duckdb_instance *first = take(), *second = take();
    assert_ptr_not_equal(first, second);
    brume_duckdb_instance_give(first, true);
    brume_duckdb_instance_give(second, true); /* one is kept, this one is closed */
    assert_ptr_equal(take(), first);
    duckdb_connection connection = brume_duckdb_instance_connection(first);
    assert_true(brume_duckdb_run(connection, "SELECT 1"));
    /* it is locked down as it was */
    assert_false(brume_duckdb_run(connection, "SET TimeZone = 'Asia/Tokyo'"));
    assert_false(brume_duckdb_run(connection, "SET enable_external_access = true"));
    assert_false(brume_duckdb_run(connection, "SELECT * FROM read_csv('/etc/passwd')"));
    brume_duckdb_instance_give(first, false);
    brume_duckdb_instance_give(NULL, true);
}

static void the_next_engine_has_its_own_sources_and_no_other(void **state)
{
    (void)state;
    write_file("first.csv", "a,b\n1,10\n2,20\n");
    write_file("second.csv", "c\n400\n");
    const brume_column a = {.name = (char *)"a", .type = {BRUME_TYPE_BIGINT, 0, 0}};
    const brume_column c = {.name = (char *)"c", .type = {BRUME_TYPE_BIGINT, 0, 0}};
    brume_source both[] = {
        {.location = path_of("first.csv"), .declared = &a, .declared_count = 1},
        {.location = path_of("second.csv"), .declared = &c, .declared_count = 1}};
    brume_engine *engine = NULL;
    assert_ok(brume_engine_open(both, 2, &engine, &error));
    assert_ok(sum(engine,
                  "SELECT CAST(a + c AS BIGINT) FROM \"memory\".\"main\".\"source_0\", "
                  "\"memory\".\"main\".\"source_1\"",
                  &total, &count));
    assert_int_equal(total, 1 + 2 + 800);
    brume_engine_close(engine);
    brume_duckdb_instance *kept = take();
    brume_duckdb_instance_give(kept, true);

    engine = open_declared(path_of("second.csv"), "c bigint");
    assert_ok(sum(engine, "SELECT c FROM \"memory\".\"main\".\"source_0\"", &total, &count));
    assert_int_equal(total, 400);
    assert_int_equal(count, 1);
    static const char *const gone[] = {"SELECT a FROM \"memory\".\"main\".\"source_0\"",
                                       "SELECT c FROM \"memory\".\"main\".\"source_1\"",
                                       "SELECT \"1\" FROM brume_read_1()"};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        assert_fails(sum(engine, gone[i], &total, &count), BRUME_EENGINE);
    brume_engine_close(engine); /* statements failed: it is closed, not kept */
    brume_duckdb_instance *next = take();
    assert_false(
        brume_duckdb_run(brume_duckdb_instance_connection(next), "SELECT * FROM main.source_0"));
    brume_duckdb_instance_give(next, true);
}

/* A result that nobody read to its end. */
static void what_was_cut_short_is_not_used_again(void **state)
{
    (void)state;
    write_parquet("SELECT CAST(i AS BIGINT) AS i FROM range(300000) AS r(i)", path_of("i.parquet"));
    for (int cancelled = 0; cancelled < 2; cancelled++) {
        brume_rows *rows = NULL;
        const brume_chunk *chunk = NULL;
        const brume_wire wire = BRUME_WIRE_INTEGER;
        brume_engine *engine = open_one(path_of("i.parquet"), NULL);
        assert_ok(brume_engine_select(engine, "SELECT i FROM \"memory\".\"main\".\"source_0\"",
                                      &wire, 1, &rows, &error));
        assert_ok(brume_rows_next(rows, &chunk, &error));
        assert_non_null(chunk);
        if (cancelled)
            brume_engine_cancel(engine);
        brume_rows_close(rows);
        brume_engine_close(engine);
        engine = open_one(path_of("i.parquet"), NULL);
        assert_ok(sum(engine, "SELECT i FROM \"memory\".\"main\".\"source_0\"", &total, &count));
        assert_int_equal(count, 300000);
        assert_int_equal(total, INT64_C(300000) * 299999 / 2);
        brume_engine_close(engine);
    }
}

static void a_forked_child_opens_its_own(void **state)
{
    (void)state;
    write_file("fork.csv", "a\n1\n2\n");
    brume_duckdb_instance *kept = take();
    brume_duckdb_instance_give(kept, true);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        brume_duckdb_instance *own = NULL;
        bool good = brume_duckdb_instance_take(&own, &error) == BRUME_OK && own != kept &&
                    brume_duckdb_run(brume_duckdb_instance_connection(own),
                                     "SELECT sum(i) FROM range(1000000) AS r(i)");
        brume_duckdb_instance_give(own, true);
        _exit(good ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_ptr_equal(take(), kept);
    brume_duckdb_instance_give(kept, true);
}

static void versions_that_were_not_tested_are_refused(void **state)
{
    (void)state;
    static const char *const tested[] = {"v1.4.0", "v1.4.4", "v1.5.6", "v1.5.12", "v2.0.0"};
    for (size_t i = 0; i < sizeof tested / sizeof *tested; i++)
        assert_holds(brume_duckdb_version_is_tested(tested[i]));
    static const char *const others[] = {
        "",      "v1.3.2",     "v2.1.0",      "v1.40.0", "v1.4.",   "v1.4",  "v3.0.0",
        "1.4.4", "v1.5.0-rc1", "v2.0.0-dev7", "v2.0.x",  "v12.0.0", "v20.0", "v1.4.4 extra"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_holds(!brume_duckdb_version_is_tested(others[i]));
    assert_ok(brume_libduckdb_load(&error));
    assert_holds(brume_duckdb_version_is_tested(duckdb_library_version()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_that_were_not_tested_are_refused),
        cmocka_unit_test(one_that_is_given_back_is_the_next_and_two_are_never_one),
        cmocka_unit_test(the_next_engine_has_its_own_sources_and_no_other),
        cmocka_unit_test(what_was_cut_short_is_not_used_again),
        cmocka_unit_test(a_forked_child_opens_its_own),
    };
    return cmocka_run_group_tests_name("instances", tests, make_folder, remove_folder);
}
