/* Laws opened again with other parameters. See the header; proofs/accountant/law.md, sections law.4
 * and law.5.
 *
 * Promise of one lattice: each law of `upper` has its epsilon (or 1/scale) at or above that of the
 * law it stands for, each of `lower` at or below; unit / multiple is the same double for all. */
#include "accountant/law/shift_parameters.h"

#include <stdlib.h>

#include "accountant/law/points.h"

static bool needs(const brume_law *law)
{
    return law->source.kind == BRUME_LOSS_POISSON_PURE ||
           law->source.kind == BRUME_LOSS_POISSON_LAPLACE ||
           law->source.kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE;
}

bool brume_shifted_needed(const brume_law *laws, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (needs(&laws[i]))
            return true;
    return false;
}

typedef enum way { DOWN = -1, WORST = 0, UP = 1 } way;

static brume_status open_one(const brume_law *law, way direction, brume_law *out)
{
    const brume_points *table = brume_table_points(law);
    if (law->source.kind == BRUME_LOSS_NONE)
        return brume_law_open_table(table->loss, table->log_mass, table->count, table->mass_error,
                                    law->count, out, NULL);
    brume_loss loss = law->source;
    if (direction == WORST) {
        if (loss.kind == BRUME_LOSS_POISSON_LAPLACE)
            loss.kind = BRUME_LOSS_POISSON_PURE;
    } else if (needs(law)) { /* a larger epsilon and a larger rate cost more */
        loss.a = brume_parameter_moved(loss.a, (int)direction);
        loss.rate = fmin(1, brume_parameter_moved(loss.rate, (int)direction));
    }
    return brume_law_open(&loss, law->count, law->come, out, NULL);
}

void brume_shifted_close(brume_law *laws, size_t count)
{
    for (size_t i = 0; laws && i < count; i++)
        brume_law_close(&laws[i]);
    free(laws);
}

static brume_law *open_all(const brume_law *laws, size_t count, way direction)
{
    brume_law *out = calloc(count, sizeof *out);
    for (size_t i = 0; out && i < count; i++)
        if (open_one(&laws[i], direction, &out[i]) != BRUME_OK) {
            brume_shifted_close(out, i);
            return NULL;
        }
    return out;
}

void brume_joined_close(brume_joined *joined)
{
    if (joined->lower != joined->upper)
        brume_shifted_close(joined->lower, joined->count);
    brume_shifted_close(joined->upper, joined->count);
    *joined = (brume_joined){0};
}

bool brume_shifted_open(const brume_law *laws, size_t count, bool only_upper, brume_joined *out)
{
    brume_joined joined = {.count = count, .upper = open_all(laws, count, UP)};
    joined.lower = only_upper ? joined.upper : open_all(laws, count, DOWN);
    if (!joined.upper || !joined.lower) {
        brume_joined_close(&joined);
        return false;
    }
    *out = joined;
    return true;
}

brume_law *brume_shifted_worst(const brume_law *laws, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (laws[i].source.kind == BRUME_LOSS_POISSON_LAPLACE)
            return open_all(laws, count, WORST);
    return NULL;
}

bool brume_shifted_top(const brume_law *laws, size_t count, brume_interval *top)
{
    double low, high, mass, slack = (20 + 2 * (double)count) * BRUME_UNIT;
    if (!brume_top_atom(laws, count, &low, &mass))
        return false;
    high = low;
    if (brume_shifted_needed(laws, count)) {
        brume_joined joined;
        if (!brume_shifted_open(laws, count, false, &joined))
            return false;
        brume_top_atom(joined.upper, count, &high, &mass);
        brume_top_atom(joined.lower, count, &low, &mass);
        brume_joined_close(&joined);
    }
    *top = (brume_interval){low * (1 - slack), high * (1 + slack)};
    return true;
}

/* --- one lattice --- */

static const double most_multiple = 8192;
static const double closeness = 4e-12; /* of a multiple, relative: how far a unit may be from it */

/* Is the loss a function of one parameter a, its lattice a or 2a, its profile growing with a? */
static bool movable(const brume_law *law)
{
    brume_loss_kind kind = law->source.kind;
    return law->unit > 0 && law->count <= 0x1p53 &&
           (kind == BRUME_LOSS_PURE || kind == BRUME_LOSS_KARY ||
            kind == BRUME_LOSS_DISCRETE_LAPLACE);
}

/* The largest number that both are nearly multiples of, by Euclid; 0 if it is too small. */
static double common_measure(double x, double y)
{
    double least = fmax(x, y) / most_multiple * 0.999, slack = 1e-8 * fmax(x, y);
    if (x < y) {
        double swap = x;
        x = y;
        y = swap;
    }
    while (y > slack) {
        if (y < least)
            return 0;
        double rest = fabs(x - y * round(x / y));
        x = y;
        y = rest;
    }
    return x;
}

/* Keep `bits` bits, rounding up or down. */
static double few_bits(double x, int bits, bool up)
{
    int exponent;
    double mantissa = ldexp(frexp(x, &exponent), bits);
    mantissa = up ? ceil(mantissa) : floor(mantissa);
    return ldexp(mantissa, exponent - bits);
}

/* The laws at multiples of `measure`; *same if none had to move. */
static brume_law *open_laws(const brume_law *laws, size_t count, double measure, bool *same)
{
    brume_law *out = calloc(count, sizeof *out);
    *same = true;
    for (size_t i = 0; out && i < count; i++) {
        double multiple = round(laws[i].unit / measure);
        brume_loss loss = laws[i].source;
        /* unit = a or 2a: exact, and so is the product */
        loss.a = multiple * measure / (laws[i].unit / laws[i].a);
        *same &= loss.a == laws[i].a;
        if (brume_law_open(&loss, laws[i].count, laws[i].come, &out[i], NULL) != BRUME_OK) {
            brume_shifted_close(out, count);
            return NULL;
        }
        out[i].multiple = multiple;
    }
    return out;
}

bool brume_lattice_join(const brume_law *laws, size_t count, brume_joined *out)
{
    double measure = 0, least = INFINITY, most = 0, largest = 1; /* of units over multiples */
    bool equal = true;
    for (size_t i = 0; i < count; i++) {
        if (!movable(&laws[i]))
            return false;
        equal &= laws[i].unit == laws[0].unit;
        measure = i == 0 ? laws[0].unit : common_measure(measure, laws[i].unit);
        if (!(measure > 1e-290))
            return false;
    }
    if (equal)
        return false;
    for (size_t i = 0; i < count; i++) {
        double multiple = round(laws[i].unit / measure), each = laws[i].unit / multiple;
        if (!(multiple <= most_multiple) || !(fabs(each / measure - 1) <= closeness))
            return false;
        largest = fmax(largest, multiple);
        least = fmin(least, each);
        most = fmax(most, each);
    }
    /* the quotients are off by one unit, which the parameters' own move is not: step over it */
    int bits = 52 - ilogb(largest); /* products with the multiples are exact */
    double up = few_bits(most, bits, true), down = few_bits(least, bits, false);
    for (size_t i = 0; i < count; i++) {
        double multiple = round(laws[i].unit / measure);
        if (multiple * up < laws[i].unit)
            up = few_bits(nextafter(up, INFINITY), bits, true);
        if (multiple * down > laws[i].unit)
            down = few_bits(nextafter(down, 0), bits, false);
    }
    bool same;
    brume_joined joined = {.count = count};
    joined.upper = joined.lower = open_laws(laws, count, up, &same);
    if (!same)
        joined.lower = open_laws(laws, count, down, &same);
    if (!joined.upper || !joined.lower) {
        brume_joined_close(&joined);
        return false;
    }
    *out = joined;
    return true;
}
