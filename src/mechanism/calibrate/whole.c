/* A whole unknown: the largest number (or the smallest, where larger costs less) that meets the
 * target, by few certificates.
 *
 * Numbers are decided, each by a certificate as sharp as the distance of its delta from the target
 * asks, until of two successive numbers one meets the target and the other does not
 * (whole_walk.c chooses them).
 *
 * Promise: the number returned was certified; the next one was not, as near as can be. */
#include <math.h>

#include "base/error.h"
#include "mechanism/calibrate/whole_walk.h"

enum { MOST_STEPS = 200 };

/* On which side of the target a number is, by ever sharper certificates if it lies at it. */
static brume_status decide(brume_search_for *c, double number, double tolerance, brume_finding *f,
                           brume_error *error)
{
    for (;;) {
        BRUME_TRY(brume_calibrate_try(c, brume_calibrate_value_of(c, number), tolerance, f, error));
        bool vague = f->upper > 0 && !f->known && tolerance > c->coarsest && !c->accuracy &&
                     c->delta > 0 && !brume_calibrate_is_curved(c);
        bool unsettled = brume_calibrate_undecided(f) && tolerance > brume_whole_sharpest &&
                         f->gap <= 2 * tolerance;
        if (!vague && !unsettled)
            return BRUME_OK;
        tolerance = vague
                        ? c->coarsest
                        : fmax(fmin(tolerance / 20, 0.3 * fabs(f->estimate)), brume_whole_sharpest);
    }
}

brume_status brume_calibrate_whole(brume_search_for *c, double *value, brume_error *error)
{
    brume_whole_walk w = {.good = NAN, .bad = NAN, .slope = NAN, .largest = c->inverted};
    w.least_delta = w.largest ? c->low : c->high;
    w.most_delta = w.largest ? c->high : c->low;
    double number = brume_whole_begin(c, &w), tolerance = 1e-3;
    for (int step = 0; step < MOST_STEPS; step++) {
        brume_finding f;
        BRUME_TRY(decide(c, number, tolerance, &f, error));
        *(f.upper <= 0 ? &w.good : &w.bad) = number;
        c->everywhere = w.good == w.most_delta;
        if (fabs(w.good - w.bad) <= 1 || c->everywhere) {
            *value = brume_calibrate_value_of(c, w.good);
            return BRUME_OK;
        }
        if (w.bad == w.least_delta)
            return brume_calibrate_no_value(c, error);
        brume_whole_note(&w, number, &f);
        number = brume_whole_next(c, &w, number, step, &tolerance);
    }
    return brume_fail(error, BRUME_EINTERNAL, NULL, "a search for a whole number did not end");
}
