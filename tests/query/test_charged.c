/* Charged releases that are not SQL: what is wrong with the public size of a table is found before
 * anything is charged. */
#include "check.h"

#include "query/release/charged.h"
#include "registered.h"

/* A registered table of `rows` rows, each of them a unit. */
static void open_place(registered *all, int rows, brume_adjacency adjacency)
{
    registered_terms terms = {"t", BRUME_RULE_PURE, "1", NULL, adjacency};
    FILE *file = registered_begin(all);
    fputs("age\n", file);
    for (int i = 0; i < rows; i++)
        fprintf(file, "%d\n", 20 + i);
    registered_open(all, file, 1);
    registered_enter(all->ledger, registered_file(all->csv, "age bigint"), &terms);
}

/* How many rows the file has. */
static brume_status count_lines(void *context, const char *path, brume_bits *bits, json_t **answer,
                                brume_error *error)
{
    (void)bits;
    (void)error;
    int *rows = context;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    *rows = -1; /* the header */
    for (int c; (c = fgetc(file)) != EOF;)
        *rows += c == '\n';
    fclose(file);
    *answer = json_pack("{s:i}", "rows", *rows);
    return BRUME_OK;
}

static brume_status release(const registered *all, brume_adjacency adjacency, uint64_t most,
                            int *rows, brume_error *error)
{
    json_t *answer = NULL;
    brume_charged charged = {.dataset = "t",
                             .adjacency = adjacency,
                             .epsilon = "0.5",
                             .needs_rows = true,
                             .most_rows = most,
                             .what = "rows",
                             .draw = count_lines,
                             .context = rows};
    brume_status status =
        brume_charged_release(all->ledger, &charged, all->bits, NULL, &answer, error);
    json_decref(answer);
    return status;
}

static uint64_t queries(const registered *all)
{
    brume_error error = {0};
    brume_dataset *dataset = NULL;
    assert_ok(brume_ledger_dataset(all->ledger, "t", &dataset, &error));
    uint64_t count = dataset->queries;
    brume_dataset_close(dataset);
    return count;
}

static void too_many_rows_are_refused_before_the_charge_under_replace(void **state)
{
    (void)state;
    registered all;
    brume_error error = {0};
    int rows = 0;
    open_place(&all, 5, BRUME_REPLACE);
    assert_fails(release(&all, BRUME_REPLACE, 4, &rows, &error), BRUME_EARGUMENT);
    assert_string_equal(error.message, "'t' has more than 4 rows: nothing was charged");
    assert_int_equal(queries(&all), 0);
    assert_ok(release(&all, BRUME_REPLACE, 5, &rows, &error));
    assert_int_equal(rows, 5);
    assert_int_equal(queries(&all), 1);
    registered_close(&all);
}

static void the_number_of_rows_decides_nothing_under_add_remove(void **state)
{
    (void)state;
    registered all;
    brume_error error = {0};
    int rows = 0;
    open_place(&all, 5, BRUME_ADD_REMOVE);
    assert_ok(release(&all, BRUME_ADD_REMOVE, 4, &rows, &error));
    assert_int_equal(rows, 5);
    assert_int_equal(queries(&all), 1);
    registered_close(&all);
}

/* Under replace the number of rows is public, so that no line may vanish. */
static void every_line_is_a_row_of_the_release(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "30", "unknown", "", "\"", "\"4\"4", "1,2,3", "\xff", "\r", "99999999999999999999", "{"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        registered all;
        registered_terms terms = {"t", BRUME_RULE_PURE, "1", NULL, BRUME_REPLACE};
        brume_error error = {0};
        int rows = 0;
        FILE *file = registered_begin(&all);
        fputs("age\n", file);
        for (int line = 0; line < 50; line++)
            fprintf(file, "%s\n", line == 20 ? lines[i] : "44");
        registered_open(&all, file, 1);
        registered_enter(all.ledger, registered_file(all.csv, "age bigint"), &terms);
        assert_ok(release(&all, BRUME_REPLACE, 0, &rows, &error));
        assert_int_equal(rows, 50);
        registered_close(&all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_many_rows_are_refused_before_the_charge_under_replace),
        cmocka_unit_test(the_number_of_rows_decides_nothing_under_add_remove),
        cmocka_unit_test(every_line_is_a_row_of_the_release),
    };
    return cmocka_run_group_tests_name("charged releases", tests, NULL, NULL);
}
