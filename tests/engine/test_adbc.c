/* Spark through an ADBC driver that is a part of the test (fake_adbc.c): rows, failures, cancels,
 * what is recorded of a table, and that nothing a driver says is shown. */
#include "check.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/adbc/spark.h"
#include "engine/engine.h"

static brume_error error;
static const char url[] = "spark://127.0.0.1:15002";

static brume_engine *open_table(const char *table)
{
    brume_engine *engine = NULL;
    const brume_source source = {.location = url, .table = table};
    assert_ok(brume_engine_open(&source, 1, &engine, &error));
    return engine;
}

static const brume_wire wires[] = {BRUME_WIRE_INTEGER, BRUME_WIRE_REAL, BRUME_WIRE_TEXT,
                                   BRUME_WIRE_TEXT};

static void check_text(const brume_chunk_column *column, size_t row, const char *expected)
{
    assert_int_equal(column->texts[row].length, strlen(expected));
    assert_memory_equal(column->texts[row].data, expected, strlen(expected));
}

static void rows_arrive_with_their_nulls(void **state)
{
    (void)state;
    brume_engine *engine = open_table("same");
    brume_rows *rows = NULL;
    const brume_chunk *chunk = NULL;
    assert_ok(brume_engine_select(engine, "SELECT \"a\" FROM \"many\"", wires, 4, &rows, &error));
    for (int batch = 0; batch < 2; batch++) {
        assert_ok(brume_rows_next(rows, &chunk, &error));
        assert_non_null(chunk);
        assert_int_equal(chunk->row_count, 3);
        for (size_t i = 0; i < 4; i++) {
            assert_false(brume_chunk_is_null(&chunk->columns[i], 0));
            assert_true(brume_chunk_is_null(&chunk->columns[i], 1));
            assert_false(brume_chunk_is_null(&chunk->columns[i], 2));
        }
        assert_true(chunk->columns[0].integers[0] == -5);
        assert_true(chunk->columns[0].integers[2] == INT64_MAX);
        assert_true(chunk->columns[1].reals[0] == 0.5 && chunk->columns[1].reals[2] == -1e300);
        check_text(&chunk->columns[2], 0, "a\xc3\xa9");
        check_text(&chunk->columns[2], 2, "");
        check_text(&chunk->columns[3], 0, "-123456789012345678901234567890123456.78");
        check_text(&chunk->columns[3], 2, "0.07");
    }
    assert_ok(brume_rows_next(rows, &chunk, &error));
    assert_null(chunk);
    brume_rows_close(rows);
    static const brume_wire others[] = {BRUME_WIRE_REAL, BRUME_WIRE_REAL, BRUME_WIRE_TEXT,
                                        BRUME_WIRE_TEXT};
    assert_fails(brume_engine_select(engine, "SELECT `many`", others, 4, &rows, &error),
                 BRUME_EINTERNAL);
    assert_fails(brume_engine_select(engine, "SELECT `many`", wires, 3, &rows, &error),
                 BRUME_EINTERNAL);
    assert_fails(brume_engine_select(engine, "DROP `many`", wires, 4, &rows, &error),
                 BRUME_EINTERNAL);
    brume_engine_close(engine);
}

static void names_are_quoted_as_spark_takes_them(void **state)
{
    (void)state;
    static const brume_wire text[] = {BRUME_WIRE_TEXT};
    brume_engine *engine = open_table("same");
    brume_rows *rows = NULL;
    const brume_chunk *chunk = NULL;
    assert_ok(brume_engine_select(engine,
                                  "SELECT \"c0\", 'a \" \\' \\\\', `x\"``y` FROM \"echo\" 'z\"'",
                                  text, 1, &rows, &error));
    assert_ok(brume_rows_next(rows, &chunk, &error));
    check_text(&chunk->columns[0], 0, "SELECT `c0`, 'a \" \\' \\\\', `x\"``y` FROM `echo` 'z\"'");
    brume_rows_close(rows);
    brume_engine_close(engine);
}

static void rows_that_end_early_are_an_error(void **state)
{
    (void)state;
    brume_engine *engine = open_table("same");
    brume_rows *rows = NULL;
    const brume_chunk *chunk = NULL;
    assert_ok(brume_engine_select(engine, "SELECT `lost`", wires, 4, &rows, &error));
    assert_ok(brume_rows_next(rows, &chunk, &error));
    assert_non_null(chunk);
    assert_fails(brume_rows_next(rows, &chunk, &error), BRUME_EENGINE);
    assert_string_equal(error.message, "Spark failed, or was lost, while it ran the query");
    brume_rows_close(rows);
    assert_fails(brume_engine_select(engine, "SELECT wrong", wires, 4, &rows, &error),
                 BRUME_EENGINE);
    brume_engine_close(engine);
}

static void *cancel_soon(void *engine)
{
    usleep(100000);
    brume_engine_cancel(engine);
    return NULL;
}

static void a_query_that_runs_is_cancelled_and_the_next_one_runs(void **state)
{
    (void)state;
    brume_engine *engine = open_table("same");
    brume_rows *rows = NULL;
    const brume_chunk *chunk = NULL;
    pthread_t thread;
    assert_ok(brume_engine_select(engine, "SELECT `wait`", wires, 4, &rows, &error));
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, engine), 0);
    assert_fails(brume_rows_next(rows, &chunk, &error), BRUME_ECANCELLED);
    pthread_join(thread, NULL);
    brume_rows_close(rows);
    assert_ok(brume_engine_select(engine, "SELECT `many`", wires, 4, &rows, &error));
    assert_ok(brume_rows_next(rows, &chunk, &error));
    brume_rows_close(rows);
    brume_engine_close(engine);
}

static void a_table_is_known_by_its_name_and_its_folder(void **state)
{
    (void)state;
    static const char *const expected[] = {"location:s3://bucket", "location:s3://bucket/clinic",
                                           "table:spark:127.0.0.1:15002:prod.clinic.visits",
                                           "location:s3://bucket/clinic/visits"};
    static const char *const tables[] = {"same", "prod.clinic.visits"};
    for (size_t i = 0; i < 2; i++) {
        brume_engine *engine = open_table(tables[i]);
        brume_description found;
        brume_marks marks;
        assert_ok(brume_engine_describe(engine, 0, &found, &error));
        assert_string_equal(found.identity, "spark:127.0.0.1:15002/prod.clinic.visits");
        assert_int_equal(found.column_count, 5);
        assert_true(found.columns[0].type.kind == BRUME_TYPE_TEXT && found.columns[0].not_null);
        assert_true(found.columns[1].type.kind == BRUME_TYPE_REFUSED);
        assert_true(found.columns[2].type.kind == BRUME_TYPE_DECIMAL);
        assert_true(found.columns[3].leaf == BRUME_LEAF_ZONED);
        assert_true(found.columns[4].type.kind == BRUME_TYPE_REFUSED);
        assert_false(found.can_fail || found.is_opaque || found.mixes_rows);
        assert_ok(brume_engine_marks(engine, 0, true, &marks, &error));
        assert_int_equal(marks.count, 4);
        assert_int_equal(marks.whole_count, 2);
        for (size_t j = 0; j < 4; j++)
            assert_string_equal(marks.texts[j], expected[j]);
        brume_marks_clear(&marks);
        assert_ok(brume_engine_marks(engine, 0, false, &marks, &error));
        assert_int_equal(marks.count, 2);
        brume_marks_clear(&marks);
        brume_description_clear(&found);
        brume_engine_close(engine);
    }
    brume_engine *engine = open_table("lines");
    brume_description found;
    assert_ok(brume_engine_describe(engine, 0, &found, &error));
    assert_true(found.can_fail); /* a reader of lines may stumble */
    brume_description_clear(&found);
    brume_engine_close(engine);
}

/* Tables of other catalogs than Spark's own are described in lines. */
static void a_table_of_another_catalog_is_known_in_the_same_way(void **state)
{
    (void)state;
    static const char *const expected[] = {"location:s3://bucket", "location:s3://bucket/clinic",
                                           "table:spark:127.0.0.1:15002:lake.clinic.visits",
                                           "location:s3://bucket/clinic/visits"};
    brume_engine *engine = open_table("lake.visits");
    brume_description found;
    brume_marks marks;
    assert_ok(brume_engine_describe(engine, 0, &found, &error));
    assert_string_equal(found.identity, "spark:127.0.0.1:15002/lake.clinic.visits");
    assert_int_equal(found.column_count, 6);
    assert_true(found.columns[0].type.kind == BRUME_TYPE_TEXT);
    assert_true(found.columns[1].type.kind == BRUME_TYPE_REFUSED);
    assert_true(found.columns[2].type.kind == BRUME_TYPE_DECIMAL);
    assert_true(found.columns[2].type.precision == 10 && found.columns[2].type.scale == 2);
    assert_true(found.columns[3].leaf == BRUME_LEAF_ZONED);
    assert_true(found.columns[4].type.kind == BRUME_TYPE_TEXT);
    assert_true(found.columns[5].type.kind == BRUME_TYPE_REFUSED);
    assert_false(found.can_fail || found.is_opaque || found.mixes_rows);
    assert_ok(brume_engine_marks(engine, 0, true, &marks, &error));
    assert_int_equal(marks.count, 4);
    for (size_t j = 0; j < 4; j++)
        assert_string_equal(marks.texts[j], expected[j]);
    brume_marks_clear(&marks);
    brume_description_clear(&found);
    brume_engine_close(engine);
}

static void one_folder_is_one_however_it_is_written(void **state)
{
    (void)state;
    static const char *const folders[][2] = {
        {"s3a://Bucket/a/b", "s3://bucket/a/b"},
        {"S3N://bucket/a//b/", "s3://bucket/a/b"},
        {"abfss://c@store/a", "abfs://c@store/a"},
        {"file:"
         "///warehouse/t/",
         "file:/warehouse/t"},
        {"/warehouse/t", "file:/warehouse/t"},
        {"file:/warehouse/t", "file:/warehouse/t"},
        {"hdfs://NN:8020/T", "hdfs://nn:8020/T"},
        {"gs://b", "gs://b"},
        {"s3://bucket/", "s3://bucket"},
        {"", ""},
        {"s3a.old://b/x", "s3a.old://b/x"},
    };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *folder = brume_spark_folder(folders[i][0]);
        assert_string_equal(folder, folders[i][1]);
        free(folder);
    }
}

static void refuse(const brume_source *source, brume_status status, const char *message)
{
    brume_engine *engine = NULL;
    assert_fails(brume_engine_open(source, 1, &engine, &error), status);
    if (!strstr(error.message, message))
        fail_msg("%s", error.message);
    assert_null(strstr(error.message, "secret"));
    assert_null(strstr(error.hint, "secret"));
}

static void what_cannot_be_opened_is_said_without_the_token(void **state)
{
    (void)state;
    brume_source source = {.location = url, .table = "seen", .password = "secret"};
    refuse(&source, BRUME_EUNSUPPORTED, "'seen' is a view");
    source.table = "gone";
    refuse(&source, BRUME_ESOURCE, "no table 'gone'");
    source.table = NULL;
    refuse(&source, BRUME_EARGUMENT, "a Spark source needs a table");
    source.table = "same";
    setenv("FAKE_SPARK_TOKEN", "another secret", 1);
    refuse(&source, BRUME_ESOURCE, "cannot connect to the Spark server");
    setenv("FAKE_SPARK_TOKEN", "secret", 1);
    brume_engine *engine = NULL;
    assert_ok(brume_engine_open(&source, 1, &engine, &error));
    brume_engine_close(engine);
    unsetenv("FAKE_SPARK_TOKEN");
    setenv("FAKE_SPARK_VERSION", "3.5.6 abc", 1);
    refuse(&source, BRUME_EUNSUPPORTED, "older than version 4");
    unsetenv("FAKE_SPARK_VERSION");
    setenv("FAKE_SPARK_COLLATION", "SYSTEM.BUILTIN.UTF8_LCASE SYSTEM.BUILTIN.UTF8_BINARY", 1);
    refuse(&source, BRUME_EUNSUPPORTED, "another collation than UTF8_BINARY");
    unsetenv("FAKE_SPARK_COLLATION");
    source.table = "lake.seen";
    refuse(&source, BRUME_ESOURCE, "no table 'lake.seen'");
    source.table = "same";
    char name[] = "cost", native[] = "decimal(12,2)";
    brume_column recorded = {.name = name, .native = native, .type = {BRUME_TYPE_DECIMAL, 12, 2}};
    source.columns = &recorded;
    source.column_count = 1;
    refuse(&source, BRUME_ESOURCE, "not of the recorded type");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_arrive_with_their_nulls),
        cmocka_unit_test(names_are_quoted_as_spark_takes_them),
        cmocka_unit_test(rows_that_end_early_are_an_error),
        cmocka_unit_test(a_query_that_runs_is_cancelled_and_the_next_one_runs),
        cmocka_unit_test(a_table_is_known_by_its_name_and_its_folder),
        cmocka_unit_test(a_table_of_another_catalog_is_known_in_the_same_way),
        cmocka_unit_test(one_folder_is_one_however_it_is_written),
        cmocka_unit_test(what_cannot_be_opened_is_said_without_the_token),
    };
    return cmocka_run_group_tests_name("ADBC", tests, NULL, NULL);
}
