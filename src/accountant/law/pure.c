/* Two atoms: the worst pure loss, alone and on a Poisson sample.
 *
 * Alone: atoms e and -e, e = epsilon0, phi(s) = cosh((s + 1/2) e)/cosh(e/2). On a sample of rate q:
 *
 * Inner losses +-e of the pair (P, Q), r(l) = 1 - q + q e^l, h = log r(e), g = -log r(-e). A record
 * removed, (1-q)Q + qP against Q: atoms h and -g. A record added, Q against (1-q)Q + qP: atoms g
 * and -h. With w = (h+g)/2, centre m half the sum of the two atoms, and
 *   t = w - e/2 (removed), e/2 (added), half the log of the odds of the upper atom:   phi(s) =
 * e^{sm} cosh(t + sw) / cosh t, which is the law alone for m = 0, w = e and t = e/2. So in both
 * cases L - m has on the line psi(y) = cos yw + i T sin yw,  T = tanh(t + cw),  without the factor
 * e^{iym}. proofs/accountant/law.md, section law.5. Promise: alone as law.h; on a sample for the
 * parameters as given: law.c takes care of parameters that are known to 8 units only.
 */
#include "accountant/law/family.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "number/elementary.h"

static const double unit = BRUME_UNIT;
static const double long_unit = 0x1p-63; /* of a long double; its functions are off by two */

static const size_t most_masses = 40000;

typedef struct two_atoms {
    long double spread, half_log_odds; /* w, t */
    double error;              /* a bound of the error of t + cw, but for the long doubles' own */
    double error_slope;        /* times (c + 1/2) w, and more of it */
    double tanh_tilted, sech2; /* on the line: T, 1/cosh(t + cw)^2 */
} two_atoms;

/* log(1 + e^x) */
static long double soft_plus(long double x)
{
    return x > 60 ? x + expl(-x) : log1pl(expl(x));
}

static bool settle(brume_law *law)
{
    two_atoms *two = law->state;
    long double big = two->half_log_odds + law->c * two->spread;
    two->tanh_tilted = (double)tanhl(big);
    double inverse = fabsl(big) > 350 ? 0 : (double)(1 / coshl(big));
    two->sech2 = inverse * inverse;
    return true;
}

static long double pure_cumulant(brume_law *law, double at, double *slope, double *error)
{
    long double c = at, a = law->a, big = (2 * c + 1) * a, small = expl(-big), value;
    /* phi = e^{ca} (1 + e^{-(2c+1)a}) / (1 + e^{-a}); near 0: 2 sinh sinh / cosh; for small c
     * phi - 1 = [e^{ca} - 1 + e^{-a} (e^{-ca} - 1)]/(1 + e^{-a}): the value is of the size of
     * c, and many draws multiply its error */
    if (big < 1)
        value = log1pl(2 * sinhl(c * a / 2) * sinhl((c + 1) * a / 2) / coshl(a / 2));
    else if (c * a < 0.5L)
        value = log1pl((expm1l(c * a) + expl(-a) * expm1l(-c * a)) / (1 + expl(-a)));
    else
        value = c * a + log1pl(small) - log1pl(expl(-a));
    long double mass = 1 + small;
    if (slope)
        *slope = (double)(a * (1 - 2 * small / mass));
    if (error) /* as Laplace's (laplace.c) */
        *error = unit * (double)(10 * c * a * fminl(1, (c + 1) * a) + 0.01L * fabsl(value) +
                                 0.01L * fminl(1, c * a));
    return value;
}

static long double sampled_cumulant(brume_law *law, double at, double *slope, double *error)
{
    const two_atoms *two = law->state;
    long double c = at, w = two->spread, upper = law->centre + w, lower = law->centre - w;
    long double most = fmaxl(upper, -lower), value;
    if (slope)
        *slope = (double)(law->centre + w * tanhl(two->half_log_odds + c * w));
    if (c * most < 0.5L) {
        /* phi - 1 = E[e^{cL} - 1], and E[e^{-L} - 1] = 0 may be added c times: both terms are
         * non-negative, so that many draws multiply an error of the value's own size */
        bool series = most <= 0.25L && c * most <= 0.25L;
        long double high = expl(-soft_plus(-2 * two->half_log_odds)),
                    low = expl(-soft_plus(2 * two->half_log_odds));
        value = log1pl(high * brume_moment_term(c, upper, series) +
                       low * brume_moment_term(c, lower, series));
        /* the masses by 2 errors of t and 8 long units; an atom by 8 long units of the
         * spread, of which the term makes 2 + |atom| times, relative; where it is not a series it
         * is rounded by 4 of itself and of 2.6 c |atom| */
        if (error) {
            double size = (double)(high * fabsl(upper) + low * fabsl(lower));
            *error = (double)value * (2.2 * two->error + long_unit * (96 + 40 * (double)most));
            if (series) /* x moves by 16 long units of w, and the term by c (c+1) |x| times that */
                *error += long_unit * 20 * at * (at + 1) * size * (double)w;
            else
                *error += long_unit * 40 * at * (size + (double)w);
        }
        return value;
    }
    value = c * upper + soft_plus(-2 * two->half_log_odds - 2 * c * w) -
            soft_plus(-2 * two->half_log_odds);
    if (error) /* c times 16 long units of w, twice; two errors of t, twice; roundings */
        *error = 4.4 * two->error +
                 long_unit * (64 * at * (double)w + 8 * (double)fabsl(two->half_log_odds) + 32);
    return value;
}

static brume_log_psi node(brume_law *law, long index, double h)
{
    /* t is off by one unit and by what t + cw is; it may be negative */
    const two_atoms *two = law->state;
    double w = (double)two->spread, theta = (double)index * h * w, s, c, t = two->tanh_tilted;
    double size = fabs(theta), sech2 = two->sech2;
    sincos(theta, &s, &c);
    double tilted_error = two->error + two->error_slope * fmin(law->tilt * w, 1e9);
    double lost = s * s * sech2; /* 1 - |psi|^2 */
    double square = fmax(c * c + t * t * s * s, 1e-300);
    double sine_error = unit * (12 * size + 4 * fmin(1, size));
    brume_log_psi out;
    out.re = lost < 0.75 ? 0.5 * log1p(-lost) : 0.5 * log(square);
    out.im = atan2(t * s, c);
    double lost_error = sech2 * (2 * fabs(s) * sine_error + sine_error * sine_error) +
                        lost * (16 * unit + 4 * tilted_error);
    double tilt_error = fabs(t) * 4 * unit + sech2 * 2 * tilted_error;
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

static void psi_block(const brume_law *law, const double *y, size_t count, double *re, double *im,
                      double *error)
{
    const two_atoms *two = law->state;
    double w = (double)two->spread, t = two->tanh_tilted, theta[BRUME_PSI_BLOCK] = {0};
    double tilted_error = two->error + two->error_slope * fmin(law->tilt * w, 1e9);
    double tilt_error = fabs(t) * 5 * unit + two->sech2 * 2 * tilted_error;
    for (size_t j = 0; j < count; j++)
        theta[j] = y[j] * w;
    brume_vector_sincos(theta, im, re, count);
    for (size_t j = 0; j < count; j++) {
        double sine = theta[j] < 1 ? theta[j] : 1;
        im[j] *= t;
        error[j] = 1.01 * ((1 + fabs(t)) * (12 * theta[j] + 2) * unit + sine * tilt_error);
    }
}

static double envelope(brume_law *law, double low, double high)
{
    const two_atoms *two = law->state;
    double w = (double)two->spread;
    if (!(two->error < 1e-13)) /* 1/cosh^2 has a millionth of a millionth to spare below */
        return 0;
    /* |cosh(A + i theta)|^2 / cosh^2 A = 1 - sin^2 theta / cosh^2 A */
    double lost = two->sech2 * brume_smallest_sine_square(low * w, high * w) * (1 - 1e-12);
    return fmin(0, 0.5 * log1p(-lost) * (1 - 1e-12));
}

/* All draws: binomial masses, from the likeliest outwards. `off` is what the log of the odds of the
 * atoms may be off by. */
static bool binomial(const brume_law *law, double off, double depth, brume_masses *out)
{
    const two_atoms *two = law->state;
    double draws = law->count, log_odds = 2 * (double)two->half_log_odds, odds = exp(-log_odds);
    if (!(draws <= 0x1p40) || !(fabs(log_odds) < 600))
        return false;
    /* a number of draws down; each side ends where e^{-depth} of the likeliest is left */
    double middle = floor((draws + 1) * (odds / (1 + odds)));
    middle = fmin(fmax(middle, 0), draws);
    double deviation = sqrt(draws * odds) / (1 + odds);
    double room = fmin(draws, (deviation + depth) * sqrt(2 * depth) + 2 * depth) + 2;
    if (!(room <= (double)most_masses))
        return false;
    size_t most = 2 * (size_t)room + 1, at = (size_t)room, first = at, last = at;
    double *mass = malloc(most * sizeof *mass), sum = 1, tail = 0, least = exp(-depth);
    if (!mass)
        return false;
    mass[at] = 1;
    bool alive = true;
    for (double j = middle; j < draws; j++) { /* ratios fall outwards: a geometric tail */
        double ratio = (draws - j) / (j + 1) * odds, next = mass[last] * ratio;
        if (next < least && ratio < 0.999) {
            tail += next / (1 - ratio);
            break;
        }
        alive = last + 1 < most;
        if (!alive)
            break;
        mass[++last] = next;
        sum += next;
    }
    for (double j = middle; alive && j > 0; j--) {
        double ratio = j / (draws - j + 1) / odds, next = mass[first] * ratio;
        if (next < least && ratio < 0.999) {
            tail += next / (1 - ratio);
            break;
        }
        alive = first > 0;
        if (!alive)
            break;
        mass[--first] = next;
        sum += next;
    }
    brume_masses c = {.count = last - first + 1, .mass = mass, .draws = draws};
    if (!alive || c.count > most_masses) {
        free(mass);
        return false;
    }
    memmove(mass, mass + first, c.count * sizeof *mass);
    for (size_t j = 0; j < c.count; j++)
        mass[j] /= sum; /* of all: short by the tail, which is missed */
    c.half = 0.5 * draws - (middle - (double)(at - first));
    c.centre = (double)law->centre * draws;
    c.missed = 1.01 * tail / sum;
    /* a step: the odds, exp and four roundings; the sum errs as its terms do, and one a term */
    double steps = (double)(last - at > at - first ? last - at : at - first);
    c.error = 1.01 * (2 * steps * (off + 9 * unit) + ((double)c.count + 4) * unit) +
              1.01 * c.missed;
    *out = c;
    return true;
}

static bool pure_masses(const brume_law *law, double depth, brume_masses *out)
{
    return binomial(law, 8 * unit * law->a, depth, out);
}

static bool sampled_masses(const brume_law *law, double depth, brume_masses *out)
{
    const two_atoms *two = law->state; /* its parameters were moved: exact but for rounding */
    return binomial(law, unit * (4 * fabs((double)two->half_log_odds) + 2 * law->a), depth, out);
}

static const brume_law_family pure_family = {.name = "pure",
                                             .cumulant = pure_cumulant,
                                             .settle = settle,
                                             .node = node,
                                             .psi_block = psi_block,
                                             .envelope = envelope,
                                             .masses = pure_masses};
static const brume_law_family sampled_family = {.name = "pure on a Poisson sample",
                                                .cumulant = sampled_cumulant,
                                                .settle = settle,
                                                .node = node,
                                                .psi_block = psi_block,
                                                .envelope = envelope,
                                                .masses = sampled_masses};

brume_status brume_pure_open(brume_law *law, brume_error *error)
{
    law->family = &pure_family;
    BRUME_TRY(brume_law_allocate(law, sizeof(two_atoms), error));
    two_atoms *two = law->state;
    *two = (two_atoms){.spread = law->a, .half_log_odds = law->a / 2, .error_slope = 9 * unit};
    law->unit = 2 * law->a;
    law->half = true;
    law->bounded = true;
    law->top = law->a;
    law->log_top_mass = -log1p(exp(-law->a));
    return BRUME_OK;
}

brume_status brume_sampled_pure_open(brume_law *law, brume_error *error)
{
    long double e = law->a, q = law->rate;
    long double up = brume_sampled_log_ratio(e, q), down = -brume_sampled_log_ratio(-e, q);
    law->family = &sampled_family;
    BRUME_TRY(brume_law_allocate(law, sizeof(two_atoms), error));
    two_atoms *two = law->state;
    two->spread = (up + down) / 2;
    two->half_log_odds = law->reversed ? e / 2 : two->spread - e / 2;
    /* t: 9 long units of the spread, which is at most e, and of e */
    two->error = 16 * long_unit * law->a;
    two->error_slope = 16 * long_unit;
    double spread = (double)two->spread;
    if (!(spread >= 1e-300))
        return brume_fail(error, BRUME_EARGUMENT, "a larger rate or epsilon",
                          "loss law: rate and epsilon leave a loss of %.3g, too small", spread);
    law->centre = law->reversed ? (down - up) / 2 : (up - down) / 2;
    /* by 10 units of a long double of the spread; the products and the sum */
    law->centre_error = 0x1p-59 * spread + 0x1p-61 * fabs((double)law->centre);
    law->unit = 2 * spread;
    law->unit_is_rounded = true;
    law->orders_differ = true;
    law->half = true;
    law->bounded = true;
    law->top = (double)(law->reversed ? down : up);
    /* down, by more than its error: it is used for lower ends only */
    law->log_top_mass = (double)-soft_plus(-2 * two->half_log_odds) - 4 * two->error;
    return BRUME_OK;
}
