/* Renyi curves of costs and of several terms, rounded up.
 *
 * For a law with moment generating function phi(s) = E e^{sL}, D_alpha = ln phi(alpha-1)/(alpha-1).
 * All laws here but those of a Poisson sample are symmetric in the two orders; of those both are
 * computed. Which order of alpha is best is found in doubles, without a bound of their error; the
 * bound is then computed at that order. */
#include "accountant/renyi/renyi.h"

#include <math.h>

#include "accountant/exact/sampled_balls.h"
#include "accountant/law/law.h"
#include "number/ball.h"
#include "number/rounding.h"

enum { PRECISION = 128 };

/* out = ln(out)/(alpha-1) */
static void divergence_of_moment(arb_t out, double alpha)
{
    arb_t order;
    arb_init(order);
    arb_set_d(order, alpha);
    arb_sub_ui(order, order, 1, PRECISION);
    arb_log(out, out, PRECISION);
    arb_div(out, out, order, PRECISION);
    arb_clear(order);
}

/* out = e^{factor * x} */
static void exp_multiple(arb_t out, const arb_t factor, const arb_t x)
{
    arb_mul(out, factor, x, PRECISION);
    arb_exp(out, out, PRECISION);
}

/* alpha (shift mu)^2/2, where mu = 1/sigma if `inverse` */
static double gaussian_upper(double parameter, bool inverse, uint64_t shift, double alpha)
{
    arb_t out, mu;
    arb_init(out), arb_init(mu);
    arb_set_d(mu, parameter);
    if (inverse)
        arb_inv(mu, mu, PRECISION);
    arb_mul_ui(mu, mu, shift, PRECISION);
    arb_sqr(mu, mu, PRECISION);
    arb_set_d(out, alpha);
    arb_mul(out, out, mu, PRECISION);
    arb_mul_2exp_si(out, out, -1);
    double result = brume_ball_upper(out);
    arb_clear(out), arb_clear(mu);
    return result;
}

/* On a Poisson sample, inner atoms l of mass Q under the second law, r = 1 - q + q e^l: a record
 * removed sum Q r^alpha, added sum Q r^{1-alpha}. Discrete Laplace; of shift 1 the worst pure law.
 */
static void sampled_moment(arb_t out, const brume_loss *law, double alpha, bool added)
{
    arb_t mass, power, log_ratio, term;
    arb_init(mass), arb_init(power), arb_init(log_ratio), arb_init(term);
    slong shift = law->kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE ? (slong)law->shift : 1;
    arb_set_d(power, alpha);
    if (added) {
        arb_sub_ui(power, power, 1, PRECISION);
        arb_neg(power, power);
    }
    arb_zero(out);
    for (slong j = 0; j <= shift; j++) {
        brume_sampled_atom(mass, log_ratio, law, j, PRECISION);
        exp_multiple(term, power, log_ratio);
        arb_addmul(out, mass, term, PRECISION);
    }
    arb_clear(mass), arb_clear(power), arb_clear(log_ratio), arb_clear(term);
}

/* The larger of the two orders. */
static double sampled_upper(const brume_loss *law, double alpha)
{
    double result = 0;
    arb_t out;
    arb_init(out);
    for (int added = 0; added < 2; added++) {
        sampled_moment(out, law, alpha, added);
        divergence_of_moment(out, alpha);
        result = fmax(result, brume_ball_upper(out));
    }
    arb_clear(out);
    return result;
}

static double law_upper(const brume_loss *law, double alpha)
{
    brume_cost cost = {.law = *law, .epsilon = law->a};
    switch (law->kind) {
    case BRUME_LOSS_NONE:
        break;
    case BRUME_LOSS_GAUSSIAN:
        return gaussian_upper(law->a, false, 1, alpha);
    case BRUME_LOSS_LAPLACE:
        return brume_renyi_laplace_upper(&cost, alpha);
    case BRUME_LOSS_PURE:
        return brume_renyi_pure_upper(&cost, alpha);
    case BRUME_LOSS_KARY:
        return brume_renyi_kary_upper(&cost, alpha);
    case BRUME_LOSS_DISCRETE_LAPLACE: /* the largest loss, up */
        cost.epsilon = brume_multiply_up(law->a, brume_count_up(law->shift));
        return brume_renyi_discrete_laplace_upper(&cost, alpha);
    case BRUME_LOSS_DISCRETE_GAUSSIAN: /* exact at whole (alpha-1) shift, else above
                                          [CKS20, Thm 4] */
        return gaussian_upper(law->a, true, law->shift, alpha);
    case BRUME_LOSS_POISSON_GAUSSIAN:
        return brume_renyi_sampled_gaussian_upper(&cost, alpha);
    case BRUME_LOSS_POISSON_LAPLACE: /* at most the worst pure law's */
    case BRUME_LOSS_POISSON_PURE:
    case BRUME_LOSS_POISSON_DISCRETE_LAPLACE:
        return sampled_upper(law, alpha);
    case BRUME_LOSS_POISSON_GAUSSIAN_GROUP:
        return brume_renyi_sampled_group_upper(&cost, alpha);
    }
    return INFINITY;
}

bool brume_renyi_known(const brume_cost *cost)
{
    return cost->loss != BRUME_ABSENT || (cost->renyi != BRUME_ABSENT && cost->renyi_upper) ||
           cost->concentrated != BRUME_ABSENT || cost->pure != BRUME_ABSENT;
}

double brume_renyi_upper(const brume_cost *cost, double alpha)
{
    double best = INFINITY;
    if (cost->loss != BRUME_ABSENT)
        best = fmin(best, law_upper(&cost->law, alpha));
    if (cost->renyi != BRUME_ABSENT && cost->renyi_upper)
        best = fmin(best, cost->renyi_upper(cost, alpha)); /* fmin passes over a NaN */
    if (cost->concentrated != BRUME_ABSENT)
        best = fmin(best, nextafter(cost->rho * alpha, INFINITY)); /* rho alpha, rounded up */
    if (cost->pure != BRUME_ABSENT) {
        brume_loss worst = {.kind = BRUME_LOSS_PURE, .a = cost->epsilon};
        best = fmin(best, law_upper(&worst, alpha));
    }
    return best;
}

/* epsilon tanh(epsilon/2): the worst pure law's [HM25] */
static double rho_of_pure(double epsilon)
{
    arb_t e, half;
    arb_init(e), arb_init(half);
    arb_set_d(e, epsilon);
    arb_mul_2exp_si(half, e, -1);
    arb_tanh(half, half, PRECISION);
    arb_mul(e, e, half, PRECISION);
    double result = brume_ball_upper(e);
    arb_clear(e), arb_clear(half);
    return result;
}

double brume_rho_upper(const brume_cost *cost)
{
    double best = cost->concentrated != BRUME_ABSENT ? cost->rho : INFINITY;
    if (cost->pure != BRUME_ABSENT)
        best = fmin(best, rho_of_pure(cost->epsilon));
    if (cost->loss != BRUME_ABSENT && cost->law.kind == BRUME_LOSS_PURE)
        best = fmin(best, rho_of_pure(cost->law.a));
    if (cost->loss != BRUME_ABSENT &&
        (cost->law.kind == BRUME_LOSS_GAUSSIAN || cost->law.kind == BRUME_LOSS_DISCRETE_GAUSSIAN))
        /* a straight line: D_2 = 2 rho; up, also where half of it is no double */
        best = fmin(best, brume_multiply_up(law_upper(&cost->law, 2), 0.5));
    return best;
}

/* ------------------------------------------------------------------ curves to choose by */

/* D of a law in doubles, by its cumulant; of the two orders the larger. NAN where none is quick. */
static double law_rough(const brume_loss *law, double alpha)
{
    double most = NAN;
    if (law->kind == BRUME_LOSS_NONE || law->kind == BRUME_LOSS_POISSON_LAPLACE)
        return NAN;
    if (law->kind == BRUME_LOSS_POISSON_GAUSSIAN || law->kind == BRUME_LOSS_DISCRETE_GAUSSIAN ||
        law->kind == BRUME_LOSS_POISSON_GAUSSIAN_GROUP)
        return law_upper(law, alpha);
    double quick = brume_renyi_quick_upper(law, alpha - 1);
    if (quick < INFINITY)
        return quick;
    bool differ = true;
    for (unsigned come = 0; come < 2 && differ; come++) {
        brume_law one;
        if (brume_law_open(law, 1, come, &one, NULL) != BRUME_OK)
            return NAN;
        double value = (double)(brume_law_cumulant(&one, alpha - 1, NULL, NULL) / (alpha - 1));
        most = fmax(most, value); /* fmax passes over a NaN */
        differ = one.orders_differ;
        brume_law_close(&one);
    }
    return most;
}

/* Is the cost's own curve nothing but its law's, its rho's or its pure epsilon's? */
static bool own_curve_is_known(const brume_cost *cost)
{
    return cost->renyi == BRUME_ABSENT || !cost->renyi_upper || cost->loss == BRUME_EXACT ||
           cost->renyi_upper == brume_renyi_pure_upper ||
           cost->renyi_upper == brume_renyi_rho_upper;
}

double brume_renyi_rough(const brume_cost *cost, double alpha)
{
    double best = cost->loss != BRUME_ABSENT ? law_rough(&cost->law, alpha) : INFINITY;
    if (isnan(best) || !own_curve_is_known(cost))
        return brume_renyi_upper(cost, alpha);
    if (cost->concentrated != BRUME_ABSENT)
        best = fmin(best, cost->rho * alpha);
    if (cost->pure != BRUME_ABSENT && isfinite(cost->epsilon) && cost->epsilon > 0) {
        brume_loss worst = {.kind = BRUME_LOSS_PURE, .a = cost->epsilon};
        best = fmin(best, law_rough(&worst, alpha)); /* fmin passes over a NaN */
    }
    return best;
}

/* ---------------------------------------------------------- the curve of several terms */

/* Curves add: the sum rounded up, infinite where a term has none. */
static double total_upper(const void *context, double alpha)
{
    const brume_term_list *list = context;
    double sum = 0;
    for (size_t i = 0; i < list->count; i++) { /* every product and sum rounded up */
        const brume_term *term = &list->terms[i];
        if (!brume_renyi_known(&term->cost))
            return INFINITY;
        double one = brume_renyi_upper(&term->cost, alpha);
        sum = brume_add_up(sum, brume_multiply_up(brume_count_up(term->count), one));
    }
    return sum;
}

static double total_rough(const void *context, double alpha)
{
    const brume_term_list *list = context;
    double sum = 0;
    for (size_t i = 0; i < list->count; i++)
        sum += (double)list->terms[i].count * brume_renyi_rough(&list->terms[i].cost, alpha);
    return sum;
}

brume_curve brume_renyi_total(const brume_term_list *list)
{
    return (brume_curve){.at = total_upper, .rough = total_rough, .context = list};
}

/* From Renyi divergence to (epsilon, delta). Promise: the value of the stated formula at some
 * order, rounded up; the order is the best that a coarse grid and a golden section find. */

enum { GRID = 50, GOLDEN_STEPS = 44 };

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
    double epsilon = brume_ball_upper(out);
    arb_clear(r), arb_clear(out);
    return epsilon;
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
