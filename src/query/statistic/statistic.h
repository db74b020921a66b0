/* One statistic that is not SQL: of a registered dataset, which pays for it, or of a file that
 * nobody keeps account of. `brume release` and `brume statistic` read words into
 * brume_release_words and write what comes back.
 *
 *   words -> brume_release_open (price, adjacency) -> brume_release_charged or _of_file ->
 * brume_release
 *
 * Promises: the price is the one typed; nothing but the answer depends on a row; a test that fails
 * is an answer too (released is false). */
#ifndef BRUME_QUERY_STATISTIC_H
#define BRUME_QUERY_STATISTIC_H

#include <jansson.h>

#include <brume/adjacency.h>
#include <brume/bits.h>
#include <brume/statistic/instability.h>

#include "ledger/ledger.h"
#include "query/release/spend.h"
#include "reader/csv_rows.h"

/* What was asked. A text that was not typed is NULL, a whole number 0, any other number NaN. The
 * texts are the caller's and live as long as the release. */
typedef struct brume_release_words {
    const char *statistic; /* "count", "median", ...; release.c lists them */
    const char *method, *adjacency;
    const char *epsilon, *delta, *rho; /* the price, exact as typed */
    const char *windows;               /* of a dataset that has some; NULL: not typed */
    const char *column, *columns, *domain, *noise, *target, *at;
    const char *const *bounds; /* "LO..HI" or "NAME=LO..HI" */
    size_t bound_count;
    double step, q, beta, epsilon_test, ridge, smoothness;
    uint64_t k, vertices, degrees, least;
    bool ordered, falls_back;
    bool from_file;           /* nobody keeps account: a row is a unit */
    const char *const *given; /* the names of all options typed, NULL ends: each must apply */
} brume_release_words;

typedef struct brume_release {
    const brume_release_words *words;
    const char *statistic; /* as typed */
    brume_csv *csv;
    brume_bits *bits;
    brume_adjacency adjacency;
    double epsilon, delta; /* not above what was typed; delta is 0 where it was not */
    const json_t *policy;  /* of a registered dataset, for bounds that are not typed; else NULL */
    bool one_of_unit; /* of a registered dataset whose units may have several rows: one counts */

    /* The answer. `method` and the cost are set by the statistic; error_95 is NaN where the noise
     * depends on the data or there is no such number. */
    const char *method;
    bool released;
    json_t *value, *rows;                      /* one of them; NULL is null */
    double cost_epsilon, cost_delta, cost_rho; /* NaN: cannot be said in that currency; all of a
                                                  price typed is shown as it was typed */
    double error_95;
    json_t
        *more; /* further public fields: threshold, sensitivity_bound, sigma, s, t ...; or NULL */
} brume_release;

/* Read the price and the adjacency of what was asked. EARGUMENT. */
BRUME_MUST_USE brume_status brume_release_open(const brume_release_words *words,
                                               brume_release *release, brume_error *error);
void brume_release_clear(brume_release *release);

/* From a file with a header; `format` NULL: the defaults of its name. Nothing is charged. */
BRUME_MUST_USE brume_status brume_release_of_file(brume_release *release, const char *path,
                                                  const brume_text_format *format,
                                                  brume_error *error);

/* From a registered dataset, charged by charged.h. `what` is everything that was asked but the
 * price, as text: it is recorded, and the same text is answered from the record. *answer is the
 * recorded answer; the release is filled in from it and points into it. `watch` may be NULL.
 * Errors: EUNKNOWN where there is no such dataset, and those of brume_charged_release. */
BRUME_MUST_USE brume_status brume_release_charged(brume_release *release, brume_ledger *ledger,
                                                  const char *dataset, const char *what,
                                                  const brume_watch *watch, json_t **answer,
                                                  brume_error *error);

/* The answer as JSON (NULL: no memory), and its cost as it is shown: all of what was typed is what
 * was typed, although what is drawn with may be the double below. */
json_t *brume_release_to_json(const brume_release *release);
double brume_release_shown_epsilon(const brume_release *release);
double brume_release_shown_delta(const brume_release *release);

/* ---- without privacy ---- */

/* A statistic of a file with its sensitivities: for teaching, never for release. */
typedef struct brume_look {
    double smoothness, beta; /* as typed */
    json_t *value;           /* NULL: there is none; the caller frees it */
    brume_instability found; /* in steps */
    double step;             /* one step in the statistic's units */
    const char *of;          /* what the sensitivities are of, where it is not the value; or NULL */
    brume_adjacency adjacency;
} brume_look;

/* `smoothness` and `beta` are set; the rest is filled in. EARGUMENT also for an adjacency or an
 * option that the statistic does not take. */
BRUME_MUST_USE brume_status brume_look_check(const brume_release_words *words, brume_look *look,
                                             brume_error *error);
BRUME_MUST_USE brume_status brume_look_at_file(const brume_release_words *words, const char *path,
                                               const brume_text_format *format, brume_look *look,
                                               brume_error *error);

/* A number on a grid as the shortest decimal that is within `slack` of it; null: not finite. */
json_t *brume_look_number(double value, double slack);

#endif
