/* Sessions of users: the table of roles and commands, allotments, what a refusal says. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "check.h"
#include "command/command.h"
#include "command/role.h"
#include "fixture.h"

static const char count_sql[] = "SELECT COUNT(*) FROM people";

static brume_session *open_as(const fixture *all, const char *user)
{
    brume_error error = {0};
    brume_session *session = NULL;
    char options[100];
    snprintf(options, sizeof options, "{\"user\": \"%s\"}", user);
    assert_ok(brume_session_open(all->ledger, options, &session, &error));
    return session;
}

/* alice may take 0.3, bob the budget, ann audits, olga owns. */
static void open_with_users(fixture *all, const char *epsilon)
{
    fixture_open(all, 300, epsilon);
    brume_free(fixture_call(all->session, "user add",
                            "{\"name\": \"alice\", \"role\": \"analyst\", \"allot\": "
                            "\"people=epsilon=0.3\"}"));
    brume_free(
        fixture_call(all->session, "user add", "{\"name\": \"bob\", \"role\": \"analyst\"}"));
    brume_free(
        fixture_call(all->session, "user add", "{\"name\": \"ann\", \"role\": \"auditor\"}"));
    brume_free(fixture_call(all->session, "user add", "{\"name\": \"olga\", \"role\": \"owner\"}"));
}

static json_t *call_json(brume_session *session, const char *command, const char *options)
{
    char *text = fixture_call(session, command, options);
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    brume_free(text);
    return json;
}

static brume_status ask(brume_session *session, const char *sql, const char *epsilon,
                        brume_error *error)
{
    char options[64];
    snprintf(options, sizeof options, "{\"epsilon\": \"%s\"}", epsilon);
    return brume_session_query(session, sql, options, NULL, NULL, error);
}

/* ---- the table ---- */

static void every_command_has_a_line_and_every_line_a_command(void **state)
{
    (void)state;
    size_t count = 0, lines = 0;
    const brume_command *const *commands = brume_commands(&count);
    for (size_t i = 0; i < count; i++) {
        if (!brume_role_is_listed(commands[i]->name))
            fail_msg("'%s' has no line in roles.def: say who may run it", commands[i]->name);
        assert_true(brume_role_may(BRUME_ROLE_OWNER, commands[i]->name));
        assert_false(brume_role_may(BRUME_ROLE_NONE, commands[i]->name));
    }
#define BRUME_MAY(command, analyst, auditor, why) lines++;
#include "command/roles.def"
#undef BRUME_MAY
    assert_int_equal(lines, count);
    assert_false(brume_role_may(BRUME_ROLE_ANALYST, "no such command"));
}

/* What must never be given away, apart from the table: by what a command does. */
static void no_analyst_or_auditor_has_a_command_that_names_a_file_or_decides(void **state)
{
    (void)state;
    static const char *const owners[] = {
        "inspect",           "register",  "amend",  "user add",      "user remove", "user token",
        "user allot",        "statistic", "choose", "ledger backup", "audit",       "serve",
        "attack reconstruct"};
    static const char *const asking[] = {
        "query",      "limits", "release", "stream above-threshold", "stream sparse-vector",
        "stream pmw", "synth"};
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        assert_non_null(brume_command_by_name(owners[i]));
        assert_false(brume_role_may(BRUME_ROLE_ANALYST, owners[i]));
        assert_false(brume_role_may(BRUME_ROLE_AUDITOR, owners[i]));
    }
    for (size_t i = 0; i < sizeof asking / sizeof *asking; i++) {
        assert_non_null(brume_command_by_name(asking[i]));
        assert_true(brume_role_may(BRUME_ROLE_ANALYST, asking[i]));
        assert_false(brume_role_may(BRUME_ROLE_AUDITOR, asking[i]));
    }
    /* A file as an operand: 'release' and 'synth' have one that others may run, as a dataset's
     * name.
     */
    size_t count = 0;
    const brume_command *const *commands = brume_commands(&count);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < commands[i]->operand_count; j++)
            if (commands[i]->operands[j].type == BRUME_OPERAND_FILE &&
                strcmp(commands[i]->name, "release") != 0 &&
                strcmp(commands[i]->name, "synth") != 0)
                assert_false(brume_role_may(BRUME_ROLE_ANALYST, commands[i]->name) ||
                             brume_role_may(BRUME_ROLE_AUDITOR, commands[i]->name));
}

static void roles_hold_in_a_session(void **state)
{
    (void)state;
    static const struct {
        const char *command, *options;
        bool analyst, auditor;
    } calls[] = {
        {"datasets", NULL, true, true},
        {"show", "{\"name\": \"people\"}", true, true},
        {"budget", NULL, true, true},
        {"history", NULL, true, true},
        {"explain", "{\"sql\": \"SELECT COUNT(*) FROM people\", \"epsilon\": 0.1}", true, true},
        {"query", "{\"sql\": \"SELECT COUNT(*) FROM people\", \"epsilon\": 0.1}", true, false},
        {"release", "{\"statistic\": \"count\", \"source\": \"people\", \"epsilon\": 0.1}", true,
         false},
        {"ledger verify", NULL, false, true},
        {"ledger export", NULL, false, true},
        {"user list", NULL, false, true},
        {"user add", "{\"name\": \"x\", \"role\": \"owner\"}", false, false},
        {"user token", "{\"name\": \"olga\"}", false, false},
        {"user remove", "{\"name\": \"olga\"}", false, false},
        {"amend", "{\"name\": \"people\", \"budget\": \"epsilon=100\"}", false, false},
        {"mechanisms", NULL, true, true},
        {"help", NULL, true, true},
    };
    fixture all;
    open_with_users(&all, "10");
    for (int i = 0; i < 2; i++) {
        brume_session *session = open_as(&all, i == 0 ? "bob" : "ann");
        for (size_t j = 0; j < sizeof calls / sizeof *calls; j++) {
            brume_error error = {0};
            char *answer = NULL;
            brume_status status =
                brume_session_call(session, calls[j].command, calls[j].options, &answer, &error);
            bool may = i == 0 ? calls[j].analyst : calls[j].auditor;
            if (status != (may ? BRUME_OK : BRUME_EPOLICY))
                fail_msg("%s as %s: %s", calls[j].command, i == 0 ? "bob" : "ann", error.message);
            if (!may)
                assert_non_null(strstr(error.message, "is not for an"));
            brume_free(answer);
        }
        /* through the other doors too */
        brume_error error = {0};
        const char *const words[] = {"user", "remove", "olga"};
        char *answer = NULL;
        assert_fails(brume_session_run(session, 3, words, &answer, NULL, &error), BRUME_EPOLICY);
        assert_int_equal(
            ask(session, "SELECT COUNT(*) FROM people WHERE income > 1", "0.1", &error),
            i == 0 ? BRUME_OK : BRUME_EPOLICY);
        assert_int_equal(brume_session_stream_open(session, "stream above-threshold",
                                                   "{\"dataset\": \"people\", \"threshold\": 5, "
                                                   "\"epsilon\": 0.1}",
                                                   &error),
                         i == 0 ? BRUME_OK : BRUME_EPOLICY);
        brume_session_close(session);
    }
    /* an owner through a server is an owner, and rows say who it was */
    brume_session *session = open_as(&all, "olga");
    json_decref(call_json(session, "amend", "{\"name\": \"people\", \"data_version\": \"2\"}"));
    json_decref(call_json(session, "user remove", "{\"name\": \"bob\"}"));
    json_t *history = call_json(session, "history", NULL);
    const json_t *events = json_object_get(history, "events");
    const json_t *last = json_array_get(events, json_array_size(events) - 1);
    assert_string_equal(json_string_value(json_object_get(last, "user")), "olga");
    assert_string_equal(json_string_value(json_object_get(last, "state")), "amended");
    json_decref(history);
    json_decref(call_json(all.session, "ledger verify", NULL));
    brume_session_close(session);
    fixture_close(&all);
}

static void no_option_of_an_analyst_names_a_file_or_another_ledger(void **state)
{
    (void)state;
    fixture all;
    char options[400];
    brume_error error = {0}, other = {0};
    open_with_users(&all, "10");
    brume_session *session = open_as(&all, "bob"), *owner = open_as(&all, "olga");
    static const char *const refused[][2] = {
        {"query", "{\"file\": \"/etc/passwd\", \"epsilon\": 0.1}"},
        {"query",
         "{\"sql\": \"SELECT COUNT(*) FROM people\", \"epsilon\": 0.1, \"plot\": \"x.svg\"}"},
        {"account", "{\"expr\": \"laplace(scale=1)\", \"delta\": 0, \"plot\": \"x.svg\"}"},
        {"budget", "{\"ledger\": \"brume.db\"}"},
        {"release", "{\"statistic\": \"count\", \"source\": \"/etc/passwd\", \"epsilon\": 0.1, "
                    "\"no_ledger\": true}"},
        {"synth", "{\"source\": \"people\", \"columns\": \"a,b\", \"workload\": \"marginals:2\", "
                  "\"method\": \"tree\", \"rows\": 9, \"epsilon\": 0.1, \"output\": \"x.csv\"}"},
        {"synth", "{\"source\": \"people\", \"columns\": \"a,b\", \"workload\": \"/etc/passwd\", "
                  "\"method\": \"tree\", \"rows\": 9, \"epsilon\": 0.1, \"output\": \"-\"}"},
        {"synth", "{\"source\": \"people\", \"columns\": \"a,b\", \"workload\": \"marginals:2\", "
                  "\"method\": \"tree\", \"rows\": 9, \"epsilon\": 0.1, \"output\": \"-\", "
                  "\"tables\": \"-\"}"},
        {"tables", "{\"source\": \"people\", \"workload\": \"marginals:1\", \"epsilon\": 0.1, "
                   "\"output\": \"x.csv\"}"},
        {"tables", "{\"source\": \"people\", \"workload\": \"/etc/passwd\", \"epsilon\": 0.1, "
                   "\"output\": \"-\"}"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_fails(brume_session_call(session, refused[i][0], refused[i][1], NULL, &error),
                     BRUME_EPOLICY);
    assert_fails(brume_session_call(owner, "budget", "{\"ledger\": \"brume.db\"}", NULL, &error),
                 BRUME_EPOLICY);
    /* whether the server has a file cannot be seen */
    snprintf(options, sizeof options,
             "{\"statistic\": \"count\", \"source\": \"%s\", \"epsilon\": 0.1}", all.csv);
    assert_fails(brume_session_call(session, "release", options, NULL, &error), BRUME_EUNKNOWN);
    assert_fails(brume_session_call(session, "release",
                                    "{\"statistic\": \"count\", \"source\": \"/not/there\", "
                                    "\"epsilon\": 0.1}",
                                    NULL, &other),
                 BRUME_EUNKNOWN);
    assert_string_equal(error.hint, other.hint);
    assert_int_equal(fixture_queries(all.session), 0);
    brume_session_close(session);
    brume_session_close(owner);
    fixture_close(&all);
}

/* ---- allotments ---- */

static double mine_left(brume_session *session)
{
    json_t *budget = call_json(session, "budget", "{\"name\": \"people\"}");
    const json_t *mine = json_object_get(budget, "mine");
    double left =
        json_is_object(mine)
            ? json_number_value(json_object_get(json_object_get(mine, "remaining"), "epsilon"))
            : -1;
    assert_non_null(mine);
    json_decref(budget);
    return left;
}

/* "remaining" of the answer that a call gives. */
static double answer_left(brume_session *session, const char *command, const char *options)
{
    json_t *answer = call_json(session, command, options);
    double left =
        json_number_value(json_object_get(json_object_get(answer, "remaining"), "epsilon"));
    json_decref(answer);
    return left;
}

/* What an answer says is left is what the user may still spend: the allotment where that is less,
 * the dataset's budget where this is less or there is no allotment; also when it is read again. */
static void an_answer_says_what_the_user_may_still_spend(void **state)
{
    (void)state;
    fixture all;
    open_with_users(&all, "0.5");
    brume_session *alice = open_as(&all, "alice"), *bob = open_as(&all, "bob");
    static const char first[] = "{\"sql\": \"SELECT COUNT(*) FROM people\", \"epsilon\": 0.1}";
    static const char second[] = "{\"sql\": \"SELECT COUNT(*) FROM people WHERE income > 5\", "
                                 "\"epsilon\": 0.3}";
    static const char released[] = "{\"statistic\": \"count\", \"source\": \"people\", "
                                   "\"epsilon\": 0.05}";
    assert_close(answer_left(alice, "query", first), 0.2, 1e-15);
    assert_close(answer_left(bob, "query", first), 0.4, 1e-15);
    assert_close(answer_left(all.session, "query", first), 0.4, 1e-15);
    assert_close(answer_left(alice, "release", released), 0.15, 1e-15);
    assert_close(answer_left(bob, "release", released), 0.35, 1e-15);
    assert_close(answer_left(bob, "query", second), 0.05, 1e-15);
    assert_close(answer_left(alice, "query", second), 0.05, 1e-15); /* 0.15 of her own */
    assert_close(answer_left(alice, "query", first), 0.05, 1e-15);
    brume_session_close(alice);
    brume_session_close(bob);
    fixture_close(&all);
}

static void an_allotment_narrows_and_free_answers_touch_none(void **state)
{
    (void)state;
    fixture all;
    brume_error error = {0};
    open_with_users(&all, "0.5");
    brume_session *alice = open_as(&all, "alice"), *bob = open_as(&all, "bob");
    assert_close(mine_left(alice), 0.3, 1e-15);
    assert_close(mine_left(bob), -1, 0); /* null: the budget alone */
    assert_ok(ask(bob, count_sql, "0.1", &error));
    /* the same question of another analyst is read again: the dataset has paid */
    assert_ok(ask(alice, count_sql, "0.1", &error));
    assert_close(mine_left(alice), 0.3, 1e-15);
    assert_close(fixture_left(all.session), 0.4, 1e-15);
    assert_ok(ask(alice, "SELECT COUNT(*) FROM people WHERE income > 5", "0.2", &error));
    assert_close(mine_left(alice), 0.1, 1e-15);
    assert_fails(ask(alice, "SELECT COUNT(*) FROM people WHERE income > 6", "0.15", &error),
                 BRUME_EBUDGET);
    assert_non_null(strstr(error.message, "your allotment on 'people'"));
    assert_close(fixture_left(all.session), 0.2, 1e-15);
    assert_ok(ask(bob, "SELECT COUNT(*) FROM people WHERE income > 6", "0.15", &error));
    /* the budget is the promise: alice has 0.1 of her own, the dataset 0.05 */
    assert_fails(ask(alice, "SELECT COUNT(*) FROM people WHERE income > 7", "0.1", &error),
                 BRUME_EBUDGET);
    assert_null(strstr(error.message, "allotment"));
    assert_close(mine_left(alice), 0.1, 1e-15);
    json_t *history = call_json(alice, "history", NULL);
    const json_t *events = json_object_get(history, "events");
    assert_int_equal(json_array_size(events), 3);
    assert_string_equal(json_string_value(json_object_get(json_array_get(events, 1), "user")),
                        "alice");
    json_decref(history);
    json_decref(call_json(all.session, "ledger verify", NULL));
    brume_session_close(alice);
    brume_session_close(bob);
    fixture_close(&all);
}

/* Rejects: a first stage that is paid although the allotment cannot carry the second. */
static void stages_are_held_against_the_allotment(void **state)
{
    (void)state;
    fixture all;
    brume_error error = {0};
    static const char staged[] = "SELECT COUNT(*) FROM people WHERE income > (SELECT AVG(income) "
                                 "FROM people)";
    open_with_users(&all, "2");
    brume_session *alice = open_as(&all, "alice");
    assert_fails(ask(alice, staged, "0.4", &error), BRUME_EBUDGET); /* 0.2 and 0.2 of 0.3 */
    assert_non_null(strstr(error.message, "what may be spent of 'people'"));
    assert_close(mine_left(alice), 0.3, 1e-15);
    assert_close(fixture_left(all.session), 2, 1e-15);
    assert_ok(ask(alice, staged, "0.3", &error)); /* all that she has */
    assert_close(mine_left(alice), 0, 1e-15);
    brume_session_close(alice);
    fixture_close(&all);
}

/* What a refused analyst reads is the same on neighbouring data, under both adjacencies: one row
 * more, and one row replaced. */
static void register_again(const fixture *all, const char *adjacency)
{
    char options[400];
    snprintf(options, sizeof options,
             "{\"name\": \"same\", \"source\": \"%s\", \"unit\": \"person\", \"budget\": "
             "\"epsilon=1\", \"adjacency\": \"%s\", \"new_budget\": true, \"max_rows\": 1, "
             "\"max_groups\": 1, \"limits\": \"fixed\"}",
             all->csv, adjacency);
    brume_free(fixture_call(all->session, "register", options));
    brume_free(fixture_call(all->session, "user allot",
                            "{\"name\": \"bob\", \"allotment\": \"same=epsilon=0.2\"}"));
}

static void refuse_bob(int rows, const char *adjacency, brume_error *out)
{
    fixture all;
    brume_error error = {0};
    open_with_users(&all, "1");
    FILE *csv = fopen(all.csv, "a");
    assert_non_null(csv);
    fprintf(csv, "%s", rows == 0 ? "" : rows == 1 ? "last,Ulm,true,1\n" : "else,Bonn,false,4999\n");
    assert_int_equal(fclose(csv), 0);
    register_again(&all, adjacency);
    brume_session *bob = open_as(&all, "bob");
    assert_ok(ask(bob, "SELECT COUNT(*) FROM same", "0.15", &error));
    assert_fails(ask(bob, "SELECT COUNT(*) FROM same WHERE town = 'Ulm'", "0.1", &error),
                 BRUME_EBUDGET);
    assert_non_null(strstr(error.message, "your allotment on 'same'"));
    *out = error;
    brume_session_close(bob);
    fixture_close(&all);
}

static void a_refusal_says_the_same_on_neighbouring_data(void **state)
{
    (void)state;
    brume_error with = {0}, without = {0}, other = {0};
    refuse_bob(0, "add-remove", &without);
    refuse_bob(1, "add-remove", &with);
    assert_string_equal(with.message, without.message);
    assert_string_equal(with.hint, without.hint);
    refuse_bob(1, "replace", &with);
    refuse_bob(2, "replace", &other);
    assert_string_equal(with.message, other.message);
    assert_string_equal(with.hint, other.hint);
}

/* ---- who is there ---- */

static void a_user_who_is_removed_or_rotated_is_refused_at_the_next_call(void **state)
{
    (void)state;
    fixture all;
    brume_error error = {0}, unknown = {0};
    brume_session *session = NULL;
    open_with_users(&all, "10");
    brume_session *nobody = open_as(&all, "nobody"), *bob = open_as(&all, "bob");
    assert_fails(brume_session_call(nobody, "datasets", NULL, NULL, &unknown), BRUME_EPOLICY);
    assert_ok(ask(bob, count_sql, "0.1", &error));
    brume_free(fixture_call(all.session, "user token", "{\"name\": \"bob\"}"));
    assert_ok(ask(bob, count_sql, "0.1", &error)); /* opened without a token's row */
    /* rows: create, register, 4 users, reserve, commit, token = 9; bob's first token is row 4 */
    assert_ok(
        brume_session_open(all.ledger, "{\"user\": \"bob\", \"issued\": 4}", &session, &error));
    assert_fails(ask(session, count_sql, "0.1", &error), BRUME_EPOLICY);
    assert_string_equal(error.message, unknown.message);
    brume_session_close(session);
    assert_ok(
        brume_session_open(all.ledger, "{\"user\": \"bob\", \"issued\": 9}", &session, &error));
    assert_ok(ask(session, count_sql, "0.1", &error));
    brume_free(fixture_call(all.session, "user remove", "{\"name\": \"bob\"}"));
    assert_fails(ask(session, count_sql, "0.1", &error), BRUME_EPOLICY); /* not even for free */
    assert_string_equal(error.message, unknown.message);
    assert_string_equal(error.hint, unknown.hint);
    brume_session_close(session);
    brume_session_close(nobody);
    brume_session_close(bob);
    assert_fails(brume_session_open(all.ledger, "{\"user\": 3}", &session, &error),
                 BRUME_EARGUMENT);
    assert_fails(
        brume_session_open(all.ledger, "{\"user\": \"a\", \"issued\": \"x\"}", &session, &error),
        BRUME_EARGUMENT);
    fixture_close(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_has_a_line_and_every_line_a_command),
        cmocka_unit_test(no_analyst_or_auditor_has_a_command_that_names_a_file_or_decides),
        cmocka_unit_test(roles_hold_in_a_session),
        cmocka_unit_test(no_option_of_an_analyst_names_a_file_or_another_ledger),
        cmocka_unit_test(an_allotment_narrows_and_free_answers_touch_none),
        cmocka_unit_test(stages_are_held_against_the_allotment),
        cmocka_unit_test(an_answer_says_what_the_user_may_still_spend),
        cmocka_unit_test(a_refusal_says_the_same_on_neighbouring_data),
        cmocka_unit_test(a_user_who_is_removed_or_rotated_is_refused_at_the_next_call),
    };
    return cmocka_run_group_tests_name("session users", tests, NULL, NULL);
}
