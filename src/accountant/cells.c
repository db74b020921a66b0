/* The law of one Poisson-subsampled Gaussian cut into cells. See sampled_draw.h and
 * proofs/accountant.md, section 21.
 *
 * With x drawn from N0 or N1 = N0 shifted by 1, the loss of x is +-log r(x), r = 1 - q + q
 * e^{(2x-1)/(2 sigma^2)}; - for a record added. (1 - e^{eps-l})_+ is convex in e^{-l}, so that a
 * cell's mass may be moved
 *   upper: to the cell's ends, with the mean of e^{-l} kept: the chord, never below;
 *   lower: to the loss of that mean: Jensen's inequality, never above. */
#include "accountant/sampled_draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double unit = BRUME_UNIT;

void brume_cells_range(const brume_sampled_draw *draw, double depth, double *low, double *high)
{
    double reach = draw->sigma * sqrt(2 * depth);
    *low = -reach;
    *high = reach + (draw->reversed ? 0 : 1);
}

void brume_cells_close(brume_cells *cells)
{
    free(cells->memory);
    *cells = (brume_cells){0};
}

/* log r from log of the ratio e^t, and how far it may be off if t is off by `off`. */
static double log_ratio(double rate, double t, double off, double *error)
{
    double value, share = 1;
    if (t > 600) {
        value = t + log(rate);
        *error = 4 * unit * (fabs(log(rate)) + 1);
    } else if (rate == 1) { /* a rate moved up may be 1 */
        value = t;
        *error = 0;
    } else if (rate > 0.5 && t < 0) { /* 1 - q is exact, and nothing cancels */
        double rise = rate * exp(t), sum = 1 - rate + rise;
        value = log(sum);
        share = rise / sum;
        *error = 6 * unit;
    } else {
        double rise = rate * expm1(t);
        value = log1p(rise);
        share = rate * exp(t) / (1 + rise);
        /* the product and expm1, through the logarithm */
        *error = 6 * unit * fabs(rise) / (1 + rise);
    }
    *error += 1.1 * fmin(share * 1.1, 1) * off + 4 * unit * fabs(value);
    if (!(off < 0.05)) /* log r is 1-Lipschitz in t */
        *error += off;
    return value;
}

/* The loss's modulus log r at a place. */
static double log_ratio_at(const brume_sampled_draw *draw, double x, double *error)
{
    double square = 2 * draw->sigma * draw->sigma, t = (2 * x - 1) / square;
    double off = unit * ((2 * fabs(x) + 1) / square + 5 * fabs(t)); /* 2x - 1 and three roundings */
    return log_ratio(draw->rate, t, off, error);
}

/* Phi(high) - Phi(low) by the smaller tails; *error bounds its error. Arguments are off by 4 units
 * of themselves at most. */
static double between(double low, double high, double *error)
{
    double sign = low > 0 ? 1 : -1, near = low > 0 ? low : high, far = low > 0 ? high : low;
    near *= sign * M_SQRT1_2;
    far *= sign * M_SQRT1_2;
    double a = 0.5 * erfc(near), b = 0.5 * erfc(far);
    /* w times density/erfc is at most 2 w^2 + 1, below 0 less than 1: 5 units of w; erfc by 5 in
     * the last place; the difference */
    near = fmin(fmax(near, 0), 40); /* beyond, nothing is left */
    far = fmin(fmax(far, 0), 40);
    *error = 1.01 * unit * (a * (10 * near * near + 17) + b * (10 * far * far + 17)) + 1e-300;
    return a - b;
}

/* One cell: its masses under N0 and N1, and the loss's modulus of the mean ratio. */
typedef struct cell {
    double mass, mass_error, mean, mean_error;
    bool known; /* is the mean? */
} cell;

static cell cell_of(const brume_sampled_draw *draw, double low, double high)
{
    double sigma = draw->sigma, q = draw->rate, error0, error1;
    double zero = between(low / sigma, high / sigma, &error0);
    double one = between((low - 1) / sigma, (high - 1) / sigma, &error1);
    cell c = {.known = zero > 1e-280 && one > 1e-280 && error0 < 0.01 * zero &&
                       error1 < 0.01 * one};
    if (draw->reversed) {
        c.mass = zero;
        c.mass_error = error0;
    } else {
        c.mass = (1 - q) * zero + q * one;
        c.mass_error = (1 - q) * error0 + q * error1 + 4 * unit * c.mass;
    }
    if (c.known) {
        double off = 1.1 * (error0 / zero + error1 / one) + 4 * unit;
        c.mean =
            log_ratio(q, log(one / zero), off + 2 * unit * fabs(log(one / zero)), &c.mean_error);
    }
    return c;
}

static bool open_upper(const brume_sampled_draw *draw, brume_cells *cells)
{
    double sign = draw->reversed ? -1 : 1, worst = 0;
    for (size_t i = 0; i <= cells->count; i++) {
        double off;
        cells->loss[i] = sign * log_ratio_at(draw, cells->edge[i], &off);
        cells->mass[i] = 0;
        worst = fmax(worst, off);
    }
    cells->shift = 1.01 * worst;
    for (size_t i = 0; i < cells->count; i++) {
        cell c = cell_of(draw, cells->edge[i], cells->edge[i + 1]);
        size_t low = draw->reversed ? i + 1 : i, high = draw->reversed ? i : i + 1;
        double span = cells->loss[high] - cells->loss[low], share = 1;
        if (c.known && span > 0) {
            /* losses clipped between the computed ends are off by the shift at most; the share of
             * the higher end is rounded up */
            double rise = sign * c.mean - cells->loss[low] + c.mean_error + 1.01 * cells->shift +
                          4 * unit * (fabs(c.mean) + fabs(cells->loss[low]));
            share = rise <= 0 ? 0 : expm1(-rise) / expm1(-span) * (1 + 16 * unit);
            share = fmin(share, 1);
        }
        double mass = (c.mass + c.mass_error) * (1 + 4 * unit);
        cells->mass[high] += mass * share * (1 + 4 * unit);
        cells->mass[low] += mass * (1 - share) * (1 + 4 * unit);
    }
    /* the ends: what has lower losses is moved up to the edge, what has higher ones is missed */
    double error, first = cells->edge[0] / draw->sigma,
                  last = cells->edge[cells->count] / draw->sigma;
    double left = between(-INFINITY, first, &error) + error, right, q = draw->rate;
    if (draw->reversed) {
        right = between(last, INFINITY, &error) + error;
        cells->mass[cells->count] += right * (1 + 4 * unit);
        cells->missed = left * (1 + 4 * unit);
    } else {
        double shifted = (cells->edge[cells->count] - 1) / draw->sigma;
        right = between(last, INFINITY, &error) + error;
        double one = between(shifted, INFINITY, &error) + error;
        cells->missed = ((1 - q) * right + q * one) * (1 + 8 * unit);
        double low = (cells->edge[0] - 1) / draw->sigma;
        one = between(-INFINITY, low, &error) + error;
        cells->mass[0] += ((1 - q) * left + q * one) * (1 + 8 * unit);
    }
    return true;
}

static bool open_lower(const brume_sampled_draw *draw, brume_cells *cells)
{
    double sign = draw->reversed ? -1 : 1;
    for (size_t i = 0; i < cells->count; i++) {
        cell c = cell_of(draw, cells->edge[i], cells->edge[i + 1]);
        double off = c.mean_error;
        if (!c.known) /* the lower end's loss is not above any of the cell */
            c.mean = log_ratio_at(draw, cells->edge[draw->reversed ? i + 1 : i], &off);
        cells->loss[i] = sign * c.mean - 1.01 * off; /* down */
        cells->loss[i] -= 2 * unit * fabs(cells->loss[i]);
        cells->mass[i] = fmax(0, (c.mass - c.mass_error) * (1 - 4 * unit)); /* down */
    }
    return true;
}

bool brume_cells_open(const brume_sampled_draw *draw, brume_side side, const double *edge,
                      size_t count, brume_cells *out)
{
    double *memory = malloc(3 * (count + 1) * sizeof *memory);
    if (!memory)
        return false;
    brume_cells cells = {.side = side, .count = count, .memory = memory};
    cells.edge = memory;
    cells.loss = memory + count + 1;
    cells.mass = cells.loss + count + 1;
    memcpy(cells.edge, edge, (count + 1) * sizeof *edge);
    if (side == BRUME_UPPER_SIDE)
        open_upper(draw, &cells);
    else
        open_lower(draw, &cells);
    *out = cells;
    return true;
}
