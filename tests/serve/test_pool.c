/* The pool (serve/pool.h): what its jobs give, their order, and how many it takes. Numbers in
 * comments are those of pool.h. */
#include "pool_jobs.h"

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
    assert_string_equal(sessions.order, "012345");
    assert_int_equal(sessions.most_of_a, 1);
    assert_int_equal(sessions.most_running, 2); /* another dataset does not wait */
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
    while (!atomic_load(&sessions.hangs))
        nap(0.005);
    put(pool, "query", "{\"dataset\":\"a\"}", &jobs[1], &busy);
    put(pool, "query", "{\"dataset\":\"b\"}", &jobs[2], &busy);
    assert_false(busy);
    put(pool, "query", "{\"dataset\":\"b\"}", &jobs[3], &busy);
    assert_true(busy);
    sessions.release_all = true;
    for (int i = 0; i < 3; i++)
        wait_for(&jobs[i]);
    nap(0.05);
    assert_int_equal(jobs[3].times, 0);
    brume_pool_counts counts;
    brume_pool_count(pool, &counts);
    assert_true(counts.accepted == 3 && counts.refused == 1 && counts.ended == 3);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_script_answered_is_given_also_after_an_error),
        cmocka_unit_test(it_is_known_whether_a_price_may_be_charged),
        cmocka_unit_test(jobs_of_one_dataset_run_in_order),
        cmocka_unit_test(free_jobs_do_not_wait_for_queries),
        cmocka_unit_test(too_many_jobs_are_refused),
        cmocka_unit_test(a_session_that_is_refused_ends_the_job),
    };
    return cmocka_run_group_tests_name("serve pool", tests, NULL, NULL);
}
