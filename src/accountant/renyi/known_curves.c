/* Renyi curves that costs carry, and the least rho of a curve.
 *
 * Promise: rounded up. In balls the only rounding with a choice is the last one, to a double; the
 * curve of a Poisson sample is summed in long doubles with a bound of its error. */
#include "accountant/renyi/renyi.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "number/ball.h"
#include "number/rounding.h"

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
double brume_renyi_quick_upper(const brume_loss *law, double t)
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
    double quick = brume_renyi_quick_upper(&cost->law, t);
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
