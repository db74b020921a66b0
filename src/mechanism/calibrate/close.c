/* From a place near the answer to the answer, by few certificates.
 *
 * A certificate takes long where a band must be made narrow: its nodes grow with the inverse root
 * of the tolerance. So each is asked only as sharply as the step after it can use; lines and
 * parabolas through their estimates find the crossing, and the last one is aimed so that its own
 * upper end just meets the target. Where a certificate is sharp without being asked, no more is
 * asked of the next.
 *
 * Promise: the place found was itself certified at most the target, and the exact answer is less
 * than a billionth of x away from it, by the certificate's lower end or by the estimate of what a
 * band added. Only where a certificate cannot be made so sharp does its upper end decide alone. */
#include <math.h>

#include "base/error.h"
#include "mechanism/calibrate/calibrate.h"

static const double most_loss = 9.5e-10;    /* of x: how far to the noisy side an answer may lie */
static const double sharp_excess = 6e-10;   /* of x: what a band may add to the last certificate */
static const double sharp_interval = 5e-10; /* of x: its width, where that is all that is known */
static const double near_sharp = 12; /* times as wide is the one before the last, or nearly */
static const double far_off = 0.3;   /* of log delta: look again by the cheap bound */

enum { MOST_STEPS = 48 };

/* Lines are laid along x^-2, along which the logarithm of delta is about straight where the other
 * terms count too: the square of an epsilon, the inverse one of a sigma; or along another power.
 * Measured from the newest point, in units in which it moves as log x does there. */
typedef struct trail {
    double at[3], excess[3], doubt[3]; /* log x, the newest first */
    int count;
    double slope;       /* how fast the excess falls with log x at the newest, */
    double slope_error; /* and by what share that may be wrong; */
    bool measured;      /* by certificates, not only by the guess */
    double good, bad;   /* the nearest that meets the target, and that does not; NAN: none yet, */
    double good_excess, bad_excess; /* and what was found there */
    double stride;                  /* where nothing is known but the direction */
    int idle;                       /* how many steps brought it no nearer, */
    int disorder;                   /* and how many contradict that delta falls with x */
    double power;
} trail;

static double from_newest(const trail *t, int i)
{
    return -expm1(-t->power * (t->at[i] - t->at[0])) / t->power;
}

static void remember(trail *t, double at, const brume_finding *f)
{
    if (t->count > 0)
        t->slope *= exp(-t->power * fmin(fmax(at - t->at[0], -1), 1)); /* of the same line */
    for (int i = 2; i > 0; i--)
        t->at[i] = t->at[i - 1], t->excess[i] = t->excess[i - 1], t->doubt[i] = t->doubt[i - 1];
    t->at[0] = at, t->excess[0] = f->estimate, t->doubt[0] = f->doubt;
    t->count++;
    bool between = t->bad < at && at < t->good;
    double slack = 3 * f->doubt;
    t->disorder += between &&
                   !(f->estimate <= t->bad_excess + slack && f->estimate >= t->good_excess - slack);
    if (f->upper <= 0 && !(at >= t->good))
        t->good = at, t->good_excess = f->estimate;
    if (f->upper > 0 && (f->lower > 0 || !f->known) && !(at <= t->bad))
        t->bad = at, t->bad_excess = f->estimate;
    if (t->count > 2 && fabs(t->excess[0]) > 0.5 * fabs(t->excess[1]) &&
        fabs(t->excess[0]) > 10 * f->doubt && fabs(t->excess[1]) < far_off)
        t->idle++;
}

/* The slope by the two newest points, if they say it better than what was known: a secant over
 * little more than the doubt says nothing new. */
static void mend_slope(trail *t)
{
    if (t->count < 2)
        return;
    double fall = t->excess[0] - t->excess[1], secant = fall / from_newest(t, 1);
    double doubt = (t->doubt[0] + t->doubt[1]) / fabs(fall);
    double error = fmin(doubt + 0.5 * fabs(t->excess[1]), 1);
    bool refuted = fabs(t->excess[0]) >
                   2 * t->slope_error * fabs(t->excess[1]) + 3 * (t->doubt[0] + t->doubt[1]);
    if (secant > 0 && doubt < 0.3 && (error < t->slope_error || refuted || !t->measured)) {
        t->slope = secant;
        t->slope_error = error;
        t->measured = true;
    }
}

/* How far from the newest point, in log x, the target is met: by the slope, bent by the third
 * newest point where all are clear and it says nearly the same. */
static double step_to_target(const trail *t)
{
    double move = t->excess[0] / t->slope;
    if (t->count > 2) {
        const double *y = t->excess, x[] = {0, from_newest(t, 1), from_newest(t, 2)};
        double first = (x[0] - x[1]) / (y[0] - y[1]), second = (x[1] - x[2]) / (y[1] - y[2]);
        double bent = -y[0] * first + y[0] * y[1] * (first - second) / (y[0] - y[2]);
        bool clear = fabs(y[0] - y[1]) > 300 * fmax(t->doubt[0], t->doubt[1]) &&
                     fabs(y[1] - y[2]) > 30 * fmax(t->doubt[1], t->doubt[2]);
        if (clear && fabs(bent - move) <= 0.2 * fabs(move))
            move = bent;
    }
    return t->power * move < 0.8 ? fmax(-log1p(-t->power * move) / t->power, -1) : 1;
}

/* How sharp the certificate after that step should be: as the step itself is expected to be, until
 * only the last one is left to make. */
static double tolerance_for(const trail *t, double tolerance, double sharp)
{
    double left = fabs(t->excess[0]) * t->slope_error;
    bool at_floor = tolerance <= near_sharp * sharp; /* then only the last one can say more */
    double expected = at_floor ? left : left + 2 * t->doubt[0];
    return expected < 0.7 * sharp ? sharp : fmin(fmax(0.01 * expected, 10 * sharp), 1e-3);
}

static bool has_both(const trail *t)
{
    return isfinite(t->good) && isfinite(t->bad) && t->bad < t->good;
}

/* A step kept between what meets the target and what does not. Where it leaves that, or after two
 * steps that brought it no nearer: halfway there, or where a line through both meets the target if
 * they are far from it. With one side known, and far from the target: a stride, ever longer. */
static double confine(trail *t, double at)
{
    bool far = fabs(t->excess[0]) > 3 * far_off;
    if (!has_both(t)) {
        if (!far)
            return at;
        t->stride *= 2;
        return t->at[0] +
               copysign(fmin(fmax(fabs(at - t->at[0]), t->stride / 4), t->stride), t->excess[0]);
    }
    double width = t->good - t->bad;
    if (at > t->bad && at <= t->good && !(t->idle % 3 == 2 || t->idle > 6) && !far)
        return at;
    double share = far ? t->bad_excess / (t->bad_excess - t->good_excess) : 0.5;
    t->idle += !far;
    return t->bad + width * fmin(fmax(share, 0.1), 0.9);
}

/* What the last certificate may be wide, of log delta. */
static double sharpness(const trail *t, bool banded)
{
    return (banded ? sharp_excess : sharp_interval) * fmin(t->slope, 100);
}

/* Is a certificate less sharp than it was asked to be? */
static bool is_dull(const brume_finding *f, double tolerance)
{
    return f->gap > (tolerance < 1e-4 ? 1.5 : 4) * tolerance;
}

/* A certificate that is not as sharp as asked by its upper end alone is asked for both ends, then
 * for all it can. If it cannot be sharper it decides by its upper end; so it does if all that is
 * left is rounding. */
static brume_status try_place(brume_search_for *c, double at, double tolerance, double sharp,
                              brume_finding *f, brume_error *error)
{
    double value = brume_calibrate_number(c, at);
    BRUME_TRY(brume_calibrate_try(c, value, tolerance, f, error));
    bool near = tolerance <= near_sharp * sharp, dull = is_dull(f, tolerance);
    if (dull && !c->both_ends && !c->both_useless) {
        brume_finding both;
        c->both_ends = true;
        BRUME_TRY(brume_calibrate_try(c, value, tolerance, &both, error));
        c->both_useless = !(both.gap < 0.7 * f->gap);
        c->both_ends = !c->both_useless;
        if (c->both_ends)
            *f = both, dull = is_dull(f, tolerance);
    }
    if (dull && tolerance > 1.01 * sharp &&
        !c->stuck) { /* another route may be taken if more is asked for */
        brume_finding sharper;
        double sharpest = fmin(sharp, 1e-10);
        BRUME_TRY(brume_calibrate_try(c, value, sharpest, &sharper, error));
        c->stuck = !(sharper.gap < 0.7 * f->gap);
        dull = c->stuck;
        if (!c->stuck)
            *f = sharper, c->coarsest = sharpest;
    }
    if (dull || (near && f->gap > sharp && f->gap < 0.05 * tolerance))
        *f = (brume_finding){
            .upper = f->upper, .lower = f->upper, .estimate = f->upper, .known = true};
    return BRUME_OK;
}

/* Does the bound jump between neighbours, so that no line helps? */
static bool jitters(const trail *t)
{
    bool small = fabs(t->excess[0]) < 1e-3;
    if (has_both(t) && t->good - t->bad > 1e-6)
        return false; /* no neighbours yet */
    return isfinite(t->good) && t->idle >= 2 && t->disorder >= (small ? 1 : 2);
}

/* Such a bound meets the target at many places: to one where it does not a billionth further, or
 * nearly so. */
static brume_status take_jittering(brume_search_for *c, const trail *t, double tolerance,
                                   brume_place *place, brume_error *error)
{
    place->at = t->good;
    for (int step = 0; step < 6; step++) {
        brume_finding f;
        double next = place->at - 1.02e-9;
        if (next < place->least)
            break;
        BRUME_TRY(brume_calibrate_try(c, brume_calibrate_number(c, next), tolerance, &f, error));
        if (f.upper > 0)
            break;
        place->at = next;
    }
    return BRUME_OK;
}

/* The end of the range meets the target, or the certificate is as near as an answer must be. */
static bool is_answer(brume_search_for *c, const brume_place *place, const trail *t, double at,
                      const brume_finding *f, bool decides)
{
    if (f->upper > 0)
        return false;
    /* a slope may be that of a cliff nearby: it is trusted for little, but for more if what does
     * not meet the target is as near */
    bool adjacent = t->bad < at && at - t->bad <= most_loss;
    double loss = most_loss * fmin(t->slope, 1e4);
    c->tight = (f->known || decides) && (adjacent || f->upper - f->gap >= -loss);
    c->everywhere = !c->tight && at <= place->least;
    return c->tight || c->everywhere;
}

/* How much further, in log x, so that the upper end of the last certificate just meets the target,
 * in the middle of where it may lie. */
static double aim_beyond(const trail *t, const brume_finding *f, bool easy)
{
    double gap = easy ? f->gap / t->slope : f->banded ? sharp_excess : sharp_interval;
    double lift = easy ? (f->upper - f->estimate) / t->slope : f->banded ? gap : gap / 3;
    double margin = (most_loss - fmin(gap, most_loss)) / 2;
    return lift + (easy ? fmin(margin, 1.5e-10) : 0.8 * margin);
}

brume_status brume_calibrate_close_in(brume_search_for *c, brume_place *place, bool *found,
                                      brume_error *error)
{
    trail t = {.slope = place->slope,
               .slope_error = 0.2,
               .good = NAN,
               .bad = NAN,
               .stride = 0.25,
               .power = c->power};
    brume_told told = {.count = 0};
    bool banded = true;
    double at = place->at, tolerance = 1e-3;
    *found = false;
    for (int step = 0; step < MOST_STEPS; step++) {
        brume_finding f;
        double sharp = sharpness(&t, banded);
        BRUME_TRY(try_place(c, at, tolerance, sharp, &f, error));
        bool curved = brume_calibrate_is_curved(c), last = tolerance <= sharp;
        if (!f.known && !curved && tolerance > c->coarsest) {
            tolerance = c->coarsest;
            BRUME_TRY(try_place(c, at, tolerance, sharp, &f, error));
        }
        banded = f.banded;
        if (!isfinite(f.estimate) && f.upper > 0)
            break;
        place->at = at; /* the very place that was tried */
        if (is_answer(c, place, &t, at, &f, last || curved)) {
            *found = true;
            return BRUME_OK;
        }
        if (!isfinite(f.estimate))
            break;
        remember(&t, at, &f);
        if ((curved || !f.by_laws) && jitters(&t)) {
            *found = c->tight = true;
            return take_jittering(c, &t, tolerance, place, error);
        }
        if (fabs(f.estimate) > far_off && brume_calibrate_look_again(c, &told, f.estimate, place)) {
            at = place->at;
            if (has_both(&t) && !(at > t.bad && at < t.good))
                at = confine(&t, at), place->excess = NAN; /* nothing was guessed there */
            if (t.count < 2)
                t.slope = place->slope;
            continue;
        }
        mend_slope(&t);
        double move = step_to_target(&t);
        sharp = sharpness(&t, banded);
        bool easy = curved || (f.known && f.gap <= sharp); /* no more need be asked for */
        double next = tolerance_for(&t, tolerance, sharp);
        if (!isfinite(move) || !(t.slope > 1e-3))
            break;
        if (easy || next <= near_sharp * sharp)
            move += aim_beyond(&t, &f, easy);
        tolerance = easy ? tolerance : next;
        at = confine(&t, at + move);
        at = fmin(fmax(at, place->least), place->most);
        place->slope = t.slope, place->excess = NAN; /* of the next place nothing is guessed */
    }
    if (isfinite(t.good) && !(place->at <= t.good))
        place->at = t.good;
    return BRUME_OK;
}
