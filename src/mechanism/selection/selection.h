/* What the three selection mechanisms share: the slots of their parameters, and from a bound on the
 * chance of a bad choice to an accuracy statement. */
#ifndef BRUME_MECHANISM_SELECTION_H
#define BRUME_MECHANISM_SELECTION_H

#include <brume/event.h>

enum { BRUME_SELECTION_EPSILON, BRUME_SELECTION_MONOTONE, BRUME_SELECTION_CANDIDATES };

#define BRUME_PARAMETER_CANDIDATES_                                                                \
    {                                                                                              \
        .name = "candidates", .type = BRUME_PARAMETER_INTEGER, .least = 0, .most = 0x1p53,         \
        .optional = true, .standard = 0, .direction = BRUME_MORE_NOISE, .unit = "",                \
        .help = "how many candidates there are, for the accuracy; 0: not said"                     \
    }

#include "mechanism/ball.h"

/* out = a bound on P[the score chosen is at least x scales below the best] for n >= 2 candidates,
 * falling with x > 0. The scale is 2 sensitivity/epsilon, half that for monotone scores. */
typedef void brume_selection_tail(arb_t out, double n, const arb_t x);

brume_status brume_selection_alpha_upper(const brume_event *event, brume_selection_tail *tail,
                                         double beta, double *alpha, brume_error *error);
brume_status brume_selection_beta_upper(const brume_event *event, brume_selection_tail *tail,
                                        double alpha, double *beta, brume_error *error);

#endif
