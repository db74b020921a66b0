/* Jobs of a pool: what its tests share. */
#include "pool_jobs.h"

#include <stdio.h>

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

static brume_pool *open_any(size_t workers, size_t queue, double deadline, double quantum,
                            brume_nursery *nursery)
{
    brume_pool *pool = NULL;
    brume_error error = {0};
    brume_pool_options options = {.ledger = "no file",
                                  .workers = workers,
                                  .queue = queue,
                                  .deadline = deadline,
                                  .quantum = quantum,
                                  .grace = nursery ? 2
                                                   : 0.2, /* a process is killed in half of it */
                                  .share = workers,
                                  .nursery = nursery};
    sessions.order[0] = 0;
    sessions.most_running = sessions.most_of_a = sessions.hangs = 0;
    sessions.release_all = false;
    assert_ok(brume_pool_open(&options, &pool, &error));
    nap(0.1); /* the names of the datasets are read at once */
    return pool;
}

brume_pool *open_pool(size_t workers, size_t queue, double deadline, double quantum)
{
    return open_any(workers, queue, deadline, quantum, NULL);
}

brume_pool *open_pool_with_nursery(size_t workers, double deadline, brume_nursery **nursery)
{
    brume_error error = {0};
    assert_ok(brume_nursery_open("no file", UINT64_C(1) << 28, nursery, &error));
    return open_any(workers, 10, deadline, 0.05, *nursery);
}

uint64_t put(brume_pool *pool, const char *command, const char *options, noted *to, bool *busy)
{
    return put_of(pool, "ann", command, options, to, busy);
}

uint64_t put_of(brume_pool *pool, const char *user, const char *command, const char *options,
                noted *to, bool *busy)
{
    uint64_t id = 0;
    brume_error error = {0};
    brume_pool_request request = {.user = user, .command = command, .options = options};
    *to = (noted){0};
    brume_status status = brume_pool_submit(pool, &request, note, to, &id, busy, &error);
    assert_true(status == BRUME_OK || (busy && *busy && status == BRUME_ECANCELLED));
    return id;
}

void wait_for(const noted *one)
{
    for (int i = 0; i < 4000 && !atomic_load(&one->times); i++)
        nap(0.005);
    assert_int_equal(one->times, 1);
}
