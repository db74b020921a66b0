/* Epsilon and delta of subsampled Gaussians by rays. See the header. */
#include "accountant/ray/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/contour/line.h"
#include "accountant/exact/atom_sum.h"
#include "accountant/exact/delta_bounds.h"
#include "accountant/exact/one_sampled.h"
#include "accountant/ray/ray.h"
#include "accountant/ray/transform.h"
#include "number/elementary.h"

static const char route[] = "integral along a ray through the loss transform";
static const char route_variation[] = "total variation, draw by draw";
static const char route_moment[] = "moments of the loss";
static const double many_draws = 100, many_divergence = 0.5;
/* The sigma below which a single draw may outweigh all others: for small rates, and for others. */
static const double little_noise = 1.5, much_noise = 4, rare_rate = 0.03;
static const double few_divergence = 0.02; /* below, one large draw makes most of delta */

/* The chi-square divergence of all draws: sum n q^2 (e^{1/sigma^2} - 1). */
static double divergence(const brume_law *laws, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count && brume_law_is_sampled_gaussian(&laws[i]); i++)
        sum += laws[i].count * laws[i].rate * laws[i].rate * expm1(1 / (laws[i].a * laws[i].a));
    return sum;
}

bool brume_rays_apply(const brume_law *laws, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!brume_law_is_sampled_gaussian(&laws[i]))
            return false;
    return count > 0;
}

bool brume_rays_suit(const brume_law *laws, size_t count)
{
    double draws = 0;
    for (size_t i = 0; i < count && brume_law_is_sampled_gaussian(&laws[i]); i++)
        draws += laws[i].count;
    return draws < many_draws || divergence(laws, count) < many_divergence;
}

/* In which order the ways of ray.h are tried. SINGLE: one draw may make most of the loss. SMOOTH:
 * no single draw matters. NOISY: one may, but its loss is not far above that of the others. */
enum { SINGLE, SMOOTH, NOISY };
static const int ways[3][3] = {
    [SINGLE] = {BRUME_RAY_WHOLE, BRUME_RAY_BY_LARGE_DRAWS, BRUME_RAY_CONFINED},
    [SMOOTH] = {BRUME_RAY_CONFINED, BRUME_RAY_WHOLE, BRUME_RAY_BY_LARGE_DRAWS},
    [NOISY] = {BRUME_RAY_CONFINED, BRUME_RAY_BY_LARGE_DRAWS, BRUME_RAY_WHOLE},
};

static bool narrow(const brume_interval *value, double width)
{
    return value->upper < INFINITY && value->upper - value->lower <= width * value->upper;
}

/* Compares the standard deviation of the sum of all losses with the largest loss of one draw, large
 * losses whose probability is a tenth of delta left out. */
static int kind_at(const brume_law *laws, const brume_ray_parts *whole, double delta)
{
    brume_ray_parts truncated = *whole;
    double largest = 0, least_sigma = INFINITY, rate = 0;
    if (whole->reversed)
        return SINGLE;
    brume_ray_split_confine(&truncated, delta, 0.1);
    for (size_t i = 0; i < whole->count; i++) {
        largest = fmax(largest, log1p(exp(truncated.part[i].cut)) + log1p(-laws[i].rate));
        least_sigma = fmin(least_sigma, laws[i].a);
        rate = fmax(rate, laws[i].rate);
    }
    if (largest * largest < 9 * divergence(laws, whole->count))
        return SMOOTH;
    return least_sigma >= (rate < rare_rate ? little_noise : much_noise) ? NOISY : SINGLE;
}

/* Two certified ends cannot cross. If they do there is a fault: nothing of the rays is used,
 * and the interval says so. */
static void keep_if_sound(const brume_certified *before, brume_certified *certified)
{
    if (certified->value.lower <= certified->value.upper)
        return;
    *certified = *before;
    certified->contradictory = true;
}

/* An upper bound of delta(0): the total variation of one draw is q erf(1/(2 sqrt(2) sigma)), that
 * of all at most their sum. Up: the parameters' 8 units, of which erf passes on no more, and erf.
 */
static double total_variation(const brume_law *laws, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += laws[i].count * laws[i].rate * erf(M_SQRT1_2 / (2 * laws[i].a));
    return sum * (1 + 1e-12);
}

double brume_rays_guess(const brume_law *laws, size_t count, double delta)
{
    brume_ray_parts whole;
    if (!brume_parts_gather(laws, count, &whole))
        return NAN;
    bool smooth = kind_at(laws, &whole, delta) != SINGLE;
    brume_ray_parts truncated = whole;
    double guess = 0;
    brume_ray_split_confine(&truncated, delta, smooth ? 0.1 : BRUME_RAY_SPLIT_NEGLIGIBLE);
    /* what all draws make, and what one large draw of one law makes */
    if (smooth || whole.reversed || count > 1 || divergence(laws, count) > few_divergence)
        guess = fmax(brume_ray_aim_for(&truncated, NAN, log(delta)).epsilon, 0);
    for (size_t i = 0; i < count && !whole.reversed; i++)
        guess = fmax(guess, brume_one_large_draw_epsilon(&laws[i], delta));
    return guess;
}

double brume_rays_guess_delta(const brume_law *laws, size_t count, double epsilon)
{
    brume_ray_parts whole;
    double delta;
    if (!brume_parts_gather(laws, count, &whole))
        return NAN;
    brume_ray_split_aim(&whole, epsilon, &delta);
    return delta;
}

/* An open split, and what it said last: both sides are asked for at one epsilon. */
typedef struct opened {
    brume_ray_split split;
    brume_interval at;
    double epsilon;
} opened;

static double split_delta(void *context, double epsilon, brume_side side)
{
    opened *o = context;
    if (o->epsilon != epsilon)
        brume_ray_split_certify(&o->split, epsilon, &o->at.lower, &o->at.upper);
    o->epsilon = epsilon;
    return side == BRUME_UPPER_SIDE ? o->at.upper : o->at.lower;
}

static void close_split(void *context)
{
    opened *o = context;
    brume_ray_split_close(&o->split);
    free(o);
}

/* Make a split for epsilon, in place of the one that is open, and take its bounds of delta. */
static bool take_split(opened *o, double epsilon, double delta, int way, brume_certified *certified)
{
    brume_ray_split_close(&o->split);
    if (!brume_ray_split_make(&o->split, epsilon, delta, way))
        return false;
    o->epsilon = NAN;
    double upper = split_delta(o, epsilon, BRUME_UPPER_SIDE);
    if (upper < certified->value.upper) {
        certified->value.upper = upper;
        certified->route = route;
    }
    certified->value.lower = fmax(certified->value.lower, o->at.lower);
    certified->rounds++;
    return true;
}

/* Where no ray gives sharp bounds. Lower end: what one draw alone costs. Upper end: the bound by
 * moments. */
static void take_coarse_bounds(const brume_law *laws, const brume_ray_parts *whole, double start,
                               double epsilon, brume_certified *certified)
{
    double upper = exp(brume_ray_ceiling(whole, start, epsilon));
    if (!narrow(&certified->value, 0.5))
        upper = fmin(upper, brume_fallback_delta(whole, epsilon)); /* fmin passes over a NaN */
    if (upper < certified->value.upper) {
        certified->value.upper = upper;
        certified->route = route_moment;
    }
    if (narrow(&certified->value, 1e-3))
        return;
    brume_law one = laws[0]; /* all draws together are at least as far apart as one of them */
    brume_delta_bounds single;
    one.count = 1;
    if (brume_one_sampled_bounds(&one, &single))
        certified->value.lower =
            fmax(certified->value.lower, single.delta(single.context, epsilon, BRUME_LOWER_SIDE));
}

/* About the relative change of delta over that of epsilon, c being the order of the saddle point.
 */
static double width_in_delta(double c, double epsilon)
{
    return fmin(fmax(0.7 * c * epsilon, 1), 12);
}

bool brume_rays_delta(const brume_law *laws, size_t count, double epsilon, double width,
                      double enough, brume_certified *certified, brume_delta_bounds *keep)
{
    opened *o = calloc(1, sizeof *o);
    if (!o || !brume_parts_gather(laws, count, &o->split.whole)) {
        free(o);
        return false;
    }
    brume_ray_parts *whole = &o->split.whole;
    brume_certified before_rays = *certified;
    double guess, draws = 0;
    brume_ray_aim aim = brume_ray_split_aim(whole, epsilon, &guess);
    int kind = kind_at(laws, whole, guess);
    /* Rays are either sharp or fail, so a little more is enough; and the relative width of epsilon
     * that is enough is a larger one of delta. */
    enough = fmax(enough, fmin(100 * width, 1e-6));
    enough *= width_in_delta(laws[0].reversed ? -aim.start : aim.start - 1, epsilon);
    for (size_t i = 0; i < count; i++)
        draws += laws[i].count;
    double variation = total_variation(laws, count); /* delta falls with epsilon */
    if (variation < certified->value.upper) {
        certified->value.upper = variation;
        certified->route = route_variation;
    }
    /* If little sharpness is asked for, a line is cheaper than rays, unless draws are few or no
     * single one matters. */
    int most = width < 1e-4 ? 3 : draws < many_draws || kind != SINGLE;
    bool made = false;
    for (int i = 0; i < most && !narrow(&certified->value, i > 0 ? enough : width); i++) {
        int way = ways[kind][i];
        double before = fmax(guess, certified->value.lower);
        made = take_split(o, epsilon, before, way, certified);
        if (!made && way == BRUME_RAY_WHOLE && !whole->reversed && !narrow(&certified->value, 0.5))
            made =
                take_split(o, epsilon, before * 1e4, way, certified); /* the guess may be too low */
        /* once more, if delta is known now and the guess was bad */
        if (made && narrow(&certified->value, 1e-2) && !narrow(&certified->value, enough) &&
            fabs(log(certified->value.lower / before)) > 1)
            made = take_split(o, epsilon, certified->value.lower, way, certified);
    }
    if (!narrow(&certified->value, enough))
        take_coarse_bounds(laws, whole, aim.start, epsilon, certified);
    certified->nodes += o->split.nodes;
    keep_if_sound(&before_rays, certified);
    if (keep && made)
        *keep = (brume_delta_bounds){.delta = split_delta,
                                     .context = o,
                                     .route = route,
                                     .doubles = true,
                                     .close = close_split};
    else
        close_split(o);
    return narrow(&certified->value, enough);
}

/* An upper end of delta by one line, where that is short; else 1. */
static double upper_by_line(brume_law *laws, size_t count, double epsilon)
{
    brume_line line = {.laws = laws, .law_count = count};
    double upper = 1, goal;
    brume_line_aim(&line, epsilon);
    for (size_t i = 0; i < count; i++)
        if (!brume_law_settle(&laws[i], line.c))
            return upper;
    goal = brume_line_size(&line, epsilon);
    if (brume_line_decays(&line, epsilon, goal, BRUME_LINE_SHORT) &&
        brume_line_lay(&line, epsilon, goal))
        brume_line_certify(&line, epsilon, NULL, &upper);
    brume_line_close(&line);
    return upper;
}

bool brume_rays_below(brume_law *laws, size_t count, double epsilon, double delta)
{
    brume_ray_parts parts;
    if (!brume_parts_gather(laws, count, &parts))
        return false;
    double least = parts.origin + parts.origin_error;
    if (parts.reversed && epsilon >= least * (1 + 1e-14))
        return true; /* the largest loss */
    brume_certified certified = {.value = {0, 1}};
    if (count == 1 && laws[0].count == 1) {
        brume_delta_bounds one = brume_sampled_doubles_bounds(laws);
        return one.delta(one.context, epsilon, BRUME_UPPER_SIDE) <= delta;
    }
    /* by a moment where delta looks much smaller than asked; else by a ray, or by a line */
    brume_ray_aim aim = brume_ray_aim_for(&parts, epsilon, 0);
    if (aim.log_delta < log(delta) - 2 && brume_moments_below(laws, count, epsilon, delta))
        return true;
    if (brume_rays_suit(laws, count))
        brume_rays_delta(laws, count, epsilon, 1e-6, 1e-6, &certified, NULL);
    else
        certified.value.upper = upper_by_line(laws, count, epsilon);
    return certified.value.upper <= delta;
}

/* Subsampled Gaussians, a record removed, composed with lattice laws and a few Laplace losses. The
 * transforms of those do not fall off, so that a vertical line through them would need too many
 * nodes.
 *
 * Lattice laws are atoms; a Laplace loss has the transform
 *
 *     e^{sa} (s+1)/(2s+1) + e^{-(s+1)a} s/(2s+1),
 *
 * so the transform of all is a sum of e^{sl} times powers of two rational functions times that of
 * the subsampled Gaussians, and delta(eps) is a sum of their integrals at eps - l: by the same rays
 * for all l (ray.h). proofs/accountant/ray.md, section ray.2. */

/* A ray of subsampled Gaussians, a record removed, together with Laplace draws: the same path, the
 * integrand multiplied by so many factors z/(2z-1) and (z-1)/(2z-1). proofs/accountant/ray.md,
 * section ray.2. */
/* One term of the product of Laplace transforms: weight e^{-s loss}, and so many of each factor. */
typedef struct brume_laplace_pattern {
    double loss, weight;
    unsigned first, second;
} brume_laplace_pattern;

typedef struct brume_ray_factors brume_ray_factors;

/* Summing a ray with the factors of Laplace draws.
 *
 * Promise: value and error enclose the integral for every parameter within its 8 units and every
 * epsilon within its error. */

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

static void ray_factors_close(brume_ray_factors *factors)
{
    if (factors)
        free(factors->memory);
    free(factors);
}

/* Multiply the terms so far by all draws of a Laplace law. False if they would be more than `most`.
 */
static bool laplace_patterns_add(const brume_law *law, brume_laplace_pattern *patterns,
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

/* `ray` must outlive it. NULL if memory ran out or a record is added. */
static brume_ray_factors *ray_factors_open(const brume_ray *ray, unsigned first, unsigned second)
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

/* The integral at epsilon, which is known up to epsilon_error, and a bound of its error; false if
 * it is of no use there. epsilon may be negative. */
static bool ray_factors_evaluate(const brume_ray_factors *r, double epsilon, double epsilon_error,
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

static const double least_mass = 1e-30; /* of an atom; what is left out counts whole */
static const double least_depth = 69;   /* minus the log of that */
static const double most_products = 2e6;
static const double most_draws = 1e5; /* of a lattice law */
static const char route_atoms[] = "rays of subsampled Gaussians, summed over the atoms of others";

/* MOST_TERMS: the most atoms times patterns for which the sum is kept for a search of epsilon */
enum { MOST_LAWS = 12, MOST_ATOMS = 2000, MOST_TERMS = 600, MOST_PRODUCTS = 100000 };
enum { MOST_PATTERNS = 24, MOST_PLANS = 6, MOST_ATTEMPTS = 24 };

typedef struct atom {
    double loss, mass;
} atom;

/* Rays laid near one epsilon, and the same rays with the Laplace factors of each pattern. */
typedef struct layout {
    brume_ray_split plan;
    double aimed;
    brume_ray_factors *rays[BRUME_RAY_SPLIT_TERMS][MOST_PATTERNS];
} layout;

struct brume_ray_atoms {
    brume_law laws[MOST_LAWS]; /* the subsampled ones own their tables, the others only read */
    size_t law_count, sampled;
    brume_ray_parts parts;
    atom *atoms; /* of the lattice laws, the largest loss first */
    size_t atom_count;
    brume_laplace_pattern patterns[MOST_PATTERNS];
    size_t pattern_count;
    double top;                     /* of the Laplace losses */
    double mass_error, place_error; /* relative, and of every loss */
    double reach;                   /* how far from 0 they may be */
    double left_out;
    double variation; /* a bound of the total variation of all but the lattice laws */
    layout *plans[MOST_PLANS];
    size_t plan_count, next_plan;
    struct {
        double at;
        int way;
    } attempts[MOST_ATTEMPTS];
    size_t attempt_count;
    double *lower, *upper; /* of each atom */
    double *rest;          /* the mass of each atom and all after it */
    double scale;          /* about what delta is; for choosing */
    double goal;
    double epsilon, ends[2]; /* the last interval */
    size_t nodes;
};

static void close_layout(layout *l)
{
    for (size_t i = 0; i < BRUME_RAY_SPLIT_TERMS; i++)
        for (size_t j = 0; j < MOST_PATTERNS; j++)
            ray_factors_close(l->rays[i][j]);
    brume_ray_split_close(&l->plan);
    free(l);
}

static void ray_atoms_close(brume_ray_atoms *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->plan_count; i++)
        close_layout(b->plans[i]);
    for (size_t i = 0; i < b->sampled; i++)
        brume_law_close(&b->laws[i]);
    free(b->atoms);
    free(b->lower);
    free(b->upper);
    free(b->rest);
    free(b);
}

static int by_loss(const void *left, const void *right)
{
    double a = ((const atom *)left)->loss, c = ((const atom *)right)->loss;
    return a < c ? 1 : a > c ? -1 : 0;
}

/* The convolution of the atoms so far with those of all draws of one more lattice law. */
static bool add_lattice(brume_ray_atoms *b, const brume_law *law, double *work)
{
    brume_masses masses;
    if (!brume_masses_open(law, least_depth, most_products, work, &masses))
        return false;
    double top = masses.centre + law->unit * masses.half;
    double farthest = fmax(fabs(top), fabs(top - law->unit * (double)masses.count));
    atom *all = b->atom_count * masses.count <= MOST_PRODUCTS
                    ? malloc(b->atom_count * masses.count * sizeof *all)
                    : NULL;
    size_t made = 0;
    for (size_t i = 0; all && i < b->atom_count; i++)
        for (size_t j = 0; j < masses.count; j++) {
            double product = b->atoms[i].mass * masses.mass[j];
            double loss = masses.centre + law->unit * (masses.half - (double)j);
            if (product >= least_mass)
                all[made++] = (atom){b->atoms[i].loss + loss, product};
            else
                b->left_out += product;
        }
    b->left_out += masses.missed;
    b->mass_error += masses.error + 4 * unit;
    b->place_error += 22 * unit * farthest; /* the unit by 16, a product, the centre */
    b->reach += farthest;
    brume_masses_close(&masses);
    if (!all)
        return false;
    free(b->atoms);
    b->atoms = all;
    b->atom_count = made;
    return made > 0 && made <= MOST_ATOMS;
}

/* The product of the patterns so far with those of all draws of one more Laplace loss. */
static bool add_laplace(brume_ray_atoms *b, const brume_law *law)
{
    double draws = law->count, a = law->a;
    if (!laplace_patterns_add(law, b->patterns, &b->pattern_count, MOST_PATTERNS))
        return false;
    b->top += draws * a;
    b->reach += draws * a;
    b->place_error += 12 * unit * draws * a; /* the parameter, a product and a sum */
    b->mass_error += unit * (10 * a * draws + 8 * draws + 8);
    return true;
}

bool brume_ray_atoms_suits(const brume_law *laws, size_t count)
{
    double sampled = 0, patterns = 1;
    bool laplace = false;
    for (size_t i = 0; i < count; i++) {
        const brume_law *law = &laws[i];
        if (brume_law_is_sampled_gaussian(law) && law->reversed)
            return false; /* such losses end, and with Laplace factors the path cannot be closed */
        if (brume_law_is_sampled_gaussian(law))
            sampled += law->count;
        else if (brume_law_is_laplace(law))
            patterns *= law->count + 1;
        else if (!(law->unit > 0) || law->count > most_draws)
            return false;
        laplace |= brume_law_is_laplace(law);
    }
    return count <= MOST_LAWS && sampled > 0 && (sampled > 1 || laplace) &&
           !brume_rays_apply(laws, count) && patterns <= MOST_PATTERNS;
}

brume_ray_atoms *brume_ray_atoms_open(const brume_law *laws, size_t count, double goal)
{
    brume_ray_atoms *b = brume_ray_atoms_suits(laws, count) ? calloc(1, sizeof *b) : NULL;
    if (!b)
        return NULL;
    b->goal = goal;
    b->epsilon = NAN;
    b->law_count = count;
    bool whole = true;
    for (size_t i = 0; i < count; i++) /* the subsampled ones first, with tables of their own */
        if (brume_law_is_sampled_gaussian(&laws[i])) {
            whole = whole && brume_law_open(&laws[i].source, laws[i].count, laws[i].reversed,
                                            &b->laws[b->sampled], NULL) == BRUME_OK;
            b->sampled += whole;
        }
    size_t at = b->sampled;
    for (size_t i = 0; i < count; i++)
        if (!brume_law_is_sampled_gaussian(&laws[i]))
            b->laws[at++] = laws[i];
    b->atoms = malloc(sizeof *b->atoms);
    double work = 0;
    bool alive = whole && b->atoms && brume_parts_gather(b->laws, b->sampled, &b->parts);
    if (alive) {
        b->atoms[0] = (atom){0, 1};
        b->atom_count = b->pattern_count = 1;
        b->patterns[0] = (brume_laplace_pattern){.weight = 1};
    }
    for (size_t i = b->sampled; alive && i < count; i++)
        alive = brume_law_is_laplace(&b->laws[i]) ? add_laplace(b, &b->laws[i])
                                                  : add_lattice(b, &b->laws[i], &work);
    alive = alive && b->atom_count * b->pattern_count <= MOST_ATOMS;
    if (alive) {
        qsort(b->atoms, b->atom_count, sizeof *b->atoms, by_loss);
        b->lower = malloc(b->atom_count * sizeof *b->lower);
        b->upper = malloc(b->atom_count * sizeof *b->upper);
        b->rest = malloc(b->atom_count * sizeof *b->rest);
        for (size_t i = 0; i < count; i++) {
            const brume_law *law = &b->laws[i];
            if (brume_law_is_sampled_gaussian(law))
                b->variation += law->count * law->rate * erf(M_SQRT1_2 / (2 * law->a));
            else if (brume_law_is_laplace(law))
                b->variation += law->count * -expm1(-law->a / 2);
        }
        b->variation = fmin(1, b->variation * (1 + 1e-12)); /* up: the parameters' 8 units */
        b->left_out *= 1 + 1e-6;
    }
    if (!alive || !b->lower || !b->upper || !b->rest) {
        ray_atoms_close(b);
        return NULL;
    }
    double rest = 0; /* from the end: a sum of positive terms */
    for (size_t k = b->atom_count; k-- > 0;)
        b->rest[k] = rest += b->atoms[k].mass;
    return b;
}

/* Bounds of delta of all laws but those on lattices, at `epsilon`, which is known up to `off`, by
 * the rays of one plan. */
static bool ends_by(const brume_ray_atoms *b, const layout *l, double epsilon, double off,
                    double *lower, double *upper)
{
    double sum = 0, error = 0, above, off_weight = b->mass_error + 100 * unit;
    if (!brume_ray_split_above(&l->plan, epsilon - b->top - off, &above))
        return false;
    for (size_t j = 0; j < b->pattern_count; j++) {
        const brume_laplace_pattern *p = &b->patterns[j];
        double at = epsilon - p->loss;
        for (size_t i = 0; i < l->plan.term_count; i++) {
            double value, wrong, log_weight = l->plan.log_weight[i];
            double weight = p->weight * exp(log_weight);
            if (!l->plan.rays[i])
                continue; /* it is in what comes on top */
            if (!ray_factors_evaluate(l->rays[i][j], at, off, &value, &wrong))
                return false;
            sum += weight * value;
            error += weight * (wrong + (off_weight + 16 * unit * log_weight) * fabs(value));
        }
    }
    error *= 1 + 1e-9;
    *lower = fmax(0, sum - error);
    *upper = fmin(1, sum + error + above);
    return *upper >= 0; /* else a fault, and nothing of it is used */
}

/* Bounds of delta at the epsilon that one atom leaves: those known without rays, then those of the
 * plans one after the other, until their width is at most `enough`; `most` is an upper bound. */
static void bound_atom(brume_ray_atoms *b, size_t k, double at, double off, double most,
                       double enough)
{
    b->lower[k] = 0;
    b->upper[k] = most;
    if (at + off < 0) { /* 1 - u and 1 - u + u delta'(1/u), which is at most the variation */
        b->lower[k] = -expm1(at + off) * (1 - 4 * unit);
        b->upper[k] = fmin(most, 1 - exp(at - off) * (1 - b->variation) * (1 - 8 * unit));
        return;
    }
    bool asked[MOST_PLANS] = {false};
    for (size_t tries = 0; tries < b->plan_count; tries++) {
        size_t next = 0; /* the plan aimed nearest first */
        double nearest = INFINITY;
        for (size_t i = 0; i < b->plan_count; i++) {
            double away = fabs(b->plans[i]->aimed - at);
            if (!asked[i] && away < nearest)
                nearest = away, next = i;
        }
        double low, high;
        asked[next] = true;
        if (!ends_by(b, b->plans[next], at, off, &low, &high))
            continue;
        b->lower[k] = fmax(b->lower[k], low);
        b->upper[k] = fmin(b->upper[k], high);
        double gap = high - low; /* sharp enough, for itself or for all? */
        if (gap <= 0.1 * b->goal * high || b->atoms[k].mass * gap <= enough)
            break;
    }
}

/* Bounds of delta from those of all atoms; and the atom whose bounds are widest, times its mass. */
static size_t sum_atoms(brume_ray_atoms *b, double epsilon)
{
    long double lower = 0, upper = 0;
    double worst = -1, least = 1, skipped = 0;
    size_t open = 0, sure = 0, first = 0, count = b->atom_count;
    /* the error of the atoms' losses, and the rounding of epsilon minus a loss */
    double off = 1.01 * (b->place_error + 6 * unit * (b->reach + fabs(epsilon)));
    /* the largest losses, whose mass is too small to matter: the upper end counts all of it */
    double negligible = 1e-3 * b->goal * b->scale;
    while (first < count && skipped + b->atoms[first].mass <= negligible) {
        b->upper[first] = 1;
        skipped += b->atoms[first++].mass;
    }
    upper = skipped * (1 + 1e-9);
    for (size_t k = first; k < count; k++) {
        const atom *a = &b->atoms[k];
        double at = epsilon - a->loss;
        /* delta falls with epsilon, which grows from atom to atom, if they are not too near */
        for (; b->atoms[sure].loss - a->loss > 4 * off; sure++)
            least = fmin(least, b->upper[sure]);
        if (b->rest[k] * least <= 1e-3 * b->goal * (double)lower) {
            upper += b->rest[k] * least * (1 + 1e-9); /* all that are left */
            break;
        }
        bound_atom(b, k, at, off, least, 0.1 * b->goal * b->scale / (double)count);
        double gap = a->mass * (b->upper[k] - b->lower[k]);
        if (gap > worst && at > 0)
            worst = gap, open = k;
        lower += (long double)a->mass * b->lower[k];
        upper += (long double)a->mass * b->upper[k];
    }
    /* the masses' errors, down and up; atoms left out add all their mass to the upper end */
    double share = b->mass_error + 16 * unit;
    b->ends[0] = fmax(0, (double)lower * (1 - share));
    b->ends[1] = fmin(1, (double)upper * (1 + share) + b->left_out);
    b->epsilon = epsilon;
    if (b->ends[0] > 0)
        b->scale = b->ends[0];
    return open;
}

/* Lay rays for one more epsilon of the subsampled Gaussians; false if that cannot be done. */
static bool add_plan(brume_ray_atoms *b, double epsilon, int way)
{
    if (!(epsilon > 0) || b->attempt_count == MOST_ATTEMPTS)
        return false;
    b->attempts[b->attempt_count].at = epsilon;
    b->attempts[b->attempt_count++].way = way;
    layout *l = calloc(1, sizeof *l);
    if (!l)
        return false;
    double delta;
    l->plan.whole = b->parts;
    l->aimed = epsilon;
    brume_ray_split_aim(&b->parts, epsilon, &delta);
    bool alive = brume_ray_split_make(&l->plan, epsilon, delta, way);
    for (size_t i = 0; alive && i < l->plan.term_count; i++)
        for (size_t j = 0; alive && l->plan.rays[i] && j < b->pattern_count; j++) {
            const brume_laplace_pattern *p = &b->patterns[j];
            l->rays[i][j] = ray_factors_open(l->plan.rays[i], p->first, p->second);
            alive = l->rays[i][j] != NULL;
        }
    if (!alive) {
        close_layout(l);
        return false;
    }
    b->nodes += l->plan.nodes;
    if (b->plan_count < MOST_PLANS) {
        b->plans[b->plan_count++] = l;
    } else {
        close_layout(b->plans[b->next_plan]);
        b->plans[b->next_plan++] = l;
        b->next_plan %= MOST_PLANS;
    }
    return true;
}

/* The loss of the lattice and Laplace laws from which most of delta comes: their mean under the
 * tilt of the saddle point. */
static double usual_loss(brume_ray_atoms *b, double epsilon)
{
    double slope, c = brume_saddle(b->laws, b->law_count, epsilon);
    brume_cumulant_rough(b->laws + b->sampled, b->law_count - b->sampled, c, &slope);
    return slope;
}

/* The first of the ways of ray.h that was not tried near this epsilon; -1 if all were. */
static int next_way(brume_ray_atoms *b, double at)
{
    static const int order[] = {BRUME_RAY_WHOLE, BRUME_RAY_BY_LARGE_DRAWS, BRUME_RAY_CONFINED};
    for (size_t w = 0; w < sizeof order / sizeof *order; w++) {
        bool tried = false;
        for (size_t i = 0; i < b->attempt_count && !tried; i++)
            tried = b->attempts[i].way == order[w] &&
                    fabs(b->attempts[i].at - at) <= 0.02 * (fabs(at) + b->parts.origin);
        if (!tried)
            return order[w];
    }
    return -1;
}

static void settle(brume_ray_atoms *b, double epsilon)
{
    if (b->epsilon == epsilon)
        return;
    double at = epsilon - usual_loss(b, epsilon), before = INFINITY;
    if (b->plan_count == 0) {
        b->scale = 1e-3 * brume_saddle_delta(b->laws, b->law_count, epsilon);
        if (!(b->scale > 0)) /* nor a number */
            b->scale = 0;
        add_plan(b, at, BRUME_RAY_WHOLE);
    }
    size_t open = sum_atoms(b, epsilon);
    int most = MOST_PLANS;
    for (int tries = 0; tries < most; tries++) {
        double gap = b->ends[1] - b->ends[0], next = epsilon - b->atoms[open].loss;
        if (gap <= b->goal * b->ends[1])
            break;
        bool blind = most > 1 && b->plan_count == 0; /* nothing says where it is open */
        if (!blind && tries > 1 && (gap > 1e-2 * b->ends[1] || gap > 0.5 * before))
            break; /* other routes know more */
        before = gap;
        /* where delta comes from, or elsewhere if that is where it is open */
        int way = next_way(b, at);
        if (way < 0 || (!blind && way != BRUME_RAY_WHOLE &&
                        fabs(next - at) > 0.02 * (fabs(at) + b->parts.origin)))
            at = next, way = next_way(b, at);
        if (way < 0)
            break;
        if (add_plan(b, at, way))
            open = sum_atoms(b, epsilon);
    }
}

static double atoms_delta(void *context, double epsilon, brume_side side)
{
    brume_ray_atoms *b = context;
    settle(b, epsilon);
    return b->ends[side == BRUME_UPPER_SIDE];
}

static brume_delta_bounds form_of(brume_ray_atoms *atoms)
{
    return (brume_delta_bounds){.delta = atoms_delta, .context = atoms, .route = route_atoms};
}

static void close_form(void *context)
{
    ray_atoms_close(context);
}

bool brume_ray_atoms_delta(const brume_law *laws, size_t count, double epsilon, double goal,
                           brume_certified *certified, brume_delta_bounds *keep)
{
    brume_ray_atoms *b = brume_ray_atoms_open(laws, count, goal);
    if (!b)
        return false;
    brume_delta_bounds bounds = form_of(b);
    brume_delta_bounds_take(&bounds, epsilon, certified);
    certified->balls = false;
    certified->nodes += b->nodes;
    bounds.close = close_form;
    if (keep && b->atom_count * b->pattern_count <= MOST_TERMS)
        *keep = bounds;
    else
        ray_atoms_close(b);
    return true;
}
