/* Losses with few atoms as tables: k-ary randomized response, and the discrete Laplace of a small
 * shift.
 *
 *   k-ary:            p e^{sa} + f e^{-sa} + (k-2) f,   f = 1/(e^a + k - 1), p = f e^a
 *   discrete Laplace: 1/(1+q) at aD, q^D/(1+q) at -aD, (1-q)/(1+q) q^x at a(D-2x), 0 < x < D
 *   the same on a Poisson sample of rate p: with l its loss, f its mass and r = 1 - p + p e^l,
 *                     removed: f e^{-l} r at log r; added: f e^{-l} at -log r
 * Promise: each log mass is within mass_error + 12 units of itself of the truth. */
#include "accountant/law/law.h"

#include <math.h>

#include "base/error.h"

enum { MOST_SHIFT = 64 }; /* of a table */

static brume_status open_kary(brume_law *law, brume_error *error)
{
    size_t atoms = law->shift > 2 ? 3 : 2;
    if (!brume_points_allocate(&law->points, atoms))
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for a loss table");
    long double a = law->a, others = (long double)law->shift - 1;
    long double normal = log1pl(others * expl(-a)); /* log of (e^a + k - 1) e^{-a} */
    brume_points *p = &law->points;
    p->mass_error += 8 * BRUME_UNIT * law->a; /* `normal` moves by at most what a does */
    p->loss[0] = law->a;
    p->log_mass[0] = (double)-normal;
    p->loss[1] = -law->a;
    p->log_mass[1] = (double)(-normal - a);
    if (atoms == 3) {
        p->loss[2] = 0;
        p->log_mass[2] = (double)(logl((long double)law->shift - 2) - a - normal);
    }
    for (size_t j = 0; j < atoms; j++)
        p->place[j] = 0;
    law->unit = atoms == 3 ? law->a : 2 * law->a;
    law->half = atoms == 2;
    law->top = law->a;
    law->log_top_mass = p->log_mass[0];
    return BRUME_OK;
}

static brume_status open_discrete_laplace(brume_law *law, brume_error *error)
{
    long double a = law->a, normal = log1pl(expl(-a)), middle = logl(tanhl(a / 2));
    law->unit = 2 * law->a;
    law->half = fmod(law->shift, 2) != 0;
    law->top = law->a * law->shift;
    law->log_top_mass = (double)-normal;
    if (law->shift > MOST_SHIFT) {
        law->kind = BRUME_LAW_DISCRETE_LAPLACE;
        return BRUME_OK;
    }
    size_t shift = (size_t)law->shift;
    if (!brume_points_allocate(&law->points, shift + 1))
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for a loss table");
    brume_points *p = &law->points;
    for (size_t x = 0; x <= shift; x++) {
        p->place[x] = 0;
        p->loss[x] = (double)(a * ((long double)shift - 2 * (long double)x));
        p->log_mass[x] = x == 0       ? (double)-normal
                         : x == shift ? (double)(-a * (long double)shift - normal)
                                      : (double)(middle - a * (long double)x);
    }
    return BRUME_OK;
}

/* The table of the discrete Laplace, on the sample: its losses lie in no lattice. */
static void sample_points(brume_law *law)
{
    brume_points *p = &law->points;
    long double rate = law->rate, a = law->a, normal = log1pl(expl(-a));
    long double middle = logl(tanhl(a / 2));
    for (size_t j = 0; j < p->count; j++) {
        long double behind = (long double)(p->count - 1 - j); /* Q is P from the other end */
        long double ratio = brume_sampled_log_ratio(a * (law->shift - 2 * (long double)j), rate);
        long double mass = j > 0 && behind > 0 ? middle - a * behind : -normal - a * behind;
        p->loss[j] = (double)(law->reversed ? -ratio : ratio);
        p->log_mass[j] = (double)(law->reversed ? mass : mass + ratio);
    }
    size_t top = law->reversed ? p->count - 1 : 0;  /* the ratio falls with j */
    p->mass_error += 0x1p-58 * law->a * law->shift; /* sums in long doubles that may cancel */
    law->unit = 0;
    law->half = false;
    law->top = p->loss[top];
    law->log_top_mass = p->log_mass[top];
}

long double brume_kary_cumulant(const brume_law *law, double at, double *error)
{
    /* phi - 1 = f [e^a (e^{ca} - 1) + (e^{-ca} - 1)] = f e^{-ca} (e^{ca} - 1)(e^{(c+1)a} - 1) */
    long double c = at, a = law->a, over = expl(a) + ((long double)law->shift - 1);
    long double rest = expm1l(c * a) * expl(-c * a) * expm1l((c + 1) * a) / over;
    /* its factors move by at most 2 + 2 (c+1) a times what a does, relative: 8 units and the long
     * doubles' own; the logarithm by rest/(1 + rest) of that */
    if (error)
        *error = BRUME_UNIT * (double)(rest / (1 + rest) * (18 + 18 * (c + 1) * a));
    return log1pl(rest);
}

brume_status brume_atoms_open(const brume_loss *loss, brume_law *law, brume_error *error)
{
    law->kind = BRUME_LAW_TABLE;
    law->bounded = true;
    law->points.mass_error = 16 * BRUME_UNIT;
    if (loss->kind == BRUME_LOSS_KARY)
        return open_kary(law, error);
    bool sampled = loss->kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE;
    if (sampled && law->shift > MOST_SHIFT)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "a sampled discrete Laplace of a shift above %d", MOST_SHIFT);
    brume_status status = open_discrete_laplace(law, error);
    if (sampled && status == BRUME_OK)
        sample_points(law);
    return status;
}
