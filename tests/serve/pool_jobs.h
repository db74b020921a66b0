/* Jobs of a pool whose sessions do as they are told: what its tests share. */
#ifndef BRUME_TESTS_SERVE_POOL_JOBS_H
#define BRUME_TESTS_SERVE_POOL_JOBS_H

#include "check.h"
#include "serve/pool_state.h"
#include "told_session.h"

/* What came of a job: `times` says how often its end was told. */
typedef struct noted {
    atomic_int times;
    brume_status status;
    char message[480], json[64];
    bool may_be_charged;
    double when;
} noted;

/* A pool with a grace of 0.2 seconds, of 2 with a nursery. Forgets what sessions did before. */
brume_pool *open_pool(size_t workers, size_t queue, double deadline, double quantum);

/* The same, whose free jobs run in processes. The test may have no other thread. */
brume_pool *open_pool_with_nursery(size_t workers, double deadline, brume_nursery **nursery);

/* Submit a job of a user. */
uint64_t put_of(brume_pool *pool, const char *user, const char *command, const char *options,
                noted *to, bool *busy);

/* Submit a job of the user ann; its id. Busy may be NULL where the pool must take the job. */
uint64_t put(brume_pool *pool, const char *command, const char *options, noted *to, bool *busy);

/* Wait until its end was told; it is told once. */
void wait_for(const noted *one);

#endif
