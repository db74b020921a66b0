/* Sums over the atoms of lattice laws. See the header and proofs/accountant.md, section 17.
 *
 * Promise: the two sides bound delta for every parameter within its 8 units. */
#include "accountant/atom_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/few.h"

static const double unit = BRUME_UNIT;
static const double most_products = 2e6; /* of all convolutions, a millisecond or so */
static const size_t most_atoms = 30000;
static const char route_atoms[] = "sum over the atoms of lattice laws";

/* Masses q_0, q_1 .. of losses lattice * (half - j): of one draw or of several. */
typedef struct comb {
    double *mass;
    size_t count;
    double half;   /* half the number of steps from the largest loss to its mirror image */
    double centre; /* of a sampled law: losses are centre + lattice * (half - j) */
    double missed; /* a bound of the mass that was left out */
    double error;  /* relative, of every mass */
} comb;

struct brume_atom_sum {
    double *place, *mass;
    size_t count;
    double floor_; /* masses below count for nothing, and are missed */
    double missed, mass_error, place_error, reach;
    double work;
    brume_few few[2];
    bool sampled; /* then one of these instead */
    brume_sampled_draw draws[2];
};

static void comb_close(comb *c)
{
    free(c->mass);
    *c = (comb){0};
}

/* Leave out what is below the floor at both ends. */
static void comb_trim(comb *c, double floor_)
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

static bool comb_open(const brume_law *law, double depth, comb *out)
{
    comb c = {.error = 24 * unit};
    double deepest = 0;
    if (law->kind ==
        BRUME_LAW_THETA) { /* x from -R to R: beyond, at most e^{-depth} on each side */
        double sigma = law->a, reach = ceil(sigma * sqrt(2 * depth)) + 1, normal = 0;
        if (!(reach < 2000))
            return false;
        c.count = 2 * (size_t)reach + 1;
        c.half = 0.5 * law->shift + reach;
        c.mass = malloc(c.count * sizeof *c.mass);
        for (size_t j = 0; c.mass && j < c.count; j++) {
            double x = (double)j - reach, exponent = -x * x / (2 * sigma * sigma);
            normal += c.mass[j] = exp(exponent);
            deepest = fmax(deepest, -exponent);
        }
        for (size_t j = 0; c.mass && j < c.count; j++)
            c.mass[j] /= normal; /* of all: short by 2 e^{-depth}, which is missed */
        c.missed = 2.01 * exp(-depth);
        /* the sum: the terms' own errors, and one unit each for the last places */
        c.error += 2 * unit * (double)c.count;
    } else if (law->kind == BRUME_LAW_PURE) {
        c.count = 2;
        c.half = 0.5;
        c.mass = malloc(c.count * sizeof *c.mass);
        double fade = exp(-law->a);
        if (c.mass) {
            c.mass[0] = 1 / (1 + fade);
            c.mass[1] = fade / (1 + fade);
        }
        deepest = law->a + 1;
    } else if (law->kind == BRUME_LAW_BINARY) {
        c.count = 2;
        c.half = 0.5;
        c.mass = malloc(c.count * sizeof *c.mass);
        double odds = exp(-2 * (double)fabsl(law->lean)), rare = odds / (1 + odds);
        bool upper = law->lean >= 0; /* the upper atom is the likely one */
        if (c.mass) {
            c.mass[0] = upper ? 1 / (1 + odds) : rare;
            c.mass[1] = upper ? rare : 1 / (1 + odds);
        }
        deepest = 2 * (double)fabsl(law->lean) + 1;
        c.error += unit * law->source.a; /* the lean's own: 16 long units of it */
    } else if (law->kind == BRUME_LAW_TABLE && law->unit > 0 &&
               (law->source.kind == BRUME_LOSS_KARY ||
                law->source.kind == BRUME_LOSS_DISCRETE_LAPLACE)) {
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

/* The sum of independent losses of both; false if that is too much. */
static bool comb_convolve(brume_atom_sum *sum, const comb *a, const comb *b, comb *out)
{
    comb c = {.count = a->count + b->count - 1, .half = a->half + b->half};
    sum->work += (double)a->count * (double)b->count;
    if (!(sum->work <= most_products))
        return false;
    c.mass = calloc(c.count, sizeof *c.mass);
    if (!c.mass)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        double weight = a->mass[i], *restrict to = c.mass + i;
        const double *restrict from = b->mass;
        for (size_t j = 0; j < b->count; j++)
            to[j] += weight * from[j];
    }
    c.missed = (a->missed + b->missed) * 1.001;
    /* positive terms: one product and at most as many sums as the shorter has atoms */
    double terms = (double)(a->count < b->count ? a->count : b->count);
    c.error = a->error + b->error + (terms + 2) * unit;
    comb_trim(&c, sum->floor_ / (double)c.count);
    *out = c;
    return true;
}

/* `draws` of `one`, by squaring; `one` is consumed. */
static bool comb_power(brume_atom_sum *sum, comb *one, double draws, comb *out)
{
    comb power = {0};
    bool alive = true, started = false;
    for (double rest = draws; alive && rest > 0; rest = floor(rest / 2)) {
        comb next = {0};
        if (fmod(rest, 2) != 0) {
            if (!started) {
                next = *one;
                next.mass = malloc(one->count * sizeof *next.mass);
                alive = next.mass != NULL;
                if (alive)
                    memcpy(next.mass, one->mass, one->count * sizeof *next.mass);
            } else {
                alive = comb_convolve(sum, &power, one, &next);
            }
            comb_close(&power);
            power = next;
            started = true;
        }
        if (alive && rest > 1) {
            alive = comb_convolve(sum, one, one, &next);
            comb_close(one);
            *one = alive ? next : (comb){0};
        }
    }
    comb_close(one);
    if (!alive)
        comb_close(&power);
    *out = power;
    return alive;
}

/* Every atom so far beside every atom of `c`, of lattice `step`. `above`: the largest loss of all
 * that is still to come. */
static bool join(brume_atom_sum *sum, const comb *c, double step, double above, double least)
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

brume_atom_sum *brume_atom_sum_open(const brume_law *laws, size_t count, double least, double delta)
{
    enum { MOST_LAWS = 12 };
    if (count > MOST_LAWS || !(delta > 1e-200) || !(delta <= 1))
        return NULL;
    brume_atom_sum *sum = calloc(1, sizeof *sum);
    if (!sum)
        return NULL;
    double depth = 46 - log(delta), above = 0;
    sum->floor_ = exp(-depth);
    comb combs[MOST_LAWS] = {{0}};
    bool alive = brume_few_open(laws, count, BRUME_LOWER_SIDE, &sum->few[0]) &&
                 brume_few_open(laws, count, BRUME_UPPER_SIDE, &sum->few[1]);
    sum->place = calloc(2, sizeof *sum->place);
    alive = alive && sum->place;
    if (alive) {
        sum->mass = sum->place + 1;
        sum->mass[0] = 1;
        sum->count = 1;
        above = sum->few[1].top;
    }
    for (size_t i = 0; i < count && alive; i++) {
        if (laws[i].kind == BRUME_LAW_LAPLACE)
            continue;
        comb one = {0};
        alive = laws[i].count <= 4096 && comb_open(&laws[i], depth, &one) &&
                comb_power(sum, &one, laws[i].count, &combs[i]);
        comb_close(&one);
        if (alive) {
            combs[i].centre = (double)laws[i].centre * laws[i].count; /* 0 of all but BINARY */
            above += combs[i].centre + laws[i].unit * combs[i].half;
        }
    }
    for (size_t i = 0; i < count && alive; i++)
        if (combs[i].mass) {
            above -= combs[i].centre + laws[i].unit * combs[i].half;
            /* rounding of all these places is far below the slack */
            double slack = 1e-12 *
                           (1 + fabs(above) + fabs(least) + sum->reach + fabs(combs[i].centre) +
                            laws[i].unit * ((double)combs[i].count + fabs(combs[i].half)));
            alive = join(sum, &combs[i], laws[i].unit, above + slack, least);
        }
    for (size_t i = 0; i < count && i < MOST_LAWS; i++)
        comb_close(&combs[i]);
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

void brume_atom_sum_beside(brume_atom_sum *sum, const brume_sampled_draw draws[2])
{
    sum->sampled = true;
    sum->draws[0] = draws[0];
    sum->draws[1] = draws[1];
}

double brume_atom_sum_delta(const brume_atom_sum *sum, double epsilon, brume_side side)
{
    const brume_few *few = &sum->few[side == BRUME_UPPER_SIDE];
    /* places are off by place_error, their sums and x by a unit each: all move epsilon, which
     * delta falls with */
    double moved = 1.01 * (sum->place_error + 4 * unit * (sum->reach + few->top + fabs(epsilon)));
    double at = side == BRUME_UPPER_SIDE ? epsilon - moved : epsilon + moved;
    long double value = 0, error = 0;
    for (size_t i = 0; i < sum->count; i++) {
        double one, x = sum->place[i] - at;
        value += sum->mass[i] *
                 (sum->sampled ? brume_sampled_value(&sum->draws[side == BRUME_UPPER_SIDE], x, &one)
                               : brume_few_value(few, x, &one));
        error += sum->mass[i] * one;
    }
    /* relative: the masses; the Laplaces' normaliser; products, expm1, long double sums */
    double relative = 1.01 * (sum->mass_error + (8 * (double)few->draws + 32) * unit);
    if (side == BRUME_UPPER_SIDE)
        return fmin((double)(value + error) * (1 + relative) * (1 + 4 * unit) + sum->missed, 1);
    return fmax((double)(value - error) * (1 - relative) * (1 - 4 * unit), 0);
}

static double atom_sum_delta(void *context, double epsilon, brume_side side)
{
    return brume_atom_sum_delta(context, epsilon, side);
}

brume_closed brume_atom_sum_form(brume_atom_sum *sum)
{
    return (brume_closed){.delta = atom_sum_delta, .context = sum, .route = route_atoms};
}
