/* Rates, counts, the log and the record. Promises: guard.h. */
#include "serve/http/guard.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "serve/http/record.h"

enum { MOST_BUCKETS = 4096, CODES = 600 };

typedef struct bucket {
    char *user;
    double level, time; /* requests that may pass, as of `time` */
    size_t connections; /* that are open */
    uint64_t held;      /* bytes of answers */
} bucket;

struct brume_http_guard {
    pthread_mutex_t lock;
    double rate;
    size_t connections;
    uint64_t memory;
    FILE *log;
    brume_http_record *record; /* NULL: none */
    bucket *buckets;
    size_t count;
    uint64_t answers[CODES], limited;
};

brume_http_guard *brume_http_guard_open(const brume_http_guard_options *options)
{
    brume_http_guard *guard = calloc(1, sizeof *guard);
    brume_http_record *record = options->requests ? brume_http_record_open(options->requests)
                                                  : NULL;
    if (!guard || (options->requests && !record)) {
        free(guard);
        brume_http_record_close(record);
        return NULL;
    }
    pthread_mutex_init(&guard->lock, NULL);
    guard->rate = options->rate;
    guard->connections = options->connections;
    guard->memory = options->memory;
    guard->log = options->log;
    guard->record = record;
    return guard;
}

/* All users, or those without a connection. */
static void forget(brume_http_guard *guard, bool all)
{
    size_t kept = 0;
    for (size_t i = 0; i < guard->count; i++) {
        if (!all && guard->buckets[i].connections > 0)
            guard->buckets[kept++] = guard->buckets[i];
        else
            free(guard->buckets[i].user);
    }
    guard->count = kept;
}

void brume_http_guard_close(brume_http_guard *guard)
{
    if (!guard)
        return;
    forget(guard, true);
    free(guard->buckets);
    brume_http_record_close(guard->record);
    pthread_mutex_destroy(&guard->lock);
    free(guard);
}

/* ---- rates and connections ---- */

static bucket *known_bucket(brume_http_guard *guard, const char *user)
{
    for (size_t i = 0; i < guard->count; i++)
        if (strcmp(guard->buckets[i].user, user) == 0)
            return &guard->buckets[i];
    return NULL;
}

static bucket *find_bucket(brume_http_guard *guard, const char *user, double now)
{
    bucket *known = known_bucket(guard, user);
    if (known)
        return known;
    if (guard->count >= MOST_BUCKETS)
        forget(guard, false); /* more users than this: buckets start full again */
    bucket *longer = realloc(guard->buckets, (guard->count + 1) * sizeof *longer);
    char *copy = strdup(user);
    if (longer)
        guard->buckets = longer;
    if (!longer || !copy) {
        free(copy);
        return NULL;
    }
    guard->buckets[guard->count] = (bucket){.user = copy, .level = 2 * guard->rate, .time = now};
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

bool brume_http_guard_enter(brume_http_guard *guard, const char *user)
{
    struct timespec time = {0};
    clock_gettime(CLOCK_MONOTONIC, &time);
    pthread_mutex_lock(&guard->lock);
    bucket *mine = find_bucket(guard, user, (double)time.tv_sec + (double)time.tv_nsec * 1e-9);
    bool enters = mine && (guard->connections == 0 || mine->connections < guard->connections);
    if (enters)
        mine->connections++;
    pthread_mutex_unlock(&guard->lock);
    return enters;
}

void brume_http_guard_leave(brume_http_guard *guard, const char *user)
{
    pthread_mutex_lock(&guard->lock);
    bucket *mine = known_bucket(guard, user); /* it stays while it has connections */
    if (mine && mine->connections > 0)
        mine->connections--;
    pthread_mutex_unlock(&guard->lock);
}

/* ---- what a user's answers and work take ---- */

bool brume_http_guard_hold(brume_http_guard *guard, const char *user, size_t bytes)
{
    pthread_mutex_lock(&guard->lock);
    bucket *mine = known_bucket(guard, user); /* it stays while it has connections */
    bool fits = mine && (guard->memory == 0 ||
                         (mine->held <= guard->memory && bytes <= guard->memory - mine->held));
    if (fits)
        mine->held += bytes;
    pthread_mutex_unlock(&guard->lock);
    return fits;
}

void brume_http_guard_drop(brume_http_guard *guard, const char *user, size_t bytes)
{
    pthread_mutex_lock(&guard->lock);
    bucket *mine = known_bucket(guard, user);
    if (mine)
        mine->held -= bytes < mine->held ? bytes : mine->held;
    pthread_mutex_unlock(&guard->lock);
}

/* ---- the log and the record ---- */

bool brume_http_guard_records(brume_http_guard *guard)
{
    return !guard->record || brume_http_record_is_good(guard->record);
}

static void write_line(brume_http_guard *guard, json_t *line, bool is_recorded)
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
    if (is_recorded)
        brume_http_record_add(guard->record, text ? text : "{}"); /* one without memory */
    free(text);
    json_decref(line);
}

void brume_http_guard_note(brume_http_guard *guard, const char *user, const char *method,
                           const char *route, unsigned code, double seconds)
{
    pthread_mutex_lock(&guard->lock);
    guard->answers[code < CODES ? code : 0]++;
    pthread_mutex_unlock(&guard->lock);
    bool is_recorded = guard->record && user;
    if (!guard->log && !is_recorded)
        return;
    json_t *line = json_pack("{s:s?,s:s,s:s,s:i,s:I}", "user", user, "method", method, "route",
                             route, "code", (int)code, "ms", (json_int_t)ceil(seconds * 1e3));
    if (line)
        write_line(guard, line, is_recorded);
}

void brume_http_guard_event(brume_http_guard *guard, const char *event, const char *detail)
{
    json_t *line = json_pack("{s:s,s:s?}", "event", event, "detail", detail);
    if (line)
        write_line(guard, line, guard->record != NULL);
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
