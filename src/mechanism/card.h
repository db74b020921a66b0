/* The card of a mechanism: everything anybody needs to know of it, said once.
 *
 * src/mechanism/<name>.c exports one const card, registry.def has one line for it. The command
 * line's list, help and completion, the accountant's expressions, the tests, the man page and the
 * reference pages all read the card. A NULL entry means "refused with a clear error", never
 * "approximated by something near". */
#ifndef BRUME_MECHANISM_CARD_H
#define BRUME_MECHANISM_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/bits.h>
#include <brume/cost.h>
#include <brume/event.h>
#include <brume/interval.h>
#include <brume/status.h>

typedef enum brume_parameter_type {
    BRUME_PARAMETER_REAL,
    BRUME_PARAMETER_INTEGER,
    BRUME_PARAMETER_FLAG,      /* true or false, stored as 1 or 0 */
    BRUME_PARAMETER_MECHANISM, /* an inner expression: the event's base and its parameters */
} brume_parameter_type;

/* How the cost moves as the parameter grows; what `calibrate` searches by. */
typedef enum brume_direction {
    BRUME_NOT_MONOTONE = 0,
    BRUME_MORE_NOISE, /* larger costs less: scale, sigma */
    BRUME_LESS_NOISE, /* larger costs more: epsilon, rho, delta, rate, hits */
} brume_direction;

typedef struct brume_parameter {
    const char *name;
    brume_parameter_type type;
    double least, most;        /* the range; */
    bool least_open, most_open; /* whether its ends are excluded */
    bool optional;              /* then `standard` is its value when not given */
    double standard;
    brume_direction direction;
    const char *unit; /* "", or of what: "of the query's unit", "nats" */
    const char *help; /* one line, no full stop */
} brume_parameter;

typedef struct brume_card {
    uint32_t id;             /* permanent */
    const char *name;        /* as in expressions */
    const char *summary;     /* one line */
    const char *guarantee;   /* in words with symbols: "pure epsilon = sensitivity/scale" */
    unsigned adjacencies;    /* or-ed brume_adjacency */
    const char *sensitivity; /* which norm: "L1", "L2", "score", "none" (parameter is the cost) */
    const brume_parameter *parameters;
    size_t parameter_count;
    const char *proof;           /* file under proofs/ */
    const char *const *examples; /* runnable command lines without the leading "brume"; NULL ends */

    /* What one release of `event` costs (its count is ignored). Parameters are already checked
     * against their ranges. */
    brume_status (*cost)(const brume_event *event, brume_cost *cost, brume_error *error);

    /* Least alpha known with P[error >= alpha] <= beta, rounded up; and least beta known for an
     * alpha, rounded up. What "error" is, `accuracy` says in words. */
    const char *accuracy;
    brume_status (*alpha_upper)(const brume_event *event, double beta, double *alpha,
                                brume_error *error);
    brume_status (*beta_upper)(const brume_event *event, double alpha, double *beta,
                               brume_error *error);

    /* Draw `n` values of the mechanism's own noise, as `brume noise` prints them: value = step *
     * out[i]. `*step` is a power of two, 1 for integer noise. */
    brume_status (*noise)(const brume_event *event, brume_bits *bits, int64_t *out, size_t n,
                          double *step, brume_error *error);

    /* Enclosure of P[noise = step * k]. Drives the tests of `noise`. */
    brume_status (*mass)(const brume_event *event, int64_t k, brume_interval *mass,
                         brume_error *error);
} brume_card;

/* Every card, in the order of registry.def; *count of them. */
const brume_card *const *brume_cards(size_t *count);

/* The card of an id or a name; NULL if there is none. */
const brume_card *brume_card_by_id(uint32_t id);
const brume_card *brume_card_by_name(const char *name);

/* Index of a parameter, or SIZE_MAX. */
size_t brume_card_parameter(const brume_card *card, const char *name);

/* Are all parameters and the sensitivity of `event` in range, and is its adjacency supported?
 * Errors: BRUME_EARGUMENT with the parameter and its range, BRUME_EUNKNOWN for an unknown id. */
BRUME_MUST_USE brume_status brume_event_check(const brume_event *event, brume_error *error);

/* Check the event, then ask its card. BRUME_EUNSUPPORTED if the card has no cost. */
BRUME_MUST_USE brume_status brume_event_cost(const brume_event *event, brume_cost *cost,
                                             brume_error *error);

#endif
