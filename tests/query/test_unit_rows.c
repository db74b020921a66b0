/* The rows of a question as a file: of each unit one row, which one is its own business alone. */
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#include "asked.h"
#include "query/collect/unit_rows.h"
#include "random/tape.h"
#include "registered.h"

enum { LINE = 160 };

typedef struct rows {
    size_t count;
    char (*lines)[LINE]; /* without the line's end, sorted */
    char header[LINE];
} rows;

static int compare_lines(const void *left, const void *right)
{
    return strcmp(left, right);
}

static void read_lines(FILE *file, rows *out)
{
    size_t room = 16;
    *out = (rows){.lines = calloc(room, sizeof *out->lines)};
    assert_non_null(out->lines);
    rewind(file);
    assert_non_null(fgets(out->header, LINE, file));
    out->header[strcspn(out->header, "\n")] = 0;
    while (fgets(out->lines[out->count], LINE, file)) {
        out->lines[out->count][strcspn(out->lines[out->count], "\n")] = 0;
        if (++out->count == room) {
            room *= 2;
            out->lines = realloc(out->lines, room * sizeof *out->lines);
            assert_non_null(out->lines);
        }
    }
    qsort(out->lines, out->count, sizeof *out->lines, compare_lines);
}

typedef struct place {
    char csv[64];
    asked asks;
} place;

/* A table with these lines behind its header, of which `unit` (or NULL) is the unit. */
static void open_place(place *all, const char *header, const char *const *lines, size_t count,
                       const char *declared, const char *unit)
{
    brume_error error = {0};
    char *sql = NULL;
    strcpy(all->csv, "/tmp/brume-rows-XXXXXX.csv");
    int descriptor = mkstemps(all->csv, 4);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    assert_non_null(file);
    fprintf(file, "%s\n", header);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%s\n", lines[i]);
    fclose(file);
    brume_policy *policy = registered_file(all->csv, declared);
    if (unit)
        assert_ok(brume_policy_set_unit(policy, unit, &error));
    assert_ok(brume_rows_question(policy, "t", &sql, &error));
    all->asks = asked_open(policy, "t", sql, 1);
    free(sql);
}

static void close_place(place *all)
{
    asked_close(&all->asks);
    remove(all->csv);
}

static void read_place(const place *all, uint64_t seed, rows *out)
{
    brume_error error = {0};
    brume_rows_file file = {0};
    brume_bits *bits = brume_tape_open_seeded(seed);
    const brume_rows_of of = {.question = all->asks.question, .each = 1};
    assert_ok(brume_rows_read(&of, all->asks.engine, bits, &file, &error));
    read_lines(file.file, out);
    brume_rows_file_close(&file);
    brume_bits_close(bits);
}

static void read_rows(const char *header, const char *const *lines, size_t count,
                      const char *declared, const char *unit, uint64_t seed, rows *out)
{
    place all;
    open_place(&all, header, lines, count, declared, unit);
    read_place(&all, seed, out);
    close_place(&all);
}

/* ---- one row a unit ---- */

enum { OWN = 5, PEOPLE = 3 };

static const struct {
    const char *declared, *units[PEOPLE][2]; /* each unit, written in two ways */
} kinds[] = {
    {"u text, v bigint",
     {{"ann", "\"ann\""}, {"a long name", "a long name"}, {"a long name too", "a long name too"}}},
    {"u bigint, v bigint", {{"1", "01"}, {"-1", "-1"}, {"256", "256"}}},
    {"u double, v bigint", {{"0", "-0"}, {"1.5", "15e-1"}, {"-1.5", "-1.50"}}},
};

/* Row r of person p has the value 10 p + r; the rows in another order for every `order`. */
static void write_lines(size_t kind, size_t order, size_t without, char lines[][LINE],
                        const char **out, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < PEOPLE * OWN; i++) {
        size_t at = (i * (order % 2 ? 7 : 4) + order) % (PEOPLE * OWN);
        size_t person = at % PEOPLE, row = at / PEOPLE;
        if (person == without)
            continue;
        snprintf(lines[*count], LINE, "%s,%zu", kinds[kind].units[person][row % 2],
                 10 * person + row);
        out[*count] = lines[*count];
        ++*count;
    }
    snprintf(lines[*count], LINE, ",99"); /* nobody's */
    out[*count] = lines[*count];
    ++*count;
}

/* The value that each person keeps; -1: none. */
static void kept_values(size_t kind, size_t order, size_t without, uint64_t seed, int kept[PEOPLE])
{
    char lines[PEOPLE * OWN + 1][LINE];
    const char *all[PEOPLE * OWN + 1];
    size_t count = 0;
    rows found;
    write_lines(kind, order, without, lines, all, &count);
    read_rows("u,v", all, count, kinds[kind].declared, "u", seed, &found);
    for (size_t i = 0; i < PEOPLE; i++)
        kept[i] = -1;
    assert_int_equal(found.count, without < PEOPLE ? PEOPLE - 1 : PEOPLE);
    for (size_t i = 0; i < found.count; i++) {
        int value = atoi(strrchr(found.lines[i], ',') + 1);
        assert_holds(value / 10 < PEOPLE && value % 10 < OWN && kept[value / 10] < 0);
        kept[value / 10] = value;
    }
    free(found.lines);
}

static void a_unit_has_one_row_whatever_the_order_and_the_others(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            int first[PEOPLE], other[PEOPLE];
            kept_values(kind, 0, PEOPLE, seed, first);
            for (size_t order = 1; order < 3; order++) {
                kept_values(kind, order, PEOPLE, seed, other);
                assert_memory_equal(first, other, sizeof first);
            }
            size_t without = seed % PEOPLE;
            kept_values(kind, 1, without, seed, other);
            for (size_t i = 0; i < PEOPLE; i++)
                assert_int_equal(other[i], i == without ? -1 : first[i]);
        }
}

/* Which of a unit's rows is kept is decided by the key, for each unit by itself: over 64 keys all
 * of 5 rows are seen of 3 units, but with probability 15 (4/5)^64 < 1e-5; the keys are fixed. */
static void every_row_of_a_unit_may_be_the_one(void **state)
{
    (void)state;
    bool seen[PEOPLE][OWN] = {{false}};
    size_t alike = 0;
    for (uint64_t seed = 0; seed < 64; seed++) {
        int kept[PEOPLE];
        kept_values(0, 0, PEOPLE, seed, kept);
        for (size_t i = 0; i < PEOPLE; i++)
            seen[i][kept[i] % 10] = true;
        alike += kept[0] % 10 == kept[1] % 10;
    }
    for (size_t i = 0; i < PEOPLE * OWN; i++)
        assert_true(seen[i / OWN][i % OWN]);
    assert_holds(alike < 32);
}

/* Engines fold zeros too; what is hashed does not rely on it. */
static void both_zeros_have_the_same_bytes_and_other_values_their_own(void **state)
{
    (void)state;
    static const double reals[] = {0.0, -0.0, 0x1p-1074, -0x1p-1074, 1, -1};
    const brume_chunk_column column = {.wire = BRUME_WIRE_REAL, .reals = reals};
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++) {
            double one, other;
            size_t one_length = 0, other_length = 0;
            const void *a = brume_chunk_bytes(&column, i, &one, &one_length);
            const void *b = brume_chunk_bytes(&column, j, &other, &other_length);
            assert_int_equal(one_length, 8);
            assert_int_equal(other_length, 8);
            assert_int_equal(memcmp(a, b, 8) == 0, reals[i] == reals[j]);
        }
}

/* A Parquet file with both zeros: the column f64 has 0, -0, 1.5, -2.25, 0.1 and 2^-1074. */
static void both_zeros_of_a_parquet_file_are_one_unit(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_policy *policy = registered_file(READER_DATA "/brotli_v1.parquet", NULL);
    assert_ok(brume_policy_set_unit(policy, "f64", &error));
    char *sql = NULL;
    rows found;
    assert_ok(brume_rows_question(policy, "t", &sql, &error));
    place all = {.asks = asked_open(policy, "t", sql, 1)};
    read_place(&all, 1, &found);
    assert_int_equal(found.count, 5);
    free(found.lines);
    free(sql);
    asked_close(&all.asks);
}

static void thousands_of_units_have_a_row_each(void **state)
{
    (void)state;
    enum { MANY = 4200 };
    static char lines[MANY][LINE];
    static const char *all[MANY];
    rows found;
    for (size_t i = 0; i < MANY; i++) {
        snprintf(lines[i], LINE, "p%04zu,%zu", i, i % 10);
        all[i] = lines[i];
    }
    read_rows("u,v", all, MANY, "u text, v bigint", "u", 1, &found);
    assert_int_equal(found.count, MANY);
    for (size_t i = 0; i < MANY; i++) {
        char expected[LINE];
        snprintf(expected, LINE, "\"p%04zu\",%zu", i, i % 10);
        assert_string_equal(found.lines[i], expected);
    }
    free(found.lines);
}

/* ---- what a row looks like ---- */

#define TEN "0123456789"

static void where_a_row_is_a_unit_all_are_there(void **state)
{
    (void)state;
    static const char *const lines[] = {"b,1,0.1",     "\"a \"\"x\"\"\",-3,-2.5",
                                        ",,",          "b,1,0.1",
                                        "\"\",7,1e10", TEN TEN TEN TEN TEN TEN TEN TEN TEN ",,"};
    static const char *const expected[] = {
        "\"\",7,10000000000",          "\"" TEN TEN TEN TEN TEN TEN TEN TEN TEN "\",,",
        "\"a \"\"x\"\"\",-3,-2.5",     "\"b\",1,0.10000000000000001",
        "\"b\",1,0.10000000000000001", ",,"};
    rows found;
    read_rows("t,n,x", lines, 6, "t text, n bigint, x double", NULL, 1, &found);
    assert_string_equal(found.header, "t,n,x");
    assert_int_equal(found.count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(found.lines[i], expected[i]);
    free(found.lines);
}

static void no_rows_are_a_header(void **state)
{
    (void)state;
    brume_error error = {0};
    place all;
    rows found;
    brume_rows_file file = {0};
    static const char *const line = "a,1";
    open_place(&all, "u,v", &line, 1, "u text, v bigint", "u");
    const brume_rows_of of = {.question = all.asks.question, .each = 1};
    assert_ok(brume_rows_none(&of, &file, &error));
    read_lines(file.file, &found);
    assert_string_equal(found.header, "u,v");
    assert_int_equal(found.count, 0);
    free(found.lines);
    brume_rows_file_close(&file);
    close_place(&all);
}

static void only_an_empty_table_or_too_many_rows_are_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {"1", "2", "3"};
    for (size_t count = 0; count <= 3; count++) {
        place all;
        open_place(&all, "v", lines, count, "v bigint", NULL);
        for (uint64_t most = 0; most <= 4; most++) {
            brume_error error = {0};
            brume_status status =
                brume_rows_check(all.asks.question, all.asks.engine, most, &error);
            bool good = count > 0 && (most == 0 || count <= most);
            assert_int_equal(status, good ? BRUME_OK : BRUME_EARGUMENT);
        }
        close_place(&all);
    }
}

/* Rows come in chunks, and the last one may be the first of a new chunk. */
static void one_row_too_many_is_found_wherever_chunks_end(void **state)
{
    (void)state;
    enum { MANY = 8193 };
    static const char *lines[MANY];
    for (size_t i = 0; i < MANY; i++)
        lines[i] = "1";
    for (size_t count = MANY; count > 1000; count = count / 2 + 1) {
        place all;
        brume_error error = {0};
        open_place(&all, "v", lines, count, "v bigint", NULL);
        assert_ok(brume_rows_check(all.asks.question, all.asks.engine, count, &error));
        for (uint64_t most = count - 1; most > 0; most /= 2)
            assert_fails(brume_rows_check(all.asks.question, all.asks.engine, most, &error),
                         BRUME_EARGUMENT);
        close_place(&all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_has_one_row_whatever_the_order_and_the_others),
        cmocka_unit_test(every_row_of_a_unit_may_be_the_one),
        cmocka_unit_test(both_zeros_have_the_same_bytes_and_other_values_their_own),
        cmocka_unit_test(both_zeros_of_a_parquet_file_are_one_unit),
        cmocka_unit_test(thousands_of_units_have_a_row_each),
        cmocka_unit_test(where_a_row_is_a_unit_all_are_there),
        cmocka_unit_test(no_rows_are_a_header),
        cmocka_unit_test(only_an_empty_table_or_too_many_rows_are_refused),
        cmocka_unit_test(one_row_too_many_is_found_wherever_chunks_end),
    };
    return cmocka_run_group_tests_name("rows of units", tests, NULL, NULL);
}
