/* Reading a table of PostgreSQL in parts, on several connections at once.
 *
 * A part is a range of ctid, the place of a row version in the table's file. The ranges are
 * disjoint, the first begins at the first place and the last has no end, so that every row version
 * is in exactly one of them, whatever the table's size is by then. In a table with partitions or
 * children a range stands for the same places in each of them.
 *
 * All connections read one snapshot: the first exports it, the others import it before they read
 * anything. So together the parts are the rows of one moment, each once, as one statement would
 * give them. A connection that cannot be opened is done without; any other failure ends all. */
#include "engine/postgres.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

enum {
    PAGES_LEAST = 1024,      /* of 8 KiB: a smaller table is not divided */
    PARTS_PER_CONNECTION = 4 /* so that none waits long for the last */
};

/* $BRUME_CONNECTIONS, else one per processor. */
static size_t connections(void)
{
    const char *typed = getenv("BRUME_CONNECTIONS");
    long count = typed && *typed ? strtol(typed, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
    if (count < 1)
        return 1;
    return count > BRUME_POSTGRES_CONNECTIONS ? BRUME_POSTGRES_CONNECTIONS : (size_t)count;
}

/* ---- parts ---- */

/* The pages of the largest of the files that the table is made of; 0 where it is not to be divided:
 * ranges of ctid are quick since version 14, and are what they seem in ordinary tables only, so a
 * view, a foreign table or another way of storage anywhere below forbids it. */
static brume_status count_pages(brume_postgres *state, const char *oid, long long *pages,
                                brume_error *error)
{
    *pages = 0;
    if (!oid || PQserverVersion(state->connection) < 140000)
        return BRUME_OK;
    const char *const parameters[] = {oid};
    int rows = 0;
    char *cell = brume_postgres_cell(
        state,
        "WITH RECURSIVE part(oid) AS (SELECT $1::oid UNION SELECT i.inhrelid FROM part JOIN "
        "pg_catalog.pg_inherits i ON i.inhparent = part.oid) SELECT CASE WHEN pg_catalog.bool_and("
        "c.relkind = 'p' OR (c.relkind = 'r' AND a.amname = 'heap')) THEN pg_catalog.max(CASE WHEN "
        "c.relkind = 'r' THEN pg_catalog.pg_relation_size(c.oid) / 8192 ELSE 0 END) ELSE 0 "
        "END::text FROM part JOIN pg_catalog.pg_class c ON c.oid = part.oid LEFT JOIN "
        "pg_catalog.pg_am a ON a.oid = c.relam",
        parameters, 1, &rows);
    if (rows < 0)
        return brume_postgres_failed(state, error);
    *pages = cell ? strtoll(cell, NULL, 10) : 0;
    free(cell);
    return BRUME_OK;
}

/* The rows of `table` from page `first` on and before page `end`; negative: no end. */
static char *print_part(const char *table, long long first, long long end)
{
    if (end < 0)
        return brume_engine_format("(SELECT * FROM %s WHERE ctid >= '(%lld,0)'::tid) AS \"part\"",
                                   table, first);
    return brume_engine_format(
        "(SELECT * FROM %s WHERE ctid >= '(%lld,0)'::tid AND ctid < '(%lld,0)'::tid) AS \"part\"",
        table, first, end);
}

brume_status brume_postgres_divide(brume_engine *engine, size_t index, brume_parts *parts,
                                   brume_error *error)
{
    brume_postgres *state = engine->state;
    long long pages = 0, count = (long long)connections() * PARTS_PER_CONNECTION;
    if (count == PARTS_PER_CONNECTION || state->held)
        return BRUME_OK; /* one connection, or a snapshot that is already kept */
    BRUME_TRY(count_pages(state, state->sources[index].oid, &pages, error));
    if (pages < PAGES_LEAST)
        return BRUME_OK;
    for (long long i = 0; i < count; i++)
        BRUME_TRY(brume_parts_add(parts,
                                  print_part(engine->tables[index], pages * i / count,
                                             i + 1 < count ? pages * (i + 1) / count : -1),
                                  error));
    return BRUME_OK;
}

/* ---- scanning them ---- */

typedef struct worker worker;

/* What the connections share. */
typedef struct scan {
    brume_engine *engine;
    const char *const *statements;
    size_t count;
    const brume_wire *wires;
    size_t wire_count;
    brume_row_taker take;
    void *context;
    atomic_size_t next; /* the first statement that nobody has taken */
    atomic_bool stop;   /* one of them has failed */
    worker *failed;     /* the first that did; known when all have ended */
} scan;

struct worker {
    scan *all;
    brume_engine engine;  /* what is needed of one to run statements on its connection */
    brume_postgres state; /* the first worker has that of the scan's engine instead */
    pthread_t thread;
    bool started;
    brume_status status;
    brume_error error;
};

static bool is_over(scan *all)
{
    return atomic_load(&all->stop) || atomic_load(&all->engine->cancelled);
}

static brume_status take_unless_stopped(void *context, const brume_chunk *chunk, brume_error *error)
{
    scan *all = context;
    if (is_over(all))
        return brume_fail(error, BRUME_ECANCELLED, NULL, "another connection failed");
    return all->take(all->context, chunk, error);
}

static void *run_worker(void *argument)
{
    worker *self = argument;
    scan *all = self->all;
    while (self->status == BRUME_OK && !is_over(all)) {
        size_t at = atomic_fetch_add(&all->next, 1);
        if (at >= all->count)
            break;
        self->status = brume_engine_scan(&self->engine, all->statements[at], all->wires,
                                         all->wire_count, take_unless_stopped, all, &self->error);
    }
    if (self->status != BRUME_OK && !atomic_exchange(&all->stop, true)) {
        all->failed = self;
        all->engine->driver->cancel(all->engine); /* what the others read is for nothing */
    }
    return NULL;
}

/* Open the transaction in which this connection's statements run; of the first one with NULL, of
 * the others on its snapshot. */
static bool begin(brume_postgres *state, const char *snapshot)
{
    if (!brume_postgres_run(state, "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
        return false;
    state->held = true;
    if (!snapshot)
        return true;
    char *sql = brume_engine_format("SET TRANSACTION SNAPSHOT '%s'", snapshot);
    bool done = sql && brume_postgres_run(state, sql);
    free(sql);
    return done;
}

static void make_worker(worker *self, scan *all, brume_postgres *state)
{
    self->all = all;
    self->engine.driver = all->engine->driver;
    self->engine.state = state;
    atomic_init(&self->engine.cancelled, false);
}

/* One more connection on the snapshot; false: there is none to be had. */
static bool open_worker(worker *self, scan *all, const char *snapshot)
{
    brume_postgres *first = all->engine->state;
    size_t number = atomic_load(&first->other_count);
    make_worker(self, all, &self->state);
    if (number == BRUME_POSTGRES_CONNECTIONS ||
        brume_postgres_connect(&self->state, first->location, first->password, NULL) != BRUME_OK ||
        !begin(&self->state, snapshot)) {
        brume_postgres_disconnect(&self->state);
        return false;
    }
    first->others[number] = PQgetCancel(self->state.connection);
    if (!first->others[number]) {
        brume_postgres_disconnect(&self->state);
        return false;
    }
    atomic_store(&first->other_count, number + 1);
    return true;
}

/* Signals are the host's: the thread gets none. */
static bool start_worker(worker *self)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    self->started = pthread_create(&self->thread, NULL, run_worker, self) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return self->started;
}

/* Run all statements on the connections that there are, of which the first is this thread's. */
static void run_workers(worker *workers, size_t count)
{
    for (size_t i = 1; i < count; i++)
        (void)start_worker(&workers[i]); /* the others do its work */
    (void)run_worker(&workers[0]);
    for (size_t i = 1; i < count; i++)
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
}

static brume_status scan_on_snapshot(scan *all, const char *snapshot, brume_error *error)
{
    size_t wanted = connections(), count = 1;
    wanted = wanted < all->count ? wanted : all->count;
    worker *workers = calloc(wanted, sizeof *workers);
    if (!workers)
        return brume_no_memory(error, NULL);
    make_worker(&workers[0], all, all->engine->state);
    while (count < wanted && open_worker(&workers[count], all, snapshot))
        count++;
    run_workers(workers, count);
    /* The failure that stopped the others, not what it made of them: the server ends their
     * statements with errors of its own. */
    brume_status status = all->failed ? all->failed->status : BRUME_OK;
    if (all->failed && error)
        *error = all->failed->error;
    for (size_t i = 1; i < count; i++)
        brume_postgres_disconnect(&workers[i].state);
    free(workers);
    return status;
}

brume_status brume_postgres_scan_parts(brume_engine *engine, const char *const *statements,
                                       size_t count, const brume_wire *wires, size_t wire_count,
                                       brume_row_taker take, void *context, brume_error *error)
{
    brume_postgres *state = engine->state;
    scan all = {.engine = engine,
                .statements = statements,
                .count = count,
                .wires = wires,
                .wire_count = wire_count,
                .take = take,
                .context = context};
    int rows = 0;
    if (!begin(state, NULL)) {
        state->held = false;
        return brume_postgres_failed(state, error);
    }
    char *snapshot =
        brume_postgres_cell(state, "SELECT pg_catalog.pg_export_snapshot()", NULL, 0, &rows);
    brume_status status = snapshot ? scan_on_snapshot(&all, snapshot, error)
                                   : brume_postgres_failed(state, error);
    free(snapshot);
    state->held = false;
    bool ended = brume_postgres_run(state, status == BRUME_OK ? "COMMIT" : "ROLLBACK");
    return status == BRUME_OK && !ended ? brume_postgres_failed(state, error) : status;
}
