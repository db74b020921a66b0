/* Parquet files of every encoding, compression, type and pattern of NULLs are read value for value,
 * and what is no value is NULL. data/make_parquet.py wrote the files, and what is expected;
 * parquet_writers.py those that are named after a writer, with row groups, columns and tables
 * without anything in them. */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "parquet_text.h"
#include "reader/parquet/codec.h"

static char *read_whole(const char *path, size_t *length)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *bytes = calloc(1, *length + 1);
    assert_int_equal(fread(bytes, 1, *length, file), *length);
    fclose(file);
    return bytes;
}

static void write_whole(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void path_of(char path[300], const char *name, const char *ending)
{
    snprintf(path, 300, "%s/%s%s", READER_DATA, name, ending);
}

static char *columns_of(const char *path)
{
    brume_error error = {0};
    brume_row_files *files = NULL;
    assert_ok(brume_parquet_open(path, &path, 1, &files, &error));
    char *text = parquet_columns_text(files);
    brume_parquet_format.close(files);
    return text;
}

/* Compare line by line, so that a failure says where. */
static void assert_lines(const char *name, const char *actual, const char *expected)
{
    for (size_t line = 1; *actual || *expected; line++) {
        size_t a = strcspn(actual, "\n"), b = strcspn(expected, "\n");
        if (a != b || memcmp(actual, expected, a) != 0)
            fail_msg("%s, line %zu: '%.*s', expected '%.*s'", name, line, (int)a, actual, (int)b,
                     expected);
        actual += a + (actual[a] == '\n');
        expected += b + (expected[b] == '\n');
    }
}

static void check_fixture(const char *name)
{
    char path[300], expected_path[300];
    size_t length = 0, expected_length = 0;
    char *text = NULL;
    brume_error error = {0};
    path_of(path, name, ".parquet");
    path_of(expected_path, name, ".expected");
    const char *paths[] = {path};
    char *expected = read_whole(expected_path, &expected_length);
    char *rows = strstr(expected, "\n\n");
    assert_non_null(rows);
    rows[1] = 0;
    char *columns = columns_of(path);
    assert_lines(name, columns, expected);
    assert_ok(parquet_text(paths, 1, &text, &length, &error));
    assert_int_equal(strlen(text), length);
    assert_lines(name, text, rows + 2);
    free(columns);
    free(text);
    free(expected);
}

static void every_fixture_is_read_as_expected(void **state)
{
    (void)state;
    size_t count = 0;
    DIR *folder = opendir(READER_DATA);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        const char *ending = strstr(entry->d_name, ".parquet");
        if (!ending)
            continue;
        char name[100];
        snprintf(name, sizeof name, "%.*s", (int)(ending - entry->d_name), entry->d_name);
        check_fixture(name);
        count++;
    }
    closedir(folder);
    assert_int_equal(count, 36);
}

/* ---- parts ---- */

static void rows_are_counted_without_columns(void **state)
{
    (void)state;
    brume_error error = {0};
    char path[300];
    path_of(path, "batches_0", ".parquet");
    const char *paths[] = {path, path};
    brume_row_files *files = NULL;
    size_t total = 0;
    assert_ok(brume_parquet_open(path, paths, 2, &files, &error));
    assert_int_equal(brume_parquet_format.part_count(files), 4);
    for (size_t i = 0; i < 4; i++) {
        brume_row_part *part = NULL;
        size_t rows = 1;
        assert_ok(brume_parquet_format.part_open(files, i, NULL, 0, &part, &error));
        for (; rows > 0; total += rows)
            assert_ok(brume_parquet_format.part_next(part, NULL, &rows, &error));
        brume_parquet_format.part_close(part);
    }
    assert_int_equal(total, 9000);
    brume_parquet_format.close(files);
}

/* ---- several files ---- */

static void files_of_other_columns_are_refused(void **state)
{
    (void)state;
    brume_error error = {0};
    char first[300], second[300];
    path_of(first, "zstd_v1", ".parquet");
    path_of(second, "plain_v1", ".parquet");
    const char *paths[] = {first, second};
    brume_row_files *files = NULL;
    assert_fails(brume_parquet_open("x*.parquet", paths, 2, &files, &error), BRUME_ESOURCE);
    assert_string_equal(error.message, "the files of 'x*.parquet' have different columns");
    assert_null(files);
}

static void files_of_the_same_columns_follow_each_other(void **state)
{
    (void)state;
    brume_error error = {0};
    char first[300], second[300], *one = NULL, *two = NULL, *both = NULL;
    size_t length = 0;
    path_of(first, "zstd_v1", ".parquet");
    path_of(second, "gzip_v2", ".parquet");
    const char *paths[] = {first, second};
    assert_ok(parquet_text(paths, 1, &one, &length, &error));
    assert_ok(parquet_text(paths + 1, 1, &two, &length, &error));
    assert_ok(parquet_text(paths, 2, &both, &length, &error));
    char *joined = NULL;
    assert_true(asprintf(&joined, "%s%s", one, two) > 0);
    assert_lines("both", both, joined);
    free(one);
    free(two);
    free(both);
    free(joined);
}

/* ---- damage ---- */

/* Reading may fail or not; it fails with ESOURCE, and touches nothing that is not its own (memory
 * checkers see that). */
static void check_damaged(const char *path, size_t *failed)
{
    brume_error error = {0};
    char *text = NULL;
    size_t length = 0;
    brume_status status = parquet_text(&path, 1, &text, &length, &error);
    if (status == BRUME_OK) {
        free(text);
        return;
    }
    ++*failed;
    if (status != BRUME_ESOURCE && status != BRUME_EUNSUPPORTED)
        fail_msg("%s: %s", brume_status_word(status), error.message);
}

static void damage_is_found_or_harmless(void **state)
{
    (void)state;
    static const char *const names[] = {"none_v1", "snappy_v2", "old", "misfits", "nested"};
    char path[300], damaged[] = "/tmp/brume-parquet-XXXXXX";
    int file = mkstemp(damaged);
    assert_true(file >= 0);
    close(file);
    size_t failed = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = 0;
        path_of(path, names[i], ".parquet");
        char *bytes = read_whole(path, &length);
        for (size_t at = 0; at < length; at += 7) {
            char kept = bytes[at];
            bytes[at] = (char)(kept ^ (char)(1 << at % 8));
            write_whole(damaged, bytes, length);
            bytes[at] = kept;
            check_damaged(damaged, &failed);
        }
        for (size_t cut = 0; cut < length; cut += 97) {
            write_whole(damaged, bytes, cut);
            size_t before = failed;
            check_damaged(damaged, &failed);
            assert_int_equal(failed, before + 1);
        }
        free(bytes);
    }
    unlink(damaged);
    assert_true(failed > 100);
}

static void a_file_that_changes_is_noticed(void **state)
{
    (void)state;
    brume_error error = {0};
    char path[300], copy[] = "/tmp/brume-parquet-XXXXXX";
    const char *paths[] = {copy};
    size_t length = 0;
    int file = mkstemp(copy);
    assert_true(file >= 0);
    close(file);
    path_of(path, "zstd_v1", ".parquet");
    char *bytes = read_whole(path, &length);
    brume_row_files *files = NULL;
    brume_row_part *part = NULL;
    write_whole(copy, bytes, length);
    assert_ok(brume_parquet_open("f", paths, 1, &files, &error));
    write_whole(copy, bytes, length - 1);
    assert_fails(brume_parquet_format.part_open(files, 0, NULL, 0, &part, &error), BRUME_ESOURCE);
    assert_string_equal(error.message, "'f' was changed while it was read");
    unlink(copy);
    assert_fails(brume_parquet_format.part_open(files, 0, NULL, 0, &part, &error), BRUME_ESOURCE);
    assert_string_equal(error.message, "the file 'f' is gone or may not be read any more");
    brume_parquet_format.close(files);
    free(bytes);
}

static void codecs_that_are_not_read_are_named(void **state)
{
    (void)state;
    brume_error error = {0};
    assert_fails(brume_parquet_codec_check(PARQUET_LZO, "f.parquet", &error), BRUME_EUNSUPPORTED);
    assert_non_null(strstr(error.message, "LZO"));
    assert_fails(brume_parquet_codec_check(8, "f.parquet", &error), BRUME_EUNSUPPORTED);
    assert_fails(brume_parquet_codec_check(-1, "f.parquet", &error), BRUME_EUNSUPPORTED);
    assert_ok(brume_parquet_codec_check(PARQUET_LZ4, "f.parquet", &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fixture_is_read_as_expected),
        cmocka_unit_test(rows_are_counted_without_columns),
        cmocka_unit_test(files_of_other_columns_are_refused),
        cmocka_unit_test(files_of_the_same_columns_follow_each_other),
        cmocka_unit_test(damage_is_found_or_harmless),
        cmocka_unit_test(a_file_that_changes_is_noticed),
        cmocka_unit_test(codecs_that_are_not_read_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
