/* Terms of a sum over atoms and Laplace draws. See the header; proofs/accountant.md, section 22.
 *
 * Promise: the errors cover every parameter within its 8 units, and what is left out counts at most
 * `missed` in delta. */
#include "accountant/once_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/masses.h"
#include "accountant/sampled_table.h"

static const double unit = BRUME_UNIT;
static const double products = 25; /* of all convolutions, for each pair: some 0.1 ns each */
static const size_t most_outer = 60000;

enum { MOST_LAWS = 12 };

void brume_once_terms_close(brume_once_terms *terms)
{
    free(terms->outers);
    free(terms->weight);
    free(terms->upper);
    *terms = (brume_once_terms){0};
}

/* Every outer term so far beside `count` more, whose places are relative. */
static bool join(brume_once_terms *terms, const brume_outer *more, size_t count, double floor_)
{
    if (terms->outer_count * count > 4 * most_outer)
        return false;
    brume_outer *out = malloc((terms->outer_count * count + 1) * sizeof *out);
    if (!out)
        return false;
    size_t at = 0;
    double lost = 0;
    for (size_t i = 0; i < terms->outer_count; i++)
        for (size_t j = 0; j < count; j++) {
            const brume_outer *a = &terms->outers[i], *b = &more[j];
            brume_outer o = {.place = a->place + b->place,
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
    free(terms->outers);
    terms->outers = out;
    terms->outer_count = at;
    terms->missed += 1.001 * lost;
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
static void count_masses(brume_once_terms *terms, const brume_masses *m, double step)
{
    double most = fabs(m->centre) + step * fmax(fabs(m->half), fabs(m->half - (double)m->count));
    terms->missed += 1.001 * m->missed;
    terms->middle += middle_of(m, step);
    terms->spread += step * (double)m->count;
    terms->reach += most;
    terms->place_error += 22 * unit * most;
    /* the mass; exp, whose argument is off by half the place's error, and two products */
    terms->weight_error += m->error + 8 * unit + 12 * unit * most;
    /* twice exp, and its argument's rounding; the middles' */
    terms->tilt_error += unit * (16 + 8 * most + 4 * step * (double)m->count);
}

static bool join_masses(brume_once_terms *terms, const brume_masses *m, double step, double floor_)
{
    brume_outer *more = calloc(m->count, sizeof *more);
    if (!more)
        return false;
    for (size_t j = 0; j < m->count; j++) {
        double place = place_of(m, step, j);
        double tilt = exp(-0.5 * (place - middle_of(m, step))), weight = m->mass[j] * tilt;
        more[j] = (brume_outer){
            .place = place, .weight = weight, .size = weight, .tilt = tilt, .bound = m->mass[j]};
    }
    count_masses(terms, m, step);
    bool alive = join(terms, more, m->count, floor_);
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
static bool join_laplace(brume_once_terms *terms, const brume_law *law, double floor_)
{
    double n = law->count, e = law->a, beyond;
    size_t orders = laplace_orders(law, floor_, &beyond), shifts = (size_t)n + 1;
    if (orders == 0)
        return false;
    brume_outer *more = calloc(shifts * orders, sizeof *more);
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
            more[k * shifts + i] = (brume_outer){
                .place = place,
                .weight = weight,
                .size = size,
                .tilt = exp(-0.5 * place),
                .bound = 1.001 * ldexp(fabs(weight) + 1e-12 * size, (int)k) * exp(0.5 * place),
                .order = k};
        }
        choose *= (n - (double)k) / (double)(k + 1) * 0.5;
    }
    terms->missed += beyond;
    terms->reach += n * e;
    terms->spread += n * e;
    terms->place_error += 10 * unit * n * e;
    terms->weight_error += unit * (64 + 6 * n * e + 4 * n);
    terms->tilt_error += unit * (16 + 8 * n * e);
    alive = alive && join(terms, more, shifts * orders, floor_);
    free(more);
    free(row);
    return alive;
}

/* --- opening --- */

/* The inner atoms that count beside each outer term: masses below the floor at either end do not.
 */
static bool set_ranges(brume_once_terms *terms, const brume_masses *m, double floor_,
                       double most_pairs)
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
    terms->pairs = 0;
    for (size_t i = 0; i < terms->outer_count; i++) {
        brume_outer *o = &terms->outers[i];
        if (terms->none && o->order == 0) { /* all: they cost nothing */
            o->first = 0;
            o->last = count;
            terms->pairs += 4;
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
        terms->pairs += (double)(o->last - o->first);
    }
    terms->missed += 1.001 * lost;
    free(memory);
    return terms->pairs <= most_pairs;
}

/* The sums of p and p e^{-a} from the largest loss on: relative errors of 2^-62 a term, and of exp
 * twice. */
static void set_sums(brume_once_terms *terms, const brume_masses *m, double step)
{
    terms->upper = malloc(2 * (m->count + 1) * sizeof *terms->upper);
    if (!terms->upper)
        return;
    terms->lower = terms->upper + m->count + 1;
    terms->upper[0] = terms->lower[0] = 0;
    double from = step * (double)(m->count / 2); /* the first atom, from the middle on */
    long double factor = expl(-(long double)from), turn = expl((long double)step);
    for (size_t j = 0; j < m->count; j++, factor *= turn) {
        terms->upper[j + 1] = terms->upper[j] + m->mass[j];
        terms->lower[j + 1] = terms->lower[j] + m->mass[j] * factor;
    }
}

/* All laws but the inner one, and then the inner one. */
static bool gather(brume_once_terms *terms, const brume_law *laws, size_t count, double delta,
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
        alive = brume_masses_open(&laws[i], depth, products * most_pairs, &work, &masses[i]);
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
            alive = join_laplace(terms, &laws[i], rare);
        else if (i != inner)
            alive = join_masses(terms, &masses[i], step = laws[i].unit, rare);
    }
    step = inner < count ? laws[inner].unit : 1;
    if (alive) {
        count_masses(terms, last, inner < count ? step : 0);
        terms->inner_middle = inner < count ? middle_of(last, step) : 0;
        terms->weight = calloc(last->count + BRUME_ONCE_LANES, sizeof *terms->weight);
        terms->inner_count = last->count;
        terms->top = last->centre + step * last->half;
        terms->step = step;
        terms->per_step = 1 / step;
        bool needed = !terms->none; /* else sums take its place */
        for (size_t i = 0; i < terms->outer_count; i++)
            needed = needed || terms->outers[i].order > 0;
        for (size_t j = 0; terms->weight && needed && j < last->count; j++)
            terms->weight[j] = last->mass[j] *
                               exp(-0.5 * (place_of(last, step, j) - terms->inner_middle));
        if (terms->none)
            set_sums(terms, last, step);
        alive = terms->weight && terms->outer_count > 0 && (!terms->none || terms->upper) &&
                set_ranges(terms, last, floor_ / ((double)terms->outer_count * (double)last->count),
                           most_pairs);
    }
    for (size_t i = 0; i < count; i++)
        brume_masses_close(&masses[i]);
    return alive;
}

bool brume_once_terms_open(const brume_law *laws, size_t count, double delta, double most_pairs,
                           bool none, brume_once_terms *out)
{
    *out = (brume_once_terms){.none = none, .outers = malloc(sizeof *out->outers)};
    if (!out->outers || count > MOST_LAWS)
        return false;
    out->outers[0] = (brume_outer){.weight = 1, .size = 1, .tilt = 1, .bound = 1};
    out->outer_count = 1;
    return gather(out, laws, count, delta, most_pairs);
}
