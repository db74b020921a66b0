/* Streams of a session: a question in, an answer out, paid for once. */
#include <pthread.h>
#include <time.h>

#include <jansson.h>

#include "check.h"
#include "fixture.h"

static const char above[] = "stream above-threshold";

static json_t *ask(brume_session *session, const char *question, bool *halted)
{
    brume_error error = {0};
    char *text = NULL;
    assert_ok(brume_session_stream_ask(session, question, &text, halted, &error));
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    brume_free(text);
    return json;
}

static void a_stream_is_paid_for_once_and_halts_by_itself(void **state)
{
    (void)state;
    fixture all;
    brume_error error = {0};
    bool halted = false;
    char *text = NULL;
    fixture_open(&all, 300, "100");
    assert_ok(brume_session_stream_open(
        all.session, above, "{\"dataset\": \"people\", \"threshold\": 150, \"epsilon\": 50}",
        &error));
    assert_int_equal(brume_session_phase(all.session), BRUME_SESSION_RUNNING);
    assert_fails(brume_session_call(all.session, "budget", NULL, &text, &error), BRUME_EARGUMENT);
    assert_string_equal(error.message, "a stream is open in this session");
    json_t *low = ask(all.session, "income > 1000000", &halted);
    assert_true(json_is_false(json_object_get(low, "above")) && !halted);
    assert_int_equal(json_integer_value(json_object_get(low, "index")), 1);
    assert_fails(
        brume_session_stream_ask(all.session, "no_such_column = 1", &text, &halted, &error),
        BRUME_EUNKNOWN);
    assert_fails(brume_session_stream_ask(all.session, NULL, &text, &halted, &error),
                 BRUME_EARGUMENT);
    json_t *high = ask(all.session, "income >= 0", &halted); /* 300: surely above 150 */
    assert_true(json_is_true(json_object_get(high, "above")) && halted);
    assert_int_equal(json_integer_value(json_object_get(high, "index")), 4);
    assert_fails(brume_session_stream_ask(all.session, "income > 1", &text, &halted, &error),
                 BRUME_EHALTED);
    assert_ok(brume_session_stream_close(all.session, &error));
    assert_ok(brume_session_stream_close(all.session, &error)); /* nothing to close */
    assert_int_equal(brume_session_phase(all.session), BRUME_SESSION_IDLE);
    assert_close(fixture_left(all.session), 50, 1e-15);
    json_decref(low);
    json_decref(high);
    fixture_close(&all);
}

static void numbers_without_a_ledger_are_answered_too(void **state)
{
    (void)state;
    brume_session *session = NULL;
    brume_error error = {0};
    bool halted = false;
    char *text = NULL;
    assert_ok(brume_session_open(NULL, NULL, &session, &error));
    assert_ok(brume_session_stream_open(
        session, "stream sparse-vector",
        "{\"no_ledger\": true, \"threshold\": 0, \"epsilon\": 100, \"hits\": 2, \"format\": \"text\"}",
        &error));
    assert_ok(brume_session_stream_ask(session, "-1000", &text, &halted, &error));
    assert_string_equal(text, "below\n");
    brume_free(text);
    for (int i = 0; i < 2; i++) {
        assert_ok(brume_session_stream_ask(session, "1000", &text, &halted, &error));
        assert_string_equal(text, "above\n");
        assert_int_equal(halted, i == 1);
        brume_free(text);
    }
    assert_fails(brume_session_stream_ask(session, "1", &text, &halted, &error), BRUME_EHALTED);
    assert_ok(brume_session_stream_close(session, &error));
    assert_fails(brume_session_stream_ask(session, "1", &text, NULL, &error), BRUME_EARGUMENT);
    brume_session_close(session);
}

static void a_wrong_number_costs_nothing_and_the_stream_goes_on(void **state)
{
    (void)state;
    brume_session *session = NULL;
    brume_error error = {0};
    bool halted = false;
    char *text = NULL;
    assert_ok(brume_session_open(NULL, NULL, &session, &error));
    assert_ok(brume_session_stream_open(
        session, above, "{\"no_ledger\": true, \"threshold\": 0, \"epsilon\": 100}", &error));
    assert_fails(brume_session_stream_ask(session, "three", &text, &halted, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_session_stream_ask(session, NULL, &text, &halted, NULL), BRUME_EARGUMENT);
    assert_fails(brume_session_call(session, "budget", NULL, &text, &error), BRUME_EARGUMENT);
    assert_null(text);
    json_t *low = ask(session, "-1000", &halted);
    assert_int_equal(json_integer_value(json_object_get(low, "index")), 3);
    assert_true(json_is_false(json_object_get(low, "above")) && !halted);
    json_decref(low);
    brume_session_close(session); /* ends the stream */
}

static void what_cannot_be_opened_is_told_and_leaves_the_session_free(void **state)
{
    (void)state;
    fixture all;
    brume_error error = {0};
    char *text = NULL;
    fixture_open(&all, 30, "1");
    assert_fails(brume_session_stream_open(all.session, "budget", NULL, &error), BRUME_EARGUMENT);
    assert_string_equal(error.message, "'budget' is no stream");
    assert_fails(brume_session_stream_open(all.session, above, "{\"threshold\": 1}", &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_session_stream_open(
                     all.session, above,
                     "{\"threshold\": 1, \"epsilon\": 2, \"dataset\": \"people\"}", &error),
                 BRUME_EBUDGET);
    assert_fails(brume_session_stream_open(
                     all.session, above,
                     "{\"threshold\": 1, \"epsilon\": 2, \"dataset\": \"nobody\"}", &error),
                 BRUME_EUNKNOWN);
    assert_fails(brume_session_stream_ask(all.session, "1", &text, NULL, &error), BRUME_EARGUMENT);
    assert_string_equal(error.message, "no stream is open in this session");
    assert_int_equal(fixture_queries(all.session), 0);
    fixture_close(&all);
}

static void a_stream_that_waits_is_cancelled(void **state)
{
    (void)state;
    fixture all;
    brume_error error = {0};
    char *text = NULL;
    fixture_open(&all, 30, "1");
    assert_ok(brume_session_stream_open(
        all.session, above, "{\"dataset\": \"people\", \"threshold\": 500, \"epsilon\": 0.5}",
        &error));
    brume_session_cancel(all.session);
    for (int i = 0; i < 100 && brume_session_phase(all.session) == BRUME_SESSION_RUNNING; i++)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_fails(brume_session_stream_ask(all.session, "income > 1", &text, NULL, &error),
                 BRUME_ECANCELLED);
    assert_fails(brume_session_stream_close(all.session, &error), BRUME_ECANCELLED);
    assert_close(fixture_left(all.session), 0.5, 1e-15);
    brume_free(fixture_call(all.session, "ledger verify", NULL));
    fixture_close(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_paid_for_once_and_halts_by_itself),
        cmocka_unit_test(numbers_without_a_ledger_are_answered_too),
        cmocka_unit_test(a_wrong_number_costs_nothing_and_the_stream_goes_on),
        cmocka_unit_test(what_cannot_be_opened_is_told_and_leaves_the_session_free),
        cmocka_unit_test(a_stream_that_waits_is_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
