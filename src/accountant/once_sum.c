/* Sums over atoms of a table. See the header; proofs/accountant.md, section 22.
 *
 *   delta(eps) = e^{eps/2} sum over outer terms o of c_o sum over inner atoms a of
 *                p(a) e^{-a/2} J_k(eps - l_o - a),
 * J_0 = f, J_k its integrals. The inner atoms are those of the law with the most of them; an outer
 * term is an atom of each other lattice law and a shift of the Laplaces, which has the order k.
 * Promise: the two sides bound delta for every parameter within its 8 units. */
#include "accountant/once_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/once_terms.h"
#include "accountant/sampled_table.h"
#include "number/paths.h"

static const double unit = BRUME_UNIT;
static const double farthest = 500; /* from the middle, so that no exponential underflows */

enum { LANES = BRUME_ONCE_LANES, NODES = BRUME_PANEL_NODES };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8)));

struct brume_once_sum {
    brume_sampled_table table;
    brume_once_terms terms;
    double least;                 /* epsilon: below it the table ends */
    double epsilon, value, error; /* the last sum; value and error of delta */
};

void brume_once_sum_close(brume_once_sum *sum)
{
    if (!sum)
        return;
    brume_sampled_table_close(&sum->table);
    brume_once_terms_close(&sum->terms);
    free(sum);
}

size_t brume_once_sum_size(const brume_once_sum *sum)
{
    return (size_t)sum->terms.pairs;
}

/* The largest and the least place of a pair, and the highest order. */
static size_t extent(const brume_once_terms *terms, double *least, double *most)
{
    size_t order = 0;
    *least = INFINITY;
    *most = -INFINITY;
    for (size_t i = 0; i < terms->outer_count; i++) {
        const brume_outer *o = &terms->outers[i];
        if (o->first >= o->last)
            continue;
        order = o->order > order ? o->order : order;
        *most = fmax(*most, o->place + terms->top - terms->step * (double)o->first);
        *least = fmin(*least, o->place + terms->top - terms->step * (double)(o->last - 1));
    }
    return order;
}

brume_once_sum *brume_once_sum_open(const brume_law *sampled, const brume_law *others, size_t count,
                                    double least, double delta, double most_pairs)
{
    if (!(delta > 1e-200) || !(delta <= 1) || !(least > -200))
        return NULL;
    brume_once_sum *sum = calloc(1, sizeof *sum);
    if (!sum)
        return NULL;
    sum->epsilon = NAN;
    sum->least = least;
    const brume_once_terms *terms = &sum->terms;
    double low, high;
    bool alive = brume_once_terms_open(others, count, delta, most_pairs, !sampled, &sum->terms);
    if (alive) {
        size_t order = extent(terms, &low, &high);
        alive = order < BRUME_TABLE_ORDERS && low <= high && terms->spread <= farthest &&
                terms->step > 100 * (terms->place_error + 8 * unit * terms->reach);
        if (alive && (sampled || order > 0))
            alive = brume_sampled_table_open(sampled, fmin(least - high, 0) - 1e-6, 250,
                                             1e-14 * delta, order + 1, &sum->table);
    }
    if (!alive) {
        brume_once_sum_close(sum);
        return NULL;
    }
    return sum;
}

/* --- summing --- */

/* sum of weight[i] P(y + i turn), i < count, and of the weights. */
BRUME_BODY void run_body(const double *row, double y, double turn, const double *weight,
                         size_t count, double *out, double *mass)
{
    lanes total = {0}, weights = {0}, place;
    for (size_t l = 0; l < LANES; l++)
        place[l] = y + (double)l * turn;
    for (size_t i = 0; i < count; i += LANES) {
        lanes at = place + (double)i * turn, own, value;
        memcpy(&own, weight + i, sizeof own);
        if (count - i < LANES)
            for (size_t l = count - i; l < LANES; l++)
                own[l] = at[l] = 0;
        value = at * row[NODES - 1] + row[NODES - 2];
        for (size_t k = NODES - 2; k-- > 0;)
            value = value * at + row[k];
        total += own * value;
        weights += own;
    }
    double sum = 0;
    *mass = 0;
    for (size_t l = 0; l < LANES; l++) {
        sum += total[l];
        *mass += weights[l];
    }
    *out = sum;
}
BRUME_PATHS(static, run,
            (const double *row, double y, double turn, const double *weight, size_t count,
             double *out, double *mass),
            (row, y, turn, weight, count, out, mass))

/* The inner sum of an outer term; *error bounds what its polynomials and places do to it. */
static double inner_sum(const brume_once_sum *sum, const brume_outer *o, double epsilon,
                        double *error)
{
    const brume_sampled_table *t = &sum->table;
    const brume_once_terms *terms = &sum->terms;
    double start = epsilon - o->place - terms->top, value = 0, off = 0, mass;
    double place_error = terms->place_error + 8 * unit * (fabs(epsilon) + terms->reach);
    size_t j = o->first, low = 0, high = t->count;
    double x = start + terms->step * (double)j;
    while (low < high) { /* the first panel that ends beyond x */
        size_t middle = (low + high) / 2;
        if (t->panels[middle].high > x)
            high = middle;
        else
            low = middle + 1;
    }
    for (size_t p = low; j < o->last && p < t->count; p++) {
        const brume_sampled_panel *panel = &t->panels[p];
        if (panel->high <= x)
            continue;
        double steps = ceil((panel->high - start) / terms->step);
        size_t end = steps < (double)o->last ? (size_t)fmax(steps, 0) : o->last;
        if (end <= j)
            end = j + 1; /* next to the panel's end */
        size_t at = p * t->orders + o->order;
        double part;
        run(t->rows + at * NODES, (x - panel->centre) * panel->scale, terms->step * panel->scale,
            terms->weight + j, end - j, &part, &mass);
        value += part;
        off += mass * (t->errors[at] + (place_error + 8 * unit / panel->scale) * t->slopes[at]);
        j = end;
        x = start + terms->step * (double)j;
    }
    if (j < o->last) { /* beyond the table; next to its end also by the place's error */
        size_t end = (t->count - 1) * t->orders + o->order;
        double last = t->panels[t->count - 1].high, slope = t->slopes[end];
        /* it falls at least as e^{-x/2} */
        double most = 1.01 * t->beyond[o->order] * exp(fmin(0.5 * (last - x), 0));
        for (size_t i = j; i < o->last; i++) {
            bool near = start + terms->step * (double)i < last + 4 * place_error;
            if (!near && most == 0)
                break;
            off += terms->weight[i] * (most + (near ? place_error * slope : 0));
        }
    }
    *error = off;
    return value;
}

/* An outer term of order 0 without a sampled draw, with its weight, E = epsilon less its place and
 * scale = e^{(epsilon - middle)/2}: mass/scale sum of p - mass scale tilt^2 sum of p e^{-a}, over
 * the atoms above E. */
static double closed_term(const brume_once_terms *terms, const brume_outer *o, double epsilon,
                          double scale, double *size)
{
    double steps = ceil((epsilon - o->place - terms->top) * -terms->per_step);
    size_t end = !(steps > 0)                         ? 0
                 : steps < (double)terms->inner_count ? (size_t)steps
                                                      : terms->inner_count;
    size_t next = end < terms->inner_count ? end + 1 : end; /* it may be above after all */
    double left = o->weight / (o->tilt * scale), right = o->weight * o->tilt * scale;
    double most = o->size / (o->tilt * scale), least = o->size * o->tilt * scale;
    *size = most * (double)terms->upper[next] + least * (double)terms->lower[next];
    return left * (double)terms->upper[end] - right * (double)terms->lower[end];
}

static void evaluate(brume_once_sum *sum, double epsilon)
{
    const brume_once_terms *terms = &sum->terms;
    double value = 0, size = 0, error = 0, both = 0, scale = exp(0.5 * (epsilon - terms->middle));
    for (size_t i = 0; i < terms->outer_count; i++) {
        const brume_outer *o = &terms->outers[i];
        if (o->first >= o->last)
            continue;
        double off, inner;
        if (terms->none && o->order == 0) {
            value += inner = closed_term(terms, o, epsilon, scale, &off);
            both += off;
            size += fabs(inner);
            continue;
        }
        inner = inner_sum(sum, o, epsilon, &off);
        value += o->weight * inner;
        size += o->size * fabs(inner);
        error += o->size * off;
    }
    /* sums: one unit a term of the longer, as all inner terms are positive; products and exp */
    double rounding = terms->weight_error +
                      unit * ((double)terms->inner_count + (double)terms->outer_count + 64 +
                              8 * (fabs(epsilon) + terms->reach));
    /* the slope of f is cosh(x/2): half of both parts; exponentials, products and the long sums */
    double place_error = terms->place_error + 8 * unit * (fabs(epsilon) + terms->reach);
    error += both * (0.51 * place_error + terms->tilt_error + 24 * unit +
                     0x1p-60 * (double)terms->inner_count);
    sum->epsilon = epsilon;
    sum->value = scale * value;
    sum->error = 1.01 *
                 (scale * (error + (size + error) * rounding + 8 * unit * size) + terms->missed);
}

double brume_once_sum_delta(brume_once_sum *sum, double epsilon, brume_side side)
{
    const brume_once_terms *terms = &sum->terms;
    if (epsilon > terms->middle + farthest) { /* delta falls */
        if (side == BRUME_LOWER_SIDE)
            return 0;
        epsilon = terms->middle + farthest;
    }
    bool inside = epsilon >= sum->least && epsilon >= terms->middle - farthest;
    if (epsilon != sum->epsilon && inside)
        evaluate(sum, epsilon);
    if (!inside || !(sum->error < 1)) /* not a number, too */
        return side == BRUME_UPPER_SIDE ? 1 : 0;
    if (side == BRUME_UPPER_SIDE)
        return fmin(sum->value + sum->error, 1);
    return fmax(sum->value - sum->error, 0);
}
