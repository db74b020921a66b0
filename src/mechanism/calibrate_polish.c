/* The last digits of a calibration, by few certificates.
 *
 * A certificate is dear where a band must be made narrow: its nodes grow with the inverse root of
 * the tolerance. So the crossing is found by secant steps on certificates that are 300 times wider
 * than the last one may be, which share their bias; a sharp one there measures that bias, and a
 * second one, moved by it, is the answer's own.
 *
 * Promise: *x was itself certified at most the target, and the truth there is less than a billionth
 * of x away from it, by the certificate's lower end or by the estimate of what a band added.
 * Only where a certificate cannot be made so sharp does its upper end decide alone. */
#include "mechanism/calibrate.h"

#include <math.h>

#include "base/error.h"

static const double most_loss = 9.5e-10; /* of x: how far to the noisy side an answer may lie */
static const double sharp_width = 6e-10; /* of x: how wide a sharp certificate may be */
static const double sharp_interval =
    5e-10;                               /* the same where no share of it is known to be excess */
static const double near_width = 6e-9;   /* the same of the one before it */
static const double wide_width = 1.8e-7; /* the same of those that find the crossing */
static const double far_off[] = {0.5, 0.05}; /* of log x: steps not worth a sharper one */

/* What was tried last: where, and how far the truth is believed to lie above the target there. */
typedef struct trail {
    double at[3], excess[3]; /* the newest first */
    double doubt[2];         /* how far off that may be */
    int count;
} trail;

static void remember(trail *t, double at, double excess, double doubt)
{
    for (int i = 2; i > 0; i--)
        t->at[i] = t->at[i - 1], t->excess[i] = t->excess[i - 1];
    t->doubt[1] = t->doubt[0];
    t->at[0] = at, t->excess[0] = excess, t->doubt[0] = doubt;
    t->count++;
}

/* The slope between the two newest points, if they are far enough apart to say it. */
static double better_slope(const trail *t, double slope)
{
    if (t->count < 2)
        return slope;
    double distance = t->at[0] - t->at[1], fall = t->excess[1] - t->excess[0];
    double secant = fall / distance;
    bool near = secant > slope / 4 && secant < slope * 4;
    near |= t->count == 2 && secant > 0.01; /* the first slope may be of a bound by moments */
    /* a secant over little more than the doubt says nothing new */
    double doubt = fmax(t->doubt[0], t->doubt[1]);
    bool clear = fabs(distance) > 1e-7 && fabs(fall) >= (t->count < 3 ? 4 : 300) * doubt;
    return near && clear ? secant : slope;
}

/* How far from the newest point the target is met: by the slope, bent by the third newest point
 * where nothing was smoothed and that says nearly the same. */
static double step_to_target(const trail *t, double slope)
{
    double straight = t->excess[0] / slope;
    if (t->count < 3 || t->doubt[0] > 1e-10 * slope)
        return straight;
    const double *x = t->at, *y = t->excess;
    double first = (x[0] - x[1]) / (y[0] - y[1]), second = (x[1] - x[2]) / (y[1] - y[2]);
    double bent = -y[0] * first + y[0] * y[1] * (first - second) / (y[0] - y[2]);
    return fabs(x[0] - x[1]) > 1e-7 && fabs(bent - straight) <= 0.2 * fabs(straight) ? bent
                                                                                     : straight;
}

/* What the last trial says, in logarithms over the target. */
typedef struct finding {
    double upper, truth; /* the bound, and what it would be unsmoothed, about */
    bool known;          /* something is known of the truth: */
    double gap;          /* how far the upper end lies above that */
    double doubt;        /* how far the truth may be from where it is believed */
} finding;

static finding read_trial(const brume_search_for *c, double upper)
{
    const brume_trial *trial = &c->trial;
    finding f = {.upper = upper, .truth = upper};
    if (!(trial->bound > 0 && trial->bound < INFINITY))
        return f;
    double gap = 1 - trial->lower / trial->bound, excess = trial->excess / trial->bound;
    if (!(excess > 0 && excess <= gap) && gap > 0.5)
        return f; /* nothing is known of the other end: the bound itself decides */
    bool estimated = excess > 0 && excess <= gap; /* else it is of another bound than this */
    f.known = true;
    excess = estimated ? fmin(excess, 0.5) : gap / 3; /* a third, of a smooth delta */
    f.truth += log1p(-excess);
    f.gap = estimated ? upper - f.truth : -log1p(-gap);
    f.doubt = 0.1 * excess;
    return f;
}

typedef enum stage { FIRST, SECOND, WIDE, NEAR, SHARP } stage;

/* `stuck`: the gap does not shrink as asked, so that a sharper one is not worth its time. */
static double tolerance_of(stage s, double slope, bool estimated, bool stuck)
{
    const double sharp = estimated ? sharp_width : sharp_interval;
    const double widths[] = {0.02, 1e-3, wide_width, near_width, sharp};
    return widths[stuck ? WIDE : s] * (s < WIDE ? 1 : fmin(slope, 100));
}

brume_status brume_calibrate_polish(brume_search_for *c, double least, double most, double *x,
                                    double slope, bool *found, brume_error *error)
{
    double at = log(*x);
    trail tried = {.count = 0};
    stage now = c->only_failure ? SHARP : FIRST;
    *found = false;
    bool estimated = true, stuck = false, known = true; /* of the trial before */
    for (int step = 0; step < 16; step++) {
        double upper;
        if (!(exp(at) > least && exp(at) < most))
            return BRUME_OK;
        c->tolerance = tolerance_of(now, slope, estimated, stuck);
        c->both_ends |= now == SHARP && !known && brume_calibrate_is_thinned(c);
        BRUME_TRY(brume_calibrate_excess(c, at, &upper, error));
        finding f = read_trial(c, upper);
        estimated = c->trial.excess > 0, known = f.known;
        bool dull = f.gap > 1.5 * c->tolerance || (!f.known && brume_calibrate_is_thinned(c));
        if (now == SHARP && !stuck && !c->both_ends && dull) {
            c->both_ends = true; /* not sharp enough by its upper end alone: once more */
            c->tried_count = 0;
            BRUME_TRY(brume_calibrate_excess(c, at, &upper, error));
            f = read_trial(c, upper);
        }
        stuck |= now == WIDE && c->trial.lower > 0.5 * c->trial.bound && f.gap > 4 * c->tolerance;
        if (now >= WIDE && f.gap > 1.5 * c->tolerance) /* it cannot be sharper: it decides itself */
            f = (finding){.upper = upper, .truth = upper};
        if (now >= WIDE && f.gap > sharp_interval * slope && f.gap < 0.05 * c->tolerance)
            f.truth = upper, f.gap = 0; /* far below what was asked for: rounding, which stays */
        bool near = upper - f.gap >= -most_loss * slope;
        if (now >= WIDE && upper <= 0 && near && (f.known || now == SHARP)) {
            *x = exp(at); /* the very point that was tried */
            *found = c->tight = true;
            return BRUME_OK;
        }
        remember(&tried, at, f.truth, f.doubt);
        slope = better_slope(&tried, slope);
        double move = step_to_target(&tried, slope);
        if (step < 3 && now < WIDE) /* a slope of moments says little */
            move = fmin(fmax(move, -1), 1);
        if (!isfinite(move) || !(slope > 0.01) || fabs(move) > 3)
            return BRUME_OK;
        at += move;
        bool smoothed = f.gap > sharp_width * slope, was_sharp = now == SHARP;
        now = now < WIDE                         ? now + (fabs(move) < far_off[now])
              : now == SHARP || step > 9         ? SHARP
              : now == WIDE && fabs(move) < 2e-6 ? (smoothed ? NEAR : SHARP)
              : now == NEAR && fabs(move) < 1e-7 ? SHARP
                                                 : now;
        if (now == SHARP || (!smoothed && fabs(move) < 1e-4)) { /* to where it will do */
            double gap = was_sharp || !smoothed ? fmin(f.gap / slope, most_loss)
                         : estimated            ? sharp_width
                                                : sharp_interval;
            double lift = smoothed && !was_sharp ? gap : (upper - f.truth) / slope;
            at += lift + fmin((most_loss - gap) / 2, estimated || !smoothed ? 1.5e-10 : 7e-11);
        }
    }
    return BRUME_OK;
}
