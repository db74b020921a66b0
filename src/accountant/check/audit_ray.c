/* Rays in ball arithmetic. See audit.h. */
#include <math.h>
#include <stdlib.h>

#include "accountant/check/audit.h"
#include "accountant/ray/ray.h"
#include "number/ball.h"

enum { BITS = 160, MOST_AUDITED = 16 };

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
    bool from_one = brume_transform_offset(contour) > 0;
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
    for (size_t i = 0; brume_transform_node(contour, i, &t_re, &t_im, &w_re, &w_im); i++) {
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
    arb_set_d(mean, brume_transform_base(contour));
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

/* --- what the rules miss --- */

typedef struct integrand {
    const brume_law *law;
    double base;
    acb_t z;
} integrand;

/* exp(-sigma^2 (T-m)^2/2 - base) (1 + e^T)^z, analytic where |Im T| < pi */
static int density_times_power(acb_ptr out, const acb_t t, void *context, slong order, slong bits)
{
    const integrand *f = context;
    acb_t l, g;
    arb_t x;
    acb_init(l), acb_init(g);
    arb_init(x);
    acb_get_mid(g, t);
    bool right = arb_is_positive(acb_realref(g));
    acb_set(g, t);
    if (right)
        acb_neg(g, g);
    acb_exp(g, g, bits);
    acb_add_ui(g, g, 1, bits);
    acb_log_analytic(l, g, order > 0, bits);
    if (right)
        acb_add(l, l, t, bits);
    acb_mul(l, l, f->z, bits);
    mean_of(x, f->law);
    acb_sub_arb(g, t, x, bits);
    acb_mul(g, g, g, bits);
    arb_set_d(x, f->law->a);
    arb_mul(x, x, x, bits);
    arb_mul_2exp_si(x, x, -1);
    acb_mul_arb(g, g, x, bits);
    acb_sub(l, l, g, bits);
    arb_set_d(x, f->base);
    acb_sub_arb(l, l, x, bits);
    acb_exp(out, l, bits);
    acb_clear(l), acb_clear(g);
    arb_clear(x);
    return 0;
}

/* exp(-base) Phi(z), T confined as in the part; tails beyond 16 deviations, of 1e-55, are left out
 */
static void transform(acb_t out, const brume_part *part, double base, const acb_t z, double real)
{
    double mean, sigma;
    brume_transform_normal(part->law, &mean, &sigma);
    double low = fmin(mean, mean + fmin(real, 0) / (sigma * sigma)) - 16 / sigma;
    double high = fmax(fmax(mean, mean + fmax(real, 0) / (sigma * sigma)), 0) + 16 / sigma;
    integrand f = {.law = part->law, .base = base};
    acb_t a, b;
    arb_t x;
    mag_t tiny;
    acb_init(f.z), acb_init(a), acb_init(b);
    arb_init(x);
    mag_init(tiny);
    acb_set(f.z, z);
    acb_set_d(a, fmax(low, part->from));
    acb_set_d(b, fmin(high, part->cut));
    mag_set_ui_2exp_si(tiny, 1, -90);
    acb_calc_integrate(out, density_times_power, &f, a, b, 80, tiny, NULL, BITS);
    arb_const_pi(x, BITS);
    arb_mul_2exp_si(x, x, 1);
    arb_rsqrt(x, x, BITS);
    acb_mul_arb(out, out, x, BITS);
    arb_set_d(x, part->law->a);
    acb_mul_arb(out, out, x, BITS);
    acb_clear(f.z), acb_clear(a), acb_clear(b);
    arb_clear(x);
    mag_clear(tiny);
}

/* The ray's integrand with its contours' sums, at z - start. */
static void ray_integrand(acb_t out, const brume_ray *ray, const brume_parts *parts,
                          const brume_ray_span *span, const acb_t place, double x)
{
    acb_t z, factor;
    acb_init(z), acb_init(factor);
    acb_set_d(factor, span->start);
    acb_add(z, place, factor, BITS);
    acb_sub_ui(factor, z, 1, BITS);
    acb_mul(factor, factor, z, BITS);
    acb_inv(out, factor, BITS);
    for (size_t j = 0; j < parts->count; j++) {
        contour_sum(factor, brume_ray_contour(ray, j), parts->part[j].law, parts->part[j].cut, z);
        acb_pow_ui(factor, factor, (ulong)parts->part[j].count, BITS);
        acb_mul(out, out, factor, BITS);
    }
    acb_set_d(factor, -x);
    acb_mul(factor, factor, place, BITS);
    acb_set_d(z, span->scale);
    acb_sub(factor, factor, z, BITS);
    acb_exp(factor, factor, BITS);
    acb_mul(out, out, factor, BITS);
    acb_clear(z), acb_clear(factor);
}

/* The rule of 24 nodes on the part of the span from middle - half to middle + half, in [-1, 1]. */
static void rule(acb_t out, const brume_ray *ray, const brume_parts *parts,
                 const brume_ray_span *span, double x, double middle, double half)
{
    acb_t place, value, direction;
    arb_t node, weight;
    acb_init(place), acb_init(value), acb_init(direction);
    arb_init(node), arb_init(weight);
    acb_zero(out);
    for (ulong i = 0; i < BRUME_GAUSS_NODES; i++) {
        arb_hypgeom_legendre_p_ui_root(node, weight, BRUME_GAUSS_NODES, i, BITS);
        acb_set_d_d(direction, span->half_re, span->half_im);
        acb_set_arb(value, node);
        acb_set_d(place, half);
        acb_mul(value, value, place, BITS);
        acb_mul_arb(place, place, weight, BITS);
        acb_mul(place, place, direction, BITS); /* the weight */
        acb_swap(place, value);                 /* place is half * node now */
        acb_t shift;
        acb_init(shift);
        acb_set_d(shift, middle);
        acb_add(place, place, shift, BITS);
        acb_mul(place, place, direction, BITS);
        acb_set_d_d(shift, span->middle_re, span->middle_im);
        acb_add(place, place, shift, BITS);
        ray_integrand(shift, ray, parts, span, place, x);
        acb_addmul(out, shift, value, BITS);
        acb_clear(shift);
    }
    acb_clear(place), acb_clear(value), acb_clear(direction);
    arb_clear(node), arb_clear(weight);
}

static void compare(const acb_t one, const acb_t other, double allowed, brume_audit *out)
{
    acb_t gap;
    arb_t size;
    acb_init(gap);
    arb_init(size);
    acb_sub(gap, one, other, BITS);
    acb_abs(size, gap, BITS);
    double ratio = brume_ball_upper(size) / allowed;
    out->ratio = fmax(out->ratio, ratio);
    out->agrees &= ratio <= 1;
    out->nodes++;
    acb_clear(gap);
    arb_clear(size);
}

void brume_audit_transforms(const brume_ray *ray, const brume_parts *parts, size_t most,
                            brume_audit *out)
{
    acb_t z, value, other;
    acb_init(z), acb_init(value), acb_init(other);
    brume_ray_node node;
    size_t stride = brume_ray_nodes(ray) / most + 1;
    for (size_t i = 0; brume_ray_probe(ray, i, &node); i += stride) {
        acb_set_d_d(z, node.a, node.b);
        acb_set_d(value, node.start);
        acb_add(z, z, value, BITS);
        for (size_t j = 0; j < parts->count; j++) {
            const brume_contour *contour = brume_ray_contour(ray, j);
            double real = node.start + node.a;
            if (brume_ray_log_sum(&parts->part[j], real) - brume_transform_base(contour) > 30)
                continue; /* on the real line too much would cancel */
            contour_sum(value, contour, parts->part[j].law, parts->part[j].cut, z);
            transform(other, &parts->part[j], brume_transform_base(contour), z, real);
            /* the places of its nodes are rounded */
            double re, im, rounding;
            brume_transform_sum(contour, real, node.b, &re, &im, &rounding);
            compare(value, other, exp(brume_transform_missed(contour, real, node.b)) + rounding,
                    out);
        }
    }
    acb_clear(z), acb_clear(value), acb_clear(other);
}

void brume_audit_panels(const brume_ray *ray, const brume_parts *parts, double x, size_t most,
                        brume_audit *out)
{
    acb_t z, value, other;
    acb_init(z), acb_init(value), acb_init(other);
    brume_ray_span span;
    size_t panels = brume_ray_nodes(ray) / BRUME_GAUSS_NODES;
    for (size_t i = 0; brume_ray_span_at(ray, i, x, &span); i += panels / most + 1) {
        rule(value, ray, parts, &span, x, 0, 1);
        rule(other, ray, parts, &span, x, -0.5, 0.5);
        rule(z, ray, parts, &span, x, 0.5, 0.5);
        acb_add(other, other, z, BITS);
        compare(value, other, exp(span.log_missed), out);
    }
    acb_clear(z), acb_clear(value), acb_clear(other);
}

bool brume_rays_audit(const brume_law *laws, size_t count, double epsilon, brume_audit *out)
{
    brume_ray_split *p = calloc(1, sizeof *p);
    double delta =
        fmin(fmax(count > 0 ? brume_one_large_draw_delta(&laws[0], epsilon) : 0, 1e-300), 1e-3);
    brume_audit audit = {.agrees = true};
    if (p && brume_parts_gather(laws, count, &p->whole))
        for (int way = 0; way < 3; way++)
            if (brume_ray_split_make(p, epsilon, delta, way)) {
                double x = p->whole.origin + (p->whole.reversed ? -epsilon : epsilon);
                for (size_t i = 0; i < p->term_count; i++) {
                    if (!p->rays[i])
                        continue;
                    bool first = audit.nodes == 0; /* the rules of one ray are enough */
                    brume_audit_ray(p->rays[i], &p->parts[i], MOST_AUDITED, &audit);
                    if (first) {
                        brume_audit_transforms(p->rays[i], &p->parts[i], 2, &audit);
                        brume_audit_panels(p->rays[i], &p->parts[i], x, 1, &audit);
                    }
                }
                brume_ray_split_close(p);
            }
    free(p);
    if (audit.nodes > 0)
        *out = audit;
    return audit.nodes > 0;
}
