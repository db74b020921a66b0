/* Losses with few atoms as tables: k-ary randomized response, the discrete Laplace of a small
 * shift, alone and on a Poisson sample, and tables that are given.
 *
 *   k-ary:            p e^{sa} + f e^{-sa} + (k-2) f,   f = 1/(e^a + k - 1), p = f e^a
 *   discrete Laplace: 1/(1+q) at aD, q^D/(1+q) at -aD, (1-q)/(1+q) q^x at a(D-2x), 0 < x < D
 *   the same on a Poisson sample of rate p: with l its loss, f its mass and r = 1 - p + p e^l,
 *                     removed: f e^{-l} r at log r; added: f e^{-l} at -log r
 * Promise: each log mass is within mass_error + 12 units of itself of the truth. */
#include "accountant/law/family.h"
#include "accountant/law/points.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const double own_error = 16 * BRUME_UNIT; /* of a log mass */

/* Room for `atoms` atoms. */
static brume_status allocate(brume_law *law, size_t atoms, double mass_error, brume_error *error)
{
    BRUME_TRY(brume_law_allocate(law, sizeof(brume_points), error));
    brume_points *p = law->state;
    p->mass_error = mass_error;
    if (!brume_points_allocate(p, atoms))
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for a loss table");
    for (size_t j = 0; j < atoms; j++)
        p->place[j] = 0;
    law->bounded = true;
    return BRUME_OK;
}

/* For three or more possible answers. */
static brume_status open_kary(brume_law *law, brume_error *error)
{
    BRUME_TRY(allocate(law, 3, own_error + 8 * BRUME_UNIT * law->a, error));
    long double a = law->a, others = (long double)law->shift - 1;
    long double normal = log1pl(others * expl(-a)); /* log of (e^a + k - 1) e^{-a} */
    brume_points *p = law->state;                   /* `normal` moves by at most what a does */
    p->loss[0] = law->a;
    p->log_mass[0] = (double)-normal;
    p->loss[1] = -law->a;
    p->log_mass[1] = (double)(-normal - a);
    p->loss[2] = 0;
    p->log_mass[2] = (double)(logl((long double)law->shift - 2) - a - normal);
    law->unit = law->a;
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
    size_t shift = (size_t)law->shift;
    BRUME_TRY(allocate(law, shift + 1, own_error, error));
    brume_points *p = law->state;
    for (size_t x = 0; x <= shift; x++) {
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
    brume_points *p = law->state;
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
    law->orders_differ = true;
    law->top = p->loss[top];
    law->log_top_mass = p->log_mass[top];
}

static long double cumulant(brume_law *law, double c, double *slope, double *error)
{
    return brume_points_cumulant(law->state, c, slope, error);
}

/* For k-ary randomized response: relative to its own size for small c a, and many draws. */
static long double kary_cumulant(brume_law *law, double at, double *slope, double *error)
{
    long double value = brume_points_cumulant(law->state, at, slope, error);
    if (!(at * law->a < 1 && law->a < 50))
        return value;
    /* phi - 1 = f [e^a (e^{ca} - 1) + (e^{-ca} - 1)] = f e^{-ca} (e^{ca} - 1)(e^{(c+1)a} - 1) */
    long double c = at, a = law->a, over = expl(a) + ((long double)law->shift - 1);
    long double rest = expm1l(c * a) * expl(-c * a) * expm1l((c + 1) * a) / over;
    /* its factors move by at most 2 + 2 (c+1) a times what a does, relative: 8 units and the long
     * doubles' own; the logarithm by rest/(1 + rest) of that */
    if (error)
        *error = BRUME_UNIT * (double)(rest / (1 + rest) * (18 + 18 * (c + 1) * a));
    return log1pl(rest);
}

static bool settle(brume_law *law)
{
    brume_points_settle(law->state, law->c);
    return true;
}

static brume_log_psi node(brume_law *law, long index, double h)
{
    return brume_points_node(law->state, index, h);
}

static double envelope(brume_law *law, double low, double high)
{
    return brume_points_envelope(law->state, low, high);
}

/* One draw. */
static bool masses(const brume_law *law, double depth, brume_masses *out)
{
    (void)depth;
    const brume_points *p = law->state;
    double steps = round(2 * law->top / law->unit), deepest = 0;
    if (!(law->unit > 0))
        return false;
    brume_masses c = {.count = (size_t)steps + 1, .draws = 1, .half = 0.5 * steps};
    c.mass = calloc(c.count, sizeof *c.mass);
    if (!c.mass)
        return false;
    for (size_t i = 0; i < p->count; i++) {
        size_t j = (size_t)round((law->top - p->loss[i]) / law->unit);
        c.mass[j] = exp(p->log_mass[i]);
        deepest = fmax(deepest, -p->log_mass[i]);
    }
    c.error = 24 * BRUME_UNIT + p->mass_error + 20 * BRUME_UNIT * deepest;
    *out = c;
    if (deepest < 600)
        return true;
    free(c.mass);
    return false;
}

static void close_points(brume_law *law)
{
    brume_points_close(law->state);
}

static const brume_law_family table_family = {.name = "table of atoms",
                                              .cumulant = cumulant,
                                              .settle = settle,
                                              .node = node,
                                              .envelope = envelope,
                                              .masses = masses,
                                              .close = close_points};
static const brume_law_family kary_family = {.name = "k-ary randomized response",
                                             .cumulant = kary_cumulant,
                                             .settle = settle,
                                             .node = node,
                                             .envelope = envelope,
                                             .masses = masses,
                                             .close = close_points};

const brume_points *brume_table_points(const brume_law *law)
{
    return law->family == &table_family || law->family == &kary_family ||
                   law->source.kind == BRUME_LOSS_POISSON_GAUSSIAN_GROUP
               ? law->state
               : NULL;
}

brume_status brume_table_law_open(brume_law *law, brume_error *error)
{
    law->family = &table_family;
    switch (law->source.kind) {
    case BRUME_LOSS_KARY:
        law->family = &kary_family;
        return open_kary(law, error);
    case BRUME_LOSS_POISSON_DISCRETE_LAPLACE:
        if (law->shift > BRUME_TABLE_MOST_SHIFT)
            return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                              "a sampled discrete Laplace of a shift above %d",
                              BRUME_TABLE_MOST_SHIFT);
        BRUME_TRY(open_discrete_laplace(law, error));
        sample_points(law);
        return BRUME_OK;
    default:
        return open_discrete_laplace(law, error);
    }
}

brume_status brume_law_open_table(const double *loss, const double *log_mass, size_t atoms,
                                  double mass_error, double count, brume_law *out,
                                  brume_error *error)
{
    brume_law law = {.family = &table_family, .count = count, .multiple = 1, .c = -1};
    brume_status status = allocate(&law, atoms, mass_error, error);
    if (status != BRUME_OK) {
        brume_law_close(&law);
        return status;
    }
    brume_points *p = law.state;
    memcpy(p->loss, loss, atoms * sizeof *loss);
    memcpy(p->log_mass, log_mass, atoms * sizeof *log_mass);
    law.top = -INFINITY;
    for (size_t j = 0; j < atoms; j++)
        if (loss[j] > law.top) {
            law.top = loss[j];
            law.log_top_mass = log_mass[j];
        }
    *out = law;
    return BRUME_OK;
}
