/* What the files of `brume synth` share. */
#ifndef BRUME_COMMAND_SYNTH_H
#define BRUME_COMMAND_SYNTH_H

#include <brume/synthetic/schema.h>
#include <brume/synthetic/synthetic.h>
#include <brume/synthetic/workload_text.h>

#include "command/command.h"
#include "query/plan/policy.h"
#include "reader/format.h"
#include "query/release/spend.h"

/* Rows are kept on the ledger, for a free re-read, as pairs of cell and count: at most so many. */
enum { BRUME_SYNTH_KEPT = 1 << 16, BRUME_SYNTH_ROWS = 1 << 27 };

typedef struct brume_synth {
    const brume_call *call;
    const char *method;              /* as typed */
    const brume_policy *policy;      /* NULL: without a ledger */
    const brume_text_format *format; /* of the CSV that is read; NULL: the defaults of its name */
    const brume_watch *watch;        /* says when Ctrl-C was pressed; NULL: without a ledger */
    bool spends_rho;                 /* the budget's rule is concentrated */

    /* what was asked, all public */
    brume_schema *schema;
    brume_universe universe;
    brume_workload *workload;
    char *workload_text;
    brume_synthetic_options options;
    const char *epsilon, *delta, *rho; /* as typed; NULL: not */
    double epsilon_lower, delta_lower; /* with a delta: both, rounded down */
    uint64_t rows;
    brume_event events[BRUME_SYNTHETIC_EVENTS];
    size_t event_count;
    double rho_upper; /* of the events together */
    double bytes;     /* about what it takes */
} brume_synth;

/* The words typed, against the policy: schema, workload, options, events. Nothing is read of the
 * data. Free with brume_synth_clear, also after a failure. */
BRUME_MUST_USE brume_status brume_synth_read(brume_synth *synth, brume_error *error);
void brume_synth_clear(brume_synth *synth);

/* The price typed: options.epsilon or options.rho. And then, with a delta and Gaussian noise, as
 * much more rho as the accountant certifies for the events. */
BRUME_MUST_USE brume_status brume_synth_price(brume_synth *synth, bool takes_rho,
                                              brume_error *error);
BRUME_MUST_USE brume_status brume_synth_raise(brume_synth *synth, brume_error *error);

/* --columns with their domains: from --domain, --bounds and --bins, else from the policy. */
BRUME_MUST_USE brume_status brume_synth_schema(brume_synth *synth, brume_error *error);

/* Everything that was asked but the price and the output, as one text; the caller frees it. */
BRUME_MUST_USE brume_status brume_synth_describe(const brume_synth *synth, char **what,
                                                 brume_error *error);

/* The file has every column: BRUME_EUNKNOWN with the nearest name. */
BRUME_MUST_USE brume_status brume_synth_check_file(const brume_synth *synth, const char *path,
                                                   brume_error *error);

/* Read the CSV file, make the histogram, draw rows from it: (*rows)[cell] of them are in a cell, to
 * be freed. *answer gets the report and, if they are few enough to be kept, "cells": [cell, count,
 * ...], ascending. With `exact` the report has the true error too, which is not private. */
BRUME_MUST_USE brume_status brume_synth_run(const brume_synth *synth, const char *path, bool exact,
                                            brume_bits *bits, double **rows, json_t **answer,
                                            brume_error *error);

/* Are the rows few enough to be kept on the ledger? A question of public numbers. */
bool brume_synth_is_kept(const brume_synth *synth);

/* The rows of a kept answer, to be freed. BRUME_EDAMAGED if they are not there. */
BRUME_MUST_USE brume_status brume_synth_recall(const brume_synth *synth, const json_t *answer,
                                               double **rows, brume_error *error);

/* The plan as JSON: what a report says that needs no data. */
json_t *brume_synth_plan(const brume_synth *synth);

/* Can --output be written? And write it. */
BRUME_MUST_USE brume_status brume_synth_check_output(const brume_synth *synth, brume_error *error);
BRUME_MUST_USE brume_status brume_synth_write(const brume_synth *synth, const double *rows,
                                              brume_error *error);

/* The histogram of a CSV file over the universe, added to `counts`: private. */
BRUME_MUST_USE brume_status brume_synth_counts(const brume_synth *synth, const char *path,
                                               double *counts, brume_error *error);

/* What each method promises before any data is read: rows for --dry-run, [{"method","bound",
 * "share"}], bounds in records at the confidence; NULL where the number of records is not told. */
json_t *brume_synth_compare(const brume_synth *typed);

/* The rows as text: every answer within so many records, by each method; nothing for NULL. */
void brume_synth_write_methods(brume_call *call, const json_t *methods);

#endif
