/* What the files of the pool share. */
#ifndef BRUME_SERVE_POOL_STATE_H
#define BRUME_SERVE_POOL_STATE_H

#include <jansson.h>
#include <pthread.h>

#include "serve/nursery.h"
#include "serve/pool.h"

enum { POOL_FREE, POOL_ASKING, POOL_KINDS };

/* A user who has asked: whose turn it is follows from it. Kept as long as the pool. */
typedef struct pool_user {
    char *name;
    uint64_t served[POOL_KINDS]; /* the number of the newest of its jobs that began */
    size_t waiting[POOL_KINDS], running[POOL_KINDS];
    size_t hanging;     /* workers that were given up with its jobs, and have not ended */
    bool is_considered; /* while a job is chosen */
    struct pool_user *next;
} pool_user;

typedef struct pool_job {
    uint64_t id;
    int kind;      /* whose line it is in, or whose worker has it */
    bool is_trial; /* its free part is to be tried first, as a free job; then it is an asking job */
    char *user, *command, *sql, *options;
    pool_user *by;
    uint64_t issued;
    bool wants_rows;
    uint64_t datasets; /* one bit for each that it reads, by a hash; ~0: none is known. For a query
                          that was not tried yet, those that its text names */
    brume_pool_done *done;
    void *context;
    double start, deadline; /* on the pool's clock; start: 0 while it waits; deadline: INFINITY if
                               there is none. That of waiting, and of an asking job that runs, of
                               running */
    brume_session *session; /* while it runs: the worker closes it when nobody stops it */
    int stoppers;           /* threads that are about to cancel the session */
    bool stopped, is_late;  /* somebody wants it to end; the deadline does */
    double trial_seconds,
        child_until;             /* its free part took so long; the end of a part in a child */
    brume_nursery_child **child; /* the place of its worker's child */
    brume_pool *pool;            /* for the hold below */
    bool charged, tried;         /* a price was written; the ledger was asked to write one */
    char *told;                  /* what a script has answered so far */
    size_t told_length;
    bool reads;    /* rows may have been read since its record last waited */
    bool holding;  /* its record waits */
    bool held;     /* its record waited for a quantised time */
    bool leaving;  /* the call has ended; the answer waits for its time */
    bool given_up; /* `done` was called; the worker that hangs frees the job */
    brume_pool_result result;
    struct pool_job *next;
} pool_job;

typedef struct pool_list {
    pool_job *first;
    size_t count;
} pool_list;

struct brume_pool {
    brume_pool_options options; /* `ledger` is the pool's copy */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* anything below; on the monotonic clock */
    pool_list waiting[POOL_KINDS], running;
    pool_user *users;
    uint64_t last_served;
    struct pool_stream *streams; /* that are open */
    brume_pool_counts counts;
    uint64_t last_id;
    size_t threads, hanging; /* alive, and of these: given up */
    bool closing, hurry;     /* no new jobs; nothing waits for its time any more */
    bool names_wanted;
    char **names; /* of datasets and their tables, in lower case */
    size_t name_count;
};

/* Seconds of the clock that never goes back. */
double brume_pool_now(void);

/* With the lock held: wait for a change, at most until `time` (INFINITY: for ever). */
void brume_pool_wait(brume_pool *pool, double time);

/* pool_command.c: does the command touch no protected row? */
bool brume_pool_is_free(const char *command);

/* Is it a query in SQL, which is planned and priced before it is charged? */
bool brume_pool_has_free_part(const char *command);

/* Which datasets a text names, as bits; ~0 where none of `names` is in it. */
uint64_t brume_pool_datasets_of(char *const *names, size_t count, const char *sql,
                                const char *options);

/* The same of what explain said of a statement; 0: none. */
uint64_t brume_pool_datasets_explained(const json_t *explained);

/* Read the names of datasets again. Takes the lock only to put them in place. */
void brume_pool_read_names(brume_pool *pool);

/* pool.c: with the lock held, a job of the pool's own, which has no bound. False: no memory. */
bool brume_pool_add_job(brume_pool *pool, const brume_pool_request *request, brume_pool_done *done);

/* pool.c: with the lock held, a job whose free part was tried becomes an asking job. */
void brume_pool_go_on(brume_pool *pool, pool_job *job);

/* pool_result.c: a script gives its answers one by one. Should it end midway they are the job's:
 * they are paid. `job` is a pool_job. */
BRUME_MUST_USE brume_status brume_pool_take_part(void *job, const char *text, size_t length,
                                                 brume_error *error);

/* The answer with what was told before it, or that alone after an error. */
void brume_pool_add_told(pool_job *job, brume_pool_result *result);

/* Was a price written to the ledger, or does nobody know? Its result is there. */
bool brume_pool_may_be_charged(const pool_job *job);

/* A free re-read: both the answer and that it is recorded are public. */
bool brume_pool_is_cached(const pool_job *job);

/* pool_stream.c: is the command a step of a stream? */
bool brume_pool_is_stream_step(const char *command);

/* Run one, without the lock. */
BRUME_MUST_USE brume_status brume_pool_stream_step(brume_pool *pool, pool_job *job,
                                                   brume_pool_result *result);

/* With the lock held: the datasets of the stream that the options of a step name; ~0: none. */
uint64_t brume_pool_stream_datasets(const brume_pool *pool, const char *options);

/* With the lock held: end one that was left, false: there is none. *next becomes earlier where one
 * is to be ended before. */
bool brume_pool_end_idle_stream(brume_pool *pool, double now, double *next);

/* With the lock held, which is let go meanwhile: end all that no step has. */
void brume_pool_drop_streams(brume_pool *pool);

/* pool_worker.c: a session of the job's user. */
BRUME_MUST_USE brume_status brume_pool_open_session(const brume_pool *pool, const pool_job *job,
                                                    brume_session **session, brume_error *error);

/* pool_worker.c: start a worker of a kind, or the clock. With the lock held. */
bool brume_pool_start_worker(brume_pool *pool, int kind);
bool brume_pool_start_clock(brume_pool *pool);

/* With the lock held, which is let go meanwhile: cancel a job that runs. */
void brume_pool_stop_job(brume_pool *pool, pool_job *job);
/* The same on a thread of its own, with the lock held all the time: returns at once. */
void brume_pool_stop_aside(brume_pool *pool, pool_job *job);

/* With the lock held: take a job out of a list. */
void brume_pool_remove(pool_list *list, const pool_job *job);
/* The same, out of those that wait. */
void brume_pool_no_longer_waits(brume_pool *pool, pool_job *job);

/* With the lock held, which is let go meanwhile: call `done`, and free the job unless a worker that
 * hangs still has it. It is in no list. */
void brume_pool_finish(brume_pool *pool, pool_job *job);

void brume_pool_free_job(pool_job *job);

#endif
