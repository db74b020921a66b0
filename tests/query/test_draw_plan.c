/* Draws of plans that are made by hand, and what they are drawn of: every number is compared with
 * the exact one plus what the sampler draws from the same bits. */
#include "check.h"

#include <stdlib.h>

#include <brume/noise/noise.h>

#include "query/collect/collect_parts.h"
#include "query/plan/plan_limit.h"
#include "query/price/error_bar.h"
#include "query/release/draw.h"
#include "query/release/measurement.h"
#include "random/tape.h"

enum { GROUPS = 40, SEED = 9 };

static brume_error error;

/* Group g has g units, 3 g rows, and of its one value 2 g, with these sums. */
typedef struct place {
    brume_bounded_group groups[GROUPS];
    brume_bounded_value values[GROUPS];
    brume_i128 limited[GROUPS][5];
    brume_collected collected;
    brume_drawn *drawn;
    brume_bits *bits, *same; /* the same bits once more */
} place;

static void open_place(place *all, const brume_plan *plan)
{
    memset(all, 0, sizeof *all);
    for (size_t g = 0; g < GROUPS; g++) {
        all->values[g] = (brume_bounded_value){
            .count = 2 * g, .sum = 5 - 100 * (brume_i128)g, .squares = 1000 + 7 * (brume_i128)g};
        for (size_t i = 0; i < 5; i++)
            all->limited[g][i] = (brume_i128)(1000 * g + i);
        all->groups[g] = (brume_bounded_group){
            .units = g, .rows = 3 * g, .values = &all->values[g], .limited = all->limited[g]};
    }
    all->collected = (brume_collected){.groups = all->groups, .count = GROUPS};
    assert_ok(brume_drawn_open(plan, &all->drawn, &error));
    all->bits = brume_tape_open_seeded(SEED);
    all->same = brume_tape_open_seeded(SEED);
}

static void close_place(place *all)
{
    brume_drawn_close(all->drawn);
    brume_bits_close(all->bits);
    brume_bits_close(all->same);
}

static void draw(place *all, const brume_terms *terms)
{
    assert_ok(brume_draw_keys(terms, &all->collected, all->bits, all->drawn, &error));
    assert_ok(brume_draw_groups(terms, 0, &all->collected, all->bits, all->drawn, &error));
}

static void next_noise(place *all, double scale, int64_t *draws, size_t count)
{
    brume_noise *noise = NULL;
    assert_ok(brume_noise_open_discrete_laplace(scale, &noise, &error));
    assert_ok(brume_noise_fill(noise, all->same, draws, count, &error));
    brume_noise_close(noise);
}

/* ---- numbers ---- */

static void every_kind_of_number_is_the_exact_one_with_its_own_noise(void **state)
{
    (void)state;
    brume_measure measures[] = {{.kind = BRUME_MEASURE_ROWS, .scale = 3},
                                {.kind = BRUME_MEASURE_UNITS, .scale = 4},
                                {.kind = BRUME_MEASURE_PRESENCE, .scale = 5},
                                {.kind = BRUME_MEASURE_VALUES, .scale = 6},
                                {.kind = BRUME_MEASURE_CENTRED, .scale = 7, .low = -10, .high = 15},
                                {.kind = BRUME_MEASURE_SQUARES, .scale = 8, .low = -10, .high = 15},
                                {.kind = BRUME_MEASURE_DIRECT, .scale = 9, .low = -10, .high = 15}};
    enum { MEASURES = sizeof measures / sizeof *measures };
    brume_plan plan = {.measures = measures, .measure_count = MEASURES};
    brume_terms terms = {.plan = &plan, .measures = measures};
    place all;
    open_place(&all, &plan);
    draw(&all, &terms);
    assert_int_equal(all.drawn->count, GROUPS);
    /* the centre of -10 .. 15 is 2, its reach 13, half of whose square is 84 */
    for (int i = 0; i < MEASURES; i++) {
        int64_t draws[GROUPS];
        next_noise(&all, measures[i].scale, draws, GROUPS);
        for (int64_t g = 0; g < GROUPS; g++) {
            const int64_t exact[] = {3 * g,
                                     g,
                                     g,
                                     2 * g,
                                     5 - 100 * g,
                                     1000 + 7 * g - 84 * 2 * g,
                                     5 - 100 * g + 2 * 2 * g};
            assert_holds(brume_drawn_number(all.drawn, i, (size_t)g) ==
                         (double)(exact[i] + draws[g]));
        }
    }
    close_place(&all);
}

/* A count of rows, units, a centred sum, a count of values and a sum of squares, under limits of 40
 * rows and of values that are not known. */
typedef struct limited {
    brume_measure *measures;
    brume_plan_value values[1];
    brume_plan_limit limits[2];
    int measure_limit[5];
    brume_plan plan;
    brume_terms *terms;
    brume_clipped clipped[5]; /* what the collection says */
    place all;
} limited;

static void open_limited(limited *at)
{
    static brume_measure measures[] = {{.kind = BRUME_MEASURE_ROWS},
                                       {.kind = BRUME_MEASURE_UNITS, .scale = 2},
                                       {.kind = BRUME_MEASURE_CENTRED, .low = -3, .high = 4},
                                       {.kind = BRUME_MEASURE_VALUES},
                                       {.kind = BRUME_MEASURE_SQUARES, .low = -3, .high = 4}};
    memset(at, 0, sizeof *at);
    at->values[0] = (brume_plan_value){.low = -3, .high = 4};
    at->limits[0] = (brume_plan_limit){.of = {.kind = BRUME_TOTAL_VALUES}, .limit = 1};
    at->limits[1] = (brume_plan_limit){.of = {.kind = BRUME_TOTAL_ROWS}, .limit = 40, .norm = 1};
    memcpy(at->measure_limit, (int[]){1, BRUME_NOT_MEASURED, 0, 1, 1}, sizeof at->measure_limit);
    at->plan = (brume_plan){.measures = measures,
                            .measure_count = 5,
                            .values = at->values,
                            .value_count = 1,
                            .by_totals = true,
                            .limits = at->limits,
                            .limit_count = 2,
                            .measure_limit = at->measure_limit,
                            .norm = 1,
                            .shape = {.cells = GROUPS},
                            .amount = 5,
                            .noise = BRUME_NOISE_DISCRETE_LAPLACE};
    at->limits[0].source = at->limits[1].source = BRUME_LIMIT_TYPED;
    assert_ok(brume_terms_make(&at->plan, NULL, 0, &at->terms, &error));
    at->terms->limits[0].known = false; /* as if it had been looked for, and not found */
    at->measures = at->terms->measures;
    at->measures[1].scale = 2; /* not a limited one */
    open_place(&at->all, &at->plan);
    for (size_t i = 0; i < 5; i++) {
        const brume_measure *one = &at->measures[i];
        const brume_plan_limit *limit = &at->limits[at->measure_limit[i] != 0];
        at->clipped[i] = (brume_clipped){
            {.kind = one->kind, .shift = one->shift}, {limit->of, limit->limit, 0}, 1};
    }
    at->clipped[4].sum.half_square = 8; /* of 4^2 */
    at->all.collected.clipped = at->clipped;
    at->all.collected.clipped_count = 5;
}

static void limited_totals_are_drawn_in_their_own_steps_and_unknown_ones_are_not(void **state)
{
    (void)state;
    limited at;
    open_limited(&at);
    draw(&at.all, at.terms);
    for (int i = 0; i < 5; i++) {
        int64_t draws[GROUPS];
        double step = ldexp(1, at.measures[i].shift);
        if (i != 2)
            next_noise(&at.all, step * at.measures[i].scale, draws, GROUPS);
        for (size_t g = 0; g < GROUPS; g++) {
            double found = brume_drawn_number(at.all.drawn, i, g);
            double exact = i == 1 ? (double)g : (double)at.all.limited[g][i];
            if (i == 2)
                assert_true(isnan(found)); /* its limit was not found */
            else
                assert_holds(found == (exact + (double)draws[g]) / step);
        }
    }
    close_place(&at.all);
    brume_terms_close(at.terms);
}

static void is_refused(limited *at, const char *why)
{
    assert_ok(brume_draw_keys(at->terms, &at->all.collected, at->all.bits, at->all.drawn, &error));
    if (brume_draw_groups(at->terms, 0, &at->all.collected, at->all.bits, at->all.drawn, &error) !=
        BRUME_EINTERNAL)
        fail_msg("drawn although %s", why);
    assert_null(at->all.drawn->numbers);
    close_place(&at->all);
    brume_terms_close(at->terms);
}

static void nothing_is_drawn_where_limit_and_noise_do_not_belong_together(void **state)
{
    (void)state;
    limited at;
    open_limited(&at);
    at.clipped[0].limit.limit = 41;
    is_refused(&at, "rows were clipped to another limit than the noise is for");
    open_limited(&at);
    at.terms->limits[1].limit = 64; /* and the scales are for 40 */
    at.clipped[0].limit.limit = at.clipped[3].limit.limit = at.clipped[4].limit.limit = 64;
    is_refused(&at, "scales were made before the limit was decided");
    open_limited(&at);
    at.measures[4].scale /= 2;
    is_refused(&at, "the reach of squares is halved");
    open_limited(&at);
    at.clipped[4].sum.half_square = 0;
    is_refused(&at, "squares were not moved by half of the largest");
    open_limited(&at);
    at.clipped[4].limit.of.kind = BRUME_TOTAL_PRESENCE;
    is_refused(&at, "squares follow a limit on groups");
    open_limited(&at);
    at.clipped[3].sum.shift--;
    is_refused(&at, "values were clipped in other steps");
    open_limited(&at);
    at.clipped[0].p = 2;
    is_refused(&at, "Laplace noise is drawn for a limit on the 2-norm");
    open_limited(&at);
    at.clipped[0].limit.square = 41 * 41;
    is_refused(&at, "rows were clipped to the root of a square");
    open_limited(&at);
    at.plan.amount = 4;
    is_refused(&at, "the noise is of a higher price");
    open_limited(&at);
    at.all.collected.clipped_count = 0;
    is_refused(&at, "nothing was clipped");
}

static void no_rank_is_drawn_where_limit_and_rate_do_not_belong_together(void **state)
{
    (void)state;
    static const int64_t median[][2] = {{1, 2}};
    for (int fault = 0; fault <= 3; fault++) {
        brume_query query = {.key_count = 1};
        brume_measure measure = {
            .kind = BRUME_MEASURE_QUANTILES, .high = 100, .fractions = median, .fraction_count = 1};
        brume_plan_limit limit = {
            .of = {.kind = BRUME_TOTAL_ROWS}, .source = BRUME_LIMIT_TYPED, .limit = 9, .norm = 1};
        int measure_limit = 0;
        brume_plan plan = {.query = &query,
                           .measures = &measure,
                           .measure_count = 1,
                           .by_totals = true,
                           .limits = &limit,
                           .limit_count = 1,
                           .measure_limit = &measure_limit,
                           .norm = 1,
                           .shape = {.cells = GROUPS},
                           .amount = 5,
                           .noise = BRUME_NOISE_DISCRETE_LAPLACE};
        brume_terms *terms = NULL;
        brume_clipped listed = {{.value = 0}, {limit.of, fault == 1 ? 10 : 9, 0}, 1};
        listed.limit.of.kind = fault == 2 ? BRUME_TOTAL_PRESENCE : BRUME_TOTAL_ROWS;
        assert_ok(brume_terms_make(&plan, NULL, 0, &terms, &error));
        place all;
        open_place(&all, &plan);
        for (size_t g = 0; g < GROUPS; g++)
            all.values[g].count = 0;
        all.collected.listed = &listed;
        all.collected.listed_count = fault != 3;
        assert_ok(brume_draw_keys(terms, &all.collected, all.bits, all.drawn, &error));
        brume_status status =
            brume_draw_groups(terms, 0, &all.collected, all.bits, all.drawn, &error);
        assert_int_equal(status, fault ? BRUME_EINTERNAL : BRUME_OK);
        close_place(&all);
        brume_terms_close(terms);
    }
}

/* ---- keys ---- */

/* What memory held before must not show: fill what the noisy units will get. */
static void leave_behind(double number)
{
    double *volatile room = malloc((GROUPS + 1) * sizeof *room);
    assert_non_null(room);
    for (size_t i = 0; i <= GROUPS; i++)
        room[i] = number;
    free(room);
}

static void a_private_key_is_shown_at_its_threshold_and_not_below(void **state)
{
    (void)state;
    size_t at_threshold = 0;
    for (uint64_t threshold = 5; threshold < 30; threshold++) {
        brume_measure measures[] = {{.kind = BRUME_MEASURE_UNITS, .scale = 3},
                                    {.kind = BRUME_MEASURE_ROWS, .scale = 2}};
        brume_plan plan = {
            .measures = measures, .measure_count = 2, .shape = {.private_keys = true}};
        brume_terms terms = {
            .plan = &plan, .measures = measures, .price = {.threshold = threshold}};
        place all;
        open_place(&all, &plan);
        leave_behind(1e9);
        draw(&all, &terms);
        int64_t units[GROUPS], rows[GROUPS];
        next_noise(&all, 3, units, GROUPS);
        size_t shown = 0, next = 0;
        for (size_t g = 0; g < GROUPS; g++)
            shown += (int64_t)g + units[g] >= (int64_t)threshold;
        assert_int_equal(all.drawn->count, shown);
        next_noise(&all, 2, rows, shown);
        for (size_t g = 0; g < GROUPS; g++) {
            int64_t noisy = (int64_t)g + units[g];
            at_threshold += noisy == (int64_t)threshold;
            if (noisy < (int64_t)threshold)
                continue;
            assert_ptr_equal(all.drawn->groups[next], &all.groups[g]);
            assert_holds(brume_drawn_number(all.drawn, 0, next) == (double)noisy);
            assert_holds(brume_drawn_number(all.drawn, 1, next) ==
                         (double)(3 * (int64_t)g + rows[next]));
            next++;
        }
        close_place(&all);
    }
    assert_holds(at_threshold > 10);
}

/* ---- quantiles and modes ---- */

/* At a rate of 200 a row the best value is drawn but with probability below 1e-80. */
static void every_selection_is_of_its_own_group_and_place(void **state)
{
    (void)state;
    static const int64_t quartiles[][2] = {{1, 4}, {1, 2}, {3, 4}}, median[][2] = {{1, 2}};
    static const brume_measure wanted[] = {
        {.kind = BRUME_MEASURE_QUANTILES,
         .scale = 200,
         .low = 0,
         .high = 1000,
         .fractions = median,
         .fraction_count = 1},
        {.kind = BRUME_MEASURE_ROWS, .scale = 1},
        {.kind = BRUME_MEASURE_QUANTILES,
         .scale = 200,
         .low = 0,
         .high = 1000,
         .fractions = quartiles,
         .fraction_count = 3},
        {.kind = BRUME_MEASURE_MODE, .scale = 200, .low = 0, .high = GROUPS - 1},
        {.kind = BRUME_MEASURE_QUANTILES,
         .scale = 200,
         .low = 0,
         .high = 1000,
         .fractions = median,
         .fraction_count = 1}};
    brume_measure *measures = malloc(sizeof wanted); /* just as many */
    assert_non_null(measures);
    memcpy(measures, wanted, sizeof wanted);
    brume_query query = {.key_count = 1};
    brume_plan plan = {.query = &query, .measures = measures, .measure_count = 5};
    brume_terms terms = {.plan = &plan, .measures = measures};
    for (int weighted = 0; weighted <= 1; weighted++) {
        place all;
        /* value 0: g once, and 9 values about it; as a mode: g weighs the most */
        static int64_t kept[GROUPS][13];
        static uint32_t breaker[13], weights[13];
        open_place(&all, &plan);
        for (size_t i = 0; i < 13; i++) {
            breaker[i] = (uint32_t)i << 27;
            weights[i] = 1 << 16;
        }
        for (size_t g = 0; g < GROUPS; g++) {
            int64_t low = g < 4 ? 0 : (int64_t)g - 4,
                    high = g > GROUPS - 5 ? GROUPS - 1 : (int64_t)g + 4;
            for (size_t i = 0; i < 13; i++)
                kept[g][i] = i < 4 ? low : i < 9 ? (int64_t)g : high;
            all.values[g] = (brume_bounded_value){.count = 13,
                                                  .kept = kept[g],
                                                  .breaker = breaker,
                                                  .weights = weighted ? weights : NULL};
        }
        draw(&all, &terms);
        for (size_t g = 0; g < GROUPS; g++) {
            assert_int_equal(brume_drawn_selected(&plan, all.drawn, 0, g, 0), g);
            assert_int_equal(brume_drawn_selected(&plan, all.drawn, 2, g, 0), kept[g][0]);
            assert_int_equal(brume_drawn_selected(&plan, all.drawn, 2, g, 1), g);
            assert_int_equal(brume_drawn_selected(&plan, all.drawn, 2, g, 2), kept[g][12]);
            assert_int_equal(brume_drawn_selected(&plan, all.drawn, 3, g, 0), g);
            assert_int_equal(brume_drawn_selected(&plan, all.drawn, 4, g, 0), g);
        }
        close_place(&all);
    }
    free(measures);
}

/* ---- estimates of bias ---- */

static void estimates_of_bias_are_noisy_counts_and_never_below_zero(void **state)
{
    (void)state;
    brume_measurement bias = {.kind = BRUME_MEASUREMENT_BIAS, .count = 3, .scale = 4};
    for (size_t i = 0; i < BRUME_BIAS_VALUES; i++)
        bias.bias.clamped[i] = BRUME_NOT_MEASURED;
    bias.bias.clamped[0] = 2;
    bias.bias.clamped[BRUME_BIAS_VALUES - 1] = 1;
    enum { NONE = BRUME_NOT_MEASURED };
    brume_plan_aggregate aggregates[] = {{.value = 0,
                                          .count = NONE,
                                          .centred = NONE,
                                          .squares = NONE,
                                          .direct = 0,
                                          .selection = NONE,
                                          .second = NONE,
                                          .fraction = 0,
                                          .distinct = NONE}, /* a sum */
                                         {.value = BRUME_BIAS_VALUES - 1,
                                          .count = NONE,
                                          .centred = 0,
                                          .squares = NONE,
                                          .direct = NONE,
                                          .selection = NONE,
                                          .second = NONE,
                                          .fraction = 0,
                                          .distinct = NONE}, /* a mean */
                                         {.value = 0,
                                          .count = NONE,
                                          .centred = NONE,
                                          .squares = NONE,
                                          .direct = NONE,
                                          .selection = 0,
                                          .second = NONE,
                                          .fraction = 0,
                                          .distinct = NONE}, /* a quantile */
                                         {.value = 0,
                                          .count = 0,
                                          .centred = NONE,
                                          .squares = NONE,
                                          .direct = NONE,
                                          .selection = NONE,
                                          .second = NONE,
                                          .fraction = 0,
                                          .distinct = NONE}, /* a count */
                                         {.value = 1,
                                          .count = NONE,
                                          .centred = NONE,
                                          .squares = NONE,
                                          .direct = 0,
                                          .selection = NONE,
                                          .second = NONE,
                                          .fraction = 0,
                                          .distinct = NONE}, /* of nothing that is clamped */
                                         {.value = NONE,
                                          .count = NONE,
                                          .centred = NONE,
                                          .squares = NONE,
                                          .direct = 0,
                                          .selection = NONE,
                                          .second = NONE,
                                          .fraction = 0,
                                          .distinct = NONE}, /* of no value */
                                         {.value = BRUME_BIAS_VALUES,
                                          .count = NONE,
                                          .centred = NONE,
                                          .squares = NONE,
                                          .direct = 0,
                                          .selection = NONE,
                                          .second = NONE,
                                          .fraction = 0,
                                          .distinct = NONE},
                                         {.value = 0,
                                          .count = NONE,
                                          .centred = NONE,
                                          .squares = NONE,
                                          .direct = NONE,
                                          .selection = 0,
                                          .second = NONE,
                                          .fraction = 0,
                                          .distinct = NONE,
                                          .private_mode = true}}; /* a mode of undeclared values */
    static const int clamped_of[] = {2, 1, 2, 0, 0, 0, 0, 0};     /* 0: nothing is said */
    brume_plan plan = {.measurements = &bias, .measurement_count = 1, .aggregates = aggregates};
    brume_terms terms = {.plan = &plan};
    bool below[3] = {false}, above[3] = {false};
    for (uint64_t seed = 0; seed < 40; seed++) {
        brume_bounded_value values[] = {{.sum = 2}, {.sum = 1}};
        brume_bounded_group group = {.units = 3, .values = values};
        brume_collected collected = {.groups = &group, .count = 1};
        brume_drawn *drawn = NULL;
        place all = {.bits = brume_tape_open_seeded(seed), .same = brume_tape_open_seeded(seed)};
        int64_t draws[3];
        assert_ok(brume_drawn_open(&plan, &drawn, &error));
        assert_ok(brume_draw_bias(&terms, 0, &collected, all.bits, drawn, &error));
        next_noise(&all, 4, draws, 3);
        double expected[3];
        for (int i = 0; i < 3; i++) {
            double noisy = (double)(3 - i + draws[i]);
            assert_holds(drawn->results[0].numbers[i] == noisy);
            expected[i] = noisy > 0 ? noisy : 0;
            below[i] = below[i] || noisy < 0;
            above[i] = above[i] || noisy > 0;
        }
        for (size_t i = 0; i < sizeof aggregates / sizeof *aggregates; i++) {
            brume_answer_column column = {.bias = {.units = -7}};
            brume_show_bias(&terms, 0, drawn, i, &column);
            if (clamped_of[i] == 0) {
                assert_holds(column.bias.units == -7);
                continue;
            }
            assert_holds(column.bias.units == expected[0]);
            assert_holds(column.bias.clamped == expected[clamped_of[i]]);
            assert_true(isnan(column.bias.cut));
            assert_holds(column.bias.error_95 == brume_error_width(bias.noise, 4, 0.05));
        }
        brume_drawn_close(drawn);
        brume_bits_close(all.bits);
        brume_bits_close(all.same);
    }
    assert_true(below[0] && below[1] && below[2] && above[0] && above[1] && above[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_number_is_the_exact_one_with_its_own_noise),
        cmocka_unit_test(limited_totals_are_drawn_in_their_own_steps_and_unknown_ones_are_not),
        cmocka_unit_test(nothing_is_drawn_where_limit_and_noise_do_not_belong_together),
        cmocka_unit_test(no_rank_is_drawn_where_limit_and_rate_do_not_belong_together),
        cmocka_unit_test(a_private_key_is_shown_at_its_threshold_and_not_below),
        cmocka_unit_test(every_selection_is_of_its_own_group_and_place),
        cmocka_unit_test(estimates_of_bias_are_noisy_counts_and_never_below_zero),
    };
    return cmocka_run_group_tests_name("draws of plans", tests, NULL, NULL);
}
