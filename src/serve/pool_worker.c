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

static brume_pool_request request_of(const pool_job *job)
{
    return (brume_pool_request){.user = job->user,
                                .issued = job->issued,
                                .command = job->command,
                                .sql = job->sql,
                                .options = job->options};
}

brume_status brume_pool_open_session(const brume_pool *pool, const pool_job *job,
                                     brume_session **session, brume_error *error)
{
    const brume_pool_request request = request_of(job);
    char *options = brume_session_user(&request);
    if (!options)
        return brume_no_memory(error, "the session");
    brume_status status = brume_session_open(pool->options.ledger, options, session, error);
    free(options);
    return status;
}

/* ---- free work, in the child of the worker ---- */

static bool is_stopped(void *context)
{
    const pool_job *job = context;
    pthread_mutex_lock(&job->pool->lock);
    bool stopped = job->stopped || brume_pool_now() >= job->child_until;
    pthread_mutex_unlock(&job->pool->lock);
    return stopped;
}

static brume_status run_in_child(pool_job *job, const brume_pool_request *request, char **json,
                                 brume_error *error)
{
    const brume_pool_options *options = &job->pool->options;
    return brume_nursery_run(options->nursery, job->child, request, is_stopped, job,
                             options->grace / 2, json, error);
}

/* Seconds that SQL over released tables may take, within an asking job: more than it gives itself.
 */
static const double released_patience = 30;

/* A part of a query that reads public tables alone, within an asking job, which keeps others
 * waiting: it has as long as it took when it was tried, and a little more. */
static brume_status ask_public(void *context, const char *sql, char **json, brume_error *error)
{
    pool_job *job = context;
    brume_pool_request request = request_of(job);
    request.command = "query";
    request.sql = sql;
    request.options = NULL;
    job->child_until = brume_pool_now() + 1 + 2 * job->trial_seconds;
    brume_status status = run_in_child(job, &request, json, error);
    job->child_until = INFINITY;
    return status;
}

/* SQL over released tables: it ends by itself, or here. */
static brume_status run_released(void *context, const char *work, char **json, brume_error *error)
{
    pool_job *job = context;
    brume_pool_request request = request_of(job);
    request.command = "released";
    request.sql = work;
    request.options = NULL;
    job->child_until = brume_pool_now() + released_patience;
    brume_status status = run_in_child(job, &request, json, error);
    job->child_until = INFINITY;
    return status;
}

/* What 'explain' takes of the options of a query. */
static char *explaining_options(const json_t *given, const char *sql)
{
    static const char *const kept[] = {"epsilon",     "delta",       "rho",        "within",
                                       "within-rank", "within_rank", "confidence", "joint",
                                       "at-least",    "at_least",    "limit",      "where"};
    json_t *made = json_pack("{s:s}", "sql", sql);
    for (size_t i = 0; made && i < sizeof kept / sizeof *kept; i++) {
        json_t *one = json_object_get(given, kept[i]);
        if (one)
            json_object_set(made, kept[i], one);
    }
    char *text = made ? json_dumps(made, JSON_COMPACT) : NULL;
    json_decref(made);
    return text;
}

/* Explain one statement; is it of public tables alone? Its datasets are added. */
static brume_status try_statement(pool_job *job, const json_t *given, const char *sql,
                                  size_t length, bool *is_public, uint64_t *datasets,
                                  brume_error *error)
{
    char *one = strndup(sql, length), *json = NULL;
    char *options = one ? explaining_options(given, one) : NULL;
    brume_pool_request request = request_of(job);
    request.command = "explain";
    request.sql = NULL;
    request.options = options;
    brume_status status = options ? run_in_child(job, &request, &json, error)
                                  : brume_no_memory(error, "the call");
    json_t *explained = json ? json_loads(json, 0, NULL) : NULL;
    *is_public = json_is_true(json_object_get(explained, "public"));
    *datasets |= brume_pool_datasets_explained(explained);
    json_decref(explained);
    brume_free(json);
    free(options);
    free(one);
    return status;
}

/* Explain all of them, until one does not end. Whatever else is wrong with one is said when it is
 * asked: before it reads a row. */
static brume_status try_statements(pool_job *job, const json_t *given, const char *sql,
                                   bool *is_public, uint64_t *datasets, brume_error *error)
{
    *is_public = !brume_statement_is_blank(sql);
    while (!brume_statement_is_blank(sql)) {
        size_t length = brume_statement_length(sql);
        bool one_is_public = false;
        brume_error why;
        length = length > 0 ? length : strlen(sql);
        if (is_stopped(job))
            return brume_fail(error, BRUME_ECANCELLED, NULL,
                              "the call was cancelled; nothing was spent");
        brume_status status =
            try_statement(job, given, sql, length, &one_is_public, datasets, &why);
        if (status == BRUME_ECANCELLED || status == BRUME_EMEMORY) {
            *error = why;
            return status;
        }
        *is_public = *is_public && one_is_public;
        sql += length;
    }
    return BRUME_OK;
}

/* What a query does before it may be charged (it is planned, priced and rehearsed, and keys of
 * public tables are read) takes as long as its text says, and no thread can be made to end it. So
 * it is done once in a child, where it can, by a free worker and while no dataset is taken: what
 * ends there in time and within its memory does here too. A query of public tables alone is free,
 * and answered at once; else job->is_trial stays true. From then on the job takes the datasets that
 * it reads, and no longer all that its text names, be it in a comment: others would wait for it. */
static brume_status try_free_part(pool_job *job, char **json, brume_error *error)
{
    double start = brume_pool_now();
    bool is_public = false;
    uint64_t datasets = 0;
    const brume_pool_request request = request_of(job);
    json_t *given = json_loads(job->options ? job->options : "{}", 0, NULL);
    const char *sql = job->sql ? job->sql : json_string_value(json_object_get(given, "sql"));
    brume_status status = sql ? try_statements(job, given, sql, &is_public, &datasets, error)
                              : BRUME_OK;
    json_decref(given);
    pthread_mutex_lock(&job->pool->lock);
    job->datasets = datasets ? datasets : job->datasets;
    pthread_mutex_unlock(&job->pool->lock);
    job->trial_seconds = brume_pool_now() - start;
    job->is_trial = status == BRUME_OK && (!is_public || job->wants_rows);
    return status == BRUME_OK && !job->is_trial ? run_in_child(job, &request, json, error) : status;
}

/* ---- a call ---- */

/* Seconds that a query of the catalog may take: whoever writes it may make it endless. */
static const double catalog_patience = 5;

static brume_status call(brume_session *session, pool_job *job, brume_pool_result *result)
{
    const brume_pool_request request = request_of(job);
    if (job->kind == POOL_ASKING)
        brume_session_on_phase(session, hold, job);
    if (job->pool->options.nursery) {
        brume_session_on_public(session, ask_public, job);
        brume_session_on_released(session, run_released, job);
    }
    brume_session_on_text(session, brume_pool_take_part, job);
    return brume_call_session(session, &request, job->wants_rows ? &result->rows : NULL,
                              &result->json, &result->error);
}

/* In a session of this process. */
static brume_status run_here(brume_pool *pool, pool_job *job, brume_session **session,
                             brume_pool_result *result)
{
    BRUME_TRY(brume_pool_open_session(pool, job, session, &result->error));
    pthread_mutex_lock(&pool->lock);
    bool stopped = job->stopped;
    job->session = stopped ? NULL : *session;
    pthread_mutex_unlock(&pool->lock);
    if (stopped)
        return brume_fail(&result->error, BRUME_ECANCELLED, NULL,
                          "the call was cancelled; nothing was spent");
    brume_status status = call(*session, job, result);
    pthread_mutex_lock(&pool->lock);
    job->session = NULL;
    pthread_mutex_unlock(&pool->lock);
    return status;
}

/* With the lock held, which is let go while the call runs. */
static void run_job(brume_pool *pool, pool_job *job)
{
    brume_pool_result result = {0};
    brume_session *session = NULL;
    const brume_pool_request request = request_of(job);
    if (strcmp(job->command, "catalog") == 0)
        job->child_until = brume_pool_now() + catalog_patience;
    pthread_mutex_unlock(&pool->lock);
    result.status = job->is_trial ? try_free_part(job, &result.json, &result.error)
                    : brume_pool_is_stream_step(job->command)
                        ? brume_pool_stream_step(pool, job, &result)
                    : job->kind == POOL_FREE && pool->options.nursery
                        ? run_in_child(job, &request, &result.json, &result.error)
                        : run_here(pool, job, &session, &result);
    pthread_mutex_lock(&pool->lock);
    while (job->stoppers > 0)
        brume_pool_wait(pool, INFINITY);
    if (job->stopped) /* too late for what would follow */
        job->is_trial = false;
    if (job->stopped && result.status == BRUME_OK && !result.json && job->kind == POOL_FREE)
        result.status = brume_fail(&result.error, BRUME_ECANCELLED, NULL,
                                   "the call was cancelled; nothing was spent");
    job->leaving = true; /* from here on nobody stops it or gives it up */
    if (session) {       /* without one the lock is kept: what was tried can be stopped all along */
        pthread_mutex_unlock(&pool->lock);
        brume_session_close(session);
        pthread_mutex_lock(&pool->lock);
    }
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

/* The datasets of earlier jobs of the same user whose free part is tried, or waits for it. */
static uint64_t datasets_tried(const brume_pool *pool, const pool_job *later)
{
    uint64_t datasets = 0;
    const pool_job *const lists[] = {pool->running.first, pool->waiting[POOL_FREE].first};
    for (size_t i = 0; i < 2; i++)
        for (const pool_job *job = lists[i]; job; job = job->next)
            if (job->is_trial && job->by == later->by && job->id < later->id)
                datasets |= job->datasets;
    return datasets;
}

/* The first job of a user that may begin: none of its datasets is taken by a job that runs, by an
 * earlier one of the same user, or by one of users who are before this one. Those become taken. */
static pool_job *first_of(const brume_pool *pool, int kind, const pool_user *user, uint64_t *taken)
{
    for (pool_job *job = pool->waiting[kind].first; job; job = job->next) {
        if (job->by != user)
            continue;
        if (kind == POOL_FREE || !(job->datasets & (*taken | datasets_tried(pool, job))))
            return job;
        *taken |= job->datasets;
    }
    return NULL;
}

/* Users take turns: the job of that user begins who has waited longest since one did, and who has
 * not a whole share of the workers. Within a user, and a dataset, the order is that of submission.
 */
static pool_job *next_job(const brume_pool *pool, int kind)
{
    uint64_t taken = 0;
    for (const pool_job *job = pool->running.first; job; job = job->next)
        taken |= job->kind == kind ? job->datasets : 0;
    for (pool_user *user = pool->users; user; user = user->next)
        user->is_considered = user->waiting[kind] == 0 ||
                              user->running[kind] >= pool->options.share;
    for (;;) {
        pool_user *next = NULL;
        for (pool_user *user = pool->users; user; user = user->next)
            if (!user->is_considered && (!next || user->served[kind] < next->served[kind]))
                next = user;
        pool_job *job = next ? first_of(pool, kind, next, &taken) : NULL;
        if (job || !next)
            return job;
        next->is_considered = true;
    }
}

/* Drop what a call that hung came to after all: its job was answered long ago. */
static void drop_result(brume_pool *pool, pool_job *job)
{
    brume_free(job->result.json);
    if (job->result.rows.release)
        job->result.rows.release(&job->result.rows);
    job->by->hanging--;
    brume_pool_free_job(job);
    pool->hanging--;
}

/* Run one; false: this worker was given up meanwhile. */
static bool work(brume_pool *pool, pool_job *job)
{
    brume_pool_no_longer_waits(pool, job);
    job->by->running[job->kind]++;
    job->by->served[job->kind] = ++pool->last_served;
    job->next = pool->running.first;
    pool->running.first = job;
    pool->running.count++;
    job->start = brume_pool_now();
    /* how long others made it wait is none of its time: it could be charged, and cut short */
    if (job->kind == POOL_ASKING && pool->options.deadline > 0)
        job->deadline = job->start + pool->options.deadline;
    pthread_cond_broadcast(&pool->changed); /* the clock has one more deadline to keep */
    run_job(pool, job);
    if (job->given_up) {
        drop_result(pool, job);
        return false;
    }
    if (job->is_trial && !pool->closing) {
        brume_pool_go_on(pool, job);
        return true;
    }
    if (job->is_trial)
        job->result.status = brume_fail(&job->result.error, BRUME_ECANCELLED, "ask again later",
                                        "the server is stopping; nothing was spent");
    /* what a held call does after its last hold depends on its answer and on the ledger alone */
    if (job->kind == POOL_ASKING && !job->held && !brume_pool_is_cached(job))
        wait_to_leave(pool, job);
    brume_pool_remove(&pool->running, job);
    job->by->running[job->kind]--;
    brume_pool_finish(pool, job);
    return true;
}

static void *run_worker(brume_pool *pool, int kind)
{
    bool goes_on = true;
    brume_nursery_child *child = NULL;
    pthread_mutex_lock(&pool->lock);
    while (goes_on && !pool->closing) {
        pool_job *job = next_job(pool, kind);
        if (job) {
            job->child = &child;
            goes_on = work(pool, job);
        } else {
            brume_pool_wait(pool, INFINITY);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    brume_nursery_end(pool->options.nursery, child);
    pthread_mutex_lock(&pool->lock);
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
    for (;;) {
        pthread_mutex_unlock(&pool->lock);
        brume_session_cancel(session);
        pthread_mutex_lock(&pool->lock);
        if (!job->session || brume_session_stopping(session))
            break;
        /* its call has not begun, and did not hear */
        brume_pool_wait(pool, brume_pool_now() + 0.005);
    }
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
                   job->kind == POOL_ASKING && job->start == 0
                       ? "others kept this call waiting for twice the deadline of %g s%s"
                       : "the deadline of %g s has passed%s",
                   pool->options.deadline,
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
    job->by->hanging++;
    job->by->running[job->kind]--;
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
                brume_pool_no_longer_waits(pool, job);
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
