/* Inverting a closed form. The search only proposes points; an end is moved only to a point at
 * which the closed form itself certified it. */
#include "accountant/closed.h"

#include <math.h>

void brume_closed_delta(const brume_closed *closed, double epsilon, brume_answer *answer)
{
    double upper = closed->delta(closed->context, epsilon, BRUME_UPPER_SIDE);
    double lower = closed->delta(closed->context, epsilon, BRUME_LOWER_SIDE);
    if (upper < answer->value.upper) {
        answer->value.upper = upper;
        answer->route = closed->route;
        answer->balls = true;
    }
    answer->value.lower = fmax(answer->value.lower, lower);
    answer->rounds++;
}

/* The epsilon at which the upper side meets `target`, approximately: secants on log delta, kept in
 * the bracket; bisection where they leave it. */
static double search(const brume_closed *closed, double target, double low, double high,
                     double guess)
{
    double last = NAN, last_value = NAN, epsilon = guess;
    for (int i = 0; i < 60; i++) {
        double delta = closed->delta(closed->context, epsilon, BRUME_UPPER_SIDE);
        double value = log(delta / target); /* -infinity at 0 */
        if (fabs(value) < 1e-14)
            break;
        if (value > 0)
            low = epsilon;
        else
            high = epsilon;
        double next = NAN;
        if (isfinite(value) && isfinite(last_value) && value != last_value)
            next = epsilon - value * (epsilon - last) / (value - last_value);
        else if (isfinite(value) && fabs(value) < 0.5) /* a guess at the slope: -1 at least */
            next = epsilon + 0.1 * value;
        if (!(next > low && next < high))
            next = high < INFINITY ? 0.5 * (low + high) : 2 * epsilon + 1;
        last = epsilon;
        last_value = value;
        double step = fabs(next - epsilon);
        epsilon = next;
        if (step <= 1e-13 * epsilon || high - low <= 1e-15 * high)
            break;
    }
    return epsilon;
}

void brume_closed_epsilon(const brume_closed *closed, double delta, double delta_error,
                          double guess, brume_answer *answer)
{
    brume_interval *value = &answer->value;
    double high_target = delta * (1 - delta_error) * (1 - 2 * BRUME_UNIT);
    double low_target = delta * (1 + delta_error) * (1 + 2 * BRUME_UNIT);
    if (value->lower <= 0 && closed->delta(closed->context, 0, BRUME_UPPER_SIDE) <= high_target) {
        *value = (brume_interval){0, 0}; /* already met at epsilon 0 */
        answer->route = closed->route;
        answer->balls = true;
        return;
    }
    if (!(guess > value->lower && guess < value->upper))
        guess = value->upper < INFINITY ? 0.5 * (value->lower + value->upper) : value->lower + 1;
    double root = search(closed, high_target, value->lower, value->upper, guess);
    answer->rounds++;
    double step = 4 * BRUME_UNIT * root;
    for (int i = 0; i < 40; i++, step *= 4) {
        double epsilon = root + (i ? step : 0);
        if (!(epsilon < value->upper))
            break;
        if (closed->delta(closed->context, epsilon, BRUME_UPPER_SIDE) <= high_target) {
            value->upper = epsilon;
            answer->route = closed->route;
            answer->balls = true;
            break;
        }
    }
    step = 16 * BRUME_UNIT * root;
    for (int i = 0; i < 40; i++, step *= 4) {
        double epsilon = root - step;
        if (!(epsilon > value->lower))
            break;
        if (closed->delta(closed->context, epsilon, BRUME_LOWER_SIDE) > low_target) {
            value->lower = epsilon;
            break;
        }
    }
}
