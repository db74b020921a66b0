/* Which whole number a calibration tries next, and how sharply. */
#ifndef BRUME_MECHANISM_CALIBRATE_WHOLE_WALK_H
#define BRUME_MECHANISM_CALIBRATE_WHOLE_WALK_H

#include "mechanism/calibrate/calibrate.h"

/* The sharpest certificate that is asked for. */
static const double brume_whole_sharpest = 1e-10;

typedef struct brume_whole_walk {
    bool largest;                   /* the largest number that meets the target, not the least */
    double least_delta, most_delta; /* the ends of the range: where delta is least, and most */
    double good, bad; /* the nearest that meets the target, that does not; NAN: none yet, */
    double good_excess, bad_excess; /* and what was found there */
    double at[3];                   /* the newest numbers first, */
    double excess[3];               /* and log(delta/target) there, about */
    int count;
    double slope; /* of the excess, by number, towards `most_delta`; NAN: not known */
    bool guessed; /* the cheap bound still says where to look */
    brume_place place;
    brume_told told;
} brume_whole_walk;

/* Where to begin: by the guess, else at the end that meets the target if any number does. */
double brume_whole_begin(brume_search_for *c, brume_whole_walk *w);

/* The number was decided; w->good or w->bad is it. */
void brume_whole_note(brume_whole_walk *w, double number, const brume_finding *f);

/* The number to decide after `newest`, and the tolerance of its first certificate. */
double brume_whole_next(brume_search_for *c, brume_whole_walk *w, double newest, int step,
                        double *tolerance);

#endif
