/* CSV: every short file against a slow and obvious reader; parts cut anywhere; long lines, many
 * lines, nasty bytes; files that change. */
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#include "rows_of.h"

enum { ROOM = 1 << 16, COLUMNS = 3 };

static const brume_reader_column columns[COLUMNS] = {
    {"a", {BRUME_TYPE_TEXT, 0, 0}}, {"b", {BRUME_TYPE_TEXT, 0, 0}}, {"c", {BRUME_TYPE_TEXT, 0, 0}}};
static brume_error error;
static memory_file file;

/* ---- the slow reader ---- */

typedef struct slow_record {
    char fields[COLUMNS][64];
    bool missing[COLUMNS];
} slow_record;

/* Read the record at `at`; the place behind it. */
static size_t slow_read(const char *text, size_t length, size_t at, const brume_text_format *format,
                        slow_record *out)
{
    bool readable = true, more = true;
    for (size_t i = 0; i < COLUMNS; i++)
        out->missing[i] = true;
    for (size_t column = 0; more; column++) {
        char field[64];
        size_t used = 0;
        bool quoted = format->quote && at < length && text[at] == format->quote, open = quoted;
        at += quoted;
        for (;; at++) {
            bool ends = at == length || text[at] == '\n';
            bool last = ends || (text[at] == '\r' && (at + 1 == length || text[at + 1] == '\n'));
            if (open && at < length && text[at] == format->quote) {
                if (at + 1 < length && text[at + 1] == format->quote)
                    at++;
                else {
                    open = false;
                    continue;
                }
            } else if (open && (at == length || (ends && !format->multiline))) {
                readable = more = false;
                at += at < length;
                break;
            } else if (!open && last) {
                more = false;
                at += at < length && text[at] == '\r';
                at += at < length;
                break;
            } else if (!open && text[at] == format->delimiter) {
                at++;
                break;
            } else if (quoted && !open) {
                readable = false;
            }
            field[used++] = text[at];
        }
        if (column < COLUMNS) {
            field[used] = 0;
            strcpy(out->fields[column], field);
            out->missing[column] = !quoted && used == 0;
        }
    }
    for (size_t i = 0; i < COLUMNS && !readable; i++)
        out->missing[i] = true;
    return at;
}

static void slow_rows(const char *text, size_t length, const brume_text_format *format,
                      const size_t *wanted, size_t wanted_count, char *out)
{
    for (size_t at = 0; at < length;) {
        slow_record record;
        at = slow_read(text, length, at, format, &record);
        for (size_t i = 0; i < wanted_count; i++)
            out += sprintf(out, "%s\1", record.missing[wanted[i]] ? "~" : record.fields[wanted[i]]);
        *out++ = 2;
    }
    *out = 0;
}

/* ---- short files ---- */

static void compare(const char *text, size_t length, const brume_text_format *format,
                    const size_t *wanted, size_t wanted_count, size_t part_bytes)
{
    static char expected[ROOM], found[ROOM];
    const char *const paths[] = {file.path};
    brume_text_table table = {.paths = paths,
                              .path_count = 1,
                              .named = "test",
                              .format = *format,
                              .columns = columns,
                              .column_count = COLUMNS,
                              .part_bytes = part_bytes};
    slow_rows(text, length, format, wanted, wanted_count, expected);
    rows_of(&table, wanted, wanted_count, found, ROOM);
    if (strcmp(expected, found) != 0)
        fail_msg("of %zu bytes '%.*s' in parts of %zu, %zu wanted: '%s', expected '%s'", length,
                 (int)length, text, part_bytes, wanted_count, found, expected);
}

/* Every text of up to `most` of these bytes. */
static void every_text(const char *bytes, size_t most, const brume_text_format *format)
{
    static const size_t orders[][COLUMNS] = {{0, 1, 2}, {1}, {2, 0}, {0}};
    static const size_t counts[] = {3, 1, 2, 0};
    size_t base = strlen(bytes), total = 1;
    for (size_t length = 0; length <= most; length++, total *= base)
        for (size_t number = 0; number < total; number++) {
            char text[16];
            for (size_t i = 0, rest = number; i < length; i++, rest /= base)
                text[i] = bytes[rest % base];
            memory_file_write(&file, text, length);
            size_t way = number % 4;
            compare(text, length, format, orders[0], counts[0], 1 + number % 5);
            compare(text, length, format, orders[way], counts[way], 1 + number % (length + 1));
        }
}

static void every_short_file_is_read_by_the_rules(void **state)
{
    (void)state;
    every_text("a,\"\n\r", 6, &(brume_text_format){',', '"', false, false});
    every_text(",\"\n", 8, &(brume_text_format){',', '"', false, false});
    every_text("a;\n", 6, &(brume_text_format){';', 0, false, false});
    every_text("a'\"\n", 6, &(brume_text_format){',', '\'', false, false});
}

static void every_short_file_with_texts_over_lines_is_read_by_the_rules(void **state)
{
    (void)state;
    every_text("a,\"\n\r", 6, &(brume_text_format){',', '"', false, true});
    every_text(",\"\n", 8, &(brume_text_format){',', '"', false, true});
}

/* ---- nasty bytes ---- */

static void bytes_that_are_no_text_are_null_and_nothing_else_is(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
        const char *rows;
    } cases[] = {
        {"a\0b,1\n2,3\n", 10,
         "~\1"
         "1\1~\1\2"
         "2\1"
         "3\1~\1\2"},
        {"\xff,1\n", 4,
         "~\1"
         "1\1~\1\2"},
        {"\"\xff\",1\n", 6,
         "~\1"
         "1\1~\1\2"},
        {"\xc3\xa9,\xed\xa0\x80,x\n", 9, "\xc3\xa9\1~\1x\1\2"},
        {"\xef\xbb\xbf"
         "a,b\n",
         7, "a\1b\1~\1\2"},
        {"\xef\xbb\xbf", 3, "~\1~\1~\1\2"},
        {"\xef\xbb", 2, "~\1~\1~\1\2"},
        /* a mark is dropped wherever its row stands */
        {"a\n\xef\xbb\xbf"
         "b\n",
         7,
         "a\1~\1~\1\2"
         "b\1~\1~\1\2"},
        {"\xef\xbb\xbf\"b\",c\n\xef\xbb\xbf\"b\",c\n", 18,
         "b\1c\1~\1\2"
         "b\1c\1~\1\2"},
        {"a\n\xef\xbb\xbf\n\xef\xbb\n\xef\n", 11,
         "a\1~\1~\1\2"
         "~\1~\1~\1\2"
         "~\1~\1~\1\2"
         "~\1~\1~\1\2"},
    };
    static const size_t all[] = {0, 1, 2};
    const char *const paths[] = {file.path};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t part_bytes = 1; part_bytes < 13; part_bytes++) {
            char found[200];
            bool multiline = part_bytes == 12; /* then files are not cut */
            brume_text_table table = {.paths = paths,
                                      .path_count = 1,
                                      .named = "test",
                                      .format = {',', '"', false, multiline},
                                      .columns = columns,
                                      .column_count = COLUMNS,
                                      .part_bytes = part_bytes};
            memory_file_write(&file, cases[i].text, cases[i].length);
            rows_of(&table, all, COLUMNS, found, sizeof found);
            assert_string_equal(found, cases[i].rows);
        }
}

/* ---- long lines and long files ---- */

typedef struct counted {
    size_t rows, nulls, bytes;
} counted;

static counted count(const char *path, size_t part_bytes, bool multiline)
{
    static brume_text values[BRUME_BATCH_ROWS];
    static uint64_t valid[BRUME_BATCH_ROWS / 64];
    const char *const paths[] = {path};
    brume_text_table table = {.paths = paths,
                              .path_count = 1,
                              .named = "test",
                              .format = {',', '"', false, multiline},
                              .columns = columns,
                              .column_count = COLUMNS,
                              .part_bytes = part_bytes};
    brume_batch_column column = {values, valid};
    brume_row_files *files = NULL;
    counted all = {0};
    assert_ok(brume_text_files_open(&table, &files, &error));
    for (size_t part = 0; part < brume_text_rows.part_count(files); part++) {
        brume_row_part *opened = NULL;
        size_t rows = 1;
        assert_ok(brume_text_rows.part_open(files, part, (size_t[]){1}, 1, &opened, &error));
        while (rows > 0) {
            assert_ok(brume_text_rows.part_next(opened, &column, &rows, &error));
            all.rows += rows;
            for (size_t i = 0; i < rows; i++) {
                bool there = valid[i / 64] >> (i % 64) & 1;
                all.nulls += !there;
                all.bytes += there ? values[i].length : 0;
            }
        }
        brume_text_rows.part_close(opened);
    }
    brume_text_rows.close(files);
    return all;
}

static void a_line_of_40_megabytes_is_a_row(void **state)
{
    (void)state;
    enum { LONG = 40 << 20 };
    char *text = malloc(LONG + 100);
    assert_non_null(text);
    for (int quotes = 0; quotes < 2; quotes++) {
        size_t used = (size_t)sprintf(text, "1,x,%s", quotes ? "\"" : "");
        memset(text + used, ',', LONG); /* many fields, or one */
        used += LONG;
        used += (size_t)sprintf(text + used, "%s\n2,yy\n", quotes ? "\"" : "");
        memory_file_write(&file, text, used);
        for (int multiline = 0; multiline < 2; multiline++) {
            counted all = count(file.path, 0, multiline);
            assert_int_equal(all.rows, 2);
            assert_int_equal(all.nulls, 0);
            assert_int_equal(all.bytes, 3);
        }
    }
    free(text);
}

static void a_line_beyond_the_longest_is_a_row_of_nulls(void **state)
{
    (void)state;
    const off_t longest = 1 << 28;
    static const size_t part_bytes[] = {0, 100000, (1 << 27) + 7, (size_t)1 << 40};
    for (int beyond = 0; beyond <= 1; beyond++) {
        off_t end = 4 + longest + beyond; /* of the line that begins at 4 */
        memory_file_write(&file, "1,x\n2,y,", 8);
        assert_int_equal(ftruncate(file.descriptor, end), 0); /* zeros between */
        assert_true(pwrite(file.descriptor, "\n3,z\n", 5, end - 1) == 5);
        for (size_t i = 0; i < 5; i++) {
            counted all = count(file.path, part_bytes[i % 4], i == 4);
            assert_int_equal(all.rows, 3);
            assert_int_equal(all.nulls, beyond);
            assert_int_equal(all.bytes, 3 - beyond);
        }
    }
    memory_file_write(&file, "", 0);
}

static void many_lines_are_all_there_however_they_are_cut(void **state)
{
    (void)state;
    enum { LINES = 30000 };
    char *text = malloc(LINES * 20);
    size_t used = 0, bytes = 0;
    assert_non_null(text);
    for (int i = 0; i < LINES; i++) {
        used += (size_t)sprintf(text + used, "%d,%s%.*s%s\n", i, i % 3 ? "" : "\"", i % 9,
                                "123456789", i % 3 ? "" : "\"");
        bytes += (size_t)(i % 9);
    }
    memory_file_write(&file, text, used);
    static const size_t sizes[] = {0, 1000, 4096, 99991};
    for (size_t i = 0; i < 4; i++) {
        counted all = count(file.path, sizes[i], false);
        assert_int_equal(all.rows, LINES);
        assert_int_equal(all.bytes, bytes);
    }
    assert_int_equal(count(file.path, 0, true).rows, LINES);
    free(text);
}

/* ---- files that change ---- */

static void a_file_that_shrinks_is_an_error_and_one_that_grows_is_not(void **state)
{
    (void)state;
    const char *const paths[] = {file.path};
    brume_text_table table = {.paths = paths,
                              .path_count = 1,
                              .named = "test",
                              .format = {',', '"', false, false},
                              .columns = columns,
                              .column_count = COLUMNS};
    brume_row_files *files = NULL;
    brume_row_part *part = NULL;
    brume_batch_column none;
    size_t rows = 0;
    memory_file_write(&file, "1,2\n3,4\n", 8);
    assert_ok(brume_text_files_open(&table, &files, &error));
    memory_file_write(&file, "1,2\n3,4\n5,6\n", 12);
    assert_ok(brume_text_rows.part_open(files, 0, NULL, 0, &part, &error));
    assert_ok(brume_text_rows.part_next(part, &none, &rows, &error));
    assert_int_equal(rows, 2); /* as it was when it was opened */
    brume_text_rows.part_close(part);
    memory_file_write(&file, "1,2\n", 4);
    assert_ok(brume_text_rows.part_open(files, 0, NULL, 0, &part, &error));
    brume_status status = BRUME_OK;
    for (rows = 1; status == BRUME_OK && rows > 0;)
        status = brume_text_rows.part_next(part, &none, &rows, &error);
    assert_int_equal(status, BRUME_ESOURCE);
    brume_text_rows.part_close(part);
    brume_text_rows.close(files);
}

static int prepare(void **state)
{
    (void)state;
    memory_file_open(&file);
    return 0;
}

static int tidy(void **state)
{
    (void)state;
    memory_file_close(&file);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_short_file_is_read_by_the_rules),
        cmocka_unit_test(every_short_file_with_texts_over_lines_is_read_by_the_rules),
        cmocka_unit_test(bytes_that_are_no_text_are_null_and_nothing_else_is),
        cmocka_unit_test(a_line_of_40_megabytes_is_a_row),
        cmocka_unit_test(a_line_beyond_the_longest_is_a_row_of_nulls),
        cmocka_unit_test(many_lines_are_all_there_however_they_are_cut),
        cmocka_unit_test(a_file_that_shrinks_is_an_error_and_one_that_grows_is_not),
    };
    return cmocka_run_group_tests_name("csv", tests, prepare, tidy);
}
