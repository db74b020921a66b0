/* Epsilon at a delta on one line: Newton's steps propose, certified ends decide. */
#include "accountant/contour/line_invert.h"

#include <math.h>

static const double unit = BRUME_UNIT;

/* Newton on log T from `epsilon`, bracketed; returns the new epsilon. */
double brume_line_newton(const brume_line *line, double epsilon, double delta, double low,
                         double high, bool may_leave)
{
    double start = epsilon, floor_ = low;
    for (int i = 0; i < 60; i++) {
        brume_line_sum at = brume_line_evaluate(line, epsilon);
        if (at.value > delta)
            low = epsilon;
        else
            high = epsilon;
        double most = (i + 1) * 2 / line->c;
        double step = at.value > 0 && at.slope < 0 ? log(at.value / delta) * at.value / -at.slope
                      : at.value > delta           ? most
                                                   : -most;
        step = fmin(fmax(step, -most), most);
        if (fabs(step) <= 1e-15 * epsilon) /* there: a bisection would leave */
            break;
        double next = epsilon + step;
        if (!(next > low && next < high) && !(next <= 0 && floor_ == 0))
            next = high < INFINITY ? 0.5 * (low + high) : epsilon + most;
        if (next <= 0)
            next = i > 3 ? 0 : epsilon / 16;
        step = next - epsilon;
        epsilon = next;
        if (fabs(step) < 1e-15 * epsilon || (epsilon == 0 && step == 0) ||
            (may_leave && fabs(step) < 1e-2 / line->c && fabs(epsilon - start) > 1 / line->c))
            break;
    }
    return epsilon;
}

/* Widen around `epsilon` until both ends are certified; ends that cannot be are left alone. */
void brume_line_ends(brume_line *line, double epsilon, double delta, double delta_error,
                     brume_interval *value)
{
    brume_line_sum at = brume_line_evaluate(line, epsilon);
    double slope = fmax(-at.slope, 1e-300), end;
    if (epsilon <= 0) { /* met at epsilon 0 already? */
        brume_line_certify(line, 0, NULL, &end);
        if (end <= delta * (1 - delta_error))
            value->upper = 0;
    }
    double step = (1.2 * at.error + 1.2 * at.value * delta_error) / slope + 2 * unit * epsilon;
    for (int i = 0; i < 60; i++, step *= 2) {
        double high = epsilon + step;
        brume_line_certify(line, high, NULL, &end);
        if (end <= delta * (1 - delta_error)) {
            if (high < value->upper)
                value->upper = high;
            break;
        }
    }
    brume_line_certify(line, epsilon, &end, NULL);
    step = fmax((delta * (1 + delta_error) - end) / slope, 2 * unit * epsilon) * 1.02 +
           4 * unit * epsilon;
    for (int i = 0; i < 60 && epsilon > 0; i++, step *= 1.5) {
        double low = epsilon - step;
        if (low <= 0)
            break;
        brume_line_certify(line, low, &end, NULL);
        if (end > delta * (1 + delta_error)) {
            if (low > value->lower)
                value->lower = low;
            break;
        }
    }
}
