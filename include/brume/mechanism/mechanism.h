/* Mechanisms by their cards: what each one is, what it costs, how accurate it is, what it draws.
 *
 * A card is read-only data, described once in src/mechanism/<family>/<name>.c; lists, help,
 * expressions, accounting and reference pages all read it. A NULL function means "refused with a
 * clear error", never "approximated by something near": call through the functions below, which
 * check first.
 *
 * Threads: everything here is read-only; safe as long as a bit source is not shared. */
#ifndef BRUME_MECHANISM_H
#define BRUME_MECHANISM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/bits.h>
#include <brume/account/cost.h>
#include <brume/mechanism/event.h>
#include <brume/interval.h>
#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum brume_parameter_type {
    BRUME_PARAMETER_REAL,
    BRUME_PARAMETER_INTEGER,
    BRUME_PARAMETER_FLAG,      /* true or false, stored as 1 or 0 */
    BRUME_PARAMETER_MECHANISM, /* an inner expression: the event's base; last, has no slot */
} brume_parameter_type;

/* How the cost moves as the parameter grows; what `calibrate` searches by. */
typedef enum brume_direction {
    BRUME_NOT_MONOTONE = 0,
    BRUME_MORE_NOISE, /* larger costs less, or no more, and errs more: scale, sigma, hits */
    BRUME_LESS_NOISE, /* larger costs more, or no less, and errs less: epsilon, rho, rate */
} brume_direction;

typedef struct brume_parameter {
    const char *name;
    brume_parameter_type type;
    double least, most;         /* the range; */
    bool least_open, most_open; /* whether its ends are excluded */
    bool optional;              /* then `standard` is its value when not given */
    double standard;
    brume_direction direction;
    const char *unit; /* "", or of what: "of the query's unit", "nats" */
    const char *help; /* one line, no full stop */
} brume_parameter;

typedef struct brume_card {
    uint32_t id;           /* permanent */
    const char *name;      /* as in expressions */
    const char *summary;   /* one line */
    const char *guarantee; /* in words with symbols: "pure epsilon = sensitivity/scale" */
    unsigned adjacencies;  /* or-ed brume_adjacency */
    const char
        *sensitivity; /* which norm, "L1" or "L2", and of what; "score": it moves the accuracy,
                         epsilon is the cost; "base": the inner mechanism's; "none": it has none */
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

    /* NULL; or why the mechanism is NOT private, in words. Such a card is for teaching: it has no
     * cost, so that it cannot be charged, and an audit convicts it of its parameter epsilon. */
    const char *broken;

    /* It is not one release of a set of records (an answer of each person, a stream): poisson,
     * which would run it on a sample of them, refuses it. */
    bool not_sampled;

    /* For the library alone: how it is audited (src/mechanism/trial.h), NULL if it cannot be; and
     * what the functions that a family of cards shares need to know of this one. */
    const struct brume_trial *trial;
    const void *family;
} brume_card;

/* Every card, in the order of lists; *count of them, then NULL. */
BRUME_API const brume_card *const *brume_cards(size_t *count);

/* The card of an id or a name; NULL if there is none. */
BRUME_API const brume_card *brume_card_by_id(uint32_t id);
BRUME_API const brume_card *brume_card_by_name(const char *name);

/* Index of a parameter, or SIZE_MAX. */
BRUME_API size_t brume_card_parameter(const brume_card *card, const char *name);

/* Are all parameters and the sensitivity of `event` in range, and is its adjacency supported?
 * Errors: BRUME_EARGUMENT with the parameter and its range, BRUME_EUNKNOWN for an unknown id. */
BRUME_API BRUME_MUST_USE brume_status brume_event_check(const brume_event *event,
                                                        brume_error *error);

/* What one release of `event` costs: check the event, then ask its card.
 * Errors: those of brume_event_check; BRUME_EUNSUPPORTED if the card has no cost. */
BRUME_API BRUME_MUST_USE brume_status brume_event_cost(const brume_event *event, brume_cost *cost,
                                                       brume_error *error);

/* An alpha with P[error >= alpha] <= beta for one release, and a beta for an alpha; both rounded
 * up. The card's `accuracy` says what "error" is.
 * Requires 0 < beta < 1, alpha >= 0; else BRUME_EARGUMENT. BRUME_EUNSUPPORTED without a statement.
 */
BRUME_API BRUME_MUST_USE brume_status brume_event_alpha(const brume_event *event, double beta,
                                                        double *alpha, brume_error *error);
BRUME_API BRUME_MUST_USE brume_status brume_event_beta(const brume_event *event, double alpha,
                                                       double *beta, brume_error *error);

/* n draws of the noise of `event`: value i is *step * out[i]. On error `out` is set to zero and
 * *step is untouched.   BRUME_EUNSUPPORTED if the mechanism has no noise of its own. */
BRUME_API BRUME_MUST_USE brume_status brume_event_noise(const brume_event *event, brume_bits *bits,
                                                        int64_t *out, size_t n, double *step,
                                                        brume_error *error);

/* Enclosure of P[noise = step * k]. */
BRUME_API BRUME_MUST_USE brume_status brume_event_mass(const brume_event *event, int64_t k,
                                                       brume_interval *mass, brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
