/* Spending: reserve, read and draw, record. The one order in which an answer is paid for.
 *
 * 1. Nothing of an answer exists before its price is on disk; nothing is returned before the answer
 *    is recorded.
 * 2. From the reservation on the price stays spent, whatever happens, and every error says so. */
#ifndef BRUME_QUERY_SPEND_H
#define BRUME_QUERY_SPEND_H

#include <jansson.h>

#include "engine/engine.h"
#include "ledger/ledger.h"

/* Where an interruption finds a query. */
typedef enum brume_phase {
    BRUME_PHASE_FREE,      /* nothing is spent */
    BRUME_PHASE_RESERVING, /* the price is being written: spent or not, only the ledger knows */
    BRUME_PHASE_RUNNING,   /* spent; an engine runs, and can be cancelled */
    BRUME_PHASE_SPENT,     /* spent; noise was drawn, the answer is being recorded */
    BRUME_PHASE_RECORDED,  /* the answer is recorded: asking again is free */
} brume_phase;

/* It is told of each phase, so that the handler of an interruption knows what to do and to say; it
 * is asked whether the query is to stop. `engine`: one that runs, in RUNNING and, where public
 * tables alone are read, in FREE; else NULL. */
typedef struct brume_watch {
    void (*enter)(void *context, brume_phase phase, brume_engine *engine);
    const char *(*stopped)(void *context); /* why it is to stop ("interrupted"); NULL: it is not */
    void (*limit)(void *context,
                  double seconds); /* stop that long after the start, if not before */
    double timeout;                /* the seconds that were typed; 0: none */
    void *context;
} brume_watch;

enum { BRUME_TIMEOUT_MOST = 31622400 }; /* seconds: a year */

/* Put an owner's cap on the time (seconds; 0: none) into force; nothing without a watch. EPOLICY:
 * more was typed than the owner of `dataset` allows. */
BRUME_MUST_USE brume_status brume_spend_limit(const brume_watch *watch, double cap,
                                              const char *dataset, brume_error *error);

/* Make the answer from what the engine reads; true numbers may exist while it runs and not after.
 * `reservation` is the one that pays for it, for brume_ledger_note. */
typedef brume_status (*brume_make_answer)(void *context, brume_engine *engine, uint64_t reservation,
                                          json_t **answer, brume_error *error);

/* Reserve, make the answer, record it. The caller frees *answer. `watch` may be NULL. */
BRUME_MUST_USE brume_status brume_spend(brume_ledger *ledger, const brume_reservation *reservation,
                                        brume_engine *engine, brume_make_answer make, void *context,
                                        const brume_watch *watch, json_t **answer,
                                        brume_error *error);

/* What is left: {"epsilon","delta"} and, under concentrated, "rho". */
json_t *brume_left_to_json(const brume_charge *left);

/* What is left of a dataset's budget, or of an allotment. */
json_t *brume_budget_left(const brume_filter *filter);

/* A typed price in equal parts, as texts: one for each of the first, and what is left for the last;
 * together they are the price. */
BRUME_MUST_USE brume_status brume_spend_split(const char *typed, size_t parts,
                                              char first[BRUME_DECIMAL_TEXT],
                                              char last[BRUME_DECIMAL_TEXT], brume_error *error);

/* What is shown of two costs together: the exact sum of the decimals that are shown of each. */
double brume_spend_add(double a, double b);

#endif
