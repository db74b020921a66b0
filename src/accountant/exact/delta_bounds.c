/* Epsilon at a delta, from bounds of delta; and certified intervals put together. The search only
 * proposes points; an end is moved only to a point at which the bounds themselves certified it. */
#include "accountant/exact/delta_bounds.h"

#include <math.h>

#include <brume/interval.h>

#include "accountant/search.h"
#include "number/ball.h"

/* Privacy profiles in closed form, in balls. Promise: the exact profile lies in the interval; the
 * interval is a few last places wide unless the value underflows.
 *
 * Privacy profiles of single mechanisms in closed form: delta(epsilon), the least delta for which
 * the pair is (epsilon, delta)-indistinguishable, as certified intervals.       [BW18, Thm 8] */

typedef struct profile {
    double parameter, epsilon;
} profile;

/* delta = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu). The two terms cancel when both are near 1
 * or mu is small; the evaluation then raises its precision. */
static void gaussian_ball(arb_t out, const void *context, slong precision)
{
    const profile *p = context;
    arb_t mu, epsilon, half, ratio, term;
    arb_init(mu), arb_init(epsilon), arb_init(half), arb_init(ratio), arb_init(term);
    arb_set_d(mu, p->parameter);
    arb_set_d(epsilon, p->epsilon);
    arb_mul_2exp_si(half, mu, -1);
    arb_div(ratio, epsilon, mu, precision);
    arb_sub(term, half, ratio, precision);
    brume_ball_normal_cdf(out, term, precision);
    arb_add(term, half, ratio, precision);
    arb_neg(term, term);
    brume_ball_normal_cdf(term, term, precision);
    arb_exp(half, epsilon, precision);
    arb_submul(out, half, term, precision);
    arb_clear(mu), arb_clear(epsilon), arb_clear(half), arb_clear(ratio), arb_clear(term);
}

static void trivial_ball(arb_t out, const void *context, slong precision)
{
    const profile *p = context;
    arb_set_d(out, p->epsilon);
    arb_expm1(out, out, precision);
    arb_neg(out, out); /* 1 - e^eps */
}

static const brume_interval vacuous = {0, 1};

/* What any pair has at least: 1 - e^eps, and 0. */
static brume_interval trivial(double epsilon)
{
    if (epsilon >= 0)
        return (brume_interval){0, 0};
    return brume_ball_evaluate(trivial_ball, &(profile){0, epsilon}, 0, 1);
}

brume_interval brume_profile_gaussian(double mu, double epsilon)
{
    if (!(mu >= 0) || isinf(mu) || !isfinite(epsilon))
        return vacuous;
    if (mu == 0)
        return trivial(epsilon);
    return brume_ball_evaluate(gaussian_ball, &(profile){mu, epsilon}, 0, 1);
}

static brume_status delta_of_sigma(void *context, double sigma, double *delta, brume_error *error)
{
    (void)error;
    profile p = {1 / sigma, *(const double *)context};
    /* mu is rounded up: a larger mu has a larger profile */
    p.parameter = nextafter(p.parameter, INFINITY);
    *delta = brume_profile_gaussian(p.parameter, p.epsilon).upper;
    return BRUME_OK;
}

double brume_profile_gaussian_sigma_upper(double epsilon, double delta)
{
    if (!(epsilon >= 0) || !(delta > 0))
        return INFINITY;
    if (delta >= 1)
        return 0;
    brume_search search = {delta_of_sigma, &epsilon, delta, 1e-150, 1e150, 1e-13, 0};
    double sigma;
    if (brume_search_least(&search, 1, &sigma, NULL) != BRUME_OK)
        return INFINITY;
    return sigma;
}

/* Gaussians together, in balls: delta grows with mu. */
static double gaussian_delta(void *context, double epsilon, brume_side side)
{
    const brume_law *law = context;
    brume_interval delta = brume_profile_gaussian(brume_parameter_moved(law->a, side), epsilon);
    return side == BRUME_UPPER_SIDE ? delta.upper : delta.lower;
}

brume_delta_bounds brume_gaussian_bounds(brume_law *law)
{
    return (brume_delta_bounds){
        .delta = gaussian_delta, .context = law, .route = "closed form of the Gaussian"};
}

void brume_delta_bounds_take(const brume_delta_bounds *bounds, double epsilon,
                             brume_certified *certified)
{
    /* the lower side first: where both come of one sum, that is then known */
    double lower = bounds->delta(bounds->context, epsilon, BRUME_LOWER_SIDE);
    double upper = bounds->delta(bounds->context, epsilon, BRUME_UPPER_SIDE);
    if (upper < certified->value.upper) {
        certified->value.upper = upper;
        certified->route = bounds->route;
        certified->balls = !bounds->doubles;
    }
    certified->value.lower = fmax(certified->value.lower, lower);
    certified->rounds++;
}

/* Where the search has been: log(upper delta/target), newest first. */
typedef struct visit {
    double epsilon, excess;
} visit;

/* A point near the root: how fast log delta falls there, and the newest visit. */
typedef struct found {
    double epsilon, slope;
    double residual; /* about how far log delta is from the target's there */
    visit last;
    bool zero; /* met at epsilon 0 already: the rest is void */
} found;

/* Is the target met at epsilon 0? Asked only when the search would go there. */
static bool met_at_zero(const brume_delta_bounds *bounds, double target)
{
    return bounds->delta(bounds->context, 0, BRUME_UPPER_SIDE) <= target;
}

/* The root of the excess by inverse interpolation through the last two or three visits. */
static double interpolate(const visit *v, int count, double *residual)
{
    double secant = (v[0].epsilon - v[1].epsilon) / (v[0].excess - v[1].excess);
    double next = v[0].epsilon - v[0].excess * secant;
    *residual = 2 * fabs(v[0].excess * v[1].excess);
    if (count < 3 || v[0].excess == v[2].excess || v[1].excess == v[2].excess)
        return next;
    double older = (v[1].epsilon - v[2].epsilon) / (v[1].excess - v[2].excess);
    double bend = (secant - older) / (v[0].excess - v[2].excess);
    *residual *= 5 * fabs(v[2].excess);
    return next + bend * v[0].excess * v[1].excess;
}

/* The epsilon at which the upper side meets `target`, approximately: interpolation of log delta,
 * kept in the bracket; bisection where it leaves it. */
static found search(const brume_delta_bounds *bounds, double target, double low, double high,
                    double guess)
{
    visit v[3] = {{0, 0}};
    int count = 0;
    bool asked = low > 0, bracketed = false;
    found at = {.epsilon = guess, .slope = bounds->slope};
    for (int i = 0; i < 60; i++) {
        double delta = bounds->delta(bounds->context, at.epsilon, BRUME_UPPER_SIDE);
        double value = log(delta / target); /* -infinity at 0 */
        v[2] = v[1];
        v[1] = v[0];
        v[0] = at.last = (visit){at.epsilon, value};
        count = isfinite(value) ? count + 1 : 0;
        at.residual = fabs(value);
        if (count > 1 && value != v[1].excess)
            at.slope = (v[1].excess - value) / (at.epsilon - v[1].epsilon);
        if (fabs(value) < 1e-14)
            break;
        if (value > 0)
            low = at.epsilon, bracketed = true;
        else
            high = at.epsilon;
        double next = NAN, residual = INFINITY;
        if (count > 1 && value != v[1].excess && at.slope > 0)
            next = interpolate(v, count, &residual);
        else if (count > 0 && at.slope > 0 && fabs(value) < 1)
            next = at.epsilon + value / at.slope;
        else if (count > 0 && fabs(value) < 0.5) /* a guess at the slope */
            next = at.epsilon + 0.1 * value;
        if (value <= 0 && !asked && !bracketed && !(next > 0)) {
            asked = true;
            if (met_at_zero(bounds, target)) {
                at.zero = true;
                break;
            }
        }
        /* on a plateau, or next to a kink, interpolation creeps: halve instead */
        bool creeps = count > 2 && fabs(value) > 0.25 * fabs(v[2].excess) && high < INFINITY;
        bool inside = !creeps && next > low && next < high;
        /* nearer than the two sides are to each other the root need not be known */
        if (inside && residual <= fmax(4e-14 * at.slope * next, 0.01 * bounds->gap)) {
            at.epsilon = next;
            at.residual = residual;
            break;
        }
        if (fabs(next - at.epsilon) <= 1e-14 * at.epsilon)
            break; /* less than can be certified */
        if (!inside)
            next = high < INFINITY ? 0.5 * (low + high) : 2 * at.epsilon + 1;
        if (creeps && !bracketed) /* the root is not far: a few steps further down */
            next = fmax(next, at.epsilon - 10 * fabs(at.epsilon - v[1].epsilon));
        if (high < INFINITY && high - low <= 1e-15 * high)
            break;
        at.epsilon = next;
    }
    return at;
}

/* Move the upper end down to just above the root, where the upper side is certified. */
static void certify_upper(const brume_delta_bounds *bounds, const found *root, double slope,
                          double target, brume_certified *certified)
{
    double least = 2 * BRUME_UNIT * root->epsilon, step = 1.5 * root->residual / slope + least;
    if (root->last.epsilon == root->epsilon && root->last.excess <= 0)
        step = 0; /* certified there already */
    for (int i = 0; i < 60; i++) {
        double epsilon = root->epsilon + step;
        if (!(epsilon < certified->value.upper))
            return;
        double excess = -1;
        if (step > 0) {
            double delta = bounds->delta(bounds->context, epsilon, BRUME_UPPER_SIDE);
            excess = delta <= target ? -1 : log(delta / target);
        }
        if (excess < 0) {
            certified->value.upper = epsilon;
            certified->route = bounds->route;
            certified->balls = !bounds->doubles;
            return;
        }
        step += fmax(step, isfinite(excess) ? 1.5 * excess / slope : 0) + least;
    }
}

/* Move the lower end up to just below it, where the lower side is certified. */
static void certify_lower(const brume_delta_bounds *bounds, const found *root, double slope,
                          double target, brume_certified *certified)
{
    double least = 2 * BRUME_UNIT * root->epsilon;
    /* how far below the upper side it is, if that is not known: at the newest visit */
    double gap = bounds->gap;
    if (gap == 0) {
        double lower = bounds->delta(bounds->context, root->last.epsilon, BRUME_LOWER_SIDE);
        gap = root->last.excess - log(lower / target);
    }
    double step = (fmax(isfinite(gap) ? 1.1 * gap : 0, 0) + 1.5 * root->residual) / slope +
                  4 * least;
    for (int i = 0; i < 60; i++) {
        double epsilon = root->epsilon - step;
        if (!(epsilon > certified->value.lower))
            return;
        double delta = bounds->delta(bounds->context, epsilon, BRUME_LOWER_SIDE);
        if (delta > target) {
            certified->value.lower = epsilon;
            return;
        }
        double short_by = log(target / delta);
        step += fmax(step, isfinite(short_by) ? 1.2 * short_by / slope : 0);
    }
}

void brume_delta_bounds_invert(const brume_delta_bounds *bounds, double delta, double delta_error,
                               double guess, brume_certified *certified)
{
    brume_interval *value = &certified->value;
    double high_target = delta * (1 - delta_error) * (1 - 2 * BRUME_UNIT);
    double low_target = delta * (1 + delta_error) * (1 + 2 * BRUME_UNIT);
    if (!(guess > value->lower && guess < value->upper))
        guess = value->upper < INFINITY ? 0.5 * (value->lower + value->upper) : value->lower + 1;
    found root = search(bounds, high_target, value->lower, value->upper, guess);
    if (root.zero) {
        value->upper = 0; /* already met at epsilon 0 */
        certified->route = bounds->route;
        certified->balls = !bounds->doubles;
        return;
    }
    certified->rounds++;
    double slope = root.slope > 0 ? root.slope : 1;
    certify_upper(bounds, &root, slope, high_target, certified);
    certify_lower(bounds, &root, slope, low_target, certified);
    /* next to a kink the slope misleads, and the interval is wider than the gap of the two sides
     * makes it: halve while the middle is certain */
    double least = fmax(1e-12 * value->upper, 1.3 * bounds->gap / slope);
    for (int i = 0; i < 60 && value->upper - value->lower > least; i++) {
        double middle = 0.5 * (value->lower + value->upper);
        if (!(middle < INFINITY))
            break;
        if (bounds->delta(bounds->context, middle, BRUME_UPPER_SIDE) <= high_target) {
            value->upper = middle;
            certified->route = bounds->route;
            certified->balls = !bounds->doubles;
        } else if (bounds->delta(bounds->context, middle, BRUME_LOWER_SIDE) > low_target) {
            value->lower = middle;
        } else {
            break;
        }
    }
}

/* --- what several certified statements say together ---
 *
 * Every one of them holds of the same number, so the lower bound is never above the upper one:
 * not by rounding either, since each was rounded to its own side of the truth. Where it is above
 * nevertheless there is a fault of brume or of libm. It must not look like a perfect certificate:
 * the interval then spans both statements, and says so. */

static const char route_contradiction[] =
    "statements that contradict each other: a fault, please report";

bool brume_certified_is_narrow(const brume_certified *certified, double width)
{
    return certified->value.upper < INFINITY &&
           certified->value.upper - certified->value.lower <= width * certified->value.upper;
}

void brume_certified_settle(brume_certified *certified)
{
    brume_interval value = certified->value;
    if (value.lower <= value.upper)
        return;
    certified->value = (brume_interval){value.upper, value.lower};
    certified->route = route_contradiction;
    certified->contradictory = true;
    certified->excess = 0;
}

/* What it took, and whether there was a fault. */
static void add_work(brume_certified *certified, const brume_certified *other)
{
    certified->nodes += other->nodes;
    certified->rounds += other->rounds;
    certified->contradictory |= other->contradictory;
}

void brume_certified_take_lower(brume_certified *certified, const brume_certified *lower)
{
    certified->value.lower = lower->value.lower;
    add_work(certified, lower);
    brume_certified_settle(certified);
}

void brume_certified_take_upper(brume_certified *certified, const brume_certified *upper)
{
    if (upper->value.upper < certified->value.upper) {
        certified->value.upper = upper->value.upper;
        certified->route = upper->route;
        certified->excess = 0;
    }
    add_work(certified, upper);
    brume_certified_settle(certified);
}

void brume_certified_take_larger(brume_certified *certified, const brume_certified *other)
{
    if (!certified->route || other->value.upper > certified->value.upper) {
        certified->route = other->route;
        certified->excess = other->excess;
    }
    certified->value.lower = fmax(certified->value.lower, other->value.lower);
    certified->value.upper = fmax(certified->value.upper, other->value.upper);
    add_work(certified, other);
}
