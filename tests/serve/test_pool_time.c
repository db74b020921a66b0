/* The pool (serve/pool.h): quantised times, deadlines, and workers that hang. Numbers in comments
 * are those of pool.h. */
#include "pool_jobs.h"

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
    assert_true(sessions.recorded - start >= 0.3);
    start = brume_pool_now();
    time_of(pool, "query", "{\"dataset\":\"a\",\"record\":true,\"fail\":true}");
    assert_true(sessions.recorded - start >= 0.3);
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
    noted runs[2], waits;
    for (int i = 0; i < 2; i++)
        put(pool, "query", "{\"dataset\":\"a\",\"nap\":5}", &runs[i], NULL);
    put(pool, "query", "{\"dataset\":\"a\"}", &waits, NULL);
    for (int i = 0; i < 2; i++) {
        wait_for(&runs[i]);
        assert_int_equal(runs[i].status, BRUME_ECANCELLED);
        assert_non_null(strstr(runs[i].message, "stays spent"));
    }
    wait_for(&waits);
    assert_int_equal(waits.status, BRUME_ECANCELLED);
    assert_non_null(strstr(waits.message, "others kept this call waiting"));
    assert_non_null(strstr(waits.message, "nothing was spent"));
    brume_pool_close(pool, 1);
}

/* 5: what others' jobs take is none of the time of the next, which would be charged and cut short.
 */
static void who_waits_has_a_whole_deadline(void **state)
{
    (void)state;
    brume_pool *pool = open_pool(1, 10, 2, 0.05); /* the rest is for a busy machine */
    noted before, next;
    put(pool, "query", "{\"dataset\":\"a\",\"nap\":5}", &before, NULL);
    put_of(pool, "bob", "query", "{\"dataset\":\"a\",\"nap\":0.3}", &next, NULL);
    wait_for(&before);
    assert_int_equal(before.status, BRUME_ECANCELLED);
    wait_for(&next);
    assert_int_equal(next.status, BRUME_OK);
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
    put(pool, "query", "{\"dataset\":\"a\"}", &refused, &busy); /* of ann as many hang as may */
    assert_true(busy);
    static const char *const others[] = {"bob", "carl", "dora"};
    for (int i = 0; i < 3; i++) {
        put_of(pool, others[i], "query", "{\"dataset\":\"a\"}", &next, NULL);
        wait_for(&next);
        assert_int_equal(next.status, BRUME_OK);
        put_of(pool, others[i], "query", "{\"dataset\":\"a\",\"hang\":true}", &hung, NULL);
        wait_for(&hung);
    }
    put_of(pool, "eve", "query", "{\"dataset\":\"a\"}", &refused, &busy); /* and of them all */
    assert_true(busy);
    put(pool, "explain", "{}", &next, NULL); /* free jobs have nothing to do with that */
    wait_for(&next);
    assert_int_equal(next.status, BRUME_OK);
    sessions.release_all = true;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_leave_at_quantised_times),
        cmocka_unit_test(records_wait_for_a_quantised_time),
        cmocka_unit_test(free_answers_leave_at_once),
        cmocka_unit_test(deadlines_end_jobs_that_run_or_wait),
        cmocka_unit_test(who_waits_has_a_whole_deadline),
        cmocka_unit_test(workers_that_hang_are_given_up),
    };
    return cmocka_run_group_tests_name("serve pool times", tests, NULL, NULL);
}
