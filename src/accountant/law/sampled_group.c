/* A Gaussian release on a Poisson sample, for a group of records of which `come` come while the
 * others leave: a table that dominates it. proofs/accountant/law.md, section law.7.
 *
 * With x the release in units of sigma, d = 1/sigma, i = members - come and j = come, P is the
 * mixture of N(a d, 1) with the weights of Bin(i, q) and Q that of N(-b d, 1) with those of
 * Bin(j, q). The loss l(x) grows with x. The line is cut at places t with l(t) just below a whole
 * multiple of the unit; what lies between two of them, of masses p and q and of losses between l_0
 * and l_1, becomes two atoms at l_0 and l_1 with the same p and q: 1 - u e^-l is convex in e^-l, so
 * its positive part is below its chord, for every u.
 *
 * Promise: composed with whatever else, the table and `lost` at +infinity say at least what P and Q
 * do, for all parameters within 8 units: a larger rate and a smaller sigma say more, and the table
 * is that of parameters moved by 9. Every rounding enlarges a mass or moves it to a larger loss. */
#include "accountant/law/family.h"
#include "accountant/law/points.h"
#include "accountant/law/shift_parameters.h"

#include <stdlib.h>

#include "base/error.h"

enum { MOST = BRUME_GROUP_MOST_MEMBERS };

static const double spacing = 0.04;        /* of the places, in sigma */
static const double farthest = 16.5;       /* beyond the last mean lies less than 1e-60 */
static const double lowest = 12;           /* what lies below is raised: 1e-32 */
static const double finest = 0x1p-17;      /* unit over the largest loss */
static const double least_rate = 2e-4;     /* a smaller one counts as this: its line is too long */
static const long double grain = 0x1p-60L; /* more than one rounding, and one of expl or logl */

typedef struct group_mixture {
    int members;
    long double weight[MOST + 1], log_weight[MOST + 1];
    long double step; /* between the means; negative for Q */
} group_mixture;

typedef struct group_pair {
    group_mixture p, q;
} group_pair;

static void mix(int members, long double rate, long double step, group_mixture *out)
{
    *out = (group_mixture){.members = members, .step = step};
    long double ways = 1;
    for (int a = 0; a <= members; a++) {
        out->weight[a] = ways * powl(rate, a) * powl(1 - rate, members - a);
        out->log_weight[a] = logl(out->weight[a]); /* -infinity where the rate is 1 */
        ways = ways * (members - a) / (a + 1);
    }
}

/* --- the loss at a place --- */

/* log of the mixture's density over that of N(0, 1), its slope, and a bound of its error: the
 * weights by 3 roundings a member, the exponents by 4 of their own, the logarithm of the sum. */
static long double log_ratio(const group_mixture *m, long double x, long double *slope,
                             long double *error)
{
    long double exponent[MOST + 1] = {0}, most = -INFINITY, moment = 0, size = 0;
    for (int a = 0; a <= m->members; a++) {
        long double mean = a * m->step, shift = mean * (x - mean / 2);
        exponent[a] = m->log_weight[a] + shift;
        most = fmaxl(most, exponent[a]);
        if (isfinite(exponent[a])) /* mean x and mean^2/2 may cancel */
            size = fmaxl(size, fabsl(m->log_weight[a]) + fabsl(mean * x) + mean * mean);
    }
    long double sum = expl(exponent[0] - most);
    for (int a = 1; a <= m->members; a++) {
        long double part = expl(exponent[a] - most);
        sum += part;
        moment += part * a * m->step;
    }
    *slope += moment / sum;
    *error += grain * (32 + 8 * m->members + 8 * size);
    return most + logl(sum);
}

static long double loss_at(const group_pair *of, long double x, long double *slope,
                           long double *error)
{
    long double up = 0, down = 0;
    *error = 0;
    long double p = log_ratio(&of->p, x, &up, error), q = log_ratio(&of->q, x, &down, error);
    if (slope)
        *slope = up - down;
    return p - q;
}

/* --- masses between places --- */

/* P[N(0,1) > y], and a bound of its error: y is off by `off`, and the density over the tail is at
 * most |y| + 1. */
static long double tail(long double y, long double off, long double *error)
{
    long double value = 0.5L * erfcl(y * 0.70710678118654752440L);
    *error = value * (64 * grain + 2 * (fabsl(y) + 1) * (off + fabsl(y) * grain));
    return value;
}

/* The mass of N(mean, 1) in (from, to), of which either may be infinite, within *error. */
static long double between(long double from, long double to, long double mean, long double *error)
{
    long double low = from - mean, high = to - mean, one, two;
    long double off = isfinite(from) ? grain * (fabsl(from) + fabsl(mean)) : 0;
    long double far = isfinite(to) ? grain * (fabsl(to) + fabsl(mean)) : 0;
    bool left = low + high < 0; /* the side on which less cancels */
    long double inner = tail(left ? -high : low, left ? far : off, &one);
    long double outer = tail(left ? -low : high, left ? off : far, &two);
    if (!isfinite(left ? low : high))
        outer = two = 0;
    if (!isfinite(left ? high : low))
        one = 0; /* all of it: exactly 1 */
    *error = one + two + (inner + outer) * grain;
    return inner - outer;
}

/* Up or down, as `side` is 1 or -1. */
static long double mass_between(const group_mixture *m, long double from, long double to, int side)
{
    long double sum = 0;
    for (int a = 0; a <= m->members; a++) {
        long double error, one = between(from, to, a * m->step, &error);
        sum += m->weight[a] * fmaxl(one + side * error, 0);
    }
    return sum * (1 + side * grain * (16 + 8 * m->members));
}

/* --- the places and their losses --- */

typedef struct group_place {
    double x;
    double index;      /* of its loss, in units */
    long double below; /* how far the loss is below that, at most */
} group_place;

/* Move to where the loss is just below `goal`, which it reaches between `low` and `high`. False if
 * rounding hides the place. */
static bool find_place(const group_pair *of, long double goal, double low, double high,
                       group_place *out)
{
    long double slope, error, x = high, aside = 0;
    double first = low;
    for (int i = 0; i < 60; i++) {
        long double loss = loss_at(of, x, &slope, &error);
        if (loss + error <= goal && goal - loss <= 64 * error + 0x1p-50L * slope * fabsl(x)) {
            out->x = (double)x;
            out->below = goal - loss + error;
            return out->x > first;
        }
        *(loss > goal ? &high : &low) = (double)x;
        aside = i > 4 ? 2 * aside + error : error;
        long double next = x + (goal - loss - 2 * aside) / slope;
        if (!(next > low && next < high))
            next = 0.5L * low + 0.5L * high;
        x = (double)next;
    }
    return false;
}

/* The deviation of the loss under P, about. */
static double deviation(const group_pair *of, double from, double to)
{
    long double all = 0, first = 0, second = 0, error;
    for (double x = from; x < to; x += 0.05) {
        long double loss = loss_at(of, x, NULL, &error),
                    mass = mass_between(&of->p, x, x + 0.05, 1);
        all += mass;
        first += mass * loss;
        second += mass * loss * loss;
    }
    return sqrt((double)fmaxl(second / all - first / all * (first / all), 0));
}

/* Places from left to right, at most `most`; returns how many. */
static size_t lay_places(const group_pair *of, double from, double to, double unit, size_t most,
                         group_place *out)
{
    long double error;
    size_t count = 0;
    double last = -INFINITY, before = from;
    /* where none comes the loss has a least value, where none leaves a largest one */
    long double least = of->p.log_weight[0], largest = -of->q.log_weight[0];
    if (of->q.members == 0 && isfinite(least))
        out[count++] = (group_place){
            .x = -INFINITY, .index = last = floor((double)(least / unit * (1 + 64 * grain)))};
    for (double x = from; x < to && count + 1 < most; x += spacing) {
        double index = floor((double)(loss_at(of, x, NULL, &error) / unit));
        if (index > last && x > from &&
            find_place(of, (long double)index * unit, before, x, &out[count])) {
            out[count++].index = index;
            before = out[count - 1].x;
        }
        last = fmax(last, index);
    }
    if (of->p.members == 0 && isfinite(largest))
        out[count++] = (group_place){
            .x = INFINITY,
            .index = fmax(ceil((double)(largest / unit * (1 + 64 * grain))), last + 1)};
    return count;
}

/* --- the table --- */

/* Between two places: p at losses from l_0 - below to l_1. Its share at l_1 is (p - q e^l_0)/(1 -
 * e^{l_0 - l_1}), q as if no loss were below l_0; up. */
static void share(const group_pair *of, const group_place *low, const group_place *high,
                  double unit, long double *lower, long double *upper)
{
    long double p = mass_between(&of->p, low->x, high->x, 1);
    long double q = mass_between(&of->q, low->x, high->x, -1);
    long double zero = (long double)low->index * unit, apart = (high->index - low->index) * unit;
    long double rest = q > 0 ? expl(zero - low->below + logl(q)) : 0;
    rest *= 1 - grain * (16 + 2 * fabsl(zero) + 2 * (q > 0 ? fabsl(logl(q)) : 0));
    long double part = (p - rest) / -expm1l(-apart) * (1 + 16 * grain);
    part = fminl(fmaxl(part, 0), p);
    *upper += part;
    *lower += (p - part) * (1 + 4 * grain);
}

static brume_status fill(brume_law *law, const group_pair *of, const group_place *places,
                         size_t count, brume_error *error)
{
    long double *mass = calloc(count, sizeof *mass);
    if (!mass)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for a loss table");
    /* what lies below the first place counts as there, what lies beyond the last as lost */
    double first = places[0].x, last = places[count - 1].x;
    if (isfinite(first))
        mass[0] = mass_between(&of->p, -INFINITY, first, 1);
    if (isfinite(last))
        law->lost = (double)(mass_between(&of->p, last, INFINITY, 1) * (1 + 0x1p-50L));
    for (size_t i = 0; i + 1 < count; i++)
        share(of, &places[i], &places[i + 1], law->unit, &mass[i], &mass[i + 1]);
    size_t used = 0;
    brume_points *p = law->state;
    for (size_t i = 0; i < count; i++)
        used += mass[i] > 0;
    if (!brume_points_allocate(p, used)) {
        free(mass);
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for a loss table");
    }
    used = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(mass[i] > 0))
            continue;
        p->loss[used] = places[i].index * law->unit; /* exact: few bits */
        p->log_mass[used] = (double)logl(mass[i] * (1 + 0x1p-50L));
        p->place[used++] = 0;
    }
    free(mass);
    p->mass_error = 4 * BRUME_UNIT;
    law->top = p->loss[used - 1];
    law->log_top_mass = p->log_mass[used - 1];
    return BRUME_OK;
}

static long double cumulant(brume_law *law, double c, double *slope, double *error)
{
    return brume_points_cumulant(law->state, c, slope, error);
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

static double node_cost(const brume_law *law)
{
    return 200 + 1.5 * (double)((const brume_points *)law->state)->count;
}

static void close_points(brume_law *law)
{
    brume_points_close(law->state);
}

static const brume_law_family family = {.name = "group on a Poisson sample",
                                        .cumulant = cumulant,
                                        .settle = settle,
                                        .node = node,
                                        .envelope = envelope,
                                        .node_cost = node_cost,
                                        .close = close_points};

brume_status brume_sampled_group_open(brume_law *law, brume_error *error)
{
    enum { MOST_PLACES = 8192 };
    uint64_t members = law->source.shift;
    if (members > MOST || law->come > members)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "a group on a sample of more than %d",
                          MOST);
    law->family = &family;
    law->orders_differ = true;
    law->members = members;
    law->bounded = true;
    BRUME_TRY(brume_law_allocate(law, sizeof(brume_points), error));
    group_pair of;
    long double rate = fmin(1, brume_parameter_moved(fmax(law->rate, least_rate), 1));
    long double step = 1 / (long double)brume_parameter_moved(law->a, -1);
    mix((int)(members - law->come), rate, step, &of.p);
    mix((int)law->come, rate, -step, &of.q);
    double to = (double)(of.p.members * of.p.step) + farthest;
    long double unused;
    double largest = fabs((double)loss_at(&of, to, NULL, &unused));
    double wanted = fmax(spacing * deviation(&of, -lowest, to), finest * largest);
    law->unit = exp2(floor(log2(wanted)));
    group_place *places = calloc(MOST_PLACES, sizeof *places);
    if (!places)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for a loss table");
    size_t count = lay_places(&of, -lowest, to, law->unit, MOST_PLACES, places);
    brume_status status = count > 1 ? fill(law, &of, places, count, error)
                                    : brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                                                 "a group on a sample whose loss is too small");
    free(places);
    return status;
}
