/* From a place near the answer to the answer, by few certificates.
 *
 * A certificate is dear where a band must be made narrow: its nodes grow with the inverse root of
 * the tolerance. So each is asked only as sharply as the step after it can use; lines and parabolas
 * through what they believe the truth to be find the crossing, and the last one is aimed so that
 * its own upper end just meets the target. Where a certificate is sharp without being asked, no
 * more is asked of the next.
 *
 * Promise: the place found was itself certified at most the target, and the truth there is less
 * than a billionth of x away from it, by the certificate's lower end or by the estimate of what a
 * band added. Only where a certificate cannot be made so sharp does its upper end decide alone. */
#include <math.h>

#include "base/error.h"
#include "mechanism/calibrate.h"

static const double most_loss = 9.5e-10;    /* of x: how far to the noisy side an answer may lie */
static const double sharp_excess = 6e-10;   /* of x: what a band may add to the last certificate */
static const double sharp_interval = 5e-10; /* of x: its width, where that is all that is known */
static const double far_off = 0.3;          /* of log delta: look again by the cheap bound */

enum { MOST_STEPS = 16 };

typedef enum stage { FIRST, SECOND, NEAR, SHARP } stage;

typedef struct trail {
    double at[3], excess[3], doubt[3]; /* the newest first */
    int count;
    double slope;     /* how fast the excess falls */
    double good, bad; /* the nearest that meets the target, and that does not; NAN: none yet */
    int idle;         /* how many steps brought it no nearer */
} trail;

static void remember(trail *t, double at, const brume_finding *f)
{
    for (int i = 2; i > 0; i--)
        t->at[i] = t->at[i - 1], t->excess[i] = t->excess[i - 1], t->doubt[i] = t->doubt[i - 1];
    t->at[0] = at, t->excess[0] = f->truth, t->doubt[0] = f->doubt;
    t->count++;
    if (f->upper <= 0 && !(at >= t->good))
        t->good = at;
    if (f->upper > 0 && !brume_calibrate_undecided(f) && !(at <= t->bad))
        t->bad = at;
    if (t->count > 2 && fabs(t->excess[0]) > 0.3 * fabs(t->excess[1]) &&
        fabs(t->excess[0]) > 4 * f->doubt && fabs(t->excess[1]) < far_off)
        t->idle++;
}

/* The slope between the two newest points, if they are far enough apart to say it: a secant over
 * little more than the doubt says nothing new. */
static void mend_slope(trail *t)
{
    if (t->count < 2)
        return;
    double distance = t->at[0] - t->at[1], fall = t->excess[1] - t->excess[0];
    double secant = fall / distance, doubt = fmax(t->doubt[0], t->doubt[1]);
    if (secant > 0 && fabs(distance) > 1e-7 && fabs(fall) >= (t->count < 3 ? 4 : 300) * doubt)
        t->slope = secant;
}

/* How far from the newest point the target is met: by the slope, bent by the third newest point
 * where that says nearly the same. */
static double step_to_target(const trail *t)
{
    double straight = t->excess[0] / t->slope;
    if (t->count < 3)
        return straight;
    const double *x = t->at, *y = t->excess;
    double first = (x[0] - x[1]) / (y[0] - y[1]), second = (x[1] - x[2]) / (y[1] - y[2]);
    double bent = -y[0] * first + y[0] * y[1] * (first - second) / (y[0] - y[2]);
    bool clear = fabs(y[0] - y[1]) > 300 * fmax(t->doubt[0], t->doubt[1]) &&
                 fabs(y[1] - y[2]) > 30 * fmax(t->doubt[1], t->doubt[2]);
    return clear && fabs(x[0] - x[1]) > 1e-7 && fabs(bent - straight) <= 0.2 * fabs(straight)
               ? bent
               : straight;
}

/* What that step is expected to leave of the excess, by what the slope does not know of the bend
 * and by the doubt of what it goes through. */
static double expected_excess(const trail *t, stage now)
{
    double here = fabs(t->excess[0]);
    if (t->count < 2)
        return 0.2 * here + 2 * t->doubt[0];
    double before = fabs(t->excess[1]), left = 0.5 * here * before;
    if (t->count > 2)
        left *= fmin(2 * fabs(t->excess[2]), 1);
    left += here * (t->doubt[0] + t->doubt[1]) / fabs(t->excess[1] - t->excess[0]);
    return now < NEAR ? left + 2 * t->doubt[0] : left; /* then only the sharpest can say more */
}

static double tolerance_of(stage s, double slope, bool banded)
{
    double capped = fmin(slope, 100), sharp = (banded ? sharp_excess : sharp_interval) * capped;
    const double tolerances[] = {1e-3, fmax(1e-5, 10 * sharp), 10 * sharp, sharp};
    return tolerances[s];
}

static stage stage_for(double expected, double slope)
{
    return expected < 4e-10 * slope ? SHARP
           : expected < 2e-4        ? NEAR
           : expected < 0.05        ? SECOND
                                    : FIRST;
}

/* A step kept between what meets the target and what does not; halfway there after two steps that
 * brought it no nearer. */
static double confine(trail *t, double at)
{
    bool both = isfinite(t->good) && isfinite(t->bad) && t->bad < t->good;
    if (both && (!(at > t->bad && at <= t->good) || t->idle % 3 == 2)) {
        t->idle++;
        return t->bad + (t->good - t->bad) / 2;
    }
    return at;
}

/* A certificate that is not sharp enough by its upper end alone is asked for both, once. */
static brume_status try_place(brume_search_for *c, double at, double tolerance, stage now,
                              brume_finding *f, brume_error *error)
{
    double value = brume_calibrate_number(c, at);
    BRUME_TRY(brume_calibrate_try(c, value, tolerance, f, error));
    bool thinned = brume_calibrate_is_thinned(c);
    bool dull = f->gap > 1.5 * tolerance || (!f->known && thinned);
    if (now == SHARP && dull && !c->both_ends && !brume_calibrate_is_curved(c)) {
        c->both_ends = true;
        BRUME_TRY(brume_calibrate_try(c, value, tolerance, f, error));
    }
    if (now >= NEAR && f->gap > 1.5 * tolerance) /* it cannot be sharper: it decides itself */
        *f = (brume_finding){.upper = f->upper, .lower = f->lower, .truth = f->upper};
    return BRUME_OK;
}

/* Does the bound jump between neighbours, so that no line helps? */
static bool jitters(const trail *t)
{
    return t->idle >= 2 && isfinite(t->good) && fabs(t->excess[0]) < 1e-3;
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

brume_status brume_calibrate_close_in(brume_search_for *c, brume_place *place, bool *found,
                                      brume_error *error)
{
    trail t = {.slope = place->slope, .good = NAN, .bad = NAN};
    stage now = FIRST;
    bool banded = true, easy = false; /* sharper than asked for */
    double at = place->at, tolerance = tolerance_of(FIRST, t.slope, banded);
    *found = false;
    brume_told told = {.count = 0};
    for (int step = 0; step < MOST_STEPS; step++) {
        brume_finding f;
        bool curved = brume_calibrate_is_curved(c);
        if (!easy && !curved)
            tolerance = tolerance_of(now, t.slope, banded);
        BRUME_TRY(try_place(c, at, tolerance, now, &f, error));
        banded = f.banded;
        double capped = fmin(t.slope, 100);
        if (now >= NEAR && f.gap > sharp_interval * capped && f.gap < 0.05 * tolerance)
            f.truth = f.upper, f.gap = 0, f.doubt = 0; /* rounding, which stays */
        easy = curved || (f.known && f.gap <= sharp_interval * capped);
        bool enough = f.known || now == SHARP || curved;
        if (enough && f.upper <= 0 && f.upper - f.gap >= -most_loss * t.slope) {
            place->at = at; /* the very place that was tried */
            *found = c->tight = true;
            return BRUME_OK;
        }
        if (at <= place->least && f.upper <= 0) {
            place->at = at;
            *found = c->everywhere = true;
            return BRUME_OK;
        }
        if (!isfinite(f.truth))
            break;
        remember(&t, at, &f);
        place->at = at;
        if (curved && jitters(&t)) {
            *found = c->tight = true;
            return take_jittering(c, &t, tolerance, place, error);
        }
        if (fabs(f.truth) > far_off && brume_calibrate_look_again(c, &told, f.truth, place)) {
            at = confine(&t, place->at);
            place->excess = at == place->at ? place->excess : NAN;
            if (t.count < 2)
                t.slope = place->slope;
            continue;
        }
        mend_slope(&t);
        double move = step_to_target(&t), expected = expected_excess(&t, now);
        if (!isfinite(move) || !(t.slope > 1e-3))
            break;
        now = stage_for(expected, t.slope);
        if (easy || now == SHARP) { /* to where its own upper end will do */
            double gap = easy ? f.gap / t.slope : banded ? sharp_excess : sharp_interval;
            double lift = easy ? (f.upper - f.truth) / t.slope : banded ? gap : gap / 3;
            double margin = (most_loss - fmin(gap, most_loss)) / 2;
            move += lift + (easy ? fmin(margin, 1.5e-10) : 0.8 * margin);
        }
        double next = confine(&t, at + fmin(fmax(move, -1), 1));
        at = fmin(fmax(next, place->least), place->most);
        place->slope = t.slope, place->excess = NAN; /* of the next place nothing is guessed */
    }
    if (isfinite(t.good) && !(place->at <= t.good))
        place->at = t.good;
    return BRUME_OK;
}
