/* Trials, the entries of cards that auditors read: draws have the law that the card states, and
 * that law keeps the card's promise, exactly, in both directions.
 *
 * Every card of the registry is looked at: a new one needs no line here if its parameters have the
 * values below. False alarms: the share of false_alarms.def, over at most 1000 counts; the bits are
 * those of a seeded tape, so that a run cannot differ from the last. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/account/account.h>
#include <brume/statistic/quantile.h>

#include "audit/proportion.h"
#include "audit/subject.h"
#include "chance.h"
#include "mechanism/trial.h"
#include "random/tape.h"

static brume_error error;

enum { DRAWS = 20000, OUTCOMES = 200000 };

/* Values for parameters by their names; others keep their defaults. */
static brume_event event_of(const brume_card *card, brume_adjacency adjacency)
{
    static const struct {
        const char *name;
        double value;
    } values[] = {{"epsilon", 1.5}, {"scale", .25},
                  {"sigma", .25},   {"delta", .01},
                  {"hits", 2},      {"epsilon_test", 2},
                  {"degrees", 3},   {"epsilon_release", 2},
                  {"rho", .5},      {"epsilon_sensitivity", 2}};
    brume_event event = {
        .mechanism = card->id, .adjacency = adjacency, .sensitivity = 1, .count = 1};
    for (size_t i = 0; i < card->parameter_count; i++) {
        event.parameter[i] = card->parameters[i].standard;
        for (size_t j = 0; j < sizeof values / sizeof *values; j++)
            if (strcmp(card->parameters[i].name, values[j].name) == 0)
                event.parameter[i] = values[j].value;
    }
    return event;
}

/* Enclosures of the masses of all outcomes on both inputs: [second][outcome - least]. */
typedef struct law {
    int64_t least;
    size_t count;
    brume_interval *masses[2];
} law;

static law law_of(const brume_subject *subject)
{
    int64_t least, most;
    brume_subject_support(subject, &least, &most);
    law out = {.least = least, .count = (size_t)(most - least + 2)}; /* the last: hidden */
    for (int second = 0; second < 2; second++) {
        out.masses[second] = calloc(out.count, sizeof *out.masses[second]);
        assert_non_null(out.masses[second]);
        for (size_t i = 0; i < out.count; i++)
            assert_ok(brume_subject_mass(
                subject, second != 0, i + 1 < out.count ? least + (int64_t)i : BRUME_TRIAL_HIDDEN,
                &out.masses[second][i], &error));
    }
    return out;
}

static void free_law(law *of)
{
    free(of->masses[0]);
    free(of->masses[1]);
}

static bool has_small_law(const brume_subject *subject)
{
    int64_t least, most;
    if (!brume_subject_has_law(subject))
        return false;
    brume_subject_support(subject, &least, &most);
    return most - least < OUTCOMES;
}

/* delta(epsilon) of the law, from below: the first input against the second, or reversed. */
static double delta_lower(const law *of, double epsilon, bool reversed)
{
    double delta = 0;
    for (size_t i = 0; i < of->count; i++) {
        double more = of->masses[reversed][i].lower - exp(epsilon) * of->masses[!reversed][i].upper;
        delta += fmax(more, 0);
    }
    return delta - 1e-12; /* for the roundings of this sum */
}

static double claimed_delta(const brume_event *event, double epsilon)
{
    brume_term *terms = NULL;
    brume_bound bound;
    assert_ok(brume_account_terms(event, 1, 1, BRUME_METHOD_AUTO, &terms, &error));
    assert_ok(brume_account_delta(BRUME_METHOD_AUTO, terms, 1, epsilon, &bound, &error));
    free(terms);
    return bound.upper;
}

typedef void each_subject(const brume_card *card, const brume_event *event,
                          const brume_subject *subject);

static size_t for_each(each_subject *check)
{
    size_t count, seen = 0;
    const brume_card *const *cards = brume_cards(&count);
    for (size_t i = 0; i < count; i++)
        for (int replace = 0; cards[i]->trial && replace < 2; replace++) {
            brume_event event = event_of(cards[i], replace ? BRUME_REPLACE : BRUME_ADD_REMOVE);
            for (size_t pair = 0; pair < brume_subject_pairs(&event); pair++) {
                brume_subject *subject = NULL;
                assert_ok(brume_subject_open(&event, pair, &subject, &error));
                check(cards[i], &event, subject);
                brume_subject_close(subject);
                seen++;
            }
        }
    return seen;
}

/* ---- laws ---- */

static size_t laws;

static void check_law(const brume_card *card, const brume_event *event,
                      const brume_subject *subject)
{
    if (!has_small_law(subject))
        return;
    laws++;
    law of = law_of(subject);
    for (int second = 0; second < 2; second++) {
        double lower = 0, upper = 0;
        for (size_t i = 0; i < of.count; i++) {
            lower += of.masses[second][i].lower;
            upper += of.masses[second][i].upper;
        }
        if (!(lower >= 1 - 2e-12 * (1 + (double)of.count) && upper >= 1 - 2e-12 &&
              lower <= 1 + 1e-9))
            fail_msg("%s: the masses add up to %.17g to %.17g", card->name, lower, upper);
    }
    for (double epsilon = 0; epsilon <= 3 && !card->broken; epsilon += .25)
        for (int reversed = 0; reversed < 2; reversed++) {
            double found = delta_lower(&of, epsilon, reversed != 0);
            if (!(found <= claimed_delta(event, epsilon)))
                fail_msg("%s: delta(%g) is %.17g, claimed is %.17g", card->name, epsilon, found,
                         claimed_delta(event, epsilon));
        }
    free_law(&of);
}

static void stated_laws_keep_the_promise_of_their_cards(void **state)
{
    (void)state;
    for_each(check_law);
    assert_true(laws >= 2 * 26);
}

/* The same comparison convicts a claim that is a hundredth too small. */
static void a_claim_that_is_too_small_is_found(void **state)
{
    (void)state;
    brume_event event = event_of(brume_card_by_name("randomized_response"), BRUME_ADD_REMOVE);
    brume_subject *subject = NULL;
    assert_ok(brume_subject_open(&event, 0, &subject, &error));
    law of = law_of(subject);
    assert_holds(delta_lower(&of, .99 * event.parameter[0], false) > 0);
    event.parameter[0] *= .99; /* what is claimed for the other's law */
    assert_holds(delta_lower(&of, event.parameter[0], true) >
                 claimed_delta(&event, event.parameter[0]));
    free_law(&of);
    brume_subject_close(subject);
}

/* ---- draws ---- */

static int64_t draws[DRAWS];

static size_t place_of(const law *of, int64_t drawn)
{
    if (drawn == BRUME_TRIAL_HIDDEN)
        return of->count - 1;
    int64_t place = drawn - of->least;
    return place < 0 || place >= (int64_t)of->count - 1 ? SIZE_MAX : (size_t)place;
}

/* How many of the draws are in [low, high], against the law's probability of it. */
static bool fits(const law *of, int second, size_t low, size_t high, size_t count)
{
    double lower = 0, upper = 1e-12;
    for (size_t i = low; i <= high; i++) {
        lower += of->masses[second][i].lower;
        upper += of->masses[second][i].upper;
    }
    uint64_t hits = 0;
    for (size_t i = 0; i < count; i++)
        hits += place_of(of, draws[i]) >= low && place_of(of, draws[i]) <= high;
    double alarm = false_alarm_share(false_alarm_trials) / 2000; /* on either side */
    return brume_proportion_lower(count, hits, alarm) <= fmin(upper, 1) &&
           brume_proportion_upper(count, hits, alarm) >= lower;
}

/* In eight intervals of about equal mass. */
static bool all_fit(const law *of, int second, size_t count)
{
    double sum = 0;
    size_t low = 0;
    for (size_t i = 0; i < of->count; i++) {
        sum += of->masses[second][i].upper;
        if (sum >= .125 || i + 1 == of->count) {
            if (!fits(of, second, low, i, count))
                return false;
            low = i + 1;
            sum = 0;
        }
    }
    return true;
}

static void check_draws(const brume_card *card, const brume_event *event,
                        const brume_subject *subject)
{
    (void)event;
    brume_bits *bits = brume_tape_open_seeded(card->id);
    bool has_law = has_small_law(subject);
    law of = {0};
    if (has_law)
        of = law_of(subject);
    for (int second = 0; second < 2; second++) {
        size_t few = brume_subject_samples(subject) < 200000 ? DRAWS / 10 : DRAWS;
        size_t count = has_law ? few : 100;
        assert_ok(brume_subject_draw(subject, second != 0, bits, draws, count, &error));
        if (has_law && !all_fit(&of, second, count))
            fail_msg("%s: the draws do not have the law that the card states", card->name);
    }
    free_law(&of);
    brume_bits_close(bits);
}

static void draws_have_the_law_that_their_card_states(void **state)
{
    (void)state;
    assert_true(for_each(check_draws) >= 2 * 18);
}

/* The mutant: draws with an eighth less noise than the law has. */
static void draws_of_another_law_are_found(void **state)
{
    (void)state;
    brume_event event = event_of(brume_card_by_name("discrete_laplace"), BRUME_ADD_REMOVE);
    brume_event other = event;
    event.parameter[0] = 2;
    other.parameter[0] = 1.75;
    brume_subject *subjects[2] = {NULL, NULL};
    assert_ok(brume_subject_open(&event, 0, &subjects[0], &error));
    assert_ok(brume_subject_open(&other, 0, &subjects[1], &error));
    law of = law_of(subjects[0]);
    brume_bits *bits = brume_tape_open_seeded(7);
    assert_ok(brume_subject_draw(subjects[0], false, bits, draws, DRAWS, &error));
    assert_true(all_fit(&of, 0, DRAWS));
    assert_ok(brume_subject_draw(subjects[1], false, bits, draws, DRAWS, &error));
    assert_false(all_fit(&of, 0, DRAWS));
    brume_bits_close(bits);
    free_law(&of);
    for (int i = 0; i < 2; i++)
        brume_subject_close(subjects[i]);
}

/* ---- the broken card ---- */

/* The numbers in its trial are those of the medians that its text speaks of. */
static void the_local_sensitivities_of_the_broken_card_are_those_of_medians(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        bool replace = i / 2, second = i % 2;
        size_t zeros = second ? 5 : 6, count = replace || second ? 10 : 11;
        int64_t values[11];
        for (size_t j = 0; j < count; j++)
            values[j] = j < zeros ? 0 : 1000000;
        brume_quantile_rule rule = {.numerator = 1,
                                    .denominator = 2,
                                    .values_per_unit = 1,
                                    .adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE,
                                    .upper = 1000000};
        brume_quantile *median = NULL;
        assert_ok(brume_quantile_open(&rule, values, count, &median, &error));
        assert_int_equal(brume_quantile_value(median), 0);
        assert_int_equal(brume_quantile_local(median, 0), second ? 1000000 : 0);
        brume_quantile_close(median);
    }
    brume_event event = event_of(brume_card_by_name("local_sensitivity_laplace"), BRUME_ADD_REMOVE);
    brume_subject *subject = NULL;
    brume_interval first, second;
    assert_ok(brume_subject_open(&event, 0, &subject, &error));
    assert_ok(brume_subject_mass(subject, false, 0, &first, &error));
    assert_ok(brume_subject_mass(subject, true, 0, &second, &error));
    assert_holds(first.lower == 1 && second.upper < 1e-6 && log(first.lower / second.upper) > 13);
    brume_subject_close(subject);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stated_laws_keep_the_promise_of_their_cards),
        cmocka_unit_test(a_claim_that_is_too_small_is_found),
        cmocka_unit_test(draws_have_the_law_that_their_card_states),
        cmocka_unit_test(draws_of_another_law_are_found),
        cmocka_unit_test(the_local_sensitivities_of_the_broken_card_are_those_of_medians),
    };
    return cmocka_run_group_tests_name("trials", tests, NULL, NULL);
}
