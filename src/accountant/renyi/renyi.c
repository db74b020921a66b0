/* Renyi curves of costs and of several terms, rounded up.
 *
 * For a law with moment generating function phi(s) = E e^{sL}, D_alpha = ln phi(alpha-1)/(alpha-1).
 * All laws here but those of a Poisson sample are symmetric in the two orders; of those both are
 * computed. Which order of alpha is best is found in doubles, without a bound of their error; the
 * bound is then computed at that order. */
#include "accountant/renyi/renyi.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "accountant/exact/one_sampled.h"
#include "accountant/law/law.h"
#include "number/ball.h"
#include "number/rounding.h"

/* Renyi curves that costs carry, and the least rho of a curve.
 *
 * Promise: rounded up. In balls the only rounding with a choice is the last one, to a double; the
 * curve of a Poisson sample is summed in long doubles with a bound of its error. */

enum { BITS = 160 };

/* An order above 1 that is not below alpha: divergences grow with the order. */
static double order(double alpha)
{
    return alpha > 1 ? alpha : 1 + DBL_EPSILON;
}

/* D = epsilon + ln(S)/(alpha-1), where S >= 0 is the moment over exp((alpha-1) epsilon). */
static double finish(arb_t moment, const arb_t epsilon, const arb_t alpha, slong bits)
{
    arb_t less;
    arb_init(less);
    arb_sub_ui(less, alpha, 1, bits);
    arb_log(moment, moment, bits);
    arb_div(moment, moment, less, bits);
    arb_add(moment, moment, epsilon, bits);
    double result = brume_ball_upper(moment);
    arb_clear(less);
    return result;
}

/* Enough bits that neither alpha near 1 nor a small epsilon eats the result: ln(S) is of the size
 * (alpha-1) epsilon, and D of the size epsilon^2. */
static slong renyi_bits(double epsilon, double alpha)
{
    double lost = fmax(0, -2 * log2(epsilon)) + fmax(0, -log2(alpha - 1));
    return BITS + (slong)fmin(lost, 6000);
}

/* e^{-times epsilon} */
static void decay(arb_t out, const arb_t times, const arb_t epsilon, slong bits)
{
    arb_mul(out, times, epsilon, bits);
    arb_neg(out, out);
    arb_exp(out, out, bits);
}

/* Laplace: a/(2a-1) exp((a-1) eps) + (a-1)/(2a-1) exp(-a eps). */
double brume_renyi_laplace_upper(const brume_cost *cost, double alpha)
{
    double epsilon0 = cost->law.a;
    if (isinf(epsilon0) || isinf(alpha))
        return epsilon0;
    alpha = order(alpha);
    slong bits = renyi_bits(epsilon0, alpha);
    arb_t a, e, n, s, t;
    arb_init(a), arb_init(e), arb_init(n), arb_init(s), arb_init(t);
    arb_set_d(a, alpha);
    arb_set_d(e, epsilon0);
    arb_mul_2exp_si(n, a, 1);
    arb_sub_ui(n, n, 1, bits); /* 2a-1 */
    decay(s, n, e, bits);
    arb_sub_ui(t, a, 1, bits);
    arb_mul(s, s, t, bits);
    arb_add(s, s, a, bits);
    arb_div(s, s, n, bits);
    double result = finish(s, e, a, bits);
    arb_clear(a), arb_clear(e), arb_clear(n), arb_clear(s), arb_clear(t);
    return fmin(result, epsilon0);
}

/* Discrete Laplace, q = exp(-a), shift D, total eps = a D. Atoms: 1/(1+q) at +eps, q^D/(1+q) at
 * -eps, (1-q)/(1+q) q^x at eps - 2 a x for 0 < x < D. Over exp((alpha-1) eps) the middle is the
 * geometric sum of r^x, r = exp(-(2 alpha-1) a):
 *   S = [1 + r^D ... ] with the last atom q^D exp(-2 (alpha-1) eps) = exp(-(2 alpha-1) eps) = r^D,
 *   S = [1 + (1-q) (r - r^D)/(1-r) + r^D] / (1+q). */
double brume_renyi_discrete_laplace_upper(const brume_cost *cost, double alpha)
{
    double step = cost->law.a;
    if (isinf(cost->epsilon) || isinf(alpha))
        return cost->epsilon;
    alpha = order(alpha);
    slong bits = 2 * renyi_bits(step, alpha);
    arb_t a, e, n, s, r, power, q, epsilon;
    arb_init(a), arb_init(e), arb_init(n), arb_init(s);
    arb_init(r), arb_init(power), arb_init(q), arb_init(epsilon);
    arb_set_d(a, alpha);
    arb_set_d(e, step);
    arb_mul_2exp_si(n, a, 1);
    arb_sub_ui(n, n, 1, bits);
    decay(r, n, e, bits);
    arb_mul_ui(epsilon, e, cost->law.shift, bits);
    decay(power, n, epsilon, bits);
    arb_one(n);
    decay(q, n, e, bits);
    arb_sub(s, r, power, bits);
    arb_sub_ui(n, r, 1, bits);
    arb_neg(n, n);
    arb_div(s, s, n, bits); /* (r - r^D)/(1-r) */
    arb_sub_ui(n, q, 1, bits);
    arb_neg(n, n);
    arb_mul(s, s, n, bits);
    arb_add_ui(s, s, 1, bits);
    arb_add(s, s, power, bits);
    arb_add_ui(n, q, 1, bits);
    arb_div(s, s, n, bits);
    double result = finish(s, epsilon, a, bits);
    arb_clear(a), arb_clear(e), arb_clear(n), arb_clear(s);
    arb_clear(r), arb_clear(power), arb_clear(q), arb_clear(epsilon);
    return fmin(result, cost->epsilon);
}

/* k-ary randomized response: with q = 1/(e^eps+k-1), p = e^eps q the moment is
 * p^a q^(1-a) + q^a p^(1-a) + (k-2) q; over exp((a-1) eps) only decays are left:
 *   S = [1 + exp(-(2a-1) eps) + (k-2) exp(-a eps)] / (1 + (k-1) exp(-eps)).
 * Two possible answers are the worst pure mechanism. */
static double response_upper(double epsilon0, uint64_t k, double alpha)
{
    if (epsilon0 == 0)
        return 0;
    if (isinf(epsilon0) || isinf(alpha))
        return epsilon0;
    alpha = order(alpha);
    slong bits = renyi_bits(epsilon0, alpha) + 64;
    arb_t a, e, n, s, t;
    arb_init(a), arb_init(e), arb_init(n), arb_init(s), arb_init(t);
    arb_set_d(a, alpha);
    arb_set_d(e, epsilon0);
    decay(t, a, e, bits);
    arb_mul_ui(t, t, k - 2, bits);
    arb_mul_2exp_si(n, a, 1);
    arb_sub_ui(n, n, 1, bits);
    decay(s, n, e, bits);
    arb_add(s, s, t, bits);
    arb_add_ui(s, s, 1, bits);
    arb_one(n);
    decay(t, n, e, bits);
    arb_mul_ui(t, t, k - 1, bits);
    arb_add_ui(t, t, 1, bits);
    arb_div(s, s, t, bits);
    double result = finish(s, e, a, bits);
    arb_clear(a), arb_clear(e), arb_clear(n), arb_clear(s), arb_clear(t);
    return fmin(result, epsilon0); /* D_alpha <= D_infinity */
}

double brume_renyi_kary_upper(const brume_cost *cost, double alpha)
{
    return response_upper(cost->law.a, cost->law.shift < 2 ? 2 : cost->law.shift, alpha);
}

double brume_renyi_pure_upper(const brume_cost *cost, double alpha)
{
    double result = response_upper(cost->epsilon, 2, alpha);
    if (cost->concentrated != BRUME_ABSENT) /* a better rho, as of bounded range, is a curve too */
        result = fmin(result, brume_renyi_rho_upper(cost, alpha));
    return result;
}

double brume_renyi_rho_upper(const brume_cost *cost, double alpha)
{
    arb_t a, r;
    if (isinf(alpha) || isinf(cost->rho))
        return INFINITY;
    arb_init(a);
    arb_init(r);
    arb_set_d(a, order(alpha));
    arb_set_d(r, cost->rho);
    arb_mul(a, a, r, BITS);
    double result = brume_ball_upper(a); /* >= alpha rho */
    arb_clear(a);
    arb_clear(r);
    return result;
}

/* --- Gaussian noise on a Poisson sample, real or integer ---
 *
 * A record removed, r the likelihood ratio of the noise with and without it:
 *   E (1 - q + q r)^n = sum_j C(n,j) (1-q)^{n-j} q^j E r^j,   E r^j = e^{j(j-1)/(2 sigma^2)},
 * at whole orders n, for integer noise too, exactly: a whole multiple of an integer vector moves
 * its lattice onto itself. It is the larger of both directions (proofs/poisson.md). Between whole
 * orders the chord of the convex (alpha-1) D lies above it; the curve without sampling always does.
 */

enum { MOST_WHOLE_ORDER = 256 };

/* More than what all roundings of subnormal numbers below can take away, also of quotients. */
static const double subnormal = 0x1p-1022;

/* ln of that sum, rounded up. Its terms with the weights e^{j(j-1)/(2 sigma^2)} replaced by 1 add
 * to 1, so 1 is taken out, and the rest has the weights M_j = e^{j(j-1)/(2 sigma^2)} - 1 >= 0, from
 * j = 2 on. With h_j = e^{j/sigma^2} - 1:  h_j = h_{j-1} (1 + h_1) + h_1,  M_j = M_{j-1} (1 +
 * h_{j-1}) + h_{j-1}:  products and sums of positive numbers, in which nothing cancels. */
static double log_moment_upper(double sigma, double rate, int n)
{
    long double square = (long double)sigma * sigma, q = rate, odds = q / (1 - q), sum = 0;
    long double weight = expl(n * log1pl(-q)), growth = expl(n / square); /* j = 0 */
    long double first = expm1l(1 / square), h = 0, m = 0;                 /* h_{j-1}, M_j */
    for (int j = 1; j <= n; j++) {
        weight *= odds * (n - j + 1) / j;
        m = m * (1 + h) + h;
        h = h * (1 + first) + first;
        if (j < 2)
            continue;
        long double term = weight * m;
        sum += term;
        /* (e^b - 1)/(e^a - 1) <= (b/a) e^{b-a}: so a term is at most this share of the one before,
         * from here on, and the rest is a geometric sum */
        long double share = odds * (n - j) / (j - 1) * growth * (1 + 0x1p-50L);
        if (share < 0.5L && term * share < 0x1p-64L * sum) {
            sum += 2 * term * share;
            break;
        }
    }
    if (weight == 0 || !(sum < INFINITY)) /* out of range; where q is 1, all of it */
        return INFINITY;
    /* in units of 2^-63: the first weight n log(1-q) of itself and 4, each step 4, the sum one a
     * term. h_1 takes d = 6 + 2/sigma^2: expm1 4, its argument's 2 times at most 1 + 1/sigma^2. h_j
     * takes at most j (d + 3), by its recurrence, and M_j the sum of that up to j, and 3 a step. */
    long double d = 6 + 2 / square;
    long double units = 32 + 9 * n - 2 * n * log1pl(-q) + 0.5L * n * n * (d + 3);
    return (double)(log1pl(sum * (1 + units * 0x1p-63L)) * (1 + 0x1p-60L)) * (1 + 0x1p-51) +
           subnormal;
}

double brume_renyi_sampled_gaussian_upper(const brume_cost *cost, double alpha)
{
    double sigma = cost->law.a, rate = cost->law.rate;
    alpha = alpha > 1 ? alpha : 1 + 0x1p-52;
    /* alpha/(2 sigma^2), up: sampling never raises a divergence */
    double plain = alpha / 2 / sigma / sigma * (1 + 0x1p-50) + subnormal;
    if (!(rate < 1) || !(alpha <= MOST_WHOLE_ORDER) || !(sigma > 0))
        return isnan(plain) ? INFINITY : plain;
    int below = (int)alpha;
    double low = below > 1 ? log_moment_upper(sigma, rate, below) : 0;
    double share = alpha - below, divergence = low;
    if (below == 1)
        divergence = log_moment_upper(sigma, rate, 2); /* the chord from 0, over alpha - 1 */
    else if (share > 0)
        divergence = low * (1 - share) + log_moment_upper(sigma, rate, below + 1) * share;
    if (below > 1)
        divergence = divergence / (alpha - 1) * (1 + 0x1p-49); /* up, by more than five roundings */
    return divergence < plain ? divergence : plain;
}

/* The curve for `members` records that are all in the data or all not: at least that of a sample in
 * which some of them are, and all of them are as soon as one is. */
static double members_upper(const brume_loss *law, double members, double alpha)
{
    /* up: a larger rate; down: a smaller sigma */
    double some = -expm1(members * log1p(-law->rate)) * (1 + 0x1p-48);
    brume_cost all = {.law = *law};
    all.law.rate = law->rate < 1 ? fmin(some, 1) : 1;
    all.law.a = brume_divide_down(law->a, members);
    return brume_renyi_sampled_gaussian_upper(&all, alpha * (1 + 0x1p-50)); /* up, with the order */
}

/* `gone` leave, the others come: through the data without any of them, by Hoelder's inequality with
 * c = size/(size - gone) (proofs/guarantees.md):
 *   D_alpha <= c alpha/(c alpha - 1) D_{(c alpha - 1)/(c - 1)} + D_{c alpha} . */
static double exchange_upper(const brume_loss *law, double gone, double alpha)
{
    double size = (double)law->shift, come = size - gone, product = size * alpha;
    double first = members_upper(law, gone, (product - come) / gone);
    double second = members_upper(law, come, product / come);
    return (product / (product - come) * first + second) * (1 + 0x1p-48); /* up */
}

double brume_renyi_sampled_group_upper(const brume_cost *cost, double alpha)
{
    const brume_loss *law = &cost->law;
    alpha = alpha > 1 ? alpha : 1 + 0x1p-52;
    double most = members_upper(law, (double)law->shift, alpha);
    for (double gone = 1; gone < (double)law->shift; gone++)
        most = fmax(most, exchange_upper(law, gone, alpha));
    return most;
}

/* --- the least rho of a curve: at most 2e-4 above the largest D_alpha/alpha --- */

/* The curve of k-ary randomized response and of discrete Laplace of a small shift in doubles,
 * rounded up; infinite where they do not reach. These laws are symmetric: an atom m at l > 0 has an
 * atom m e^-l at -l, so with t = alpha - 1
 *   E e^{tL} - 1 = sum over l > 0 of m expm1(tl) (1 - e^{-(l + tl)}),
 * a sum of positive terms in which nothing cancels, and D = log1p(that)/t. A mass takes at most 15
 * units of 2^-53 and its exponent's size in them, l and t l one and two, expm1 4 (libm) and its
 * argument's times 1 + t l, the other factor 4 and 3, products 2, the sum one a term; log1p does
 * not make a relative error larger, and takes 4, the quotient 1. proofs/accountant/renyi.md,
 * section renyi.1.
 */
static double renyi_quick_upper(const brume_loss *law, double t)
{
    double a = law->a, sum = 0, shift = 1, largest = a;
    if (!(a > 1e-100))
        return INFINITY;
    if (law->kind == BRUME_LOSS_KARY || law->kind == BRUME_LOSS_PURE) {
        double others = law->kind == BRUME_LOSS_PURE ? 1 : fmax((double)law->shift, 2) - 1;
        double mass = 1 / (1 + others * exp(-a));
        sum = mass * expm1(t * a) * -expm1(-(a + t * a));
    } else if (law->kind == BRUME_LOSS_DISCRETE_LAPLACE && law->shift <= 64) {
        shift = (double)law->shift;
        largest = a * shift;
        double all = 1 + exp(-a), step = -expm1(-a) / all;
        for (double x = 0; 2 * x < shift; x++) { /* x = 0: the whole tail */
            double loss = a * (shift - 2 * x), mass = x > 0 ? step * exp(-a * x) : 1 / all;
            sum += mass * expm1(t * loss) * -expm1(-(loss + t * loss));
        }
    }
    if (!(sum > 1e-280 && largest * (1 + t) < 600))
        return INFINITY; /* no such law, or out of the range of doubles */
    double units = 40 + shift + 2 * largest * (1 + t);
    return log1p(sum) / t * (1 + units * 0x1p-53) * (1 + 0x1p-52); /* up */
}

static double divergence_upper(const brume_cost *cost, double t)
{
    double quick = renyi_quick_upper(&cost->law, t);
    return quick < INFINITY ? fmin(quick, cost->epsilon) : cost->renyi_upper(cost, 1 + t);
}

/* A point of the curve: t = alpha - 1 and D_alpha, rounded up. */
typedef struct order_point {
    double less, divergence;
} order_point;

/* psi(t) = t D is convex (a log-moment), so between two orders it lies under its chord A t + B; the
 * largest (A t + B)/(t (1+t)) there is at an end or where A t^2 = -B (2t+1). */
static double chord_rho(order_point low, order_point high)
{
    double low_psi = low.less * low.divergence, high_psi = high.less * high.divergence;
    double a = (high_psi - low_psi) / (high.less - low.less), b = low_psi - a * low.less;
    double result = fmax(low.divergence / (1 + low.less), high.divergence / (1 + high.less));
    if (b < 0 && a > 0) {
        double t = (-b + sqrt(-b * (a - b))) / a;
        if (t > low.less && t < high.less)
            result = fmax(result, (a * t + b) / (t * (1 + t)));
    } else if (b > 0) { /* falls with t: largest at the lower end, which is the chord's value */
        result = fmax(result, low.divergence / (1 + low.less));
    }
    return result * (1 + 1e-9); /* more than the roundings of these few operations */
}

double brume_rho_of_renyi_upper(const brume_cost *cost)
{
    enum { MOST = 64 };
    const double tolerance = 1e-4;
    order_point stack[MOST], low = {0x1p-14, divergence_upper(cost, 0x1p-14)};
    /* up to the first order D grows to low.divergence, and alpha >= 1 */
    double result = low.divergence;
    double target = result;
    /* beyond epsilon/target: D_alpha/alpha <= epsilon/alpha <= target */
    while (cost->epsilon / (1 + low.less) > target) {
        size_t count = 1;
        double less = 2 * low.less;
        stack[0] = (order_point){less, divergence_upper(cost, less)};
        while (count > 0) {
            order_point high = stack[count - 1];
            target = fmax(target, high.divergence / (1 + high.less));
            double bound = chord_rho(low, high);
            if (bound <= target * (1 + tolerance) || count == MOST) {
                result = fmax(result, bound);
                low = high;
                count--;
            } else {
                double middle = low.less + (high.less - low.less) / 2;
                stack[count++] = (order_point){middle, divergence_upper(cost, middle)};
            }
        }
    }
    return fmin(fmax(result, target), cost->rho);
}

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
    double quick = renyi_quick_upper(law, alpha - 1);
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
