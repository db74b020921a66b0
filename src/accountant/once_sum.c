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

#include "accountant/masses.h"
#include "accountant/sampled_table.h"

static const double unit = BRUME_UNIT;
static const double most_products = 4e6; /* of all convolutions, a millisecond or two */
static const size_t most_outer = 60000;
static const double farthest = 500; /* from the middle, so that no exponential underflows */

enum { MOST_LAWS = 12, LANES = 8, NODES = BRUME_PANEL_NODES };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8)));

/* One outer term. */
typedef struct outer {
    double place;       /* l_o */
    double weight;      /* c_o; negative ones come from the Laplaces' integrals */
    double size;        /* at least its modulus: what its relative error is of */
    double tilt;        /* e^{-l_o/2}, from the middle on */
    double bound;       /* its pairs with inner atoms of mass p count at most bound p in delta */
    size_t order;       /* k */
    size_t first, last; /* its inner atoms that count */
} outer;

struct brume_once_sum {
    brume_sampled_table table;
    outer *outers;
    size_t outer_count;
    double *weight;             /* inner: p e^{-a/2}, a from its middle on */
    bool none;                  /* there is no sampled draw; then for j = 0, 1 .. count: */
    long double *upper, *lower; /* the sums of p and of p e^{-a} over the inner atoms before j */
    size_t inner_count;
    double top, step;    /* inner losses are top - step j */
    double missed;       /* what was left out counts at most that, in delta */
    double weight_error; /* relative, of every product of weights */
    double place_error;  /* of every place */
    double reach;        /* of the largest place */
    double middle;       /* weights carry e^{-(place - middle)/2}: the sum of the laws' middles */
    double inner_middle; /* the inner law's part of it */
    double spread;       /* how far from there places are at most */
    double tilt_error;   /* relative, of every product of tilts, squared */
    double per_step;     /* 1/step */
    double pairs;
    double least;                 /* epsilon: below it the table ends */
    double epsilon, value, error; /* the last sum; value and error of delta */
};

void brume_once_sum_close(brume_once_sum *sum)
{
    if (!sum)
        return;
    brume_sampled_table_close(&sum->table);
    free(sum->outers);
    free(sum->weight);
    free(sum->upper);
    free(sum);
}

size_t brume_once_sum_size(const brume_once_sum *sum)
{
    return (size_t)sum->pairs;
}

/* --- outer terms --- */

/* Every outer term so far beside `count` more, whose places are relative. */
static bool join(brume_once_sum *sum, const outer *more, size_t count, double floor_)
{
    if (sum->outer_count * count > 4 * most_outer)
        return false;
    outer *out = malloc((sum->outer_count * count + 1) * sizeof *out);
    if (!out)
        return false;
    size_t at = 0;
    double lost = 0;
    for (size_t i = 0; i < sum->outer_count; i++)
        for (size_t j = 0; j < count; j++) {
            const outer *a = &sum->outers[i], *b = &more[j];
            outer o = {.place = a->place + b->place,
                       .weight = a->weight * b->weight,
                       .size = a->size * b->size,
                       .tilt = a->tilt * b->tilt,
                       .bound = a->bound * b->bound,
                       .order = a->order + b->order};
            if (o.bound < floor_)
                lost += o.bound;
            else
                out[at++] = o;
        }
    free(sum->outers);
    sum->outers = out;
    sum->outer_count = at;
    sum->missed += 1.001 * lost;
    return at <= most_outer;
}

/* The place of the j-th atom, and of the one in the middle. */
static double place_of(const brume_masses *m, double step, size_t j)
{
    return m->centre + step * (m->half - (double)j);
}

static double middle_of(const brume_masses *m, double step)
{
    return place_of(m, step, m->count / 2);
}

/* What a law's masses do to all errors: 22 units of a place, for the unit by 16 and a product. */
static void count_masses(brume_once_sum *sum, const brume_masses *m, double step)
{
    double most = fabs(m->centre) + step * fmax(fabs(m->half), fabs(m->half - (double)m->count));
    sum->missed += 1.001 * m->missed;
    sum->middle += middle_of(m, step);
    sum->spread += step * (double)m->count;
    sum->reach += most;
    sum->place_error += 22 * unit * most;
    /* the mass; exp, whose argument is off by half the place's error, and two products */
    sum->weight_error += m->error + 8 * unit + 12 * unit * most;
    /* twice exp, and its argument's rounding; the middles' */
    sum->tilt_error += unit * (16 + 8 * most + 4 * step * (double)m->count);
}

static bool join_masses(brume_once_sum *sum, const brume_masses *m, double step, double floor_)
{
    outer *more = calloc(m->count, sizeof *more);
    if (!more)
        return false;
    for (size_t j = 0; j < m->count; j++) {
        double place = place_of(m, step, j);
        double tilt = exp(-0.5 * (place - middle_of(m, step))), weight = m->mass[j] * tilt;
        more[j] = (outer){
            .place = place, .weight = weight, .size = weight, .tilt = tilt, .bound = m->mass[j]};
    }
    count_masses(sum, m, step);
    bool alive = join(sum, more, m->count, floor_);
    free(more);
    return alive;
}

/* The orders that n Laplace draws need: more draws than that are between their ends with a
 * probability of at most `floor_`. 0 if they are too many. */
static size_t laplace_orders(const brume_law *law, double floor_, double *beyond)
{
    double n = law->count, inside = -0.5 * expm1(-law->a * 1.0001), chance = 1;
    for (size_t k = 0; k < BRUME_TABLE_ORDERS; k++) {
        *beyond = 0;
        if (!((double)k < n))
            return k + 1;
        chance *= (n - (double)k) / (double)(k + 1) * inside; /* C(n, k+1) p^{k+1}: more than k */
        *beyond = 1.001 * chance;
        if (chance <= floor_)
            return k + 1;
    }
    return 0;
}

/* n draws of a Laplace: e^{-ne/2}/2^n sum over k of C(n,k)/2^k J_k (S+ + S-)^{n-k} (S+ - S-)^k. */
static bool join_laplace(brume_once_sum *sum, const brume_law *law, double floor_)
{
    double n = law->count, e = law->a, beyond;
    size_t orders = laplace_orders(law, floor_, &beyond), shifts = (size_t)n + 1;
    if (orders == 0)
        return false;
    outer *more = calloc(shifts * orders, sizeof *more);
    double *row = calloc(2 * shifts, sizeof *row), *plain = row ? row + shifts : NULL;
    bool alive = more && row;
    double choose = 1, scale = exp(-0.5 * n * e) * exp2(-n);
    for (size_t k = 0; alive && k < orders; k++) {
        /* (1+z)^{n-k} (1-z)^k, by factors: each rounds by one unit of the same with 1+z alone */
        memset(row, 0, shifts * sizeof *row);
        row[0] = 1;
        for (size_t i = 0; i + 1 < shifts; i++)
            for (size_t j = i + 1; j > 0; j--)
                row[j] += i < k ? -row[j - 1] : row[j - 1];
        for (size_t i = 0; i < shifts; i++) {
            double place = (n - 2 * (double)i) * e, weight = scale * choose * row[i];
            double size = scale * choose * (k == 0 ? row[i] : plain[i]);
            if (k == 0)
                plain[i] = row[i];
            /* f and its integrals are at most 2^k e^{-x/2} */
            more[k * shifts + i] = (outer){
                .place = place,
                .weight = weight,
                .size = size,
                .tilt = exp(-0.5 * place),
                .bound = 1.001 * ldexp(fabs(weight) + 1e-12 * size, (int)k) * exp(0.5 * place),
                .order = k};
        }
        choose *= (n - (double)k) / (double)(k + 1) * 0.5;
    }
    sum->missed += beyond;
    sum->reach += n * e;
    sum->spread += n * e;
    sum->place_error += 10 * unit * n * e;
    sum->weight_error += unit * (64 + 6 * n * e + 4 * n);
    sum->tilt_error += unit * (16 + 8 * n * e);
    alive = alive && join(sum, more, shifts * orders, floor_);
    free(more);
    free(row);
    return alive;
}

/* --- opening --- */

/* The inner atoms that count beside each outer term: masses below the floor at either end do not.
 */
static bool set_ranges(brume_once_sum *sum, const brume_masses *m, double floor_, double most_pairs)
{
    size_t count = m->count;
    double *memory = malloc(4 * (count + 1) * sizeof *memory), lost = 0;
    if (!memory)
        return false;
    double *rise = memory, *fall = rise + count + 1; /* the largest mass up to j, and from j on */
    double *before = fall + count + 1, *after = before + count + 1; /* the sums of those outside */
    rise[0] = before[0] = after[count] = fall[count] = 0;
    for (size_t j = 0; j < count; j++) {
        rise[j + 1] = fmax(rise[j], m->mass[j]);
        before[j + 1] = before[j] + m->mass[j];
        size_t k = count - 1 - j;
        fall[k] = fmax(fall[k + 1], m->mass[k]);
        after[k] = after[k + 1] + m->mass[k];
    }
    sum->pairs = 0;
    for (size_t i = 0; i < sum->outer_count; i++) {
        outer *o = &sum->outers[i];
        if (sum->none && o->order == 0) { /* all: they cost nothing */
            o->first = 0;
            o->last = count;
            sum->pairs += 4;
            continue;
        }
        double least = floor_ / o->bound;
        size_t low = 0, high = count; /* the first j with rise[j+1] >= least */
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (rise[middle + 1] >= least)
                high = middle;
            else
                low = middle + 1;
        }
        o->first = low;
        low = o->first, high = count; /* the first j with fall[j] < least */
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (fall[middle] < least)
                high = middle;
            else
                low = middle + 1;
        }
        o->last = low;
        lost += o->bound * (before[o->first] + after[o->last]);
        sum->pairs += (double)(o->last - o->first);
    }
    sum->missed += 1.001 * lost;
    free(memory);
    return sum->pairs <= most_pairs;
}

/* The sums of p and p e^{-a} from the largest loss on: relative errors of 2^-62 a term, and of exp
 * twice. */
static void set_sums(brume_once_sum *sum, const brume_masses *m, double step)
{
    sum->upper = malloc(2 * (m->count + 1) * sizeof *sum->upper);
    if (!sum->upper)
        return;
    sum->lower = sum->upper + m->count + 1;
    sum->upper[0] = sum->lower[0] = 0;
    double from = step * (double)(m->count / 2); /* the first atom, from the middle on */
    long double factor = expl(-(long double)from), turn = expl((long double)step);
    for (size_t j = 0; j < m->count; j++, factor *= turn) {
        sum->upper[j + 1] = sum->upper[j] + m->mass[j];
        sum->lower[j + 1] = sum->lower[j] + m->mass[j] * factor;
    }
}

/* All laws but the inner one, and then the inner one. */
static bool gather(brume_once_sum *sum, const brume_law *laws, size_t count, double delta,
                   double most_pairs)
{
    brume_masses masses[MOST_LAWS] = {{0}};
    double work = 0, depth = 32 - log(delta), floor_ = exp(-depth);
    size_t inner = count;
    bool alive = true;
    for (size_t i = 0; i < count && alive; i++) {
        if (laws[i].kind == BRUME_LAW_LAPLACE) {
            alive = laws[i].count <= 400; /* shifts of one kind */
            continue;
        }
        alive = brume_masses_open(&laws[i], depth, most_products, &work, &masses[i]);
        if (alive && (inner == count || masses[i].count > masses[inner].count))
            inner = i;
    }
    double one = 1;
    brume_masses alone = {.mass = &one, .count = 1};
    brume_masses *last = inner < count ? &masses[inner] : &alone;
    double step = inner < count ? laws[inner].unit : 1;
    for (size_t i = 0; i < count && alive; i++) {
        double rare = 1e-3 * floor_ / (double)last->count;
        if (laws[i].kind == BRUME_LAW_LAPLACE)
            alive = join_laplace(sum, &laws[i], rare);
        else if (i != inner)
            alive = join_masses(sum, &masses[i], step = laws[i].unit, rare);
    }
    step = inner < count ? laws[inner].unit : 1;
    if (alive) {
        count_masses(sum, last, inner < count ? step : 0);
        sum->inner_middle = inner < count ? middle_of(last, step) : 0;
        sum->weight = calloc(last->count + LANES, sizeof *sum->weight);
        sum->inner_count = last->count;
        sum->top = last->centre + step * last->half;
        sum->step = step;
        sum->per_step = 1 / step;
        bool needed = !sum->none; /* else sums take its place */
        for (size_t i = 0; i < sum->outer_count; i++)
            needed = needed || sum->outers[i].order > 0;
        for (size_t j = 0; sum->weight && needed && j < last->count; j++)
            sum->weight[j] = last->mass[j] *
                             exp(-0.5 * (place_of(last, step, j) - sum->inner_middle));
        if (sum->none)
            set_sums(sum, last, step);
        alive = sum->weight && sum->outer_count > 0 && (!sum->none || sum->upper) &&
                set_ranges(sum, last, floor_ / ((double)sum->outer_count * (double)last->count),
                           most_pairs);
    }
    for (size_t i = 0; i < count; i++)
        brume_masses_close(&masses[i]);
    return alive;
}

/* The largest and the least place of a pair, and the highest order. */
static size_t extent(const brume_once_sum *sum, double *least, double *most)
{
    size_t order = 0;
    *least = INFINITY;
    *most = -INFINITY;
    for (size_t i = 0; i < sum->outer_count; i++) {
        const outer *o = &sum->outers[i];
        if (o->first >= o->last)
            continue;
        order = o->order > order ? o->order : order;
        *most = fmax(*most, o->place + sum->top - sum->step * (double)o->first);
        *least = fmin(*least, o->place + sum->top - sum->step * (double)(o->last - 1));
    }
    return order;
}

brume_once_sum *brume_once_sum_open(const brume_law *sampled, const brume_law *others, size_t count,
                                    double least, double delta, double most_pairs)
{
    if (count > MOST_LAWS || !(delta > 1e-200) || !(delta <= 1) || !(least > -200))
        return NULL;
    brume_once_sum *sum = calloc(1, sizeof *sum);
    if (!sum)
        return NULL;
    sum->epsilon = NAN;
    sum->least = least;
    sum->none = !sampled;
    sum->outers = malloc(sizeof *sum->outers);
    if (sum->outers) {
        sum->outers[0] = (outer){.weight = 1, .size = 1, .tilt = 1, .bound = 1};
        sum->outer_count = 1;
    }
    double low, high;
    bool alive = sum->outers && gather(sum, others, count, delta, most_pairs);
    if (alive) {
        size_t order = extent(sum, &low, &high);
        alive = order < BRUME_TABLE_ORDERS && low <= high && sum->spread <= farthest &&
                sum->step > 100 * (sum->place_error + 8 * unit * sum->reach);
        if (alive && !(sum->none && order == 0))
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
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) static double run(
    const double *row, double y, double turn, const double *weight, size_t count, double *mass)
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
    return sum;
}

/* The inner sum of an outer term; *error bounds what its polynomials and places do to it. */
static double inner_sum(const brume_once_sum *sum, const outer *o, double epsilon, double *error)
{
    const brume_sampled_table *t = &sum->table;
    double start = epsilon - o->place - sum->top, value = 0, off = 0, mass;
    double place_error = sum->place_error + 8 * unit * (fabs(epsilon) + sum->reach);
    size_t j = o->first, low = 0, high = t->count;
    double x = start + sum->step * (double)j;
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
        double steps = ceil((panel->high - start) / sum->step);
        size_t end = steps < (double)o->last ? (size_t)fmax(steps, 0) : o->last;
        if (end <= j)
            end = j + 1; /* next to the panel's end */
        size_t at = p * t->orders + o->order;
        value += run(t->rows + at * NODES, (x - panel->centre) * panel->scale,
                     sum->step * panel->scale, sum->weight + j, end - j, &mass);
        off += mass * (t->errors[at] + (place_error + 8 * unit / panel->scale) * t->slopes[at]);
        j = end;
        x = start + sum->step * (double)j;
    }
    if (j < o->last) { /* beyond the table; next to its end also by the place's error */
        size_t end = (t->count - 1) * t->orders + o->order;
        double last = t->panels[t->count - 1].high, slope = t->slopes[end];
        /* it falls at least as e^{-x/2} */
        double most = 1.01 * t->beyond[o->order] * exp(fmin(0.5 * (last - x), 0));
        for (size_t i = j; i < o->last; i++) {
            bool near = start + sum->step * (double)i < last + 4 * place_error;
            if (!near && most == 0)
                break;
            off += sum->weight[i] * (most + (near ? place_error * slope : 0));
        }
    }
    *error = off;
    return value;
}

/* An outer term of order 0 without a sampled draw, with its weight, E = epsilon less its place and
 * scale = e^{(epsilon - middle)/2}: mass/scale sum of p - mass scale tilt^2 sum of p e^{-a}, over
 * the atoms above E. */
static double closed_term(const brume_once_sum *sum, const outer *o, double epsilon, double scale,
                          double *size)
{
    double steps = ceil((epsilon - o->place - sum->top) * -sum->per_step);
    size_t end = !(steps > 0)                       ? 0
                 : steps < (double)sum->inner_count ? (size_t)steps
                                                    : sum->inner_count;
    size_t next = end < sum->inner_count ? end + 1 : end; /* it may be above after all */
    double left = o->weight / (o->tilt * scale), right = o->weight * o->tilt * scale;
    double most = o->size / (o->tilt * scale), least = o->size * o->tilt * scale;
    *size = most * (double)sum->upper[next] + least * (double)sum->lower[next];
    return left * (double)sum->upper[end] - right * (double)sum->lower[end];
}

static void evaluate(brume_once_sum *sum, double epsilon)
{
    double value = 0, size = 0, error = 0, both = 0, scale = exp(0.5 * (epsilon - sum->middle));
    for (size_t i = 0; i < sum->outer_count; i++) {
        const outer *o = &sum->outers[i];
        if (o->first >= o->last)
            continue;
        double off, inner;
        if (sum->none && o->order == 0) {
            value += inner = closed_term(sum, o, epsilon, scale, &off);
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
    double rounding = sum->weight_error +
                      unit * ((double)sum->inner_count + (double)sum->outer_count + 64 +
                              8 * (fabs(epsilon) + sum->reach));
    /* the slope of f is cosh(x/2): half of both parts; exponentials, products and the long sums */
    double place_error = sum->place_error + 8 * unit * (fabs(epsilon) + sum->reach);
    error += both * (0.51 * place_error + sum->tilt_error + 24 * unit +
                     0x1p-60 * (double)sum->inner_count);
    sum->epsilon = epsilon;
    sum->value = scale * value;
    sum->error = 1.01 *
                 (scale * (error + (size + error) * rounding + 8 * unit * size) + sum->missed);
}

double brume_once_sum_delta(brume_once_sum *sum, double epsilon, brume_side side)
{
    if (epsilon > sum->middle + farthest) { /* delta falls */
        if (side == BRUME_LOWER_SIDE)
            return 0;
        epsilon = sum->middle + farthest;
    }
    bool inside = epsilon >= sum->least && epsilon >= sum->middle - farthest;
    if (epsilon != sum->epsilon && inside)
        evaluate(sum, epsilon);
    if (!inside || !(sum->error < 1)) /* not a number, too */
        return side == BRUME_UPPER_SIDE ? 1 : 0;
    if (side == BRUME_UPPER_SIDE)
        return fmin(sum->value + sum->error, 1);
    return fmax(sum->value - sum->error, 0);
}
