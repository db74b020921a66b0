/* Streams of questions: sessions that stay open between the jobs of one user. Promises: pool.h.
 *
 * A stream's command runs on a thread of its session, which records how far it came when it is told
 * to, and about once a second: all of that waits for a quantised time after the newest step began,
 * as the answers do. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <jansson.h>

#include "base/error.h"
#include "serve/pool_state.h"

/* Seconds without a question after which a stream is ended, where there is no deadline: a ledger
 * has one stream at a time, and nobody may keep it from others for long. */
static const double LONGEST_IDLE = 60;

typedef struct pool_stream {
    char id[33];
    char *user;
    brume_pool *pool;
    brume_session *session;
    uint64_t datasets;
    double start, used; /* when the newest step began, and ended */
    bool busy, ending;  /* a step runs; it is to be ended */
    struct pool_stream *next;
} pool_stream;

static const char open_word[] = "stream open", ask_word[] = "stream ask",
                  close_word[] = "stream close";

bool brume_pool_is_stream_step(const char *command)
{
    return strcmp(command, open_word) == 0 || strcmp(command, ask_word) == 0 ||
           strcmp(command, close_word) == 0;
}

/* ---- the list ---- */

static void free_stream(pool_stream *stream)
{
    brume_session_close(stream->session);
    free(stream->user);
    free(stream);
}

/* With the lock held. */
static void remove_stream(brume_pool *pool, const pool_stream *stream)
{
    pool_stream **place = &pool->streams;
    while (*place && *place != stream)
        place = &(*place)->next;
    if (*place)
        *place = stream->next;
}

uint64_t brume_pool_stream_datasets(const brume_pool *pool, const char *options)
{
    for (const pool_stream *one = pool->streams; one; one = one->next)
        if (options && strstr(options, one->id))
            return one->datasets;
    return ~(uint64_t)0;
}

/* Take the stream for a step of its user. */
static brume_status take(brume_pool *pool, const pool_job *job, const char *id, pool_stream **out,
                         brume_error *error)
{
    pool_stream *found = NULL;
    pthread_mutex_lock(&pool->lock);
    for (pool_stream *one = pool->streams; id && one; one = one->next)
        if (strcmp(one->id, id) == 0 && strcmp(one->user, job->user) == 0)
            found = one;
    bool busy = found && found->busy;
    if (found && !busy) {
        found->busy = true;
        found->start = job->start;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!found)
        return brume_fail(error, BRUME_EUNKNOWN,
                          "it ends with its last answer, and when it is left",
                          "no such stream is open");
    if (busy)
        return brume_fail(error, BRUME_EARGUMENT, "wait for its answer",
                          "the stream is at another question");
    *out = found;
    return BRUME_OK;
}

/* ---- while a step runs ---- */

/* What a stream writes to the ledger waits; `context` is the stream. */
static void hold(void *context, brume_session_phase_word phase)
{
    const pool_stream *stream = context;
    brume_pool *pool = stream->pool;
    if (phase != BRUME_SESSION_SPENT)
        return;
    pthread_mutex_lock(&pool->lock);
    double time = stream->start +
                  brume_pool_leaving_time(brume_pool_now() - stream->start, pool->options.quantum);
    while (brume_pool_now() < time && !pool->hurry)
        brume_pool_wait(pool, time);
    pthread_mutex_unlock(&pool->lock);
}

/* From here on the session may be cancelled by the deadline; until no_more_stops. */
static brume_status allow_stops(brume_pool *pool, pool_job *job, brume_session *session,
                                brume_error *error)
{
    pthread_mutex_lock(&pool->lock);
    bool stopped = job->stopped;
    if (!stopped)
        job->session = session;
    pthread_mutex_unlock(&pool->lock);
    return stopped ? brume_fail(error, BRUME_ECANCELLED, NULL, "the call was cancelled") : BRUME_OK;
}

static void no_more_stops(brume_pool *pool, pool_job *job)
{
    pthread_mutex_lock(&pool->lock);
    job->session = NULL;
    while (job->stoppers > 0)
        brume_pool_wait(pool, INFINITY);
    pthread_mutex_unlock(&pool->lock);
}

/* ---- the steps ---- */

static bool make_id(char id[33])
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(id + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static pool_stream *make_stream(brume_pool *pool, const pool_job *job)
{
    pool_stream *stream = calloc(1, sizeof *stream);
    char *user = strdup(job->user);
    if (!stream || !user || !make_id(stream->id)) {
        free(stream);
        free(user);
        return NULL;
    }
    stream->user = user;
    stream->pool = pool;
    stream->datasets = job->datasets;
    stream->start = job->start;
    return stream;
}

static brume_status open_step(brume_pool *pool, pool_job *job, json_t *options, json_t **answer,
                              brume_error *error)
{
    const char *name = json_string_value(json_object_get(options, "command"));
    char *command = name ? strdup(name) : NULL;
    if (!command)
        return brume_fail(error, BRUME_EARGUMENT, "for example \"stream above-threshold\"",
                          "'command' must say which stream is to be opened");
    if (json_object_get(options, "timeout")) { /* when it passes tells how long rows are read */
        free(command);
        return brume_fail(error, BRUME_EARGUMENT, "leave it out: the server has its own deadline",
                          "'timeout' is not for a stream on a server");
    }
    json_object_del(options, "command");
    char *text = json_dumps(options, JSON_COMPACT | JSON_REAL_PRECISION(17));
    pool_stream *stream = make_stream(pool, job);
    brume_status status = text && stream
                              ? brume_pool_open_session(pool, job, &stream->session, error)
                              : brume_no_memory(error, "the stream");
    if (status == BRUME_OK)
        status = allow_stops(pool, job, stream->session, error);
    if (status == BRUME_OK) {
        brume_session_on_phase(stream->session, hold, stream);
        status = brume_session_stream_open(stream->session, command, text, error);
        no_more_stops(pool, job);
    }
    free(command);
    free(text);
    if (status != BRUME_OK) {
        if (stream)
            free_stream(stream);
        return status;
    }
    *answer = json_pack("{s:s}", "stream", stream->id);
    pthread_mutex_lock(&pool->lock);
    stream->used = brume_pool_now();
    stream->next = pool->streams;
    pool->streams = stream;
    pthread_mutex_unlock(&pool->lock);
    return *answer ? BRUME_OK : brume_no_memory(error, "the stream");
}

/* End it, with what became of its record; the step has the stream. */
static brume_status end_stream(brume_pool *pool, pool_stream *stream, brume_error *error)
{
    brume_status status = brume_session_stream_close(stream->session, error);
    pthread_mutex_lock(&pool->lock);
    remove_stream(pool, stream);
    pthread_mutex_unlock(&pool->lock);
    free_stream(stream);
    return status;
}

/* A wrong question costs nothing, and the stream goes on. */
static bool goes_on(brume_status status)
{
    int code = brume_status_exit_code(status);
    return status == BRUME_OK || code == 2 || code == 4;
}

static brume_status ask_step(brume_pool *pool, pool_job *job, const json_t *options,
                             json_t **answer, brume_error *error)
{
    const char *question = json_string_value(json_object_get(options, "question"));
    pool_stream *stream = NULL;
    char *text = NULL;
    bool halted = false;
    if (!question)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'question' must be a text");
    BRUME_TRY(
        take(pool, job, json_string_value(json_object_get(options, "stream")), &stream, error));
    brume_status status = allow_stops(pool, job, stream->session, error);
    if (status == BRUME_OK) {
        status = brume_session_stream_ask(stream->session, question, &text, &halted, error);
        no_more_stops(pool, job);
    }
    if (status == BRUME_OK) {
        *answer = json_pack("{s:s,s:b}", "answer", text, "halted", halted);
        status = *answer ? BRUME_OK : brume_no_memory(error, "the answer");
    }
    brume_free(text);
    if (halted || !goes_on(status)) {
        brume_error ignored; /* the answer was given, or another error is told */
        (void)!end_stream(pool, stream, &ignored);
        return status;
    }
    pthread_mutex_lock(&pool->lock);
    stream->busy = false;
    stream->used = brume_pool_now();
    pthread_cond_broadcast(&pool->changed); /* the clock has another time to keep */
    pthread_mutex_unlock(&pool->lock);
    return status;
}

static brume_status close_step(brume_pool *pool, pool_job *job, const json_t *options,
                               json_t **answer, brume_error *error)
{
    pool_stream *stream = NULL;
    BRUME_TRY(
        take(pool, job, json_string_value(json_object_get(options, "stream")), &stream, error));
    BRUME_TRY(end_stream(pool, stream, error));
    *answer = json_pack("{s:b}", "closed", 1);
    return *answer ? BRUME_OK : brume_no_memory(error, "the answer");
}

brume_status brume_pool_stream_step(brume_pool *pool, pool_job *job, brume_pool_result *result)
{
    json_t *options = json_loads(job->options ? job->options : "{}", 0, NULL), *answer = NULL;
    brume_error *error = &result->error;
    brume_status status =
        !json_is_object(options)
            ? brume_fail(error, BRUME_EARGUMENT, NULL, "options must be a JSON object")
        : strcmp(job->command, open_word) == 0 ? open_step(pool, job, options, &answer, error)
        : strcmp(job->command, ask_word) == 0  ? ask_step(pool, job, options, &answer, error)
                                               : close_step(pool, job, options, &answer, error);
    json_decref(options);
    if (status == BRUME_OK)
        result->json = json_dumps(answer, JSON_COMPACT);
    json_decref(answer);
    return status != BRUME_OK || result->json ? status : brume_no_memory(error, "the answer");
}

/* ---- those that are left ---- */

static void drop_result(void *context, brume_pool_result *result)
{
    (void)context;
    brume_free(result->json);
}

bool brume_pool_end_idle_stream(brume_pool *pool, double now, double *next)
{
    double longest = pool->options.deadline > 0 ? pool->options.deadline : LONGEST_IDLE;
    for (pool_stream *one = pool->streams; one; one = one->next) {
        if (one->busy || one->ending)
            continue;
        if (one->used + longest > now) {
            *next = fmin(*next, one->used + longest);
            continue;
        }
        char options[64];
        snprintf(options, sizeof options, "{\"stream\":\"%s\"}", one->id);
        const brume_pool_request request = {
            .user = one->user, .command = close_word, .options = options};
        one->ending = brume_pool_add_job(pool, &request, drop_result);
        return one->ending;
    }
    return false;
}

void brume_pool_drop_streams(brume_pool *pool)
{
    pool_stream *stream = pool->streams;
    while (stream) {
        if (stream->busy) { /* of a worker that hangs */
            stream = stream->next;
            continue;
        }
        remove_stream(pool, stream);
        pthread_mutex_unlock(&pool->lock);
        free_stream(stream); /* records how far it came */
        pthread_mutex_lock(&pool->lock);
        stream = pool->streams;
    }
}
