/* Schemas: reading a value is total, and a function of the text alone. */
#include "check.h"

#include <string.h>

#include <brume/synthetic/schema.h>

static const char *const wards[] = {"surgery", "medicine", "other"};
static const char *const floors[] = {"-1", "0", "1", "2", "ten"};

static brume_schema *hospital(bool other)
{
    brume_error error = {0};
    brume_schema *schema = NULL;
    assert_ok(brume_schema_open(&schema, &error));
    assert_ok(brume_schema_add_labels(schema, "ward", wards, 3, other, &error));
    assert_ok(brume_schema_add_labels(schema, "floor", floors, 5, other, &error));
    assert_ok(brume_schema_add_bins(schema, "Age", 0, 100, 10, other, &error));
    return schema;
}

static uint32_t value_of(const brume_schema *schema, size_t column, const char *text)
{
    uint32_t value = 999;
    return brume_schema_value(schema, column, text, &value) ? value : 777;
}

static void labels_are_found_by_bytes_and_numbers_by_size(void **state)
{
    (void)state;
    brume_schema *schema = hospital(false);
    assert_int_equal(value_of(schema, 0, "surgery"), 0);
    assert_int_equal(value_of(schema, 0, "other"), 2);
    assert_int_equal(value_of(schema, 0, "Surgery"), 777);
    assert_int_equal(value_of(schema, 0, ""), 777);
    assert_int_equal(value_of(schema, 0, NULL), 777);
    assert_int_equal(value_of(schema, 1, "-1"), 0);
    assert_int_equal(value_of(schema, 1, "-1.0"), 0);
    assert_int_equal(value_of(schema, 1, " 01 "), 2);
    assert_int_equal(value_of(schema, 1, "2e0"), 3);
    assert_int_equal(value_of(schema, 1, "ten"), 4);
    assert_int_equal(value_of(schema, 1, "10"), 777);
    assert_int_equal(value_of(schema, 1, "0x1"), 777);
    brume_schema_close(schema);
}

static void bins_hold_their_lower_edge_and_the_last_one_both(void **state)
{
    (void)state;
    brume_schema *schema = hospital(false);
    assert_int_equal(value_of(schema, 2, "0"), 0);
    assert_int_equal(value_of(schema, 2, "9.999"), 0);
    assert_int_equal(value_of(schema, 2, "10"), 1);
    assert_int_equal(value_of(schema, 2, "100"), 9);
    assert_int_equal(value_of(schema, 2, "-5"), 0);
    assert_int_equal(value_of(schema, 2, "1e999"), 9);
    assert_int_equal(value_of(schema, 2, "-1e999"), 0);
    assert_int_equal(value_of(schema, 2, "nan"), 777);
    assert_int_equal(value_of(schema, 2, "young"), 777);
    assert_holds(brume_schema_edge(schema, 2, 3) == 30 && brume_schema_edge(schema, 2, 10) == 100);
    assert_int_equal(brume_schema_find(schema, "age"), 2);
    assert_int_equal(brume_schema_find(schema, "ages"), SIZE_MAX);
    brume_schema_close(schema);
}

/* Whatever is read comes back as text that is read as the same value. */
static void every_value_reads_back_from_its_text(void **state)
{
    (void)state;
    for (int other = 0; other < 2; other++) {
        brume_schema *schema = hospital(other);
        brume_universe universe;
        brume_error error = {0};
        assert_ok(brume_schema_universe(schema, &universe, &error));
        assert_int_equal(universe.cells, other ? 4 * 6 * 11 : 3 * 5 * 10);
        for (size_t c = 0; c < brume_schema_columns(schema); c++)
            for (uint32_t v = 0; v < brume_schema_size(schema, c); v++) {
                char room[BRUME_SCHEMA_TEXT];
                const char *text = brume_schema_text(schema, c, v, room);
                assert_int_equal(value_of(schema, c, text), v);
            }
        brume_schema_close(schema);
    }
}

static void with_other_everything_has_a_value(void **state)
{
    (void)state;
    brume_schema *schema = hospital(true);
    assert_int_equal(value_of(schema, 0, "maternity"), 3);
    assert_int_equal(value_of(schema, 0, "other"), 2); /* the label, not what is outside */
    assert_int_equal(value_of(schema, 1, NULL), 5);
    assert_int_equal(value_of(schema, 2, ""), 10);
    brume_schema_close(schema);
}

/* Every table of up to two rows over odd texts, and every row more or other: the histograms are
 * neighbours, or the same. */
static void neighbouring_tables_have_neighbouring_histograms(void **state)
{
    (void)state;
    static const char *const odd[] = {"surgery", "medicine", "x", "", NULL, "55", "1e999", "nan"};
    enum { ODD = sizeof odd / sizeof *odd, ROWS = ODD * ODD * ODD, CELLS = 4 * 6 * 11 };
    for (int other = 0; other < 2; other++)
        for (int replace = 0; replace < 2; replace++) {
            brume_adjacency adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
            brume_schema *schema = hospital(other);
            brume_universe universe;
            brume_error error = {0};
            assert_ok(brume_schema_universe(schema, &universe, &error));
            static double one[ROWS][CELLS];
            for (int row = 0; row < ROWS; row++) {
                const char *texts[] = {odd[row % ODD], odd[row / ODD % ODD], odd[row / ODD / ODD]};
                uint64_t cell = CELLS;
                bool counts = brume_schema_cell(schema, &universe, adjacency, texts, &cell);
                double sum = 0;
                memset(one[row], 0, sizeof one[row]);
                if (counts) {
                    assert_holds(cell < universe.cells);
                    one[row][cell] = 1;
                }
                for (int i = 0; i < CELLS; i++)
                    sum += one[row][i];
                /* under replace, and where everything has a value, every row counts */
                assert_holds(sum == 1 || (sum == 0 && !replace && !other));
            }
            /* rows are read one by one, so a table's histogram is the sum of its rows' */
            for (int a = 0; replace && a < ROWS; a += 7)
                for (int b = 0; b < ROWS; b++) {
                    double more = 0, less = 0;
                    for (int i = 0; i < CELLS; i++) {
                        more += fmax(one[b][i] - one[a][i], 0);
                        less += fmax(one[a][i] - one[b][i], 0);
                    }
                    assert_holds(more == less && more <= 1);
                }
            brume_schema_close(schema);
        }
}

static void bad_columns_are_refused_and_leave_the_schema_as_it_was(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_schema *schema = hospital(false);
    const char *const twice[] = {"a", "b", "a"}, *const same[] = {"1", "2", "1.0"};
    const char *const empty[] = {"a", ""};
    assert_fails(brume_schema_add_labels(schema, "x", twice, 3, false, &error), BRUME_EARGUMENT);
    assert_fails(brume_schema_add_labels(schema, "x", same, 3, false, &error), BRUME_EARGUMENT);
    assert_fails(brume_schema_add_labels(schema, "x", empty, 2, false, &error), BRUME_EARGUMENT);
    assert_fails(brume_schema_add_labels(schema, "x", twice, 0, false, &error), BRUME_EARGUMENT);
    assert_fails(brume_schema_add_labels(schema, "ward", wards, 3, false, &error), BRUME_EARGUMENT);
    assert_fails(brume_schema_add_labels(schema, "", wards, 3, false, &error), BRUME_EARGUMENT);
    assert_fails(brume_schema_add_bins(schema, "x", 1, 1, 5, false, &error), BRUME_EARGUMENT);
    assert_fails(brume_schema_add_bins(schema, "x", 0, NAN, 5, false, &error), BRUME_EARGUMENT);
    assert_fails(brume_schema_add_bins(schema, "x", 0, 1, 0, false, &error), BRUME_EARGUMENT);
    assert_int_equal(brume_schema_columns(schema), 3);
    for (int i = 3; i < BRUME_SCHEMA_COLUMNS; i++) {
        char name[8];
        snprintf(name, sizeof name, "c%d", i);
        assert_ok(brume_schema_add_bins(schema, name, 0, 1, 1 << 20, false, &error));
    }
    assert_fails(brume_schema_add_bins(schema, "last", 0, 1, 2, false, &error), BRUME_EARGUMENT);
    brume_universe universe;
    assert_fails(brume_schema_universe(schema, &universe, &error),
                 BRUME_EARGUMENT); /* too many columns */
    brume_schema_close(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_found_by_bytes_and_numbers_by_size),
        cmocka_unit_test(bins_hold_their_lower_edge_and_the_last_one_both),
        cmocka_unit_test(every_value_reads_back_from_its_text),
        cmocka_unit_test(with_other_everything_has_a_value),
        cmocka_unit_test(neighbouring_tables_have_neighbouring_histograms),
        cmocka_unit_test(bad_columns_are_refused_and_leave_the_schema_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
