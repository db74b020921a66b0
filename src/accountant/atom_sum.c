/* Sums over the atoms of lattice laws. See the header and proofs/accountant.md, section 17.
 *
 * Promise: the two sides bound delta for every parameter within its 8 units. */
#include "accountant/atom_sum.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/few.h"
#include "accountant/masses.h"

static const double unit = BRUME_UNIT;
static const double most_products = 2e6; /* of all convolutions, a millisecond or so */
static const size_t most_atoms = 30000;
static const char route_atoms[] = "sum over the atoms of lattice laws";

struct brume_atom_sum {
    double *place, *mass;
    size_t count;
    double floor_; /* masses below count for nothing, and are missed */
    double missed, mass_error, place_error, reach;
    brume_few few[2];
    bool sampled; /* then one of these instead */
    brume_sampled_draw draws[2];
};

/* Every atom so far beside every atom of `c`, of lattice `step`. `above`: the largest loss of all
 * that is still to come. */
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

brume_atom_sum *brume_atom_sum_open(const brume_law *laws, size_t count, double least, double delta)
{
    enum { MOST_LAWS = 12 };
    if (count > MOST_LAWS || !(delta > 1e-200) || !(delta <= 1))
        return NULL;
    brume_atom_sum *sum = calloc(1, sizeof *sum);
    if (!sum)
        return NULL;
    double depth = 46 - log(delta), above = 0, work = 0;
    sum->floor_ = exp(-depth);
    brume_masses combs[MOST_LAWS] = {{0}};
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
        alive = laws[i].count <= 4096 &&
                brume_masses_open(&laws[i], depth, most_products, &work, &combs[i]);
        if (alive) {
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
        brume_masses_close(&combs[i]);
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
