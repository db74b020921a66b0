/* Sessions (src/session): calls, answers, errors. */
#include <fenv.h>
#include <locale.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <jansson.h>

#include <brume/version.h>

#include "check.h"
#include "fixture.h"

static const char by_town[] = "SELECT town, COUNT(*) AS n FROM people GROUP BY town";

/* ---- answers ---- */

static void a_query_is_charged_once_and_read_again_for_free(void **state)
{
    (void)state;
    brume_error error = {0};
    fixture all;
    char *first = NULL, *again = NULL;
    fixture_open(&all, 300, "1");
    assert_ok(
        brume_session_query(all.session, by_town, "{\"epsilon\": 0.1}", NULL, &first, &error));
    assert_ok(
        brume_session_query(all.session, by_town, "{\"epsilon\": \"0.1\"}", NULL, &again, &error));
    json_t *one = json_loads(first, 0, NULL), *two = json_loads(again, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(one, "rows")), 3);
    assert_true(json_is_false(json_object_get(one, "cached")));
    assert_true(json_is_true(json_object_get(two, "cached")));
    assert_true(json_equal(json_object_get(one, "rows"), json_object_get(two, "rows")));
    assert_close(fixture_left(all.session), 0.9, 1e-15); /* 0.1 is a tenth, exactly */
    json_decref(one);
    json_decref(two);
    brume_free(first);
    brume_free(again);
    fixture_close(&all);
}

static void ten_tenths_are_all_of_a_budget_of_one(void **state)
{
    (void)state;
    brume_error error = {0};
    fixture all;
    fixture_open(&all, 30, "1");
    for (int i = 0; i < 11; i++) {
        char sql[100];
        snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM people WHERE income > %d", i);
        brume_status status =
            brume_session_query(all.session, sql, "{\"epsilon\": 0.1}", NULL, NULL, &error);
        assert_int_equal(status, i < 10 ? BRUME_OK : BRUME_EBUDGET);
    }
    assert_int_equal(fixture_queries(all.session), 10);
    fixture_close(&all);
}

static void explain_spends_nothing(void **state)
{
    (void)state;
    brume_error error = {0};
    fixture all;
    char *text = NULL;
    fixture_open(&all, 30, "1");
    assert_ok(brume_session_explain(all.session, by_town, "{\"epsilon\": 0.5}", &text, &error));
    json_t *json = json_loads(text, 0, NULL);
    assert_close(json_number_value(json_object_get(json_object_get(json, "cost"), "epsilon")), 0.5,
                 0);
    assert_int_equal(fixture_queries(all.session), 0);
    json_decref(json);
    brume_free(text);
    fixture_close(&all);
}

static void a_call_gives_json_or_the_text_of_the_command_line(void **state)
{
    (void)state;
    brume_session *session = NULL;
    brume_error error = {0};
    assert_ok(brume_session_open("/nowhere/brume.db", NULL, &session, &error));
    static const char ending[] =
        "\"statement\": \"|noise| in any coordinate; the grid adds at most "
        "half a step\"}\n";
    char *json =
        fixture_call(session, "accuracy", "{\"expr\": \"laplace(scale=1)\", \"beta\": 0.5}");
    char *text = fixture_call(session, "accuracy",
                              "{\"expr\": \"laplace(scale=1)\", \"beta\": \"0.5\", "
                              "\"format\": \"text\", \"alpha\": null}");
    assert_true(strlen(json) > sizeof ending);
    assert_string_equal(json + strlen(json) + 1 - sizeof ending, ending);
    assert_int_equal(strncmp(text, "P[error >= 0.69314718", 21), 0);
    brume_free(json);
    brume_free(text);
    brume_session_close(session);
}

/* ---- the host is left alone ---- */

static void locale_rounding_and_subnormals_of_the_host_change_nothing(void **state)
{
    (void)state;
    brume_session *session = NULL;
    brume_error error = {0};
    static const char options[] = "{\"expr\": \"gaussian(sigma=2)*10\", \"delta\": 1e-5}";
    assert_ok(brume_session_open(NULL, NULL, &session, &error));
    char *plain = fixture_call(session, "account", options);
    assert_int_equal(fesetround(FE_DOWNWARD), 0);
    char *down = fixture_call(session, "account", options);
    assert_int_equal(fegetround(), FE_DOWNWARD);
    fesetround(FE_TONEAREST);
    assert_string_equal(plain, down);
    brume_free(down);
#if defined(__SSE2__)
    enum { ZERO_SUBNORMALS = 0x8040 };
    _mm_setcsr(_mm_getcsr() | ZERO_SUBNORMALS);
    char *zeroed = fixture_call(session, "account", options);
    assert_int_equal(_mm_getcsr() & ZERO_SUBNORMALS, ZERO_SUBNORMALS);
    _mm_setcsr(_mm_getcsr() & ~(unsigned)ZERO_SUBNORMALS);
    assert_string_equal(plain, zeroed);
    brume_free(zeroed);
#endif
    locale_t own = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0), before = uselocale(own);
    brume_free(fixture_call(session, "account", options));
    assert_true(uselocale((locale_t)0) == own);
    uselocale(before);
    freelocale(own);
    brume_free(plain);
    brume_session_close(session);
}

static void a_fork_is_told_to_open_its_own(void **state)
{
    (void)state;
    fixture all;
    fixture_open(&all, 30, "1");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        brume_error error = {0};
        char *text = NULL;
        brume_status status = brume_session_call(all.session, "budget", NULL, &text, &error);
        bool refused = status == BRUME_EARGUMENT &&
                       strcmp(error.message, "the session belongs to another process") == 0 &&
                       brume_session_phase(all.session) == BRUME_SESSION_IDLE;
        brume_session *own = NULL;
        refused = refused && brume_session_open(all.ledger, NULL, &own, NULL) == BRUME_OK &&
                  brume_session_call(own, "budget", NULL, &text, NULL) == BRUME_OK;
        _exit(refused ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    free(fixture_call(all.session, "budget", NULL)); /* and here it still works */
    fixture_close(&all);
}

/* ---- errors ---- */

typedef struct wrong {
    const char *command, *options;
    brume_status status;
    const char *message, *hint;
} wrong;

static const wrong faults[] = {
    {"qery", NULL, BRUME_EUNKNOWN, "unknown command 'qery'", "did you mean 'query'?"},
    {"", NULL, BRUME_EARGUMENT, "a command is missing", "for example 'budget'"},
    {"budget extra", NULL, BRUME_EUNKNOWN, "unknown command 'budget extra'", "see 'help'"},
    {"ledger", NULL, BRUME_EUNKNOWN, "'ledger' is the first of two words",
     "one of: 'ledger verify', 'ledger export', 'ledger backup', 'ledger copy', 'ledger install', 'ledger find', 'ledger redact', 'ledger witness'"},
    {"budget", "[1]", BRUME_EARGUMENT, "the options are not an object",
     "options are one JSON object: {\"epsilon\": 0.1}"},
    {"budget", "{\"nam\": \"x\"}", BRUME_EUNKNOWN, "unknown option '--nam'",
     "see 'brume help budget'"},
    {"budget", "{\"ledge\": \"x\"}", BRUME_EUNKNOWN, "unknown option '--ledge'",
     "did you mean '--ledger'?"},
    {"budget", "{\"help\": true}", BRUME_EUNKNOWN, "unknown option '--help'",
     "did you mean '--help'?"},
    {"account", "{\"delta\": 1e-6}", BRUME_EARGUMENT, NULL, "see 'brume help account'"},
    {"account", "{\"expr\": \"laplace(scale=1)\", \"delta\": 2}", BRUME_EARGUMENT,
     "'--delta' is '2', must be a number in [0, 1)", NULL},
    {"account", "{\"expr\": \"laplace(scale=1)\", \"delta\": [0]}", BRUME_EARGUMENT,
     "'--delta' is an array, must be a text or a number", ""},
    {"account", "{\"expr\": {}, \"delta\": 0}", BRUME_EARGUMENT,
     "'EXPR' is an object, must be a text or a number", ""},
    {"account", "{\"expr\": \"laplace(scale=1)\", \"delta\": 0, \"all\": 1}", BRUME_EARGUMENT,
     "'--all' is a number, must be true or false", ""},
    {"account", "{\"expr\": \"laplace(scale=1)\", \"delta\": 0, \"json\": 1}", BRUME_EARGUMENT,
     "'--json' is a number, must be true or false", ""},
    {"account", "{\"expr\": \"laplace(scale=1)\", \"delta\": 0, \"format\": \"csv\"}",
     BRUME_EARGUMENT, "option '--format' has no choice 'csv'", "one of: json, text"},
    {"account", "{\"json\": true, \"format\": \"text\"}", BRUME_EARGUMENT,
     "'json' and 'format' contradict each other", "leave one of them out"},
    {"query", "{\"sql\": \"-\"}", BRUME_EARGUMENT,
     "standard input is read by the command line only", "give the SQL itself"},
    {"choose", "{\"file\": \"-\", \"epsilon\": 1}", BRUME_EARGUMENT,
     "standard input is read by the command line only", "give the name of a file"},
    {"shell", NULL, BRUME_EUNSUPPORTED, "'shell' is a command of the command line only",
     "call 'query' and the other commands instead"},
    {"stream pmw", NULL, BRUME_EUNSUPPORTED,
     "'stream pmw' answers questions one by one, not in one call", "open it as a stream, then ask"},
};

static void wrong_names_and_types_are_told_exactly(void **state)
{
    (void)state;
    brume_session *session = NULL;
    brume_error error = {0};
    assert_ok(brume_session_open("/nowhere/brume.db", "{}", &session, &error));
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const wrong *one = &faults[i];
        char *text = (char *)(uintptr_t) "untouched";
        assert_int_equal(brume_session_call(session, one->command, one->options, &text, &error),
                         one->status);
        assert_int_equal(error.status, one->status);
        assert_string_equal(text, "untouched");
        if (one->message)
            assert_string_equal(error.message, one->message);
        if (one->hint)
            assert_string_equal(error.hint, one->hint);
        assert_int_equal(brume_session_phase(session), BRUME_SESSION_IDLE);
    }
    brume_session_close(session);
}

static void sessions_that_cannot_be_are_refused(void **state)
{
    (void)state;
    brume_session *session = NULL;
    brume_error error = {0};
    char *text = NULL;
    assert_fails(brume_session_call(NULL, "budget", NULL, &text, &error), BRUME_EARGUMENT);
    assert_string_equal(error.message, "there is no session");
    assert_fails(brume_session_open("x", "{\"color\": true}", &session, &error), BRUME_EUNKNOWN);
    assert_string_equal(error.message, "unknown option 'color' of a session");
    assert_fails(brume_session_open("x", "{\"colour\": 1}", &session, &error), BRUME_EARGUMENT);
    assert_fails(brume_session_open("x", "{", &session, &error), BRUME_ESYNTAX);
    assert_fails(brume_session_open("x", NULL, NULL, &error), BRUME_EARGUMENT);
    brume_status status =
        brume_session_open("/nowhere/brume.db", "{\"must_exist\": true}", &session, &error);
    assert_int_not_equal(status, BRUME_OK);
    assert_true(error.hint[0]);
    assert_null(session);
    brume_session_cancel(NULL);
    brume_session_close(NULL);
    brume_free(NULL);
    assert_string_equal(brume_session_version(), BRUME_VERSION);
}

static void sql_has_one_statement_and_json_is_its_format(void **state)
{
    (void)state;
    brume_error error = {0};
    fixture all;
    fixture_open(&all, 30, "1");
    assert_fails(brume_session_query(all.session, "SELECT COUNT(*) FROM people; SELECT 1",
                                     "{\"epsilon\": 0.1}", NULL, NULL, &error),
                 BRUME_EARGUMENT);
    assert_string_equal(error.message, "there are 2 statements, must be one");
    assert_fails(brume_session_query(all.session, NULL, NULL, NULL, NULL, &error), BRUME_EARGUMENT);
    assert_string_equal(error.message, "'sql' is missing");
    assert_fails(brume_session_query(all.session, by_town, "{\"sql\": \"x\"}", NULL, NULL, &error),
                 BRUME_EARGUMENT);
    assert_fails(
        brume_session_query(all.session, by_town, "{\"format\": \"csv\"}", NULL, NULL, &error),
        BRUME_EARGUMENT);
    assert_fails(brume_session_query(all.session, "SELECT \xff", NULL, NULL, NULL, &error),
                 BRUME_EARGUMENT);
    assert_string_equal(error.message, "'sql' is not UTF-8");
    assert_fails(brume_session_query(all.session, by_town, NULL, NULL, NULL, &error),
                 BRUME_EARGUMENT); /* no price, and there is no default */
    assert_int_equal(fixture_queries(all.session), 0);
    fixture_close(&all);
}

/* ---- callbacks ---- */

typedef struct heard {
    brume_session *session;
    int told, over;
    brume_status inside;
    size_t taken;
} heard;

static void hear(void *context, const char *label, uint64_t done, uint64_t total)
{
    heard *all = context;
    all->told++;
    all->over += label == NULL;
    assert_true(done <= total);
    char *text = NULL;
    all->inside = brume_session_call(all->session, "mechanisms", NULL, &text, NULL);
}

static brume_status take(void *context, const char *text, size_t length, brume_error *error)
{
    heard *all = context;
    (void)error;
    assert_int_equal(strlen(text), length);
    all->taken += length;
    return BRUME_OK;
}

static brume_status refuse(void *context, const char *text, size_t length, brume_error *error)
{
    (void)context;
    (void)text;
    (void)length;
    if (error)
        *error = (brume_error){.status = BRUME_EDISK, .message = "full"};
    return BRUME_EDISK;
}

static void progress_is_told_and_a_second_call_meanwhile_refused(void **state)
{
    (void)state;
    heard all = {0};
    brume_error error = {0};
    char *text = NULL;
    static const char options[] =
        "{\"expr\": \"laplace(scale=1)\", \"count\": 20000, \"format\": \"text\"}";
    assert_ok(brume_session_open(NULL, NULL, &all.session, &error));
    brume_session_on_progress(all.session, hear, &all);
    brume_session_on_text(all.session, take, &all);
    assert_ok(brume_session_call(all.session, "noise", options, &text, &error));
    assert_true(all.told >= 2 && all.over == 1);
    assert_int_equal(all.inside, BRUME_EARGUMENT);
    assert_true(all.taken > 20000);
    assert_string_equal(text, "");
    brume_free(text);
    brume_session_on_text(all.session, refuse, NULL);
    assert_fails(brume_session_call(all.session, "noise", options, &text, &error), BRUME_EDISK);
    assert_string_equal(error.message, "full");
    brume_session_close(all.session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_is_charged_once_and_read_again_for_free),
        cmocka_unit_test(ten_tenths_are_all_of_a_budget_of_one),
        cmocka_unit_test(explain_spends_nothing),
        cmocka_unit_test(a_call_gives_json_or_the_text_of_the_command_line),
        cmocka_unit_test(locale_rounding_and_subnormals_of_the_host_change_nothing),
        cmocka_unit_test(a_fork_is_told_to_open_its_own),
        cmocka_unit_test(wrong_names_and_types_are_told_exactly),
        cmocka_unit_test(sessions_that_cannot_be_are_refused),
        cmocka_unit_test(sql_has_one_statement_and_json_is_its_format),
        cmocka_unit_test(progress_is_told_and_a_second_call_meanwhile_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
