/* Bounding inside: shards, buffers, threads and collisions do not show in the result. */
#include "check.h"

#include <pthread.h>
#include <stdlib.h>

#include "query/collect/bound_pairs.h"
#include "query/collect/siphash_batch.h"
#include "random/tape.h"

enum { ROWS = 60000, THREADS = 4, PIECE = 777 };

typedef struct table {
    size_t rows;
    int64_t unit[ROWS], group[ROWS], value[ROWS];
    brume_text name[ROWS]; /* of the unit */
    char text[ROWS][12];
} table;

static const brume_wire key_wire = BRUME_WIRE_INTEGER;
static const brume_bound_value value_plan = {.low = 0, .high = 1000, .centre = 500, .keep = true};

static brume_bounder *open_bounder(uint64_t max_groups, bool values)
{
    brume_error error = {0};
    brume_bound_plan plan = {.max_groups = max_groups,
                             .totals = max_groups == 0, /* nothing is cut */
                             .key_count = 1,
                             .key_wires = &key_wire,
                             .value_count = values,
                             .values = &value_plan};
    brume_bits *bits = brume_tape_open_seeded(11);
    brume_bounder *bounder = NULL;
    assert_ok(brume_bounder_open(&plan, bits, &bounder, &error));
    brume_bits_close(bits);
    return bounder;
}

/* Nothing is cut, and one value is summed. */
static brume_bounder *open_totals(const brume_bound_value *value)
{
    brume_error error = {0};
    brume_bound_plan plan = {
        .totals = true, .key_count = 1, .key_wires = &key_wire, .value_count = 1, .values = value};
    brume_bits *bits = brume_tape_open_seeded(12);
    brume_bounder *bounder = NULL;
    assert_ok(brume_bounder_open(&plan, bits, &bounder, &error));
    brume_bits_close(bits);
    return bounder;
}

static void make_table(table *data, size_t rows, uint64_t seed, uint64_t units, uint64_t groups)
{
    data->rows = rows;
    for (size_t i = 0; i < rows; i++) {
        data->unit[i] = (int64_t)(brume_tape_splitmix(&seed) % units);
        data->group[i] = (int64_t)(brume_tape_splitmix(&seed) % groups);
        data->value[i] = (int64_t)(brume_tape_splitmix(&seed) % 1001);
        int length =
            snprintf(data->text[i], sizeof data->text[i], "%lld", (long long)data->unit[i]);
        data->name[i] = (brume_text){data->text[i], (size_t)length};
    }
}

static void take(brume_bounder *bounder, const table *data, size_t first, size_t count, bool text)
{
    brume_error error = {0};
    brume_chunk_column columns[] = {{.wire = BRUME_WIRE_INTEGER, .integers = data->unit + first},
                                    {.wire = BRUME_WIRE_INTEGER, .integers = data->group + first},
                                    {.wire = BRUME_WIRE_INTEGER, .integers = data->value + first}};
    if (text)
        columns[0] = (brume_chunk_column){.wire = BRUME_WIRE_TEXT, .texts = data->name + first};
    brume_chunk chunk = {count, 2 + bounder->plan.value_count, columns};
    assert_ok(brume_bounder_take(bounder, &chunk, &error));
}

/* Everything that leaves the bounding, as one number: the lists without their order. */
static uint64_t fingerprint(brume_bounder *bounder)
{
    brume_error error = {0};
    const brume_bounded_group *groups = NULL;
    size_t count = 0;
    uint64_t mark = 0;
    assert_ok(brume_bounder_finish(bounder, &groups, &count, &error));
    for (size_t i = 0; i < count; i++) {
        uint64_t listed = 0;
        const brume_bounded_value *value = groups[i].values;
        for (size_t j = 0; bounder->plan.value_count && j < value->count; j++) {
            uint64_t item = (uint64_t)value->kept[j] << 32 | value->breaker[j];
            listed += brume_tape_splitmix(&item);
        }
        uint64_t words[] = {mark,
                            (uint64_t)groups[i].keys[0].integer,
                            groups[i].units,
                            groups[i].rows,
                            bounder->plan.value_count ? (uint64_t)value->sum : 0,
                            listed};
        mark = brume_siphash_words(&(brume_hash_key){{1, 2}}, words, 6);
    }
    brume_bounder_close(bounder);
    return mark;
}

typedef struct share {
    brume_bounder *bounder;
    const table *data;
    size_t thread;
    bool text;
} share;

static void *take_share(void *context)
{
    const share *own = context;
    for (size_t piece = own->thread; piece * PIECE < own->data->rows; piece += THREADS) {
        size_t first = piece * PIECE, left = own->data->rows - first;
        take(own->bounder, own->data, first, left < PIECE ? left : PIECE, own->text);
    }
    return NULL;
}

/* Few rows a unit, many, and all of one unit; integer and text units. */
static void any_number_of_threads_gives_the_same_result(void **state)
{
    (void)state;
    static table data;
    static const uint64_t units[] = {20000, 50, 1};
    for (size_t kind = 0; kind < 3 * 2; kind++) {
        bool text = kind % 2;
        make_table(&data, ROWS, kind, units[kind / 2], 300);
        brume_bounder *one = open_bounder(4, true);
        for (size_t first = 0; first < ROWS; first += 5000)
            take(one, &data, first, 5000, text);
        uint64_t expected = fingerprint(one);
        brume_bounder *many = open_bounder(4, true);
        pthread_t threads[THREADS];
        share shares[THREADS];
        for (size_t i = 0; i < THREADS; i++) {
            shares[i] = (share){many, &data, i, text};
            assert_int_equal(pthread_create(&threads[i], NULL, take_share, &shares[i]), 0);
        }
        for (size_t i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        assert_true(fingerprint(many) == expected);
    }
}

/* ---- totals ---- */

enum { FEW_UNITS = 3, MANY_GROUPS = 5000 };

typedef struct expected_total {
    uint64_t rows;
    int64_t sum, squares;
} expected_total;

/* The numbers of groups are those of the threads; the keys are ours. */
static size_t check_totals(brume_bounder *bounder, const brume_bounded_group *groups, size_t count,
                           const expected_total *expected)
{
    static uint32_t key_of[MANY_GROUPS];
    size_t found = 0;
    const total_place *place = bounder->total_at;
    for (size_t i = 0; i < count; i++)
        key_of[groups[i].number] = (uint32_t)groups[i].keys[0].integer;
    for (size_t s = 0; s < SHARDS; s++) {
        const shard *own = &bounder->shards[s];
        int64_t units[FEW_UNITS] = {0};
        for (size_t i = 0; i < own->unit_room; i++)
            if (own->unit_places[i].number)
                units[own->unit_places[i].number - 1] = (int64_t)own->unit_places[i].unit;
        for (size_t i = 0; i < own->totals.count; i++) {
            const total *one = total_in(bounder, own, i);
            const expected_total *all =
                &expected[(size_t)units[one->unit] * MANY_GROUPS + key_of[one->group]];
            brume_i128 squares, sum;
            memcpy(&sum, one->words + place->at + 1, sizeof sum);
            memcpy(&squares, one->words + place->at + (place->narrow ? 2 : 3), sizeof squares);
            sum = place->narrow ? (int64_t)one->words[place->at + 1] : sum;
            assert_true(one->rows == all->rows && one->words[place->at] == all->rows);
            assert_true(sum == all->sum && squares == all->squares);
        }
        found += own->totals.count;
    }
    return found;
}

/* Few units: rows of a shard are sorted and merged many times. Narrow sums and wide ones. */
static void totals_are_those_of_the_rows_however_they_are_merged(void **state)
{
    (void)state;
    static table data;
    static expected_total expected[FEW_UNITS * MANY_GROUPS];
    static const int64_t highs[] = {1000, INT64_C(1) << 40};
    make_table(&data, ROWS, 17, FEW_UNITS, MANY_GROUPS);
    for (size_t i = 0; i < ROWS; i++) {
        expected_total *one = &expected[data.unit[i] * MANY_GROUPS + data.group[i]];
        one->rows++;
        one->sum += data.value[i] - 500;
        one->squares += (data.value[i] - 500) * (data.value[i] - 500);
    }
    size_t pairs = 0;
    for (size_t i = 0; i < FEW_UNITS * MANY_GROUPS; i++)
        pairs += expected[i].rows > 0;
    for (size_t kind = 0; kind < 2; kind++) {
        brume_error error = {0};
        const brume_bounded_group *groups = NULL;
        size_t count = 0;
        brume_bound_value value = {.high = highs[kind], .centre = 500, .squares = true};
        brume_bounder *bounder = open_totals(&value);
        assert_int_equal(bounder->total_at->narrow, kind == 0);
        pthread_t threads[THREADS];
        share shares[THREADS];
        for (size_t i = 0; i < THREADS; i++) {
            shares[i] = (share){bounder, &data, i, false};
            assert_int_equal(pthread_create(&threads[i], NULL, take_share, &shares[i]), 0);
        }
        for (size_t i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        assert_ok(brume_bounder_finish(bounder, &groups, &count, &error));
        assert_int_equal(check_totals(bounder, groups, count, expected), pairs);
        brume_bounder_close(bounder);
    }
}

/* A sum that does not fit stays at the border, and comes back from there. */
static void narrow_sums_stay_at_the_border(void **state)
{
    (void)state;
    brume_bound_value value = {.low = -1000, .high = 1000};
    brume_bounder *bounder = open_totals(&value);
    brume_error error = {0};
    const brume_bounded_group *groups = NULL;
    size_t count = 0;
    static const int64_t unit = 1, group = 1;
    for (int step = 0; step < 2; step++) {
        int64_t number = step == 0 ? 900 : -900;
        brume_chunk_column columns[] = {{.wire = BRUME_WIRE_INTEGER, .integers = &unit},
                                        {.wire = BRUME_WIRE_INTEGER, .integers = &group},
                                        {.wire = BRUME_WIRE_INTEGER, .integers = &number}};
        brume_chunk chunk = {1, 3, columns};
        assert_ok(brume_bounder_take(bounder, &chunk, &error));
        assert_ok(brume_bounder_flush(bounder, &error));
        for (size_t s = 0; step == 0 && s < SHARDS; s++)
            if (bounder->shards[s].totals.count)
                total_in(bounder, &bounder->shards[s], 0)->words[1] = INT64_MAX - 100;
        if (step == 0)
            assert_ok(brume_bounder_take(bounder, &chunk, &error));
    }
    assert_ok(brume_bounder_finish(bounder, &groups, &count, &error));
    for (size_t s = 0; s < SHARDS; s++)
        if (bounder->shards[s].totals.count)
            assert_true((int64_t)total_in(bounder, &bounder->shards[s], 0)->words[1] ==
                        INT64_MAX - 900);
    brume_bounder_close(bounder);
}

/* One unit, so one shard: around every size at which rows move on. */
static void every_row_arrives_whatever_their_number(void **state)
{
    (void)state;
    static table data;
    static const size_t sizes[] = {
        1,         WAITING_MOST - 1, WAITING_MOST, WAITING_MOST + 1, BATCH - 1, BATCH,
        BATCH + 1, 2 * BATCH + 1,    10007};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        make_table(&data, sizes[i], i, 1, 7);
        brume_error error = {0};
        brume_bounder *bounder = open_bounder(0, false);
        take(bounder, &data, 0, data.rows, i % 2);
        const brume_bounded_group *groups = NULL;
        size_t count = 0, rows = 0;
        assert_ok(brume_bounder_finish(bounder, &groups, &count, &error));
        for (size_t g = 0; g < count; g++) {
            assert_int_equal(groups[g].units, 1);
            rows += groups[g].rows;
        }
        assert_int_equal(rows, data.rows);
        brume_bounder_close(bounder);
    }
}

/* A unit with thousands of groups keeps exactly max_groups, the same ones in any order. */
static void a_giant_unit_keeps_its_groups_in_any_order(void **state)
{
    (void)state;
    static table data;
    static const uint64_t bounds[] = {1, 2, 3, 1000, 5000};
    uint64_t seed = 9;
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        make_table(&data, 20000, b, 1, 4000);
        uint64_t distinct = 0, first = 0, groups_kept = 0;
        static bool seen[4000];
        memset(seen, 0, sizeof seen);
        for (size_t i = 0; i < data.rows; i++) {
            distinct += !seen[data.group[i]];
            seen[data.group[i]] = true;
        }
        for (int order = 0; order < 3; order++) {
            brume_bounder *bounder = open_bounder(bounds[b], true);
            take(bounder, &data, 0, data.rows, false);
            brume_error error = {0};
            assert_ok(brume_bounder_flush(bounder, &error));
            groups_kept = 0;
            for (size_t i = 0; i < SHARDS; i++)
                for (size_t at = 0; at < bounder->shards[i].slot_room; at++)
                    groups_kept += bounder->shards[i].slots[at].count;
            assert_int_equal(groups_kept, distinct < bounds[b] ? distinct : bounds[b]);
            uint64_t mark = fingerprint(bounder);
            first = order == 0 ? mark : first;
            assert_true(mark == first);
            for (size_t i = data.rows - 1; i > 0; i--) {
                size_t j = brume_tape_splitmix(&seed) % (i + 1);
                int64_t group = data.group[i], value = data.value[i];
                data.group[i] = data.group[j], data.value[i] = data.value[j];
                data.group[j] = group, data.value[j] = value;
            }
        }
    }
}

/* ---- rows made by hand ---- */

static waiting_row *row_for(unsigned char *rows, const brume_bounder *bounder, size_t index,
                            uint64_t hash, uint64_t rank, uint32_t group)
{
    waiting_row *row = (waiting_row *)(void *)(rows + index * bounder->waiting_size);
    memset(row, 0, bounder->waiting_size);
    row->unit_hash = hash;
    row->rank = rank;
    row->group = group;
    return row;
}

static void declare(brume_bounder *bounder, int64_t key)
{
    brume_error error = {0};
    brume_key_value cell = {.wire = BRUME_WIRE_INTEGER, .integer = key};
    assert_ok(brume_bounder_declare(bounder, &cell, &error));
}

static uint64_t units_in_first_group(brume_bounder *bounder)
{
    brume_error error = {0};
    const brume_bounded_group *groups = NULL;
    size_t count = 0;
    assert_ok(brume_bounder_finish(bounder, &groups, &count, &error));
    assert_int_equal(count, 1);
    uint64_t units = groups[0].units;
    brume_bounder_close(bounder);
    return units;
}

static void give(brume_bounder *bounder, size_t to, const unsigned char *rows, size_t count)
{
    brume_error error = {0};
    sorting room = {0};
    if (bounder->plan.totals)
        assert_ok(brume_totals_take(&bounder->shards[to], bounder, &room, rows, count, &error));
    else
        assert_ok(brume_shard_take(&bounder->shards[to], bounder, rows, count, &error));
    brume_sorting_clear(&room);
}

/* Two units in one slot would share their bounds: here all hashes are equal, and wrap around. */
static void keep_colliding_units_apart(bool totals)
{
    static uint64_t room[WAITING_MOST * 16];
    unsigned char *rows = (unsigned char *)room;
    brume_error error = {0};
    brume_bounder *numbers = open_bounder(1, false);
    numbers->plan.totals = totals;
    numbers->total_size = sizeof(total);
    numbers->fresh_size = sizeof(fresh_row);
    declare(numbers, 0);
    assert_holds(numbers->waiting_size <= sizeof room / WAITING_MOST);
    /* A table that grows hashes numbers again, and these hashes are false: it must not grow. */
    assert_ok(brume_units_reserve(&numbers->shards[5], numbers, 4 * WAITING_MOST, &error));
    for (int round = 0; round < 2; round++) { /* the second finds what the first put there */
        for (size_t i = 0; i < WAITING_MOST; i++)
            row_for(rows, numbers, i, UINT64_MAX, i, 0)->unit.number = (i + 1) << i % 2 * 32;
        give(numbers, 5, rows, WAITING_MOST);
    }
    assert_int_equal(units_in_first_group(numbers), WAITING_MOST);

    brume_bounder *names = open_bounder(1, false);
    names->plan.totals = totals;
    names->total_size = sizeof(total);
    names->fresh_size = sizeof(fresh_row);
    declare(names, 0);
    names->started = names->text_units = true;
    names->name_size = sizeof(unsigned char *);
    static char text[1000][8];
    for (int round = 0; round < 2; round++) /* grows the table while all names share a hash */
        for (size_t i = 0; i < 1000; i += 100) {
            for (size_t j = 0; j < 100; j++) {
                waiting_row *row = row_for(rows, names, j, UINT64_MAX, i + j, 0);
                int length = snprintf(text[i + j], sizeof *text, "%zu", i + j);
                row->unit.text = text[i + j];
                row->text_length = (uint32_t)length;
            }
            give(names, 0, rows, 100);
        }
    assert_int_equal(units_in_first_group(names), 1000);
}

static void units_whose_hashes_collide_are_kept_apart(void **state)
{
    (void)state;
    keep_colliding_units_apart(false);
    keep_colliding_units_apart(true);
}

/* Equal ranks of two groups: the keys decide, in any order of arrival. */
static void ties_between_groups_fall_the_same_way_in_any_order(void **state)
{
    (void)state;
    static uint64_t room[64];
    unsigned char *rows = (unsigned char *)room;
    static const uint32_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t kept = 1; kept <= 3; kept++)
        for (size_t order = 0; order < 6; order++) {
            brume_error error = {0};
            brume_bounder *bounder = open_bounder(kept, false);
            static const int64_t keys[] = {7, 3, 5};
            for (size_t i = 0; i < 3; i++)
                declare(bounder, keys[i]);
            for (size_t i = 0; i < 3; i++)
                row_for(rows, bounder, i, 1, 42, orders[order][i])->unit.number = 9;
            assert_ok(brume_shard_take(&bounder->shards[0], bounder, rows, 3, &error));
            assert_ok(brume_shard_take(&bounder->shards[0], bounder, rows, 3, &error));
            const brume_bounded_group *groups = NULL;
            size_t count = 0;
            assert_ok(brume_bounder_finish(bounder, &groups, &count, &error));
            assert_int_equal(count, kept);
            for (size_t i = 0; i < kept; i++) {
                assert_int_equal(groups[i].keys[0].integer, 3 + 2 * (int64_t)i);
                assert_int_equal(groups[i].units, 1);
            }
            brume_bounder_close(bounder);
        }
}

/* Names that do not fit a buffer, empty names, and names of one letter more. */
static void names_of_any_length_are_units_of_their_own(void **state)
{
    (void)state;
    enum { NAMES = 300 };
    static char letters[3 * TEXT_ROOM];
    static brume_text names[2 * NAMES];
    static int64_t groups[2 * NAMES];
    memset(letters, 'x', sizeof letters);
    for (size_t i = 0; i < NAMES; i++) {
        size_t length = i < 200 ? i : TEXT_ROOM - 50 + i - 200 + (i > 280 ? TEXT_ROOM : 0);
        names[i] = names[NAMES + i] = (brume_text){letters, length};
    }
    brume_error error = {0};
    brume_bounder *bounder = open_bounder(2, false);
    brume_chunk_column columns[] = {{.wire = BRUME_WIRE_TEXT, .texts = names},
                                    {.wire = BRUME_WIRE_INTEGER, .integers = groups}};
    brume_chunk chunk = {2 * NAMES, 2, columns};
    assert_ok(brume_bounder_take(bounder, &chunk, &error));
    assert_int_equal(units_in_first_group(bounder), NAMES);
}

static void negative_zero_is_the_unit_zero(void **state)
{
    (void)state;
    static const double units[] = {0.0, -0.0, 1.5, -1.5};
    static const int64_t groups[4];
    brume_error error = {0};
    brume_bounder *bounder = open_bounder(2, false);
    brume_chunk_column columns[] = {{.wire = BRUME_WIRE_REAL, .reals = units},
                                    {.wire = BRUME_WIRE_INTEGER, .integers = groups}};
    brume_chunk chunk = {4, 2, columns};
    assert_ok(brume_bounder_take(bounder, &chunk, &error));
    assert_int_equal(units_in_first_group(bounder), 3);
}

static void many_hashes_at_once_are_those_of_one_at_a_time(void **state)
{
    (void)state;
    uint64_t first[67], second[67], one[67], two[67], seed = 3;
    for (size_t i = 0; i < 67; i++) {
        first[i] = brume_tape_splitmix(&seed);
        second[i] = i % 3 ? brume_tape_splitmix(&seed) : 0;
    }
    brume_hash_key key = {{brume_tape_splitmix(&seed), brume_tape_splitmix(&seed)}};
    for (size_t count = 0; count <= 67; count++) {
        brume_siphash_batch_one(&key, first, count, one);
        brume_siphash_batch_two(&key, first, second, count, two);
        for (size_t i = 0; i < count; i++) {
            const uint64_t words[] = {first[i], second[i]};
            assert_true(one[i] == brume_siphash_words(&key, words, 1));
            assert_true(two[i] == brume_siphash_words(&key, words, 2));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_gives_the_same_result),
        cmocka_unit_test(totals_are_those_of_the_rows_however_they_are_merged),
        cmocka_unit_test(narrow_sums_stay_at_the_border),
        cmocka_unit_test(every_row_arrives_whatever_their_number),
        cmocka_unit_test(a_giant_unit_keeps_its_groups_in_any_order),
        cmocka_unit_test(units_whose_hashes_collide_are_kept_apart),
        cmocka_unit_test(ties_between_groups_fall_the_same_way_in_any_order),
        cmocka_unit_test(names_of_any_length_are_units_of_their_own),
        cmocka_unit_test(negative_zero_is_the_unit_zero),
        cmocka_unit_test(many_hashes_at_once_are_those_of_one_at_a_time),
    };
    return cmocka_run_group_tests_name("shards of the bounding", tests, NULL, NULL);
}
