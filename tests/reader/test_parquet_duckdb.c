/* What DuckDB writes as Parquet is read as DuckDB itself reads it, value for value: every type that
 * it has, every codec, both versions of its encodings, values that repeat, that run, and that do
 * neither, and more rows than a batch, a page and a row group hold. */
#include <stdlib.h>
#include <unistd.h>

#include <duckdb.h>

#include "check.h"
#include "parquet_text.h"

static duckdb_database database;
static duckdb_connection connection;
static char path[] = "/tmp/brume-parquet-XXXXXX";

static int open_duckdb(void **state)
{
    (void)state;
    int file = mkstemp(path);
    if (file >= 0)
        close(file);
    return file < 0 || duckdb_open(NULL, &database) != DuckDBSuccess ||
           duckdb_connect(database, &connection) != DuckDBSuccess;
}

static int close_duckdb(void **state)
{
    (void)state;
    duckdb_disconnect(&connection);
    duckdb_close(&database);
    return unlink(path);
}

/* A column: what is written for row i, where h is a number drawn from i, and how its text is made
 * in SQL of what DuckDB reads. */
typedef struct column {
    const char *value, *text;
} column;

static const column columns[] = {
    {"h % 3 = 0", "%s"},
    {"(i // 700) % 2 = 0", "%s"},
    {"(h % 256 - 128)::TINYINT", "%s"},
    {"(h % 65536 - 32768)::SMALLINT", "%s"},
    {"(h % 1000003 - 500000)::INTEGER", "%s"},
    {"(i * 17 + h % 5)::BIGINT", "%s"},
    {"(h::HUGEINT * 4294967296 - 9223372036854775808)::BIGINT", "%s"},
    {"(h % 256)::UTINYINT", "%s"},
    {"(h % 65536)::USMALLINT", "%s"},
    {"h::UINTEGER", "%s"},
    {"(h::UHUGEINT * 4294967297)::UBIGINT", "%s"},
    {"(h % 100 / 7)::FLOAT", "printf('%%.17g', %s::DOUBLE)"},
    {"sqrt(h) - 30000", "printf('%%.17g', %s)"},
    {"(h % 9999 / 10)::DECIMAL(4, 1)", "%s"},
    {"(h % 99999 / 1000)::DECIMAL(9, 3)", "%s"},
    {"(h / 100 - 10000000)::DECIMAL(18, 2)", "%s"},
    {"(h::HUGEINT * 7922816251426433759354395033)::DECIMAL(38, 0)", "%s"},
    {"'town ' || h % 5", "%s"},
    {"repeat('é', (h % 40)::INTEGER) || h", "%s"},
    {"chr((97 + i // 3000 % 3)::INTEGER)", "%s"},
    {"DATE '1970-01-01' + (h % 2000000 - 700000)::INTEGER", "(%s - DATE '1970-01-01')"},
    {"make_timestamp(h * 50000000 - 50000000000000000)", "epoch_us(%s)"},
    {"make_timestamp(h * 1000)::TIMESTAMP_MS", "epoch_us(%s::TIMESTAMP)"},
    {"make_timestamp_ns(h * 1234567890)", "(epoch_ns(%s) // 1000)"},
    {"make_timestamp(h * 777)::TIMESTAMPTZ", "epoch_us(%s)"},
    {"md5(h::VARCHAR)::UUID", "%s"},
    {"['red', 'green', 'blue'][1 + h % 3]::ENUM('red', 'green', 'blue')", "%s"},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* Where NULLs are, by turns: nowhere, here and there, in runs, everywhere. */
static const char *const nulls[] = {"false", "(h // 7) % 4 = 0", "(i // 300) % 3 = 1", "true"};

static void run(const char *sql)
{
    duckdb_result result;
    if (duckdb_query(connection, sql, &result) != DuckDBSuccess)
        fail_msg("%s", duckdb_result_error(&result));
    duckdb_destroy_result(&result);
}

static void write_file(size_t rows, size_t turn, const char *options)
{
    char *sql = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&sql, &length);
    fputs("COPY (SELECT ", out);
    for (size_t i = 0; i < COLUMNS; i++) {
        /* All NULL only now and then, and the first column never. */
        size_t which = i == 0 ? 0 : (i + turn) % 7 == 3 ? 3 : (i + turn) % 3;
        fprintf(out, "%sCASE WHEN NOT (%s) THEN %s END AS c%zu", i ? ", " : "", nulls[which],
                columns[i].value, i);
    }
    fprintf(out,
            " FROM (SELECT i, (hash(i + %zu) %% 4294967296)::BIGINT AS h FROM range(%zu) t(i))) TO "
            "'%s' (FORMAT parquet%s)",
            turn, rows, path, options);
    fclose(out);
    run(sql);
    free(sql);
}

static char *text_by_duckdb(void)
{
    char *sql = NULL, *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&sql, &length);
    fputs("SELECT concat_ws(chr(9)", out);
    for (size_t i = 0; i < COLUMNS; i++) {
        char name[16], value[100];
        snprintf(name, sizeof name, "c%zu", i);
        snprintf(value, sizeof value, columns[i].text, name);
        fprintf(out, ", coalesce(%s::VARCHAR, '\\N')", value);
    }
    fprintf(out, ") FROM read_parquet('%s')", path);
    fclose(out);
    duckdb_result result;
    if (duckdb_query(connection, sql, &result) != DuckDBSuccess)
        fail_msg("%s", duckdb_result_error(&result));
    out = open_memstream(&text, &length);
    for (duckdb_data_chunk chunk; (chunk = duckdb_fetch_chunk(result));) {
        duckdb_string_t *lines = duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0));
        for (idx_t i = 0; i < duckdb_data_chunk_get_size(chunk); i++)
            fprintf(out, "%.*s\n", (int)duckdb_string_t_length(lines[i]),
                    duckdb_string_t_data(&lines[i]));
        duckdb_destroy_data_chunk(&chunk);
    }
    fclose(out);
    duckdb_destroy_result(&result);
    free(sql);
    return text;
}

static void assert_same_lines(const char *options, const char *actual, const char *expected)
{
    for (size_t line = 1; *actual || *expected; line++) {
        size_t a = strcspn(actual, "\n"), b = strcspn(expected, "\n");
        if (a != b || memcmp(actual, expected, a) != 0)
            fail_msg("%s, line %zu: '%.*s', expected '%.*s'", options, line, (int)a, actual, (int)b,
                     expected);
        actual += a + (actual[a] == '\n');
        expected += b + (expected[b] == '\n');
    }
}

static void check(size_t rows, size_t turn, const char *options)
{
    brume_error error = {0};
    const char *paths[] = {path};
    char *text = NULL;
    size_t length = 0;
    write_file(rows, turn, options);
    char *expected = text_by_duckdb();
    assert_ok(parquet_text(paths, 1, &text, &length, &error));
    assert_same_lines(options, text, expected);
    free(text);
    free(expected);
}

static void every_codec_and_version_is_read_as_by_duckdb(void **state)
{
    (void)state;
    static const char *const codecs[] = {"snappy", "zstd",    "gzip",
                                         "brotli", "lz4_raw", "uncompressed"};
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        for (size_t version = 1; version <= 2; version++) {
            char options[100];
            snprintf(options, sizeof options, ", codec %s, parquet_version v%zu", codecs[i],
                     version);
            check(2500, 2 * i + version, options);
        }
}

static void many_rows_and_row_groups_are_read_as_by_duckdb(void **state)
{
    (void)state;
    check(0, 1, "");
    check(1, 2, "");
    check(2048, 3, "");
    check(2049, 4, "");
    check(9000, 5, ", row_group_size 4096, parquet_version v2");
    check(124000, 6, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_codec_and_version_is_read_as_by_duckdb),
        cmocka_unit_test(many_rows_and_row_groups_are_read_as_by_duckdb),
    };
    return cmocka_run_group_tests(tests, open_duckdb, close_duckdb);
}
