/* brume ledger witness: the newest head of the journal, kept elsewhere (ledger/witness.h); and the
 * server that keeps one. */
#include "ledger/witness.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "command/command.h"
#include "command/frame/call.h"
#include "command/frame/output.h"
#include "command/ledger/open_ledger.h"
#include "engine/libpq.h"

/* ---- a table of a PostgreSQL server: brume_witness(ledger, rows, hash) ---- */

typedef struct server {
    PGconn *connection;
    char *url;
} server;

static void close_server(void *state)
{
    server *at = state;
    if (at && at->connection)
        PQfinish(at->connection);
    if (at)
        free(at->url);
    free(at);
}

/* A server's own words may name hosts and passwords. */
static brume_status server_failed(brume_error *error)
{
    return brume_fail(error, BRUME_EDISK, NULL,
                      "its server cannot be reached, or has no table for us");
}

static brume_status connect_to(server *at, brume_error *error)
{
    static const char *const names[] = {"dbname", "connect_timeout", "options", "application_name",
                                        NULL};
    const char *const values[] = {
        at->url, "10", "-c statement_timeout=10000 -c synchronous_commit=on", "brume", NULL};
    if (at->connection && PQstatus(at->connection) == CONNECTION_OK)
        return BRUME_OK;
    if (at->connection)
        PQfinish(at->connection);
    at->connection = PQconnectdbParams(names, values, 1);
    if (!at->connection || PQstatus(at->connection) != CONNECTION_OK)
        return server_failed(error);
    PGresult *made = PQexecParams(at->connection,
                                  "CREATE TABLE IF NOT EXISTS brume_witness(ledger text PRIMARY "
                                  "KEY, rows bigint NOT NULL, hash text NOT NULL)",
                                  0, NULL, NULL, NULL, NULL, 0);
    PQclear(made); /* where it may not be made, it may be there */
    return BRUME_OK;
}

static brume_status reach(void **state, const char *url, server **out, brume_error *error)
{
    server *at = *state;
    BRUME_TRY(brume_libpq_load(error));
    if (at && strcmp(at->url, url) != 0) {
        close_server(at);
        *state = at = NULL;
    }
    if (!at) {
        at = calloc(1, sizeof *at);
        if (!at || !(at->url = strdup(url))) {
            free(at);
            return brume_no_memory(error, "the witness");
        }
        *state = at;
    }
    *out = at;
    return connect_to(at, error);
}

/* The rows that a statement gives; a connection that broke since it was used is made once more. */
static brume_status ask_server(void **state, const char *url, const char *sql, int count,
                               const char *const *values, PGresult **out, brume_error *error)
{
    server *at = NULL;
    for (int attempt = 0;; attempt++) {
        BRUME_TRY(reach(state, url, &at, error));
        PGresult *result = PQexecParams(at->connection, sql, count, NULL, values, NULL, NULL, 0);
        if (PQresultStatus(result) == PGRES_TUPLES_OK) {
            *out = result;
            return BRUME_OK;
        }
        PQclear(result);
        if (attempt > 0 || PQstatus(at->connection) == CONNECTION_OK)
            return server_failed(error);
    }
}

static brume_status read_head(void **state, const char *url, const char *ledger, brume_head *head,
                              brume_error *error)
{
    PGresult *result = NULL;
    *head = (brume_head){0};
    BRUME_TRY(ask_server(state, url, "SELECT rows, hash FROM brume_witness WHERE ledger = $1", 1,
                         &ledger, &result, error));
    if (PQntuples(result) == 1) {
        head->rows = strtoull(PQgetvalue(result, 0, 0), NULL, 10);
        snprintf(head->hash, sizeof head->hash, "%s", PQgetvalue(result, 0, 1));
    }
    PQclear(result);
    return BRUME_OK;
}

/* A statement that was sent may have been carried out though its answer was lost: then the head is
 * what it was to be. */
static brume_status replace_head(void **state, const char *url, const char *ledger,
                                 const brume_head *before, const brume_head *after,
                                 brume_error *error)
{
    char rows[24], old[24];
    PGresult *result = NULL;
    brume_head now;
    snprintf(rows, sizeof rows, "%" PRIu64, after->rows);
    snprintf(old, sizeof old, "%" PRIu64, before->rows);
    const char *const values[] = {ledger, rows, after->hash, old, before->hash};
    BRUME_TRY(ask_server(
        state, url,
        before->rows ? "UPDATE brume_witness SET rows = $2::bigint, hash = $3 WHERE ledger = $1 "
                       "AND rows = $4::bigint AND hash = $5 RETURNING 1"
                     : "INSERT INTO brume_witness(ledger, rows, hash) VALUES($1, $2::bigint, $3) "
                       "ON CONFLICT DO NOTHING RETURNING 1",
        before->rows ? 5 : 3, values, &result, error));
    bool done = PQntuples(result) == 1;
    PQclear(result);
    if (done)
        return BRUME_OK;
    BRUME_TRY(read_head(state, url, ledger, &now, error));
    return now.rows == after->rows && strcmp(now.hash, after->hash) == 0
               ? BRUME_OK
               : brume_fail(error, BRUME_EDAMAGED, "is a copy of this ledger in use elsewhere?",
                            "another ledger has told the witness meanwhile");
}

const brume_witness_server brume_postgres_witness = {read_head, replace_head, close_server};

/* ---- the command ---- */

/* A path that means the same wherever brume is started. */
static brume_status absolute(brume_call *call, const char *place, const char **out,
                             brume_error *error)
{
    char here[PATH_MAX], *made = NULL;
    *out = place;
    if (*place == '/' || strncmp(place, "exec:", 5) == 0 || strstr(place, "://"))
        return BRUME_OK;
    if (!getcwd(here, sizeof here))
        return brume_fail(error, BRUME_EDISK, NULL, "the current folder: %s", strerror(errno));
    size_t size = strlen(here) + strlen(place) + 2;
    if (!(made = malloc(size)))
        return brume_no_memory(error, "the witness");
    snprintf(made, size, "%s/%s", here, place);
    *out = made;
    return brume_call_keep(call, free, made, error);
}

static void write_text(const brume_call *call, const brume_witness_report *report)
{
    if (report->state == BRUME_WITNESS_NONE) {
        fprintf(call->out, "no witness: an older copy of the ledger that is put back is noticed by "
                           "'ledger verify --against' an export only\n");
    } else {
        fprintf(call->out, "witness:  %s\n", report->place);
        if (report->head.rows > 0)
            fprintf(call->out, "it saw:   row %" PRIu64 " of %" PRIu64 "\n", report->head.rows,
                    report->rows);
        fprintf(call->out, "state:    %s\n",
                report->state == BRUME_WITNESS_AGREES ? "the ledger is not behind" : report->why);
        fprintf(call->out, "if it cannot be reached: %s\n",
                report->go_on ? "charges go on, without it" : "nothing is charged");
    }
    if (report->unwitnessed > 0)
        fprintf(call->out, "rows that were written without it: %" PRIu64 "\n", report->unwitnessed);
}

json_t *brume_witness_to_json(const brume_witness_report *report)
{
    return json_pack("{s:s,s:s?,s:s,s:o,s:I,s:I,s:s?}", "state", brume_witness_word(report->state),
                     "place", report->place, "unreachable", report->go_on ? "go-on" : "refuse",
                     "saw",
                     report->head.rows ? json_integer((json_int_t)report->head.rows) : json_null(),
                     "rows", (json_int_t)report->rows, "unwitnessed",
                     (json_int_t)report->unwitnessed, "why", *report->why ? report->why : NULL);
}

static brume_status run_witness(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_witness_report report = {0};
    const char *typed = brume_call_operand(call, 0);
    const char *unreachable = brume_call_text(call, "unreachable");
    bool remove = brume_call_has(call, "remove"), sets = typed || remove;
    brume_witness_choice choice = {.go_on = unreachable && strcmp(unreachable, "go-on") == 0,
                                   .accept_older = brume_call_has(call, "accept-older")};
    if (typed && remove)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--remove' names no place");
    if (!typed && (unreachable || (choice.accept_older && !remove)))
        return brume_fail(error, BRUME_EARGUMENT, "brume ledger witness PLACE ...",
                          "name the place, also where it stays");
    if (typed && !*typed)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "the place is empty");
    if (typed)
        BRUME_TRY(absolute(call, typed, &choice.place, error));
    BRUME_TRY(brume_call_open_ledger(call, sets ? BRUME_LEDGER_WRITE : BRUME_LEDGER_READ, &ledger,
                                     error));
    if (sets)
        BRUME_TRY(brume_ledger_set_witness(ledger, &choice, error));
    BRUME_TRY(brume_ledger_ask_witness(ledger, &report, error));
    brume_status status = BRUME_OK;
    if (call->json)
        status = brume_call_write_json(call, brume_witness_to_json(&report), error);
    else
        write_text(call, &report);
    free(report.place);
    return status;
}

const brume_command brume_command_ledger_witness = {
    .name = "ledger witness",
    .summary = "keep the newest head of the ledger elsewhere",
    .description =
        "Somebody who may write the ledger's file can put back an older copy of it, which forgets "
        "charges. A witness keeps the newest head of the journal, its number of rows and their "
        "hash, at a place that such a person does not reach: a file on another volume, a "
        "PostgreSQL server, or whatever a command keeps. Before each charge the ledger must "
        "continue the witness's head, or nothing is charged; after it, and before anything is "
        "drawn, the witness gets the new one. A crash between the two blocks nothing.\n\n"
        "PLACE is a file; a postgresql:// URL, where brume makes the table brume_witness; or exec: "
        "and a command for sh, which is called with 'read LEDGER' and prints ROWS HASH, and with "
        "'keep LEDGER ROWS HASH OLDROWS OLDHASH' to replace the old head, durably. Without PLACE "
        "the witness is asked and nothing is changed.\n\n"
        "Where the witness cannot be reached nothing is charged, or with --unreachable go-on "
        "charges go on and their rows say so: who can cut the witness off can then put back an "
        "older copy. Set it when the ledger is made: a copy from before knows of no witness.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "PLACE", "a file, postgresql://..., or exec:COMMAND",
                                 .optional = true)),
    BRUME_OPTIONS(
        BRUME_OPTION(CHOICE, "unreachable", "WHAT",
                     "where it cannot be reached: refuse (as without the option), go-on",
                     .choices = (const char *const[]){"refuse", "go-on", NULL}),
        BRUME_FLAG("accept-older",
                   "the ledger is an older copy, put back knowingly: its charges since are lost"),
        BRUME_FLAG("remove", "have no witness any more"), BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("ledger witness witness.head", "ledger witness"),
    .run = run_witness,
};
