/* A whole unknown: the largest number (or the smallest, where larger costs less) that meets the
 * target, by few certificates.
 *
 * The guess says where to look, a certificate how wrong the guess is, the next one where the
 * crossing is; then the two numbers around it are decided, each by a certificate as sharp as the
 * distance of its delta from the target asks. Bisection is left for where that does not settle.
 *
 * Promise: the number returned was certified; the next one was not, as near as can be. */
#include <math.h>

#include "base/error.h"
#include "mechanism/calibrate/calibrate.h"

static const double far_off = 0.3; /* of log delta: look again by the cheap bound */
static const double sharpest = 1e-10;

enum { MOST_STEPS = 200, PATIENCE = 12 };

/* Numbers along which the logarithm of delta is about straight: n, or 1/n where larger costs less.
 */
typedef struct ends {
    bool largest;      /* the largest number that meets the target, not the least */
    double safe, bold; /* the ends of the range: the safest number, and the boldest */
    double good, bad;  /* the nearest that meets the target, that does not; NAN: none yet, */
    double good_excess, bad_excess; /* and what was found there */
    double at[3];                   /* the newest numbers first, */
    double excess[3];               /* and log(delta/target) there, about */
    int count;
    double slope;     /* of the excess, by number, towards the bold; NAN: not known */
    double tolerance; /* of the certificates */
} ends;

static double along(const ends *e, double number)
{
    return e->largest ? number : 1 / number;
}

/* Where the target is expected to be met, as a number that is not whole; NAN: not known. */
static double crossing(const ends *e)
{
    double x[3], y[3];
    for (int i = 0; i < e->count && i < 3; i++)
        x[i] = along(e, e->at[i]), y[i] = e->excess[i];
    double at = NAN;
    if (e->count == 1)
        at = x[0] - y[0] / e->slope;
    if (e->count > 1)
        at = x[0] - y[0] * (x[0] - x[1]) / (y[0] - y[1]);
    if (e->count > 2) {
        double first = (x[0] - x[1]) / (y[0] - y[1]), second = (x[1] - x[2]) / (y[1] - y[2]);
        double bent = x[0] - y[0] * first + y[0] * y[1] * (first - second) / (y[0] - y[2]);
        if (fabs(bent - at) <= 0.3 * fabs(at - x[0]))
            at = bent;
    }
    if (!isfinite(at))
        return NAN;
    return e->largest ? at : at > 0 ? 1 / at : INFINITY;
}

/* Between both sides where the crossing is expected beyond one of them: where a line through both
 * meets the target, not too near to either. */
static double between(const ends *e)
{
    double x = along(e, e->good), y = along(e, e->bad);
    double share = e->good_excess / (e->good_excess - e->bad_excess);
    share = isfinite(share) ? fmin(fmax(share, 0.05), 0.95) : 0.5;
    double at = x + (y - x) * share;
    return e->largest ? at : 1 / at;
}

/* Do different numbers cost the same, or has the safest room that no line speaks of? */
static bool moves_nothing(const ends *e)
{
    return (e->count > 1 && fabs(e->excess[0] - e->excess[1]) < 1e-9) ||
           (e->count == 1 && !e->largest && e->good == e->safe);
}

/* The number to try next. */
static double next_number(const ends *e, int step)
{
    double direction = e->largest ? 1 : -1; /* towards the bold */
    bool both = !isnan(e->good) && !isnan(e->bad);
    double at = crossing(e), newest = isnan(e->good) ? e->bad : e->good;
    if (both && step > PATIENCE) {
        double ratio = fmax(e->good, e->bad) / fmin(e->good, e->bad);
        at = ratio > 4 ? sqrt(e->good * e->bad) : (e->good + e->bad) / 2;
    } else if (both && !(direction * at > direction * e->good - 1 &&
                         direction * at < direction * e->bad + 1)) {
        at = between(e);
    } else if (!both && moves_nothing(e)) {
        at = isnan(e->good) ? e->safe : e->bold;
    } else if (isnan(at)) { /* nothing is known but the side */
        at = (isnan(e->good) != e->largest) ? 2 * newest + 1 : floor(newest / 2);
    } else if (step > 3 * PATIENCE) {
        at = isnan(e->good) ? e->safe : e->bold;
    }
    if (!both && !moves_nothing(e)) /* not too far beyond what is known, where only one side is */
        at = fmin(fmax(at, (newest + 1) / 100 - 1), 100 * (newest + 1));
    /* of the two numbers around the crossing the one that should be good, unless it is known */
    double next = e->largest ? floor(at) : ceil(at);
    if (!isnan(e->good) && direction * next <= direction * e->good)
        next = e->good + direction;
    if (!isnan(e->bad) && direction * next >= direction * e->bad)
        next = e->bad - direction;
    return e->largest ? fmin(fmax(next, e->safe), e->bold) : fmax(fmin(next, e->safe), e->bold);
}

/* How sharp a certificate of this number must be: to decide it, by how far from the target its
 * delta is expected to lie; but no sharper than that expectation is. */
static double tolerance_for(const ends *e, double number)
{
    if (e->count == 0)
        return 1e-3;
    double x = along(e, number), at = along(e, crossing(e)), slope = e->slope;
    double doubt = 0.1 * fabs(e->excess[0]); /* of what is expected at the crossing */
    if (e->count > 1) {
        slope = (e->excess[0] - e->excess[1]) / (along(e, e->at[0]) - along(e, e->at[1]));
        doubt = 0.1 * fabs(e->excess[0] * e->excess[1]);
    }
    double expected = fmax(fabs(slope * (x - at)), doubt);
    return isfinite(expected) ? fmin(fmax(0.3 * expected, sharpest), 1e-3) : 1e-3;
}

/* On which side of the target a number is, by ever sharper certificates if it lies at it. */
static brume_status decide(brume_search_for *c, double number, double tolerance, brume_finding *f,
                           brume_error *error)
{
    for (;;) {
        BRUME_TRY(brume_calibrate_try(c, brume_calibrate_value_of(c, number), tolerance, f, error));
        bool vague = f->upper > 0 && !f->known && tolerance > c->coarsest && !c->accuracy &&
                     c->delta > 0 && !brume_calibrate_is_curved(c);
        bool unsettled = brume_calibrate_undecided(f) && tolerance > sharpest &&
                         f->gap <= 2 * tolerance;
        if (!vague && !unsettled)
            return BRUME_OK;
        tolerance = vague ? c->coarsest
                          : fmax(fmin(tolerance / 20, 0.3 * fabs(f->truth)), sharpest);
    }
}

static void remember(ends *e, double number, const brume_finding *f)
{
    *(f->upper <= 0 ? &e->good : &e->bad) = number;
    *(f->upper <= 0 ? &e->good_excess : &e->bad_excess) = f->truth;
    if (!isfinite(f->truth))
        return; /* nothing to lay a line through */
    if (e->count > 0 && e->at[0] == number)
        e->count--;
    else
        for (int i = 2; i > 0; i--)
            e->at[i] = e->at[i - 1], e->excess[i] = e->excess[i - 1];
    e->at[0] = number;
    /* on the side of the target where the bound is */
    e->excess[0] = f->upper <= 0 ? fmin(f->truth, 0) : fmax(f->truth, 1e-12);
    e->count++;
}

/* Where to begin: by the guess, else at the end that meets the target if any number does. */
static double begin(brume_search_for *c, ends *e, brume_place *place, bool *guessed)
{
    place->least = log(e->largest ? 1 / e->bold : e->bold);
    place->most = log(e->largest ? 1 / e->safe : e->safe);
    place->at = brume_calibrate_start(c, place->least, place->most);
    place->slope = e->largest ? 1 : 2;
    *guessed = false;
    if (c->accuracy || !(c->delta > 0))
        return brume_calibrate_number(c, place->at);
    brume_place start = *place;
    brume_looked looked = brume_calibrate_look(c, 0, place);
    if (looked == BRUME_LOOKED_NOWHERE) {
        c->by_moments = true;
        *place = start;
        looked = brume_calibrate_look(c, 0, place);
    }
    *guessed = looked != BRUME_LOOKED_NOWHERE;
    return *guessed ? brume_calibrate_number(c, place->at) : e->safe;
}

/* The number where the guess, corrected by what certificates say of it, meets the target; false if
 * that is not between what is known already. */
static bool look_again(brume_search_for *c, const ends *e, brume_told *told, brume_place *place,
                       double *number)
{
    brume_place next = *place;
    if (!brume_calibrate_look_again(c, told, e->excess[0], &next))
        return false;
    double found = brume_calibrate_number(c, next.at), direction = e->largest ? 1 : -1;
    if ((!isnan(e->good) && direction * found <= direction * e->good) ||
        (!isnan(e->bad) && direction * found >= direction * e->bad))
        return false;
    *place = next;
    *number = found;
    return true;
}

/* The guess's slope by number, where it was last looked at: how log(delta) grows with it. */
static double slope_by_number(const ends *e, const brume_place *place, double number)
{
    return e->largest ? place->slope / number : place->slope * number;
}

brume_status brume_calibrate_whole(brume_search_for *c, double *value, brume_error *error)
{
    ends e = {.good = NAN, .bad = NAN, .slope = NAN, .largest = c->inverted};
    e.safe = e.largest ? c->low : c->high;
    e.bold = e.largest ? c->high : c->low;
    brume_place place = {0};
    bool guessed;
    double number = begin(c, &e, &place, &guessed), tolerance = 1e-3;
    if (guessed)
        e.slope = slope_by_number(&e, &place, number);
    brume_told told = {.count = 0};
    for (int step = 0; step < MOST_STEPS; step++) {
        brume_finding f;
        BRUME_TRY(decide(c, number, tolerance, &f, error));
        remember(&e, number, &f);
        if (fabs(e.good - e.bad) <= 1 || (f.upper <= 0 && number == e.bold)) {
            *value = brume_calibrate_value_of(c, e.good);
            c->everywhere = f.upper <= 0 && number == e.bold;
            return BRUME_OK;
        }
        if (f.upper > 0 && number == e.safe)
            return brume_calibrate_no_value(c, error);
        bool far = e.count > 0 && e.at[0] == number && fabs(e.excess[0]) > far_off;
        tolerance = 1e-3;
        if (guessed && far && look_again(c, &e, &told, &place, &number)) {
            if (e.count < 2)
                e.slope = slope_by_number(&e, &place, number);
            continue;
        }
        guessed = false; /* lines are nearer from here on */
        number = next_number(&e, step);
        if (!brume_calibrate_is_curved(c))
            tolerance = tolerance_for(&e, number);
    }
    return brume_fail(error, BRUME_EINTERNAL, NULL, "a search for a whole number did not end");
}
