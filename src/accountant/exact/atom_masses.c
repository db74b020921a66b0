/* Masses of draws of lattice laws, by convolution of those of one draw. See the header.
 *
 * Promise: `mass` is within `error`, relative, of the truth for every parameter within its 8 units,
 * and what is left out is at most `missed`. */
#include "accountant/exact/atom_masses.h"

#include <stdlib.h>
#include <string.h>

#include "number/paths.h"

static const double unit = BRUME_UNIT;
static const double most_draws = 0x1p16; /* by squaring */

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
    brume_masses one = {0}, all = {0};
    if (!law->family->masses || !law->family->masses(law, depth, &one))
        return false;
    if (one.draws == law->count) {
        *out = one;
        return true;
    }
    worker own = {.floor_ = exp(-depth), .most = most, .work = work};
    bool alive = law->count <= most_draws && multiply(&own, &one, law->count, &all);
    brume_masses_close(&one);
    if (alive)
        *out = all;
    return alive;
}
