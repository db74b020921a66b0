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

    double last, last_excess;     /* the newest number, */
    double before, before_excess; /* and the one tried before it */
    double crossing;              /* where the target was believed to be met; NAN: nowhere yet */
    double width;                 /* of both ends when they were last halved, */
    int lingered;                 /* and how often not since */
} whole_ends;

/* A line through two numbers and the logarithms there, along x or, where a larger number costs
 * less, along 1/x: where it meets the target. */
static double line_meets(const whole_ends *e, double a, double a_excess, double b, double b_excess)
{
    double x = e->largest ? a : 1 / a, y = e->largest ? b : 1 / b;
    double at = x - a_excess * (y - x) / (b_excess - a_excess);
    return e->largest ? at : 1 / at;
}

/* A step beyond the one end that is known, by the slope in logarithms or by the two newest numbers,
 * and ever longer; from the largest number of all to the least, not by steps. */
static double beyond(whole_ends *e)
{
    bool good = isnan(e->bad);
    if (good && !e->largest && e->good == e->most)
        return e->least;
    double direction = good == e->largest ? 1 : -1;
    double at = good ? e->good : e->bad, excess = good ? e->good_excess : e->bad_excess;
    double step = isfinite(excess) ? 1.05 * at * fabs(excess) / e->slope : 0;
    double expected = line_meets(e, e->last, e->last_excess, e->before, e->before_excess);
    double ahead = 1.1 * direction * (expected - at), longest = 7 * (at + 1);
    step = fmax(ceil(step), 1) * exp2(3 * e->repeated++);
    if (expected > 0 && ahead > 0 && ahead < 1e5 * at)
        step = longest = ceil(ahead) * e->repeated;
    step = fmin(step, direction > 0 ? longest : ceil(7 * at / 8));
    return fmin(fmax(at + direction * step, e->least), e->most);
}

/* Where the target is expected to be met, between both ends: by the two newest numbers, else by
 * both ends. Not a number: nothing is known. */
static double expect_crossing(const whole_ends *e)
{
    double low = fmin(e->good, e->bad), high = fmax(e->good, e->bad);
    double at = line_meets(e, e->last, e->last_excess, e->before, e->before_excess);
    if (at > low && at < high)
        return at;
    return line_meets(e, e->good, e->good_excess, e->bad, e->bad_excess);
}

/* Between both ends. The crossing is approached from both sides, for a line misses a curve on the
 * same side time and again: next comes the side whose end is farther away, as far beyond the
 * crossing as a tenth of what the last guess was wrong by. Where that does not halve the distance
 * in three steps, the middle. */
static double inside(whole_ends *e)
{
    double direction = e->largest ? 1 : -1, ratio = e->bad / e->good;
    double old = e->crossing, next = expect_crossing(e), width = fabs(log(ratio));
    bool halved = !(width > e->width / 2);
    e->lingered = halved ? 0 : e->lingered + 1;
    e->width = halved ? width : e->width;
    e->crossing = next;
    if (!isfinite(next) || !(next > 0) || e->lingered >= 3) {
        next = width > log(4) ? sqrt(e->good * e->bad) : (e->good + e->bad) / 2;
        e->lingered = 0, e->width = width;
        next = e->largest ? floor(next) : ceil(next);
    } else {
        double wrong = isnan(old) ? 0.1 * fabs(next - e->last) : 0.1 * fabs(next - old);
        bool good_side = fabs(log(next / e->good)) > fabs(log(next / e->bad));
        next += good_side ? -direction * wrong : direction * wrong;
        next = e->largest ? floor(next) : ceil(next);
        next += good_side ? 0 : direction;
    }
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

/* log(delta/target) at a number just tried, about: a third of a known interval is excess. On the
 * side of the target where the bound is. */
static double excess_of_trial(const brume_search_for *c, double bound, double target)
{
    const brume_trial *trial = &c->trial;
    bool good = bound <= target;
    bool known = !c->accuracy && trial->bound == bound && trial->lower > 0.5 * bound;
    double truth = known ? bound - (bound - trial->lower) / 3 : bound, excess = log(truth / target);
    return good ? fmin(excess, 0) : fmax(excess, 1e-12);
}

brume_status brume_calibrate_whole(brume_search_for *c, double *value, brume_error *error)
{
    const brume_parameter *parameter = c->expression->unknown.parameter;
    whole_ends ends = {.good = NAN,
                       .bad = NAN,
                       .last = NAN,
                       .crossing = NAN,
                       .width = INFINITY,
                       .slope = 1,
                       .largest = c->inverted};
    ends.least = parameter->least_open ? floor(parameter->least) + 1 : ceil(parameter->least);
    if (parameter->optional && parameter->standard == 0)
        ends.least = fmax(ends.least, 1); /* 0 means that it is not said */
    ends.most =
        fmin(parameter->most_open ? ceil(parameter->most) - 1 : floor(parameter->most), 0x1p53);
    double safe = ends.largest ? ends.least : ends.most;
    double bold = ends.largest ? ends.most : ends.least;
    double tried = begin(c, &ends), target = brume_calibrate_target(c);
    c->tolerance = 0.02;
    for (;;) {
        double bound;
        BRUME_TRY(brume_calibrate_bound(c, tried, &bound, error));
        bool good = bound <= target;
        *(good ? &ends.good : &ends.bad) = tried;
        double excess = excess_of_trial(c, bound, target);
        *(good ? &ends.good_excess : &ends.bad_excess) = excess;
        ends.before = ends.last, ends.before_excess = ends.last_excess;
        ends.last = tried, ends.last_excess = excess;
        if (fabs(ends.good - ends.bad) <= 1 || (good && tried == bold)) {
            *value = ends.good;
            c->everywhere = good && tried == bold;
            return BRUME_OK;
        }
        if (!good && tried == safe)
            return brume_calibrate_no_value(c, error);
        bool both = !isnan(ends.good) && !isnan(ends.bad);
        tried = both ? inside(&ends) : beyond(&ends);
    }
}
