/* Monotone search on certified bounds: expand from a guess to a bracket, then close it by the
 * interpolate-truncate-project rule, which never takes more steps than bisection needs plus one.
 * Differs from [OT20]: in logarithms, and an end whose logarithm is infinite is bisected away. */
#include "accountant/search.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct bracket {
    double low, high;               /* log x: value(low) > target >= value(high) */
    double low_excess, high_excess; /* log(value/target) there: > 0 and <= 0 */
} bracket;

static brume_status excess_at(const brume_search *search, double log_x, double *excess,
                              brume_error *error)
{
    double value;
    BRUME_TRY(search->value(search->context, exp(log_x), &value, error));
    if (isnan(value))
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a bound is not a number");
    /* the comparison that counts is made on the values, not on their logarithms */
    bool met = value <= search->target;
    double logarithm = log(value / search->target);
    *excess = met ? fmin(logarithm, 0) : fmax(logarithm, 1e-300);
    return BRUME_OK;
}

/* Walk from `guess` in growing steps until the target lies between two points. */
static brume_status expand(const brume_search *search, double guess, bracket *out,
                           brume_error *error)
{
    double least = log(search->least), most = log(search->most);
    double at = fmin(fmax(log(guess), least), most), excess;
    BRUME_TRY(excess_at(search, at, &excess, error));
    *out = (bracket){at, at, excess, excess};
    double first = search->step > 0 ? search->step : 0.5;
    for (double step = first; excess > 0; step *= 2) {
        if (at >= most)
            return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                              "no value up to %.3g meets the target", search->most);
        out->low = at, out->low_excess = excess;
        at = fmin(at + step, most);
        BRUME_TRY(excess_at(search, at, &excess, error));
        out->high = at, out->high_excess = excess;
    }
    if (out->low_excess > 0)
        return BRUME_OK;
    for (double step = first; excess <= 0 && at > least; step *= 2) {
        out->high = at, out->high_excess = excess;
        at = fmax(at - step, least);
        BRUME_TRY(excess_at(search, at, &excess, error));
        out->low = at, out->low_excess = excess;
    }
    if (excess <= 0) /* even the least x meets it */
        out->high = out->low, out->high_excess = out->low_excess;
    return BRUME_OK;
}

static double next_point(const bracket *b, double tolerance, double room, double first_width)
{
    double width = b->high - b->low, middle = b->low + width / 2;
    if (!isfinite(b->low_excess) || !isfinite(b->high_excess))
        return middle;
    double slope_point = (b->low_excess * b->high - b->high_excess * b->low) /
                         (b->low_excess - b->high_excess);
    double side = middle >= slope_point ? 1 : -1;
    double truncation = fmax(0.2 * width * width / first_width, tolerance / 4);
    double point = truncation <= fabs(middle - slope_point) ? slope_point + side * truncation
                                                            : middle;
    double radius = fmax(room - width / 2, 0);
    if (fabs(point - middle) > radius)
        point = middle - side * radius;
    return point;
}

brume_status brume_search_least(const brume_search *search, double guess, double *x,
                                brume_error *error)
{
    bracket b;
    BRUME_TRY(expand(search, guess, &b, error));
    double tolerance = log1p(search->relative);
    double first_width = b.high - b.low;
    if (first_width > 0) {
        int most_steps = (int)ceil(log2(fmax(first_width / tolerance, 1))) + 1;
        for (int step = 0; b.high - b.low > tolerance && step < most_steps + 64; step++) {
            double room = tolerance / 2 * exp2(fmax(most_steps - step, 0));
            double at = next_point(&b, tolerance, room, first_width), excess;
            if (!(at > b.low && at < b.high))
                at = b.low + (b.high - b.low) / 2;
            if (!(at > b.low && at < b.high))
                break; /* neighbouring doubles */
            BRUME_TRY(excess_at(search, at, &excess, error));
            if (excess > 0)
                b.low = at, b.low_excess = excess;
            else
                b.high = at, b.high_excess = excess;
        }
    }
    *x = exp(b.high); /* the very point that was evaluated: exp is a function */
    return BRUME_OK;
}
