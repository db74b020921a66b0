/* Charged releases that are not SQL: what is wrong with the public size of a table is found before
 * anything is charged. */
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#include "query/charged.h"
#include "query/policy.h"
#include "random/tape.h"

typedef struct place {
    char folder[64], csv[96], path[96];
    brume_ledger *ledger;
    brume_bits *bits;
} place;

/* A registered table of `rows` rows, each of them a unit. */
static void open_place(place *all, int rows, brume_adjacency adjacency)
{
    brume_error error = {0};
    snprintf(all->folder, sizeof all->folder, "/tmp/brume-charged-XXXXXX");
    assert_non_null(mkdtemp(all->folder));
    snprintf(all->csv, sizeof all->csv, "%s/t.csv", all->folder);
    snprintf(all->path, sizeof all->path, "%s/brume.db", all->folder);
    FILE *file = fopen(all->csv, "w");
    assert_non_null(file);
    fputs("age\n", file);
    for (int i = 0; i < rows; i++)
        fprintf(file, "%d\n", 20 + i);
    assert_int_equal(fclose(file), 0);

    brume_source source = {.location = all->csv};
    brume_engine *engine = NULL;
    brume_description description = {0};
    brume_policy *policy = NULL;
    brume_decimal epsilon;
    brume_filter filter;
    assert_ok(brume_ledger_open(all->path, BRUME_LEDGER_CREATE, &all->ledger, &error));
    all->bits = brume_tape_open_seeded(1);
    assert_ok(brume_engine_open(&source, 1, &engine, &error));
    assert_ok(brume_engine_describe(engine, 0, &description, &error));
    brume_engine_close(engine);
    assert_ok(brume_policy_make(all->csv, NULL, &description, &policy, &error));
    assert_ok(brume_decimal_parse("1", &epsilon, &error));
    assert_ok(brume_filter_make(BRUME_RULE_PURE, &epsilon, NULL, NULL, &filter, &error));
    json_t *json = brume_policy_to_json(policy);
    brume_registration registration = {.name = "t",
                                       .source = description.identity,
                                       .data_version = "1",
                                       .adjacency = adjacency,
                                       .filter = &filter,
                                       .policy = json};
    assert_ok(brume_ledger_register(all->ledger, &registration, &error));
    json_decref(json);
    brume_policy_close(policy);
    brume_description_clear(&description);
}

static void close_place(place *all)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    brume_ledger_close(all->ledger);
    brume_bits_close(all->bits);
    for (size_t i = 0; i < 3; i++) {
        char path[120];
        snprintf(path, sizeof path, "%s%s", all->path, endings[i]);
        unlink(path);
    }
    unlink(all->csv);
    rmdir(all->folder);
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

static brume_status release(const place *all, brume_adjacency adjacency, uint64_t most, int *rows,
                            brume_error *error)
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

static uint64_t queries(const place *all)
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
    place all;
    brume_error error = {0};
    int rows = 0;
    open_place(&all, 5, BRUME_REPLACE);
    assert_fails(release(&all, BRUME_REPLACE, 4, &rows, &error), BRUME_EARGUMENT);
    assert_string_equal(error.message, "'t' has more than 4 rows: nothing was charged");
    assert_int_equal(queries(&all), 0);
    assert_ok(release(&all, BRUME_REPLACE, 5, &rows, &error));
    assert_int_equal(rows, 5);
    assert_int_equal(queries(&all), 1);
    close_place(&all);
}

static void the_number_of_rows_decides_nothing_under_add_remove(void **state)
{
    (void)state;
    place all;
    brume_error error = {0};
    int rows = 0;
    open_place(&all, 5, BRUME_ADD_REMOVE);
    assert_ok(release(&all, BRUME_ADD_REMOVE, 4, &rows, &error));
    assert_int_equal(rows, 5);
    assert_int_equal(queries(&all), 1);
    close_place(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_many_rows_are_refused_before_the_charge_under_replace),
        cmocka_unit_test(the_number_of_rows_decides_nothing_under_add_remove),
    };
    return cmocka_run_group_tests_name("charged releases", tests, NULL, NULL);
}
