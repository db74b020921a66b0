/* One release on a Poisson sample, in closed form.
 *
 * sampled_profile has the identity that turns the profile of the mechanism itself into that
 * on the sample. With u = e^eps for the mechanism: of the Gaussian, mu = 1/sigma, it is Phi(mu/2 -
 * eps/mu) - u Phi(-mu/2 - eps/mu); of Laplace the largest of 0, 1 - u and 1 - (u e^{-e})^{1/2}; of
 * atoms the sum of (P - u Q)_+. Both orders grow with the rate and with epsilon and fall with
 * sigma, so the moved parameters give the two sides.
 *
 * The Gaussian is tried in doubles with bounds first: m = u - 1 for u on the sample. With h = q,
 * t = q + m (a record removed) or h = q - m (1 - q), t = q u (a record added): delta =
 * h Phi(z1) - t Phi(z2), z1, z2 = +-1/(2 sigma) - sigma log(t/h), and t/h = 1 + m/h. Promise: the
 * value is within *error of the truth, for the parameters as given. */
#include "accountant/exact/one_sampled.h"

#include <math.h>

#include <brume/account/cost.h>

#include "number/ball.h"

/* The inner pair's profile E(1 - growth e^{-l})_+, the same in both orders. */
typedef void brume_inner_profile(arb_t out, const void *context, const arb_t growth,
                                 slong precision);

/* What a Poisson sample makes of profiles and laws, in balls. The discrete Laplace of shift 1 is
 * the worst pure law. */

/* log(1 + q (e^x - 1)) */
static void log_ratio_of(arb_t out, const arb_t x, double rate, slong precision)
{
    arb_t q;
    arb_init(q);
    arb_set_d(q, rate);
    arb_expm1(out, x, precision);
    arb_mul(out, out, q, precision);
    arb_log1p(out, out, precision);
    arb_clear(q);
}

/* The profile of one release on the sample at e^epsilon = u, from the inner D:
 *   a record removed:  q D(1 + (u - 1)/q)             (u > 1 - q, else 1 - u)
 *   a record added:    k D(u q/k), k = 1 - u (1 - q)  (k > 0, else 0)
 * because P - u Q is in each case a multiple of the inner P - u' Q (or Q - u' P):
 * proofs/poisson.md. 0 < rate <= 1. */
static void sampled_profile(arb_t out, double epsilon, double rate, bool added,
                            brume_inner_profile *inner, const void *context, slong precision)
{
    arb_t u, q, k;
    arb_init(u);
    arb_init(q);
    arb_init(k);
    arb_set_d(u, epsilon);
    arb_exp(u, u, precision);
    arb_set_d(q, rate);
    if (added) {
        arb_sub_ui(k, q, 1, precision); /* q - 1 */
        arb_mul(k, k, u, precision);
        arb_add_ui(k, k, 1, precision);
    } else {
        arb_add(k, u, q, precision);
        arb_sub_ui(k, k, 1, precision); /* u - 1 + q */
    }
    if (arb_is_nonpositive(k)) {
        arb_sub_ui(out, u, 1, precision);
        arb_neg(out, out); /* 1 - u */
        if (added)
            arb_zero(out);
    } else if (!arb_is_positive(k)) {
        arb_indeterminate(out); /* more precision will tell */
    } else {
        if (added) {
            arb_mul(u, u, q, precision);
            arb_div(u, u, k, precision);
        } else {
            arb_div(u, k, q, precision);
            arb_swap(k, q); /* the factor */
        }
        inner(out, context, u, precision);
        arb_mul(out, out, k, precision);
    }
    arb_clear(u);
    arb_clear(q);
    arb_clear(k);
}

void brume_sampled_atom(arb_t mass, arb_t log_ratio, const brume_loss *law, slong j,
                        slong precision)
{
    slong shift = law->kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE ? (slong)law->shift : 1;
    arb_t decay, x;
    arb_init(decay);
    arb_init(x);
    arb_set_d(x, -law->a);
    arb_exp(decay, x, precision);
    /* q^{D-j}/(1+q), between the ends times 1 - q */
    arb_pow_ui(mass, decay, (ulong)(shift - j), precision);
    if (j > 0 && j < shift) {
        arb_expm1(x, x, precision);
        arb_neg(x, x);
        arb_mul(mass, mass, x, precision);
    }
    arb_add_ui(x, decay, 1, precision);
    arb_div(mass, mass, x, precision);
    arb_set_d(x, law->a);
    arb_mul_si(x, x, shift - 2 * j, precision);
    log_ratio_of(log_ratio, x, law->rate, precision);
    arb_clear(decay);
    arb_clear(x);
}

void brume_sampled_places(arb_t spread, arb_t centre, double a, double rate, bool added,
                          slong precision)
{
    arb_t x, below;
    arb_init(x);
    arb_init(below);
    arb_set_d(x, a);
    log_ratio_of(spread, x, rate, precision);
    arb_neg(x, x);
    log_ratio_of(below, x, rate, precision);
    arb_add(centre, spread, below, precision);
    arb_sub(spread, spread, below, precision);
    arb_mul_2exp_si(spread, spread, -1);
    arb_mul_2exp_si(centre, centre, -1);
    if (added)
        arb_neg(centre, centre);
    arb_clear(x);
    arb_clear(below);
}

typedef struct sampled_integrand {
    double a, rate;
    acb_srcptr power;
} sampled_integrand;

/* (1/4) e^{-(l+a)/2} exp(z log r(l)): analytic where r stays off the negative axis. */
static int integrand(acb_ptr out, const acb_t l, void *context, slong order, slong precision)
{
    const sampled_integrand *p = context;
    acb_t x;
    arb_t q;
    acb_init(x);
    arb_init(q);
    arb_set_d(q, p->rate);
    acb_exp(x, l, precision);
    acb_sub_ui(x, x, 1, precision);
    acb_mul_arb(x, x, q, precision);
    acb_add_ui(x, x, 1, precision);
    acb_log_analytic(x, x, order != 0, precision);
    acb_mul(x, x, p->power, precision);
    arb_set_d(q, p->a);
    acb_add_arb(out, l, q, precision);
    acb_mul_2exp_si(out, out, -1);
    acb_sub(x, x, out, precision);
    acb_exp(out, x, precision);
    acb_mul_2exp_si(out, out, -2);
    acb_clear(x);
    arb_clear(q);
    return 0;
}

void brume_sampled_laplace(acb_t out, double a, double rate, const acb_t power, slong precision)
{
    sampled_integrand context = {.a = a, .rate = rate, .power = power};
    acb_t low, high, term;
    arb_t x, e;
    mag_t tolerance;
    acb_init(low);
    acb_init(high);
    acb_init(term);
    arb_init(x);
    arb_init(e);
    mag_init(tolerance);
    mag_set_ui_2exp_si(tolerance, 1, -precision / 2);
    acb_set_d(low, -a);
    acb_set_d(high, a);
    acb_calc_integrate(out, integrand, &context, low, high, precision / 2, tolerance, NULL,
                       precision);
    arb_set_d(e, a);
    for (int end = -1; end <= 1; end += 2) { /* 1/2 at -a, e^{-a}/2 at a */
        arb_mul_si(x, e, end, precision);
        log_ratio_of(x, x, rate, precision);
        acb_mul_arb(term, power, x, precision);
        if (end > 0)
            acb_sub_arb(term, term, e, precision);
        acb_exp(term, term, precision);
        acb_mul_2exp_si(term, term, -1);
        acb_add(out, out, term, precision);
    }
    acb_clear(low);
    acb_clear(high);
    acb_clear(term);
    arb_clear(x);
    arb_clear(e);
    mag_clear(tolerance);
}

static const double unit = BRUME_UNIT;

/* --- in doubles --- */

brume_sampled_draw brume_sampled_draw_of(const brume_law *law, brume_side side)
{
    /* delta grows with the rate and falls with sigma */
    return (brume_sampled_draw){.sigma = brume_parameter_moved(law->a, -side),
                                .rate = fmin(1, brume_parameter_moved(law->rate, side)),
                                .reversed = law->reversed};
}

/* Phi(z), and a bound of its error for a z that is off by `off`. */
static double normal(double z, double off, double *error)
{
    double value = 0.5 * erfc(-M_SQRT1_2 * z), size = fabs(z);
    off += 2 * unit * size;
    if ((size + 1 + off) * off <= 0.05) {
        /* density/Phi is at most |z| + 1 below 0; it changes by less than a tenth over `off` */
        double density = z < 0 ? value * (size + 1) : 0.4 * exp(-0.5 * z * z);
        *error = 1.1 * density * off;
    } else { /* all that lies on the far side */
        double near = fmax(size - off, 0);
        *error = exp(-0.5 * near * near) * (1 + 1e-9);
    }
    *error += 12 * unit * value + 1e-300; /* erfc: 5 units in the last place; underflow */
    return value;
}

double brume_sampled_value(const brume_sampled_draw *draw, double x, double *error)
{
    double epsilon = -x, q = draw->rate, sigma = draw->sigma;
    if (!(fabs(epsilon) < 300)) { /* not worth the care */
        *error = 1;
        return 0;
    }
    double m = expm1(epsilon), size = fabs(m), head, tail, head_off = 0, tail_off;
    if (draw->reversed) {
        head = q - m * (1 - q);
        tail = q * exp(epsilon);
        head_off = unit * (fabs(head) + 6 * size * (1 - q));
        tail_off = 6 * unit * tail;
        if (head <= 0) { /* delta is at most the true head */
            *error = 1.01 * (head_off + fabs(head) * unit);
            return 0;
        }
    } else {
        head = q;
        tail = q + m;
        tail_off = unit * (fabs(tail) + 4 * size);
        if (tail <= 0) { /* delta = 1 - u, or above it by at most the true tail */
            *error = 1.01 * (tail_off + 4 * unit * size);
            return -m;
        }
    }
    double head_share = head_off / head, tail_share = tail_off / tail;
    double ratio = m / head, growth, growth_off;
    if (fabs(ratio) < 0.5) { /* relative to itself where it is small */
        growth = log1p(ratio);
        growth_off = 2.2 * fabs(ratio) * (5 * unit + head_share);
    } else {
        growth = log(tail / head);
        growth_off = 1.1 * (head_share + tail_share) + 2 * unit;
    }
    if (!(head_share + tail_share < 0.05)) {
        *error = fmin(1, 1.1 * (head + head_off)); /* delta is at most h */
        return 0;
    }
    growth_off += 4 * unit * fabs(growth);
    double turn = sigma * growth, half = 0.5 / sigma;
    double off = 1.01 * (sigma * growth_off + 2 * unit * (fabs(turn) + half)), first_off,
           second_off;
    double first = normal(half - turn, off + unit * fabs(half - turn), &first_off);
    double second = normal(-half - turn, off + unit * fabs(half + turn), &second_off);
    double value = head * first - tail * second;
    /* 1.06: both factors may be off by a twentieth at once */
    *error = 1.06 * (head * first_off + tail * second_off + head_off * first + tail_off * second +
                     3 * unit * (head * first + tail * second));
    return fmax(value, 0);
}

/* --- in balls --- */

/* A law with moved parameters, and where its profile is asked for. */
typedef struct point {
    brume_loss law;
    double epsilon;
    bool added;
} point;

/* Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu) */
static void gaussian_profile(arb_t out, const arb_t mu, const arb_t growth, slong precision)
{
    arb_t e, half, left, right;
    arb_init(e);
    arb_init(half);
    arb_init(left);
    arb_init(right);
    arb_log(e, growth, precision);
    arb_div(e, e, mu, precision);
    arb_mul_2exp_si(half, mu, -1);
    arb_sub(left, half, e, precision);
    arb_neg(half, half);
    arb_sub(right, half, e, precision);
    brume_ball_normal_cdf(left, left, precision);
    brume_ball_normal_cdf(right, right, precision);
    arb_submul(left, right, growth, precision);
    arb_swap(out, left);
    arb_clear(e);
    arb_clear(half);
    arb_clear(left);
    arb_clear(right);
}

static void laplace_profile(arb_t out, double epsilon0, const arb_t growth, slong precision)
{
    arb_t x;
    arb_init(x);
    arb_zero(out);
    arb_sub_ui(x, growth, 1, precision);
    arb_neg(x, x);
    arb_max(out, out, x, precision);
    arb_set_d(x, -epsilon0);
    arb_exp(x, x, precision);
    arb_mul(x, x, growth, precision);
    arb_sqrt(x, x, precision);
    arb_sub_ui(x, x, 1, precision);
    arb_neg(x, x);
    arb_max(out, out, x, precision);
    arb_clear(x);
}

/* The discrete Laplace of 1/scale a: P_j = q^j, Q_j = q^{D-j}, between the ends times 1 - q, over
 * 1 + q. */
static void atoms_profile(arb_t out, const brume_loss *law, const arb_t growth, slong precision)
{
    slong shift = law->kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE ? (slong)law->shift : 1;
    arb_t decay, rest, p, q, zero;
    arb_init(decay);
    arb_init(rest);
    arb_init(p);
    arb_init(q);
    arb_init(zero);
    arb_zero(out);
    arb_set_d(decay, -law->a);
    arb_expm1(rest, decay, precision);
    arb_neg(rest, rest);
    arb_exp(decay, decay, precision);
    for (slong j = 0; j <= shift; j++) {
        arb_pow_ui(p, decay, (ulong)j, precision);
        arb_pow_ui(q, decay, (ulong)(shift - j), precision);
        arb_submul(p, q, growth, precision);
        if (j > 0 && j < shift)
            arb_mul(p, p, rest, precision);
        arb_max(p, p, zero, precision);
        arb_add(out, out, p, precision);
    }
    arb_add_ui(decay, decay, 1, precision);
    arb_div(out, out, decay, precision);
    arb_clear(decay);
    arb_clear(rest);
    arb_clear(p);
    arb_clear(q);
    arb_clear(zero);
}

static void inner(arb_t out, const void *context, const arb_t growth, slong precision)
{
    const brume_loss *law = context;
    arb_t mu;
    switch (law->kind) {
    case BRUME_LOSS_POISSON_GAUSSIAN:
        arb_init(mu);
        arb_set_d(mu, law->a);
        arb_inv(mu, mu, precision);
        gaussian_profile(out, mu, growth, precision);
        arb_clear(mu);
        break;
    case BRUME_LOSS_POISSON_LAPLACE:
        laplace_profile(out, law->a, growth, precision);
        break;
    default:
        atoms_profile(out, law, growth, precision);
    }
}

static void profile(arb_t out, const void *context, slong precision)
{
    const point *p = context;
    sampled_profile(out, p->epsilon, p->law.rate, p->added, inner, &p->law, precision);
}

static double sampled_delta(void *context, double epsilon, brume_side side)
{
    const brume_law *law = context;
    point p = {.law = law->source, .epsilon = epsilon, .added = law->reversed};
    bool gaussian = p.law.kind == BRUME_LOSS_POISSON_GAUSSIAN; /* its parameter is sigma */
    p.law.a = brume_parameter_moved(law->source.a, gaussian ? -side : side);
    p.law.rate = fmin(1, brume_parameter_moved(law->source.rate, side));
    brume_interval delta = brume_ball_evaluate(profile, &p, 0, 1);
    return side == BRUME_UPPER_SIDE ? delta.upper : delta.lower;
}

bool brume_one_sampled_bounds(brume_law *law, brume_delta_bounds *out)
{
    brume_loss_kind kind = law->source.kind;
    if (law->count != 1 ||
        (kind != BRUME_LOSS_POISSON_GAUSSIAN && kind != BRUME_LOSS_POISSON_LAPLACE &&
         kind != BRUME_LOSS_POISSON_DISCRETE_LAPLACE && kind != BRUME_LOSS_POISSON_PURE))
        return false;
    *out = (brume_delta_bounds){.delta = sampled_delta,
                                .context = law,
                                .route = "closed form of one release on a Poisson sample"};
    return true;
}

/* --- the Gaussian in doubles as a form --- */

static const char route_doubles[] = "closed form of one subsampled Gaussian";

/* Its two sides in doubles: the value off by its error, and that sum rounded. */
static double doubles_delta(void *context, double epsilon, brume_side side)
{
    brume_sampled_draw draw = brume_sampled_draw_of(context, side);
    double error, value = brume_sampled_value(&draw, -epsilon, &error);
    double moved = (value + side * error) * (1 + side * 4 * BRUME_UNIT);
    if (side == BRUME_UPPER_SIDE)
        return moved <= 1 ? moved : 1; /* also if it is not a number */
    return moved >= 0 ? moved : 0;
}

brume_delta_bounds brume_sampled_doubles_bounds(brume_law *law)
{
    return (brume_delta_bounds){.delta = doubles_delta,
                                .context = law,
                                .route = route_doubles,
                                .doubles = true,
                                .nodes = 1};
}
