/* Sums over the atoms of lattice laws. See the header and proofs/accountant/exact.md, section
 * exact.2.
 *
 * Promise: the two sides bound delta for every parameter within its 8 units. */
#include "accountant/exact/atom_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/exact/delta_bounds.h"
#include "accountant/exact/one_sampled.h"
#include "accountant/law/points.h"
#include "accountant/law/shift_parameters.h"
#include "number/elementary.h"
#include "number/elementary_body.h"
#include "number/paths.h"

enum { BRUME_FEW_DRAWS = 12, BRUME_FEW_PATTERNS = 128 };

typedef struct brume_few_laplace {
    size_t draws, patterns; /* K; patterns with a positive shift, the largest first */
    double top;             /* the largest loss */
    double normal;          /* prod (e^{-e/2}/2)^count */
    double shift[BRUME_FEW_PATTERNS], weight[BRUME_FEW_PATTERNS];
    size_t ups[BRUME_FEW_PATTERNS];
    double row[BRUME_FEW_DRAWS + 1][BRUME_FEW_DRAWS]; /* of F_{A,K-A}: the coefficients of x^j */
    double steepness; /* sum of weight times the largest slope of a pattern's terms, moduli */
} brume_few_laplace;

/* Few Laplace draws. See the header, and proofs/accountant/exact.md, section exact.1 and exact.2.
 *
 *   delta(eps) = e^{eps/2} N sum over patterns with b > eps of C F_{A,B}((b - eps)/2),  eps >= 0,
 * and for eps < 0 by delta(eps) = 1 - e^eps + e^eps delta(-eps): half the patterns, and those that
 * cancel least. */

static const double unit = BRUME_UNIT;

/* Rows of F_{A,K-A} for 1 <= A <= K-1: 2 q_{K-1-j}/j! at x^j, q = (tau+1)^{A-1}(tau-1)^{B-1}; for A
 * = K: -2 S_{K-1-j}/j!, and 2^K (e^x - 1). All are exact but for the division. */
static void fill_rows(brume_few_laplace *few)
{
    size_t k = few->draws;
    for (size_t ups = 1; ups <= k; ups++) {
        double q[BRUME_FEW_DRAWS + 1] = {1}; /* q_0 .. */
        size_t downs = k - ups, degree = 0;
        for (size_t i = 1; i < ups; i++, degree++)
            for (size_t j = degree + 1; j > 0; j--)
                q[j] += q[j - 1]; /* times 1 + tau */
        for (size_t i = 1; i < downs; i++, degree++) {
            for (size_t j = degree + 1; j > 0; j--)
                q[j] = q[j - 1] - q[j]; /* times tau - 1 */
            q[0] = -q[0];
        }
        if (ups == k) /* S_m = sum of C(K-1, i), i <= m */
            for (size_t j = 1; j < k; j++)
                q[j] += q[j - 1];
        double factorial = 1;
        for (size_t j = 0; j < k; factorial *= (double)++j)
            few->row[ups][j] = (ups == k ? -2 : 2) * q[k - 1 - j] / factorial;
        few->row[ups][0] = 0; /* F(0) = 0: q_{K-1} = 0, and S_{K-1} is in e^x - 1 */
    }
}

static void add_patterns(brume_few_laplace *few, const brume_law *const *laws, const double *moved,
                         size_t kinds, double shift, double weight, size_t ups)
{
    if (kinds == 0) {
        if (shift > 0) { /* insert, the largest first */
            size_t at = few->patterns++;
            for (; at > 0 && few->shift[at - 1] < shift; at--) {
                few->shift[at] = few->shift[at - 1];
                few->weight[at] = few->weight[at - 1];
                few->ups[at] = few->ups[at - 1];
            }
            few->shift[at] = shift;
            few->weight[at] = weight;
            few->ups[at] = ups;
        }
        return;
    }
    double count = laws[0]->count, choose = 1;
    for (double j = 0; j <= count; j++) { /* j draws down */
        add_patterns(few, laws + 1, moved + 1, kinds - 1, shift + (count - 2 * j) * moved[0],
                     weight * choose, ups + (size_t)(count - j));
        choose *= (count - j) / (j + 1); /* whole numbers below 1000: exact in the end */
        choose = round(choose);
    }
}

/* The Laplace laws among `laws` with their parameters moved to `side`; other kinds are passed over.
 * False if there are too many draws or patterns. */
static bool few_laplace_open(const brume_law *laws, size_t count, brume_side side,
                             brume_few_laplace *out)
{
    const brume_law *kinds[BRUME_FEW_DRAWS];
    double moved[BRUME_FEW_DRAWS], draws = 0, patterns = 1;
    size_t kind_count = 0;
    memset(out, 0, sizeof *out);
    out->normal = 1;
    for (size_t i = 0; i < count; i++) {
        if (!brume_law_is_laplace(&laws[i]))
            continue;
        draws += laws[i].count;
        patterns *= laws[i].count + 1;
        if (!(draws <= BRUME_FEW_DRAWS) || !(patterns <= BRUME_FEW_PATTERNS))
            return false;
        kinds[kind_count] = &laws[i];
        moved[kind_count] = brume_parameter_moved(laws[i].a, side);
        out->top += laws[i].count * moved[kind_count];
        out->normal *= pow(0.5 * exp(-0.5 * moved[kind_count]), laws[i].count);
        kind_count++;
    }
    out->draws = (size_t)draws;
    if (out->draws == 0)
        return true;
    fill_rows(out);
    add_patterns(out, kinds, moved, kind_count, 0, 1, 0);
    double most = 0.5 * out->top;
    for (size_t i = 0; i < out->patterns; i++) {
        const double *row = out->row[out->ups[i]];
        double slope = out->ups[i] == out->draws ? ldexp(exp(most), (int)draws) : 0;
        for (size_t j = out->draws; j-- > 1;)
            slope += (double)j * fabs(row[j]) * pow(most, (double)j - 1);
        out->steepness += out->weight[i] * slope;
    }
    return isfinite(out->steepness);
}

/* E(1 - e^{-(x+L)})_+, L the sum of the draws (0 if there are none); *error bounds its error, but
 * for (8 K + 16) units of it and for x itself. */
static double few_laplace_value(const brume_few_laplace *few, double x, double *error)
{
    *error = 0;
    if (x >= few->top) /* all losses count, and E e^{-L} = 1 */
        return x > 0 ? -expm1(-x) : 0;
    if (x <= -few->top)
        return 0;
    double epsilon = fabs(x), sum = 0, size = 0;
    size_t k = few->draws;
    for (size_t i = 0; i < few->patterns && few->shift[i] > epsilon; i++) {
        double y = 0.5 * (few->shift[i] - epsilon), value = 0, modulus = 0;
        const double *row = few->row[few->ups[i]];
        for (size_t j = k; j-- > 1;) {
            value = (value + row[j]) * y;
            modulus = (modulus + fabs(row[j])) * y;
        }
        if (few->ups[i] == k) {
            double rise = ldexp(expm1(y), (int)k);
            value += rise;
            modulus += rise;
        }
        sum += few->weight[i] * value;
        size += few->weight[i] * modulus;
    }
    double scale = exp(0.5 * epsilon) * few->normal;
    double value = scale * sum;
    /* Horner: 2 units a step, rows 2, expm1 4, sums one a pattern; shifts by K + 4 units of top */
    double bound = unit * scale *
                   ((2 * (double)k + 16 + (double)few->patterns) * size +
                    ((double)k + 4) * few->top * few->steepness);
    if (x > 0) {
        double fade = exp(-x);
        value = -expm1(-x) + fade * value;
        bound = fade * bound + 8 * unit * value;
    }
    *error = 1.01 * bound;
    return fmax(value, 0);
}

static const double most_products = 2e6; /* of all convolutions, a millisecond or so */
static const size_t most_atoms = 30000;
static const char route_atoms[] = "sum over the atoms of lattice laws";

/* --- masses of all draws of a law, by convolution of those of one --- */

static const double most_draws = 0x1p30; /* by squaring; the products are limited, too */

typedef struct atom_worker {
    double floor_, most, *work;
} atom_worker;

void brume_masses_close(brume_masses *masses)
{
    free(masses->mass);
    *masses = (brume_masses){0};
}

/* Leave out what is below the floor at both ends. */
static void trim(brume_masses *c, double floor_)
{
    size_t first = 0, last = c->count;
    double lost = 0;
    while (first + 1 < last && c->mass[first] < floor_)
        lost += c->mass[first++];
    while (last > first + 1 && c->mass[last - 1] < floor_)
        lost += c->mass[--last];
    if (first > 0)
        memmove(c->mass, c->mass + first, (last - first) * sizeof *c->mass);
    c->count = last - first;
    c->half -= (double)first;
    c->missed += lost * 1.001;
}

/* to[j] += weight from[j], four weights at a time: `from` passes over one place more for each. */
BRUME_BODY void spread_body(double *restrict to, const double *restrict from, size_t count,
                            const double *restrict weight)
{
    double a = weight[0], b = weight[1], c = weight[2], d = weight[3];
    for (size_t j = 0; j < count; j++)
        to[j] += (a * from[j + 3] + b * from[j + 2]) + (c * from[j + 1] + d * from[j]);
}
BRUME_PATHS(static, spread, (double *to, const double *from, size_t count, const double *weight),
            (to, from, count, weight))

/* The sum of independent losses of both; false if that is too much. */
static bool convolve(atom_worker *own, const brume_masses *a, const brume_masses *b,
                     brume_masses *out)
{
    brume_masses c = {.count = a->count + b->count - 1, .half = a->half + b->half};
    *own->work += (double)a->count * (double)b->count;
    if (!(*own->work <= own->most))
        return false;
    size_t groups = (a->count + 3) / 4, length = b->count + 6; /* zeros around both */
    double *weight = calloc(4 * groups + length, sizeof *weight);
    c.mass = calloc(c.count + 8, sizeof *c.mass);
    if (!weight || !c.mass) {
        free(weight);
        free(c.mass);
        return false;
    }
    double *from = weight + 4 * groups;
    memcpy(weight, a->mass, a->count * sizeof *weight);
    memcpy(from + 3, b->mass, b->count * sizeof *from);
    for (size_t i = 0; i < groups; i++)
        spread(c.mass + 4 * i, from, b->count + 3, weight + 4 * i);
    free(weight);
    c.missed = (a->missed + b->missed) * 1.001;
    /* positive terms: a product, a sum of four, and a sum for each four of the shorter's atoms, of
     * which no more than the shorter has are not 0 */
    double terms = (double)(a->count < b->count ? a->count : b->count);
    c.error = a->error + b->error + (terms + 6) * unit;
    trim(&c, own->floor_ / (double)c.count);
    *out = c;
    return true;
}

/* `draws` of `one`: squared, and one more for each bit, from the highest on. */
static bool multiply(atom_worker *own, const brume_masses *one, double draws, brume_masses *out)
{
    brume_masses power = *one;
    power.mass = malloc(one->count * sizeof *power.mass);
    if (!power.mass)
        return false;
    memcpy(power.mass, one->mass, one->count * sizeof *power.mass);
    uint64_t count = (uint64_t)draws, bit = 1;
    while (2 * bit <= count)
        bit *= 2;
    bool alive = true;
    for (bit /= 2; alive && bit > 0; bit /= 2) {
        brume_masses next = {0};
        alive = convolve(own, &power, &power, &next);
        brume_masses_close(&power);
        power = next;
        if (alive && (count & bit) != 0) {
            next = (brume_masses){0};
            alive = convolve(own, &power, one, &next);
            brume_masses_close(&power);
            power = next;
        }
    }
    if (!alive)
        brume_masses_close(&power);
    *out = power;
    return alive;
}

bool brume_masses_open(const brume_law *law, double depth, double most, double *work,
                       brume_masses *out)
{
    brume_masses one = {0}, all = {0};
    if (!law->family->masses || !law->family->masses(law, depth, &one))
        return false;
    double shared = one.shared;
    if (one.draws == law->count) {
        *out = one;
        out->error += shared;
        return true;
    }
    atom_worker own = {.floor_ = exp(-depth), .most = most, .work = work};
    bool alive = law->count <= most_draws && multiply(&own, &one, law->count, &all);
    brume_masses_close(&one);
    if (alive) {
        *out = all;
        out->error += shared;
    }
    return alive;
}

/* --- sums over them --- */

struct brume_atom_sum {
    double *place, *mass;
    size_t count;
    double floor_; /* masses below count for nothing, and are missed */
    double missed, mass_error, place_error, reach;
    brume_few_laplace few[2]; /* the Laplace draws, their parameters moved to either side */
    bool sampled;             /* then one draw of a subsampled Gaussian instead, likewise */
    brume_sampled_draw draws[2];
};

/* The sum of every atom so far and every atom of `c`, of lattice `step`. `above`: the largest loss
 * of all that is still to come. */
static bool join(brume_atom_sum *sum, const brume_masses *c, double step, double above,
                 double least)
{
    size_t capacity = sum->count * c->count, count = 0;
    if (capacity > 4 * most_atoms)
        return false;
    double *place = malloc(2 * capacity * sizeof *place);
    if (!place)
        return false;
    double *mass = place + capacity;
    double floor_ = sum->floor_ / (double)capacity, lost = 0;
    for (size_t i = 0; i < sum->count; i++)
        for (size_t j = 0; j < c->count; j++) {
            double at = sum->place[i] + (c->centre + step * (c->half - (double)j));
            double p = sum->mass[i] * c->mass[j];
            if (at + above <= least) /* never above epsilon: counts for nothing */
                break;
            if (p < floor_) {
                lost += p;
                continue;
            }
            place[count] = at;
            mass[count++] = p;
        }
    free(sum->place);
    sum->place = place;
    sum->mass = mass;
    sum->count = count;
    sum->missed += (c->missed + lost) * 1.001;
    sum->mass_error += c->error + 2 * unit;
    double farthest = fabs(c->centre) +
                      step * fmax(fabs(c->half), fabs(c->half - (double)c->count));
    sum->reach += farthest;
    sum->place_error += 22 * unit * farthest; /* the unit by 16 and a product */
    return count <= most_atoms;
}

/* Which of the laws is a subsampled Gaussian; `count` if there is none. */
static size_t sampled_law(const brume_law *laws, size_t count)
{
    size_t found = 0;
    while (found < count && !brume_law_is_sampled_gaussian(&laws[found]))
        found++;
    return found;
}

/* Take one draw of a subsampled Gaussian, laws[sampled], in the place of the Laplaces; false if
 * there are more draws, or Laplaces too. */
static bool take_sampled(brume_atom_sum *sum, const brume_law *laws, size_t count, size_t sampled)
{
    const brume_law *law = &laws[sampled];
    for (size_t i = 0; i < count; i++)
        if (i != sampled &&
            (brume_law_is_sampled_gaussian(&laws[i]) || brume_law_is_laplace(&laws[i])))
            return false;
    sum->sampled = true;
    sum->draws[0] = brume_sampled_draw_of(law, BRUME_LOWER_SIDE);
    sum->draws[1] = brume_sampled_draw_of(law, BRUME_UPPER_SIDE);
    return law->count == 1;
}

brume_atom_sum *brume_atom_sum_open(const brume_law *laws, size_t count, double least, double delta)
{
    enum { MOST_LAWS = 12 };
    size_t sampled = sampled_law(laws, count);
    if (count > MOST_LAWS || !(delta > 1e-200) || !(delta <= 1))
        return NULL;
    brume_atom_sum *sum = calloc(1, sizeof *sum);
    if (!sum)
        return NULL;
    if (sampled < count)
        least = -INFINITY; /* its losses are not bounded: every atom counts */
    double depth = 46 - log(delta), above = 0, work = 0;
    sum->floor_ = exp(-depth);
    brume_masses masses[MOST_LAWS] = {{0}};
    bool alive = few_laplace_open(laws, count, BRUME_LOWER_SIDE, &sum->few[0]) &&
                 few_laplace_open(laws, count, BRUME_UPPER_SIDE, &sum->few[1]) &&
                 (sampled == count || take_sampled(sum, laws, count, sampled));
    sum->place = calloc(2, sizeof *sum->place);
    alive = alive && sum->place;
    if (alive) {
        sum->mass = sum->place + 1;
        sum->mass[0] = 1;
        sum->count = 1;
        above = sum->few[1].top;
    }
    for (size_t i = 0; i < count && alive; i++) {
        if (brume_law_is_laplace(&laws[i]) || brume_law_is_sampled_gaussian(&laws[i]))
            continue;
        alive = brume_masses_open(&laws[i], depth, most_products, &work, &masses[i]);
        if (alive) {
            above += masses[i].centre + laws[i].unit * masses[i].half;
        }
    }
    for (size_t i = 0; i < count && alive; i++)
        if (masses[i].mass) {
            above -= masses[i].centre + laws[i].unit * masses[i].half;
            /* rounding of all these places is far below the slack */
            double slack = 1e-12 *
                           (1 + fabs(above) + fabs(fmax(least, 0)) + sum->reach +
                            fabs(masses[i].centre) +
                            laws[i].unit * ((double)masses[i].count + fabs(masses[i].half)));
            alive = join(sum, &masses[i], laws[i].unit, above + slack, least);
        }
    for (size_t i = 0; i < count && i < MOST_LAWS; i++)
        brume_masses_close(&masses[i]);
    if (!alive) {
        brume_atom_sum_close(sum);
        return NULL;
    }
    return sum;
}

void brume_atom_sum_close(brume_atom_sum *sum)
{
    if (!sum)
        return;
    free(sum->place);
    free(sum);
}

size_t brume_atom_sum_size(const brume_atom_sum *sum)
{
    return sum->count;
}

enum { BLOCK = BRUME_WAVE_BLOCK, ROW = BRUME_WAVE_ROW };

/* at - place, 0 where that is above 0; and where the places lie. */
BRUME_BODY void differences_body(const double *restrict place, size_t count, double at,
                                 double *restrict out, double *restrict least,
                                 double *restrict most)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t j = 0; j < count; j++) {
        double x = place[j] - at;
        low = x < low ? x : low;
        high = x > high ? x : high;
        out[j] = brume_choose(brume_mask(x > 0), -x, 0);
    }
    *least = low;
    *most = high;
}
BRUME_PATHS(static, differences,
            (const double *place, size_t count, double at, double *out, double *least,
             double *most),
            (place, count, at, out, least, most))

/* The sum of -mass (e^{-x} - 1) over a block, in lanes: 4 rows, 16 lanes. */
BRUME_BODY void far_sum_body(const double *restrict mass, const double *restrict less, size_t count,
                             double *restrict out)
{
    double lanes[ROW] = {0}, sum = 0;
    size_t from = 0;
    for (; from + ROW <= count; from += ROW)
        for (size_t j = 0; j < ROW; j++)
            lanes[j] -= mass[from + j] * less[from + j];
    for (size_t j = 0; j < ROW; j++)
        sum += lanes[j];
    for (; from < count; from++)
        sum -= mass[from] * less[from];
    *out = sum;
}
BRUME_PATHS(static, far_sum, (const double *mass, const double *less, size_t count, double *out),
            (mass, less, count, out))

/* The atoms composed with Laplace draws: those of one block that are not all far above or far below
 * epsilon. */
static void add_near(const brume_atom_sum *sum, const brume_few_laplace *few, size_t from,
                     size_t count, double at, const double *less, long double *value,
                     long double *error)
{
    for (size_t j = 0; j < count; j++) {
        double x = sum->place[from + j] - at, one = 0;
        double term = x >= few->top ? (x > 0 ? -less[j] : 0) : few_laplace_value(few, x, &one);
        *value += sum->mass[from + j] * term;
        *error += sum->mass[from + j] * one;
    }
}

static void add_atoms(const brume_atom_sum *sum, const brume_few_laplace *few, double at,
                      long double *value, long double *error)
{
    double minus[BLOCK], less[BLOCK], least, most, part;
    for (size_t from = 0; from < sum->count; from += BLOCK) {
        size_t count = sum->count - from < BLOCK ? sum->count - from : BLOCK;
        differences(sum->place + from, count, at, minus, &least, &most);
        if (most <= -few->top && most < 0)
            continue; /* no loss is above epsilon */
        brume_vector_expm1(minus, less, count);
        if (least >= few->top) { /* all losses count, and E e^{-L} = 1 */
            far_sum(sum->mass + from, less, count, &part);
            *value += part;
        } else {
            add_near(sum, few, from, count, at, less, value, error);
        }
    }
}

/* A lower or an upper bound of delta, for any epsilon from `least` on. */
static double delta_of(const brume_atom_sum *sum, double epsilon, brume_side side)
{
    const brume_few_laplace *few = &sum->few[side == BRUME_UPPER_SIDE];
    /* places are off by place_error, their sums and x by a unit each: all move epsilon, which
     * delta falls with */
    double moved = 1.01 * (sum->place_error + 4 * unit * (sum->reach + few->top + fabs(epsilon)));
    double at = side == BRUME_UPPER_SIDE ? epsilon - moved : epsilon + moved;
    long double value = 0, error = 0;
    if (!sum->sampled)
        add_atoms(sum, few, at, &value, &error);
    for (size_t i = 0; sum->sampled && i < sum->count; i++) {
        double one, x = sum->place[i] - at;
        value += sum->mass[i] * brume_sampled_value(&sum->draws[side == BRUME_UPPER_SIDE], x, &one);
        error += sum->mass[i] * one;
    }
    /* relative: the masses; the Laplaces' normaliser; products, expm1, sums of a block (20) and, in
     * long doubles, of blocks */
    double relative = 1.01 * (sum->mass_error + (8 * (double)few->draws + 32) * unit);
    if (side == BRUME_UPPER_SIDE)
        return fmin((double)(value + error) * (1 + relative) * (1 + 4 * unit) + sum->missed, 1);
    return fmax((double)(value - error) * (1 - relative) * (1 - 4 * unit), 0);
}

static double atom_sum_delta(void *context, double epsilon, brume_side side)
{
    return delta_of(context, epsilon, side);
}

brume_delta_bounds brume_atom_sum_bounds(brume_atom_sum *sum)
{
    return (brume_delta_bounds){.delta = atom_sum_delta, .context = sum, .route = route_atoms};
}
