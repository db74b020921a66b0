/* Rates, counts and the log. Promises: guard.h. */
#include "serve/http/guard.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

enum { MOST_BUCKETS = 4096, CODES = 600 };

typedef struct bucket {
    char *user;
    double level, time; /* requests that may pass, as of `time` */
} bucket;

struct brume_http_guard {
    pthread_mutex_t lock;
    double rate;
    FILE *log;
    bucket *buckets;
    size_t count;
    uint64_t answers[CODES], limited;
};

brume_http_guard *brume_http_guard_open(double rate, FILE *log)
{
    brume_http_guard *guard = calloc(1, sizeof *guard);
    if (!guard)
        return NULL;
    pthread_mutex_init(&guard->lock, NULL);
    guard->rate = rate;
    guard->log = log;
    return guard;
}

static void forget(brume_http_guard *guard)
{
    for (size_t i = 0; i < guard->count; i++)
        free(guard->buckets[i].user);
    guard->count = 0;
}

void brume_http_guard_close(brume_http_guard *guard)
{
    if (!guard)
        return;
    forget(guard);
    free(guard->buckets);
    pthread_mutex_destroy(&guard->lock);
    free(guard);
}

/* ---- rates ---- */

static bucket *find_bucket(brume_http_guard *guard, const char *user, double now)
{
    for (size_t i = 0; i < guard->count; i++)
        if (strcmp(guard->buckets[i].user, user) == 0)
            return &guard->buckets[i];
    if (guard->count == MOST_BUCKETS)
        forget(guard); /* more users than this: every bucket starts full again */
    bucket *longer = realloc(guard->buckets, (guard->count + 1) * sizeof *longer);
    char *copy = strdup(user);
    if (longer)
        guard->buckets = longer;
    if (!longer || !copy) {
        free(copy);
        return NULL;
    }
    guard->buckets[guard->count] = (bucket){copy, 2 * guard->rate, now};
    return &guard->buckets[guard->count++];
}

bool brume_http_guard_pass(brume_http_guard *guard, const char *user, double now)
{
    if (guard->rate <= 0)
        return true;
    pthread_mutex_lock(&guard->lock);
    bucket *mine = find_bucket(guard, user, now);
    bool pass = false; /* also without memory */
    if (mine) {
        mine->level = fmin(2 * guard->rate, mine->level + (now - mine->time) * guard->rate);
        mine->time = now;
        pass = mine->level >= 1;
        mine->level -= pass ? 1 : 0;
    }
    guard->limited += pass ? 0 : 1;
    pthread_mutex_unlock(&guard->lock);
    return pass;
}

/* ---- the log ---- */

static void write_line(brume_http_guard *guard, json_t *line)
{
    char time_text[32] = "";
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts))
        strftime(time_text, sizeof time_text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    json_object_set_new(line, "time", json_string(time_text));
    char *text = json_dumps(line, JSON_COMPACT | JSON_SORT_KEYS);
    if (text && guard->log) {
        fprintf(guard->log, "%s\n", text);
        fflush(guard->log);
    }
    free(text);
    json_decref(line);
}

void brume_http_guard_note(brume_http_guard *guard, const char *user, const char *method,
                           const char *route, unsigned code, double seconds)
{
    pthread_mutex_lock(&guard->lock);
    guard->answers[code < CODES ? code : 0]++;
    pthread_mutex_unlock(&guard->lock);
    if (!guard->log)
        return;
    json_t *line = json_pack("{s:s?,s:s,s:s,s:i,s:I}", "user", user, "method", method, "route",
                             route, "code", (int)code, "ms", (json_int_t)ceil(seconds * 1e3));
    if (line)
        write_line(guard, line);
}

void brume_http_guard_event(brume_http_guard *guard, const char *event, const char *detail)
{
    json_t *line = json_pack("{s:s,s:s?}", "event", event, "detail", detail);
    if (line)
        write_line(guard, line);
}

/* ---- metrics ---- */

static void write_number(FILE *out, const char *name, const char *type, const char *help,
                         uint64_t value)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n%s %llu\n", name, help, name, type, name,
            (unsigned long long)value);
}

char *brume_http_guard_metrics(brume_http_guard *guard, const brume_pool_counts *jobs,
                               unsigned connections)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    fprintf(out, "# HELP brume_answers_total answers given, by code\n"
                 "# TYPE brume_answers_total counter\n");
    pthread_mutex_lock(&guard->lock);
    for (int code = 0; code < CODES; code++)
        if (guard->answers[code] > 0)
            fprintf(out, "brume_answers_total{code=\"%d\"} %llu\n", code,
                    (unsigned long long)guard->answers[code]);
    uint64_t limited = guard->limited;
    pthread_mutex_unlock(&guard->lock);
    write_number(out, "brume_rate_limited_total", "counter", "requests over a user's rate",
                 limited);
    write_number(out, "brume_jobs_accepted_total", "counter", "calls taken", jobs->accepted);
    write_number(out, "brume_jobs_refused_total", "counter", "calls refused because too many wait",
                 jobs->refused);
    write_number(out, "brume_jobs_ended_total", "counter", "calls answered", jobs->ended);
    write_number(out, "brume_jobs_given_up_total", "counter", "calls that did not end in time",
                 jobs->given_up);
    write_number(out, "brume_jobs_waiting", "gauge", "calls that wait for a worker", jobs->waiting);
    write_number(out, "brume_jobs_running", "gauge", "calls that run", jobs->running);
    write_number(out, "brume_connections", "gauge", "open connections", connections);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
