/* Rays in ball arithmetic. See audit.h. */
#include <math.h>

#include "accountant/audit.h"
#include "number/ball.h"

#if __has_include(<flint/acb.h>)
#include <flint/acb.h>
#else
#include <acb.h>
#endif

enum { BITS = 160 };

/* m = log(q/(1-q)) - 1/(2 sigma^2) */
static void mean_of(arb_t out, const brume_law *law)
{
    arb_t x;
    arb_init(x);
    arb_set_d(out, law->rate);
    arb_sub_ui(x, out, 1, BITS);
    arb_neg(x, x);
    arb_div(out, out, x, BITS);
    arb_log(out, out, BITS);
    arb_set_d(x, law->a);
    arb_mul(x, x, x, BITS);
    arb_mul_2exp_si(x, x, 1);
    arb_inv(x, x, BITS);
    arb_sub(out, out, x, BITS);
    arb_clear(x);
}

/* P(T < cut) under N0 */
static void mass_below(arb_t out, const brume_law *law, double cut)
{
    arb_t sigma;
    if (isinf(cut)) {
        arb_one(out);
        return;
    }
    arb_init(sigma);
    mean_of(out, law);
    arb_set_d(sigma, cut);
    arb_sub(out, sigma, out, BITS);
    arb_set_d(sigma, law->a);
    arb_mul(out, out, sigma, BITS);
    brume_ball_normal_cdf(out, out, BITS);
    arb_clear(sigma);
}

/* The sum of the rules, sum w sigma/sqrt(2 pi) exp(-sigma^2 (T-m)^2/2 - base) (1+e^T)^z; or, if the
 * contour has an offset, with (1+e^T)^z - 1, and P(T < cut) added. */
static void contour_sum(acb_t out, const brume_contour *contour, const brume_law *law, double cut,
                        const acb_t z)
{
    bool from_one = brume_contour_offset(contour) > 0;
    acb_t t, l, g, w;
    arb_t mean, square;
    acb_init(t);
    acb_init(l);
    acb_init(g);
    acb_init(w);
    arb_init(mean);
    arb_init(square);
    mean_of(mean, law);
    arb_set_d(square, law->a);
    arb_mul(square, square, square, BITS);
    acb_zero(out);
    double t_re, t_im, w_re, w_im;
    for (size_t i = 0; brume_contour_node(contour, i, &t_re, &t_im, &w_re, &w_im); i++) {
        acb_set_d_d(t, t_re, t_im);
        acb_set_d_d(w, w_re, w_im);
        if (t_re > 0) { /* T + log(1 + e^{-T}) */
            acb_neg(l, t);
            acb_exp(l, l, BITS);
            acb_log1p(l, l, BITS);
            acb_add(l, l, t, BITS);
        } else {
            acb_exp(l, t, BITS);
            acb_log1p(l, l, BITS);
        }
        acb_sub_arb(g, t, mean, BITS);
        acb_mul(g, g, g, BITS);
        acb_mul_arb(g, g, square, BITS);
        acb_mul_2exp_si(g, g, -1);
        acb_mul(l, l, z, BITS);
        if (from_one) {
            acb_neg(g, g);
            acb_exp(g, g, BITS);
            acb_expm1(l, l, BITS);
            acb_mul(g, g, l, BITS);
        } else {
            acb_sub(g, l, g, BITS);
            acb_exp(g, g, BITS);
        }
        acb_addmul(out, g, w, BITS);
    }
    arb_set_d(mean, brume_contour_base(contour));
    arb_neg(mean, mean);
    arb_exp(mean, mean, BITS);
    acb_mul_arb(out, out, mean, BITS);
    arb_const_pi(mean, BITS);
    arb_mul_2exp_si(mean, mean, 1);
    arb_div(square, square, mean, BITS);
    arb_sqrt(square, square, BITS);
    acb_mul_arb(out, out, square, BITS);
    if (from_one) {
        mass_below(mean, law, cut);
        acb_add_arb(out, out, mean, BITS);
    }
    acb_clear(t);
    acb_clear(l);
    acb_clear(g);
    acb_clear(w);
    arb_clear(mean);
    arb_clear(square);
}

void brume_audit_ray(const brume_ray *ray, const brume_parts *parts, size_t most, brume_audit *out)
{
    acb_t z, value, factor;
    arb_t gap;
    acb_init(z);
    acb_init(value);
    acb_init(factor);
    arb_init(gap);
    brume_ray_node node;
    size_t stride = brume_ray_nodes(ray) / most + 1;
    for (size_t i = 0; brume_ray_probe(ray, i, &node); i += stride) {
        if (node.re == 0 && node.im == 0)
            continue; /* not summed: its bound is in the error */
        acb_set_d_d(z, node.a, node.b);
        acb_set_d(factor, node.start);
        acb_add(z, z, factor, BITS);
        acb_sub_ui(factor, z, 1, BITS);
        acb_mul(factor, factor, z, BITS);
        acb_set_d_d(value, node.weight_re, node.weight_im);
        acb_div(value, value, factor, BITS);
        for (size_t j = 0; j < parts->count; j++) {
            contour_sum(factor, brume_ray_contour(ray, j), parts->part[j].law, parts->part[j].cut,
                        z);
            acb_pow_ui(factor, factor, (ulong)parts->part[j].count, BITS);
            acb_mul(value, value, factor, BITS);
        }
        acb_set_d(factor, -node.scale);
        acb_exp(factor, factor, BITS);
        acb_mul(value, value, factor, BITS);
        acb_set_d_d(factor, node.re, node.im);
        acb_sub(value, value, factor, BITS);
        acb_abs(gap, value, BITS);
        double ratio = brume_ball_upper(gap) / node.error;
        out->ratio = fmax(out->ratio, ratio);
        out->agrees &= ratio <= 1;
        out->nodes++;
    }
    acb_clear(z);
    acb_clear(value);
    acb_clear(factor);
    arb_clear(gap);
}
