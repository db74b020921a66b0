/* Engines over text files: whatever a line holds, the columns, the other lines and the exit of
 * every query stay what they are. */
#include "check.h"
#include "columns.h"

#include <stdlib.h>
#include <unistd.h>

#include "engine/engine.h"
#include "sources.h"

/* The engine of the source as it was described when its file held `then`; `description` lives as
 * long as the engine. */
static brume_engine *open_recorded(const char *name, const char *then,
                                   brume_description *description)
{
    write_file(name, then);
    brume_engine *engine = open_declared(path_of(name), "who bigint");
    assert_ok(brume_engine_describe(engine, 0, description, &error));
    return engine;
}

static void count_recorded(const char *name, const brume_description *description,
                           const char *where, int64_t *total, size_t *count)
{
    brume_source source = {.location = path_of(name),
                           .options = description->options,
                           .columns = description->columns,
                           .column_count = description->column_count};
    brume_engine *engine = NULL;
    char sql[200];
    assert_ok(brume_engine_open(&source, 1, &engine, &error));
    snprintf(sql, sizeof sql, "SELECT who FROM %s WHERE %s", brume_engine_table(engine, 0), where);
    assert_ok(sum(engine, sql, total, count));
    brume_engine_close(engine);
}

/* A line that cannot be read, or that looks like the beginning of several, is one row. */
static void a_strange_line_takes_no_other_line_with_it(void **state)
{
    (void)state;
    static const char *const lines[] = {"9000,a\rb\n",
                                        "9000,ab\r\n",
                                        "\r9000,ab\n",
                                        "9000,\"a\" b\n",
                                        "9000,\"\"a\n",
                                        "9000,a\"b\n",
                                        "9000,a,b,c\n",
                                        "9000\n",
                                        "\n",
                                        ",\n",
                                        "nobody,ab\n",
                                        "9000,\xff\xfe\n",
                                        "9000,a\\\n",
                                        "9000,'a\n",
                                        "9000,\"the boss\n",
                                        "9000,\"a\"\"b\"\n",
                                        "999,\"5\\\" pipe\",1\n",
                                        "\"n1\"01\"\n"};
    enum { LINES = 2000, ROOM = 40000 };
    brume_description description;
    char *text = malloc(ROOM);
    assert_non_null(text);
    brume_engine_close(open_recorded("strange.csv", "who,note\n1,a\n2,b\n", &description));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        size_t used = (size_t)snprintf(text, ROOM, "who,note\n"), count = 0;
        int64_t total = 0;
        for (int line = 1; line <= LINES; line++)
            used += (size_t)snprintf(text + used, ROOM - used, "%d,note %d\n%s", line, line % 7,
                                     line == LINES / 2 ? lines[i] : "");
        assert_holds(used < ROOM);
        write_file("strange.csv", text);
        count_recorded("strange.csv", &description, "note LIKE 'note _'", &total, &count);
        assert_int_equal(count, LINES);
        assert_int_equal(total, (int64_t)LINES * (LINES + 1) / 2);
        count_recorded("strange.csv", &description, "true", &total, &count);
        assert_int_equal(count, LINES + 1);
    }
    free(text);
    brume_description_clear(&description);
}

static void quotes_do_not_reach_over_lines_unless_that_is_declared(void **state)
{
    (void)state;
    enum { ROWS = 60000 }; /* about 12 MB: several parts */
    declared_columns read;
    columns_read("who bigint, x bigint", &read);
    for (int multiline = 0; multiline <= 1; multiline++) {
        brume_source source = columns_source(path_of("lines.csv"), &read);
        source.options = multiline ? "{\"delimiter\":\",\",\"quote\":\"\\\"\",\"header\":true,"
                                     "\"multiline\":true}"
                                   : NULL;
        FILE *file = fopen(source.location, "w");
        assert_non_null(file);
        fputs("who,x,note\n", file);
        for (int i = 1; i <= ROWS; i++)
            fprintf(file, "%d,1,\"several, \"\"quoted\"\"\n%d,2,lines\n7,3,x\n%0150d\"\n", i, i, i);
        fclose(file);
        int64_t total = 0;
        size_t count = 0;
        brume_engine *engine = NULL;
        assert_ok(brume_engine_open(&source, 1, &engine, &error));
        assert_ok(sum(engine, "SELECT who FROM memory.main.source_0 WHERE x = 1", &total, &count));
        assert_int_equal(count, multiline ? ROWS : 0); /* an open quote makes NULLs of a line */
        assert_ok(sum(engine, "SELECT who FROM memory.main.source_0 WHERE x = 2", &total, &count));
        assert_int_equal(count, multiline ? 0 : ROWS);
        assert_ok(sum(engine, "SELECT x FROM memory.main.source_0", &total, &count));
        assert_int_equal(count, multiline ? ROWS : 4 * ROWS);
        brume_engine_close(engine);
    }
    unlink(path_of("lines.csv"));
}

/* Whatever one record holds, the columns and their types are the declared ones. */
static void no_row_changes_the_columns(void **state)
{
    (void)state;
    static const char *const lines[] = {"", "abc,30/12/2020\n", "2020-01-02,1.5\n", "\"\n",
                                        ";;;;\n"};
    static const char *const records[] = {"", "{\"hiv_status\":true}\n", "{\"who\":\"x\"}\n", "[\n",
                                          "{\"who\":{\"a\":1}}\n"};
    for (size_t i = 0; i < 5; i++) {
        char text[200];
        brume_description found;
        snprintf(text, sizeof text, "who,day\n1,2020-01-02\n%s2,2020-01-03\n", lines[i]);
        write_file("schema.csv", text);
        brume_engine *engine = open_declared(path_of("schema.csv"), "who integer");
        assert_ok(brume_engine_describe(engine, 0, &found, &error));
        assert_int_equal(found.column_count, 2);
        assert_string_equal(found.columns[0].native, "integer");
        assert_string_equal(found.columns[1].native, "text");
        brume_description_clear(&found);
        brume_engine_close(engine);
        snprintf(text, sizeof text, "{\"who\":1}\n%s{\"who\":2}\n", records[i]);
        write_file("schema.json", text);
        engine = open_declared(path_of("schema.json"), "who bigint");
        assert_ok(brume_engine_describe(engine, 0, &found, &error));
        assert_int_equal(found.column_count, 1);
        assert_string_equal(found.columns[0].native, "bigint");
        brume_description_clear(&found);
        int64_t total;
        size_t count;
        assert_ok(sum(engine, "SELECT who FROM memory.main.source_0", &total, &count));
        assert_int_equal(total, 3);
        assert_int_equal(count, i ? 3 : 2);
        brume_engine_close(engine);
    }
}

/* A broken line hides no other line, and a long one fails no query. */
static void a_broken_or_long_json_line_is_one_row(void **state)
{
    (void)state;
    enum { PEOPLE = 100, BROKEN = 40, LONG = 40 << 20 };
    FILE *file = fopen(path_of("broken.json"), "w");
    assert_non_null(file);
    for (int i = 1; i <= PEOPLE; i++)
        fprintf(file, "{\"id\":%d,\"name\":\"n\"}\n%s", i,
                i <= BROKEN ? "{\"id\":101,\"name\":\n" : "");
    fputs("{\"id\":5,\"name\":\"", file);
    for (int i = 0; i < LONG; i += 64)
        fprintf(file, "%064d", 7);
    fputs("\"}\n{\"id\":6}\n", file);
    fclose(file);
    brume_engine *engine = open_declared(path_of("broken.json"), "id bigint, name text");
    int64_t total;
    size_t count;
    assert_ok(
        sum(engine, "SELECT id FROM memory.main.source_0 WHERE id IS NOT NULL", &total, &count));
    assert_int_equal(count, PEOPLE + 2);
    assert_int_equal(total, PEOPLE * (PEOPLE + 1) / 2 + 11);
    assert_ok(sum(engine, "SELECT max(length(name)) FROM memory.main.source_0", &total, &count));
    assert_int_equal(total, 1); /* longer than a text may be: NULL */
    brume_engine_close(engine);
    unlink(path_of("broken.json"));
}

/* Values of every type come through, and whatever does not fit is NULL. */
static void values_of_every_type_are_read_and_bad_ones_are_null(void **state)
{
    (void)state;
    static const char declared[] =
        "b boolean, i integer, l bigint, d3 decimal(3,1), d9 "
        "decimal(9,2), d18 decimal(18,4), d38 decimal(38,3), r double, t "
        "text, u text, y date, s timestamp";
    static const char *const checks[] = {
        "b = true",
        "i = -2147483648",
        "l = 9223372036854775807",
        "d3 = -99.9",
        "d9 = 1234567.89",
        "d18 = -12345678901234.5678",
        "d38 = 12345678901234567890123456789012345.678",
        "r = 2.5e-7",
        "t = 'twelve bytes'",
        "u = 'more than twelve bytes, and a \"quote\"'",
        "y = DATE '2024-02-29'",
        "s = TIMESTAMP '2024-02-29 11:30:15.123456'",
    };
    write_file("types.csv",
               "b,i,l,d3,d9,d18,d38,r,t,u,y,s\n"
               "YES,-2147483648,9223372036854775807,-99.86,1234567.885,-12345678901234.56780,"
               "12345678901234567890123456789012345.678,2.5e-7,twelve bytes,\"more than twelve "
               "bytes, and a \"\"quote\"\"\",2024-02-29,2024-02-29T12:30:15.1234569+01:00\n"
               "maybe,2147483648,9223372036854775808,99.95,9999999.995,99999999999999.99995,"
               "999999999999999999999999999999999999,1e150,\xff,\xed\xa0\x80,2023-02-29,"
               "290309-12-22 00:00:00\n"
               "\n");
    write_file("types.json",
               "{\"b\":true,\"i\":-2147483648,\"l\":\"9223372036854775807\",\"d3\":-99.86,\"d9\":"
               "1234567.885,\"d18\":-12345678901234.56780,\"d38\":"
               "12345678901234567890123456789012345.678,\"r\":2.5e-7,\"t\":\"twelve bytes\",\"u\":"
               "\"more than twelve bytes, and a \\\"quote\\\"\",\"y\":\"2024-02-29\",\"s\":"
               "\"2024-02-29 11:30:15.123456Z\"}\n"
               "{\"b\":2,\"i\":2147483648,\"l\":1e30,\"d3\":[],\"d9\":{},\"d18\":null,\"d38\":1e39,"
               "\"r\":1e999,\"t\":\"\xff\",\"u\":\"\\ud800\",\"y\":20240229,\"s\":\"soon\"}\n"
               "[\n");
    for (int json = 0; json < 2; json++) {
        brume_engine *engine = open_declared(path_of(json ? "types.json" : "types.csv"), declared);
        for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
            char sql[300];
            int64_t total;
            size_t count;
            snprintf(sql, sizeof sql,
                     "SELECT CAST(%s AS BIGINT) FROM memory.main.source_0 WHERE %.*s IS NOT NULL",
                     checks[i], (int)strcspn(checks[i], " "), checks[i]);
            assert_ok(sum(engine, sql, &total, &count));
            if (count != 1 || total != 1)
                fail_msg("%s: %zu rows, %d of them", checks[i], count, (int)total);
            assert_ok(sum(engine, "SELECT count(*) FROM memory.main.source_0", &total, &count));
            assert_int_equal(total, 3);
        }
        brume_engine_close(engine);
    }
}

/* DuckDB has no place to write rows to. */
static void nothing_is_spilled_to_disk(void **state)
{
    (void)state;
    write_file("small.csv", "a\n1\n");
    brume_engine *engine = open_declared(path_of("small.csv"), NULL);
    int64_t total;
    size_t count;
    assert_ok(sum(engine, "SELECT length(current_setting('temp_directory'))", &total, &count));
    assert_int_equal(total, 0);
    brume_engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_strange_line_takes_no_other_line_with_it),
        cmocka_unit_test(quotes_do_not_reach_over_lines_unless_that_is_declared),
        cmocka_unit_test(no_row_changes_the_columns),
        cmocka_unit_test(a_broken_or_long_json_line_is_one_row),
        cmocka_unit_test(values_of_every_type_are_read_and_bad_ones_are_null),
        cmocka_unit_test(nothing_is_spilled_to_disk),
    };
    return cmocka_run_group_tests_name("text files", tests, make_folder, remove_folder);
}
