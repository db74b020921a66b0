/* From Renyi divergence to (epsilon, delta). Promise: the value of the stated formula at some
 * order, rounded up; the order is the best that a coarse grid and a golden section find. */
#include "accountant/renyi/renyi.h"

#include <math.h>

#include "number/ball.h"

enum { PRECISION = 128, GRID = 50, GOLDEN_STEPS = 44 };

double brume_renyi_epsilon_at_upper(double alpha, double divergence, double delta)
{
    if (!(delta > 0) || !(alpha > 1) || !isfinite(divergence))
        return INFINITY;
    arb_t a, less, term, out;
    arb_init(a), arb_init(less), arb_init(term), arb_init(out);
    arb_set_d(a, alpha);
    arb_sub_ui(less, a, 1, PRECISION);
    arb_set_d(term, delta);
    arb_mul(term, term, a, PRECISION);
    arb_log(term, term, PRECISION);
    arb_div(term, term, less, PRECISION); /* (ln delta + ln alpha)/(alpha-1) */
    arb_div(out, less, a, PRECISION);
    arb_log(out, out, PRECISION);
    arb_sub(out, out, term, PRECISION);
    arb_set_d(term, divergence);
    arb_add(out, out, term, PRECISION);
    double result = fmax(brume_ball_upper(out), 0);
    arb_clear(a), arb_clear(less), arb_clear(term), arb_clear(out);
    return result;
}

double brume_renyi_delta_at_upper(double alpha, double divergence, double epsilon)
{
    if (!(alpha > 1) || !isfinite(divergence))
        return 1;
    arb_t a, less, term, out;
    arb_init(a), arb_init(less), arb_init(term), arb_init(out);
    arb_set_d(a, alpha);
    arb_sub_ui(less, a, 1, PRECISION);
    arb_set_d(out, divergence);
    arb_set_d(term, epsilon);
    arb_sub(out, out, term, PRECISION);
    arb_mul(out, out, less, PRECISION); /* (alpha-1)(D-epsilon) */
    arb_div(term, less, a, PRECISION);
    arb_log(term, term, PRECISION);
    arb_addmul(out, term, a, PRECISION); /* + alpha ln(1-1/alpha) */
    arb_log(term, less, PRECISION);
    arb_sub(out, out, term, PRECISION); /* - ln(alpha-1) */
    arb_exp(out, out, PRECISION);
    double result = fmin(brume_ball_upper(out), 1);
    arb_clear(a), arb_clear(less), arb_clear(term), arb_clear(out);
    return result;
}

/* ------------------------------------------------------------------ the best order */

typedef struct objective {
    const brume_curve *curve;
    double target; /* delta or epsilon */
    int of_delta;  /* minimise epsilon at this delta, or log delta at this epsilon */
} objective;

/* The formula in doubles: it only chooses the order. */
static double rough(const objective *goal, double u)
{
    double less = exp(u), alpha = 1 + less;
    const brume_curve *curve = goal->curve;
    double divergence = (curve->rough ? curve->rough : curve->at)(curve->context, alpha);
    if (!isfinite(divergence))
        return INFINITY;
    if (goal->of_delta)
        return divergence + log(less / alpha) - (log(goal->target) + log(alpha)) / less;
    return less * (divergence - goal->target) - u + alpha * log(less / alpha);
}

/* alpha - 1 from 2^-40 to 2^60 on a grid in its logarithm, then a golden section around the least.
 */
static double best_order(const objective *goal)
{
    const double first = -40 * M_LN2, step = 2 * M_LN2;
    double best = INFINITY, at = first;
    for (int i = 0; i <= GRID; i++) {
        double value = rough(goal, first + i * step);
        if (value < best)
            best = value, at = first + i * step;
    }
    const double golden = 0.6180339887498949;
    double low = at - step, high = at + step;
    double left = high - golden * (high - low), right = low + golden * (high - low);
    double left_value = rough(goal, left), right_value = rough(goal, right);
    for (int i = 0; i < GOLDEN_STEPS && high - low > 1e-9; i++) {
        if (left_value <= right_value) {
            high = right, right = left, right_value = left_value;
            left = high - golden * (high - low);
            left_value = rough(goal, left);
        } else {
            low = left, left = right, left_value = right_value;
            right = low + golden * (high - low);
            right_value = rough(goal, right);
        }
    }
    double middle = left_value <= right_value ? left : right;
    if (fmin(left_value, right_value) > best)
        middle = at;
    return 1 + exp(middle);
}

/* A curve known at whole orders has its kinks there: try the neighbours too. */
static double least_over_orders(const objective *goal,
                                double (*at)(double alpha, double divergence, double target))
{
    double alpha = best_order(goal);
    const double candidates[] = {alpha, floor(alpha), ceil(alpha)};
    double best = INFINITY;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        if (!(candidates[i] > 1))
            continue;
        double divergence = goal->curve->at(goal->curve->context, candidates[i]);
        best = fmin(best, at(candidates[i], divergence, goal->target));
    }
    return best;
}

double brume_renyi_best_order(const brume_curve *curve, double given, bool of_delta)
{
    return best_order(&(objective){curve, given, of_delta});
}

double brume_renyi_epsilon_upper(const brume_curve *curve, double delta)
{
    if (!(delta > 0))
        return INFINITY;
    if (delta >= 1)
        return 0;
    return least_over_orders(&(objective){curve, delta, 1}, brume_renyi_epsilon_at_upper);
}

double brume_renyi_delta_upper(const brume_curve *curve, double epsilon)
{
    return fmin(least_over_orders(&(objective){curve, epsilon, 0}, brume_renyi_delta_at_upper), 1);
}

/* ------------------------------------------------------------------- concentrated */

double brume_concentrated_epsilon_closed_upper(double rho, double delta)
{
    if (!(delta > 0))
        return rho > 0 ? INFINITY : 0;
    if (delta >= 1)
        return 0;
    arb_t r, out;
    arb_init(r), arb_init(out);
    arb_set_d(r, rho);
    arb_set_d(out, delta);
    arb_log(out, out, PRECISION);
    arb_neg(out, out);
    arb_mul(out, out, r, PRECISION);
    arb_sqrt(out, out, PRECISION);
    arb_mul_2exp_si(out, out, 1);
    arb_add(out, out, r, PRECISION);
    double result = brume_ball_upper(out);
    arb_clear(r), arb_clear(out);
    return result;
}

/* The same solved for delta: exp(-(epsilon - rho)^2/(4 rho)), 1 where epsilon is below rho. */
double brume_concentrated_delta_closed_upper(double rho, double epsilon)
{
    if (!(rho > 0))
        return 0;
    if (!(epsilon > rho))
        return 1;
    arb_t r, out;
    arb_init(r), arb_init(out);
    arb_set_d(r, rho);
    arb_set_d(out, epsilon);
    arb_sub(out, out, r, PRECISION);
    arb_sqr(out, out, PRECISION);
    arb_div(out, out, r, PRECISION);
    arb_mul_2exp_si(out, out, -2);
    arb_neg(out, out);
    arb_exp(out, out, PRECISION);
    double result = fmin(brume_ball_upper(out), 1);
    arb_clear(r), arb_clear(out);
    return result;
}

/* rho alpha, one step up: an upper bound of the exact product */
static double line(const void *context, double alpha)
{
    return nextafter(*(const double *)context * alpha, INFINITY);
}

double brume_concentrated_epsilon_upper(double rho, double delta)
{
    if (rho == 0)
        return 0;
    return brume_renyi_epsilon_upper(&(brume_curve){line, &rho, NULL}, delta);
}

double brume_concentrated_delta_upper(double rho, double epsilon)
{
    if (rho == 0)
        return 0;
    return brume_renyi_delta_upper(&(brume_curve){line, &rho, NULL}, epsilon);
}
