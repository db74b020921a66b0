/* Events at the ends of what their cards accept: what is at an open end is refused, what is at a
 * closed one is not, by whoever asks; and arrays are written to their end, not beyond. */
#include "check.h"

#include <stdlib.h>

#include <brume/account/account.h>
#include <brume/noise/grid_noise.h>
#include <brume/noise/randomized_response.h>

#include "mechanism/card.h"
#include "mechanism/noise/grid.h"
#include "mechanism/trial.h"
#include "parsed_event.h"
#include "random/tape.h"

static brume_error error;

static brume_event event_of(const char *text)
{
    return parsed_event(text, BRUME_ADD_REMOVE);
}

/* A value that every parameter's range contains, or nearly. */
static double within(const brume_parameter *p)
{
    if (p->optional)
        return p->standard;
    if (p->type != BRUME_PARAMETER_REAL)
        return fmax(p->least, 1);
    return fmin(1, p->least + (fmin(p->most, p->least + 1) - p->least) / 4);
}

static void the_ends_of_every_range_are_open_or_closed_as_stated(void **state)
{
    (void)state;
    size_t count, ends = 0;
    const brume_card *const *cards = brume_cards(&count);
    for (size_t i = 0; i < count; i++) {
        const brume_card *card = cards[i];
        if (brume_card_slots(card) < card->parameter_count)
            continue; /* needs an inner mechanism */
        brume_event event = {.mechanism = card->id, .sensitivity = 1, .count = 1};
        event.adjacency = card->adjacencies & BRUME_ADD_REMOVE ? BRUME_ADD_REMOVE
                          : card->adjacencies & BRUME_REPLACE  ? BRUME_REPLACE
                                                               : BRUME_EDGE;
        for (size_t j = 0; j < card->parameter_count; j++)
            event.parameter[j] = within(&card->parameters[j]);
        assert_ok(brume_event_check(&event, &error));
        for (size_t j = 0; j < card->parameter_count; j++) {
            const brume_parameter *p = &card->parameters[j];
            double usual = event.parameter[j];
            const struct {
                double value;
                bool fits;
            } tried[] = {{p->least, !p->least_open},
                         {p->most, !p->most_open && isfinite(p->most)},
                         {nextafter(p->least, -INFINITY), false},
                         {nextafter(p->most, INFINITY), false},
                         {p->least + 0.5, p->type == BRUME_PARAMETER_REAL && p->most > 0.5},
                         {(double)NAN, false},
                         {INFINITY, false},
                         {-INFINITY, false}};
            for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
                event.parameter[j] = tried[k].value;
                if ((brume_event_check(&event, NULL) == BRUME_OK) != tried[k].fits)
                    fail_msg("%s: %s = %.17g", card->name, p->name, tried[k].value);
                ends++;
            }
            event.parameter[j] = usual;
        }
        event.count = 0;
        assert_fails(brume_event_check(&event, &error), BRUME_EARGUMENT);
        event.count = INT64_MAX;
        assert_ok(brume_event_check(&event, &error));
        event.count = (uint64_t)INT64_MAX + 1;
        assert_fails(brume_event_check(&event, &error), BRUME_EARGUMENT);
    }
    assert_true(ends > 300);
}

/* Whoever asks for a number of an event has it checked first, and gets nothing of one that is not
 * right. */
static void every_question_checks_its_event(void **state)
{
    (void)state;
    static const char *const texts[] = {"laplace(scale=2)", "discrete_gaussian(sigma=3)",
                                        "randomized_response(epsilon=1, people=100)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        brume_event event = event_of(texts[i]);
        event.sensitivity = -1;
        brume_bits *bits = brume_tape_open_seeded(3);
        brume_cost cost;
        brume_interval mass = {4, 2};
        double number = 42;
        int64_t draw = 42;
        assert_fails(brume_event_cost(&event, &cost, &error), BRUME_EARGUMENT);
        assert_fails(brume_event_alpha(&event, 0.1, &number, &error), BRUME_EARGUMENT);
        assert_fails(brume_event_beta(&event, 3, &number, &error), BRUME_EARGUMENT);
        assert_fails(brume_event_mass(&event, 0, &mass, &error), BRUME_EARGUMENT);
        assert_fails(brume_event_noise(&event, bits, &draw, 1, &number, &error), BRUME_EARGUMENT);
        assert_true(number == 42 && mass.lower == 4 && draw == 0);
        brume_bits_close(bits);
        event.sensitivity = 1;
        static const double bad[] = {0, 1, -1, 2, NAN};
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
            assert_fails(brume_event_alpha(&event, bad[k], &number, &error), BRUME_EARGUMENT);
        assert_fails(brume_event_beta(&event, -1e-9, &number, &error), BRUME_EARGUMENT);
        assert_fails(brume_event_beta(&event, INFINITY, &number, &error), BRUME_EARGUMENT);
        assert_ok(brume_event_beta(&event, 0, &number, &error));
        assert_true(number == 1); /* an error of 0 or more: a chance is no more than 1 */
    }
}

static void inner_mechanisms_are_checked_too(void **state)
{
    (void)state;
    brume_event event = event_of("poisson(rate=0.5, gaussian(sigma=2))");
    assert_ok(brume_event_check(&event, &error));
    event.parameter[1] = 0;
    assert_fails(brume_event_check(&event, &error), BRUME_EARGUMENT);
    event = event_of("poisson(rate=0.5, gaussian(sigma=2))");
    event.base = 0;
    assert_fails(brume_event_check(&event, &error), BRUME_EARGUMENT);
    event = event_of("laplace(scale=2)");
    event.base = event.mechanism;
    assert_fails(brume_event_check(&event, &error), BRUME_EARGUMENT);
    event = event_of("pure(epsilon=2)");
    event.sensitivity = 2; /* it has none */
    assert_fails(brume_event_check(&event, &error), BRUME_EARGUMENT);
}

/* Draws fill what they are given, and the next place stays as it was. */
static void draws_end_where_they_are_asked_to(void **state)
{
    (void)state;
    static const char *const texts[] = {"laplace(scale=2)", "discrete_laplace(scale=2)",
                                        "randomized_response(epsilon=0.1, k=7)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        brume_event event = event_of(texts[i]);
        int64_t out[9];
        double step;
        for (size_t n = 0; n < 8; n++) {
            brume_bits *bits = brume_tape_open_seeded(5);
            for (size_t k = 0; k < 9; k++)
                out[k] = -77;
            assert_ok(brume_event_noise(&event, bits, out, n, &step, &error));
            for (size_t k = n; k < 9; k++)
                assert_true(out[k] == -77);
            brume_bits_close(bits);
        }
    }
}

static void randomized_response_refuses_what_it_does_not_know(void **state)
{
    (void)state;
    brume_bits *bits = brume_tape_open_seeded(9);
    uint64_t other = 0;
    uint8_t truth = 255, out = 0;
    brume_share share;
    assert_fails(brume_randomized_response_noise(bits, 0, 2, &other, &error), BRUME_EARGUMENT);
    assert_fails(brume_randomized_response_noise(bits, 1, 1, &other, &error), BRUME_EARGUMENT);
    assert_ok(brume_randomized_response_noise(bits, 1, 2, &other, &error));
    assert_ok(brume_randomized_response(bits, 1, 256, &truth, &out, 1, &error));
    assert_fails(brume_randomized_response(bits, 1, 257, &truth, &out, 1, &error), BRUME_EARGUMENT);
    assert_fails(brume_randomized_response(bits, 1, 255, &truth, &out, 1, &error), BRUME_EARGUMENT);
    assert_fails(brume_randomized_response_estimate(0, 2, 1, 2, 0.1, 1, &share, &error),
                 BRUME_EARGUMENT);
    assert_ok(brume_randomized_response_estimate(1e-9, 2, 2, 2, 0.1, 1, &share, &error));
    brume_bits_close(bits);
}

static void grids_reach_as_far_as_they_say(void **state)
{
    (void)state;
    double step, units;
    assert_ok(brume_grid_of(0x1p960, &step, &units, &error));
    assert_true(step == 0x1p920 && units == 0x1p40);
    assert_fails(brume_grid_of(nextafter(0x1p960, INFINITY), &step, &units, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_grid_of(0, &step, &units, &error), BRUME_EARGUMENT);
    assert_ok(brume_grid_of(0x1p-1074, &step, &units, &error));
    assert_true(step == 0x1p-1074 && units == 1);
}

/* What the auditor tries of noise is the mechanism with its own spread, neighbours one sensitivity
 * apart. */
static void trials_of_noise_keep_its_scale(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double steps;
    } cases[] = {{"discrete_laplace(scale=2, sensitivity=3)", 1},
                 {"laplace(scale=2, sensitivity=3)", BRUME_TRIAL_GRID}};
    for (size_t i = 0; i < 2; i++) {
        brume_event event = event_of(cases[i].text);
        const brume_trial *trial = brume_card_by_id(event.mechanism)->trial;
        void *made = calloc(1, trial->state_size);
        int64_t least, most;
        assert_non_null(made);
        assert_ok(trial->prepare(&event, 0, made, &error));
        trial->support(&event, made, &least, &most);
        double reach = 60 * cases[i].steps + 1;
        assert_true((double)least == -reach && (double)most == 3 * cases[i].steps + reach);
        free(made);
    }
}

static void the_last_method_is_one_of_them(void **state)
{
    (void)state;
    brume_event event = event_of("laplace(scale=2)");
    brume_term *terms = NULL;
    for (int method = BRUME_METHOD_AUTO; method <= BRUME_METHOD_PLD; method++) {
        assert_ok(brume_account_terms(&event, 1, 1, (brume_method)method, &terms, &error));
        free(terms);
    }
    assert_fails(
        brume_account_terms(&event, 1, 1, (brume_method)(BRUME_METHOD_PLD + 1), &terms, &error),
        BRUME_EARGUMENT);
    assert_fails(brume_account_terms(&event, 0, 1, BRUME_METHOD_AUTO, &terms, &error),
                 BRUME_EARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ends_of_every_range_are_open_or_closed_as_stated),
        cmocka_unit_test(every_question_checks_its_event),
        cmocka_unit_test(inner_mechanisms_are_checked_too),
        cmocka_unit_test(draws_end_where_they_are_asked_to),
        cmocka_unit_test(randomized_response_refuses_what_it_does_not_know),
        cmocka_unit_test(grids_reach_as_far_as_they_say),
        cmocka_unit_test(trials_of_noise_keep_its_scale),
        cmocka_unit_test(the_last_method_is_one_of_them),
    };
    return cmocka_run_group_tests_name("event ranges", tests, NULL, NULL);
}
