/* Renyi curves of the known laws, in balls, rounded up.
 *
 * For a law with moment generating function phi(s) = E e^{sL}, D_alpha = ln phi(alpha-1)/(alpha-1).
 * All laws here but those of a Poisson sample are symmetric in the two orders; of these both are
 * computed, but for the subsampled Gaussian the direction "remove" is the larger at every order
 *                                                                             [MTZ19, Thm 5], its
 * moments at whole orders are a finite sum, and between whole orders the chord of the convex
 * (alpha-1) D_alpha lies above it. */
#include "accountant/renyi/renyi.h"

#include <math.h>

#include "accountant/exact/sampled_balls.h"
#include "number/ball.h"
#include "number/rounding.h"

enum { PRECISION = 128, MOST_WHOLE_ORDER = 256 };

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

/* alpha/(2alpha-1) e^{(alpha-1)e} + (alpha-1)/(2alpha-1) e^{-alpha e}       [Mir17, Prop 6] */
static void laplace_moment(arb_t out, double epsilon0, double alpha)
{
    arb_t e, a, less, term;
    arb_init(e), arb_init(a), arb_init(less), arb_init(term);
    arb_set_d(e, epsilon0);
    arb_set_d(a, alpha);
    arb_sub_ui(less, a, 1, PRECISION);
    exp_multiple(out, less, e);
    arb_mul(out, out, a, PRECISION);
    arb_neg(e, e);
    exp_multiple(term, a, e);
    arb_addmul(out, term, less, PRECISION);
    arb_add(a, a, less, PRECISION);
    arb_div(out, out, a, PRECISION);
    arb_clear(e), arb_clear(a), arb_clear(less), arb_clear(term);
}

/* k-ary randomized response, k >= 2: p e^{(alpha-1)e} + q e^{-(alpha-1)e} + (k-2) q,
 * q = 1/(e^e + k - 1), p = e^e q. */
static void response_moment(arb_t out, double epsilon0, uint64_t k, double alpha)
{
    arb_t e, less, growth, term;
    arb_init(e), arb_init(less), arb_init(growth), arb_init(term);
    arb_set_d(e, epsilon0);
    arb_set_d(less, alpha);
    arb_sub_ui(less, less, 1, PRECISION);
    arb_exp(growth, e, PRECISION);
    exp_multiple(term, less, e);
    arb_mul(out, term, growth, PRECISION);
    arb_inv(term, term, PRECISION);
    arb_add(out, out, term, PRECISION);
    arb_add_ui(out, out, k - 2, PRECISION);
    arb_add_ui(growth, growth, k - 1, PRECISION);
    arb_div(out, out, growth, PRECISION);
    arb_clear(e), arb_clear(less), arb_clear(growth), arb_clear(term);
}

/* Discrete Laplace, q = e^-a, shift D, s = alpha-1: the tails x <= 0 and x >= D carry 1/(1+q) at
 * loss aD and q^D/(1+q) at -aD; between, (1-q)/(1+q) q^x at a(D-2x), a geometric sum with ratio
 * r = e^{-a(2s+1)} over 0 < x < D. */
static void discrete_laplace_moment(arb_t out, double inverse_scale, uint64_t shift, double alpha)
{
    arb_t a, s, q, width, term, ratio;
    arb_init(a), arb_init(s), arb_init(q), arb_init(width), arb_init(term), arb_init(ratio);
    arb_set_d(a, inverse_scale);
    arb_set_d(s, alpha);
    arb_sub_ui(s, s, 1, PRECISION);
    arb_neg(q, a);
    arb_exp(q, q, PRECISION);
    arb_mul_ui(width, a, shift, PRECISION);
    exp_multiple(out, s, width); /* e^{s a D} */
    arb_inv(term, out, PRECISION);
    arb_neg(ratio, width);
    arb_exp(ratio, ratio, PRECISION);
    arb_mul(term, term, ratio, PRECISION); /* q^D e^{-s a D} */
    if (shift > 1) {
        /* e^{saD} (1-q) (r - r^D)/(1-r) */
        arb_t middle;
        arb_init(middle);
        arb_mul_2exp_si(ratio, s, 1);
        arb_add_ui(ratio, ratio, 1, PRECISION);
        arb_mul(ratio, ratio, a, PRECISION);
        arb_neg(ratio, ratio);
        arb_exp(ratio, ratio, PRECISION);
        arb_pow_ui(middle, ratio, shift, PRECISION);
        arb_sub(middle, ratio, middle, PRECISION);
        arb_sub_ui(ratio, ratio, 1, PRECISION);
        arb_neg(ratio, ratio);
        arb_div(middle, middle, ratio, PRECISION);
        arb_sub_ui(ratio, q, 1, PRECISION);
        arb_neg(ratio, ratio);
        arb_mul(middle, middle, ratio, PRECISION);
        arb_addmul(term, middle, out, PRECISION);
        arb_clear(middle);
    }
    arb_add(out, out, term, PRECISION);
    arb_add_ui(q, q, 1, PRECISION);
    arb_div(out, out, q, PRECISION);
    arb_clear(a), arb_clear(s), arb_clear(q), arb_clear(width), arb_clear(term), arb_clear(ratio);
}

/* out = alpha / (2 sigma^2), times the square of the shift */
static void gaussian_divergence(arb_t out, double sigma, uint64_t shift, double alpha)
{
    arb_t term;
    arb_init(term);
    arb_set_d(out, alpha);
    arb_mul_ui(out, out, shift, PRECISION);
    arb_mul_ui(out, out, shift, PRECISION);
    arb_set_d(term, sigma);
    arb_sqr(term, term, PRECISION);
    arb_mul_2exp_si(term, term, 1);
    arb_div(out, out, term, PRECISION);
    arb_clear(term);
}

/* out = ln sum_j C(n,j) (1-q)^{n-j} q^j e^{j(j-1)/(2 sigma^2)}, n a whole order >= 1.
 *                                                                            [MTZ19, Sec. 3.3] */
static void poisson_log_moment(arb_t out, double sigma, double rate, uint64_t n)
{
    arb_t term, odds, tilt, step, stay;
    arb_init(term), arb_init(odds), arb_init(tilt), arb_init(step), arb_init(stay);
    arb_set_d(odds, rate);
    arb_sub_ui(stay, odds, 1, PRECISION);
    arb_neg(stay, stay);
    arb_pow_ui(term, stay, n, PRECISION);
    arb_div(odds, odds, stay, PRECISION);
    arb_set_d(step, sigma);
    arb_sqr(step, step, PRECISION);
    arb_inv(step, step, PRECISION);
    arb_exp(step, step, PRECISION); /* e^{1/sigma^2} */
    arb_one(tilt);                  /* e^{j/sigma^2} */
    arb_set(out, term);
    for (uint64_t j = 0; j < n; j++) {
        arb_mul_ui(term, term, n - j, PRECISION);
        arb_div_ui(term, term, j + 1, PRECISION);
        arb_mul(term, term, odds, PRECISION);
        arb_mul(term, term, tilt, PRECISION);
        arb_add(out, out, term, PRECISION);
        arb_mul(tilt, tilt, step, PRECISION);
    }
    arb_log(out, out, PRECISION);
    arb_clear(term), arb_clear(odds), arb_clear(tilt), arb_clear(step), arb_clear(stay);
}

/* Never more than the Gaussian without sampling: the divergence is quasi-convex. */
static void poisson_divergence(arb_t out, double sigma, double rate, double alpha)
{
    gaussian_divergence(out, sigma, 1, alpha);
    if (rate >= 1 || alpha > MOST_WHOLE_ORDER)
        return;
    arb_t low, high, share;
    arb_init(low), arb_init(high), arb_init(share);
    double below = floor(alpha);
    arb_set_d(share, alpha);
    arb_sub_ui(share, share, (ulong)below, PRECISION);
    if (below > 1)
        poisson_log_moment(low, sigma, rate, (uint64_t)below);
    if (alpha > below) { /* chord of the convex log-moment between two whole orders */
        poisson_log_moment(high, sigma, rate, (uint64_t)below + 1);
        arb_sub(high, high, low, PRECISION);
        arb_addmul(low, high, share, PRECISION);
    }
    arb_set_d(share, alpha);
    arb_sub_ui(share, share, 1, PRECISION);
    arb_div(low, low, share, PRECISION);
    arb_min(out, out, low, PRECISION);
    arb_clear(low), arb_clear(high), arb_clear(share);
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

static double law_upper(const brume_loss *law, double alpha)
{
    arb_t out, mu;
    arb_init(out), arb_init(mu);
    double result = INFINITY;
    switch (law->kind) {
    case BRUME_LOSS_NONE:
        break;
    case BRUME_LOSS_GAUSSIAN: /* alpha mu^2 / 2 */
        arb_set_d(mu, law->a);
        arb_sqr(mu, mu, PRECISION);
        arb_set_d(out, alpha);
        arb_mul(out, out, mu, PRECISION);
        arb_mul_2exp_si(out, out, -1);
        result = brume_ball_upper(out);
        break;
    case BRUME_LOSS_LAPLACE:
        laplace_moment(out, law->a, alpha);
        divergence_of_moment(out, alpha);
        result = brume_ball_upper(out);
        break;
    case BRUME_LOSS_PURE:
        response_moment(out, law->a, 2, alpha);
        divergence_of_moment(out, alpha);
        result = brume_ball_upper(out);
        break;
    case BRUME_LOSS_KARY:
        response_moment(out, law->a, law->shift < 2 ? 2 : law->shift, alpha);
        divergence_of_moment(out, alpha);
        result = brume_ball_upper(out);
        break;
    case BRUME_LOSS_DISCRETE_LAPLACE:
        discrete_laplace_moment(out, law->a, law->shift, alpha);
        divergence_of_moment(out, alpha);
        result = brume_ball_upper(out);
        break;
    case BRUME_LOSS_DISCRETE_GAUSSIAN: /* exact at whole (alpha-1) shift, else above [CKS20, Thm 4]
                                        */
        gaussian_divergence(out, law->a, law->shift, alpha);
        result = brume_ball_upper(out);
        break;
    case BRUME_LOSS_POISSON_GAUSSIAN:
        poisson_divergence(out, law->a, law->rate, alpha);
        result = brume_ball_upper(out);
        break;
    case BRUME_LOSS_POISSON_LAPLACE: /* at most the worst pure law's */
    case BRUME_LOSS_POISSON_PURE:
    case BRUME_LOSS_POISSON_DISCRETE_LAPLACE:
        result = 0;
        for (int added = 0; added < 2; added++) { /* the larger of the two orders */
            sampled_moment(out, law, alpha, added);
            divergence_of_moment(out, alpha);
            result = fmax(result, brume_ball_upper(out));
        }
        break;
    }
    arb_clear(out), arb_clear(mu);
    return result;
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
