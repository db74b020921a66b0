/* The pool (serve/pool.h): jobs that are cancelled, and its closing. Numbers in comments are those
 * of pool.h. */
#include <pthread.h>

#include "pool_jobs.h"

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
    while (!atomic_load(&sessions.running[0]))
        nap(0.005);
    brume_pool_cancel(pool, first);
    wait_for(&runs);
    assert_int_equal(runs.status, BRUME_ECANCELLED);
    assert_string_equal(sessions.order, "x");
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
    while (!atomic_load(&sessions.running[0]))
        nap(0.005);
    atomic_store(&sessions.cancelling_takes_long, true);
    brume_pool_cancel(pool, first);
    brume_pool_cancel(pool, first);
    assert_int_equal(runs.times, 0);
    atomic_store(&sessions.cancelling_takes_long, false);
    wait_for(&runs);
    assert_int_equal(runs.status, BRUME_ECANCELLED);
    brume_pool_close(pool, 1);
}

/* A session hears of cancelling only while its call runs. */
static void a_job_whose_call_has_not_begun_is_cancelled(void **state)
{
    (void)state;
    brume_pool *pool = open_pool(1, 10, 0, 0.05);
    noted runs;
    uint64_t id = put(pool, "query", "{\"dataset\":\"a\",\"late\":true,\"nap\":2}", &runs, NULL);
    while (!atomic_load(&sessions.not_begun))
        nap(0.005);
    brume_pool_cancel(pool, id);
    wait_for(&runs);
    assert_int_equal(runs.status, BRUME_ECANCELLED);
    brume_pool_close(pool, 1);
}

/* 7 */
static void closing_answers_every_job(void **state)
{
    (void)state;
    static brume_pool *left; /* a pool with a thread that hangs is not freed: it stays in sight */
    brume_pool *pool = left = open_pool(2, 100, 0, 0.05);
    noted jobs[20], hung;
    for (int i = 0; i < 20; i++)
        put(pool, "query", "{\"dataset\":\"a\",\"nap\":0.05}", &jobs[i], NULL);
    put(pool, "query", "{\"dataset\":\"b\",\"hang\":true}", &hung, NULL);
    while (!atomic_load(&sessions.hangs))
        nap(0.005);
    brume_pool_close(pool, 0.2);
    for (int i = 0; i < 20; i++)
        assert_int_equal(jobs[i].times, 1);
    assert_int_equal(jobs[19].status, BRUME_ECANCELLED);
    assert_int_equal(hung.times, 1);
    assert_int_equal(hung.status, BRUME_ECANCELLED);
    sessions.release_all = true;
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
    while (!atomic_load(&sessions.running[0]))
        nap(0.005);
    nap(0.05);
    brume_pool_close(pool, 0.1);
    assert_int_equal(one.times, 1);
    assert_int_equal(one.status, BRUME_OK);
}

/* 7, with submitting, cancelling and closing at once. */
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
    assert_int_equal(sessions.opened, sessions.closed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_are_cancelled),
        cmocka_unit_test(cancelling_returns_at_once),
        cmocka_unit_test(a_job_whose_call_has_not_begun_is_cancelled),
        cmocka_unit_test(closing_answers_every_job),
        cmocka_unit_test(closing_does_not_lose_answers),
        cmocka_unit_test(every_job_ends_once),
    };
    return cmocka_run_group_tests_name("serve pool ends", tests, NULL, NULL);
}
