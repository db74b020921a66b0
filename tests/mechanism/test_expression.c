/* Expressions: what parses, to which events, and how each fault is named. */
#include "check.h"

#include <locale.h>
#include <stdlib.h>

#include <brume/mechanism/expression.h>

#include "mechanism/card.h"

static brume_error error;

static brume_expression parsed(const char *text)
{
    brume_expression e = {0};
    assert_ok(brume_expression_parse(text, BRUME_ADD_REMOVE, &e, &error));
    return e;
}

static void the_documented_example_gives_two_events(void **state)
{
    (void)state;
    brume_expression e = parsed("laplace(scale=10)*5 + gaussian(sigma=2, sensitivity=1)*100");
    assert_int_equal(e.count, 2);
    assert_false(e.has_unknown);
    assert_int_equal(e.events[0].mechanism, 2);
    assert_int_equal(e.events[0].count, 5);
    assert_true(e.events[0].parameter[0] == 10);
    assert_int_equal(e.events[1].mechanism, 4);
    assert_int_equal(e.events[1].count, 100);
    assert_true(e.events[1].parameter[0] == 2 && e.events[1].sensitivity == 1);
    assert_int_equal(e.events[1].adjacency, BRUME_ADD_REMOVE);
    brume_expression_free(&e);
    assert_null(e.events);
    brume_expression_free(NULL);
}

static void every_expression_of_the_reference_parses(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t id;
    } cases[] = {
        {"randomized_response(epsilon=1)", 1},
        {"randomized_response(epsilon=1, k=4)", 1},
        {"laplace(scale=10)", 2},
        {"discrete_laplace(scale=.5)", 3},
        {"gaussian(sigma=2e0)", 4},
        {"discrete_gaussian(sigma=1E+1)", 5},
        {"exponential(epsilon=0.1, monotone=true)", 6},
        {"noisy_max(epsilon=0.1)", 7},
        {"permute_and_flip(epsilon=0.1, monotone=false)", 8},
        {"above_threshold(epsilon=1)", 9},
        {"sparse_vector(epsilon=1, hits=3)", 10},
        {"poisson(rate=0.01, gaussian(sigma=1))", 11},
        {"pure(epsilon=1)", 12},
        {"approximate(epsilon=1, delta=1e-6)", 13},
        {"zcdp(rho=.5)", 14},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_expression e = parsed(cases[i].text);
        assert_int_equal(e.count, 1);
        assert_int_equal(e.events[0].mechanism, cases[i].id);
        brume_expression_free(&e);
    }
}

static void the_inner_mechanism_fills_the_slots_after_the_outer(void **state)
{
    (void)state;
    brume_expression e =
        parsed(" poisson ( gaussian( sigma = 3 , sensitivity=2 ) , rate = .25 ) * 7 ");
    assert_int_equal(e.events[0].base, 4);
    assert_true(e.events[0].parameter[0] == .25);
    assert_true(e.events[0].parameter[1] == 3);
    assert_true(e.events[0].sensitivity == 2);
    assert_int_equal(e.events[0].count, 7);
    brume_expression_free(&e);
}

static void the_unknown_is_recorded_and_can_be_solved(void **state)
{
    (void)state;
    brume_expression e = parsed("laplace(scale=10) + gaussian(sigma=?)*100");
    assert_true(e.has_unknown);
    assert_int_equal(e.unknown.event, 1);
    assert_int_equal(e.unknown.slot, 0);
    assert_string_equal(e.unknown.parameter->name, "sigma");
    assert_int_equal(e.unknown.parameter->direction, BRUME_MORE_NOISE);
    assert_true(isnan(e.events[1].parameter[0]));
    assert_fails(brume_expression_solve(&e, -1, &error), BRUME_EARGUMENT);
    assert_true(isnan(e.events[1].parameter[0]));
    assert_ok(brume_expression_solve(&e, 3, &error));
    assert_true(e.events[1].parameter[0] == 3);
    brume_expression_free(&e);

    e = parsed("laplace(scale=10, sensitivity=?)");
    assert_int_equal(e.unknown.slot, BRUME_SLOT_SENSITIVITY);
    assert_ok(brume_expression_solve(&e, 3, &error));
    assert_true(e.events[0].sensitivity == 3);
    brume_expression_free(&e);

    e = parsed("poisson(rate=?, gaussian(sigma=1))");
    assert_int_equal(e.unknown.slot, 0);
    brume_expression_free(&e);
    e = parsed("poisson(rate=.1, gaussian(sigma=?))");
    assert_int_equal(e.unknown.slot, 1);
    brume_expression_free(&e);
    e = parsed("pure(epsilon=1)");
    assert_fails(brume_expression_solve(&e, 3, &error), BRUME_EARGUMENT);
    brume_expression_free(&e);
}

static void every_fault_is_named_with_its_position(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        brume_status status;
        const char *message; /* a part of it */
        const char *hint;    /* a part of it */
    } cases[] = {
        {"", BRUME_ESYNTAX, "position 1, found the end", ""},
        {"   ", BRUME_ESYNTAX, "position 4, found the end", ""},
        {"laplace", BRUME_ESYNTAX, "expected '(' at position 8", "name(parameter=value"},
        {"laplace(", BRUME_ESYNTAX, "a parameter at position 9, found the end", ""},
        {"laplace()", BRUME_EARGUMENT, "laplace at position 1 needs 'scale'", ""},
        {"laplace(scale)", BRUME_ESYNTAX, "expected '=' at position 14", "name=value"},
        {"laplace(scale=)", BRUME_ESYNTAX, "a number, true, false or ? at position 15", ""},
        {"laplace(scale=1", BRUME_ESYNTAX, "',' or ')' at position 16", ""},
        {"laplace(scale=1,)", BRUME_ESYNTAX, "a parameter at position 17", ""},
        {"laplace(scale=1) laplace(scale=1)", BRUME_ESYNTAX, "position 18, found 'l'", ""},
        {"laplace(scale=1) +", BRUME_ESYNTAX, "a mechanism at position 19, found the end", ""},
        {"5*laplace(scale=1)", BRUME_ESYNTAX, "position 1, found '5'", "the count follows"},
        {"laplce(scale=1)", BRUME_EUNKNOWN, "mechanism 'laplce' at position 1", "'laplace'"},
        {"pure(epsilon=1) + gausian(sigma=1)", BRUME_EUNKNOWN, "position 19", "'gaussian'"},
        {"zzzzzz(a=1)", BRUME_EUNKNOWN, "'zzzzzz'", "there are randomized_response"},
        {"laplace(scael=1)", BRUME_EUNKNOWN, "parameter 'scael' at position 9 of laplace",
         "'scale'"},
        {"laplace(scale=1, senstivity=1)", BRUME_EUNKNOWN, "position 18", "'sensitivity'"},
        {"pure(epsilon=1, sensitivity=2)", BRUME_EUNKNOWN, "'sensitivity'", "there is epsilon"},
        {"poisson(rate=.1, gaussian(sigma=1), sensitivity=2)", BRUME_EUNKNOWN, "'sensitivity'", ""},
        {"laplace(scale=1, scale=2)", BRUME_ESYNTAX, "'scale' is given twice, at position 18", ""},
        {"laplace(scale=1, sensitivity=2, sensitivity=2)", BRUME_ESYNTAX, "twice", ""},
        {"laplace(scale=1.2.3)", BRUME_ESYNTAX, "position 18, found '.'", ""},
        {"laplace(scale=0x10)", BRUME_ESYNTAX, "position 16, found 'x'", ""},
        {"laplace(scale=1e)", BRUME_ESYNTAX, "exponent at position 17", ""},
        {"laplace(scale=1e999)", BRUME_EARGUMENT, "position 15 is too large", ""},
        {"laplace(scale=1e-999)", BRUME_EARGUMENT, "position 15 is too small", ""},
        {"laplace(scale=0)", BRUME_EARGUMENT, "'scale' is 0, must be a number, finite and above 0",
         ""},
        {"laplace(scale=-3)", BRUME_EARGUMENT, "'scale' is -3", ""},
        {"laplace(scale=nan)", BRUME_EARGUMENT, "'scale' is 'nan' at position 15", ""},
        {"laplace(scale=inf)", BRUME_EARGUMENT, "'scale' is 'inf' at position 15", ""},
        {"laplace(scale=true)", BRUME_EARGUMENT, "'scale' is 'true' at position 15", ""},
        {"laplace(scale=1, sensitivity=0)", BRUME_EARGUMENT, "'sensitivity' is 0", ""},
        {"exponential(epsilon=1, monotone=1)", BRUME_ESYNTAX, "true or false at position 33", ""},
        {"exponential(epsilon=1, monotone=yes)", BRUME_ESYNTAX, "'yes' at position 33", ""},
        {"exponential(epsilon=1, monotone=?)", BRUME_EUNSUPPORTED, "'monotone' cannot be '?'", ""},
        {"randomized_response(epsilon=1, k=1)", BRUME_EARGUMENT, "an integer in [2,", ""},
        {"randomized_response(epsilon=1, k=2.5)", BRUME_EARGUMENT, "'k' is 2.5", ""},
        {"sparse_vector(epsilon=1)", BRUME_EARGUMENT, "needs 'hits'", ""},
        {"approximate(epsilon=1, delta=1)", BRUME_EARGUMENT, "in [0, 1)", ""},
        {"poisson(rate=1.5, gaussian(sigma=1))", BRUME_EARGUMENT, "in (0, 1]", ""},
        {"poisson(rate=.5)", BRUME_EARGUMENT, "needs an inner mechanism", ""},
        {"poisson(rate=.5, gaussian(sigma=0))", BRUME_EARGUMENT, "gaussian: 'sigma' is 0", ""},
        {"poisson(rate=.5, gaussian(sigma=1), gaussian(sigma=1))", BRUME_ESYNTAX, "second inner",
         ""},
        {"poisson(rate=.5, poisson(rate=.5, gaussian(sigma=1)))", BRUME_EUNSUPPORTED, "inside", ""},
        {"laplace(scale=1, gaussian(sigma=1))", BRUME_ESYNTAX, "laplace takes no inner",
         "name=value"},
        {"laplace(scale=?) + gaussian(sigma=?)", BRUME_ESYNTAX, "second '?' at position 35", ""},
        {"laplace(scale=1)*0", BRUME_EARGUMENT, "count at position 18 is 0", "leave the term out"},
        {"laplace(scale=1)*-1", BRUME_ESYNTAX, "a count at position 18, found '-'", ""},
        {"laplace(scale=?)*?", BRUME_ESYNTAX, "second '?' at position 18", ""},
        {"laplace(scale=1)*1.5", BRUME_ESYNTAX, "not a whole number", ""},
        {"laplace(scale=1)*1e3", BRUME_ESYNTAX, "not a whole number", "in digits"},
        {"laplace(scale=1)*9223372036854775808", BRUME_EARGUMENT, "above 2^63 - 1", ""},
        {"laplace(scale=1)*99999999999999999999999999", BRUME_EARGUMENT, "above 2^63 - 1", ""},
        {"laplace(scale=1)*5*5", BRUME_ESYNTAX, "position 19, found '*'", ""},
        {"laplace(scale=1)\x01", BRUME_ESYNTAX, "no plain text", ""},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa()",
         BRUME_EUNKNOWN, "too long", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_expression e = {.count = 42};
        brume_status status = brume_expression_parse(cases[i].text, BRUME_ADD_REMOVE, &e, &error);
        if (status != cases[i].status || !strstr(error.message, cases[i].message) ||
            !strstr(error.hint, cases[i].hint) || e.count != 42)
            fail_msg("\"%s\" gave %s: %s (%s)", cases[i].text, brume_status_word(status),
                     error.message, error.hint);
        assert_fails(brume_expression_parse(cases[i].text, BRUME_ADD_REMOVE, &e, NULL),
                     cases[i].status);
    }
    assert_fails(brume_expression_parse(NULL, BRUME_ADD_REMOVE, NULL, &error), BRUME_EARGUMENT);
}

static void counts_reach_two_to_the_63_minus_1(void **state)
{
    (void)state;
    brume_expression e = parsed("laplace(scale=1)*9223372036854775807 + pure(epsilon=1)*0000001");
    assert_true(e.events[0].count == INT64_MAX);
    assert_true(e.events[1].count == 1);
    brume_expression_free(&e);
}

static void poisson_is_refused_under_replace(void **state)
{
    (void)state;
    brume_expression e = {0};
    assert_fails(
        brume_expression_parse("poisson(rate=.1, gaussian(sigma=1))", BRUME_REPLACE, &e, &error),
        BRUME_EARGUMENT);
    assert_non_null(strstr(error.message, "not defined under this adjacency"));
    assert_fails(brume_expression_parse("pure(epsilon=1)", (brume_adjacency)0, &e, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_expression_parse("pure(epsilon=1)",
                                        (brume_adjacency)(BRUME_ADD_REMOVE | BRUME_REPLACE), &e,
                                        &error),
                 BRUME_EARGUMENT);
}

static void an_event_written_out_parses_back_to_itself(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "laplace(scale=0.1)",
        "laplace(scale=1e-300, coordinates=7, sensitivity=3)*12",
        "gaussian(sigma=0.30000000000000004)*9223372036854775807",
        "poisson(rate=0.01, gaussian(sigma=2, sensitivity=5))*3",
        "exponential(epsilon=0.5, monotone=true)",
        "sparse_vector(epsilon=1, hits=3, epsilon_answers=0.25, queries=100, sensitivity=0.5)",
        "approximate(epsilon=0, delta=1e-09)",
        "randomized_response(epsilon=1, k=4)",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        brume_expression e = parsed(texts[i]);
        char text[256];
        assert_ok(brume_event_write(&e.events[0], text, sizeof text, &error));
        assert_string_equal(text, texts[i]);
        assert_fails(brume_event_write(&e.events[0], text, strlen(texts[i]), &error),
                     BRUME_EOVERFLOW);
        assert_ok(brume_event_write(&e.events[0], text, strlen(texts[i]) + 1, &error));
        brume_expression_free(&e);
    }
    brume_event unknown = {.mechanism = 9999, .adjacency = BRUME_REPLACE, .count = 1};
    char text[10] = "as before";
    assert_fails(brume_event_write(&unknown, text, sizeof text, &error), BRUME_EUNKNOWN);
    assert_string_equal(text, "as before");
}

static void many_terms_parse_and_too_many_are_refused(void **state)
{
    (void)state;
    static const char term[] = "+pure(epsilon=1)";
    size_t length = sizeof term - 1, terms = 100001;
    char *text = malloc(length * terms + 1);
    assert_non_null(text);
    for (size_t i = 0; i < terms; i++)
        memcpy(text + i * length, term, length);
    text[length * terms] = 0;
    brume_expression e = {0};
    assert_fails(brume_expression_parse(text + 1, BRUME_REPLACE, &e, &error), BRUME_EARGUMENT);
    assert_ok(brume_expression_parse(text + 1 + length, BRUME_REPLACE, &e, &error));
    assert_int_equal(e.count, terms - 1);
    brume_expression_free(&e);
    free(text);
}

static void cards_have_unique_permanent_ids_and_complete_texts(void **state)
{
    (void)state;
    size_t count;
    const brume_card *const *cards = brume_cards(&count);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(brume_card_by_id(cards[i]->id), cards[i]);
        assert_ptr_equal(brume_card_by_name(cards[i]->name), cards[i]);
        assert_true(cards[i]->summary && *cards[i]->summary);
        assert_true(cards[i]->guarantee && *cards[i]->guarantee);
        assert_true(cards[i]->proof && cards[i]->examples && cards[i]->sensitivity);
        assert_true(cards[i]->adjacencies != 0);
        assert_true(brume_card_slots(cards[i]) <= BRUME_EVENT_PARAMETERS);
        for (size_t j = 0; j < cards[i]->parameter_count; j++) {
            const brume_parameter *parameter = &cards[i]->parameters[j];
            assert_true(parameter->name && parameter->help && *parameter->help && parameter->unit);
            assert_int_equal(brume_card_parameter(cards[i], parameter->name), j);
        }
    }
    assert_null(brume_card_by_id(0));
    assert_null(brume_card_by_name("nothing"));
    assert_true(brume_card_parameter(cards[0], "nothing") == SIZE_MAX);
    assert_string_equal(brume_card_by_id(1)->name, "randomized_response");
    assert_string_equal(brume_card_by_id(14)->name, "zcdp");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documented_example_gives_two_events),
        cmocka_unit_test(every_expression_of_the_reference_parses),
        cmocka_unit_test(the_inner_mechanism_fills_the_slots_after_the_outer),
        cmocka_unit_test(the_unknown_is_recorded_and_can_be_solved),
        cmocka_unit_test(every_fault_is_named_with_its_position),
        cmocka_unit_test(counts_reach_two_to_the_63_minus_1),
        cmocka_unit_test(poisson_is_refused_under_replace),
        cmocka_unit_test(an_event_written_out_parses_back_to_itself),
        cmocka_unit_test(many_terms_parse_and_too_many_are_refused),
        cmocka_unit_test(cards_have_unique_permanent_ids_and_complete_texts),
    };
    return cmocka_run_group_tests_name("expression", tests, NULL, NULL);
}
