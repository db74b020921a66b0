/* Totals of units: histograms of norms and sums under limits against a plain computation, whatever
 * the order of the rows; and that a unit's rows move nobody else's contribution. */
#include "check.h"

#include <stdlib.h>

#include "query/collect/totals.h"
#include "query/limit/clip.h"
#include "query/limit/grid.h"
#include "random/tape.h"
#include "sequence.h"

enum { ROWS = 600, UNITS = 40, CELLS = 5, BINS = 20, SUMS = 7 };

typedef struct table {
    size_t rows;
    int64_t unit[ROWS], cell[ROWS], value[ROWS];
    bool null[ROWS];
} table;

static uint64_t next_random(uint64_t *state)
{
    return sequence_next(state) >> 33;
}

static table random_table(uint64_t seed, size_t rows)
{
    table made = {.rows = rows};
    for (size_t i = 0; i < rows; i++) {
        uint64_t unit = next_random(&seed) % UNITS;
        made.unit[i] = (int64_t)(next_random(&seed) % 3 ? unit / 8 : unit); /* some have many */
        made.cell[i] = (int64_t)(next_random(&seed) % CELLS);
        made.value[i] = (int64_t)(next_random(&seed) % 21) - 10;
        made.null[i] = next_random(&seed) % 5 == 0;
    }
    return made;
}

static const brume_bound_value value_plan = {.low = -10, .high = 10, .centre = 2, .squares = true};

static void take_rows(brume_bounder *bounder, const table *data, bool keys, size_t first,
                      size_t step, size_t copy)
{
    brume_error error = {0};
    size_t rows = data->rows - first < step ? data->rows - first : step;
    uint64_t valid[ROWS / 64 + 1];
    int64_t units[ROWS];
    memset(valid, 0xff, sizeof valid);
    for (size_t i = 0; i < rows; i++) {
        units[i] = data->unit[first + i] + (int64_t)(UNITS * copy);
        if (data->null[first + i])
            valid[i / 64] &= ~(UINT64_C(1) << i % 64);
    }
    brume_chunk_column columns[] = {
        {.wire = BRUME_WIRE_INTEGER, .integers = units},
        {.wire = BRUME_WIRE_INTEGER, .integers = data->cell + first},
        {.wire = BRUME_WIRE_INTEGER, .integers = data->value + first, .valid = valid}};
    if (!keys)
        columns[1] = columns[2];
    brume_chunk chunk = {.row_count = rows, .column_count = keys ? 3 : 2, .columns = columns};
    assert_ok(brume_bounder_take(bounder, &chunk, &error));
}

/* The rows of copy c belong to units of their own, UNITS * c and above. */
static brume_bounder *take(const table *data, bool keys, size_t step, size_t copies,
                           brume_bounded_group **groups, size_t *count)
{
    static const brume_wire wires[] = {BRUME_WIRE_INTEGER};
    brume_error error = {0};
    brume_bound_plan plan = {.key_count = keys,
                             .key_wires = wires,
                             .value_count = 1,
                             .values = &value_plan,
                             .closed = true,
                             .totals = true};
    brume_bits *bits = brume_tape_open_seeded(7);
    brume_bounder *bounder = NULL;
    assert_ok(brume_bounder_open(&plan, bits, &bounder, &error));
    for (int64_t g = 0; g < (keys ? CELLS - 1 : 1); g++) { /* the last cell is not declared */
        brume_key_value key = {.wire = BRUME_WIRE_INTEGER, .integer = g};
        assert_ok(brume_bounder_declare(bounder, &key, &error));
    }
    for (size_t copy = 0; copy < copies; copy++)
        for (size_t first = 0; first < data->rows; first += step)
            take_rows(bounder, data, keys, first, step, copy);
    const brume_bounded_group *found = NULL;
    assert_ok(brume_bounder_finish(bounder, &found, count, &error));
    *groups = (brume_bounded_group *)found;
    brume_bits_close(bits);
    return bounder;
}

/* ---- the same by plain loops ---- */

typedef struct unit_totals {
    int64_t rows[CELLS], values[CELLS], sum[CELLS], centred[CELLS], squares[CELLS];
} unit_totals;

static void total_up(const table *data, bool keys, unit_totals *units)
{
    memset(units, 0, UNITS * sizeof *units);
    for (size_t i = 0; i < data->rows; i++) {
        unit_totals *to = &units[data->unit[i]];
        size_t cell = keys ? (size_t)data->cell[i] : 0;
        int64_t x = data->value[i] - value_plan.centre;
        if (keys && cell == CELLS - 1)
            continue;
        to->rows[cell]++;
        if (data->null[i])
            continue;
        to->values[cell]++;
        to->sum[cell] += data->value[i];
        to->centred[cell] += x;
        to->squares[cell] += x * x - 50;
    }
}

static int64_t entry(const unit_totals *unit, brume_total_kind kind, size_t cell)
{
    switch (kind) {
    case BRUME_TOTAL_PRESENCE:
        return unit->rows[cell] > 0;
    case BRUME_TOTAL_ROWS:
        return unit->rows[cell];
    case BRUME_TOTAL_VALUES:
        return unit->values[cell];
    case BRUME_TOTAL_SUM:
        break;
    }
    return unit->sum[cell];
}

static brume_u128 norm_of(const unit_totals *unit, brume_total_kind kind, int p)
{
    brume_u128 norm = 0;
    for (size_t k = 0; k < CELLS; k++)
        norm += brume_limit_part(entry(unit, kind, k), p);
    return norm;
}

static const brume_total_limit limits[] = {{{.kind = BRUME_TOTAL_PRESENCE}, 2, 3},
                                           {{.kind = BRUME_TOTAL_ROWS}, 12, 0},
                                           {{.kind = BRUME_TOTAL_VALUES}, 8, 0},
                                           {{.kind = BRUME_TOTAL_SUM}, 24, 0}};
static const brume_limited_sum sums[SUMS] = {
    {BRUME_MEASURE_PRESENCE, 0, 0, 0, 9, 0}, {BRUME_MEASURE_ROWS, 0, 0, 1, 9, 0},
    {BRUME_MEASURE_VALUES, 0, 0, 2, 9, 0},   {BRUME_MEASURE_CENTRED, 0, 0, 2, 9, 0},
    {BRUME_MEASURE_SQUARES, 0, 50, 2, 9, 0}, {BRUME_MEASURE_DIRECT, 0, 0, 3, 9, 0},
    {BRUME_MEASURE_HOLDERS, 0, 0, 0, 9, 0}};

static int64_t expected(const unit_totals *unit, const brume_limited_sum *sum, size_t cell, int p)
{
    const brume_total_limit *limit = &limits[sum->limit];
    brume_u128 norm = norm_of(unit, limit->of.kind, p);
    brume_limit_factor factor = p == 2 && limit->square
                                    ? brume_limit_factor_within(norm, limit->square)
                                    : brume_limit_factor_of(norm, limit->limit, p);
    if (sum->kind == BRUME_MEASURE_CENTRED)
        return brume_limit_follow(unit->centred[cell], &factor, sum->shift);
    if (sum->kind == BRUME_MEASURE_SQUARES)
        return brume_limit_follow(unit->squares[cell], &factor, sum->shift);
    if (sum->kind == BRUME_MEASURE_HOLDERS)
        return brume_limit_follow(unit->values[cell] > 0, &factor, sum->shift);
    return brume_limit_clip(entry(unit, limit->of.kind, cell), &factor, limit->limit, sum->shift,
                            p);
}

static void check_sums(const brume_bounded_group *groups, size_t count, const unit_totals *units,
                       int p)
{
    size_t cut = 0;
    for (size_t g = 0; g < count; g++)
        for (size_t s = 0; s < SUMS; s++) {
            brume_i128 sum = 0;
            for (size_t u = 0; u < UNITS; u++)
                sum += expected(&units[u], &sums[s], g, p);
            assert_true(groups[g].limited[s] == sum);
        }
    for (size_t u = 0; u < UNITS; u++)
        cut += brume_limit_factor_of(norm_of(&units[u], BRUME_TOTAL_ROWS, p), 12, p).cuts;
    assert_true(cut > 0 && cut < UNITS); /* else the limits are not tested */
}

static void totals_are_right_in_every_order(void **state)
{
    (void)state;
    brume_error error = {0};
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (int keys = 0; keys < 2; keys++) {
            table data = random_table(seed, ROWS);
            unit_totals units[UNITS];
            total_up(&data, keys, units);
            brume_bounded_group *groups = NULL;
            size_t count = 0;
            brume_bounder *bounder = take(&data, keys, seed % 2 ? 600 : 77, 1, &groups, &count);
            assert_int_equal(count, keys ? CELLS - 1 : 1);
            for (int p = 1; p <= 2; p++) {
                for (size_t i = 0; i < 4; i++) {
                    uint64_t bins[BINS], right[BINS] = {0};
                    for (size_t u = 0; u < UNITS; u++) {
                        size_t bin =
                            brume_limit_bin(norm_of(&units[u], limits[i].of.kind, p), p, BINS);
                        if (bin != BRUME_LIMIT_NO_BIN)
                            right[bin]++;
                    }
                    assert_ok(brume_totals_histogram(bounder, &limits[i].of, p, BINS, NULL, bins,
                                                     &error));
                    assert_memory_equal(bins, right, sizeof bins);
                }
                assert_ok(brume_totals_limit(bounder, limits, 4, p, NULL, sums, SUMS, groups, count,
                                             &error));
                check_sums(groups, count, units, p);
            }
            brume_bounder_close(bounder);
        }
}

/* A group that is not shown counts for nothing: not in norms, not in sums. */
static void only_shown_groups_count(void **state)
{
    (void)state;
    brume_error error = {0};
    table data = random_table(11, ROWS);
    unit_totals units[UNITS];
    total_up(&data, true, units);
    brume_bounded_group *groups = NULL;
    size_t count = 0;
    brume_bounder *bounder = take(&data, true, 100, 1, &groups, &count);
    bool shown[CELLS] = {false};
    shown[groups[1].number] = true;
    for (size_t u = 0; u < UNITS; u++)
        for (size_t k = 0; k < CELLS; k++)
            if (k != 1)
                units[u].rows[k] = 0;
    uint64_t bins[BINS], right[BINS] = {0};
    for (size_t u = 0; u < UNITS; u++)
        if (units[u].rows[1] > 0)
            right[brume_limit_bin(norm_of(&units[u], BRUME_TOTAL_ROWS, 1), 1, BINS)]++;
    assert_ok(brume_totals_histogram(bounder, &limits[1].of, 1, BINS, shown, bins, &error));
    assert_memory_equal(bins, right, sizeof bins);
    assert_ok(brume_totals_limit(bounder, limits, 4, 1, shown, sums, SUMS, groups, count, &error));
    assert_true(groups[0].limited[1] == 0 && groups[2].limited[1] == 0);
    brume_i128 sum = 0;
    for (size_t u = 0; u < UNITS; u++)
        sum += expected(&units[u], &sums[1], 1, 1);
    assert_true(groups[1].limited[1] == sum);
    brume_bounder_close(bounder);
}

/* The sums with a unit less its own contribution are the sums without it, exactly: nobody else's
 * factor moves. A factor from a sum of doubles in the order of rows would fail here. */
static void a_unit_moves_nobody_elses_contribution(void **state)
{
    (void)state;
    brume_error error = {0};
    for (int64_t gone = 0; gone < 5; gone++) {
        table data = random_table(21, ROWS), rest = {0};
        for (size_t i = 0; i < data.rows; i++)
            if (data.unit[i] != gone) {
                rest.unit[rest.rows] = data.unit[i];
                rest.cell[rest.rows] = data.cell[i];
                rest.value[rest.rows] = data.value[i];
                rest.null[rest.rows++] = data.null[i];
            }
        unit_totals units[UNITS];
        total_up(&data, true, units);
        brume_bounded_group *groups[2];
        size_t count[2];
        brume_bounder *bounders[] = {take(&data, true, 50, 1, &groups[0], &count[0]),
                                     take(&rest, true, 600, 1, &groups[1], &count[1])};
        for (int p = 1; p <= 2; p++) {
            for (int i = 0; i < 2; i++)
                assert_ok(brume_totals_limit(bounders[i], limits, 4, p, NULL, sums, SUMS, groups[i],
                                             count[i], &error));
            for (size_t g = 0; g < count[0]; g++)
                for (size_t s = 0; s < SUMS; s++)
                    assert_true(groups[0][g].limited[s] - groups[1][g].limited[s] ==
                                expected(&units[gone], &sums[s], g, p));
        }
        brume_bounder_close(bounders[0]);
        brume_bounder_close(bounders[1]);
    }
}

/* As many units as several processors share: copies of the table with other units. Sums and counts
 * are those of one copy, times the copies. */
static void many_units_add_up(void **state)
{
    (void)state;
    enum { COPIES = 6000 };
    brume_error error = {0};
    table data = random_table(31, ROWS);
    unit_totals units[UNITS];
    total_up(&data, true, units);
    brume_bounded_group *groups[2];
    size_t count[2];
    brume_bounder *one = take(&data, true, ROWS, 1, &groups[0], &count[0]),
                  *many = take(&data, true, ROWS, COPIES, &groups[1], &count[1]);
    for (int p = 1; p <= 2; p++) {
        for (size_t i = 0; i < 4; i++) {
            uint64_t bins[BINS], all[BINS];
            assert_ok(brume_totals_histogram(one, &limits[i].of, p, BINS, NULL, bins, &error));
            assert_ok(brume_totals_histogram(many, &limits[i].of, p, BINS, NULL, all, &error));
            for (size_t b = 0; b < BINS; b++)
                assert_int_equal(all[b], COPIES * bins[b]);
        }
        assert_ok(
            brume_totals_limit(one, limits, 4, p, NULL, sums, SUMS, groups[0], count[0], &error));
        assert_ok(
            brume_totals_limit(many, limits, 4, p, NULL, sums, SUMS, groups[1], count[1], &error));
        assert_int_equal(count[0], count[1]);
        check_sums(groups[0], count[0], units, p);
        for (size_t g = 0; g < count[0]; g++)
            for (size_t s = 0; s < SUMS; s++)
                assert_true(groups[1][g].limited[s] == COPIES * groups[0][g].limited[s]);
    }
    brume_bounder_close(one);
    brume_bounder_close(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_are_right_in_every_order),
        cmocka_unit_test(only_shown_groups_count),
        cmocka_unit_test(a_unit_moves_nobody_elses_contribution),
        cmocka_unit_test(many_units_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
