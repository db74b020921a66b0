/* Collecting: groups that the engine sums by itself, what is streamed, and what stays where it is.
 */
#include "check.h"

#include <unistd.h>

#include "asked.h"
#include "engine/driver.h"
#include "random/tape.h"
#include "registered.h"

#include "query/collect/collect.c"

enum { ROWS = 1536, KEYS = 512 }; /* just as many as there is room for */

static brume_error error;

typedef struct place {
    char csv[64];
    asked asks;
} place;

/* Row i: n = i % 512 as whole number, x = n / 8 - 20 as a real one, w a text of it, v = i. */
static void open_place(place *all, const char *sql)
{
    strcpy(all->csv, "/tmp/brume-collect-XXXXXX.csv");
    int descriptor = mkstemps(all->csv, 4);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    assert_non_null(file);
    fputs("n,x,w,v\n", file);
    for (int i = 0; i < ROWS; i++)
        fprintf(file, "%d,%g,w%03d,%d\n", i % KEYS, (i % KEYS) / 8.0 - 20, i % KEYS, i);
    fclose(file);
    brume_policy *policy = registered_file(all->csv, "n bigint, x double, w text, v bigint");
    assert_ok(brume_policy_set_bounds(policy, "v", "-1000000", "1000000", &error));
    all->asks = asked_open(policy, "t", sql, 1);
}

static void close_place(place *all)
{
    asked_close(&all->asks);
    remove(all->csv);
}

/* The one value, v, with sums of its distance from the centre and of its square. */
static brume_plan_value value_of(const place *all)
{
    return (brume_plan_value){.grid = all->asks.question->query->aggregates[0].argument,
                              .low = -1000000,
                              .high = 1000000,
                              .squares = true};
}

/* The whole number of a group's key, whatever it is written as; -1: another one. */
static int number_of(const brume_key_value *key)
{
    char digits[16] = "";
    if (key->wire == BRUME_WIRE_TEXT && key->text.length > 0)
        snprintf(digits, sizeof digits, "%.*s", (int)key->text.length - 1, key->text.data + 1);
    double number = key->wire == BRUME_WIRE_INTEGER ? (double)key->integer
                    : key->wire == BRUME_WIRE_REAL  ? (key->real + 20) * 8
                                                    : atof(digits);
    return number >= 0 && number < KEYS && number == floor(number) ? (int)number : -1;
}

static void check_group(const brume_bounded_group *group, bool empty)
{
    int64_t n = number_of(&group->keys[0]), sum = 0, squares = 0;
    for (int64_t v = n; !empty && v < ROWS; v += KEYS) {
        sum += v;
        squares += v * v;
    }
    assert_int_equal(group->units, empty ? 0 : ROWS / KEYS);
    assert_int_equal(group->rows, empty ? 0 : ROWS / KEYS);
    assert_int_equal(group->values[0].count, empty ? 0 : ROWS / KEYS);
    assert_int_equal((int64_t)group->values[0].sum, sum);
    assert_int_equal((int64_t)group->values[0].squares, squares);
}

static const char *const by_key[] = {"SELECT n, SUM(v) FROM t GROUP BY n",
                                     "SELECT x, SUM(v) FROM t GROUP BY x",
                                     "SELECT w, SUM(v) FROM t GROUP BY w"};

/* What is collected of v by key, summed by the engine or from streamed rows: of the declared keys,
 * or (NULL) of all that there are. */
static brume_collected *collect_sums(const place *all, int streamed, const brume_key_value *domain,
                                     const size_t *size)
{
    brume_plan_value value = value_of(all);
    brume_collection collection = {.query = all->asks.question->query,
                                   .max_groups = 1,
                                   .bounded = streamed,
                                   .cells = size ? *size : 0,
                                   .domain = domain,
                                   .domain_size = size,
                                   .value_count = 1,
                                   .values = &value};
    brume_collected *collected = NULL;
    assert_ok(brume_collect(&collection, all->asks.engine, 1, all->asks.bits, &collected, &error));
    return collected;
}

static void an_engine_sums_every_group_that_there_is(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < 3; kind++)
        for (int streamed = 0; streamed <= 1; streamed++) {
            place all;
            open_place(&all, by_key[kind]);
            brume_collected *collected = collect_sums(&all, streamed, NULL, NULL);
            size_t count = 0;
            assert_true((collected->bounder != NULL) == streamed);
            const brume_bounded_group *groups = brume_collected_groups(collected, &count);
            assert_int_equal(count, KEYS);
            assert_int_equal(brume_collected_numbers(collected), KEYS);
            for (size_t i = 0; i < count; i++) {
                assert_int_equal(number_of(&groups[i].keys[0]), i); /* in their order */
                check_group(&groups[i], false);
            }
            brume_collected_close(collected);
            close_place(&all);
        }
}

/* Declared: keys 3, 5 and 7 of those that are there, and one between and one behind that is not. */
static void of_declared_groups_the_missing_ones_are_empty(void **state)
{
    (void)state;
    static const brume_key_value domains[3][5] = {
        {{.wire = BRUME_WIRE_INTEGER, .integer = 3},
         {.wire = BRUME_WIRE_INTEGER, .integer = 5},
         {.wire = BRUME_WIRE_INTEGER, .integer = 7},
         {.wire = BRUME_WIRE_INTEGER, .integer = -4},
         {.wire = BRUME_WIRE_INTEGER, .integer = 9999}},
        {{.wire = BRUME_WIRE_REAL, .real = 3 / 8.0 - 20},
         {.wire = BRUME_WIRE_REAL, .real = 5 / 8.0 - 20},
         {.wire = BRUME_WIRE_REAL, .real = 7 / 8.0 - 20},
         {.wire = BRUME_WIRE_REAL, .real = 4.5 / 8.0 - 20},
         {.wire = BRUME_WIRE_REAL, .real = 1e6}},
        {{.wire = BRUME_WIRE_TEXT, .text = {"w003", 4}},
         {.wire = BRUME_WIRE_TEXT, .text = {"w005", 4}},
         {.wire = BRUME_WIRE_TEXT, .text = {"w007", 4}},
         {.wire = BRUME_WIRE_TEXT, .text = {"w004.5", 6}},
         {.wire = BRUME_WIRE_TEXT, .text = {"w9999", 5}}}};
    const size_t size = 5;
    for (size_t kind = 0; kind < 3; kind++)
        for (int streamed = 0; streamed <= 1; streamed++) {
            place all;
            open_place(&all, by_key[kind]);
            brume_collected *collected = collect_sums(&all, streamed, domains[kind], &size);
            size_t count = 0, full = 0;
            const brume_bounded_group *groups = brume_collected_groups(collected, &count);
            assert_int_equal(count, 5);
            for (size_t i = 0; i < count; i++) {
                int n = number_of(&groups[i].keys[0]);
                check_group(&groups[i], n != 3 && n != 5 && n != 7);
                full += groups[i].units > 0;
            }
            assert_int_equal(full, 3);
            brume_collected_close(collected);
            close_place(&all);
        }
}

static void what_is_shown_is_what_is_given_to_the_engine(void **state)
{
    (void)state;
    place all;
    open_place(&all, by_key[0]);
    brume_plan_value value = value_of(&all);
    const char *table = brume_engine_table(all.asks.engine, 0);
    for (int streamed = 0; streamed <= 1; streamed++) {
        brume_collection collection = {.query = all.asks.question->query,
                                       .bounded = streamed,
                                       .value_count = 1,
                                       .values = &value};
        char *shown = NULL, *rows = NULL, *groups = NULL;
        brume_dialect dialect = brume_engine_dialect(all.asks.engine);
        assert_ok(brume_collect_statement(&collection, dialect, &table, &shown, &error));
        assert_ok(brume_collect_print_rows(&collection, dialect, &table, &rows, &error));
        assert_ok(brume_collect_print_groups(&collection, dialect, &table, &groups, &error));
        assert_string_not_equal(rows, groups);
        assert_string_equal(shown, streamed ? rows : groups);
        free(shown);
        free(rows);
        free(groups);
    }
    close_place(&all);
}

/* Rows that are to stay are not streamed where nothing can be pushed. */
static void what_is_to_be_pushed_is_never_streamed(void **state)
{
    (void)state;
    place all;
    open_place(&all, by_key[0]);
    brume_collection collection = {
        .query = all.asks.question->query, .totals = true, .pushed = true};
    brume_collected *collected = NULL;
    assert_fails(brume_collect(&collection, all.asks.engine, 1, all.asks.bits, &collected, &error),
                 BRUME_EINTERNAL);
    close_place(&all);
}

/* A text column is listed if it is a key of declared values, none of them NULL. */
static void only_declared_keys_without_null_are_listed(void **state)
{
    (void)state;
    brume_relation_column columns[3] = {{.stored = "a"}, {.stored = "b"}, {.stored = "c"}};
    brume_relation relation = {.columns = columns};
    brume_expression cells[3];
    memset(cells, 0, sizeof cells);
    brume_key keys[3]; /* the third is none of the query's */
    memset(keys, 0, sizeof keys);
    for (size_t i = 0; i < 3; i++) {
        cells[i] = (brume_expression){
            .operation = BRUME_OPERATION_COLUMN, .relation = &relation, .column = i};
        keys[i].expression = &cells[i];
    }
    brume_query query = {.keys = keys, .key_count = 2};
    static const size_t sizes[3] = {2, 1, 1};
    for (int null = -1; null < 4; null++) {
        brume_key_value domain[4] = {{0}};
        if (null >= 0)
            domain[null].null = true;
        brume_collection collection = {
            .query = &query, .cells = 2, .domain = domain, .domain_size = sizes};
        assert_int_equal(is_listed(&collection, "a"), null != 0 && null != 1);
        assert_int_equal(is_listed(&collection, "b"), null != 2);
        assert_false(is_listed(&collection, "c"));
        collection.cells = 0; /* nothing is declared */
        assert_false(is_listed(&collection, "a"));
    }
}

/* Unit 1 keeps one of its two groups; the other one, which nobody keeps, is dropped, and numbers of
 * groups still go up to both. */
static void numbers_of_groups_count_dropped_ones_too(void **state)
{
    (void)state;
    static const brume_wire wire = BRUME_WIRE_INTEGER;
    static const int64_t units[] = {1, 1}, keys[] = {5, 6};
    brume_bound_plan plan = {.key_count = 1, .key_wires = &wire, .totals = true, .keep_key = true};
    brume_bits *bits = brume_tape_open_seeded(1);
    brume_collected collected = {0};
    const brume_bounded_group *groups = NULL;
    assert_ok(brume_bounder_open(&plan, bits, &collected.bounder, &error));
    brume_chunk_column columns[] = {{.wire = BRUME_WIRE_INTEGER, .integers = units},
                                    {.wire = BRUME_WIRE_INTEGER, .integers = keys}};
    brume_chunk chunk = {2, 2, columns};
    assert_ok(brume_bounder_take(collected.bounder, &chunk, &error));
    assert_ok(brume_bounder_finish(collected.bounder, &groups, &collected.count, &error));
    assert_int_equal(collected.count, 1);
    assert_int_equal(brume_collected_numbers(&collected), 2);
    brume_bounder_close(collected.bounder);
    brume_bits_close(bits);
}

static bool is_bytewise(brume_engine *engine, size_t table, const char *column)
{
    (void)engine;
    (void)table;
    return strcmp(column, "b") != 0;
}

/* How the server may compare the texts of a column. */
static void texts_are_compared_as_the_column_allows(void **state)
{
    (void)state;
    brume_relation_column column = {.stored = "a"};
    brume_relation relation = {.columns = &column};
    brume_expression cell = {.operation = BRUME_OPERATION_COLUMN, .relation = &relation};
    brume_key key = {.expression = &cell};
    brume_query query = {.keys = &key, .key_count = 1};
    const size_t size = 1;
    const brume_key_value domain = {0};
    brume_collection collection = {
        .query = &query, .cells = 1, .domain = &domain, .domain_size = &size};
    brume_driver driver = {.is_bytewise = is_bytewise};
    brume_engine engine = {.driver = &driver, .source_count = 1};
    staying_rows rows = {&engine, &collection};
    assert_int_equal(bytes_of(&rows, 0, "a"), BRUME_BYTES_LISTED);
    assert_int_equal(bytes_of(&rows, 0, "c"), BRUME_BYTES_COMPARED);
    assert_int_equal(bytes_of(&rows, 0, "b"), BRUME_BYTES_ASKED);
}

/* One group of no rows, at the first of the declared keys. */
static void a_rehearsal_has_one_group_and_reads_nothing(void **state)
{
    (void)state;
    place all;
    open_place(&all, "SELECT n, w, SUM(v) FROM t GROUP BY n, w");
    brume_plan_value *value = malloc(sizeof *value);
    brume_key_value *domain = calloc(3, sizeof *domain);
    size_t *sizes = calloc(2, sizeof *sizes);
    assert_true(value && domain && sizes);
    *value = value_of(&all);
    sizes[0] = 2;
    sizes[1] = 1;
    domain[0] = (brume_key_value){.wire = BRUME_WIRE_INTEGER, .integer = 8};
    domain[1] = (brume_key_value){.wire = BRUME_WIRE_INTEGER, .integer = 9};
    domain[2] = (brume_key_value){.wire = BRUME_WIRE_TEXT, .text = {"w", 1}};
    for (int declared = 0; declared <= 1; declared++) {
        brume_collection collection = {.query = all.asks.question->query,
                                       .value_count = 1,
                                       .values = value,
                                       .cells = declared ? 2 : 0,
                                       .domain = declared ? domain : NULL,
                                       .domain_size = declared ? sizes : NULL};
        brume_collected *collected = NULL;
        size_t count = 0;
        assert_ok(brume_collect_nothing(&collection, 17, all.asks.bits, &collected, &error));
        const brume_bounded_group *group = brume_collected_groups(collected, &count);
        assert_int_equal(count, 1);
        assert_true(group->units == 17 && group->rows == 17 && group->values[0].count == 0);
        assert_true(group->keys[0].null == !declared && group->keys[1].null == !declared);
        bool kept = true;
        assert_ok(brume_collected_distinct(collected, 1, NULL, &kept, &error)); /* no values */
        if (declared)
            assert_true(group->keys[0].integer == 8 && group->keys[1].text.length == 1);
        brume_collected_close(collected);
    }
    free(value);
    free(domain);
    free(sizes);
    close_place(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engine_sums_every_group_that_there_is),
        cmocka_unit_test(of_declared_groups_the_missing_ones_are_empty),
        cmocka_unit_test(what_is_shown_is_what_is_given_to_the_engine),
        cmocka_unit_test(what_is_to_be_pushed_is_never_streamed),
        cmocka_unit_test(only_declared_keys_without_null_are_listed),
        cmocka_unit_test(numbers_of_groups_count_dropped_ones_too),
        cmocka_unit_test(texts_are_compared_as_the_column_allows),
        cmocka_unit_test(a_rehearsal_has_one_group_and_reads_nothing),
    };
    return cmocka_run_group_tests_name("collecting", tests, NULL, NULL);
}
