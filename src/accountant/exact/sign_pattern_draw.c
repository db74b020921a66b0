/* One draw of a law with atoms, as a polynomial of exponentials. See the header, and the list of
 * transforms that opens pattern.c. */
#include "accountant/exact/sign_pattern_draw.h"

#include <math.h>

#include "accountant/exact/closed_form.h"
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
    arb_t lean, x;
    arb_init(lean);
    arb_init(x);
    double e = brume_parameter_moved(law->source.a, direction);
    double rate = fmin(1, brume_parameter_moved(law->source.rate, direction));
    brume_sampled_places(scale, centre, e, rate, law->reversed, precision);
    arb_set_d(lean, e); /* twice the lean: e, or 2w - e */
    if (!law->reversed) {
        arb_sub(lean, scale, lean, precision);
        arb_add(lean, lean, scale, precision);
    }
    arb_neg(lean, lean);
    arb_exp(x, lean, precision); /* the upper atom has mass 1/(1 + e^{-2 lean}), */
    arb_add_ui(x, x, 1, precision);
    arb_add(normal, scale, centre, precision);
    arb_mul_2exp_si(normal, normal, -1);
    arb_neg(normal, normal);
    arb_exp(normal, normal, precision);
    arb_div(normal, normal, x, precision); /* and the weight P[h] e^{-h/2}; */
    arb_add(lean, lean, scale, precision);
    arb_exp(x, lean, precision); /* the other's over it is e^{-2 lean + w} */
    arb_poly_zero(poly);
    arb_poly_set_coeff_si(poly, 0, 1);
    arb_poly_set_coeff_arb(poly, 1, x);
    arb_clear(lean);
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
