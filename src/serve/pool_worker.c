/* Workers, which run jobs and let their answers go in time, and the clock, which keeps deadlines.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "base/error.h"
#include "serve/pool_state.h"

double brume_pool_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void brume_pool_wait(brume_pool *pool, double time)
{
    if (!isfinite(time)) {
        pthread_cond_wait(&pool->changed, &pool->lock);
        return;
    }
    const struct timespec until = {.tv_sec = (time_t)time,
                                   .tv_nsec = (long)((time - floor(time)) * 1e9)};
    pthread_cond_timedwait(&pool->changed, &pool->lock, &until);
}

/* ---- time ---- */

double brume_pool_leaving_time(double elapsed, double quantum)
{
    if (quantum > 0)
        return fmax(1, ceil(elapsed / quantum)) * quantum;
    double time = 0.25;
    while (time < elapsed)
        time *= 2;
    return time;
}

/* When the answer of a job that ends now may leave. Moments before the deadline and in the middle
 * of its grace are as public as multiples of the quantum: an answer that is there then is given. */
static double leaving_time(const brume_pool *pool, const pool_job *job, double now)
{
    double before = fmin(0.1, pool->options.deadline / 10);
    double time = job->start + brume_pool_leaving_time(now - job->start, pool->options.quantum);
    double last = job->deadline - before;
    if (last < now)
        last = job->deadline + pool->options.grace / 2;
    return last >= now ? fmin(time, last) : time;
}

/* With the lock held. */
static void wait_to_leave(brume_pool *pool, pool_job *job)
{
    double time = leaving_time(pool, job, brume_pool_now());
    while (brume_pool_now() < time && !pool->hurry)
        brume_pool_wait(pool, time);
}

/* The call of an asking job has read rows, and is about to write to the ledger what came of it,
 * which others can see there: that waits for the time at which an answer may leave. One that has
 * read none since it last waited (it was told to stop meanwhile) does not wait once more: that it
 * waits twice would tell that what it read came in time. */
static void hold(void *context, brume_session_phase_word phase)
{
    pool_job *job = context;
    pthread_mutex_lock(&job->pool->lock);
    job->tried = job->tried || phase == BRUME_SESSION_RESERVING;
    job->charged = job->charged || phase >= BRUME_SESSION_RUNNING;
    if (phase == BRUME_SESSION_RUNNING)
        job->reads = true;
    if (phase == BRUME_SESSION_SPENT && (job->reads || !job->held)) {
        job->holding = true;
        wait_to_leave(job->pool, job);
        job->holding = job->reads = false;
        job->held = true;
    }
    pthread_mutex_unlock(&job->pool->lock);
}

/* ---- one job ---- */

static char *user_option(const pool_job *job)
{
    json_t *object = json_pack("{s:s,s:I}", "user", job->user, "issued", (json_int_t)job->issued);
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

brume_status brume_pool_open_session(const brume_pool *pool, const pool_job *job,
                                     brume_session **session, brume_error *error)
{
    char *options = user_option(job);
    if (!options)
        return brume_no_memory(error, "the session");
    brume_status status = brume_session_open(pool->options.ledger, options, session, error);
    free(options);
    return status;
}

static brume_status call(brume_session *session, pool_job *job, brume_pool_result *result)
{
    struct ArrowArrayStream *rows = job->wants_rows ? &result->rows : NULL;
    if (job->sql && strcmp(job->command, "query") == 0)
        return brume_session_query(session, job->sql, job->options, rows, &result->json,
                                   &result->error);
    if (job->sql && strcmp(job->command, "explain") == 0)
        return brume_session_explain(session, job->sql, job->options, &result->json,
                                     &result->error);
    return brume_session_call(session, job->command, job->options, &result->json, &result->error);
}

/* With the lock held, which is let go while the call runs. */
static void run_job(brume_pool *pool, pool_job *job)
{
    brume_pool_result result = {0};
    brume_session *session = NULL;
    pthread_mutex_unlock(&pool->lock);
    bool is_step = brume_pool_is_stream_step(job->command);
    result.status = is_step ? brume_pool_stream_step(pool, job, &result)
                            : brume_pool_open_session(pool, job, &session, &result.error);
    pthread_mutex_lock(&pool->lock);
    if (!is_step && result.status == BRUME_OK && job->stopped)
        result.status = brume_fail(&result.error, BRUME_ECANCELLED, NULL,
                                   "the call was cancelled; nothing was spent");
    if (!is_step && result.status == BRUME_OK) {
        job->session = session;
        pthread_mutex_unlock(&pool->lock);
        if (job->kind == POOL_ASKING)
            brume_session_on_phase(session, hold, job);
        brume_session_on_text(session, brume_pool_take_part, job);
        result.status = call(session, job, &result);
        pthread_mutex_lock(&pool->lock);
        job->session = NULL;
    }
    while (job->stoppers > 0)
        brume_pool_wait(pool, INFINITY);
    job->leaving = true; /* from here on nobody stops it or gives it up */
    pthread_mutex_unlock(&pool->lock);
    brume_session_close(session);
    pthread_mutex_lock(&pool->lock);
    if (result.status == BRUME_ECANCELLED && job->is_late)
        snprintf(result.error.hint, sizeof result.error.hint,
                 "the server's deadline of %g s had passed", pool->options.deadline);
    brume_pool_add_told(job, &result);
    job->result = result;
}

void brume_pool_finish(brume_pool *pool, pool_job *job)
{
    bool hangs = job->given_up; /* then its worker may free it as soon as the lock is let go */
    brume_pool_result result = job->result;
    result.may_be_charged = brume_pool_may_be_charged(job);
    brume_pool_done *done = job->done;
    void *context = job->context;
    job->result = (brume_pool_result){0};
    pool->counts.ended++;
    pthread_mutex_unlock(&pool->lock);
    done(context, &result);
    if (!hangs)
        brume_pool_free_job(job);
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->changed);
}

/* ---- workers ---- */

/* The first job that no earlier or running one of the same dataset keeps waiting. */
static pool_job *next_job(const brume_pool *pool, int kind)
{
    uint64_t taken = 0;
    if (kind == POOL_FREE)
        return pool->waiting[kind].first;
    for (const pool_job *job = pool->running.first; job; job = job->next)
        taken |= job->kind == kind ? job->datasets : 0;
    for (pool_job *job = pool->waiting[kind].first; job; job = job->next) {
        if (!(job->datasets & taken))
            return job;
        taken |= job->datasets;
    }
    return NULL;
}

/* Drop what a call that hung came to after all: its job was answered long ago. */
static void drop_result(brume_pool *pool, pool_job *job)
{
    brume_free(job->result.json);
    if (job->result.rows.release)
        job->result.rows.release(&job->result.rows);
    brume_pool_free_job(job);
    pool->hanging--;
}

/* Run one; false: this worker was given up meanwhile. */
static bool work(brume_pool *pool, pool_job *job)
{
    brume_pool_remove(&pool->waiting[job->kind], job);
    job->next = pool->running.first;
    pool->running.first = job;
    pool->running.count++;
    job->start = brume_pool_now();
    pthread_cond_broadcast(&pool->changed); /* the clock has one more deadline to keep */
    run_job(pool, job);
    if (job->given_up) {
        drop_result(pool, job);
        return false;
    }
    /* what a held call does after its last hold depends on its answer and on the ledger alone */
    if (job->kind == POOL_ASKING && !job->held && !brume_pool_is_cached(job))
        wait_to_leave(pool, job);
    brume_pool_remove(&pool->running, job);
    brume_pool_finish(pool, job);
    return true;
}

static void *run_worker(brume_pool *pool, int kind)
{
    bool goes_on = true;
    pthread_mutex_lock(&pool->lock);
    while (goes_on && !pool->closing) {
        pool_job *job = next_job(pool, kind);
        if (job)
            goes_on = work(pool, job);
        else
            brume_pool_wait(pool, INFINITY);
    }
    pool->threads--;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void *run_free_worker(void *pool)
{
    return run_worker(pool, POOL_FREE);
}

static void *run_asking_worker(void *pool)
{
    return run_worker(pool, POOL_ASKING);
}

/* A thread that gets no signals, and that nobody joins: the pool counts it. */
static bool start_thread(brume_pool *pool, void *(*run)(void *), void *context)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    bool good = pthread_create(&thread, NULL, run, context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (good) {
        pthread_detach(thread);
        pool->threads++;
    }
    return good;
}

bool brume_pool_start_worker(brume_pool *pool, int kind)
{
    return start_thread(pool, kind == POOL_FREE ? run_free_worker : run_asking_worker, pool);
}

/* ---- deadlines ---- */

void brume_pool_stop_job(brume_pool *pool, pool_job *job)
{
    job->stopped = true;
    if (!job->session)
        return;
    job->stoppers++; /* the worker does not close the session before this is 0 again */
    brume_session *session = job->session;
    pthread_mutex_unlock(&pool->lock);
    brume_session_cancel(session);
    pthread_mutex_lock(&pool->lock);
    job->stoppers--;
    pthread_cond_broadcast(&pool->changed);
}

typedef struct stopper {
    brume_pool *pool;
    pool_job *job;
} stopper;

/* Telling a server to stop may take a while: it is no work for the clock or a connection. */
static void *run_stopper(void *context)
{
    stopper both = *(stopper *)context;
    brume_pool *pool = both.pool;
    free(context);
    pthread_mutex_lock(&pool->lock);
    brume_pool_stop_job(pool, both.job);
    both.job->stoppers--;
    pool->threads--;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

void brume_pool_stop_aside(brume_pool *pool, pool_job *job)
{
    stopper *both = malloc(sizeof *both);
    job->stopped = true;
    if (!both)
        return; /* it is given up at the end of its grace */
    *both = (stopper){pool, job};
    job->stoppers++; /* keeps the job until the thread has run */
    if (!start_thread(pool, run_stopper, both)) {
        job->stoppers--;
        free(both);
    }
}

static void say_late(const brume_pool *pool, const pool_job *job, brume_pool_result *result)
{
    brume_session_phase_word phase = job->session ? brume_session_phase(job->session)
                                                  : BRUME_SESSION_FREE;
    result->status =
        brume_fail(&result->error, BRUME_ECANCELLED, "history and budget say what became of it",
                   "the deadline of %g s has passed%s", pool->options.deadline,
                   phase <= BRUME_SESSION_FREE
                       ? !job->held ? "; nothing was spent" : "; what was charged stays spent"
                   : phase == BRUME_SESSION_RESERVING ? "; the price may have been spent"
                                                      : "; the price stays spent");
}

/* Answer for a worker that hangs, and put another in its place. */
static void give_up(brume_pool *pool, pool_job *job)
{
    say_late(pool, job, &job->result);
    job->given_up = true;
    pool->hanging++;
    pool->counts.given_up++;
    brume_pool_remove(&pool->running, job);
    if (!pool->closing)
        (void)brume_pool_start_worker(pool, job->kind); /* without memory: one worker less */
    brume_pool_finish(pool, job);
}

/* One thing that is due now; false: nothing. *next becomes the time when something will be. */
static bool keep_deadlines(brume_pool *pool, double now, double *next)
{
    *next = INFINITY;
    for (int kind = 0; kind < POOL_KINDS; kind++)
        for (pool_job *job = pool->waiting[kind].first; job; job = job->next) {
            if (job->deadline <= now) {
                brume_pool_remove(&pool->waiting[kind], job);
                say_late(pool, job, &job->result);
                brume_pool_finish(pool, job);
                return true;
            }
            *next = fmin(*next, job->deadline);
        }
    for (pool_job *job = pool->running.first; job; job = job->next) {
        double due = job->stopped && job->is_late ? job->deadline + pool->options.grace
                                                  : job->deadline;
        if (!job->leaving && due <= now) {
            if (job->is_late) {
                give_up(pool, job);
                return true;
            }
            job->is_late = true;
            brume_pool_stop_aside(pool, job);
            return true;
        }
        *next = job->leaving ? *next : fmin(*next, due);
    }
    return brume_pool_end_idle_stream(pool, now, next);
}

static void *run_clock(void *context)
{
    brume_pool *pool = context;
    double next = INFINITY, names_read = -INFINITY;
    pthread_mutex_lock(&pool->lock);
    /* while the pool closes, brume_pool_close keeps the time */
    while (!pool->closing) {
        double now = brume_pool_now();
        if (pool->names_wanted && now >= names_read + 1) {
            pool->names_wanted = false;
            names_read = now;
            pthread_mutex_unlock(&pool->lock);
            brume_pool_read_names(pool);
            pthread_mutex_lock(&pool->lock);
        } else if (!keep_deadlines(pool, now, &next)) {
            brume_pool_wait(pool, pool->names_wanted ? fmin(next, names_read + 1) : next);
        }
    }
    pool->threads--;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

bool brume_pool_start_clock(brume_pool *pool)
{
    return start_thread(pool, run_clock, pool);
}
