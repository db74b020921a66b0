/* What the three selection mechanisms share: their parameters, from a bound on the chance of a bad
 * choice to an accuracy statement, and the trial. */
#ifndef BRUME_MECHANISM_SELECTION_H
#define BRUME_MECHANISM_SELECTION_H

#include <brume/mechanism/event.h>
#include <brume/mechanism/selection.h>

#include "mechanism/ball.h"
#include "mechanism/trial.h"

enum { BRUME_SELECTION_EPSILON, BRUME_SELECTION_MONOTONE, BRUME_SELECTION_CANDIDATES };

#define BRUME_PARAMETER_CANDIDATES_                                                                \
    {                                                                                              \
        .name = "candidates", .type = BRUME_PARAMETER_INTEGER, .least = 0, .most = 0x1p53,         \
        .optional = true, .standard = 0, .direction = BRUME_MORE_NOISE, .unit = "",                \
        .help = "how many candidates there are, for the accuracy; 0: not said"                     \
    }

/* out = a bound on P[the score chosen is at least x scales below the best] for n >= 2 candidates,
 * falling with x > 0. The scale is 2 sensitivity/epsilon, half that for monotone scores. */
typedef void brume_selection_tail(arb_t out, double n, const arb_t x);

/* A card has `family` = &(brume_selection_family) and the functions below. */
typedef struct brume_selection_family {
    brume_selection_tail *tail; /* exact for two candidates */
    brume_status (*choose)(brume_bits *bits, const brume_selection *options, const double *scores,
                           size_t n, size_t *index, brume_error *error);
} brume_selection_family;

brume_status brume_selection_alpha_upper(const brume_event *event, double beta, double *alpha,
                                         brume_error *error);
brume_status brume_selection_beta_upper(const brume_event *event, double alpha, double *beta,
                                        brume_error *error);

/* epsilon/sensitivity, halved unless monotone: distances times this are in scales. */
void brume_selection_slope(arb_t out, const brume_event *event);

/* The same rounded down, by which scores are multiplied before noise of scale 1 is added. */
double brume_selection_coefficient_lower(const brume_selection *options);

/* Two candidates' scores, moved towards each other. */
extern const brume_trial brume_selection_trial;

/* The entries that are the same on all of these cards. */
#define BRUME_SELECTION_ENTRIES_(law)                                                              \
    .family = &(law), .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE | BRUME_EDGE,                \
    .sensitivity = "score",                                                                        \
    .accuracy = "how far the score chosen lies below the best, for a number of candidates",        \
    .alpha_upper = brume_selection_alpha_upper, .beta_upper = brume_selection_beta_upper,          \
    .trial = &brume_selection_trial

#define BRUME_SELECTION_PARAMETERS_                                                                \
    BRUME_PARAMETER_EPSILON_("the cost of the choice"), BRUME_PARAMETER_MONOTONE_,                 \
        BRUME_PARAMETER_CANDIDATES_

#endif
