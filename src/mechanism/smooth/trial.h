/* What the cards of smooth sensitivity share: the trial. */
#ifndef BRUME_MECHANISM_SMOOTH_TRIAL_H
#define BRUME_MECHANISM_SMOOTH_TRIAL_H

#include <brume/mechanism/smooth.h>

#include "mechanism/trial.h"

/* A card has `family` = &(brume_smooth_family) and the trial. */
typedef struct brume_smooth_family {
    brume_status (*plan)(const brume_event *event, brume_smooth_plan *out, brume_error *error);
} brume_smooth_family;

/* A value and its bound, and both as much larger as they may be. */
extern const brume_trial brume_smooth_trial;

#endif
