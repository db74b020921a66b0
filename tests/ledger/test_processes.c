/* Many processes, sudden deaths: nobody gets an uncharged answer. */
#include "fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ledger/user.h"

enum { RACERS = 16, TRIES = 4, CARRIED = 23, KILLS = 500 };

static int race(const place *where)
{
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    int won = 0;
    if (brume_ledger_open(where->path, BRUME_LEDGER_WRITE, &ledger, &error) != BRUME_OK)
        return 200;
    for (int i = 0; i < TRIES; i++) {
        uint64_t id = 0;
        brume_status status = reserve(ledger, "visits", "0.1", "key", &id, &error);
        if (status != BRUME_OK && status != BRUME_EBUDGET)
            return 201;
        won += status == BRUME_OK;
    }
    brume_ledger_close(ledger);
    return won;
}

static void of_16_racing_processes_exactly_as_many_succeed_as_the_budget_carries(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    make_place(&where);
    brume_ledger *ledger = open_ledger(&where);
    register_dataset(ledger, "visits", "2.3", NULL);
    brume_ledger_close(ledger);
    pid_t children[RACERS];
    for (int i = 0; i < RACERS; i++)
        if ((children[i] = fork()) == 0)
            _exit(race(&where));
    int won = 0;
    for (int i = 0; i < RACERS; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) <= TRIES);
        won += WEXITSTATUS(status);
    }
    assert_int_equal(won, CARRIED);
    ledger = open_ledger(&where);
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    assert_int_equal(report.reservations, CARRIED);
    brume_ledger_close(ledger);
    remove_place(&where);
}

/* ---- two analysts: one with an allotment, one with the budget alone ---- */

enum { ALLOTTED = 7 };

static int race_as(const place *where, const char *user)
{
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    int won = 0;
    if (brume_ledger_open(where->path, BRUME_LEDGER_WRITE, &ledger, &error) != BRUME_OK ||
        brume_ledger_act_as(ledger, user, 0, &error) != BRUME_OK)
        return 200;
    for (int i = 0; i < TRIES; i++) {
        uint64_t id = 0;
        brume_status status = reserve(ledger, "visits", "0.1", "key", &id, &error);
        if (status != BRUME_OK && status != BRUME_EBUDGET)
            return 201;
        won += status == BRUME_OK;
    }
    brume_ledger_close(ledger);
    return won;
}

static void make_analysts(const place *where, const char *budget, const char *allotted)
{
    brume_error error = {0};
    char token[BRUME_TOKEN_TEXT];
    brume_ledger *ledger = open_ledger(where);
    register_dataset(ledger, "visits", budget, NULL);
    brume_allotment allotment = {"visits", allotted, NULL};
    brume_new_user alice = {"alice", BRUME_ROLE_ANALYST, 0, &allotment, 1};
    brume_new_user bob = {.name = "bob", .role = BRUME_ROLE_ANALYST};
    assert_ok(brume_ledger_add_user(ledger, &alice, token, &error));
    assert_ok(brume_ledger_add_user(ledger, &bob, token, &error));
    brume_ledger_close(ledger);
}

/* How often alice and bob won, all processes together. */
static void race_both(const place *where, int won[2])
{
    pid_t children[RACERS];
    for (int i = 0; i < RACERS; i++)
        if ((children[i] = fork()) == 0)
            _exit(race_as(where, i % 2 ? "bob" : "alice"));
    won[0] = won[1] = 0;
    for (int i = 0; i < RACERS; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) <= TRIES);
        won[i % 2] += WEXITSTATUS(status);
    }
}

/* 8 processes try 32 times for alice, 8 for bob 32 times. With an allotment of 7 and a budget of 23
 * exactly 7 and 16 succeed, unless bob is so fast that alice finds less: then 23 in all. With a
 * budget that all fits in, exactly 7 and 32. */
static void of_racing_analysts_exactly_what_fits_is_spent(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        place where;
        brume_error error = {0};
        brume_filter filter;
        brume_ledger_report report;
        bool has = false;
        int won[2];
        make_place(&where);
        make_analysts(&where, round == 0 ? "2.3" : "100", "0.7");
        race_both(&where, won);
        if (round == 0)
            assert_int_equal(won[0] + won[1], CARRIED);
        else
            assert_int_equal(won[1], RACERS / 2 * TRIES);
        assert_holds(round == 0 ? won[0] <= ALLOTTED : won[0] == ALLOTTED);
        brume_ledger *ledger = open_ledger(&where);
        assert_ok(brume_ledger_verify(ledger, &report, &error));
        assert_int_equal(report.reservations, (uint64_t)(won[0] + won[1]));
        assert_ok(brume_ledger_allotment(ledger, "alice", "visits", &has, &filter, &error));
        assert_int_equal(filter.charges, (uint64_t)won[0]);
        brume_ledger_close(ledger);
        remove_place(&where);
    }
}

static void two_processes_may_make_the_same_new_ledger(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        place where;
        make_place(&where);
        pid_t children[4];
        for (int i = 0; i < 4; i++)
            if ((children[i] = fork()) == 0) {
                brume_ledger *ledger = NULL;
                brume_error error = {0};
                _exit((int)brume_ledger_open(where.path, BRUME_LEDGER_CREATE, &ledger, &error));
            }
        for (int i = 0; i < 4; i++) {
            int status = 0;
            waitpid(children[i], &status, 0);
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), 0);
        }
        remove_place(&where);
    }
}

/* Reserve, commit, only then say the number: as the release path does. */
static void answer_for_ever(const place *where, const char *user, int output)
{
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    if (brume_ledger_open(where->path, BRUME_LEDGER_WRITE, &ledger, &error) != BRUME_OK ||
        brume_ledger_act_as(ledger, user, 0, &error) != BRUME_OK)
        _exit(1);
    json_t *answer = json_pack("[i]", 42);
    for (;;) {
        uint64_t id = 0;
        if (reserve(ledger, "visits", "0.001", "key", &id, &error) != BRUME_OK)
            _exit(2);
        if (brume_ledger_commit(ledger, id, answer, &error) != BRUME_OK)
            _exit(3);
        if (write(output, &id, sizeof id) != sizeof id)
            _exit(4);
    }
}

static void after_500_sudden_deaths_every_answer_seen_is_charged(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    make_place(&where);
    make_analysts(&where, "1000000", "1000000");
    uint64_t seen = 0, last = 0;
    srandom(20261115); /* when they die; the test's outcome must not depend on it */
    for (int i = 0; i < KILLS; i++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0)
            answer_for_ever(&where, i % 2 ? "bob" : "alice", ends[1]);
        close(ends[1]);
        struct timespec pause = {0, 1000000 + random() % 20000000};
        nanosleep(&pause, NULL);
        kill(child, SIGKILL);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status)); /* it was killed, it did not fail */
        uint64_t id = 0;
        while (read(ends[0], &id, sizeof id) == sizeof id) {
            seen++;
            last = id;
        }
        close(ends[0]);
    }
    brume_ledger *ledger = open_ledger(&where);
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    assert_holds(seen > 0 && report.reservations >= seen && report.rows >= last);
    json_t *history = NULL;
    assert_ok(brume_ledger_history(ledger, "visits", NULL, &history, &error));
    uint64_t committed = 0, of_alice = 0;
    size_t i = 0;
    json_t *event = NULL;
    json_array_foreach (json_object_get(history, "events"), i, event) {
        committed += strcmp(json_string_value(json_object_get(event, "state")), "committed") == 0;
        of_alice += strcmp(json_string_value(json_object_get(event, "user")), "alice") == 0;
    }
    /* The allotment has each charge of its user's, whether an answer followed or not. */
    brume_filter filter;
    bool has = false;
    assert_ok(brume_ledger_allotment(ledger, "alice", "visits", &has, &filter, &error));
    assert_holds(of_alice > 0 && filter.charges == of_alice);
    assert_holds(committed >= seen);
    assert_holds(committed <= seen + KILLS); /* at most one each was recorded and not seen */
    json_decref(history);
    brume_ledger_close(ledger);
    remove_place(&where);
}

/* ---- users and copies, while others write or die ---- */

static void rotate_for_ever(const place *where, int output)
{
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    char token[BRUME_TOKEN_TEXT] = "";
    if (brume_ledger_open(where->path, BRUME_LEDGER_WRITE, &ledger, &error) != BRUME_OK)
        _exit(1);
    for (int i = 1;; i++) {
        char epsilon[16];
        snprintf(epsilon, sizeof epsilon, "%d", 1 + i % 7);
        brume_allotment allotment = {"visits", epsilon, NULL};
        if (brume_ledger_rotate_token(ledger, "alice", -1, token, &error) != BRUME_OK ||
            write(output, token, sizeof token) != sizeof token ||
            brume_ledger_allot(ledger, "alice", &allotment, 1, &error) != BRUME_OK)
            _exit(2);
    }
}

/* The last token that was shown is good, or a later one that nobody saw has replaced it. */
static void after_sudden_deaths_of_owners_a_user_is_whole(void **state)
{
    (void)state;
    enum { DEATHS = 60 };
    place where;
    brume_error error = {0};
    int good = 0;
    make_place(&where);
    make_analysts(&where, "10", "1");
    for (int i = 0; i < DEATHS; i++) {
        int ends[2];
        char token[BRUME_TOKEN_TEXT] = "", last[BRUME_TOKEN_TEXT] = "";
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0)
            rotate_for_ever(&where, ends[1]);
        close(ends[1]);
        assert_int_equal(read(ends[0], last, sizeof last), sizeof last); /* it is at work */
        struct timespec pause = {0, random() % 30000000};
        nanosleep(&pause, NULL);
        kill(child, SIGKILL);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        while (read(ends[0], token, sizeof token) == sizeof token)
            memcpy(last, token, sizeof last);
        close(ends[0]);
        brume_ledger *ledger = open_ledger(&where);
        brume_ledger_report report;
        brume_user *user = NULL;
        assert_ok(brume_ledger_verify(ledger, &report, &error)); /* one token, one verifier each */
        assert_int_equal(report.users, 2);
        brume_status is = brume_ledger_authenticate(ledger, last, 0, &user, &error);
        assert_true(is == BRUME_OK || is == BRUME_EPOLICY);
        good += is == BRUME_OK;
        brume_user_close(user);
        brume_ledger_close(ledger);
    }
    assert_holds(good > 0); /* killed in the half of the time that the allotment takes */
    print_message("# of %d last tokens %d are good\n", DEATHS, good);
    remove_place(&where);
}

static void a_copy_that_is_made_while_others_are_charged_holds(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    make_place(&where);
    make_analysts(&where, "1000000", "1000000");
    brume_ledger *ledger = open_ledger(&where);
    pid_t children[4];
    int nowhere[2];
    assert_int_equal(pipe(nowhere), 0);
    for (int i = 0; i < 4; i++)
        if ((children[i] = fork()) == 0)
            answer_for_ever(&where, i % 2 ? "bob" : "alice", nowhere[1]);
    uint64_t rows = 0, grown = 0;
    for (int i = 0; i < 300 && grown < 6; i++) { /* until it has seen it grow six times */
        place copy;
        brume_ledger_report report;
        struct timespec pause = {0, 50000000};
        nanosleep(&pause, NULL);
        make_place(&copy);
        assert_ok(brume_ledger_backup(ledger, copy.path, &report, &error)); /* verified */
        assert_holds(report.rows >= rows);
        grown += report.rows > rows;
        rows = report.rows;
        remove_place(&copy);
    }
    assert_int_equal(grown, 6);
    for (int i = 0; i < 4; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    close(nowhere[0]);
    close(nowhere[1]);
    brume_ledger_close(ledger);
    remove_place(&where);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_16_racing_processes_exactly_as_many_succeed_as_the_budget_carries),
        cmocka_unit_test(of_racing_analysts_exactly_what_fits_is_spent),
        cmocka_unit_test(two_processes_may_make_the_same_new_ledger),
        cmocka_unit_test(after_500_sudden_deaths_every_answer_seen_is_charged),
        cmocka_unit_test(after_sudden_deaths_of_owners_a_user_is_whole),
        cmocka_unit_test(a_copy_that_is_made_while_others_are_charged_holds),
    };
    return cmocka_run_group_tests_name("ledger processes", tests, NULL, NULL);
}
