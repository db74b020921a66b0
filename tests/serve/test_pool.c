/* The pool (serve/pool.h) with sessions that do as they are told: order, bounds, times, deadlines,
 * workers that hang, closing. The functions of <brume/session.h> that the pool calls are defined
 * here, in place of the library's. Numbers in comments are those of pool.h. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "check.h"
#include "serve/pool_state.h"

/* ---- sessions ---- */

struct brume_session {
    char user[64];
    atomic_bool cancelled;
    atomic_int phase;
    void (*tell)(void *context, brume_session_phase_word phase);
    void *tell_context;
    brume_status (*take)(void *context, const char *text, size_t length, brume_error *error);
    void *take_context;
};

static atomic_int running[2], most_running, most_of_a, hangs, opened, closed;
static atomic_bool release_all;
static double recorded; /* when the last call wrote to the ledger */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char order[4096];

static void nap(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    nanosleep(&time, NULL);
}

brume_status brume_session_open(const char *ledger, const char *options, brume_session **out,
                                brume_error *error)
{
    (void)ledger;
    json_t *object = json_loads(options ? options : "{}", 0, NULL);
    const char *user = json_string_value(json_object_get(object, "user"));
    brume_status status = BRUME_OK;
    if (user && strcmp(user, "removed") == 0) {
        status = BRUME_EPOLICY;
        error->status = status;
    } else {
        brume_session *session = calloc(1, sizeof *session);
        assert_non_null(session);
        snprintf(session->user, sizeof session->user, "%s", user ? user : "");
        atomic_fetch_add(&opened, 1);
        *out = session;
    }
    json_decref(object);
    return status;
}

void brume_session_close(brume_session *session)
{
    if (session)
        atomic_fetch_add(&closed, 1);
    free(session);
}

/* An engine that takes its time to be told. */
static atomic_bool cancelling_takes_long;

void brume_session_cancel(brume_session *session)
{
    while (atomic_load(&cancelling_takes_long))
        nap(0.005);
    atomic_store(&session->cancelled, true);
}

brume_session_phase_word brume_session_phase(const brume_session *session)
{
    return (brume_session_phase_word)atomic_load(&((brume_session *)(uintptr_t)session)->phase);
}

void brume_free(void *memory)
{
    free(memory);
}

void brume_session_on_phase(brume_session *session,
                            void (*tell)(void *context, brume_session_phase_word phase),
                            void *context)
{
    session->tell = tell;
    session->tell_context = context;
}

void brume_session_on_text(brume_session *session,
                           brume_status (*take)(void *context, const char *text, size_t length,
                                                brume_error *error),
                           void *context)
{
    session->take = take;
    session->take_context = context;
}

static void raise_to(atomic_int *most, int value)
{
    int now = atomic_load(most);
    while (now < value && !atomic_compare_exchange_weak(most, &now, value))
        ;
}

/* {"dataset": "a" | "b", "nap": seconds, "hang": true, "fail": true, "cached": true, "say": TEXT,
 * "part": TEXT that is given before the answer, "phase": what it comes to before it ends} */
static brume_status obey(brume_session *session, const json_t *told, char **answer,
                         brume_error *error)
{
    const char *dataset = json_string_value(json_object_get(told, "dataset"));
    int of = dataset && strcmp(dataset, "b") == 0;
    int now = atomic_fetch_add(&running[of], 1) + 1;
    raise_to(&most_running, now + atomic_load(&running[!of]));
    if (!of)
        raise_to(&most_of_a, now);
    pthread_mutex_lock(&log_lock);
    const char *say = json_string_value(json_object_get(told, "say"));
    strncat(order, say ? say : "", sizeof order - strlen(order) - 1);
    pthread_mutex_unlock(&log_lock);
    double rest = json_number_value(json_object_get(told, "nap"));
    bool hang = json_is_true(json_object_get(told, "hang"));
    atomic_store(&session->phase, BRUME_SESSION_RUNNING);
    if (hang)
        atomic_fetch_add(&hangs, 1);
    while (hang ? !atomic_load(&release_all) : rest > 0 && !atomic_load(&session->cancelled)) {
        nap(0.005);
        rest -= 0.005;
    }
    if (json_is_true(json_object_get(told, "record")) && session->tell) {
        session->tell(session->tell_context, BRUME_SESSION_SPENT);
        recorded = brume_pool_now();
    }
    const char *part = json_string_value(json_object_get(told, "part"));
    if (part)
        assert_int_equal(session->take(session->take_context, part, strlen(part), error), BRUME_OK);
    if (json_object_get(told, "phase") && session->tell)
        session->tell(session->tell_context,
                      (brume_session_phase_word)json_integer_value(json_object_get(told, "phase")));
    atomic_fetch_sub(&running[of], 1);
    if (json_is_true(json_object_get(told, "refuse"))) {
        error->status = BRUME_EBUDGET;
        return error->status;
    }
    if (json_is_true(json_object_get(told, "fail")) ||
        (!hang && atomic_load(&session->cancelled))) {
        error->status = BRUME_ECANCELLED;
        snprintf(error->message, sizeof error->message, "interrupted; the price stays spent");
        return error->status;
    }
    *answer = strdup(json_is_true(json_object_get(told, "cached")) ? "{\"cached\": true}" : "{}");
    return BRUME_OK;
}

brume_status brume_session_call(brume_session *session, const char *command, const char *options,
                                char **answer, brume_error *error)
{
    if (strcmp(command, "datasets") == 0 && !options) {
        *answer = strdup("{\"datasets\": [{\"name\": \"\\\"a\\\"\"}, {\"name\": \"\\\"b\\\"\"}]}");
        return BRUME_OK;
    }
    json_t *told = json_loads(options, 0, NULL);
    assert_non_null(told);
    brume_status status = obey(session, told, answer, error);
    json_decref(told);
    return status;
}

brume_status brume_session_query(brume_session *session, const char *sql, const char *options,
                                 struct ArrowArrayStream *rows, char **json, brume_error *error)
{
    (void)sql, (void)rows;
    return brume_session_call(session, "query", options, json, error);
}

brume_status brume_session_explain(brume_session *session, const char *sql, const char *options,
                                   char **json, brume_error *error)
{
    (void)sql;
    return brume_session_call(session, "explain", options, json, error);
}

/* ---- jobs ---- */

typedef struct noted {
    atomic_int times;
    brume_status status;
    char message[480], json[64];
    bool may_be_charged;
    double when;
} noted;

static void note(void *context, brume_pool_result *result)
{
    noted *one = context;
    one->status = result->status;
    snprintf(one->message, sizeof one->message, "%s", result->error.message);
    snprintf(one->json, sizeof one->json, "%s", result->json ? result->json : "");
    one->may_be_charged = result->may_be_charged;
    one->when = brume_pool_now();
    brume_free(result->json);
    atomic_fetch_add(&one->times, 1);
}

static brume_pool *open_pool(size_t workers, size_t queue, double deadline, double quantum)
{
    brume_pool *pool = NULL;
    brume_error error = {0};
    brume_pool_options options = {.ledger = "no file",
                                  .workers = workers,
                                  .queue = queue,
                                  .deadline = deadline,
                                  .quantum = quantum,
                                  .grace = 0.2};
    order[0] = 0;
    most_running = most_of_a = hangs = 0;
    release_all = false;
    assert_ok(brume_pool_open(&options, &pool, &error));
    nap(0.1); /* the names of the datasets are read at once */
    return pool;
}

static uint64_t put(brume_pool *pool, const char *command, const char *options, noted *to,
                    bool *busy)
{
    uint64_t id = 0;
    brume_error error = {0};
    brume_pool_request request = {.user = "ann", .command = command, .options = options};
    *to = (noted){0};
    brume_status status = brume_pool_submit(pool, &request, note, to, &id, busy, &error);
    assert_true(status == BRUME_OK || (busy && *busy && status == BRUME_ECANCELLED));
    return id;
}

static void wait_for(const noted *one)
{
    for (int i = 0; i < 4000 && !atomic_load(&one->times); i++)
        nap(0.005);
    assert_int_equal(one->times, 1);
}

static void what_a_script_answered_is_given_also_after_an_error(void **state)
{
    (void)state;
    brume_pool *pool = open_pool(1, 10, 0, 0.01);
    noted good, bad, alone;
    put(pool, "query", "{\"part\": \"one \"}", &good, NULL);
    put(pool, "query", "{\"part\": \"one \", \"fail\": true}", &bad, NULL);
    put(pool, "query", "{\"fail\": true}", &alone, NULL);
    wait_for(&good);
    wait_for(&bad);
    wait_for(&alone);
    assert_string_equal(good.json, "one {}");
    assert_int_equal(bad.status, BRUME_ECANCELLED);
    assert_string_equal(bad.json, "one ");
    assert_string_equal(alone.json, "");
    brume_pool_close(pool, 1);
}

static void it_is_known_whether_a_price_may_be_charged(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        bool may_be;
    } cases[] = {
        {"{\"fail\": true}", false},                 /* before the ledger is asked */
        {"{\"phase\": 4, \"fail\": true}", true},    /* only the ledger knows */
        {"{\"phase\": 4, \"refuse\": true}", false}, /* the budget says no */
        {"{\"phase\": 5, \"fail\": true}", true},    /* spent, the engine fails */
        {"{\"phase\": 5, \"refuse\": true}", true},  /* of a later statement */
        {"{\"phase\": 7}", true},
        {"{\"cached\": true}", false},
    };
    brume_pool *pool = open_pool(2, 10, 0, 0.01);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        noted one;
        put(pool, "query", cases[i].options, &one, NULL);
        wait_for(&one);
        assert_int_equal(one.may_be_charged, cases[i].may_be);
    }
    brume_pool_close(pool, 1);
}

/* 3 */
static void jobs_of_one_dataset_run_in_order(void **state)
{
    (void)state;
    brume_pool *pool = open_pool(4, 100, 0, 0.02);
    noted of_a[6], of_b;
    for (int i = 0; i < 6; i++) {
        char options[100];
        snprintf(options, sizeof options, "{\"dataset\":\"a\",\"nap\":0.03,\"say\":\"%d\"}", i);
        put(pool, "query", options, &of_a[i], NULL);
    }
    put(pool, "query", "{\"dataset\":\"b\",\"nap\":0.1}", &of_b, NULL);
    for (int i = 0; i < 6; i++)
        wait_for(&of_a[i]);
    wait_for(&of_b);
    assert_string_equal(order, "012345");
    assert_int_equal(most_of_a, 1);
    assert_int_equal(most_running, 2); /* another dataset does not wait */
    brume_pool_close(pool, 1);
}

/* 1: free jobs run beside a query of the same dataset. */
static void free_jobs_do_not_wait_for_queries(void **state)
{
    (void)state;
    brume_pool *pool = open_pool(1, 100, 0, 0.02);
    noted slow, fast;
    uint64_t id = put(pool, "query", "{\"dataset\":\"a\",\"nap\":60}", &slow, NULL);
    put(pool, "explain", "{\"dataset\":\"a\"}", &fast, NULL);
    wait_for(&fast);
    assert_int_equal(slow.times, 0);
    brume_pool_cancel(pool, id);
    wait_for(&slow);
    brume_pool_close(pool, 1);
}

/* 2 */
static void too_many_jobs_are_refused(void **state)
{
    (void)state;
    brume_pool *pool = open_pool(1, 2, 0, 0.02);
    noted jobs[4];
    bool busy = false;
    put(pool, "query", "{\"dataset\":\"a\",\"hang\":true}", &jobs[0], &busy);
    while (!atomic_load(&hangs))
        nap(0.005);
    put(pool, "query", "{\"dataset\":\"a\"}", &jobs[1], &busy);
    put(pool, "query", "{\"dataset\":\"b\"}", &jobs[2], &busy);
    assert_false(busy);
    put(pool, "query", "{\"dataset\":\"b\"}", &jobs[3], &busy);
    assert_true(busy);
    release_all = true;
    for (int i = 0; i < 3; i++)
        wait_for(&jobs[i]);
    nap(0.05);
    assert_int_equal(jobs[3].times, 0);
    brume_pool_counts counts;
    brume_pool_count(pool, &counts);
    assert_true(counts.accepted == 3 && counts.refused == 1 && counts.ended == 3);
    brume_pool_close(pool, 1);
}

static double time_of(brume_pool *pool, const char *command, const char *options)
{
    noted one;
    double start = brume_pool_now();
    put(pool, command, options, &one, NULL);
    wait_for(&one);
    return one.when - start;
}

/* 4: never before, with an error as with an answer; what touches no row leaves at once. */
static void answers_leave_at_quantised_times(void **state)
{
    (void)state;
    brume_pool *pool = open_pool(2, 10, 0, 0.2);
    assert_true(time_of(pool, "query", "{\"dataset\":\"a\"}") >= 0.2);
    assert_true(time_of(pool, "query", "{\"dataset\":\"a\",\"fail\":true}") >= 0.2);
    assert_true(time_of(pool, "query", "{\"dataset\":\"a\",\"nap\":0.21}") >= 0.4);
    assert_true(time_of(pool, "unheard of", "{}") >= 0.2);
    /* the next job of the dataset starts when the answer before it has left */
    noted first, second;
    double start = brume_pool_now();
    put(pool, "query", "{\"dataset\":\"a\"}", &first, NULL);
    put(pool, "query", "{\"dataset\":\"a\"}", &second, NULL);
    wait_for(&second);
    assert_true(second.when - start >= 0.4);
    brume_pool_close(pool, 1);
}

/* 4: what is written to the ledger waits too, and is not held twice. */
static void records_wait_for_a_quantised_time(void **state)
{
    (void)state;
    brume_pool *pool = open_pool(2, 10, 0, 0.3);
    double start = brume_pool_now();
    time_of(pool, "query", "{\"dataset\":\"a\",\"record\":true}");
    assert_true(recorded - start >= 0.3);
    start = brume_pool_now();
    time_of(pool, "query", "{\"dataset\":\"a\",\"record\":true,\"fail\":true}");
    assert_true(recorded - start >= 0.3);
    brume_pool_close(pool, 1);
    pool = open_pool(2, 10, 1, 1000); /* moments before the deadline, and not lost to it */
    noted one;
    put(pool, "query", "{\"dataset\":\"a\",\"record\":true}", &one, NULL);
    wait_for(&one);
    assert_int_equal(one.status, BRUME_OK);
    brume_pool_close(pool, 1);
}

/* 4: what touches no row does not wait. */
static void free_answers_leave_at_once(void **state)
{
    (void)state;
    brume_pool *pool = open_pool(2, 10, 0, 1000);
    assert_true(time_of(pool, "query", "{\"dataset\":\"a\",\"cached\":true}") < 1000);
    assert_true(time_of(pool, "explain", "{\"dataset\":\"a\",\"fail\":true}") < 1000);
    brume_pool_close(pool, 1);
}

/* 5 */
static void deadlines_end_jobs_that_run_or_wait(void **state)
{
    (void)state;
    brume_pool *pool = open_pool(1, 10, 0.3, 0.05);
    noted runs, waits;
    put(pool, "query", "{\"dataset\":\"a\",\"nap\":5}", &runs, NULL);
    put(pool, "query", "{\"dataset\":\"a\"}", &waits, NULL);
    wait_for(&runs);
    wait_for(&waits);
    assert_int_equal(runs.status, BRUME_ECANCELLED);
    assert_non_null(strstr(runs.message, "stays spent"));
    assert_int_equal(waits.status, BRUME_ECANCELLED);
    assert_non_null(strstr(waits.message, "nothing was spent"));
    brume_pool_close(pool, 1);
}

/* 5: a worker that hangs is given up, and another takes its place. */
static void workers_that_hang_are_given_up(void **state)
{
    (void)state;
    brume_pool *pool = open_pool(1, 10, 0.3, 0.05);
    noted hung, next, refused;
    bool busy = false;
    put(pool, "query", "{\"dataset\":\"a\",\"hang\":true}", &hung, NULL);
    wait_for(&hung);
    assert_int_equal(hung.status, BRUME_ECANCELLED);
    assert_non_null(strstr(hung.message, "the price stays spent"));
    put(pool, "query", "{\"dataset\":\"a\"}", &next, NULL);
    wait_for(&next);
    assert_int_equal(next.status, BRUME_OK);
    for (int i = 0; i < 3; i++) {
        put(pool, "query", "{\"dataset\":\"a\",\"hang\":true}", &hung, NULL);
        wait_for(&hung);
    }
    put(pool, "query", "{\"dataset\":\"a\"}", &refused, &busy); /* four hang: no more is taken */
    assert_true(busy);
    release_all = true;
    for (int i = 0; i < 400 && busy; i++) {
        nap(0.01);
        put(pool, "query", "{\"dataset\":\"a\"}", &refused, &busy);
    }
    assert_false(busy);
    wait_for(&refused);
    assert_int_equal(hung.times, 1);
    brume_pool_counts counts;
    brume_pool_count(pool, &counts);
    assert_int_equal(counts.given_up, 4);
    brume_pool_close(pool, 1);
}

static void jobs_are_cancelled(void **state)
{
    (void)state;
    brume_pool *pool = open_pool(1, 10, 0, 0.05);
    noted runs, waits;
    uint64_t first =
        put(pool, "query", "{\"dataset\":\"a\",\"nap\":60,\"say\":\"x\"}", &runs, NULL);
    uint64_t second = put(pool, "query", "{\"dataset\":\"a\",\"say\":\"y\"}", &waits, NULL);
    brume_pool_cancel(pool, second);
    assert_int_equal(waits.times, 1);
    assert_int_equal(waits.status, BRUME_ECANCELLED);
    while (!atomic_load(&running[0]))
        nap(0.005);
    brume_pool_cancel(pool, first);
    wait_for(&runs);
    assert_int_equal(runs.status, BRUME_ECANCELLED);
    assert_string_equal(order, "x");
    brume_pool_cancel(pool, first);
    brume_pool_cancel(pool, 99);
    brume_pool_close(pool, 1);
}

/* How long an engine takes to be stopped would tell whether it still reads: who cancels does not
 * wait for it. If he did, this would never end. */
static void cancelling_returns_at_once(void **state)
{
    (void)state;
    brume_pool *pool = open_pool(1, 10, 0, 0.05);
    noted runs;
    uint64_t first = put(pool, "query", "{\"dataset\":\"a\",\"nap\":60}", &runs, NULL);
    while (!atomic_load(&running[0]))
        nap(0.005);
    atomic_store(&cancelling_takes_long, true);
    brume_pool_cancel(pool, first);
    brume_pool_cancel(pool, first);
    assert_int_equal(runs.times, 0);
    atomic_store(&cancelling_takes_long, false);
    wait_for(&runs);
    assert_int_equal(runs.status, BRUME_ECANCELLED);
    brume_pool_close(pool, 1);
}

/* A user who was removed: the session is refused, and so is the job, in its time. */
static void a_session_that_is_refused_ends_the_job(void **state)
{
    (void)state;
    brume_pool *pool = open_pool(1, 10, 0, 0.05);
    brume_pool_request request = {.user = "removed", .command = "query", .options = "{}"};
    brume_pool_result result;
    _Atomic uint64_t id = 0;
    bool busy = true;
    assert_int_equal(brume_pool_run(pool, &request, &id, &result, &busy), BRUME_EPOLICY);
    assert_true(id > 0 && !busy);
    brume_pool_close(pool, 1);
}

/* 6 */
static void closing_answers_every_job(void **state)
{
    (void)state;
    static brume_pool *left; /* a pool with a thread that hangs is not freed: it stays in sight */
    brume_pool *pool = left = open_pool(2, 100, 0, 0.05);
    noted jobs[20], hung;
    for (int i = 0; i < 20; i++)
        put(pool, "query", "{\"dataset\":\"a\",\"nap\":0.05}", &jobs[i], NULL);
    put(pool, "query", "{\"dataset\":\"b\",\"hang\":true}", &hung, NULL);
    while (!atomic_load(&hangs))
        nap(0.005);
    brume_pool_close(pool, 0.2);
    for (int i = 0; i < 20; i++)
        assert_int_equal(jobs[i].times, 1);
    assert_int_equal(jobs[19].status, BRUME_ECANCELLED);
    assert_int_equal(hung.times, 1);
    assert_int_equal(hung.status, BRUME_ECANCELLED);
    release_all = true;
    nap(0.1);
    assert_int_equal(hung.times, 1);
    assert_non_null(left);
}

/* An answer that waits for its time is recorded and given when the server must end. */
static void closing_does_not_lose_answers(void **state)
{
    (void)state;
    brume_pool *pool = open_pool(1, 10, 0, 1000);
    noted one;
    put(pool, "query", "{\"dataset\":\"a\",\"record\":true}", &one, NULL);
    while (!atomic_load(&running[0]))
        nap(0.005);
    nap(0.05);
    brume_pool_close(pool, 0.1);
    assert_int_equal(one.times, 1);
    assert_int_equal(one.status, BRUME_OK);
}

/* 6, with submitting, cancelling and closing at once. */
enum { THREADS = 4, JOBS = 300 };
static noted crowd[THREADS][JOBS];
static brume_pool *crowded;
static atomic_int accepted;

static void *submit_many(void *context)
{
    noted *mine = context;
    for (int i = 0; i < JOBS; i++) {
        static const char *const options[] = {
            "{\"dataset\":\"a\"}", "{\"dataset\":\"b\",\"nap\":0.006}",
            "{\"dataset\":\"b\",\"cached\":true}", "{\"dataset\":\"a\",\"nap\":10}"};
        bool busy = false;
        uint64_t id = put(crowded, i % 5 ? "query" : "explain", options[i % 4], &mine[i], &busy);
        atomic_fetch_add(&accepted, !busy);
        if (!busy && i % 4 == 3)
            brume_pool_cancel(crowded, id);
    }
    return NULL;
}

static void every_job_ends_once(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    int ended = 0;
    crowded = open_pool(3, 50, 1, 0.001);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, submit_many, crowd[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    brume_pool_close(crowded, 0.05);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < JOBS; i++) {
            assert_true(crowd[t][i].times <= 1);
            ended += crowd[t][i].times;
        }
    assert_int_equal(ended, accepted);
    nap(0.1);
    assert_int_equal(opened, closed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_script_answered_is_given_also_after_an_error),
        cmocka_unit_test(it_is_known_whether_a_price_may_be_charged),
        cmocka_unit_test(jobs_of_one_dataset_run_in_order),
        cmocka_unit_test(free_jobs_do_not_wait_for_queries),
        cmocka_unit_test(too_many_jobs_are_refused),
        cmocka_unit_test(answers_leave_at_quantised_times),
        cmocka_unit_test(records_wait_for_a_quantised_time),
        cmocka_unit_test(free_answers_leave_at_once),
        cmocka_unit_test(deadlines_end_jobs_that_run_or_wait),
        cmocka_unit_test(workers_that_hang_are_given_up),
        cmocka_unit_test(jobs_are_cancelled),
        cmocka_unit_test(cancelling_returns_at_once),
        cmocka_unit_test(a_session_that_is_refused_ends_the_job),
        cmocka_unit_test(closing_answers_every_job),
        cmocka_unit_test(closing_does_not_lose_answers),
        cmocka_unit_test(every_job_ends_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
