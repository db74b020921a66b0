/* A stream that a registered dataset pays for.
 *
 * Promises: its price is on the ledger before the first question is read; how far it came is beside
 * the ledger before each answer is told, in the ledger within a second, and there at its end,
 * however it ends. */
#include "command/stream/stream.h"

#include <string.h>
#include <time.h>

#include <brume/mechanism/expression.h>
#include <brume/mechanism/mechanism.h>

#include "number/rounding.h"

enum { WHAT = 4096 };

typedef struct charged_run {
    const brume_stream_charge *charge;
    const brume_charged_stream *on;
    uint64_t asked, hits, recorded; /* recorded: how many were asked by the newest row */
    double recorded_at;             /* seconds of the monotonic clock */
    bool halted;
} charged_run;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Write down how far it came. Others see that in the ledger: the watch says when. */
static brume_status record(charged_run *run, brume_error *error)
{
    const brume_watch *watch = run->on->watch;
    if (watch)
        watch->enter(watch->context, BRUME_PHASE_SPENT, NULL);
    run->recorded = run->asked;
    run->recorded_at = now();
    brume_status status =
        brume_ledger_progress(run->on->ledger, run->on->reservation, run->asked, run->hits, error);
    if (watch)
        watch->enter(watch->context, BRUME_PHASE_RUNNING, run->on->engine);
    return status;
}

static brume_status ask(void *context, const char *line, brume_stream_answer *answer,
                        brume_error *error)
{
    charged_run *run = context;
    BRUME_TRY(run->charge->source.ask(run->charge->source.context, line, answer, error));
    run->halted = answer->halted;
    return brume_ledger_stream_note(run->on->ledger, run->on->reservation, run->asked + 1,
                                    run->hits + answer->above, error);
}

static brume_status pause_run(void *context, uint64_t asked, uint64_t hits, brume_error *error)
{
    charged_run *run = context;
    const brume_watch *watch = run->on->watch;
    run->asked = asked;
    run->hits = hits;
    if (watch && watch->stopped(watch->context))
        return brume_fail(error, BRUME_ECANCELLED, NULL, "interrupted");
    return run->asked != run->recorded && now() - run->recorded_at >= 1 ? record(run, error)
                                                                        : BRUME_OK;
}

static brume_status answer_all(void *context, const brume_charged_stream *on, json_t **answer,
                               brume_error *error)
{
    const brume_stream_charge *charge = context;
    charged_run run = {.charge = charge, .on = on};
    brume_stream_source source = {
        .ask = ask, .write = charge->source.write, .pause = pause_run, .context = &run};
    BRUME_TRY(record(&run, error));
    brume_status status = charge->open(charge->source.context, on, error);
    if (status == BRUME_OK)
        status = brume_stream_run(charge->call, &source, error);
    charge->close(charge->source.context);
    brume_status recorded = record(&run, status == BRUME_OK ? error : NULL);
    if (status != BRUME_OK || recorded != BRUME_OK)
        return status != BRUME_OK ? status : recorded;
    *answer = json_pack("{s:I,s:I,s:b}", "asked", (json_int_t)run.asked, "hits",
                        (json_int_t)run.hits, "halted", run.halted);
    return *answer ? BRUME_OK : brume_no_memory(error, "a stream");
}

/* The command as it was typed, without what only this machine knows. */
static brume_status describe(brume_call *call, const char **what, brume_error *error)
{
    static const char *const local[] = {"ledger", "timeout", NULL};
    BRUME_TRY(brume_call_describe(call, call->command->name, local, false, what, error));
    return strlen(*what) < WHAT ? BRUME_OK
                                : brume_fail(error, BRUME_EARGUMENT, NULL,
                                             "the options are longer than %d bytes", (int)WHAT);
}

/* The events as texts, and what they cost in rho together; 0 where one has no rho. */
static brume_status price_events(const brume_stream_charge *charge, json_t *events, double *rho,
                                 brume_error *error)
{
    bool known = true;
    *rho = 0;
    for (size_t i = 0; i < charge->event_count; i++) {
        char text[256];
        brume_cost cost;
        BRUME_TRY(brume_event_cost(&charge->events[i], &cost, error));
        BRUME_TRY(brume_event_write(&charge->events[i], text, sizeof text, error));
        known = known && cost.concentrated != BRUME_ABSENT;
        /* up: a cost */
        *rho = brume_add_up(*rho, brume_multiply_up(cost.rho, (double)charge->events[i].count));
        if (json_array_append_new(events, json_string(text)) != 0)
            return brume_no_memory(error, "a stream");
    }
    if (!known)
        *rho = 0;
    return BRUME_OK;
}

brume_status brume_stream_run_charged(brume_ledger *ledger, const brume_stream_charge *charge,
                                      const brume_watch *watch, brume_bits *bits,
                                      brume_error *error)
{
    const char *what = NULL;
    double rho_upper = 0;
    BRUME_TRY(describe(charge->call, &what, error));
    json_t *answer = NULL, *events = json_array();
    BRUME_TRY(brume_call_keep_json(charge->call, events, error));
    BRUME_TRY(price_events(charge, events, &rho_upper, error));
    brume_charged charged = {.dataset = brume_call_text(charge->call, "dataset"),
                             .adjacency = charge->adjacency,
                             .epsilon = charge->epsilon,
                             .delta = charge->delta,
                             .rho = charge->rho,
                             .rho_upper = rho_upper,
                             .events = events,
                             .fresh = true,
                             .needs_rows = charge->needs_rows,
                             .what = what,
                             .stream = answer_all,
                             .context = (void *)charge};
    brume_status status = brume_charged_release(ledger, &charged, bits, watch, &answer, error);
    json_decref(answer);
    return status;
}
