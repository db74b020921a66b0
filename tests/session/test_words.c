/* Words of a command line, as options and as a run (src/session/session.c). */
#include "check.h"
#include "fixture.h"

enum { MOST = 8 };

typedef struct said {
    const char *words[MOST];
    brume_status status;
    const char *command, *options; /* of an error: command and message */
} said;

static const said cases[] = {
    {{"budget"}, BRUME_OK, "budget", "{\"json\":false}"},
    {{"--json", "budget", "people"}, BRUME_OK, "budget", "{\"name\":\"people\",\"json\":true}"},
    {{"query", "--epsilon=0.10", "SELECT 1", "--joint", "--limit", "a=1", "--limit", "2"},
     BRUME_OK,
     "query",
     "{\"sql\":\"SELECT 1\",\"json\":false,\"epsilon\":\"0.10\",\"joint\":true,"
     "\"limit\":[\"a=1\",\"2\"]}"},
    {{"query", "-f", "x.sql", "--format", "csv"},
     BRUME_OK,
     "query",
     "{\"file\":\"x.sql\",\"format\":\"csv\"}"},
    {{"query", "x", "--format", "csv", "--json"},
     BRUME_OK,
     "query",
     "{\"sql\":\"x\",\"json\":true}"},
    {{"ledger", "verify", "--help"},
     BRUME_OK,
     "help",
     "{\"json\":false,\"command\":[\"ledger\",\"verify\"]}"},
    {{"ledger", "--help"}, BRUME_OK, "help", "{\"json\":false,\"command\":[\"ledger\"]}"},
    {{"--help"}, BRUME_OK, "help", "{\"json\":false,\"command\":[]}"},
    {{"help", "query"}, BRUME_OK, "help", "{\"command\":[\"query\"],\"json\":false}"},
    {{NULL}, BRUME_EARGUMENT, NULL, "a command is missing"},
    {{"bugdet"}, BRUME_EUNKNOWN, NULL, "unknown command 'bugdet'"},
    {{"budget", "--nam", "x"}, BRUME_EUNKNOWN, "budget", "unknown option '--nam'"},
    {{"budget", "\xff"}, BRUME_EARGUMENT, "budget", "a word is not valid UTF-8"},
};

static int count_of(const said *one)
{
    int count = 0;
    while (count < MOST && one->words[count])
        count++;
    return count;
}

static void words_become_a_command_and_its_options(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *command = NULL, *options = NULL;
        brume_error error = {0};
        assert_int_equal(
            brume_session_words(count_of(&cases[i]), cases[i].words, &command, &options, &error),
            cases[i].status);
        if (cases[i].command)
            assert_string_equal(command, cases[i].command);
        else
            assert_null(command);
        assert_string_equal(cases[i].status == BRUME_OK ? options : error.message,
                            cases[i].options);
        brume_free(command);
        brume_free(options);
    }
}

static void a_call_with_the_options_is_a_run_of_the_words(void **state)
{
    (void)state;
    static const char *const runs[][MOST] = {
        {"account", "laplace(scale=10)*5", "--delta", "1e-6"},
        {"account", "laplace(scale=10)*5", "--delta", "1e-6", "--json"},
        {"help", "ledger", "verify"},
        {"loss", "gaussian(sigma=2)", "--epsilon", "1", "--epsilon", "2", "--json"},
    };
    brume_session *session = NULL;
    brume_error error = {0};
    assert_ok(brume_session_open("/nowhere", NULL, &session, &error));
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        said one = {.words = {NULL}};
        memcpy(one.words, runs[i], sizeof one.words);
        char *command = NULL, *options = NULL, *ran = NULL;
        size_t length = 0;
        assert_ok(brume_session_words(count_of(&one), one.words, &command, &options, &error));
        assert_ok(brume_session_run(session, count_of(&one), one.words, &ran, &length, &error));
        char *called = fixture_call(session, command, options);
        assert_string_equal(ran, called);
        assert_int_equal(strlen(ran), length);
        brume_free(command);
        brume_free(options);
        brume_free(ran);
        brume_free(called);
    }
    brume_session_close(session);
}

static void a_stream_is_refused_before_it_is_charged(void **state)
{
    (void)state;
    static const char *const words[] = {
        "stream", "above-threshold", "--threshold", "1", "--epsilon", "0.5", "--dataset", "people"};
    fixture all;
    brume_error error = {0};
    char *answer = NULL;
    fixture_open(&all, 30, "1");
    assert_fails(brume_session_run(all.session, 8, words, &answer, NULL, &error),
                 BRUME_EUNSUPPORTED);
    assert_fails(brume_session_call(all.session, "stream above-threshold",
                                    "{\"threshold\": 1, \"epsilon\": 0.5, \"dataset\": \"people\"}",
                                    &answer, &error),
                 BRUME_EUNSUPPORTED);
    assert_int_equal(fixture_queries(all.session), 0);
    fixture_close(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_become_a_command_and_its_options),
        cmocka_unit_test(a_call_with_the_options_is_a_run_of_the_words),
        cmocka_unit_test(a_stream_is_refused_before_it_is_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
