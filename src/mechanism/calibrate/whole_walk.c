/* The walk to a whole unknown: which number is tried next, and how sharply.
 *
 * The guess says where to look, a certificate how wrong the guess is, the next one where the
 * crossing is; then the two numbers around it are decided. Bisection is left for where that does
 * not settle.
 *
 * Promise: nothing here is certified or claimed; it only chooses which numbers whole.c decides. */
#include <math.h>

#include "mechanism/calibrate/whole_walk.h"

static const double far_off = 0.3; /* of log delta: look again by the cheap bound */

enum { PATIENCE = 12 };

/* Along this the logarithm of delta is about straight: n, or 1/n where larger costs less. */
static double along(const brume_whole_walk *w, double number)
{
    return w->largest ? number : 1 / number;
}

/* Where the target is expected to be met, as a number that is not whole; NAN: not known. */
static double crossing(const brume_whole_walk *w)
{
    double x[3], y[3];
    for (int i = 0; i < w->count && i < 3; i++)
        x[i] = along(w, w->at[i]), y[i] = w->excess[i];
    double at = NAN;
    if (w->count == 1)
        at = x[0] - y[0] / w->slope;
    if (w->count > 1)
        at = x[0] - y[0] * (x[0] - x[1]) / (y[0] - y[1]);
    if (w->count > 2) {
        double first = (x[0] - x[1]) / (y[0] - y[1]), second = (x[1] - x[2]) / (y[1] - y[2]);
        double bent = x[0] - y[0] * first + y[0] * y[1] * (first - second) / (y[0] - y[2]);
        if (fabs(bent - at) <= 0.3 * fabs(at - x[0]))
            at = bent;
    }
    if (!isfinite(at))
        return NAN;
    return w->largest ? at : at > 0 ? 1 / at : INFINITY;
}

/* Between both sides where the crossing is expected beyond one of them: where a line through both
 * meets the target, not too near to either. */
static double between(const brume_whole_walk *w)
{
    double x = along(w, w->good), y = along(w, w->bad);
    double share = w->good_excess / (w->good_excess - w->bad_excess);
    share = isfinite(share) ? fmin(fmax(share, 0.05), 0.95) : 0.5;
    double at = x + (y - x) * share;
    return w->largest ? at : 1 / at;
}

/* Do different numbers cost the same, or has the safest room that no line speaks of? */
static bool moves_nothing(const brume_whole_walk *w)
{
    return (w->count > 1 && fabs(w->excess[0] - w->excess[1]) < 1e-9) ||
           (w->count == 1 && !w->largest && w->good == w->least_delta);
}

/* The number to try next. */
static double next_number(const brume_whole_walk *w, int step)
{
    double direction = w->largest ? 1 : -1; /* towards more delta */
    bool both = !isnan(w->good) && !isnan(w->bad);
    double at = crossing(w), newest = isnan(w->good) ? w->bad : w->good;
    if (both && step > PATIENCE) {
        double ratio = fmax(w->good, w->bad) / fmin(w->good, w->bad);
        at = ratio > 4 ? sqrt(w->good * w->bad) : (w->good + w->bad) / 2;
    } else if (both && !(direction * at > direction * w->good - 1 &&
                         direction * at < direction * w->bad + 1)) {
        at = between(w);
    } else if (!both && moves_nothing(w)) {
        at = isnan(w->good) ? w->least_delta : w->most_delta;
    } else if (isnan(at)) { /* nothing is known but the side */
        at = (isnan(w->good) != w->largest) ? 2 * newest + 1 : floor(newest / 2);
    } else if (step > 3 * PATIENCE) {
        at = isnan(w->good) ? w->least_delta : w->most_delta;
    }
    if (!both && !moves_nothing(w)) /* not too far beyond what is known, where only one side is */
        at = fmin(fmax(at, (newest + 1) / 100 - 1), 100 * (newest + 1));
    /* of the two numbers around the crossing the one that should be good, unless it is known */
    double next = w->largest ? floor(at) : ceil(at);
    if (!isnan(w->good) && direction * next <= direction * w->good)
        next = w->good + direction;
    if (!isnan(w->bad) && direction * next >= direction * w->bad)
        next = w->bad - direction;
    return w->largest ? fmin(fmax(next, w->least_delta), w->most_delta)
                      : fmax(fmin(next, w->least_delta), w->most_delta);
}

/* How sharp a certificate of this number must be: to decide it, by how far from the target its
 * delta is expected to lie; but no sharper than that expectation is. */
static double tolerance_for(const brume_whole_walk *w, double number)
{
    if (w->count == 0)
        return 1e-3;
    double x = along(w, number), at = along(w, crossing(w)), slope = w->slope;
    double doubt = 0.1 * fabs(w->excess[0]); /* of what is expected at the crossing */
    if (w->count > 1) {
        slope = (w->excess[0] - w->excess[1]) / (along(w, w->at[0]) - along(w, w->at[1]));
        doubt = 0.1 * fabs(w->excess[0] * w->excess[1]);
    }
    double expected = fmax(fabs(slope * (x - at)), doubt);
    return isfinite(expected) ? fmin(fmax(0.3 * expected, brume_whole_sharpest), 1e-3) : 1e-3;
}

/* The guess's slope by number, where it was last looked at: how log(delta) grows with it. */
static double slope_by_number(const brume_whole_walk *w, double number)
{
    return w->largest ? w->place.slope / number : w->place.slope * number;
}

double brume_whole_begin(brume_search_for *c, brume_whole_walk *w)
{
    brume_place *place = &w->place;
    place->least = log(w->largest ? 1 / w->most_delta : w->most_delta);
    place->most = log(w->largest ? 1 / w->least_delta : w->least_delta);
    place->at = brume_calibrate_start(c, place->least, place->most);
    place->slope = w->largest ? 1 : 2;
    if (c->accuracy || !(c->delta > 0))
        return brume_calibrate_number(c, place->at);
    brume_place start = *place;
    brume_looked looked = brume_calibrate_look(c, 0, place);
    if (looked == BRUME_LOOKED_NOWHERE) {
        c->by_moments = true;
        *place = start;
        looked = brume_calibrate_look(c, 0, place);
    }
    if (looked == BRUME_LOOKED_NOWHERE)
        return w->least_delta;
    double number = brume_calibrate_number(c, place->at);
    w->guessed = true;
    w->slope = slope_by_number(w, number);
    return number;
}

void brume_whole_note(brume_whole_walk *w, double number, const brume_finding *f)
{
    *(f->upper <= 0 ? &w->good_excess : &w->bad_excess) = f->estimate;
    if (!isfinite(f->estimate))
        return; /* nothing to lay a line through */
    if (w->count > 0 && w->at[0] == number)
        w->count--;
    else
        for (int i = 2; i > 0; i--)
            w->at[i] = w->at[i - 1], w->excess[i] = w->excess[i - 1];
    w->at[0] = number;
    /* on the side of the target where the bound is */
    w->excess[0] = f->upper <= 0 ? fmin(f->estimate, 0) : fmax(f->estimate, 1e-12);
    w->count++;
}

/* The number where the guess, corrected by what certificates say of it, meets the target; false if
 * that is not between what is known already. */
static bool look_again(brume_search_for *c, brume_whole_walk *w, double *number)
{
    brume_place next = w->place;
    if (!brume_calibrate_look_again(c, &w->told, w->excess[0], &next))
        return false;
    double found = brume_calibrate_number(c, next.at), direction = w->largest ? 1 : -1;
    if ((!isnan(w->good) && direction * found <= direction * w->good) ||
        (!isnan(w->bad) && direction * found >= direction * w->bad))
        return false;
    w->place = next;
    if (w->count < 2)
        w->slope = slope_by_number(w, found);
    *number = found;
    return true;
}

double brume_whole_next(brume_search_for *c, brume_whole_walk *w, double newest, int step,
                        double *tolerance)
{
    double number;
    bool far = w->count > 0 && w->at[0] == newest && fabs(w->excess[0]) > far_off;
    *tolerance = 1e-3;
    if (w->guessed && far && look_again(c, w, &number))
        return number;
    w->guessed = false; /* lines are nearer from here on */
    number = next_number(w, step);
    if (!brume_calibrate_is_curved(c))
        *tolerance = tolerance_for(w, number);
    return number;
}
