/* Sessions of many threads on one ledger, cancelling from another thread, deadlines, leaks. */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "check.h"
#include "command/frame/call.h"
#include "fixture.h"
#include "session/state.h"

#ifdef __SANITIZE_ADDRESS__
/* MPFR keeps constants for each thread until the thread frees them: the host's threads do not. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:__gmp_default_allocate\nleak:__gmp_default_reallocate\n";
}
#endif

/* ---- one budget for all ---- */

enum { THREADS = 6, EACH = 4, CARRIED = 10 };

typedef struct asker {
    const fixture *all;
    int number, answered, refused, other;
    char message[480];
} asker;

static void *ask(void *context)
{
    asker *one = context;
    brume_session *session = NULL;
    brume_error error = {0};
    if (brume_session_open(one->all->ledger, NULL, &session, &error) != BRUME_OK)
        return NULL;
    for (int i = 0; i < EACH; i++) {
        char sql[100];
        snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM people WHERE income > %d",
                 one->number * EACH + i);
        brume_status status =
            brume_session_query(session, sql, "{\"epsilon\": 0.1}", NULL, NULL, &error);
        one->answered += status == BRUME_OK;
        one->refused += status == BRUME_EBUDGET;
        one->other += status != BRUME_OK && status != BRUME_EBUDGET;
        if (status != BRUME_OK && status != BRUME_EBUDGET)
            memcpy(one->message, error.message, sizeof one->message);
    }
    brume_session_close(session);
    return NULL;
}

static void threads_that_share_a_ledger_get_exactly_what_it_carries(void **state)
{
    (void)state;
    fixture all;
    pthread_t threads[THREADS];
    asker askers[THREADS] = {0};
    int answered = 0, refused = 0;
    fixture_open(&all, 60, "1");
    for (int i = 0; i < THREADS; i++) {
        askers[i] = (asker){.all = &all, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        if (askers[i].other)
            fail_msg("%s", askers[i].message);
        answered += askers[i].answered;
        refused += askers[i].refused;
    }
    assert_int_equal(answered, CARRIED);
    assert_int_equal(refused, THREADS * EACH - CARRIED);
    assert_int_equal(fixture_queries(all.session), CARRIED);
    brume_free(fixture_call(all.session, "ledger verify", NULL));
    fixture_close(&all);
}

/* ---- cancelling ---- */

typedef struct canceller {
    brume_session *session;
    atomic_bool over;
    brume_session_phase_word at; /* the phase to cancel in */
} canceller;

static void *cancel(void *context)
{
    canceller *one = context;
    brume_session_cancel(one->session);
    return NULL;
}

/* The first time that a call comes to the phase it waits until another thread has cancelled it. */
static void cancel_at(void *context, brume_session_phase_word phase)
{
    canceller *one = context;
    pthread_t thread;
    if (phase != one->at || atomic_exchange(&one->over, true))
        return;
    assert_int_equal(pthread_create(&thread, NULL, cancel, one), 0);
    pthread_join(thread, NULL);
}

/* Ask, cancel at this phase, and expect this message. */
static void assert_cancelled(const fixture *all, brume_session_phase_word at, const char *sql,
                             const char *message)
{
    canceller other = {.session = all->session, .at = at};
    brume_error error = {0};
    char *json = (char *)(uintptr_t) "untouched";
    brume_session_on_phase(all->session, cancel_at, &other);
    assert_fails(brume_session_query(all->session, sql, "{\"epsilon\": 0.01}", NULL, &json, &error),
                 BRUME_ECANCELLED);
    assert_string_equal(error.message, message);
    assert_string_equal(json, "untouched");
    brume_session_on_phase(all->session, NULL, NULL);
}

static void a_query_that_is_cancelled_after_it_was_paid_stays_paid(void **state)
{
    (void)state;
    fixture all;
    int spent = 0;
    fixture_open(&all, 3000, "1");
    for (int at = BRUME_SESSION_RESERVING; at <= BRUME_SESSION_SPENT; at++) {
        char sql[120];
        snprintf(sql, sizeof sql,
                 "SELECT town, SUM(income) FROM people WHERE income > %d GROUP BY town", at);
        assert_cancelled(&all, (brume_session_phase_word)at, sql,
                         "interrupted; the price stays spent");
        assert_int_equal(fixture_queries(all.session), ++spent);
    }
    brume_free(fixture_call(all.session, "ledger verify", NULL));
    fixture_close(&all);
}

/* Between two stages the first is paid for: nobody may say that nothing was spent. */
static void cancelled_between_stages_it_says_that_the_first_is_paid_for(void **state)
{
    (void)state;
    fixture all;
    fixture_open(&all, 300, "1");
    assert_cancelled(&all, BRUME_SESSION_RECORDED,
                     "SELECT COUNT(*) FROM people WHERE income > (SELECT AVG(income) FROM people)",
                     "interrupted; the price of the stages before it stays spent");
    assert_int_equal(fixture_queries(all.session), 1);
    fixture_close(&all);
}

/* Cancel again and again: before a call begins there is nothing to cancel. */
static void *keep_cancelling(void *context)
{
    canceller *one = context;
    while (!atomic_load(&one->over)) {
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        brume_session_cancel(one->session);
    }
    return NULL;
}

/* Audits that would take hours. */
static void an_audit_ends_when_it_is_cancelled(void **state)
{
    (void)state;
    static const char *const audits[] = {
        "{\"expr\": \"discrete_laplace(scale=1)\", \"samples\": 200000000}",
        "{\"expr\": \"discrete_laplace(scale=1)\", \"samples\": 200000000, \"time\": true}",
        "{\"query\": \"SELECT COUNT(*) FROM people\", \"epsilon\": 1, \"samples\": 20000000}",
        "{\"program\": \"sleep 0.01; seq 1 8192; true\", \"epsilon\": 1, \"samples\": 200000000}"};
    fixture all;
    fixture_open(&all, 60, "1");
    for (size_t i = 0; i < sizeof audits / sizeof *audits; i++) {
        canceller other = {.session = all.session};
        pthread_t thread;
        brume_error error = {0};
        char *json = NULL;
        assert_int_equal(pthread_create(&thread, NULL, keep_cancelling, &other), 0);
        brume_status status = brume_session_call(all.session, "audit", audits[i], &json, &error);
        atomic_store(&other.over, true);
        pthread_join(thread, NULL);
        if (status != BRUME_ECANCELLED)
            fail_msg("%s: %d %s", audits[i], (int)status, error.message);
        assert_string_equal(error.message, "interrupted; nothing was spent");
        assert_null(json);
    }
    assert_int_equal(fixture_queries(all.session), 0);
    fixture_close(&all);
}

static void cancelled_before_it_pays_a_query_costs_nothing(void **state)
{
    (void)state;
    fixture all;
    brume_call call = {0};
    brume_error error = {0};
    const brume_command *query = NULL;
    fixture_open(&all, 30, "1");
    assert_ok(brume_session_begin(all.session, false, &error));
    brume_session_cancel(all.session);
    assert_ok(brume_session_command("query", &query, &error));
    assert_ok(brume_session_call_open(all.session, query, "{\"epsilon\": 0.5}", "sql",
                                      "SELECT COUNT(*) FROM people", &call, &error));
    assert_fails(query->run(&call, &error), BRUME_ECANCELLED);
    assert_string_equal(error.message, "interrupted; nothing was spent");
    brume_session_call_close(&call);
    brume_session_end(all.session);
    assert_int_equal(fixture_queries(all.session), 0); /* and the session is as good as new */
    fixture_close(&all);
}

static void an_idle_session_is_not_cancelled(void **state)
{
    (void)state;
    fixture all;
    brume_error error = {0};
    fixture_open(&all, 30, "1");
    brume_session_cancel(all.session);
    assert_int_equal(brume_session_phase(all.session), BRUME_SESSION_IDLE);
    assert_ok(brume_session_query(all.session, "SELECT COUNT(*) FROM people", "{\"epsilon\": 0.1}",
                                  NULL, NULL, &error));
    fixture_close(&all);
}

static void a_deadline_ends_a_query_and_leaves_no_thread(void **state)
{
    (void)state;
    fixture all;
    brume_error error = {0};
    char *json = NULL;
    fixture_open(&all, 200000, "1");
    brume_status status =
        brume_session_query(all.session, "SELECT town, SUM(income) FROM people GROUP BY town",
                            "{\"epsilon\": 0.1, \"timeout\": 1e-3}", NULL, &json, &error);
    assert_int_equal(status, BRUME_ECANCELLED);
    assert_memory_equal(error.message, "the deadline of 0.001 s has passed; ", 36);
    assert_ok(brume_session_query(all.session, "SELECT COUNT(*) FROM people",
                                  "{\"epsilon\": 0.1, \"timeout\": 60}", NULL, &json, &error));
    brume_free(json);
    fixture_close(&all);
}

static const char *wait_for_stop(const brume_watch *watch, int hundredths)
{
    const char *why = watch->stopped(watch->context);
    for (int i = 0; !why && i < hundredths; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        why = watch->stopped(watch->context);
    }
    return why;
}

/* A script has several answers, and so has a query in stages: what follows the first has the
 * deadline of the call. */
static void a_deadline_holds_for_what_follows_an_answer(void **state)
{
    (void)state;
    brume_session_watch all;
    const brume_watch *watch = NULL;
    brume_error error = {0};
    assert_ok(brume_session_watch_open(&all, &error));
    brume_session_watch_begin(&all);
    assert_ok(brume_session_watch_call(&all, 0.2, false, &watch, &error));
    watch->enter(watch->context, BRUME_PHASE_RECORDED, NULL);
    assert_null(wait_for_stop(watch, 40)); /* an answer that is there is not taken back */
    watch->enter(watch->context, BRUME_PHASE_FREE, NULL);
    const char *why = wait_for_stop(watch, 1000);
    assert_string_equal(why ? why : "", "the deadline of 0.2 s has passed");
    brume_session_watch_end(&all);
    brume_session_watch_close(&all);
}

static void *wait_a_little(void *result)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    return result;
}

/* Closing no stream ends a call that had none: the thread of an earlier deadline is gone, and its
 * name may be that of a thread of the host. */
static void closing_nothing_joins_no_thread_of_the_host(void **state)
{
    (void)state;
    enum { HOSTS = 8 };
    fixture all;
    brume_error error = {0};
    pthread_t hosts[HOSTS];
    int marks[HOSTS];
    fixture_open(&all, 30, "1");
    assert_ok(brume_session_query(all.session, "SELECT COUNT(*) FROM people",
                                  "{\"epsilon\": 0.1, \"timeout\": 60}", NULL, NULL, &error));
    for (int i = 0; i < HOSTS; i++)
        assert_int_equal(pthread_create(&hosts[i], NULL, wait_a_little, &marks[i]), 0);
    assert_ok(brume_session_stream_close(all.session, &error));
    for (int i = 0; i < HOSTS; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(hosts[i], &result), 0);
        assert_ptr_equal(result, &marks[i]);
    }
    fixture_close(&all);
}

/* A child has the watch of its parent as it was, with a thread waiting that the child has not. */
static void a_child_closes_the_session_of_its_parent_at_once(void **state)
{
    (void)state;
    fixture all;
    brume_error error = {0};
    int how = -1;
    fixture_open(&all, 30, "1");
    assert_ok(brume_session_stream_open(all.session, "stream above-threshold",
                                        "{\"dataset\": \"people\", \"threshold\": 150, "
                                        "\"epsilon\": 0.5, \"timeout\": 600}",
                                        &error));
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); /* the thread waits by now */
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        brume_session_close(all.session);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    fixture_close(&all);
}

/* ---- leaks ---- */

/* Bytes in use; 0 where another allocator (a sanitizer, which finds leaks itself) is in place. */
static size_t in_use(void)
{
    return mallinfo2().uordblks;
}

/* What caches may still take: of 1,000 sessions 40 bytes each. A sanitizer finds less. */
enum { SLACK = 40000 };

static void open_and_close(const fixture *all, int times)
{
    brume_error error = {0};
    for (int i = 0; i < times; i++) {
        brume_session *session = NULL;
        char *text = NULL;
        assert_ok(brume_session_open(all->ledger, "{\"must_exist\": true}", &session, &error));
        assert_ok(brume_session_call(session, "budget", NULL, &text, &error));
        assert_fails(brume_session_call(session, "budget", "{\"x\": 1}", &text, &error),
                     BRUME_EUNKNOWN);
        brume_free(text);
        brume_session_close(session);
    }
}

static void sessions_leak_nothing(void **state)
{
    fixture all;
    int times = *(const int *)*state;
    fixture_open(&all, 30, "1");
    open_and_close(&all, times); /* The allocator's own caches grow by some 50 kB in all. */
    size_t before = in_use();
    open_and_close(&all, times);
    size_t after = in_use();
    if (after > before + SLACK)
        fail_msg("%zu bytes more after %d sessions", after - before, times);
    fixture_close(&all);
}

static void *explain_once(void *context)
{
    const fixture *all = context;
    brume_session *session = NULL;
    char *text = NULL;
    brume_error error = {0};
    brume_status status = brume_session_open(all->ledger, NULL, &session, &error);
    if (status == BRUME_OK)
        status = brume_session_explain(session, "SELECT COUNT(*) FROM people", "{\"epsilon\": 1}",
                                       &text, &error);
    brume_free(text);
    brume_session_close(session);
    return status == BRUME_OK ? context : NULL;
}

/* What libraries keep for a thread goes with it: 1,500 bytes of MPFR's for each that has planned.
 */
static void threads_that_end_leave_nothing(void **state)
{
    (void)state;
    fixture all;
    size_t before = 0;
    fixture_open(&all, 30, "1");
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        void *good = NULL;
        if (i == 50) /* caches are filled */
            before = in_use();
        assert_int_equal(pthread_create(&thread, NULL, explain_once, &all), 0);
        assert_int_equal(pthread_join(thread, &good), 0);
        assert_non_null(good);
    }
    size_t after = in_use();
    if (after > before + SLACK)
        fail_msg("%zu bytes more after 150 threads", after - before);
    fixture_close(&all);
}

/* test_threads [TIMES]: with a number only the leaks, of so many sessions. */
int main(int argc, char **argv)
{
    static int times = 1000;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(sessions_leak_nothing, &times),
        cmocka_unit_test(threads_that_end_leave_nothing),
        cmocka_unit_test(threads_that_share_a_ledger_get_exactly_what_it_carries),
        cmocka_unit_test(a_query_that_is_cancelled_after_it_was_paid_stays_paid),
        cmocka_unit_test(cancelled_between_stages_it_says_that_the_first_is_paid_for),
        cmocka_unit_test(an_audit_ends_when_it_is_cancelled),
        cmocka_unit_test(cancelled_before_it_pays_a_query_costs_nothing),
        cmocka_unit_test(an_idle_session_is_not_cancelled),
        cmocka_unit_test(a_deadline_ends_a_query_and_leaves_no_thread),
        cmocka_unit_test(a_deadline_holds_for_what_follows_an_answer),
        cmocka_unit_test(closing_nothing_joins_no_thread_of_the_host),
        cmocka_unit_test(a_child_closes_the_session_of_its_parent_at_once),
    };
    if (argc > 1) {
        times = atoi(argv[1]);
        const struct CMUnitTest leaks[] = {
            cmocka_unit_test_prestate(sessions_leak_nothing, &times)};
        return cmocka_run_group_tests(leaks, NULL, NULL);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
