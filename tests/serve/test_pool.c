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

/* 3 */
static void users_take_turns(void **state)
{
    (void)state;
    brume_pool *pool = open_pool(1, 100, 0, 0.02);
    noted first, of_ann[3], of_bob[3];
    put(pool, "query", "{\"dataset\":\"a\",\"hang\":true}", &first, NULL);
    while (!atomic_load(&sessions.hangs))
        nap(0.005);
    for (int i = 0; i < 3; i++)
        put(pool, "query", "{\"dataset\":\"a\",\"say\":\"a\"}", &of_ann[i], NULL);
    for (int i = 0; i < 3; i++)
        put_of(pool, "bob", "query", "{\"dataset\":\"a\",\"say\":\"b\"}", &of_bob[i], NULL);
    sessions.release_all = true;
    for (int i = 0; i < 3; i++) {
        wait_for(&of_ann[i]);
        wait_for(&of_bob[i]);
    }
    assert_string_equal(sessions.order, "bababa");
    brume_pool_close(pool, 1);
}

/* 2 */
static void who_has_most_of_the_line_makes_room_for_others(void **state)
{
    (void)state;
    brume_pool *pool = open_pool(1, 3, 0, 0.02);
    noted first, of_ann[4], of_bob[2];
    bool busy = false;
    put(pool, "query", "{\"dataset\":\"a\",\"hang\":true}", &first, NULL);
    while (!atomic_load(&sessions.hangs))
        nap(0.005);
    for (int i = 0; i < 4; i++)
        put(pool, "query", "{\"dataset\":\"a\"}", &of_ann[i], &busy);
    assert_true(busy); /* the fourth: nobody has more than ann */
    put_of(pool, "bob", "query", "{\"dataset\":\"a\"}", &of_bob[0], &busy);
    assert_false(busy);
    wait_for(&of_ann[2]); /* the newest */
    assert_int_equal(of_ann[2].status, BRUME_ECANCELLED);
    assert_non_null(strstr(of_ann[2].message, "nothing was spent"));
    put_of(pool, "bob", "query", "{\"dataset\":\"a\"}", &of_bob[1], &busy);
    assert_true(busy); /* ann has two of three places, and bob one */
    sessions.release_all = true;
    wait_for(&of_ann[0]);
    wait_for(&of_ann[1]);
    wait_for(&of_bob[0]);
    assert_int_equal(of_bob[0].status, BRUME_OK);
    brume_pool_close(pool, 1);
}

/* 1 and 5: first of all tests, for the others leave threads behind. */
static void free_jobs_that_hang_are_killed_and_their_workers_go_on(void **state)
{
    (void)state;
    brume_nursery *nursery = NULL;
    brume_pool *pool = open_pool_with_nursery(1, 1, &nursery);
    noted hung[4], cancelled, next, asking;
    for (int i = 0; i < 4; i++)
        put(pool, "explain", "{\"hang\":true}", &hung[i], NULL);
    for (int i = 0; i < 4; i++) {
        wait_for(&hung[i]);
        assert_int_equal(hung[i].status, BRUME_ECANCELLED);
    }
    put(pool, "explain", "{\"nap\":0.01}", &next, NULL);
    wait_for(&next);
    assert_int_equal(next.status, BRUME_OK);
    assert_string_equal(next.json, "{}");
    put(pool, "query", "{\"dataset\":\"a\"}", &asking, NULL); /* tried first, then asked */
    wait_for(&asking);
    assert_int_equal(asking.status, BRUME_OK);
    uint64_t id = put(pool, "explain", "{\"hang\":true}", &cancelled, NULL);
    nap(0.05);
    brume_pool_cancel(pool, id);
    wait_for(&cancelled);
    assert_int_equal(cancelled.status, BRUME_ECANCELLED);
    brume_pool_counts counts;
    brume_pool_count(pool, &counts);
    assert_int_equal(counts.given_up, 0);
    brume_pool_close(pool, 1);
    brume_nursery_close(nursery);
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
        cmocka_unit_test(free_jobs_that_hang_are_killed_and_their_workers_go_on),
        cmocka_unit_test(users_take_turns),
        cmocka_unit_test(who_has_most_of_the_line_makes_room_for_others),
        cmocka_unit_test(what_a_script_answered_is_given_also_after_an_error),
        cmocka_unit_test(it_is_known_whether_a_price_may_be_charged),
        cmocka_unit_test(jobs_of_one_dataset_run_in_order),
        cmocka_unit_test(free_jobs_do_not_wait_for_queries),
        cmocka_unit_test(too_many_jobs_are_refused),
        cmocka_unit_test(a_session_that_is_refused_ends_the_job),
    };
    return cmocka_run_group_tests_name("serve pool", tests, NULL, NULL);
}
