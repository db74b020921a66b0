/* Rows as an Arrow stream (src/session/arrow_stream.h), read by hand and by DuckDB. */
#include <stdlib.h>

#include <duckdb.h>

#include "check.h"
#include "fixture.h"
#include "session/arrow_stream.h"

enum { COLUMNS = 6, ROWS = 11 };

/* Keys of text, booleans, whole and other numbers, a mixture, nothing; some NULLs in each. */
static brume_query_answer *make_answer(size_t rows)
{
    static const char *const names[] = {"key", "flag", "whole", "real", "mixed", "nothing"};
    brume_error error = {0};
    brume_query_answer *answer = NULL;
    assert_ok(brume_query_answer_open(COLUMNS, rows, &answer, &error));
    for (size_t c = 0; c < COLUMNS; c++) {
        free(answer->columns[c].name);
        answer->columns[c].name = strdup(names[c]);
        answer->columns[c].is_key = c == 0;
        answer->columns[c].error_95 = c == 2 ? 12.5 : NAN;
    }
    for (size_t r = 0; r < rows; r++) {
        char text[32];
        snprintf(text, sizeof text, "größe %zu", r);
        const brume_value values[COLUMNS] = {
            {.kind = BRUME_VALUE_TEXT, .text = text, .length = strlen(text)},
            {.kind = BRUME_VALUE_BOOLEAN, .boolean = r % 3 == 0},
            {.kind = BRUME_VALUE_NUMBER, .number = 7 - (double)r},
            {.kind = BRUME_VALUE_NUMBER, .number = (double)r / 4},
            {.kind = r % 2 ? BRUME_VALUE_NUMBER : BRUME_VALUE_TEXT,
             .number = (double)r,
             .text = r % 2 ? NULL : "x",
             .length = !(r % 2)},
            {.kind = BRUME_VALUE_NULL}};
        for (size_t c = 0; c < COLUMNS; c++)
            if (r != 4)
                assert_ok(brume_query_answer_set(answer, r, c, &values[c], &error));
    }
    return answer;
}

static struct ArrowArrayStream open_stream(size_t rows)
{
    brume_error error = {0};
    struct ArrowArrayStream stream = {0};
    brume_query_answer *answer = make_answer(rows);
    assert_ok(brume_arrow_stream(answer, &stream, &error));
    brume_query_answer_close(answer); /* the stream has all it needs */
    return stream;
}

static void types_and_metadata_are_those_of_the_columns(void **state)
{
    (void)state;
    static const char *const formats[] = {"u", "b", "l", "g", "u", "g"};
    struct ArrowArrayStream stream = open_stream(ROWS);
    struct ArrowSchema schema = {0}, again = {0};
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_int_equal(stream.get_schema(&stream, &again), 0);
    stream.release(&stream);
    assert_null(stream.release);
    assert_string_equal(schema.format, "+s");
    assert_int_equal(schema.n_children, COLUMNS);
    for (int i = 0; i < COLUMNS; i++) {
        assert_string_equal(schema.children[i]->format, formats[i]);
        assert_int_equal(schema.children[i]->flags, ARROW_FLAG_NULLABLE);
    }
    static const char key[] = "\1\0\0\0\4\0\0\0role\3\0\0\0key";
    assert_memory_equal(schema.children[0]->metadata, key, sizeof key - 1);
    static const char whole[] = "\2\0\0\0\4\0\0\0role\5\0\0\0value\10\0\0\0error_95\4\0\0\0"
                                "12.5";
    assert_memory_equal(schema.children[2]->metadata, whole, sizeof whole - 1);
    /* a child that was moved out lives longer than its parent */
    struct ArrowSchema moved = *schema.children[2];
    schema.children[2]->release = NULL;
    schema.release(&schema);
    assert_null(schema.release);
    assert_string_equal(moved.name, "whole");
    moved.release(&moved);
    again.release(&again);
}

static void the_batch_has_the_values_and_then_the_stream_ends(void **state)
{
    (void)state;
    struct ArrowArrayStream stream = open_stream(ROWS);
    struct ArrowArray batch = {0}, end = {0};
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(stream.get_next(&stream, &end), 0);
    assert_null(end.release);
    stream.release(&stream);
    assert_int_equal(batch.length, ROWS);
    const struct ArrowArray *texts = batch.children[0], *whole = batch.children[2];
    const int32_t *offsets = texts->buffers[1];
    assert_int_equal(texts->null_count, 1);
    assert_int_equal(offsets[0], 0);
    assert_int_equal(offsets[4], offsets[5]); /* NULL is empty */
    assert_memory_equal((const char *)texts->buffers[2] + offsets[10], "größe 10", 10);
    assert_int_equal(((const int64_t *)whole->buffers[1])[9], -2);
    assert_int_equal(((const uint8_t *)whole->buffers[0])[0], 0xef); /* all but the fifth */
    assert_int_equal(batch.children[5]->null_count, ROWS);
    struct ArrowArray moved = *batch.children[0];
    batch.children[0]->release = NULL;
    batch.release(&batch);
    assert_memory_equal(moved.buffers[2], "größe 0", 9);
    moved.release(&moved);
}

/* Somebody else's reader. duckdb_arrow_scan of DuckDB 1.4.4 releases the rows and never the schema
 * it asked for (valgrind shows the calls of get_schema), which a sanitizer reports: these tests are
 * run without one only. */
#if !defined(__SANITIZE_ADDRESS__)

static char *read_with_duckdb(struct ArrowArrayStream *stream, const char *sql)
{
    duckdb_database database;
    duckdb_connection connection;
    duckdb_result result;
    assert_int_equal(duckdb_open(NULL, &database), DuckDBSuccess);
    assert_int_equal(duckdb_connect(database, &connection), DuckDBSuccess);
    assert_int_equal(duckdb_arrow_scan(connection, "answer", (duckdb_arrow_stream)stream),
                     DuckDBSuccess);
    if (duckdb_query(connection, sql, &result) != DuckDBSuccess)
        fail_msg("%s", duckdb_result_error(&result));
    char *owned = duckdb_value_varchar(&result, 0, 0), *text = strdup(owned);
    duckdb_free(owned);
    duckdb_destroy_result(&result);
    duckdb_disconnect(&connection);
    duckdb_close(&database);
    return text;
}

static void duckdb_reads_the_same_rows(void **state)
{
    (void)state;
    struct ArrowArrayStream stream = open_stream(ROWS);
    char *text = read_with_duckdb(
        &stream, "SELECT concat_ws(' ', count(*), sum(whole), sum(real), count(*) FILTER (flag), "
                 "max(key), min(mixed), count(nothing)) FROM answer");
    assert_string_equal(text, "11 19 12.75 4 größe 9 1 0");
    free(text);
    if (stream.release)
        stream.release(&stream);
}

static void an_answer_without_rows_is_a_stream_too(void **state)
{
    (void)state;
    struct ArrowArrayStream stream = open_stream(0);
    char *text = read_with_duckdb(&stream, "SELECT CAST(count(*) AS VARCHAR) FROM answer");
    assert_string_equal(text, "0");
    free(text);
    if (stream.release)
        stream.release(&stream);
}

static void a_query_gives_rows_and_json_of_one_answer(void **state)
{
    (void)state;
    fixture all;
    brume_error error = {0};
    struct ArrowArrayStream rows = {0};
    char *json = NULL;
    fixture_open(&all, 300, "1");
    assert_ok(brume_session_query(all.session,
                                  "SELECT town, COUNT(*) AS n FROM people GROUP BY town",
                                  "{\"epsilon\": 0.1}", &rows, &json, &error));
    fixture_close(&all); /* the rows outlive the session */
    char *text = read_with_duckdb(
        &rows, "SELECT '\"rows\": [' || string_agg('[\"' || town || '\", ' || n || ']', ', ') || "
               "']' FROM answer");
    assert_non_null(strstr(json, text));
    free(text);
    brume_free(json);
    if (rows.release)
        rows.release(&rows);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_and_metadata_are_those_of_the_columns),
        cmocka_unit_test(the_batch_has_the_values_and_then_the_stream_ends),
#if !defined(__SANITIZE_ADDRESS__)
        cmocka_unit_test(duckdb_reads_the_same_rows),
        cmocka_unit_test(an_answer_without_rows_is_a_stream_too),
        cmocka_unit_test(a_query_gives_rows_and_json_of_one_answer),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
