/* Summing a ray with the factors of Laplace draws. See the header.
 *
 * Promise: value and error enclose the integral for every parameter within its 8 units and every
 * epsilon within its error. */
#include "accountant/ray/with_atoms.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/ray/transform.h"
#include "number/elementary.h"

static const double unit = BRUME_UNIT;

enum { NODE_ARRAYS = 10 };

struct brume_ray_factors {
    const brume_ray *ray;
    brume_ray_frame frame;
    size_t count, spans;
    double *a, *b, *re, *im;                 /* of the nodes, the factors included */
    double *wrong, *lever;                   /* their errors, and what x's error moves them by */
    double *argument, *fall, *sine, *cosine; /* scratch */
    double *span_bound, rest_bound;          /* of the factors */
    double *memory;
};

void brume_ray_factors_close(brume_ray_factors *factors)
{
    if (factors)
        free(factors->memory);
    free(factors);
}

bool brume_laplace_patterns_add(const brume_law *law, brume_laplace_pattern *patterns,
                                size_t *count, size_t most)
{
    double draws = law->count, a = law->a;
    if (!((double)*count * (draws + 1) <= (double)most))
        return false;
    /* from the last term to the first: the products of a term are stored at its own place or after
     * it, where they overwrite only what is done */
    size_t each = (size_t)draws + 1;
    for (size_t i = *count; i-- > 0;) {
        const brume_laplace_pattern old = patterns[i];
        double choose = 1;
        for (unsigned down = 0; down < (unsigned)each; down++) {
            brume_laplace_pattern p = old;
            unsigned up = (unsigned)draws - down;
            p.loss += ((double)up - (double)down) * a;
            p.weight *= choose * exp(-a * down);
            p.first += up;
            p.second += down;
            patterns[i * each + down] = p;
            choose *= (draws - down) / (down + 1);
        }
    }
    *count *= each;
    return true;
}

/* The factors are (1 +- 1/(2z-1))/2: an upper bound of how far either is from 1/2. */
static double factor_bound(unsigned factors, double distance_of_half)
{
    double bound = 1;
    for (unsigned i = 0; i < factors; i++)
        bound *= 0.5 + 0.25 / distance_of_half;
    return bound * (1 + 1e-9);
}

static brume_point product_at(unsigned first, unsigned second, brume_point z)
{
    brume_point half = 0.5 / (2 * z - 1), product = 1;
    for (unsigned i = 0; i < first; i++)
        product *= 0.5 + half;
    for (unsigned i = 0; i < second; i++)
        product *= 0.5 - half;
    return product;
}

brume_ray_factors *brume_ray_factors_open(const brume_ray *ray, unsigned first, unsigned second)
{
    brume_ray_factors *r = calloc(1, sizeof *r);
    brume_ray_span span;
    brume_ray_node node;
    if (!r)
        return NULL;
    r->ray = ray;
    r->frame = brume_ray_frame_of(ray);
    if (r->frame.parts->reversed) {
        free(r);
        return NULL;
    }
    r->count = brume_ray_nodes(ray);
    while (brume_ray_span_at(ray, r->spans, 1, &span))
        r->spans++;
    r->memory = malloc((NODE_ARRAYS * r->count + r->spans) * sizeof *r->memory);
    if (!r->memory) {
        free(r);
        return NULL;
    }
    double **arrays[NODE_ARRAYS] = {&r->a,     &r->b,        &r->re,   &r->im,   &r->wrong,
                                    &r->lever, &r->argument, &r->fall, &r->sine, &r->cosine};
    for (size_t i = 0; i < NODE_ARRAYS; i++)
        *arrays[i] = r->memory + i * r->count;
    r->span_bound = r->memory + NODE_ARRAYS * r->count;
    unsigned factors = first + second;
    for (size_t i = 0; i < r->count && brume_ray_probe(ray, i, &node); i++) {
        brume_point z = CMPLX(node.start + node.a, node.b);
        brume_point whole = product_at(first, second, z) * CMPLX(node.re, node.im);
        double away = cabs(z - 0.5), bound = factor_bound(factors, away);
        double size = 1.5 * hypot(node.re, node.im) * bound; /* of the sum of both parts, turned */
        r->a[i] = node.a;
        r->b[i] = node.b;
        r->re[i] = creal(whole);
        r->im[i] = cimag(whole);
        /* relative to the product of the bounds: some 30 units a factor, for (1 - 1/(2z-1))/2 may
         * cancel, but is computed to 8 units of its parts, and z is rounded; the turn, the fall */
        r->wrong[i] = node.error * bound + size * unit * (24 + 30 * factors * (1 + 0.5 / away));
        r->lever[i] = size * hypot(node.a, node.b);
    }
    for (size_t i = 0; i < r->spans && brume_ray_span_at(ray, i, 1, &span); i++) {
        /* the ellipse lies in a disc; this far from 1/2 */
        double radius = BRUME_GAUSS_LONG * hypot(span.half_re, span.half_im) * (1 + 1e-9);
        double away = hypot(span.start + span.middle_re - 0.5, span.middle_im) - radius;
        r->span_bound[i] = away > 0 || factors == 0 ? factor_bound(factors, fmax(away, 1e-300))
                                                    : INFINITY;
    }
    r->rest_bound = factor_bound(factors, r->frame.rest_b); /* the rest is higher still */
    return r;
}

bool brume_ray_factors_evaluate(const brume_ray_factors *r, double epsilon, double epsilon_error,
                                double *value, double *error)
{
    const brume_ray_frame *frame = &r->frame;
    double origin = frame->parts->origin, x = origin + epsilon;
    double moved = frame->parts->origin_error + epsilon_error + 2 * unit * (origin + fabs(epsilon));
    if (!(x > moved))
        return false;
    for (size_t i = 0; i < r->count; i++)
        r->argument[i] = -r->a[i] * x;
    brume_vector_exp(r->argument, r->fall, r->count);
    for (size_t i = 0; i < r->count; i++)
        r->argument[i] = -r->b[i] * x;
    brume_vector_sincos(r->argument, r->sine, r->cosine, r->count);
    long double total = 0; /* what cancels is not rounded again */
    double absolute = 0, wrong = 0, lever = 0;
    for (size_t i = 0; i < r->count; i++) {
        double part = r->fall[i] * (r->im[i] * r->cosine[i] + r->re[i] * r->sine[i]);
        total += part;
        absolute += fabs(part);
        wrong += r->fall[i] * r->wrong[i];
        lever += r->fall[i] * r->lever[i];
    }
    double sum = (double)total, missed = wrong + lever * (moved + 8 * unit * x);
    missed += unit * 0x1p-10 * (double)r->count * absolute + unit * fabs(sum);
    missed += exp(frame->rest_log - frame->rest_a * x) * r->rest_bound;
    brume_ray_span span;
    for (size_t i = 0; i < r->spans && brume_ray_span_at(r->ray, i, x, &span); i++)
        missed += exp(span.log_missed) * r->span_bound[i];
    missed *= 1 + 1e-6;
    long double exponent = frame->base - (long double)frame->start * x + epsilon;
    /* epsilon's own error enters through x and through e^epsilon; the sum in long doubles; exp */
    double size = (double)(fabsl(frame->base) + fabsl(frame->start * (long double)x));
    double off = (fabs(frame->start) + 1) * moved + unit * 0x1p-8 * size +
                 unit * (16 + 8 * (double)fabsl(exponent));
    double scale = exp((double)exponent) / M_PI;
    *value = scale * sum;
    *error = scale * (missed * (1 + 2 * off) + 1.1 * off * fabs(sum)) * (1 + 1e-9) + 1e-300;
    return isfinite(*value) && isfinite(*error) && off < 0.1;
}
