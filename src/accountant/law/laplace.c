/* The Laplace loss; a = epsilon0, the sensitivity over the scale.
 *
 * With A = (c + 1/2) a, theta = y a, t = tanh A:
 *   psi = [cos theta + i t sin theta + (t cos theta + i sin theta)/(2 (c+1/2+iy))] / D,
 *   D = 1 + t/(2c+1),
 * and psi - 1 is formed without cancellation. Promise: the errors stated hold for every parameter
 * within BRUME_PARAMETER_UNITS of a, for theta with a relative error of 12 units in all. */
#include "accountant/law/family.h"
#include "number/elementary.h"
#include "number/elementary_body.h"

static const double unit = BRUME_UNIT;

/* On the line: tanh(A), tanh(A) - A, 1/cosh(A)^2, D. */
typedef struct laplace_line {
    double tanh_a, tanh_rest, sech2, denominator;
} laplace_line;

/* sin x - x */
static double sine_rest(double x)
{
    if (fabs(x) >= 1)
        return sin(x) - x;
    double q = x * x, sum = 0;
    for (int j = 19; j >= 5; j -= 2)
        sum = (1 - sum) * q / (double)(j * (j - 1));
    return -x * q / 6 * (1 - sum);
}

/* tanh x - x, x >= 0, to 10 units relative */
static double tanh_rest(double x)
{
    if (x >= 0.02)
        return (double)(tanhl((long double)x) - (long double)x);
    double q = x * x;
    return -x * q *
           (1.0 / 3 - q * (2.0 / 15 - q * (17.0 / 315 - q * (62.0 / 2835 - q * 1382.0 / 155925))));
}

static bool settle(brume_law *law)
{
    laplace_line *line = law->state;
    double big = law->tilt * law->a, inverse = big > 350 ? 0 : 1 / cosh(big);
    line->tanh_a = tanh(big);
    line->tanh_rest = tanh_rest(big);
    line->sech2 = inverse * inverse;
    line->denominator = 1 + line->tanh_a / (2 * law->tilt);
    return true;
}

/* psi - 1 and a bound of its error, absolute */
static void rest(const brume_law *law, double y, double *re, double *im, double *bound)
{
    const laplace_line *line = law->state;
    double theta = y * law->a, size = fabs(theta), s, c, t = line->tanh_a, tilt = law->tilt;
    sincos(theta, &s, &c);
    double half = sin(0.5 * theta), v = 2 * half * half; /* 1 - cos theta */
    double rho = tilt * tilt + y * y, root = sqrt(rho);
    double w = tilt * sine_rest(theta) - y * line->tanh_rest; /* tilt sin theta - t y */
    double below = 2 * tilt * rho;
    double z_re = (-v + (w * y - t * tilt * tilt * v) / below) / line->denominator;
    double z_im = (t * s + (w * tilt + t * tilt * v * y) / below) / line->denominator;
    /* errors, in units: v: 40|theta| h; t sin: 30 t|theta|; t v: 54 t|theta| h; sin x - x: 200
     * min(|x|^3/6, |x|); t - A: 40 relative; h = min(1, |theta|/2). Rounded up below. */
    double h = fmin(1, 0.5 * size);
    double error =
        60 * size * h + 45 * t * size + 80 * t * size * h / (2 * root) +
        (220 * tilt * fmin(size * size * size / 6, size) + 60 * fabs(y * line->tanh_rest)) /
            (2 * tilt * root);
    error = unit * error / line->denominator + 24 * unit * (fabs(z_re) + fabs(z_im));
    *re = z_re;
    *im = z_im;
    *bound = error;
}

static brume_log_psi node(brume_law *law, long index, double h)
{
    double re, im, error;
    rest(law, (double)index * h, &re, &im, &error);
    return brume_log_psi_of(re, im, error);
}

/* psi from its sines and cosines. In units: those are off by e = 12 theta + 2, t by 12 of itself,
 * the denominator by 12 of what it is above 1 and by one, products and sums by one each. */
BRUME_BODY void psi_body(const double *restrict y, const double *restrict s,
                         const double *restrict co, size_t count, double a, double tilt,
                         const laplace_line *line, double *restrict re, double *restrict im,
                         double *restrict error)
{
    double t = line->tanh_a, d = line->denominator, own = 5 + 17 * (d - 1);
    for (size_t j = 0; j < count; j++) {
        double half = 0.5 / (tilt * tilt + y[j] * y[j]), theta = y[j] * a;
        re[j] = (co[j] + (t * tilt * co[j] + y[j] * s[j]) * half) / d;
        im[j] = (t * s[j] + (tilt * s[j] - t * y[j] * co[j]) * half) / d;
        double parts = (1 + t) * (tilt + y[j]) * half, e = 12 * theta + 2;
        double sine = brume_choose(brume_mask(theta > 1), 1, theta);
        error[j] = 1.01 * unit * (e * (1 + t + parts) + 14 * t * sine + 20 * parts + 4 + own);
    }
}
BRUME_PATHS(static, psi,
            (const double *y, const double *s, const double *co, size_t count, double a,
             double tilt, const laplace_line *line, double *re, double *im, double *error),
            (y, s, co, count, a, tilt, line, re, im, error))

static void psi_block(const brume_law *law, const double *y, size_t count, double *re, double *im,
                      double *error)
{
    double theta[BRUME_PSI_BLOCK] = {0}, s[BRUME_PSI_BLOCK], co[BRUME_PSI_BLOCK];
    for (size_t j = 0; j < count; j++)
        theta[j] = y[j] * law->a;
    brume_vector_sincos(theta, s, co, count);
    psi(y, s, co, count, law->a, law->tilt, law->state, re, im, error);
}

static long double cumulant(brume_law *law, double at, double *slope, double *error)
{
    long double c = at, a = law->a, big = (2 * c + 1) * a, small = expl(-big), value;
    long double r = 1 / (2 * c + 1);
    long double mass = (c + 1) * r + c * r * small;
    if (big < 0.5L) {
        /* phi - 1 = e^{-a/2} [2 sinh(ca/2) sinh((c+1)a/2) + (c(c+1)/2) sum_j a^{2j+1} S_j /
         * (2j+1)!], S_1 = 1, S_{j+1} = (c+1/2)^2 S_j + 4^{-j} */
        long double tilt2 = (c + 0.5L) * (c + 0.5L) * a * a, quarter = a * a / 4, power = 1;
        long double partial = 1, factor = a / 6, sum = 0;
        for (int j = 1; j < 14; j++) {
            sum += factor * partial;
            power *= quarter;
            partial = tilt2 * partial + power;
            factor /= (long double)((2 * j + 2) * (2 * j + 3));
        }
        value = log1pl(expl(-a / 2) * (2 * sinhl(c * a / 2) * sinhl((c + 1) * a / 2) +
                                       c * (c + 1) * a * a / 2 * sum));
    } else if (c * a < 0.5L) { /* phi - 1: terms of the size of c that cancel by 1/8 at most */
        value = log1pl(((c + 1) * expm1l(c * a) + c * expm1l(-(c + 1) * a)) * r);
    } else {
        value = c * a + logl(mass);
    }
    if (slope)
        *slope = (double)(a + (-r * r + r * r * small - 2 * a * c * r * small) / mass);
    if (error) /* |d log phi / d log a| <= 1.2 c a min(1, (c+1) a), x tanh x having slopes up
                * to 1.2: 8 units and the long doubles' own */
        *error = unit * (double)(10 * c * a * fminl(1, (c + 1) * a) + 0.01L * fabsl(value) +
                                 0.01L * fminl(1, c * a));
    return value;
}

/* |psi| <= g(x)/D, g(x) = sqrt(1-x) + sqrt(t^2+x)/(2 sigma), where x = sin^2 theta / cosh^2 A >=
 * lost and sigma = |c + 1/2 + iy| grows with y. g is concave in x with its top at x* = (1 - 4
 * sigma^2 t^2)
 * /(1 + 4 sigma^2). The second term, the continuous part, is also at most its mass D - 1 at y = 0.
 * Summed without cancellation from g - D. */
static double bound(const brume_law *law, double lost, double y)
{
    const laplace_line *line = law->state;
    double t = line->tanh_a, tilt = law->tilt, sigma = sqrt(tilt * tilt + y * y);
    double twice = 4 * sigma * sigma, x = fmax(lost, (1 - twice * t * t) / (1 + twice));
    x = fmin(x, 1);
    double atoms = x / (1 + sqrt(1 - x)), wave = x / (sqrt(t * t + x) + t + 1e-300) / (2 * sigma);
    double fall = 0.5 * t * y * y / (tilt * sigma * (tilt + sigma)); /* t/(2 tilt) - t/(2 sigma) */
    /* t errs by 14 units, x by 1e-12 of itself, y by 12 units: each term by less than 1e-12 */
    double above = wave * (1 + 1e-12) - (atoms + fall) * (1 - 1e-12);
    above = fmin(above, -lost / (1 + sqrt(1 - fmin(lost, 1))) * (1 - 1e-12));
    return log1p(fmax(above / line->denominator, -1 + 1e-15)) * (1 - 1e-12);
}

static double envelope(brume_law *law, double low, double high)
{
    const laplace_line *line = law->state;
    /* |cosh(A + i theta)|^2 / cosh^2 A = 1 - sin^2 theta / cosh^2 A */
    double sine = brume_smallest_sine_square(low * law->a, high * law->a);
    return bound(law, line->sech2 * sine * (1 - 1e-12), low);
}

static const brume_law_family family = {.name = "laplace",
                                        .cumulant = cumulant,
                                        .settle = settle,
                                        .node = node,
                                        .psi_block = psi_block,
                                        .envelope = envelope};

brume_status brume_laplace_open(brume_law *law, brume_error *error)
{
    law->family = &family;
    law->half = true;
    law->bounded = true;
    law->top = law->a;
    law->log_top_mass = -M_LN2;
    return brume_law_allocate(law, sizeof(laplace_line), error);
}

bool brume_law_is_laplace(const brume_law *law)
{
    return law->family == &family;
}
