/* Scores of what was released: what is said twice counts once, features that tell something
 * only together are found by trees and not by weights alone, luck is not taken for it, and what is
 * saved of a score says how to compute it. The examples are those of a fixed generator: the same in
 * every run. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "audit/query/score.h"
#include "sequence.h"

static brume_error error;

static uint64_t state = 1;

static double uniform(void)
{
    return sequence_share(&state);
}

/* Two numbers, and a third that is there at times. */
typedef struct outcome {
    double a, b, c;
    bool has_c;
} outcome;

static bool visit(const void *of, brume_feature_visit *each, void *context)
{
    const outcome *seen = of;
    each(context, "a", seen->a);
    each(context, "b", seen->b);
    if (seen->has_c)
        each(context, "c", seen->c);
    return true;
}

typedef enum difference { NONE, TOGETHER, ALONE } difference;

/* TOGETHER: on the second database a and b are on the same side of 1/2 four times of five; each of
 * them alone has the same law on both. ALONE: c is there more often. */
static outcome draw(difference of, bool second)
{
    outcome out = {uniform(), uniform(), uniform(), uniform() < .5};
    if (of == TOGETHER && second && uniform() < .6 && (out.a < .5) != (out.b < .5))
        out.b = 1 - out.b;
    if (of == ALONE && second && uniform() < .5)
        out.has_c = true;
    return out;
}

static brume_score *learned(difference of, size_t examples)
{
    brume_score *score = NULL;
    assert_ok(brume_score_open(examples, &score, &error));
    for (size_t i = 0; i < 2 * examples; i++) {
        outcome next = draw(of, i % 2 != 0);
        assert_ok(brume_score_learn(score, visit, &next, i % 2 != 0, &error));
    }
    brume_score_settle(score);
    return score;
}

/* P[the score is above 0] on the second database less that on the first. */
static double power(const brume_score *score, difference of)
{
    enum { DRAWS = 20000 };
    double hits[2] = {0, 0};
    for (int i = 0; i < 2 * DRAWS; i++) {
        outcome next = draw(of, i % 2 != 0);
        hits[i % 2] += brume_score_of(score, visit, &next) > 0;
    }
    return (hits[1] - hits[0]) / DRAWS;
}

static void what_is_seen_together_is_found_by_trees(void **unused)
{
    (void)unused;
    brume_score *few = learned(TOGETHER, 150), *many = learned(TOGETHER, 1000);
    assert_true(power(many, TOGETHER) > .2); /* the best there is: .3 */
    assert_true(power(few, TOGETHER) < .1);  /* so few have weights alone, which see nothing */
    brume_score_close(few);
    brume_score_close(many);
}

static void what_is_seen_alone_is_found_by_both(void **unused)
{
    (void)unused;
    brume_score *few = learned(ALONE, 150), *many = learned(ALONE, 1000);
    assert_true(power(few, ALONE) > .1); /* the best there is: .25 */
    assert_true(power(many, ALONE) > .15);
    brume_score_close(few);
    brume_score_close(many);
}

static void luck_is_left_alone(void **unused)
{
    (void)unused;
    enum { EXAMPLES = 2000, FEATURES = 4 };
    static uint8_t codes[EXAMPLES * FEATURES];
    static double known[EXAMPLES];
    static brume_trees trees;
    size_t grown = 0;
    for (int round = 0; round < 10; round++) {
        for (size_t i = 0; i < EXAMPLES * FEATURES; i++)
            codes[i] = (uint8_t)(16 * uniform());
        assert_ok(brume_trees_learn(codes, FEATURES, known, EXAMPLES, &trees, &error));
        grown += trees.count;
    }
    assert_true(grown < 10 * 6); /* the examples that are kept back are no better served by trees */
    assert_ok(brume_trees_learn(codes, 0, known, EXAMPLES, &trees, &error));
    assert_int_equal(trees.count, 0);
}

/* An estimate that is right: it says so much for the database that an example is of, with the
 * chance that this has then. */
static double estimate(bool second, double odds)
{
    bool right = uniform() < 1 / (1 + exp(-odds));
    return right == second ? odds : -odds;
}

static void what_is_said_twice_is_believed_once(void **unused)
{
    (void)unused;
    enum { EXAMPLES = 20000, COLUMNS = 5 };
    static double columns[EXAMPLES * COLUMNS], sums[EXAMPLES];
    double factors[COLUMNS];
    for (size_t i = 0; i < EXAMPLES; i++) {
        double *of = columns + i * COLUMNS;
        bool second = i % 2 != 0;
        of[0] = of[1] = estimate(second, .5); /* the same one twice */
        of[2] = 3 * estimate(second, .2);     /* says three times what it knows */
        of[3] = uniform() < .5 ? .3 : -.3;    /* knows nothing */
        of[4] = -estimate(second, .5);        /* always says the opposite */
    }
    brume_blend_learn(columns, COLUMNS, EXAMPLES, factors, sums);
    /* the deviation of a factor is about .03 for the first, .02 for the second and .05 */
    assert_close(factors[0] + factors[1], 1, .2);
    assert_close(factors[2], 1. / 3, .4);
    assert_true(factors[3] < .3 && factors[4] < .1);
    for (size_t k = 0; k < COLUMNS; k++)
        assert_true(factors[k] >= 0);
    for (size_t i = 0; i < EXAMPLES; i += 999) {
        double sum = 0;
        for (size_t k = 0; k < COLUMNS; k++)
            sum += factors[k] * columns[i * COLUMNS + k];
        assert_true(fabs(sums[i] - sum) < 1e-9);
    }
}

/* ---- what is saved ---- */

static double number(const json_t *of, const char *name)
{
    return json_number_value(json_object_get(of, name));
}

static double value_of(const outcome *of, const char *name)
{
    return strcmp(name, "a") == 0   ? of->a
           : strcmp(name, "b") == 0 ? of->b
           : of->has_c              ? of->c
                                    : NAN;
}

static double walk(const json_t *tree, const outcome *of)
{
    if (json_is_number(tree))
        return json_number_value(tree);
    const json_t *below = json_object_get(tree, "below");
    double value = value_of(of, json_string_value(json_object_get(tree, "feature")));
    bool then = isnan(value) || json_is_null(below) ||
                (json_is_number(below) && value < json_number_value(below));
    return walk(json_object_get(tree, then ? "then" : "else"), of);
}

/* As score.h says. */
static int64_t score_by_hand(const json_t *saved, const outcome *of)
{
    double sum = number(saved, "base"), trees = 0;
    size_t index;
    json_t *part;
    json_array_foreach (json_object_get(saved, "features"), index, part) {
        double value = value_of(of, json_string_value(json_object_get(part, "name")));
        const json_t *edges = json_object_get(part, "edges");
        size_t bin = 0;
        if (isnan(value))
            continue;
        while (bin < json_array_size(edges) &&
               value >= json_number_value(json_array_get(edges, bin)))
            bin++;
        sum += json_number_value(json_array_get(json_object_get(part, "weights"), bin)) -
               number(part, "absent");
    }
    json_array_foreach (json_object_get(saved, "trees"), index, part)
        trees += walk(part, of);
    return llrint((sum + trees) * number(saved, "steps"));
}

static void what_is_saved_says_how_to_score(void **unused)
{
    (void)unused;
    static const difference both[] = {TOGETHER, ALONE};
    for (int i = 0; i < 2; i++) {
        brume_score *score = learned(both[i], 1000);
        json_t *saved = brume_score_to_json(score);
        assert_true(json_array_size(json_object_get(saved, i == 0 ? "trees" : "features")) > 0);
        for (int k = 0; k < 1000; k++) {
            outcome next = draw(both[i], k % 2 != 0);
            assert_true(llabs(brume_score_of(score, visit, &next) - score_by_hand(saved, &next)) <=
                        1); /* sums in another order */
        }
        json_decref(saved);
        brume_score_close(score);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_seen_together_is_found_by_trees),
        cmocka_unit_test(what_is_seen_alone_is_found_by_both),
        cmocka_unit_test(luck_is_left_alone),
        cmocka_unit_test(what_is_said_twice_is_believed_once),
        cmocka_unit_test(what_is_saved_says_how_to_score),
    };
    return cmocka_run_group_tests_name("scores", tests, NULL, NULL);
}
