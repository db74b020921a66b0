/* The method tree as the auditor attacks it: the sound one is acquitted, and its broken twins are
 * found at a confidence of 0.999. The draws are those of a seeded tape. */
#include "check.h"

#include <stdlib.h>

#include <math.h>

#include <brume/account/account.h>
#include <brume/mechanism/mechanism.h>
#include <brume/noise/noise.h>

#include "audit/epsilon.h"
#include "base/error.h"
#include "random/tape.h"
#include "synthetic/tree.h"

enum { DRAWS = 20000 };

static const double DELTA = 0.01, SIGMA = 1.5;

/* Noise as it should be, or less. */
static brume_status add_noise(void *context, const brume_tree_draw *draw, double scale,
                              int64_t *values, size_t n, brume_error *error)
{
    brume_noise *noise = NULL;
    (void)draw;
    BRUME_TRY(brume_noise_open_rounded_gaussian(scale, &noise, error));
    brume_status status = brume_noise_add(noise, context, values, values, n, error);
    brume_noise_close(noise);
    return status;
}

static brume_status as_it_should(void *context, const brume_tree_draw *draw, int64_t *values,
                                 size_t n, brume_error *error)
{
    return add_noise(context, draw, draw->scale, values, n, error);
}

/* Scores taken as monotone: half the noise. */
static brume_status monotone(void *context, const brume_tree_draw *draw, int64_t *values, size_t n,
                             brume_error *error)
{
    return add_noise(context, draw, draw->is_score ? draw->scale / 2 : draw->scale, values, n,
                     error);
}

/* The columns' counts, from which levels are made, as they are. */
static brume_status levels_from_truth(void *context, const brume_tree_draw *draw, int64_t *values,
                                      size_t n, brume_error *error)
{
    return n == 2 ? BRUME_OK : add_noise(context, draw, draw->scale, values, n, error);
}

static brume_status draw(const void *context, bool second, brume_bits *bits, int64_t *out, size_t n,
                         brume_error *error)
{
    return brume_tree_attack_draw(context, second, bits, out, n, error);
}

/* What one Gaussian of this sigma costs at DELTA. */
static double claimed(void)
{
    brume_error error = {0};
    brume_event event = {.mechanism = brume_card_by_name("tree")->id,
                         .adjacency = BRUME_ADD_REMOVE,
                         .sensitivity = 1,
                         .parameter = {SIGMA},
                         .count = 1};
    brume_term *terms = NULL;
    brume_bound bound;
    assert_ok(brume_account_terms(&event, 1, 1, BRUME_METHOD_AUTO, &terms, &error));
    assert_ok(brume_account_epsilon(BRUME_METHOD_AUTO, terms, 1, DELTA, &bound, &error));
    free(terms);
    return bound.upper;
}

static double found(brume_adjacency adjacency, uint64_t moved, brume_tree_attacked what,
                    brume_status (*add)(void *, const brume_tree_draw *, int64_t *, size_t,
                                        brume_error *))
{
    brume_error error = {0};
    static brume_audit_result result;
    const brume_tree_attack attack = {.adjacency = adjacency,
                                      .replaces = adjacency == BRUME_REPLACE,
                                      .moved = moved,
                                      .sigma = SIGMA,
                                      .what = what,
                                      .source = {.add = add}};
    const brume_audit_options options = {.samples = DRAWS,
                                         .confidence = 0.999,
                                         .delta = DELTA,
                                         .epsilon = claimed(),
                                         .ordered = true};
    brume_bits *bits = brume_tape_open_seeded(29);
    assert_ok(brume_audit_epsilon(draw, &attack, &options, bits, &result, &error));
    brume_bits_close(bits);
    return result.epsilon_lower;
}

static void the_sound_one_is_acquitted(void **state)
{
    (void)state;
    static const brume_adjacency adjacencies[] = {BRUME_ADD_REMOVE, BRUME_REPLACE};
    for (int i = 0; i < 6; i++) {
        double lower = found(adjacencies[i % 2], 1, (brume_tree_attacked)(i / 2),
                             i == 3 ? as_it_should : NULL);
        assert_holds(lower <= claimed());
        assert_holds(i / 2 || lower > 0.5 * claimed()); /* the attack is one */
    }
}

static void scores_taken_as_monotone_are_found(void **state)
{
    (void)state;
    assert_holds(found(BRUME_ADD_REMOVE, 1, BRUME_TREE_ATTACK_BARS, monotone) > claimed());
    assert_holds(found(BRUME_REPLACE, 1, BRUME_TREE_ATTACK_BARS, monotone) > claimed());
}

static void a_forgotten_factor_of_rows_is_found(void **state)
{
    (void)state;
    assert_holds(found(BRUME_ADD_REMOVE, 2, BRUME_TREE_ATTACK_COUNTS, NULL) > claimed());
    assert_holds(found(BRUME_REPLACE, 2, BRUME_TREE_ATTACK_COUNTS, NULL) > claimed());
}

static void levels_from_true_counts_are_found(void **state)
{
    (void)state;
    assert_holds(found(BRUME_ADD_REMOVE, 1, BRUME_TREE_ATTACK_COLUMN, levels_from_truth) >
                 claimed());
    assert_holds(found(BRUME_REPLACE, 1, BRUME_TREE_ATTACK_COLUMN, levels_from_truth) > claimed());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sound_one_is_acquitted),
        cmocka_unit_test(scores_taken_as_monotone_are_found),
        cmocka_unit_test(a_forgotten_factor_of_rows_is_found),
        cmocka_unit_test(levels_from_true_counts_are_found),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
