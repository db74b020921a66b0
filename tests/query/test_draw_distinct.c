/* COUNT(DISTINCT x): which pairs are of which group, what is counted under a limit, the noise of
 * each number, and what is said of it. */
#include "check.h"

#include <stdlib.h>

#include <brume/noise/noise.h>

#include "query/collect/collect_parts.h"
#include "query/release/draw.h"
#include "random/tape.h"

#include "query/release/draw_distinct.c"

enum { LETTERS = 6, SEED = 5 };

static brume_error error;

/* ---- which pairs ---- */

static brume_key_value letter(size_t i)
{
    return (brume_key_value){.wire = BRUME_WIRE_INTEGER, .integer = (int64_t)i};
}

/* Every choice of drawn groups among six; pairs (group, value), some of groups that are not drawn.
 * What lies behind the last of each must not be looked at: both are just as long as they say. */
static void pairs_are_found_in_their_groups(void **state)
{
    (void)state;
    static const size_t group_of_pair[] = {0, 0, 1, 2, 2, 2, 4, 5, 5};
    enum { PAIRS = sizeof group_of_pair / sizeof *group_of_pair };
    brume_query query = {.key_count = 1};
    brume_plan plan = {.query = &query};
    for (unsigned choice = 0; choice < 1U << LETTERS; choice++) {
        brume_key_value keys[LETTERS], pair_keys[PAIRS][2];
        brume_bounded_group groups[LETTERS], *pairs = malloc(PAIRS * sizeof *pairs);
        size_t count = (size_t)__builtin_popcount(choice), at = 0, expected[LETTERS];
        const brume_bounded_group **shown = malloc((count + !count) * sizeof *shown);
        size_t *found = malloc(PAIRS * sizeof *found);
        assert_true(pairs && shown && found);
        for (size_t i = 0; i < LETTERS; i++) {
            keys[i] = letter(i);
            groups[i] = (brume_bounded_group){.keys = &keys[i]};
            expected[i] = choice >> i & 1 ? at : SIZE_MAX;
            if (choice >> i & 1)
                shown[at++] = &groups[i];
        }
        for (size_t i = 0; i < PAIRS; i++) {
            pair_keys[i][0] = letter(group_of_pair[i]);
            pair_keys[i][1] = letter(i);
            pairs[i] = (brume_bounded_group){.keys = pair_keys[i]};
        }
        brume_drawn drawn = {.count = count, .groups = shown};
        find_groups(&plan, pairs, PAIRS, &drawn, found);
        for (size_t i = 0; i < PAIRS; i++)
            assert_true(found[i] == expected[group_of_pair[i]]);
        free(pairs);
        free(shown);
        free(found);
    }
}

/* ---- counts with noise ---- */

static const brume_wire wires[2] = {BRUME_WIRE_INTEGER, BRUME_WIRE_INTEGER};

/* Group g has 10 g values, each of a unit of its own; with `crowd`, unit 0 has all of them too. */
static brume_bounder *open_pairs(bool totals, bool crowd)
{
    enum { ROWS = 2 * 10 * (0 + 1 + 2 + 3 + 4 + 5) };
    static int64_t units[ROWS], keys[ROWS], values[ROWS];
    size_t rows = 0;
    for (int64_t g = 0; g < LETTERS; g++)
        for (int64_t v = 0; v < 10 * g; v++)
            for (int twice = 0; twice <= crowd; twice++) {
                units[rows] = twice ? 0 : 1000 * (g + 1) + v;
                keys[rows] = g;
                values[rows++] = 7 * v;
            }
    brume_bound_plan plan = {.max_groups = 1, .key_count = 2, .key_wires = wires, .totals = totals};
    brume_bits *bits = brume_tape_open_seeded(1);
    brume_bounder *bounder = NULL;
    assert_ok(brume_bounder_open(&plan, bits, &bounder, &error));
    brume_chunk_column columns[] = {{.wire = BRUME_WIRE_INTEGER, .integers = units},
                                    {.wire = BRUME_WIRE_INTEGER, .integers = keys},
                                    {.wire = BRUME_WIRE_INTEGER, .integers = values}};
    brume_chunk chunk = {rows, 3, columns};
    assert_ok(brume_bounder_take(bounder, &chunk, &error));
    brume_bits_close(bits);
    return bounder;
}

static void next_noise(brume_bits *bits, double scale, int64_t *draws, size_t count)
{
    brume_noise *noise = NULL;
    assert_ok(brume_noise_open_discrete_laplace(scale, &noise, &error));
    assert_ok(brume_noise_fill(noise, bits, draws, count, &error));
    brume_noise_close(noise);
}

/* Of the groups 2, 3 and 5 are drawn: 20, 30 and 50 values, each number with noise of its own; no
 * value of the other groups counts, with a limit or without one. */
static void every_drawn_group_counts_its_values(void **state)
{
    (void)state;
    brume_query query = {.key_count = 1, .set_count = 1};
    for (int totals = 0; totals <= 1; totals++) {
        brume_measurement distinct = {.kind = BRUME_MEASUREMENT_DISTINCT};
        distinct.collection.totals = totals;
        brume_plan plan = {.query = &query, .measurements = &distinct, .measurement_count = 1};
        brume_distinct_terms priced = {.limit = {.limit = 100}, .scale = 2};
        brume_terms terms = {.plan = &plan, .distinct = &priced};
        brume_bounder *bounder = open_pairs(totals, false);
        const brume_bounded_group *found = NULL;
        brume_collected pairs = {.bounder = bounder};
        assert_ok(brume_bounder_finish(bounder, &found, &pairs.count, &error));
        pairs.groups = (brume_bounded_group *)found;
        assert_int_equal(pairs.count, 150);
        brume_key_value keys[3] = {letter(2), letter(3), letter(5)};
        brume_bounded_group groups[3] = {
            {.keys = &keys[0]}, {.keys = &keys[1]}, {.keys = &keys[2]}};
        brume_drawn *drawn = NULL;
        assert_ok(brume_drawn_open(&plan, &drawn, &error));
        drawn->groups = calloc(3, sizeof *drawn->groups);
        drawn->count = 3;
        for (size_t i = 0; i < 3; i++)
            drawn->groups[i] = &groups[i];
        brume_bits *bits = brume_tape_open_seeded(SEED), *same = brume_tape_open_seeded(SEED);
        static const int64_t expected[3] = {20, 30, 50};
        int64_t draws[3];
        assert_ok(brume_draw_distinct(&terms, 0, &pairs, bits, drawn, &error));
        next_noise(same, brume_distinct_scale(&priced), draws, 3);
        for (size_t i = 0; i < 3; i++)
            assert_holds(drawn->results[0].numbers[i] == (double)(expected[i] + draws[i]));
        brume_drawn_close(drawn);
        brume_bounder_close(bounder);
        brume_bits_close(bits);
        brume_bits_close(same);
    }
}

/* ---- the limit ---- */

enum { PEOPLE = 100 }; /* of one pair in drawn groups, and unit 0, which has all of these */

/* So many units are in bins from .. end - 1. */
static double units_between(size_t from, size_t end)
{
    const size_t one = brume_limit_bin(1, 1, BRUME_LIMIT_BINS),
                 all = brume_limit_bin(PEOPLE, 1, BRUME_LIMIT_BINS);
    return (from <= one && one < end ? PEOPLE : 0) + (from <= all && all < end);
}

/* Looks at the units by their pairs in drawn groups: each bin with noise of its own; then the bins
 * below the parts again, and the parts, which leave no unit out and count none twice. A ceiling
 * ends neither, since the units above it are cut. */
static void check_choice(uint64_t ceiling)
{
    brume_query query = {.key_count = 1, .set_count = 1};
    brume_measurement distinct = {.kind = BRUME_MEASUREMENT_DISTINCT};
    brume_plan plan = {.query = &query, .measurements = &distinct, .measurement_count = 1};
    distinct.collection.totals = true;
    distinct.distinct.limit = (brume_plan_limit){.of = {.kind = BRUME_TOTAL_PRESENCE},
                                                 .source = BRUME_LIMIT_AUTO,
                                                 .norm = 1,
                                                 .reach = 1,
                                                 .ceiling = ceiling};
    brume_found_limit limit = {.of = &distinct.distinct.limit, .source = BRUME_LIMIT_AUTO};
    brume_distinct_terms priced = {
        .limit = limit, .scale = 2, .histogram_scale = 3, .tail_scale = 4};
    brume_terms terms = {.plan = &plan, .distinct = &priced, .groups = 3};
    brume_bounder *bounder = open_pairs(true, true);
    const brume_bounded_group *found = NULL;
    brume_collected pairs = {.bounder = bounder};
    assert_ok(brume_bounder_finish(bounder, &found, &pairs.count, &error));
    pairs.groups = (brume_bounded_group *)found;
    brume_key_value keys[3] = {letter(2), letter(3), letter(5)};
    brume_bounded_group groups[3] = {{.keys = &keys[0]}, {.keys = &keys[1]}, {.keys = &keys[2]}};
    const brume_bounded_group *shown[3] = {&groups[0], &groups[1], &groups[2]};
    brume_drawn drawn = {.groups = shown, .count = 3};
    brume_bits *bits = brume_tape_open_seeded(SEED), *same = brume_tape_open_seeded(SEED);
    assert_ok(brume_distinct_look(&terms, 0, &pairs, &drawn, bits, &limit, &error));
    int64_t draws[BRUME_LIMIT_BINS], again[BRUME_LIMIT_BINS + BRUME_LIMIT_PARTS];
    const brume_looks *bought = &limit.bought;
    size_t tail = bought->tail;
    next_noise(same, 3, draws, BRUME_LIMIT_BINS);
    next_noise(same, 4, again, tail + BRUME_LIMIT_PARTS);
    assert_true(tail >= 1 && limit.step == BRUME_CHOICE_TAIL && !(bought->first.deviation > 0));
    for (size_t i = 0; i < BRUME_LIMIT_BINS; i++) {
        brume_noisy expected = {units_between(i, i + 1) + (double)draws[i], M_SQRT2 * 3};
        if (i < tail)
            brume_noisy_pool(&expected, units_between(i, i + 1) + (double)again[i], M_SQRT2 * 4);
        assert_memory_equal(&bought->bin[i], &expected, sizeof expected);
    }
    for (size_t p = 0; p < BRUME_LIMIT_PARTS; p++) {
        double units = units_between(brume_looks_part(tail, p), brume_looks_part(tail, p + 1));
        assert_close(bought->part[p].value, units + (double)again[tail + p], 1e-12);
        assert_close(bought->part[p].deviation, M_SQRT2 * 4, 1e-12);
    }
    brume_bounder_close(bounder);
    brume_bits_close(bits);
    brume_bits_close(same);
}

static void the_limit_is_chosen_from_looks_at_drawn_groups(void **state)
{
    (void)state;
    check_choice(0);
    check_choice(8);
    check_choice(brume_limit_edge(brume_limit_bin(100, 1, BRUME_LIMIT_BINS) - 1)); /* just below */
}

/* ---- what is said ---- */

static void what_is_cut_is_said_and_only_of_its_own_column(void **state)
{
    (void)state;
    enum { UNLIMITED, NOT_FOUND, NOTHING_CUT, HIDDEN, ALLOWED, KINDS };
    brume_plan_aggregate aggregates[2] = {{.distinct = 0}, {.distinct = BRUME_NOT_MEASURED}};
    for (int kind = 0; kind < KINDS; kind++) {
        brume_measurement distinct = {.kind = BRUME_MEASUREMENT_DISTINCT};
        brume_plan plan = {
            .measurements = &distinct, .measurement_count = 1, .aggregates = aggregates};
        brume_distinct_terms priced = {.limit = {.of = &distinct.distinct.limit, .limit = 64}};
        brume_terms terms = {.plan = &plan, .distinct = &priced};
        brume_found_limit *limit = &priced.limit;
        distinct.collection.totals = kind != UNLIMITED;
        limit->bought.bin[0].deviation = 1; /* somebody looked */
        limit->choice = (brume_limit_choice){.found = kind != NOT_FOUND,
                                             .limit = 64,
                                             .hidden = kind == HIDDEN ? 5.25 : 0,
                                             .allowance = kind == ALLOWED ? 7.5 : 0};
        for (size_t a = 0; a < 2; a++) {
            brume_answer_column column = {
                .biased = true, .limit = -1, .cut_units = -1, .cut_hidden = -1};
            brume_show_distinct(&terms, 0, NULL, a, &column);
            bool limited = a == 0 && kind != UNLIMITED, counted = limited && kind != NOT_FOUND;
            assert_int_equal(column.is_limited, limited);
            assert_int_equal(column.limit_not_found, limited && kind == NOT_FOUND);
            assert_int_equal(column.biased, a == 1 || kind == NOT_FOUND || kind >= HIDDEN);
            assert_holds(column.limit == (limited ? 64 : -1));
            double hidden = kind == HIDDEN ? 6 : 0;
            assert_holds(column.cut_units == (counted ? hidden : -1));
            assert_holds(column.cut_hidden == (counted ? hidden : -1));
            assert_holds(column.cut_allowance == (counted ? limit->choice.allowance : 0));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_found_in_their_groups),
        cmocka_unit_test(every_drawn_group_counts_its_values),
        cmocka_unit_test(the_limit_is_chosen_from_looks_at_drawn_groups),
        cmocka_unit_test(what_is_cut_is_said_and_only_of_its_own_column),
    };
    return cmocka_run_group_tests_name("draws of counts of values", tests, NULL, NULL);
}
