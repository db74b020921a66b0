/* A whole unknown: the largest number (or the smallest, where larger costs less) that meets the
 * target, by few certificates where a cheap bound says where to look.
 *
 * Promise: the number returned was certified; the next one was not, as near as can be. */
#include "mechanism/calibrate.h"

#include <math.h>

#include "base/error.h"

/* A whole number that meets the target and one that does not. */
typedef struct whole_ends {
    double good, bad;               /* NAN: not yet known */
    double good_excess, bad_excess; /* log(bound/target) there */
    double least, most, slope;
    bool largest; /* the largest number that meets the target, not the least */
    int repeated; /* how often only one of the two was known */
} whole_ends;

/* A step beyond the one end that is known, by the slope in logarithms, and ever longer; from the
 * largest number of all to the least, not by steps. */
static double beyond(whole_ends *e)
{
    bool good = isnan(e->bad);
    if (good && !e->largest && e->good == e->most)
        return e->least;
    double direction = good == e->largest ? 1 : -1;
    double at = good ? e->good : e->bad, excess = good ? e->good_excess : e->bad_excess;
    double step = isfinite(excess) ? 1.05 * at * fabs(excess) / e->slope : 0;
    step = fmax(ceil(step), 1) * exp2(3 * e->repeated++);
    step = fmin(step, direction > 0 ? 7 * at + 7 : ceil(7 * at / 8));
    return fmin(fmax(at + direction * step, e->least), e->most);
}

/* Between both ends: where the logarithms say, or in the middle. */
static double inside(const whole_ends *e, bool halve)
{
    double direction = e->largest ? 1 : -1, ratio = e->bad / e->good;
    double next = ratio > 4 || ratio < 0.25 ? sqrt(e->good * e->bad) : (e->good + e->bad) / 2;
    if (!halve && isfinite(e->good_excess) && isfinite(e->bad_excess))
        next = e->good * exp(log(ratio) * e->good_excess / (e->good_excess - e->bad_excess));
    next = e->largest ? floor(next) : ceil(next);
    if (!(direction * next > direction * e->good))
        next = e->good + direction;
    return direction * next < direction * e->bad ? next : e->bad - direction;
}

/* Where to begin: by a cheap bound, else at the end that meets the target if any number does. */
static double begin(brume_search_for *c, whole_ends *e)
{
    double from = e->largest ? 1 / e->most : e->least, to = e->largest ? 1 / e->least : e->most;
    double at, slope = NAN, guess = 1 / sqrt(e->least);
    bool cheap = !c->accuracy && c->delta > 0 && e->least >= 1 && e->most > e->least + 1;
    c->look = BRUME_LOOK_MOMENTS; /* so that the terms are known */
    cheap = cheap && brume_calibrate_bound(c, e->least, &at, NULL) == BRUME_OK;
    c->look = BRUME_LOOK_CERTIFIED;
    if (!cheap)
        return e->largest ? e->least : e->most;
    bool sampled = brume_calibrate_is_sampled(c);
    brume_looking first = sampled ? BRUME_LOOK_MOMENTS : BRUME_LOOK_SADDLE;
    brume_looking second = sampled ? BRUME_LOOK_SADDLE : BRUME_LOOK_MOMENTS;
    if (!brume_calibrate_look(c, first, from, to, guess, 0, &at, &slope) &&
        !brume_calibrate_look(c, second, from, to, guess, 0, &at, &slope))
        return e->largest ? e->least : e->most;
    if (slope > 1)
        e->slope = slope;
    return fmin(fmax(floor(e->largest ? 1 / at : at), e->least), e->most);
}

brume_status brume_calibrate_whole(brume_search_for *c, double *value, brume_error *error)
{
    const brume_parameter *parameter = c->expression->unknown.parameter;
    whole_ends ends = {.good = NAN, .bad = NAN, .slope = 1, .largest = c->inverted};
    ends.least = parameter->least_open ? floor(parameter->least) + 1 : ceil(parameter->least);
    if (parameter->optional && parameter->standard == 0)
        ends.least = fmax(ends.least, 1); /* 0 means that it is not said */
    ends.most =
        fmin(parameter->most_open ? ceil(parameter->most) - 1 : floor(parameter->most), 0x1p53);
    double safe = ends.largest ? ends.least : ends.most;
    double bold = ends.largest ? ends.most : ends.least;
    double tried = begin(c, &ends), target = brume_calibrate_target(c);
    c->tolerance = 0.02;
    for (int step = 0;; step++) {
        double bound;
        BRUME_TRY(brume_calibrate_bound(c, tried, &bound, error));
        bool good = bound <= target;
        *(good ? &ends.good : &ends.bad) = tried;
        *(good ? &ends.good_excess : &ends.bad_excess) = log(bound / target);
        if (fabs(ends.good - ends.bad) <= 1 || (good && tried == bold)) {
            *value = ends.good;
            return BRUME_OK;
        }
        if (!good && tried == safe)
            return brume_calibrate_no_value(c, error);
        bool both = !isnan(ends.good) && !isnan(ends.bad);
        tried = both ? inside(&ends, step % 5 == 4) : beyond(&ends);
    }
}
