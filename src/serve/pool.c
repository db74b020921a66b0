/* The pool: open, submit, cancel, close. Promises: pool.h. */
#include "serve/pool.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "serve/pool_state.h"

/* ---- jobs and lists ---- */

void brume_pool_free_job(pool_job *job)
{
    if (!job)
        return;
    free(job->user);
    free(job->command);
    free(job->sql);
    free(job->options);
    free(job->told);
    free(job);
}

void brume_pool_remove(pool_list *list, const pool_job *job)
{
    pool_job **place = &list->first;
    while (*place && *place != job)
        place = &(*place)->next;
    if (*place) {
        *place = job->next;
        list->count--;
    }
}

void brume_pool_no_longer_waits(brume_pool *pool, pool_job *job)
{
    brume_pool_remove(&pool->waiting[job->kind], job);
    job->by->waiting[job->kind]--;
}

/* Into those that wait, which stand in the order of submission. */
static void begin_to_wait(brume_pool *pool, pool_job *job)
{
    pool_list *list = &pool->waiting[job->kind];
    pool_job **place = &list->first;
    while (*place && (*place)->id < job->id)
        place = &(*place)->next;
    job->next = *place;
    *place = job;
    list->count++;
    job->by->waiting[job->kind]++;
}

/* What is before it in the line of its dataset may take all of its deadline: an asking job waits
 * for twice as long, so that one user cannot have others refused. */
static void wait_longer(const brume_pool *pool, pool_job *job)
{
    job->deadline += pool->options.deadline;
}

void brume_pool_go_on(brume_pool *pool, pool_job *job)
{
    brume_pool_remove(&pool->running, job);
    job->by->running[job->kind]--;
    job->kind = POOL_ASKING;
    job->is_trial = job->leaving = false;
    job->start = 0; /* it waits again */
    wait_longer(pool, job);
    begin_to_wait(pool, job);
    pthread_cond_broadcast(&pool->changed);
}

static pool_job *copy_request(const brume_pool_request *request)
{
    pool_job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->user = strdup(request->user);
    job->command = strdup(request->command);
    job->sql = request->sql ? strdup(request->sql) : NULL;
    job->options = request->options ? strdup(request->options) : NULL;
    job->issued = request->issued;
    job->wants_rows = request->wants_rows;
    job->kind = brume_pool_is_free(request->command) ? POOL_FREE : POOL_ASKING;
    if (!job->user || !job->command || (request->sql && !job->sql) ||
        (request->options && !job->options)) {
        brume_pool_free_job(job);
        return NULL;
    }
    return job;
}

/* ---- open and close ---- */

static brume_status check_options(const brume_pool_options *options, brume_error *error)
{
    if (options->workers < 1 || options->workers > 64)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--workers' must be between 1 and 64");
    if (!(options->deadline >= 0) || !(options->quantum >= 0) || !(options->grace >= 0) ||
        isinf(options->deadline) || isinf(options->quantum))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'--deadline' and '--quantum' must be finite and not below 0");
    return BRUME_OK;
}

static brume_pool *make(const brume_pool_options *options)
{
    pthread_condattr_t monotonic;
    brume_pool *pool = calloc(1, sizeof *pool);
    char *ledger = options->ledger ? strdup(options->ledger) : NULL;
    if (!pool || (options->ledger && !ledger) || pthread_condattr_init(&monotonic) != 0) {
        free(pool);
        free(ledger);
        return NULL;
    }
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->changed, &monotonic); /* neither can fail here */
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&pool->lock, NULL);
    pool->options = *options;
    pool->options.ledger = ledger;
    pool->options.grace = options->grace > 0 ? options->grace : 2;
    pool->options.share = options->share > 0 ? options->share : (options->workers + 1) / 2;
    pool->names_wanted = true;
    return pool;
}

brume_status brume_pool_open(const brume_pool_options *options, brume_pool **out,
                             brume_error *error)
{
    BRUME_TRY(check_options(options, error));
    brume_pool *pool = make(options);
    if (!pool)
        return brume_no_memory(error, "the workers");
    pthread_mutex_lock(&pool->lock);
    bool good = brume_pool_start_clock(pool);
    for (size_t i = 0; good && i < options->workers; i++)
        good = brume_pool_start_worker(pool, POOL_FREE) &&
               brume_pool_start_worker(pool, POOL_ASKING);
    pthread_mutex_unlock(&pool->lock);
    if (!good) {
        brume_pool_close(pool, 0);
        return brume_no_memory(error, "the workers");
    }
    *out = pool;
    return BRUME_OK;
}

static void refuse_waiting(brume_pool *pool)
{
    for (int kind = 0; kind < POOL_KINDS; kind++)
        while (pool->waiting[kind].first) {
            pool_job *job = pool->waiting[kind].first;
            brume_pool_no_longer_waits(pool, job);
            job->result.status = brume_fail(&job->result.error, BRUME_ECANCELLED, "ask again later",
                                            "the server is stopping; nothing was spent");
            brume_pool_finish(pool, job);
        }
}

/* Wait until nothing runs; false: it still does at `time`. */
static bool wait_for_end(brume_pool *pool, double time)
{
    while (pool->threads > pool->hanging && brume_pool_now() < time)
        brume_pool_wait(pool, time);
    return pool->threads <= pool->hanging;
}

static void stop_running(brume_pool *pool)
{
    pool_job *job = pool->running.first;
    while (job) {
        if (job->stopped || job->leaving || job->holding) {
            job = job->next;
            continue;
        }
        brume_pool_stop_job(pool, job); /* lets the lock go: the list may have changed */
        job = pool->running.first;
    }
}

static void give_up_running(brume_pool *pool)
{
    while (pool->running.first) {
        pool_job *job = pool->running.first;
        brume_pool_remove(&pool->running, job);
        job->result.status = brume_fail(
            &job->result.error, BRUME_ECANCELLED, "history and budget say what became of it",
            "the server is stopping, and the call did not end; its price may be spent");
        job->given_up = true;
        pool->hanging++;
        job->by->hanging++;
        brume_pool_finish(pool, job);
    }
}

static void free_pool(brume_pool *pool)
{
    while (pool->users) {
        pool_user *user = pool->users;
        pool->users = user->next;
        free(user->name);
        free(user);
    }
    for (size_t i = 0; i < pool->name_count; i++)
        free(pool->names[i]);
    free(pool->names);
    free((char *)(uintptr_t)pool->options.ledger);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void brume_pool_stop(brume_pool *pool, double seconds)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->changed);
    refuse_waiting(pool);
    bool ended = wait_for_end(pool, brume_pool_now() + seconds);
    if (!ended) { /* answers that are there are recorded now, the other calls are cancelled */
        pool->hurry = true;
        pthread_cond_broadcast(&pool->changed);
        stop_running(pool);
        ended = wait_for_end(pool, brume_pool_now() + pool->options.grace);
    }
    if (!ended)
        give_up_running(pool);
    pool->hurry = true;
    brume_pool_drop_streams(pool);
    pthread_mutex_unlock(&pool->lock);
}

void brume_pool_close(brume_pool *pool, double seconds)
{
    if (!pool)
        return;
    brume_pool_stop(pool, seconds);
    pthread_mutex_lock(&pool->lock);
    bool nobody_left = pool->threads == 0;
    pthread_mutex_unlock(&pool->lock);
    if (nobody_left) /* else threads that hang still use it, until the process ends */
        free_pool(pool);
}

/* ---- submit and cancel ---- */

/* With the lock held; NULL without memory. */
static pool_user *find_user(brume_pool *pool, const char *name)
{
    pool_user *user = pool->users;
    while (user && strcmp(user->name, name) != 0)
        user = user->next;
    if (user)
        return user;
    user = calloc(1, sizeof *user);
    char *copy = user ? strdup(name) : NULL;
    if (!copy) {
        free(user);
        return NULL;
    }
    user->name = copy;
    user->next = pool->users;
    pool->users = user;
    return user;
}

/* With the lock held, which is let go meanwhile: where the line is full, the newest job of the user
 * who has most of it makes room for one of a user who has less. */
static bool make_room(brume_pool *pool, const pool_user *user, int kind)
{
    const pool_user *most = user;
    pool_job *newest = NULL;
    for (const pool_user *one = pool->users; one; one = one->next)
        most = one->waiting[kind] > most->waiting[kind] ? one : most;
    if (most->waiting[kind] <= user->waiting[kind] + 1)
        return false;
    for (pool_job *job = pool->waiting[kind].first; job; job = job->next)
        newest = job->by == most ? job : newest;
    if (!newest)
        return false;
    brume_pool_no_longer_waits(pool, newest);
    newest->result.status = brume_fail(&newest->result.error, BRUME_ECANCELLED,
                                       "ask again in a while",
                                       "the server is busy; nothing was spent");
    pool->counts.refused++;
    brume_pool_finish(pool, newest);
    return true;
}

/* The same. A user whose calls hang is refused before others are. */
static bool has_room(brume_pool *pool, const pool_user *user, int kind)
{
    bool hangs = kind == POOL_ASKING && (user->hanging >= pool->options.workers ||
                                         pool->hanging >= 4 * pool->options.workers);
    return !hangs &&
           (pool->waiting[kind].count < pool->options.queue ||
            (!pool->closing && make_room(pool, user, kind))) &&
           !pool->closing;
}

/* With the lock held: the job waits from now on. */
static void put_in_line(brume_pool *pool, pool_job *job, _Atomic uint64_t *id)
{
    job->id = ++pool->last_id;
    if (id)
        atomic_store(id, job->id);
    job->child_until = INFINITY;
    job->deadline = pool->options.deadline > 0 ? brume_pool_now() + pool->options.deadline
                                               : INFINITY;
    if (job->kind == POOL_ASKING) {
        job->datasets = brume_pool_stream_datasets(pool, job->options);
        if (job->datasets == ~(uint64_t)0)
            job->datasets =
                brume_pool_datasets_of(pool->names, pool->name_count, job->sql, job->options);
        pool->names_wanted = true;
    }
    if (pool->options.nursery && brume_pool_has_free_part(job->command)) {
        job->is_trial = true;
        job->kind = POOL_FREE;
    }
    if (job->kind == POOL_ASKING)
        wait_longer(pool, job);
    begin_to_wait(pool, job);
    pool->counts.accepted++;
}

bool brume_pool_add_job(brume_pool *pool, const brume_pool_request *request, brume_pool_done *done)
{
    pool_job *job = copy_request(request);
    if (!job)
        return false;
    job->done = done;
    job->pool = pool;
    if (!(job->by = find_user(pool, job->user))) {
        brume_pool_free_job(job);
        return false;
    }
    put_in_line(pool, job, NULL);
    pthread_cond_broadcast(&pool->changed);
    return true;
}

/* Takes the job over only if it is accepted. */
static bool enqueue(brume_pool *pool, pool_job *job, _Atomic uint64_t *id)
{
    pthread_mutex_lock(&pool->lock);
    job->by = find_user(pool, job->user);
    bool is_tried = pool->options.nursery && brume_pool_has_free_part(job->command);
    bool room = job->by && has_room(pool, job->by, job->kind) &&
                (!is_tried || has_room(pool, job->by, POOL_FREE));
    if (room)
        put_in_line(pool, job, id);
    else
        pool->counts.refused++;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    return room;
}

static brume_status submit(brume_pool *pool, const brume_pool_request *request,
                           brume_pool_done *done, void *context, _Atomic uint64_t *id, bool *busy,
                           brume_error *error)
{
    if (busy)
        *busy = false;
    if (!request->user || !request->command)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a job needs a user and a command");
    pool_job *job = copy_request(request);
    if (!job)
        return brume_no_memory(error, "the job");
    job->done = done;
    job->context = context;
    job->pool = pool;
    if (enqueue(pool, job, id))
        return BRUME_OK;
    brume_pool_free_job(job);
    if (busy)
        *busy = true;
    return brume_fail(error, BRUME_ECANCELLED, "ask again in a while",
                      "the server is busy; nothing was spent");
}

brume_status brume_pool_submit(brume_pool *pool, const brume_pool_request *request,
                               brume_pool_done *done, void *context, uint64_t *id, bool *busy,
                               brume_error *error)
{
    _Atomic uint64_t made = 0;
    BRUME_TRY(submit(pool, request, done, context, &made, busy, error));
    if (id)
        *id = made;
    return BRUME_OK;
}

static pool_job *find(const pool_list *list, uint64_t id)
{
    pool_job *job = list->first;
    while (job && job->id != id)
        job = job->next;
    return job;
}

void brume_pool_cancel(brume_pool *pool, uint64_t id)
{
    pthread_mutex_lock(&pool->lock);
    pool_job *job = find(&pool->running, id);
    /* A question of a stream is not stopped midway: whether the stream goes on afterwards would
     * tell if its rows were read sooner than a moment that the analyst chooses, and it costs
     * nothing. */
    if (job && !job->leaving && !job->stopped && !brume_pool_is_stream_step(job->command))
        brume_pool_stop_aside(pool, job);
    for (int kind = 0; !job && kind < POOL_KINDS; kind++) {
        job = find(&pool->waiting[kind], id);
        if (!job)
            continue;
        brume_pool_no_longer_waits(pool, job);
        job->result.status = brume_fail(&job->result.error, BRUME_ECANCELLED, NULL,
                                        "the call was cancelled; nothing was spent");
        brume_pool_finish(pool, job);
    }
    pthread_mutex_unlock(&pool->lock);
}

void brume_pool_count(brume_pool *pool, brume_pool_counts *out)
{
    pthread_mutex_lock(&pool->lock);
    *out = pool->counts;
    out->waiting = pool->waiting[POOL_FREE].count + pool->waiting[POOL_ASKING].count;
    out->running = pool->running.count;
    pthread_mutex_unlock(&pool->lock);
}

/* ---- run and wait ---- */

typedef struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_there;
    brume_pool_result *result;
} waiter;

static void take_result(void *context, brume_pool_result *result)
{
    waiter *one = context;
    pthread_mutex_lock(&one->lock);
    *one->result = *result;
    one->is_there = true;
    pthread_cond_signal(&one->changed);
    pthread_mutex_unlock(&one->lock);
}

brume_status brume_pool_run(brume_pool *pool, const brume_pool_request *request,
                            _Atomic uint64_t *id, brume_pool_result *result, bool *busy)
{
    waiter one = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .result = result};
    *result = (brume_pool_result){0};
    brume_error refusal; /* the job may end, and fill in the result, before submit returns */
    brume_status status = submit(pool, request, take_result, &one, id, busy, &refusal);
    if (status != BRUME_OK) {
        result->status = status;
        result->error = refusal;
        return status;
    }
    pthread_mutex_lock(&one.lock);
    while (!one.is_there)
        pthread_cond_wait(&one.changed, &one.lock);
    pthread_mutex_unlock(&one.lock);
    return result->status;
}
