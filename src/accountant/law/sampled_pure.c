/* Two atoms: the worst pure law on a Poisson sample.
 *
 * Inner losses +-e of the pair (P, Q), r(l) = 1 - q + q e^l, h = log r(e), g = -log r(-e). A record
 * removed, (1-q)Q + qP against Q: atoms h and -g. A record added, Q against (1-q)Q + qP: atoms g
 * and -h. With w = (h+g)/2, centre m half the sum of the two atoms, and
 *   lean t = w - e/2 (removed), e/2 (added):   phi(s) = e^{sm} cosh(t + sw) / cosh t,
 * so that L - m is the pure law on the line but for its tilt:
 *   psi(y) = cos yw + i T sin yw,  T = tanh(t + cw),  without the factor e^{iym}.
 * proofs/accountant/law.md, section law.5. Promise: as law.h, for the parameters as given: what is
 * known of them to 8 units only is the business of moved.c. */
#include "accountant/law/law.h"

#include <math.h>

#include "base/error.h"

static const double unit = BRUME_UNIT;
static const double long_unit = 0x1p-63; /* of a long double; its functions are off by two */

/* Within 8 long units, relative: q expm1(l) by 3, and log1p or log there by 1.5 of that and 2. */
long double brume_sampled_log_ratio(long double loss, long double rate)
{
    if (loss > 11000) /* beyond a long double; log q > -745 */
        return loss + logl(rate);
    long double rest = rate * expm1l(loss);
    if (rest < -0.5L) /* 1 - q is exact here, and nothing cancels */
        return logl((1 - rate) + rate * expl(loss));
    return log1pl(rest);
}

/* log(1 + e^x) */
static long double soft_plus(long double x)
{
    return x > 60 ? x + expl(-x) : log1pl(expl(x));
}

/* A bound of the error of the lean: 9 long units of the spread, which is at most e, and of e. */
static double lean_error(const brume_law *law)
{
    return 16 * long_unit * law->source.a;
}

brume_status brume_sampled_pure_law_open(brume_law *law, brume_error *error)
{
    long double e = law->a, q = law->rate;
    long double up = brume_sampled_log_ratio(e, q), down = -brume_sampled_log_ratio(-e, q);
    law->kind = BRUME_LAW_SAMPLED_PURE;
    law->spread = (up + down) / 2;
    law->centre = law->reversed ? (down - up) / 2 : (up - down) / 2;
    law->lean = law->reversed ? e / 2 : law->spread - e / 2;
    law->a = (double)law->spread;
    if (!(law->a >= 1e-300))
        return brume_fail(error, BRUME_EARGUMENT, "a larger rate or epsilon",
                          "loss law: rate and epsilon leave a loss of %.3g, too small", law->a);
    law->unit = 2 * law->a;
    law->half = true;
    law->bounded = true;
    law->top = (double)(law->reversed ? down : up);
    /* down, by more than its error: it is used for lower ends only */
    law->log_top_mass = (double)-soft_plus(-2 * law->lean) - 4 * lean_error(law);
    return BRUME_OK;
}

void brume_sampled_pure_law_settle(brume_law *law)
{
    long double big = law->lean + law->c * law->spread;
    law->tanh_a = (double)tanhl(big);
    double inverse = fabsl(big) > 350 ? 0 : (double)(1 / coshl(big));
    law->sech2 = inverse * inverse;
}

/* e^{cx} - 1 + c (e^{-x} - 1) >= 0, of which nothing is left at x = 0 to first order. */
long double brume_bend(long double c, long double x, bool series)
{
    if (!series)
        return expm1l(c * x) + c * expm1l(-x);
    /* sum over n >= 2 of x^n (c^n + c (-1)^n)/n!; the first term is c (c+1) x^2/2, the others are
     * below half of it together */
    long double sum = 0, grown = c * x, turned = -x, factor = 1;
    for (int n = 2; n < 20; n++) {
        grown *= c * x;
        turned *= -x;
        factor /= n;
        sum += (grown + c * turned) * factor;
    }
    return sum;
}

long double brume_sampled_pure_law_cumulant(const brume_law *law, double at, double *slope,
                                            double *error)
{
    long double c = at, w = law->spread, upper = law->centre + w, lower = law->centre - w;
    long double most = fmaxl(upper, -lower), value;
    if (slope)
        *slope = (double)(law->centre + w * tanhl(law->lean + c * w));
    if (c * most < 0.5L) {
        /* phi - 1 = E[e^{cL} - 1], and E[e^{-L} - 1] = 0 may be added c times: both terms are
         * non-negative, so that many draws multiply an error of the value's own size */
        bool series = most <= 0.25L && c * most <= 0.25L;
        long double high = expl(-soft_plus(-2 * law->lean)), low = expl(-soft_plus(2 * law->lean));
        value = log1pl(high * brume_bend(c, upper, series) + low * brume_bend(c, lower, series));
        /* the masses by 2 errors of the lean and 8 long units; an atom by 8 long units of the
         * spread, of which the bend makes 2 + |atom| times, relative; where it is not a series it
         * is rounded by 4 of itself and of 2.6 c |atom| */
        if (error) {
            double size = (double)(high * fabsl(upper) + low * fabsl(lower));
            *error = (double)value * (2.2 * lean_error(law) + long_unit * (96 + 40 * (double)most));
            if (series) /* x moves by 16 long units of w, and the bend by c (c+1) |x| times that */
                *error += long_unit * 20 * at * (at + 1) * size * law->a;
            else
                *error += long_unit * 40 * at * (size + law->a);
        }
        return value;
    }
    value = c * upper + soft_plus(-2 * law->lean - 2 * c * w) - soft_plus(-2 * law->lean);
    if (error) /* c times 16 long units of w, twice; two errors of the lean, twice; roundings */
        *error = 4.4 * lean_error(law) +
                 long_unit * (64 * at * law->a + 8 * (double)fabsl(law->lean) + 32);
    return value;
}

brume_log_psi brume_sampled_pure_law_node(const brume_law *law, double y)
{
    /* as the pure law's, of another tilt, which may be negative: its errors hold for |t|; here t is
     * off by one unit and by what 64 bits lose in t + cw */
    double theta = y * law->a, s, c, t = law->tanh_a, size = fabs(theta);
    sincos(theta, &s, &c);
    double tilted_error = lean_error(law) + 16 * long_unit * law->tilt * law->a;
    double lost = s * s * law->sech2; /* 1 - |psi|^2 */
    double square = fmax(c * c + t * t * s * s, 1e-300);
    double sine_error = unit * (12 * size + 4 * fmin(1, size));
    brume_log_psi out;
    out.re = lost < 0.75 ? 0.5 * log1p(-lost) : 0.5 * log(square);
    out.im = atan2(t * s, c);
    double lost_error = law->sech2 * (2 * fabs(s) * sine_error + sine_error * sine_error) +
                        lost * (16 * unit + 4 * tilted_error);
    double tilt_error = fabs(t) * 4 * unit + law->sech2 * 2 * tilted_error;
    double angle_error =
        (fabs(t) * (sine_error + unit * (12 * size + 4) * fabs(s)) + fabs(s) * tilt_error) / square;
    out.error = 1.1 * (0.5 * lost_error / square + angle_error) +
                4 * unit * (fabs(out.re) + fabs(out.im));
    if (lost >= 0.75) /* then the square itself was rounded: cos^2 and t^2 sin^2 by 32 units */
        out.error += 32 * unit * (1 + size * fabs(s * c) / square) +
                     2 * fabs(t) * s * s * tilt_error / square;
    if (!(out.error <= 0.15))
        out.error = 1;
    double square_error = lost_error + 2 * fabs(t) * s * s * tilt_error;
    if (lost < 0.75 && square_error < 0.01)
        out.ceiling = fmin(0, out.re * (1 - 4 * unit) + 0.55 * square_error / square);
    else
        out.ceiling = fmin(0, 0.5 * log(fmin(1, square + square_error + 16 * unit)) + 4 * unit);
    return out;
}

double brume_sampled_pure_law_envelope(brume_law *law, double low, double high)
{
    /* 1/cosh^2 has a millionth of a millionth to spare there */
    return lean_error(law) < 1e-13 ? brume_laplace_envelope(law, low, high) : 0;
}
