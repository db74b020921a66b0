/* Masses of draws of lattice laws. See the header.
 *
 * Promise: `mass` is within `error`, relative, of the truth for every parameter within its 8 units,
 * and what is left out is at most `missed`. */
#include "accountant/exact/atom_masses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "number/paths.h"

static const double unit = BRUME_UNIT;
static const double most_draws = 0x1p16; /* by squaring */
static const size_t most_masses = 40000; /* of one law */

typedef struct worker {
    double floor_, most, *work;
} worker;

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

/* --- discrete Gaussians: n draws are one of n sigma^2, but for a ripple --- */

static bool open_gaussian(const brume_law *law, double draws, double depth, brume_masses *out)
{
    /* x from -R to R: beyond, at most e^{-depth} on each side */
    double square = draws * law->a * law->a, normal = 0;
    double reach = ceil(sqrt(2 * square * depth)) + 1;
    brume_masses c = {.error = 24 * unit};
    if (!(2 * reach + 1 <= (double)most_masses))
        return false;
    c.count = 2 * (size_t)reach + 1;
    c.half = 0.5 * law->shift * draws + reach;
    c.mass = malloc(c.count * sizeof *c.mass);
    if (!c.mass)
        return false;
    for (size_t j = 0; j < c.count; j++) {
        double x = (double)j - reach;
        normal += c.mass[j] = exp(-x * x / (2 * square));
    }
    for (size_t j = 0; j < c.count; j++)
        c.mass[j] /= normal; /* of all: short by 2 e^{-depth}, which is missed */
    c.missed = 2.01 * exp(-depth);
    /* the sum: the terms' own errors, and one unit each for the last places; log masses: 20 units
     * of themselves, see law_atoms.c; every draw after the first ripples by 4.3 e^{-pi^2 sigma^2}
     */
    double deepest = reach * reach / (2 * square);
    c.error += 2 * unit * (double)c.count + 20 * unit * deepest + c.missed;
    if (draws > 1)
        c.error += 4.5 * draws * exp(-M_PI * M_PI * law->a * law->a);
    *out = c;
    return deepest < 600;
}

/* --- two atoms: binomial masses, from the likeliest outwards --- */

/* Minus the log of the odds of the lower atom, and what it may be off by; false if there are not
 * two atoms. */
static bool two_atoms(const brume_law *law, double *lean, double *off)
{
    bool two =
        law->kind == BRUME_LAW_PURE ||
        (law->kind == BRUME_LAW_TABLE && law->points.count == 2 && law->unit > 0 &&
         (law->source.kind == BRUME_LOSS_KARY || law->source.kind == BRUME_LOSS_DISCRETE_LAPLACE));
    *lean = law->a;
    *off = 8 * unit * law->a;
    if (law->kind ==
        BRUME_LAW_SAMPLED_PURE) { /* its parameters were moved: exact but for rounding */
        *lean = 2 * (double)law->lean;
        *off = unit * (2 * fabs(*lean) + 2 * law->source.a);
        return true;
    }
    return two;
}

static bool open_binomial(const brume_law *law, double lean, double off, double depth,
                          brume_masses *out)
{
    double draws = law->count, odds = exp(-lean);
    if (!(draws <= 0x1p40) || !(fabs(lean) < 600))
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
    brume_masses c = {.count = last - first + 1, .mass = mass};
    if (!alive || c.count > most_masses) {
        free(mass);
        return false;
    }
    memmove(mass, mass + first, c.count * sizeof *mass);
    for (size_t j = 0; j < c.count; j++)
        mass[j] /= sum; /* of all: short by the tail, which is missed */
    c.half = 0.5 * draws - (middle - (double)(at - first));
    c.centre = (double)law->centre * draws; /* 0 of all but BINARY */
    c.missed = 1.01 * tail / sum;
    /* a step: the odds, exp and four roundings; the sum errs as its terms do, and one a term */
    double steps = (double)(last - at > at - first ? last - at : at - first);
    c.error = 1.01 * (2 * steps * (off + 9 * unit) + ((double)c.count + 4) * unit) +
              1.01 * c.missed;
    *out = c;
    return true;
}

/* --- all others, by squaring --- */

/* One draw. */
static bool open_one(const brume_law *law, brume_masses *out)
{
    brume_masses c = {.error = 24 * unit};
    double deepest = 0;
    if (law->kind == BRUME_LAW_TABLE && law->unit > 0 &&
        (law->source.kind == BRUME_LOSS_KARY || law->source.kind == BRUME_LOSS_DISCRETE_LAPLACE)) {
        double steps = round(2 * law->top / law->unit);
        c.count = (size_t)steps + 1;
        c.half = 0.5 * steps;
        c.error += law->points.mass_error;
        c.mass = calloc(c.count, sizeof *c.mass);
        for (size_t i = 0; c.mass && i < law->points.count; i++) {
            size_t j = (size_t)round((law->top - law->points.loss[i]) / law->unit);
            c.mass[j] = exp(law->points.log_mass[i]);
            deepest = fmax(deepest, -law->points.log_mass[i]);
        }
    } else {
        return false;
    }
    c.error += 20 * unit * deepest; /* log masses: 24 units and 20 of themselves, see law_atoms.c */
    if (!c.mass)
        return false;
    *out = c;
    return deepest < 600;
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
static bool convolve(worker *own, const brume_masses *a, const brume_masses *b, brume_masses *out)
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
static bool multiply(worker *own, const brume_masses *one, double draws, brume_masses *out)
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
    double lean, off;
    if (law->kind == BRUME_LAW_DISCRETE_GAUSSIAN && (law->count == 1 || law->a >= 2.2))
        return open_gaussian(law, law->count, depth, out);
    if (two_atoms(law, &lean, &off))
        return open_binomial(law, lean, off, depth, out);
    worker own = {.floor_ = exp(-depth), .most = most, .work = work};
    brume_masses one = {0}, all = {0};
    bool alive = law->count <= most_draws &&
                 (law->kind == BRUME_LAW_DISCRETE_GAUSSIAN ? open_gaussian(law, 1, depth, &one)
                                                           : open_one(law, &one)) &&
                 multiply(&own, &one, law->count, &all);
    brume_masses_close(&one);
    if (alive)
        *out = all;
    return alive;
}
