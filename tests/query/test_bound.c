/* Bounding: exact where nothing is cut, the same in every order, and one unit's business alone. */
#include "check.h"

#include <stdlib.h>

#include "query/collect/bound.h"
#include "query/collect/collect_parts.h"
#include "query/collect/siphash.h"
#include "random/tape.h"

enum { ROWS = 400, GROUPS_MOST = 64 };

typedef struct table {
    size_t rows;
    int64_t unit[ROWS], group[ROWS], value[ROWS];
    bool null[ROWS];
} table;

typedef struct summary {
    size_t groups;
    int64_t key[GROUPS_MOST];
    uint64_t units[GROUPS_MOST], rows[GROUPS_MOST], values[GROUPS_MOST];
    int64_t sum[GROUPS_MOST], squares[GROUPS_MOST];
    int64_t kept_sum[GROUPS_MOST]; /* of the listed values */
} summary;

static const brume_bound_value value_plan = {
    .low = -50, .high = 50, .centre = 3, .squares = true, .keep = true};

static brume_bound_plan plan_of(uint64_t max_groups)
{
    static const brume_wire wires[] = {BRUME_WIRE_INTEGER};
    return (brume_bound_plan){.max_groups = max_groups,
                              .key_count = 1,
                              .key_wires = wires,
                              .value_count = 1,
                              .values = &value_plan};
}

static void feed(brume_bounder *bounder, const table *data, size_t first, size_t last)
{
    brume_error error = {0};
    uint64_t valid[ROWS / 64 + 1];
    memset(valid, 0xff, sizeof valid);
    for (size_t i = first; i < last; i++)
        if (data->null[i])
            valid[(i - first) / 64] &= ~(UINT64_C(1) << ((i - first) % 64));
    brume_chunk_column columns[] = {
        {.wire = BRUME_WIRE_INTEGER, .integers = data->unit + first},
        {.wire = BRUME_WIRE_INTEGER, .integers = data->group + first},
        {.wire = BRUME_WIRE_INTEGER, .integers = data->value + first, .valid = valid}};
    brume_chunk chunk = {.row_count = last - first, .column_count = 3, .columns = columns};
    assert_ok(brume_bounder_take(bounder, &chunk, &error));
}

static void bound(const brume_bound_plan *plan, const table *data, uint64_t seed, summary *out)
{
    brume_error error = {0};
    brume_bits *bits = brume_tape_open_seeded(seed);
    brume_bounder *bounder = NULL;
    assert_ok(brume_bounder_open(plan, bits, &bounder, &error));
    for (int64_t g = 0; plan->closed && g < 3; g++) {
        brume_key_value key = {.wire = BRUME_WIRE_INTEGER, .integer = g};
        assert_ok(brume_bounder_declare(bounder, &key, &error));
    }
    for (size_t first = 0; first < data->rows; first += 77)
        feed(bounder, data, first, first + 77 < data->rows ? first + 77 : data->rows);
    const brume_bounded_group *groups = NULL;
    memset(out, 0, sizeof *out);
    assert_ok(brume_bounder_finish(bounder, &groups, &out->groups, &error));
    for (size_t i = 0; i < out->groups; i++) {
        out->key[i] = groups[i].keys[0].integer;
        out->units[i] = groups[i].units;
        out->rows[i] = groups[i].rows;
        if (plan->value_count == 0)
            continue;
        out->values[i] = groups[i].values[0].count;
        out->sum[i] = (int64_t)groups[i].values[0].sum;
        out->squares[i] = (int64_t)groups[i].values[0].squares;
        for (size_t j = 0; j < groups[i].values[0].count; j++)
            out->kept_sum[i] += groups[i].values[0].kept[j] - 3;
    }
    brume_bounder_close(bounder);
    brume_bits_close(bits);
}

static void make_table(table *data, uint64_t seed, int64_t units, int64_t groups)
{
    data->rows = ROWS;
    for (size_t i = 0; i < ROWS; i++) {
        data->unit[i] = (int64_t)(brume_tape_splitmix(&seed) % (uint64_t)units);
        data->group[i] = (int64_t)(brume_tape_splitmix(&seed) % (uint64_t)groups);
        data->value[i] = (int64_t)(brume_tape_splitmix(&seed) % 141) - 70; /* some are clamped */
        data->null[i] = brume_tape_splitmix(&seed) % 9 == 0;
    }
}

static int64_t clamped(int64_t x)
{
    return x < -50 ? -50 : x > 50 ? 50 : x;
}

static void nothing_is_cut_where_the_bounds_are_wide(void **state)
{
    (void)state;
    static table data;
    static summary got;
    make_table(&data, 1, 20, 7);
    for (size_t i = 0; i < data.rows; i++) /* a row is a unit */
        data.unit[i] = (int64_t)i;
    brume_bound_plan plan = plan_of(100);
    bound(&plan, &data, 5, &got);
    assert_int_equal(got.groups, 7);
    for (size_t g = 0; g < got.groups; g++) {
        int64_t sum = 0, squares = 0;
        uint64_t rows = 0, values = 0;
        for (size_t i = 0; i < data.rows; i++) {
            if (data.group[i] != got.key[g])
                continue;
            rows++;
            if (data.null[i])
                continue;
            values++;
            sum += clamped(data.value[i]) - 3;
            squares += (clamped(data.value[i]) - 3) * (clamped(data.value[i]) - 3);
        }
        assert_int_equal(got.key[g], g); /* in the order of keys */
        assert_int_equal(got.rows[g], rows);
        assert_int_equal(got.units[g], rows);
        assert_int_equal(got.values[g], values);
        assert_int_equal(got.sum[g], sum);
        assert_int_equal(got.squares[g], squares);
        assert_int_equal(got.kept_sum[g], sum);
    }
}

/* Value v of a row, and whether it is there: more values than a word has bits. */
enum { VALUES = 130 };

static int64_t wide_value(size_t row, size_t v)
{
    return (int64_t)((row * 31 + v * 17) % 101) - 50;
}

static bool wide_there(size_t row, size_t v)
{
    return (row + v) % 3 != 0;
}

static void check_wide(size_t value_count)
{
    enum { PEOPLE = 60 };
    static int64_t units[PEOPLE], keys[PEOPLE], cells[VALUES][PEOPLE];
    static uint64_t valid[VALUES][1];
    static brume_bound_value values[VALUES];
    static brume_chunk_column columns[2 + VALUES];
    brume_error error = {0};
    size_t count = PEOPLE;
    memset(valid, 0, sizeof valid);
    for (size_t v = 0; v < value_count; v++)
        values[v] = (brume_bound_value){.low = -50, .high = 50, .squares = v % 2, .keep = v == 129};
    for (size_t i = 0; i < count; i++) {
        units[i] = (int64_t)i;
        keys[i] = units[i] % 2;
        for (size_t v = 0; v < value_count; v++) {
            cells[v][i] = wide_value(i, v);
            valid[v][i / 64] |= (uint64_t)wide_there(i, v) << i % 64;
        }
    }
    columns[0] = (brume_chunk_column){.wire = BRUME_WIRE_INTEGER, .integers = units};
    columns[1] = (brume_chunk_column){.wire = BRUME_WIRE_INTEGER, .integers = keys};
    for (size_t v = 0; v < value_count; v++)
        columns[2 + v] = (brume_chunk_column){
            .wire = BRUME_WIRE_INTEGER, .integers = cells[v], .valid = valid[v]};
    brume_bound_plan plan = plan_of(1);
    plan.value_count = value_count;
    plan.values = values;
    brume_bits *bits = brume_tape_open_seeded(7);
    brume_bounder *bounder = NULL;
    const brume_bounded_group *groups = NULL;
    size_t found = 0;
    assert_ok(brume_bounder_open(&plan, bits, &bounder, &error));
    brume_chunk chunk = {count, 2 + value_count, columns};
    assert_ok(brume_bounder_take(bounder, &chunk, &error));
    assert_ok(brume_bounder_finish(bounder, &groups, &found, &error));
    assert_int_equal(found, 2);
    for (size_t v = 0; v < 2 * value_count; v++) {
        size_t group = v / value_count, at = v % value_count;
        int64_t sum = 0, squares = 0;
        uint64_t there = 0;
        for (size_t i = 0; i < count; i++) {
            if (keys[i] != (int64_t)group || !wide_there(i, at))
                continue;
            there++;
            sum += wide_value(i, at);
            squares += wide_value(i, at) * wide_value(i, at);
        }
        assert_int_equal(groups[group].values[at].count, there);
        assert_int_equal((int64_t)groups[group].values[at].sum, sum);
        assert_int_equal((int64_t)groups[group].values[at].squares, at % 2 ? squares : 0);
    }
    brume_bounder_close(bounder);
    brume_bits_close(bits);
}

static void more_values_than_a_word_has_bits_are_kept_apart(void **state)
{
    (void)state;
    check_wide(VALUES);
    check_wide(64); /* just as many */
}

static void shuffle(table *data, uint64_t seed)
{
    for (size_t i = data->rows - 1; i > 0; i--) {
        size_t j = brume_tape_splitmix(&seed) % (i + 1);
        int64_t unit = data->unit[i], group = data->group[i], value = data->value[i];
        bool null = data->null[i];
        data->unit[i] = data->unit[j], data->group[i] = data->group[j];
        data->value[i] = data->value[j], data->null[i] = data->null[j];
        data->unit[j] = unit, data->group[j] = group, data->value[j] = value, data->null[j] = null;
    }
}

static void the_order_of_rows_does_not_matter(void **state)
{
    (void)state;
    static table data;
    static summary first, again;
    for (uint64_t g = 1; g <= 5; g += 2)
        for (uint64_t made = 1; made <= 4; made++) {
            brume_bound_plan plan = plan_of(g);
            make_table(&data, 10 * g + made, 15, 12);
            bound(&plan, &data, 3, &first);
            for (uint64_t order = 0; order < 5; order++) {
                shuffle(&data, order);
                bound(&plan, &data, 3, &again);
                assert_memory_equal(&first, &again, sizeof first);
            }
            plan.value_count = 0; /* the short way for counts alone */
            static table counted;
            counted = data;
            brume_error error = {0};
            brume_bits *bits = brume_tape_open_seeded(3);
            brume_bounder *bounder = NULL;
            assert_ok(brume_bounder_open(&plan, bits, &bounder, &error));
            brume_chunk_column columns[] = {
                {.wire = BRUME_WIRE_INTEGER, .integers = counted.unit},
                {.wire = BRUME_WIRE_INTEGER, .integers = counted.group}};
            brume_chunk chunk = {ROWS, 2, columns};
            assert_ok(brume_bounder_take(bounder, &chunk, &error));
            const brume_bounded_group *groups = NULL;
            size_t count = 0;
            assert_ok(brume_bounder_finish(bounder, &groups, &count, &error));
            assert_int_equal(count, first.groups);
            for (size_t i = 0; i < count; i++) {
                assert_int_equal(groups[i].units, first.units[i]);
                assert_int_equal(groups[i].rows, first.rows[i]);
            }
            brume_bounder_close(bounder);
            brume_bits_close(bits);
        }
}

/* Units with far more rows than the one that is kept. */
static void the_order_of_many_rows_of_a_unit_does_not_matter(void **state)
{
    (void)state;
    static table data;
    static summary first, again;
    for (uint64_t made = 2; made <= 12; made++) {
        brume_bound_plan plan = plan_of(2);
        make_table(&data, made, 2, 2);
        bound(&plan, &data, 9, &first);
        for (size_t i = 0; i < first.groups; i++)
            assert_int_equal(first.rows[i], 2);
        for (uint64_t order = 0; order < 5; order++) {
            shuffle(&data, order);
            bound(&plan, &data, 9, &again);
            assert_memory_equal(&first, &again, sizeof first);
        }
    }
}

static void sums_of_an_engine_are_read_with_their_sign_and_all_their_digits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
        int64_t value, times; /* value * 10^times */
    } cases[] = {{"0", true, 0, 0},
                 {"-0", true, 0, 0},
                 {"17", true, 17, 0},
                 {"-17", true, -17, 0},
                 {"", false, 0, 0},
                 {"-", false, 0, 0},
                 {"1.5", false, 0, 0},
                 {"+1", false, 0, 0},
                 {"1e5", false, 0, 0},
                 {"--1", false, 0, 0},
                 {"9:", false, 0, 0},
                 {"123456789000000000000000000000000000000", true, 123456789, 30},
                 {"-12345678900000000000000000000000000000", true, -123456789, 29},
                 {"1000000000000000000000000000000000000000", false, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_i128 value = 99, expected = cases[i].value;
        for (int64_t j = 0; j < cases[i].times; j++)
            expected *= 10;
        brume_text text = {.data = cases[i].text, .length = strlen(cases[i].text)};
        assert_int_equal(brume_collect_read_wide(text, &value), cases[i].good);
        assert_true(value == (cases[i].good ? expected : 99));
    }
}

static table without_unit(const table *data, int64_t unit)
{
    table less = {0};
    for (size_t i = 0; i < data->rows; i++)
        if (data->unit[i] != unit) {
            less.unit[less.rows] = data->unit[i];
            less.group[less.rows] = data->group[i];
            less.value[less.rows] = data->value[i];
            less.null[less.rows++] = data->null[i];
        }
    return less;
}

static size_t find(const summary *all, int64_t key)
{
    for (size_t i = 0; i < all->groups; i++)
        if (all->key[i] == key)
            return i;
    return SIZE_MAX;
}

static void removing_a_unit_changes_at_most_what_the_price_counts_on(void **state)
{
    (void)state;
    static table data, less;
    static summary with, without;
    for (uint64_t g = 1; g <= 4; g++)
        for (uint64_t made = 1; made <= 3; made++) {
            brume_bound_plan plan = plan_of(g);
            make_table(&data, 100 * g + made, 12, 9);
            bound(&plan, &data, g, &with);
            for (int64_t unit = 0; unit < 12; unit++) {
                less = without_unit(&data, unit);
                bound(&plan, &less, g, &without);
                uint64_t moved = 0;
                for (size_t i = 0; i < with.groups; i++) {
                    size_t j = find(&without, with.key[i]);
                    uint64_t units = j == SIZE_MAX ? 0 : without.units[j];
                    uint64_t rows = j == SIZE_MAX ? 0 : without.rows[j];
                    int64_t sum = j == SIZE_MAX ? 0 : without.sum[j];
                    assert_holds(with.units[i] - units <= 1);
                    assert_holds(with.rows[i] - rows <= 1);
                    assert_holds(llabs(with.sum[i] - sum) <= 53);
                    assert_holds(with.units[i] > units || with.sum[i] == sum);
                    moved += with.units[i] - units;
                }
                assert_holds(moved <= g);
                assert_holds(moved == g || g > 1); /* everybody here has more groups than one */
            }
        }
}

static void a_closed_domain_drops_other_keys_first_and_keeps_empty_ones(void **state)
{
    (void)state;
    static table data;
    static summary got;
    make_table(&data, 4, 6, 40);
    for (size_t i = 0; i < ROWS; i++) /* unit 0 is in group 1 only, beside keys nobody declared */
        if (data.unit[i] == 0 && data.group[i] < 3)
            data.group[i] = 1;
        else if (data.group[i] == 2)
            data.group[i] = 5;
    brume_bound_plan plan = plan_of(1);
    plan.closed = true;
    uint64_t expected = 0;
    bool in_one[6] = {false};
    for (size_t i = 0; i < ROWS; i++)
        in_one[data.unit[i]] = in_one[data.unit[i]] || data.group[i] < 3;
    for (size_t u = 0; u < 6; u++)
        expected += in_one[u];
    for (uint64_t seed = 0; seed < 20; seed++) {
        bound(&plan, &data, seed, &got);
        assert_int_equal(got.groups, 3);
        assert_int_equal(got.units[2], 0); /* declared, empty */
        assert_int_equal(got.units[0] + got.units[1], expected);
        assert_holds(got.units[1] >= 1); /* unit 0's only declared group is never crowded out */
    }
}

/* Of 5 groups every one must be chosen about equally often over keys. The count of one group in
 * 4000 keys leaves [600, 1000] with probability below 2 * exp(-2 * 200^2 / 4000) = 4e-9 each.
 * A choice by the smallest key, or by arrival, would always take the same one. */
static void every_group_and_row_is_as_likely_to_be_kept(void **state)
{
    (void)state;
    static table data;
    static summary got;
    data = (table){.rows = 5, .group = {0, 1, 2, 3, 4}, .value = {1, 2, 3, 4, 5}};
    brume_bound_plan plan = plan_of(1);
    int chosen[5] = {0}, kept[5] = {0};
    for (uint64_t seed = 0; seed < 4000; seed++) {
        bound(&plan, &data, seed, &got);
        assert_int_equal(got.groups, 1);
        chosen[got.key[0]]++;
    }
    memset(data.group, 0, sizeof data.group);
    for (uint64_t seed = 0; seed < 4000; seed++) {
        bound(&plan, &data, seed, &got);
        kept[got.sum[0] + 3 - 1]++;
    }
    for (size_t i = 0; i < 5; i++) {
        assert_in_range(chosen[i], 600, 1000);
        assert_in_range(kept[i], 600, 1000);
    }
}

static void text_and_null_keys_are_kept_apart_and_ordered(void **state)
{
    (void)state;
    brume_error error = {0};
    static const brume_wire wires[] = {BRUME_WIRE_TEXT, BRUME_WIRE_REAL};
    brume_bound_plan plan = {.max_groups = 10, .key_count = 2, .key_wires = wires};
    brume_text units[] = {{"ada", 3}, {"bob", 3}, {"", 0}, {"ada", 3}, {"eve", 3}};
    brume_text names[] = {{"b", 1}, {"a", 1}, {"a\0c", 3}, {"", 0}, {"b", 1}};
    double reals[] = {0.0, 1.5, 1.5, 2, -0.0};
    uint64_t valid = 0x17; /* the fourth name is NULL */
    brume_chunk_column columns[] = {{.wire = BRUME_WIRE_TEXT, .texts = units},
                                    {.wire = BRUME_WIRE_TEXT, .texts = names, .valid = &valid},
                                    {.wire = BRUME_WIRE_REAL, .reals = reals}};
    brume_chunk chunk = {5, 3, columns};
    brume_bits *bits = brume_tape_open_seeded(1);
    brume_bounder *bounder = NULL;
    assert_ok(brume_bounder_open(&plan, bits, &bounder, &error));
    assert_ok(brume_bounder_take(bounder, &chunk, &error));
    const brume_bounded_group *groups = NULL;
    size_t count = 0;
    assert_ok(brume_bounder_finish(bounder, &groups, &count, &error));
    assert_int_equal(count, 4);
    assert_int_equal(groups[0].keys[0].text.length, 1);
    assert_int_equal(groups[1].keys[0].text.length, 3);
    assert_int_equal(groups[2].units, 2); /* 0.0 and -0.0 are one key */
    assert_true(groups[3].keys[0].null);  /* NULL last */
    assert_holds(groups[3].keys[1].real == 2);
    brume_bounder_close(bounder);
    brume_bits_close(bits);
}

/* The reference vectors of the SipHash authors: key 00 01 .. 0f, message 00 01 .. [AB12, App. A].
 */
static void siphash_gives_the_published_values(void **state)
{
    (void)state;
    brume_hash_key key = {{UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};
    unsigned char message[15];
    for (unsigned char i = 0; i < 15; i++)
        message[i] = i;
    assert_true(brume_siphash_bytes(&key, message, 15) == UINT64_C(0xa129ca6149be45e5));
    assert_true(brume_siphash_bytes(&key, message, 0) == UINT64_C(0x726fdb47dd0e0e31));
    uint64_t word = UINT64_C(0x0706050403020100);
    assert_true(brume_siphash_words(&key, &word, 1) == brume_siphash_bytes(&key, message, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_cut_where_the_bounds_are_wide),
        cmocka_unit_test(more_values_than_a_word_has_bits_are_kept_apart),
        cmocka_unit_test(the_order_of_rows_does_not_matter),
        cmocka_unit_test(the_order_of_many_rows_of_a_unit_does_not_matter),
        cmocka_unit_test(sums_of_an_engine_are_read_with_their_sign_and_all_their_digits),
        cmocka_unit_test(removing_a_unit_changes_at_most_what_the_price_counts_on),
        cmocka_unit_test(a_closed_domain_drops_other_keys_first_and_keeps_empty_ones),
        cmocka_unit_test(every_group_and_row_is_as_likely_to_be_kept),
        cmocka_unit_test(text_and_null_keys_are_kept_apart_and_ordered),
        cmocka_unit_test(siphash_gives_the_published_values),
    };
    return cmocka_run_group_tests_name("bounding", tests, NULL, NULL);
}
