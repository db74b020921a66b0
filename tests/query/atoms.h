/* Pairs of output laws on two neighbours, as atoms (p, q), summed exactly: for enumerating the
 * privacy of whole queries.
 *
 * Atoms of (nearly) equal loss ln(p/q) are merged, which changes no divergence by more than the
 * width of a bin: at most exp(bin) - 1 of itself, and downwards only. */
#ifndef BRUME_TESTS_ATOMS_H
#define BRUME_TESTS_ATOMS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/price/price.h"

typedef struct atom {
    double loss, p, q;
} atom;

typedef struct atoms {
    atom *atom;
    size_t count;
} atoms;

static inline int atoms_compare(const void *left, const void *right)
{
    const atom *a = left, *b = right;
    return (a->loss > b->loss) - (a->loss < b->loss);
}

/* Merge in place: from each first atom on, those whose loss is less than `bin` above. */
static inline void atoms_merge(atoms *all, double bin)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        atom *one = &all->atom[i];
        if (one->p <= 0 && one->q <= 0)
            continue;
        one->loss = one->q <= 0 ? INFINITY : one->p <= 0 ? -INFINITY : log(one->p / one->q);
        all->atom[kept++] = *one;
    }
    all->count = kept;
    qsort(all->atom, kept, sizeof *all->atom, atoms_compare);
    kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (kept && (all->atom[i].loss == all->atom[kept - 1].loss ||
                     all->atom[i].loss - all->atom[kept - 1].loss < bin)) {
            all->atom[kept - 1].p += all->atom[i].p; /* the loss stays that of the first */
            all->atom[kept - 1].q += all->atom[i].q;
        } else {
            all->atom[kept++] = all->atom[i];
        }
    }
    all->count = kept;
}

static inline atoms atoms_make(size_t room)
{
    return (atoms){calloc(room + 1, sizeof(atom)), 0};
}

static inline void atoms_add(atoms *all, double p, double q)
{
    all->atom[all->count++] = (atom){0, p, q};
}

static inline void atoms_free(atoms *all)
{
    free(all->atom);
    *all = (atoms){0};
}

static inline atoms atoms_one(void)
{
    atoms out = atoms_make(1);
    atoms_add(&out, 1, 1);
    return out;
}

/* Both observed, independently; `a` and `b` are used up. */
static inline atoms atoms_product(atoms a, atoms b, double bin)
{
    atoms out = atoms_make(a.count * b.count);
    for (size_t i = 0; i < a.count; i++)
        for (size_t j = 0; j < b.count; j++)
            atoms_add(&out, a.atom[i].p * b.atom[j].p, a.atom[i].q * b.atom[j].q);
    atoms_free(&a);
    atoms_free(&b);
    atoms_merge(&out, bin);
    return out;
}

/* The larger of the two directions of sup_S P(S) - e^epsilon Q(S). */
static inline double atoms_hockey_stick(const atoms *all, double epsilon)
{
    double there = 0, back = 0, e = exp(epsilon);
    for (size_t i = 0; i < all->count; i++) {
        there += fmax(0, all->atom[i].p - e * all->atom[i].q);
        back += fmax(0, all->atom[i].q - e * all->atom[i].p);
    }
    return fmax(there, back);
}

/* Largest |loss| of an output that both can have. */
static inline double atoms_largest_loss(const atoms *all)
{
    double most = 0;
    for (size_t i = 0; i < all->count; i++)
        if (isfinite(all->atom[i].loss))
            most = fmax(most, fabs(log(all->atom[i].p / all->atom[i].q)));
    return most;
}

/* The larger of the two Renyi divergences of order alpha, over outputs that both can have. */
static inline double atoms_renyi(const atoms *all, double alpha)
{
    double there = 0, back = 0;
    for (size_t i = 0; i < all->count; i++) {
        double p = all->atom[i].p, q = all->atom[i].q;
        if (p < 1e-300 || q < 1e-300)
            continue;
        there += exp(alpha * log(p) + (1 - alpha) * log(q));
        back += exp(alpha * log(q) + (1 - alpha) * log(p));
    }
    return fmax(log(there), log(back)) / (alpha - 1);
}

/* ---- noise ---- */

static inline double noise_mass(brume_noise_kind noise, double scale, double x)
{
    if (noise == BRUME_NOISE_DISCRETE_LAPLACE) {
        double a = exp(-1 / scale);
        return (1 - a) / (1 + a) * exp(-fabs(x) / scale);
    }
    if (noise == BRUME_NOISE_ROUNDED_GAUSSIAN) {
        double root = scale * sqrt(2), y = fabs(x);
        return (erfc((y - 0.5) / root) - erfc((y + 0.5) / root)) / 2;
    }
    double total = 0;
    for (double z = -ceil(12 * scale) - 12; z <= ceil(12 * scale) + 12; z++)
        total += exp(-z * z / (2 * scale * scale));
    return exp(-x * x / (2 * scale * scale)) / total;
}

/* Beyond this distance less than 1e-18 of the mass is left. */
static inline double noise_reach(brume_noise_kind noise, double scale)
{
    return ceil((noise == BRUME_NOISE_DISCRETE_LAPLACE ? 42 : 9.5) * scale) + 3;
}

/* Masses of x = -reach .. reach, at [x + reach]. */
static inline double *noise_table(brume_noise_kind noise, double scale, int reach)
{
    double *mass = calloc((size_t)(2 * reach + 1), sizeof *mass);
    double first = noise_mass(noise, scale, 0), unit = first;
    for (int x = -reach; x <= reach; x++)
        mass[x + reach] = noise == BRUME_NOISE_DISCRETE_GAUSSIAN
                              ? unit * exp(-(double)x * x / (2 * scale * scale))
                              : noise_mass(noise, scale, x);
    return mass;
}

/* A number that is shown with noise: 0 on the first neighbour, `shift` on the second. */
static inline atoms atoms_shift(brume_noise_kind noise, double scale, int shift, double bin)
{
    int reach = (int)noise_reach(noise, scale) + abs(shift), table = reach + abs(shift);
    double *mass = noise_table(noise, scale, table);
    atoms out = atoms_make((size_t)(2 * reach + 1));
    for (int y = -reach; y <= reach; y++)
        atoms_add(&out, mass[y + table], mass[y - shift + table]);
    free(mass);
    atoms_merge(&out, bin);
    return out;
}

/* A count that is shown, if it occurs and reaches the threshold, beside what `shown` tells then. */
static inline atoms atoms_tested(brume_noise_kind noise, double scale, double threshold, int before,
                                 int after, atoms shown, double bin)
{
    int reach = (int)noise_reach(noise, scale) + abs(before) + abs(after) + 2, table = 2 * reach;
    double *mass = noise_table(noise, scale, table);
    double hidden[2] = {0, 0};
    atoms seen = atoms_make((size_t)(2 * reach + 1));
    for (int y = -reach; y <= reach; y++) {
        double p = before ? mass[y - before + table] : 0, q = after ? mass[y - after + table] : 0;
        if (y >= threshold) {
            atoms_add(&seen, p, q);
        } else {
            hidden[0] += p;
            hidden[1] += q;
        }
    }
    free(mass);
    atoms_merge(&seen, bin);
    if (before && after)
        seen = atoms_product(seen, shown, bin);
    else
        atoms_free(&shown);
    atoms out = atoms_make(seen.count + 1);
    memcpy(out.atom, seen.atom, seen.count * sizeof *seen.atom);
    out.count = seen.count;
    /* what does not occur is never shown */
    atoms_add(&out, before ? hidden[0] : 1, after ? hidden[1] : 1);
    atoms_free(&seen);
    atoms_merge(&out, bin);
    return out;
}

#endif
