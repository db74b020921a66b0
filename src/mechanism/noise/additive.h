/* What the cards of additive noise share: drawing it, its probabilities, its accuracy and its
 * trial. A card has `family` = &(brume_additive) and these functions; its own are the cost and,
 * where one is known, a closed form. */
#ifndef BRUME_MECHANISM_ADDITIVE_H
#define BRUME_MECHANISM_ADDITIVE_H

#include <brume/bits.h>
#include <brume/interval.h>
#include <brume/mechanism/mechanism.h>
#include <brume/noise/noise.h>

#include "mechanism/noise/tail.h"
#include "mechanism/trial.h"

/* The parameters of every such card. */
enum { BRUME_ADDITIVE_SPREAD /* a scale or a sigma */, BRUME_ADDITIVE_COORDINATES };

typedef struct brume_additive {
    bool whole; /* integers; else reals, on the grid of their spread (grid.h) */
    brume_status (*open)(double spread, brume_noise **out, brume_error *error);
    void (*mass)(arb_t out, double spread, int64_t k); /* P[k] of what `open` draws */
    brume_tail *tail;
    /* Releases of integers: of reals, with a spread in grid steps. */
    brume_status (*add)(brume_bits *bits, double spread, const int64_t *values, int64_t *out,
                        size_t n, brume_error *error);
} brume_additive;

brume_status brume_additive_alpha_upper(const brume_event *event, double beta, double *alpha,
                                        brume_error *error);
brume_status brume_additive_beta_upper(const brume_event *event, double alpha, double *beta,
                                       brume_error *error);
brume_status brume_additive_noise(const brume_event *event, brume_bits *bits, int64_t *out,
                                  size_t n, double *step, brume_error *error);
brume_status brume_additive_mass(const brume_event *event, int64_t k, brume_interval *mass,
                                 brume_error *error);

/* A number and one that differs by the sensitivity. */
extern const brume_trial brume_additive_trial_whole, brume_additive_trial_grid;

/* The entries that are the same on all of these cards. */
#define BRUME_ADDITIVE_ENTRIES_(law)                                                               \
    .family = &(law), .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE | BRUME_EDGE,                \
    .beta_upper = brume_additive_beta_upper, .noise = brume_additive_noise,                        \
    .mass = brume_additive_mass

#endif
