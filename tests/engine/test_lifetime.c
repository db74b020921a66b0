/* Texts of a reader are valid until its next call only, and DuckDB gets pointers to them: nothing
 * that DuckDB keeps longer may point there. The reader of this test overwrites a batch's texts as
 * soon as it is called again, and never uses their memory again; every query must answer as it does
 * over a table that DuckDB itself made. The text of a NULL is nowhere, and is not looked at. */
#include "check.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/error.h"
#include "engine/duckdb_reader.h"
#include "engine/libduckdb.h"

enum { ROWS = 8000, PARTS = 8, PART_ROWS = ROWS / PARTS, MOST_BATCH = 97, TEXT_ROOM = 48 };

static brume_error error;

/* ---- the reader ---- */

typedef char text_room[TEXT_ROOM];

/* The texts of all batches of a part, of which only the last batch's are still there. */
struct brume_row_part {
    size_t columns[4], column_count;
    size_t first, done, batch_start;
    text_room *texts[2];
};

/* A text that is NULL may be anything: here it is at a place that nobody may read. */
static char *nowhere;

static size_t name_of(size_t id, char *text)
{
    return (size_t)snprintf(text, TEXT_ROOM, "person %07zu of this long list", id);
}

/* Some have no town, some towns are short. */
static bool town_of(size_t id, char *text, size_t *length)
{
    *length = (size_t)(id % 50 == 9
                           ? snprintf(text, TEXT_ROOM, "Ulm")
                           : snprintf(text, TEXT_ROOM, "the town with number %02zu", id % 50));
    return id % 7 != 0;
}

static const char same_rows[] =
    "CREATE TABLE same AS SELECT CAST(i AS BIGINT) AS \"1\","
    " printf('person %07d of this long list', i) AS \"2\","
    " CASE WHEN i % 7 = 0 THEN NULL WHEN i % 50 = 9 THEN 'Ulm'"
    " ELSE printf('the town with number %02d', i % 50) END AS \"3\" FROM range(8000) AS r(i)";

static size_t count_parts(const brume_row_files *files)
{
    (void)files;
    return PARTS;
}

static void close_part(brume_row_part *part)
{
    for (int i = 0; part && i < 2; i++) {
        memset(part->texts[i], '#', PART_ROWS * sizeof(text_room));
        free(part->texts[i]);
    }
    free(part);
}

static brume_status open_part(const brume_row_files *files, size_t index, const size_t *columns,
                              size_t column_count, brume_row_part **out, brume_error *failure)
{
    (void)files;
    (void)failure;
    brume_row_part *part = calloc(1, sizeof *part);
    memcpy(part->columns, columns, column_count * sizeof *columns);
    part->column_count = column_count;
    part->first = index * PART_ROWS;
    for (int i = 0; i < 2; i++)
        part->texts[i] = calloc(PART_ROWS, sizeof(text_room));
    *out = part;
    return BRUME_OK;
}

/* Batches of 1 to 97 rows. */
static brume_status next_batch(brume_row_part *part, brume_batch_column *columns, size_t *row_count,
                               brume_error *failure)
{
    (void)failure;
    for (int i = 0; i < 2; i++)
        memset(part->texts[i] + part->batch_start, '#',
               (part->done - part->batch_start) * sizeof(text_room));
    size_t left = PART_ROWS - part->done, count = 1 + part->done * 31 % MOST_BATCH;
    count = count < left ? count : left;
    part->batch_start = part->done;
    part->done += count;
    for (size_t c = 0; c < part->column_count; c++) {
        memset(columns[c].valid, 0, BRUME_BATCH_ROWS / 8);
        for (size_t i = 0; i < count; i++) {
            size_t row = part->batch_start + i, id = part->first + row, length = 0;
            bool there = true;
            if (part->columns[c] == 0) {
                ((int64_t *)columns[c].values)[i] = (int64_t)id;
            } else {
                char *text = part->texts[part->columns[c] - 1][row];
                if (part->columns[c] == 1)
                    length = name_of(id, text);
                else
                    there = town_of(id, text, &length);
                ((brume_text *)columns[c].values)[i] = there ? (brume_text){text, length}
                                                             : (brume_text){nowhere, TEXT_ROOM};
            }
            columns[c].valid[i / 64] |= (uint64_t)there << i % 64;
        }
    }
    *row_count = count;
    return BRUME_OK;
}

static void close_nothing(brume_row_files *files)
{
    (void)files;
}

static const brume_row_format format = {count_parts, open_part,     next_batch,
                                        close_part,  close_nothing, NULL};

/* ---- DuckDB ---- */

static duckdb_database database;
static duckdb_connection connection;
static brume_duckdb_table table;

static void run(const char *sql)
{
    duckdb_result result;
    if (duckdb_query(connection, sql, &result) != DuckDBSuccess)
        fail_msg("%s: %s", sql, duckdb_result_error(&result));
    duckdb_destroy_result(&result);
}

static int64_t number(const char *sql)
{
    duckdb_result result;
    if (duckdb_query(connection, sql, &result) != DuckDBSuccess)
        fail_msg("%s: %s", sql, duckdb_result_error(&result));
    duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
    int64_t value = *(int64_t *)duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0));
    duckdb_destroy_data_chunk(&chunk);
    duckdb_destroy_result(&result);
    return value;
}

static int open_database(void **state)
{
    static const brume_reader_column columns[] = {{"id", {BRUME_TYPE_BIGINT, 0, 0}},
                                                  {"name", {BRUME_TYPE_TEXT, 0, 0}},
                                                  {"town", {BRUME_TYPE_TEXT, 0, 0}}};
    (void)state;
    nowhere = mmap(NULL, TEXT_ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(nowhere != MAP_FAILED);
    static brume_duckdb_table *place = &table;
    table = (brume_duckdb_table){
        .format = &format, .column_count = 3, .lock = PTHREAD_MUTEX_INITIALIZER};
    table.columns = calloc(3, sizeof *table.columns);
    for (size_t i = 0; i < 3; i++)
        table.columns[i] = (brume_reader_column){strdup(columns[i].name), columns[i].type};
    assert_int_equal(brume_libduckdb_load(NULL), BRUME_OK);
    assert_int_equal(duckdb_open(NULL, &database), DuckDBSuccess);
    assert_int_equal(duckdb_connect(database, &connection), DuckDBSuccess);
    run("SET preserve_insertion_order = false");
    run("SET threads = 2");
    assert_ok(brume_duckdb_table_make(connection, "read", &place, &error));
    run(same_rows);
    return 0;
}

static int close_database(void **state)
{
    (void)state;
    duckdb_disconnect(&connection);
    duckdb_close(&database);
    brume_duckdb_table_clear(&table);
    return 0;
}

/* ---- queries ---- */

/* T is a table with the columns "1" (id), "2" (name), "3" (town). */
static const char *const queries[] = {
    /* filters, whose small chunks are collected */
    "SELECT \"1\", \"2\", \"3\" FROM T",
    "SELECT \"1\", \"2\", \"3\" FROM T WHERE \"1\" % 3 = 0",
    "SELECT \"2\" FROM T WHERE \"3\" > 'the town with number 4' AND \"2\" LIKE '%7 of%'",
    /* expressions that pass texts on */
    "SELECT CASE WHEN \"1\" % 2 = 0 THEN \"2\" ELSE \"3\" END AS a, coalesce(\"3\", \"2\") AS b,"
    " nullif(\"2\", \"3\") AS c, greatest(\"2\", \"3\") AS d, substr(\"2\", 3, 20) AS e,"
    " upper(\"3\") AS f, \"2\" || \"3\" AS g, trim(\"2\") AS h, replace(\"2\", 'x', 'y') AS i"
    " FROM T WHERE \"1\" % 5 < 4",
    /* groups and aggregates of texts */
    "SELECT \"3\" AS town, count(*) AS n, min(\"2\") AS a, max(\"2\") AS b, arg_min(\"2\", \"1\") AS c,"
    " arg_max(\"2\", \"1\") AS d, count(DISTINCT \"2\") AS e, any_value(\"3\") AS f FROM T GROUP BY ALL",
    "SELECT \"2\" AS name, count(*) AS n, min(\"3\") AS a, max(\"3\") AS b, first(\"3\") AS c FROM T"
    " GROUP BY ALL",
    "SELECT \"1\" % 1000 AS g, min(\"2\") AS a, max(\"3\") AS b FROM T GROUP BY ALL",
    "SELECT min(\"2\") AS a, max(\"3\") AS b, arg_max(\"3\", \"1\") AS c, count(DISTINCT \"2\") AS d FROM T",
    "SELECT DISTINCT \"3\" FROM T",
    "SELECT DISTINCT \"2\", \"3\" FROM T",
    "SELECT string_agg(\"2\", ',' ORDER BY \"2\") AS a FROM T",
    /* joins, with texts as keys and beside them, on both sides */
    "SELECT a.\"1\", a.\"2\", b.\"2\" AS c, b.\"3\" FROM T a JOIN T b ON a.\"2\" = b.\"2\"",
    "SELECT a.\"2\", b.\"2\" AS c, b.\"3\" FROM T a JOIN (SELECT * FROM T WHERE \"1\" < 50) b"
    " ON a.\"1\" % 50 = b.\"1\"",
    "SELECT a.\"2\", b.\"2\" AS c FROM T a LEFT JOIN (SELECT * FROM T WHERE \"1\" < 90) b"
    " ON a.\"3\" = b.\"3\"",
    "SELECT a.\"2\", b.\"2\" AS c FROM T a FULL JOIN (SELECT * FROM T WHERE \"1\" % 9 = 0) b"
    " ON a.\"1\" + 5 = b.\"1\" AND a.\"2\" <> b.\"2\"",
    "SELECT a.\"2\", b.\"3\" FROM T a JOIN T b ON a.\"1\" = b.\"1\" + 1 AND a.\"3\" > b.\"3\"",
    /* nested loops, ranges, products */
    "SELECT a.\"2\", b.\"2\" AS c FROM (SELECT * FROM T WHERE \"1\" % 40 = 0) a"
    " JOIN (SELECT * FROM T WHERE \"1\" % 40 = 1) b ON a.\"2\" <> b.\"2\" AND a.\"3\" <> b.\"3\"",
    "SELECT a.\"2\", b.\"2\" AS c FROM (SELECT * FROM T WHERE \"1\" % 40 = 0) a"
    " JOIN (SELECT * FROM T WHERE \"1\" % 40 = 1) b ON a.\"2\" < b.\"2\" AND a.\"1\" > b.\"1\" - 500",
    "SELECT a.\"2\", b.\"2\" AS c FROM (SELECT * FROM T WHERE \"1\" % 40 = 0) a"
    " LEFT JOIN (SELECT * FROM T WHERE \"1\" % 40 = 1) b ON a.\"2\" < b.\"3\" OR a.\"1\" = b.\"1\" + 39",
    "SELECT a.\"2\", b.\"2\" AS c, b.\"3\" FROM (SELECT * FROM T WHERE \"1\" % 100 = 0) a,"
    " (SELECT * FROM T WHERE \"1\" % 100 = 1) b",
    /* semi-joins and correlated subqueries */
    "SELECT \"2\", \"3\" FROM T WHERE \"2\" IN (SELECT \"2\" FROM T WHERE \"1\" % 11 = 0)",
    "SELECT \"2\" FROM T WHERE \"2\" NOT IN (SELECT \"2\" FROM T WHERE \"1\" % 11 = 0)",
    "SELECT \"2\", \"3\" FROM T a WHERE EXISTS (SELECT 1 FROM T b WHERE b.\"3\" = a.\"3\""
    " AND b.\"2\" > a.\"2\")",
    "SELECT \"2\", (SELECT max(b.\"2\") FROM T b WHERE b.\"3\" = a.\"3\") AS c FROM T a",
    /* several inputs, orders, queries used twice */
    "SELECT \"2\" FROM T UNION ALL SELECT \"3\" FROM T",
    "SELECT \"2\" FROM T WHERE \"1\" % 2 = 0 UNION SELECT \"2\" FROM T WHERE \"1\" % 3 = 0",
    "SELECT \"2\" FROM T EXCEPT SELECT \"2\" FROM T WHERE \"1\" % 3 = 0",
    "SELECT \"2\", \"3\" FROM T ORDER BY \"2\" DESC LIMIT 700",
    "SELECT \"2\", \"3\" FROM T ORDER BY \"3\", \"2\"",
    "WITH w AS MATERIALIZED (SELECT \"2\", \"3\" FROM T WHERE \"1\" % 2 = 0)"
    " SELECT a.\"2\", b.\"3\" FROM w a JOIN w b ON a.\"2\" = b.\"2\"",
    "SELECT \"3\", max(n) AS a FROM (SELECT \"3\", \"1\" % 100 AS g, max(\"2\") AS n FROM T GROUP BY ALL)"
    " GROUP BY ALL",
};

/* The query over another table than T. */
static void write_query(const char *query, const char *name, char *sql, size_t size)
{
    size_t used = 0;
    for (const char *at = query; *at && used + 16 < size; at++)
        if (*at == 'T' && at > query && at[-1] == ' ' && (at[1] == ' ' || !at[1] || at[1] == ')'))
            used += (size_t)snprintf(sql + used, size - used, "%s", name);
        else
            sql[used++] = *at;
    sql[used] = 0;
}

static void queries_answer_as_over_a_table_of_duckdbs(void **state)
{
    (void)state;
    char read[2048], same[2048], sql[6144];
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        write_query(queries[i], "read()", read, sizeof read);
        write_query(queries[i], "same", same, sizeof same);
        snprintf(sql, sizeof sql, "CREATE OR REPLACE TABLE found AS %s", read);
        run(sql);
        snprintf(sql, sizeof sql, "CREATE OR REPLACE TABLE wanted AS %s", same);
        run(sql);
        int64_t rows = number("SELECT count(*) FROM wanted");
        int64_t other = number("SELECT count(*) FROM ((TABLE wanted EXCEPT ALL TABLE found)"
                               " UNION ALL (TABLE found EXCEPT ALL TABLE wanted))");
        if (rows == 0 || other != 0)
            fail_msg("%s: of %lld rows, %lld differ", queries[i], (long long)rows,
                     (long long)other);
    }
}

/* ---- rows as brume takes them ---- */

static const brume_wire wires[] = {BRUME_WIRE_INTEGER, BRUME_WIRE_TEXT, BRUME_WIRE_TEXT};

/* Both texts belong to the id. */
static brume_status check_rows(void *context, const brume_chunk *chunk, brume_error *failure)
{
    atomic_uint_fast64_t *sum = context;
    const brume_chunk_column *columns = chunk->columns;
    for (size_t i = 0; i < chunk->row_count; i++) {
        char name[TEXT_ROOM], town[TEXT_ROOM];
        size_t id = (size_t)columns[0].integers[i], length = 0;
        size_t name_length = name_of(id, name);
        bool there = town_of(id, town, &length);
        bool same = columns[1].texts[i].length == name_length &&
                    memcmp(columns[1].texts[i].data, name, name_length) == 0 &&
                    there == !brume_chunk_is_null(&columns[2], i) &&
                    (!there || (columns[2].texts[i].length == length &&
                                memcmp(columns[2].texts[i].data, town, length) == 0));
        if (!same)
            return brume_fail(failure, BRUME_EOVERFLOW, NULL, "another row's text");
        atomic_fetch_add(sum, id);
    }
    return BRUME_OK;
}

static const char *const selections[] = {
    "SELECT \"1\", \"2\", \"3\" FROM read()",
    "SELECT \"1\", \"2\", \"3\" FROM read() WHERE \"1\" % 3 < 3 AND \"2\" > 'p'",
    "SELECT a.\"1\", a.\"2\", b.\"3\" FROM read() a JOIN read() b ON a.\"2\" = b.\"2\"",
    "SELECT \"1\", max(\"2\"), min(\"3\") FROM read() GROUP BY \"1\"",
    "SELECT \"1\", coalesce(\"2\", \"3\"), coalesce(\"3\", \"3\") FROM read()",
};
enum { SELECTIONS = sizeof selections / sizeof *selections };

static void takers_see_each_rows_own_texts(void **state)
{
    (void)state;
    brume_duckdb_scan *scan = NULL;
    atomic_bool cancelled = false;
    assert_ok(brume_duckdb_scan_open(connection, &scan, &error));
    for (size_t i = 0; i < SELECTIONS; i++) {
        atomic_uint_fast64_t sum = 0;
        bool broken = false;
        assert_ok(brume_duckdb_scan_run(scan, connection, selections[i], wires, 3, check_rows, &sum,
                                        &cancelled, &broken, &error));
        assert_false(broken);
        assert_int_equal(sum, (uint64_t)ROWS * (ROWS - 1) / 2);
    }
    run("DROP TABLE IF EXISTS found"); /* nothing of the scan is used any more */
    brume_duckdb_scan_close(scan);
}

/* ---- texts that are NULL ---- */

/* For each text, whether it is NULL and yet has a length or a pointer, which could be one of a
 * batch that is gone: DuckDB reuses the memory of its chunks. */
static void points_somewhere(duckdb_function_info info, duckdb_data_chunk input,
                             duckdb_vector output)
{
    static const duckdb_string_t none;
    duckdb_vector texts = duckdb_data_chunk_get_vector(input, 0);
    const duckdb_string_t *strings = duckdb_vector_get_data(texts);
    uint64_t *valid = duckdb_vector_get_validity(texts);
    int64_t *found = duckdb_vector_get_data(output);
    (void)info;
    for (idx_t i = 0; i < duckdb_data_chunk_get_size(input); i++)
        found[i] = valid && !duckdb_validity_row_is_valid(valid, i) &&
                   memcmp(&strings[i], &none, sizeof none) != 0;
}

static void a_text_that_is_null_points_nowhere(void **state)
{
    (void)state;
    duckdb_scalar_function function = duckdb_create_scalar_function();
    duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_logical_type integer = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);
    duckdb_scalar_function_set_name(function, "points_somewhere");
    duckdb_scalar_function_add_parameter(function, text);
    duckdb_scalar_function_set_return_type(function, integer);
    duckdb_scalar_function_set_special_handling(function); /* NULLs come too */
    duckdb_scalar_function_set_function(function, points_somewhere);
    assert_int_equal(duckdb_register_scalar_function(connection, function), DuckDBSuccess);
    duckdb_destroy_logical_type(&text);
    duckdb_destroy_logical_type(&integer);
    duckdb_destroy_scalar_function(&function);
    assert_int_equal(number("SELECT count(*) FROM read() WHERE \"3\" IS NULL"), (ROWS + 6) / 7);
    assert_int_equal(number("SELECT CAST(sum(points_somewhere(\"3\")) AS BIGINT) FROM read()"), 0);
}

/* A streamed result is fetched while DuckDB's threads read on. */
static void streams_have_each_rows_own_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < SELECTIONS; i++) {
        duckdb_prepared_statement statement;
        duckdb_pending_result pending;
        duckdb_result result;
        duckdb_data_chunk chunk;
        atomic_uint_fast64_t sum = 0;
        assert_int_equal(duckdb_prepare(connection, selections[i], &statement), DuckDBSuccess);
        assert_int_equal(duckdb_pending_prepared_streaming(statement, &pending), DuckDBSuccess);
        assert_int_equal(duckdb_execute_pending(pending, &result), DuckDBSuccess);
        while ((chunk = duckdb_fetch_chunk(result)) != NULL) {
            static brume_text texts[2][2048];
            brume_text *room[] = {NULL, texts[0], texts[1]};
            brume_chunk_column columns[3];
            brume_duckdb_columns(chunk, wires, 3, room, columns);
            brume_chunk rows = {duckdb_data_chunk_get_size(chunk), 3, columns};
            assert_ok(check_rows(&sum, &rows, &error));
            duckdb_destroy_data_chunk(&chunk);
        }
        assert_int_equal(sum, (uint64_t)ROWS * (ROWS - 1) / 2);
        duckdb_destroy_result(&result);
        duckdb_destroy_pending(&pending);
        duckdb_destroy_prepare(&statement);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_answer_as_over_a_table_of_duckdbs),
        cmocka_unit_test(streams_have_each_rows_own_texts),
        cmocka_unit_test(a_text_that_is_null_points_nowhere),
        cmocka_unit_test(takers_see_each_rows_own_texts),
    };
    return cmocka_run_group_tests_name("lifetimes of texts", tests, open_database, close_database);
}
