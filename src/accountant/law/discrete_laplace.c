/* The discrete Laplace of a large shift D, in constant time per node.
 *
 * With tilt C = c + 1/2, A = C a D, b = a (D-1):
 *   phi = e^{-aD/2}/(1+q) [2 cosh(sigma a D) + (1-q) sinh(sigma b)/sinh(sigma a)], sigma = s + 1/2
 *   psi = ends (cos theta + i tanh A sin theta)
 *         + middle (cos yb + i coth(Cb) sin yb) / (cos ya + i coth(Ca) sin ya)
 * where `ends` and `middle` are the tilted shares, theta = y a D. */
#include "accountant/law/family.h"
#include "accountant/law/points.h"

static const double unit = BRUME_UNIT;

/* On the line: the shares of the two end atoms and of the middle, tanh A, 1/cosh(A)^2. */
typedef struct discrete_laplace_line {
    double ends, middle, tanh_a, sech2;
} discrete_laplace_line;

/* (1-q) e^{-A} sinh(Cb)/sinh(Ca), to be compared with 1 + e^{-2A}. */
static long double middle_mass(const brume_law *law, long double tilt)
{
    long double a = law->a, b = a * (law->shift - 1);
    return -expm1l(-a) * expl(-2 * tilt * a) * expm1l(-2 * tilt * b) / expm1l(-2 * tilt * a);
}

static long double cumulant(brume_law *law, double c, double *slope, double *error)
{
    long double a = law->a, tilt = c + 0.5L, reach = a * law->shift;
    long double ends = 1 + expl(-2 * tilt * reach), middle = middle_mass(law, tilt);
    if (slope) {
        /* by a symmetric difference: only the choice of the line depends on it */
        long double d = 1e-4L * tilt;
        long double up = logl(1 + expl(-2 * (tilt + d) * reach) + middle_mass(law, tilt + d));
        long double down = logl(1 + expl(-2 * (tilt - d) * reach) + middle_mass(law, tilt - d));
        *slope = (double)(reach + (up - down) / (2 * d));
    }
    long double value = c * reach - log1pl(expl(-a)) + logl(ends + middle);
    if (error)
        *error = unit * (double)(10 * c * reach + 0.1L + 0.01L * fabsl(value));
    return value;
}

static bool settle(brume_law *law)
{
    discrete_laplace_line *line = law->state;
    long double tilt = law->tilt, reach = (long double)law->a * law->shift;
    long double ends = 1 + expl(-2 * tilt * reach), middle = middle_mass(law, tilt);
    line->ends = (double)(ends / (ends + middle));
    line->middle = (double)(middle / (ends + middle));
    double big = law->tilt * law->a * law->shift, inverse = big > 350 ? 0 : 1 / cosh(big);
    line->tanh_a = tanh(big);
    line->sech2 = inverse * inverse;
    return true;
}

static brume_log_psi node(brume_law *law, long index, double h)
{
    const discrete_laplace_line *line = law->state;
    double y = (double)index * h;
    double a = law->a, b = a * (law->shift - 1), theta = y * a * law->shift;
    double s, c, sb, cb, sa, ca;
    sincos(theta, &s, &c);
    sincos(y * b, &sb, &cb);
    sincos(y * a, &sa, &ca);
    double coth_b = 1 / tanh(law->tilt * b), coth_a = 1 / tanh(law->tilt * a);
    double top_im = coth_b * sb, low_im = coth_a * sa, square = ca * ca + low_im * low_im;
    double ratio_re = (cb * ca + top_im * low_im) / square;
    double ratio_im = (top_im * ca - cb * low_im) / square;
    double re = line->ends * c + line->middle * ratio_re;
    double im = line->ends * line->tanh_a * s + line->middle * ratio_im;
    double size = fabs(theta), root = sqrt(square);
    /* numerator and denominator of the ratio, absolute; |ratio| <= 1 */
    double top_error = 12 * fabs(y * b) + 8 +
                       coth_b * (16 * fmin(fabs(y * b), 1e9) + 24 * fabs(sb));
    double low_error = 12 * fabs(y * a) + 8 + coth_a * (16 * fabs(y * a) + 24 * fabs(sa));
    double error = line->ends * (30 * size + 24) +
                   line->middle * (1.1 * (top_error + low_error) / root + 24) + 32;
    return brume_log_psi_of(re - 1, im, unit * error);
}

static double envelope(brume_law *law, double low, double high)
{
    const discrete_laplace_line *line = law->state;
    double a = law->a, b = a * (law->shift - 1);
    double lost = line->sech2 *
                  brume_smallest_sine_square(low * a * law->shift, high * a * law->shift);
    double ends = sqrt(fmax(0, 1 - lost)) * (1 + 1e-14);
    double coth_b = 1 / tanh(law->tilt * b), coth_a = 1 / tanh(law->tilt * a);
    double least = brume_smallest_sine_square(low * a, high * a);
    double middle = fmin(1, coth_b / sqrt(1 + (coth_a * coth_a - 1) * least) * (1 + 1e-12));
    double bound = line->ends * ends + line->middle * middle + 1e-14;
    return bound < 1 ? log(bound) + 1e-15 : 0;
}

static const brume_law_family family = {.name = "discrete Laplace",
                                        .cumulant = cumulant,
                                        .settle = settle,
                                        .node = node,
                                        .envelope = envelope};

brume_status brume_discrete_laplace_open(brume_law *law, brume_error *error)
{
    if (law->shift <= BRUME_TABLE_MOST_SHIFT)
        return brume_table_law_open(law, error);
    law->family = &family;
    law->unit = 2 * law->a;
    law->half = fmod(law->shift, 2) != 0;
    law->bounded = true;
    law->top = law->a * law->shift;
    law->log_top_mass = (double)-log1pl(expl(-(long double)law->a));
    return brume_law_allocate(law, sizeof(discrete_laplace_line), error);
}
