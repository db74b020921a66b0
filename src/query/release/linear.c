/* Sums of noises with factors: see the header. */
#include "query/release/linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const double pi = 3.141592653589793, normal_95 = 1.959963984540054,
                    laplace_95 = 2.995732273553991;

struct brume_linear {
    size_t draws, count;
    size_t used[BRUME_LINEAR_MOST]; /* noises that move, by their place */
    size_t used_count;
    double *moves;    /* of these: moves[i * draws + draw] */
    double *basis;    /* orthonormal, of the same shape */
    double *triangle; /* used_count squared: moves = basis times triangle */
    double half_widths[BRUME_LINEAR_MOST];
    bool is_laplace[BRUME_LINEAR_MOST];
};

void brume_linear_close(brume_linear *linear)
{
    if (!linear)
        return;
    free(linear->moves);
    free(linear->basis);
    free(linear->triangle);
    free(linear);
}

static double product(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Gram and Schmidt, twice for each; false: two noises are not told apart. */
static bool make_basis(brume_linear *l)
{
    for (size_t j = 0; j < l->used_count; j++) {
        double *to = &l->basis[j * l->draws];
        memcpy(to, &l->moves[j * l->draws], l->draws * sizeof *to);
        double size = sqrt(product(to, to, l->draws));
        for (int pass = 0; pass < 2; pass++)
            for (size_t i = 0; i < j; i++) {
                const double *from = &l->basis[i * l->draws];
                double part = product(from, to, l->draws);
                l->triangle[i * l->used_count + j] += part;
                for (size_t k = 0; k < l->draws; k++)
                    to[k] -= part * from[k];
            }
        double left = sqrt(product(to, to, l->draws));
        if (!(left > 1e-6 * size))
            return false;
        l->triangle[j * l->used_count + j] = left;
        for (size_t k = 0; k < l->draws; k++)
            to[k] /= left;
    }
    return true;
}

brume_status brume_linear_open(const double *moves, size_t draws, size_t count,
                               const double *half_widths, const bool *is_laplace,
                               brume_linear **out, brume_error *error)
{
    *out = NULL;
    brume_linear *l = calloc(1, sizeof *l);
    if (!l)
        return brume_no_memory(error, "the answer");
    l->draws = draws;
    l->count = count;
    bool fits = true;
    for (size_t i = 0; fits && i < count; i++) {
        bool moved = false;
        for (size_t k = 0; k < draws && !moved; k++)
            moved = moves[k * count + i] != 0;
        if (moved && (l->used_count == BRUME_LINEAR_MOST || l->used_count + 40 > draws)) {
            fits = false; /* too few draws would be left to find that it does not fit */
        } else if (moved) {
            l->half_widths[l->used_count] = half_widths[i];
            l->is_laplace[l->used_count] = is_laplace[i];
            l->used[l->used_count++] = i;
        }
    }
    size_t cells = l->used_count * draws + 1;
    l->moves = calloc(cells, sizeof *l->moves);
    l->basis = calloc(cells, sizeof *l->basis);
    l->triangle = calloc(l->used_count * l->used_count + 1, sizeof *l->triangle);
    if (!l->moves || !l->basis || !l->triangle) {
        brume_linear_close(l);
        return brume_no_memory(error, "the answer");
    }
    for (size_t j = 0; fits && j < l->used_count; j++)
        for (size_t k = 0; k < draws; k++)
            l->moves[j * draws + k] = moves[k * count + l->used[j]];
    if (fits && make_basis(l))
        *out = l;
    else
        brume_linear_close(l);
    return BRUME_OK;
}

/* P[|S| <= t] of a sum S of deviation 1, by its characteristic function at step, 2 step, ...: the
 * trapezoidal rule is off by what S has beyond 2 pi / step - t, and what is left out, of a function
 * that falls as 2 / u^2 at least, by 1e-5. */
enum { POINTS = 1000 };
static const double step = 0.05;

static double chance_within(const double characteristic[POINTS], double t)
{
    double sum = t / 2;
    for (size_t k = 1; k <= POINTS; k++)
        sum += sin((double)k * step * t) / ((double)k * step) * characteristic[k - 1];
    return 2 / pi * step * sum;
}

double brume_linear_half_width(const double *scales, size_t count, double variance)
{
    double characteristic[POINTS], total = variance;
    for (size_t i = 0; i < count; i++)
        total += 2 * scales[i] * scales[i];
    double deviation = sqrt(total);
    if (!(deviation > 0) || !isfinite(deviation))
        return deviation;
    if (count == 0)
        return normal_95 * deviation;
    if (count == 1 && !(variance > 0))
        return laplace_95 * scales[0];
    for (size_t k = 1; k <= POINTS; k++) {
        double u = (double)k * step / deviation, value = exp(-variance * u * u / 2);
        for (size_t i = 0; i < count; i++)
            value /= 1 + scales[i] * scales[i] * u * u;
        characteristic[k - 1] = value;
    }
    double low = 1, high = 4; /* of any such sum it is 1.96 to 2.12 deviations */
    for (int i = 0; i < 30; i++) {
        double middle = (low + high) / 2;
        if (chance_within(characteristic, middle) < 0.95)
            low = middle;
        else
            high = middle;
    }
    return high * deviation * (1 + 1e-4);
}

double brume_linear_bar(brume_linear *l, const double *changes, double size)
{
    double factors[BRUME_LINEAR_MOST], scales[BRUME_LINEAR_MOST], largest = 0, variance = 0;
    size_t n = l->used_count, count = 0;
    for (size_t k = 0; k < l->draws; k++) {
        if (!isfinite(changes[k]))
            return NAN;
        largest = fmax(largest, fabs(changes[k]));
    }
    if (largest == 0)
        return 0;
    for (size_t j = n; j-- > 0;) {
        double value = product(&l->basis[j * l->draws], changes, l->draws);
        for (size_t i = j + 1; i < n; i++)
            value -= l->triangle[j * n + i] * factors[i];
        factors[j] = value / l->triangle[j * n + j];
    }
    for (size_t k = 0; k < l->draws; k++) {
        double left = changes[k];
        for (size_t j = 0; j < n; j++)
            left -= factors[j] * l->moves[j * l->draws + k];
        if (!(fabs(left) <= 1e-7 * largest + 1e-11 * fabs(size)))
            return NAN;
    }
    for (size_t j = 0; j < n; j++) {
        double width = fabs(factors[j]) * l->half_widths[j];
        if (fabs(factors[j]) *
                sqrt(product(&l->moves[j * l->draws], &l->moves[j * l->draws], l->draws)) <
            1e-6 * largest)
            continue; /* rounding */
        if (!isfinite(width))
            return NAN;
        if (l->is_laplace[j])
            scales[count++] = width / laplace_95;
        else
            variance += (width / normal_95) * (width / normal_95);
    }
    return brume_linear_half_width(scales, count, variance);
}
