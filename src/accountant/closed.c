/* Inverting a closed form. The search only proposes points; an end is moved only to a point at
 * which the closed form itself certified it. */
#include "accountant/closed.h"

#include <math.h>

#include "accountant/profile.h"

/* Gaussians together, in balls: delta grows with mu. */
static double gaussian_delta(void *context, double epsilon, brume_side side)
{
    const brume_law *law = context;
    brume_interval delta = brume_profile_gaussian(brume_parameter_moved(law->a, side), epsilon);
    return side == BRUME_UPPER_SIDE ? delta.upper : delta.lower;
}

brume_closed brume_gaussian_form(brume_law *law)
{
    return (brume_closed){
        .delta = gaussian_delta, .context = law, .route = "closed form of the Gaussian"};
}

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

/* A point of the search: log(upper delta/target) there, and how fast it falls. */
typedef struct found {
    double epsilon, excess, slope;
} found;

/* The epsilon at which the upper side meets `target`, approximately: secants on log delta, kept in
 * the bracket; bisection where they leave it. */
static found search(const brume_closed *closed, double target, double low, double high,
                    double guess)
{
    double last = NAN, last_value = NAN;
    found at = {.epsilon = guess, .slope = closed->slope};
    for (int i = 0; i < 60; i++) {
        double delta = closed->delta(closed->context, at.epsilon, BRUME_UPPER_SIDE);
        double value = log(delta / target); /* -infinity at 0 */
        at.excess = value;
        if (isfinite(value) && isfinite(last_value) && value != last_value)
            at.slope = (last_value - value) / (at.epsilon - last);
        if (fabs(value) < 1e-14)
            break;
        if (value > 0)
            low = at.epsilon;
        else
            high = at.epsilon;
        double next = NAN;
        if (isfinite(value) && at.slope > 0 && (i > 0 || fabs(value) < 1))
            next = at.epsilon + value / at.slope;
        else if (isfinite(value) && fabs(value) < 0.5) /* a guess at the slope */
            next = at.epsilon + 0.1 * value;
        if (fabs(next - at.epsilon) <= 1e-14 * at.epsilon)
            break; /* less than can be certified */
        if (!(next > low && next < high))
            next = high < INFINITY ? 0.5 * (low + high) : 2 * at.epsilon + 1;
        if (high - low <= 1e-15 * high)
            break;
        last = at.epsilon;
        last_value = value;
        at.epsilon = next;
    }
    return at;
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
    found root = search(closed, high_target, value->lower, value->upper, guess);
    answer->rounds++;
    double slope = root.slope > 0 ? root.slope : 1, least = 2 * BRUME_UNIT * root.epsilon;
    double step = root.excess > 0 ? 1.5 * root.excess / slope + least : 0;
    for (int i = 0; i < 60; i++, step = 2 * step + least) {
        double epsilon = root.epsilon + step;
        if (!(epsilon < value->upper))
            break;
        if (i == 0 && step == 0
                ? root.excess <= 0 /* evaluated already */
                : closed->delta(closed->context, epsilon, BRUME_UPPER_SIDE) <= high_target) {
            value->upper = epsilon;
            answer->route = closed->route;
            answer->balls = true;
            break;
        }
    }
    double excess =
        log(closed->delta(closed->context, root.epsilon, BRUME_LOWER_SIDE) / low_target);
    step = fmax(isfinite(excess) ? -1.1 * excess / slope : 0, 0) + 4 * least;
    for (int i = 0; i < 60; i++, step *= 2) {
        double epsilon = root.epsilon - step;
        if (!(epsilon > value->lower))
            break;
        if (closed->delta(closed->context, epsilon, BRUME_LOWER_SIDE) > low_target) {
            value->lower = epsilon;
            break;
        }
    }
}
