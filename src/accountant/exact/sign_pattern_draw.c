/* One draw of a law with atoms, as a polynomial of exponentials. See the header, and the list of
 * transforms that opens sign_pattern.c. */
#include "accountant/exact/sign_pattern_draw.h"

#include <math.h>

#include "accountant/exact/delta_bounds.h"
#include "accountant/exact/sampled_balls.h"

bool brume_pattern_shape(const brume_law *law, double *unit, slong *step, double *steps)
{
    *unit = law->unit;
    *step = 2; /* in multiples of e, or of w */
    *steps = 1;
    switch (law->source.kind) {
    case BRUME_LOSS_LAPLACE:
        *unit = 2 * law->a;
        return true;
    case BRUME_LOSS_PURE:
    case BRUME_LOSS_POISSON_PURE:
        return true;
    case BRUME_LOSS_KARY:
        *step = 1;
        *steps = 2;
        return true;
    case BRUME_LOSS_DISCRETE_LAPLACE:
        *steps = law->shift;
        return true;
    default:
        return false;
    }
}

/* The worst pure law on a Poisson sample. */
static void sampled_pure_draw(arb_poly_t poly, arb_t normal, arb_t scale, arb_t centre,
                              const brume_law *law, int direction, slong precision)
{
    arb_t log_odds, x;
    arb_init(log_odds);
    arb_init(x);
    double e = brume_parameter_moved(law->source.a, direction);
    double rate = fmin(1, brume_parameter_moved(law->source.rate, direction));
    brume_sampled_places(scale, centre, e, rate, law->reversed, precision);
    arb_set_d(log_odds, e); /* twice the log_odds: e, or 2w - e */
    if (!law->reversed) {
        arb_sub(log_odds, scale, log_odds, precision);
        arb_add(log_odds, log_odds, scale, precision);
    }
    arb_neg(log_odds, log_odds);
    arb_exp(x, log_odds, precision); /* the upper atom has mass 1/(1 + e^{-2 log_odds}), */
    arb_add_ui(x, x, 1, precision);
    arb_add(normal, scale, centre, precision);
    arb_mul_2exp_si(normal, normal, -1);
    arb_neg(normal, normal);
    arb_exp(normal, normal, precision);
    arb_div(normal, normal, x, precision); /* and the weight P[h] e^{-h/2}; */
    arb_add(log_odds, log_odds, scale, precision);
    arb_exp(x, log_odds, precision); /* the other's over it is e^{-2 log_odds + w} */
    arb_poly_zero(poly);
    arb_poly_set_coeff_si(poly, 0, 1);
    arb_poly_set_coeff_arb(poly, 1, x);
    arb_clear(log_odds);
    arb_clear(x);
}

/* The discrete Laplace of 1/scale `scale`. */
static void discrete_laplace_draw(arb_poly_t poly, arb_t normal, const arb_t scale, slong shift,
                                  slong precision)
{
    arb_t x, y;
    arb_init(x);
    arb_init(y);
    arb_neg(x, scale);
    arb_expm1(y, x, precision);
    arb_neg(y, y); /* 1 - q */
    for (slong j = 1; j < shift; j++)
        arb_poly_set_coeff_arb(poly, j, y);
    arb_poly_set_coeff_si(poly, 0, 1);
    arb_poly_set_coeff_si(poly, shift, 1);
    arb_mul_si(normal, scale, -shift, precision);
    arb_mul_2exp_si(normal, normal, -1);
    arb_exp(normal, normal, precision);
    arb_exp(x, x, precision);
    arb_add_ui(x, x, 1, precision);
    arb_div(normal, normal, x, precision);
    arb_clear(x);
    arb_clear(y);
}

void brume_pattern_draw(arb_poly_t poly, arb_t normal, arb_t scale, arb_t centre,
                        const brume_law *law, int direction, slong precision)
{
    arb_t x, y;
    arb_init(x);
    arb_init(y);
    arb_poly_zero(poly);
    switch (law->source.kind) {
    case BRUME_LOSS_POISSON_PURE:
        sampled_pure_draw(poly, normal, scale, centre, law, direction, precision);
        break;
    case BRUME_LOSS_PURE:
        arb_poly_set_coeff_si(poly, 0, 1);
        arb_poly_set_coeff_si(poly, 1, 1);
        arb_mul_2exp_si(x, scale, -1);
        arb_cosh(normal, x, precision);
        arb_mul_2exp_si(normal, normal, 1);
        arb_inv(normal, normal, precision);
        break;
    case BRUME_LOSS_KARY:
        arb_poly_set_coeff_si(poly, 0, 1);
        arb_poly_set_coeff_si(poly, 2, 1);
        arb_mul_2exp_si(x, scale, -1);
        arb_exp(x, x, precision); /* e^{e/2} */
        arb_inv(y, x, precision);
        arb_mul_ui(y, y, (ulong)law->shift - 2, precision);
        arb_poly_set_coeff_arb(poly, 1, y);
        arb_mul(y, x, x, precision);
        arb_add_ui(y, y, (ulong)law->shift - 1, precision);
        arb_div(normal, x, y, precision);
        break;
    default: /* the discrete Laplace */
        discrete_laplace_draw(poly, normal, scale, (slong)law->shift, precision);
    }
    arb_clear(x);
    arb_clear(y);
}

void brume_pattern_end(arb_t out, const arb_t x, slong k, int sign, slong precision)
{
    arb_t power, term, sum;
    arb_init(power);
    arb_init(term);
    arb_init(sum);
    arb_one(power);
    fmpz_t partial, binomial;
    fmpz_init(partial);
    fmpz_init(binomial);
    fmpz_one_2exp(partial, (ulong)(k - 1)); /* S_{K-1} */
    /* small x: sign +1 is sum_{j>=1} T_j x^j/j!, T_j = 2^{K-1} - S_{K-1-j}, all positive */
    bool series = sign > 0 && arf_cmpabs_2exp_si(arb_midref(x), 1) < 0 && arb_is_finite(x);
    fmpz_t whole;
    fmpz_init(whole);
    fmpz_set(whole, partial);
    slong last = series ? precision + k + 8 : k - 1;
    for (slong j = 0; j <= last; j++) {
        if (series) {
            fmpz_sub(binomial, whole, partial);
            arb_mul_fmpz(term, power, binomial, precision);
        } else {
            arb_mul_fmpz(term, power, partial, precision);
        }
        arb_add(sum, sum, term, precision);
        if (j < k) { /* S_{K-1-j} -> S_{K-2-j} */
            fmpz_bin_uiui(binomial, (ulong)(k - 1), (ulong)(k - 1 - j));
            fmpz_sub(partial, partial, binomial);
        }
        arb_mul(power, power, x, precision);
        arb_div_si(power, power, sign * (j + 1), precision);
        /* x < 2: after term j >= 4 the rest is below twice the next power times 2^{K-1} */
        if (series && j >= k && j >= 4 &&
            arf_cmpabs_2exp_si(arb_midref(power), -precision - 8) < 0) {
            mag_t rest;
            mag_init(rest);
            arb_get_mag(rest, power);
            mag_mul_2exp_si(rest, rest, k);
            /* relative to the first term the rest is tiny only if x is not; scale by x below */
            arb_add_error_mag(sum, rest);
            mag_clear(rest);
            break;
        }
    }
    fmpz_clear(whole);
    if (series) {
        arb_mul_2exp_si(out, sum, 1);
    } else {
        arb_mul_2exp_si(sum, sum, 1);
        if (sign > 0)
            arb_exp(term, x, precision);
        else {
            arb_neg(term, x);
            arb_exp(term, term, precision);
        }
        arb_mul_2exp_si(term, term, k);
        if (sign > 0)
            arb_sub(out, term, sum, precision);
        else
            arb_sub(out, sum, term, precision);
    }
    fmpz_clear(partial);
    fmpz_clear(binomial);
    arb_clear(power);
    arb_clear(term);
    arb_clear(sum);
}
