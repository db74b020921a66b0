/* A CSV row by row: every odd file reads, every line is a row, and only an unreadable file fails.
 */
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/csv_write.h"
#include "reader/csv_rows.h"

static brume_error error;
static const brume_text_format multiline = {',', '"', true, true};

/* Read the text as a file and give its rows as "field|field;..." with ~ for a missing field. */
static void expect(const char *text, size_t length, const brume_text_format *format, size_t columns,
                   const char *rows)
{
    char path[] = "/tmp/brume-csv-XXXXXX", seen[4096] = "";
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, length) == (ssize_t)length);
    close(file);
    brume_csv *csv = NULL;
    assert_ok(brume_csv_open(path, format, &csv, &error));
    assert_int_equal(brume_csv_columns(csv), columns);
    for (;;) {
        bool more;
        assert_ok(brume_csv_next(csv, &more, &error));
        if (!more)
            break;
        for (size_t i = 0; i < columns; i++) {
            size_t field_length = 0;
            const char *field = brume_csv_field(csv, i, &field_length);
            strcat(seen, i ? "|" : "");
            strcat(seen, field ? field : "~");
            if (field)
                assert_int_equal(strlen(field), field_length);
        }
        strcat(seen, ";");
    }
    brume_csv_close(csv);
    unlink(path);
    assert_string_equal(seen, rows);
}

#define EXPECT(text, columns, rows) expect(text, sizeof(text) - 1, NULL, columns, rows)
#define EXPECT_MULTILINE(text, columns, rows)                                                      \
    expect(text, sizeof(text) - 1, &multiline, columns, rows)

static void odd_files_read_by_the_rules(void **state)
{
    (void)state;
    EXPECT("a,b\n1,2\n3,4\n", 2, "1|2;3|4;");
    EXPECT("a,b\n1,2\n3,4", 2, "1|2;3|4;");
    EXPECT("a,b\r\n1,2\r\n", 2, "1|2;");
    EXPECT("a,b\n1,2\r3,4\r", 2, "1|2\r3;");
    EXPECT("\xef\xbb\xbf"
           "a,b\n1,2\n",
           2, "1|2;");
    EXPECT("a,b\n\"x,\"\"y\"\"\nz\",2\n", 2, "~|~;z\"|2;");
    EXPECT("a,b\nx\"y,\"z\"w\n", 2, "~|~;");
    EXPECT("a,b\nx\"y,\"\"\n", 2, "x\"y|;");
    EXPECT("a,b\n\"never closed,2\n3,4\n", 2, "~|~;3|4;");
    EXPECT("a,b\n1\n1,2,3,4\n,\n\n\n5,6\n", 2, "1|~;1|2;~|~;~|~;~|~;5|6;");
    EXPECT("a,b\n1,\xff\n2,\xc3\xa9\n", 2, "1|~;2|\xc3\xa9;");
    EXPECT(",b\n1,2\n", 2, "1|2;");
    EXPECT_MULTILINE("a,b\n\"x,\"\"y\"\"\nz\",2\n", 2, "x,\"y\"\nz|2;");
    EXPECT_MULTILINE("a,b\n1,2\n\"never closed,2\n3,4\n", 2, "1|2;~|~;");
    EXPECT_MULTILINE("\"a\nb\",c\n\n1,\"\n\"\r\n", 2, "~|~;1|\n;");
    EXPECT("a,b\n", 2, "");
    EXPECT("a,b", 2, "");
    EXPECT("a\n1\n\n2\n", 1, "1;~;2;");
    EXPECT("a\n\n1\n\n\n", 1, "~;1;~;~;");
    EXPECT("a\r\n1\r\n\r\n2\r\n", 1, "1;~;2;");
    EXPECT("a\n1\n\n2", 1, "1;~;2;");
    EXPECT("a\n", 1, "");
}

static void numbers_are_decimals_and_nothing_else(void **state)
{
    (void)state;
    const char text[] =
        "x\n1\n-2.5e3\n .5 \nnan\n0x10\nabc\n1 2\n\"\"\ninf\n-Infinity\n1e999\n12,\n";
    const double expected[] = {1, -2500, .5, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 12};
    char path[] = "/tmp/brume-csv-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, sizeof text - 1) > 0);
    close(file);
    brume_csv *csv = NULL;
    assert_ok(brume_csv_open(path, NULL, &csv, &error));
    for (int i = 0; i < 12; i++) {
        bool more;
        double number = -7;
        assert_ok(brume_csv_next(csv, &more, &error));
        assert_true(more);
        bool is = brume_csv_number(csv, 0, &number);
        assert_int_equal(is, !isnan(expected[i]));
        assert_true(is ? number == expected[i] : number == -7);
    }
    assert_false(brume_csv_number(csv, 9, &(double){0}));
    brume_csv_close(csv);
    unlink(path);
}

static void a_long_field_crosses_the_buffer(void **state)
{
    (void)state;
    enum { LENGTH = 700000 };
    char path[] = "/tmp/brume-csv-XXXXXX", *line = malloc(LENGTH);
    int file = mkstemp(path);
    memset(line, 'y', LENGTH);
    assert_true(file >= 0 && write(file, "key\n", 4) == 4);
    assert_true(write(file, line, LENGTH) == LENGTH);
    close(file);
    brume_csv *csv = NULL;
    bool more;
    size_t length;
    assert_ok(brume_csv_open(path, NULL, &csv, &error));
    assert_ok(brume_csv_next(csv, &more, &error));
    assert_memory_equal(brume_csv_field(csv, 0, &length), line, LENGTH);
    assert_int_equal(length, LENGTH);
    assert_int_equal(brume_csv_column(csv, "key"), 0);
    assert_true(brume_csv_column(csv, "other") == SIZE_MAX);
    brume_csv_close(csv);
    unlink(path);
    free(line);
}

static void a_field_that_is_written_reads_back(void **state)
{
    (void)state;
    static const char *const fields[] = {"plain",      "a,b", "two\nlines", "\"",
                                         "say \"no\"", "\r",  " "};
    enum { FIELDS = sizeof fields / sizeof *fields };
    for (int quoted = 0; quoted < 2; quoted++) {
        char path[] = "/tmp/brume-csv-XXXXXX";
        FILE *file = fdopen(mkstemp(path), "w");
        assert_non_null(file);
        fputs("field,last\n", file);
        for (size_t i = 0; i < FIELDS; i++) {
            (quoted ? brume_csv_write_quoted : brume_csv_write_field)(file, fields[i]);
            fputs(",end\n", file);
        }
        assert_int_equal(fclose(file), 0);
        brume_csv *csv = NULL;
        assert_ok(brume_csv_open(path, &multiline, &csv, &error));
        for (size_t i = 0; i < FIELDS; i++) {
            bool more;
            size_t length;
            assert_ok(brume_csv_next(csv, &more, &error));
            assert_true(more);
            assert_string_equal(brume_csv_field(csv, 0, &length), fields[i]);
            assert_string_equal(brume_csv_field(csv, 1, &length), "end");
        }
        brume_csv_close(csv);
        unlink(path);
    }
}

static void only_an_unreadable_file_fails(void **state)
{
    (void)state;
    brume_csv *csv = NULL;
    assert_fails(brume_csv_open("/nonexistent/file.csv", NULL, &csv, &error), BRUME_ESOURCE);
    assert_fails(brume_csv_open("/tmp", NULL, &csv, &error), BRUME_ESOURCE);
    assert_fails(brume_csv_open("/dev/null", NULL, &csv, &error), BRUME_ESOURCE); /* no header */
    assert_null(csv);
    brume_csv_close(NULL);
}

static void a_pipe_is_read_like_a_file(void **state)
{
    (void)state;
    int ends[2];
    char path[40];
    assert_int_equal(pipe(ends), 0);
    assert_true(write(ends[1], "a,b\n1,2\n", 8) == 8);
    close(ends[1]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    brume_csv *csv = NULL;
    bool more;
    double number = 0;
    assert_ok(brume_csv_open(path, NULL, &csv, &error));
    assert_ok(brume_csv_next(csv, &more, &error));
    assert_true(more && brume_csv_number(csv, 1, &number) && number == 2);
    assert_ok(brume_csv_next(csv, &more, &error));
    assert_false(more);
    brume_csv_close(csv);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_files_read_by_the_rules),
        cmocka_unit_test(numbers_are_decimals_and_nothing_else),
        cmocka_unit_test(a_long_field_crosses_the_buffer),
        cmocka_unit_test(a_field_that_is_written_reads_back),
        cmocka_unit_test(only_an_unreadable_file_fails),
        cmocka_unit_test(a_pipe_is_read_like_a_file),
    };
    return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
