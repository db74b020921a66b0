/* Lists of values with weights against a plain computation, on random small tables: with keys and
 * without, units that are numbers and texts, narrow and wide bounds, with breakers and without. */
#include "check.h"

#include <stdlib.h>

#include "query/collect/totals.h"
#include "query/limit/clip.h"
#include "random/tape.h"

enum { ROWS = 400, UNITS = 40, CELLS = 3, VALUES = 3, LIMIT = 5, LISTED = 1 };

typedef struct table {
    int64_t unit[ROWS], cell[ROWS], value[VALUES][ROWS];
    bool null[VALUES][ROWS];
    char text[ROWS][8];
    brume_text name[ROWS]; /* of the unit */
} table;

typedef struct kind {
    bool keys, text, wide, breakers, hidden; /* hidden: cell 1 is not shown */
} kind;

static table random_table(uint64_t seed, bool wide)
{
    table made;
    for (size_t i = 0; i < ROWS; i++) {
        uint64_t unit = brume_tape_splitmix(&seed) % UNITS;
        made.unit[i] = (int64_t)(brume_tape_splitmix(&seed) % 3 ? unit / 8 : unit);
        made.cell[i] = (int64_t)(brume_tape_splitmix(&seed) % CELLS);
        for (size_t v = 0; v < VALUES; v++) {
            made.value[v][i] = (int64_t)(brume_tape_splitmix(&seed) % 31) - 15; /* -10 .. 10 */
            made.value[v][i] *= wide ? INT64_C(1) << 40 : 1;
            made.null[v][i] = brume_tape_splitmix(&seed) % 5 == 0;
        }
    }
    return made;
}

static void take_rows(brume_bounder *bounder, table *data, kind how)
{
    brume_error error = {0};
    uint64_t valid[VALUES][ROWS / 64 + 1] = {{0}};
    brume_chunk_column columns[2 + VALUES];
    size_t count = 0;
    columns[count++] = (brume_chunk_column){.wire = BRUME_WIRE_INTEGER, .integers = data->unit};
    for (size_t i = 0; i < ROWS; i++) {
        int length = snprintf(data->text[i], sizeof data->text[i], "u%d", (int)data->unit[i]);
        data->name[i] = (brume_text){data->text[i], (size_t)length};
    }
    if (how.text)
        columns[0] = (brume_chunk_column){.wire = BRUME_WIRE_TEXT, .texts = data->name};
    if (how.keys)
        columns[count++] = (brume_chunk_column){.wire = BRUME_WIRE_INTEGER, .integers = data->cell};
    for (size_t v = 0; v < VALUES; v++) {
        for (size_t i = 0; i < ROWS; i++)
            valid[v][i / 64] |= (uint64_t)!data->null[v][i] << i % 64;
        columns[count++] = (brume_chunk_column){
            .wire = BRUME_WIRE_INTEGER, .integers = data->value[v], .valid = valid[v]};
    }
    brume_chunk chunk = {ROWS, count, columns};
    assert_ok(brume_bounder_take(bounder, &chunk, &error));
}

static brume_bounder *open_bounder(kind how)
{
    static const brume_wire wire = BRUME_WIRE_INTEGER;
    brume_error error = {0};
    int64_t step = how.wide ? INT64_C(1) << 40 : 1;
    brume_bound_value values[VALUES];
    for (size_t v = 0; v < VALUES; v++)
        values[v] = (brume_bound_value){.low = -10 * step,
                                        .high = 10 * step,
                                        .keep = v != 0,
                                        .no_breakers = !how.breakers,
                                        .no_sum = v == LISTED};
    brume_bound_plan plan = {.key_count = how.keys,
                             .key_wires = &wire,
                             .value_count = VALUES,
                             .values = values,
                             .totals = true};
    brume_bits *bits = brume_tape_open_seeded(3);
    brume_bounder *bounder = NULL;
    assert_ok(brume_bounder_open(&plan, bits, &bounder, &error));
    brume_bits_close(bits);
    return bounder;
}

typedef struct item {
    int64_t value;
    uint32_t weight;
} item;

static int compare_items(const void *left, const void *right)
{
    const item *a = left, *b = right;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return (a->weight > b->weight) - (a->weight < b->weight);
}

static bool counts(const table *data, kind how, size_t row, size_t value)
{
    return !data->null[value][row] && !(how.hidden && data->cell[row] == 1);
}

/* What the definition says; returns how many. */
static size_t list_plainly(const table *data, kind how, int64_t cell, size_t value, item *out)
{
    size_t count = 0;
    int64_t most = 10 * (how.wide ? INT64_C(1) << 40 : 1);
    for (size_t i = 0; i < ROWS; i++) {
        uint64_t of_unit = 0;
        if (!counts(data, how, i, value) || (how.keys && data->cell[i] != cell))
            continue;
        for (size_t j = 0; j < ROWS; j++)
            of_unit += data->unit[j] == data->unit[i] && counts(data, how, j, value);
        int64_t x = data->value[value][i];
        out[count++] = (item){x < -most  ? -most
                              : x > most ? most
                                         : x,
                              of_unit <= LIMIT
                                  ? 1 << BRUME_LIMIT_WEIGHT_BITS
                                  : (uint32_t)((LIMIT << BRUME_LIMIT_WEIGHT_BITS) / of_unit)};
    }
    qsort(out, count, sizeof *out, compare_items);
    return count;
}

static void compare_lists(const table *data, kind how, const brume_bounded_group *group)
{
    for (size_t v = LISTED; v < VALUES; v++) {
        item expected[ROWS], found[ROWS];
        int64_t cell = how.keys ? group->keys[0].integer : 0;
        size_t count = list_plainly(data, how, cell, v, expected);
        const brume_bounded_value *value = &group->values[v];
        assert_int_equal(value->count, count);
        for (size_t i = 0; i < count; i++)
            found[i] = (item){value->kept[i], value->weights[i]};
        qsort(found, count, sizeof *found, compare_items);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(compare_items(&found[i], &expected[i]), 0);
        assert_int_equal(value->breaker != NULL, how.breakers);
        for (size_t i = 1; how.breakers && i < count;
             i++) /* 32 bits: equal once in 50,000 tables */
            for (size_t j = 0; j < i; j++)
                assert_int_not_equal(value->breaker[i], value->breaker[j]);
    }
}

static void lists_are_those_of_the_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 96; seed++) {
        kind how = {seed & 1, seed & 2, seed & 4, seed & 8, (seed & 1) && (seed & 16)};
        table data = random_table(seed, how.wide);
        brume_error error = {0};
        brume_bounder *bounder = open_bounder(how);
        take_rows(bounder, &data, how);
        const brume_bounded_group *groups = NULL;
        size_t count = 0;
        assert_ok(brume_bounder_finish(bounder, &groups, &count, &error));
        assert_int_equal(count, how.keys ? CELLS : 1);
        const brume_total_limit limits[] = {{{.kind = BRUME_TOTAL_VALUES, .value = 1}, LIMIT, 0},
                                            {{.kind = BRUME_TOTAL_VALUES, .value = 2}, LIMIT, 0}};
        const brume_limited_list lists[] = {{1, 0}, {2, 1}};
        bool shown[CELLS];
        for (size_t i = 0; i < count; i++)
            shown[groups[i].number] = !(how.hidden && groups[i].keys[0].integer == 1);
        assert_ok(brume_totals_list(bounder, limits, how.hidden ? shown : NULL, lists, 2, &error));
        for (size_t i = 0; i < count; i++)
            if (!how.hidden || shown[groups[i].number])
                compare_lists(&data, how, &groups[i]);
        brume_bounder_close(bounder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_are_those_of_the_definition)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
