/* A pair from a curve: the lower convex hull of what its moments say of the profile. */
#include "accountant/curves.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/renyi.h"
#include "base/error.h"

enum { ORDERS = 96, ABOVE = 192, BELOW = 64, VERTICES = ABOVE + BELOW + 2 };

typedef struct moments {
    double c[ORDERS], k[ORDERS]; /* K(c) <= k: log E e^{cL} of one release */
    double tail[ORDERS];         /* c log c - (c+1) log(c+1) */
} moments;

/* log D(u) <= min over c of K(c) - c eps + c log c - (c+1) log(c+1), with its roundings added. */
static double log_profile(const moments *m, double epsilon)
{
    double best = 0;
    for (int i = 0; i < ORDERS; i++) {
        double c = m->c[i], tail = m->tail[i];
        double bound = m->k[i] - c * epsilon + tail;
        double slack = 1e-14 * (1 + fabs(m->k[i]) + fabs(c * epsilon) + fabs(tail));
        best = fmin(best, bound + slack);
    }
    return best;
}

/* An upper bound of D at u = e^eps; for eps < 0 by D(u) = 1 - u + u D'(1/u), D' the other order,
 * which has the same curve. */
static double profile_upper(const moments *m, double epsilon)
{
    if (epsilon >= 0)
        return fmin(1, exp(log_profile(m, epsilon)) * (1 + 1e-14));
    return fmin(1, (-expm1(epsilon) + exp(epsilon + log_profile(m, -epsilon))) * (1 + 1e-14));
}

static void fill_moments(const brume_cost *cost, moments *m)
{
    for (int i = 0; i < ORDERS; i++) {
        double c = exp2(-6 + 0.2 * i); /* 1/64 .. 8192 */
        m->c[i] = c;
        m->tail[i] = c * log(c) - (c + 1) * log1p(c);
        m->k[i] = c * brume_renyi_upper(cost, 1 + c) * (1 + 4 * BRUME_UNIT);
        if (!isfinite(m->k[i]))
            m->k[i] = INFINITY;
    }
}

/* Keep the lower convex hull of the points (u, d), u increasing; returns how many. */
static size_t convex_hull(double *u, double *d, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        while (kept >= 2 && (d[kept - 1] - d[kept - 2]) * (u[i] - u[kept - 1]) >=
                                (d[i] - d[kept - 1]) * (u[kept - 1] - u[kept - 2]))
            kept--;
        u[kept] = u[i];
        d[kept] = d[i];
        kept++;
    }
    return kept;
}

brume_status brume_curve_pair(const brume_cost *cost, double count, double smallest, brume_law *law,
                              double *failure, brume_error *error)
{
    moments m;
    fill_moments(cost, &m);
    double goal = log(smallest) - log(count) - 7, most = 1;
    while (most < 1e4 && log_profile(&m, most) > goal)
        most *= 1.5;
    double u[VERTICES], d[VERTICES], loss[VERTICES], mass[VERTICES];
    size_t points = 0;
    u[points] = 0; /* D(0) <= 1 */
    d[points++] = 1;
    for (int i = 0; i < BELOW + ABOVE; i++) {
        double epsilon = i < BELOW ? fmin(most, 30) * (i - BELOW) / BELOW
                                   : most * (i - BELOW) / ABOVE;
        if (epsilon > 700)
            break;
        u[points] = exp(epsilon);
        d[points++] = profile_upper(&m, epsilon);
    }
    points = convex_hull(u, d, points);
    /* beyond the last vertex D is at most its value there: that much lies at +infinity */
    double rest = d[points - 1];
    size_t atoms = 0;
    for (size_t i = 1; i < points; i++) {
        double left = (d[i] - d[i - 1]) / (u[i] - u[i - 1]);
        double right = i + 1 < points ? (d[i + 1] - d[i]) / (u[i + 1] - u[i]) : 0;
        double p = u[i] * (right - left);
        if (!(p > 0))
            continue;
        loss[atoms] = log(u[i]);
        mass[atoms++] = p;
    }
    /* the table's own profile must not be below the hull at any vertex: what is missing through
     * rounding goes to +infinity */
    double missing = 0;
    long double inverse[VERTICES];
    for (size_t i = 0; i < atoms; i++)
        inverse[i] = expl(-(long double)loss[i]);
    for (size_t j = 0; j < points; j++) {
        long double sum = rest;
        for (size_t i = 0; i < atoms; i++) {
            long double gap = 1 - (long double)u[j] * inverse[i];
            if (gap > 0)
                sum += mass[i] * gap;
        }
        missing = fmax(missing, (double)(d[j] - sum));
    }
    *failure = (rest + missing) * (1 + 8 * BRUME_UNIT) + 1e-18;
    /* the law given that it is finite: over the sum, which is 1 - rest to a few units */
    double total = 0;
    for (size_t i = 0; i < atoms; i++)
        total += mass[i];
    for (size_t i = 0; i < atoms; i++)
        mass[i] = log(mass[i] / total);
    if (atoms == 0) { /* nothing finite at all */
        loss[0] = 0;
        mass[0] = 0;
        *failure = 1;
        atoms = 1;
    }
    return brume_law_open_table(loss, mass, atoms, 512 * BRUME_UNIT, count, law, error);
}
