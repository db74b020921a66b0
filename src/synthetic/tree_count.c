/* Tables counted over rows. Promises: tree_count.h. */
#include "synthetic/tree_count.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/synthetic/tree.h>

#include "base/error.h"
#include "number/rounding.h"

brume_status brume_tree_count(size_t columns, const uint16_t *const *data,
                              const uint16_t *const *map, const uint32_t *bins,
                              const uint32_t *most, uint64_t n, uint32_t *counts,
                              brume_error *error)
{
    uint32_t *step[BRUME_TREE_WIDEST] = {NULL};
    size_t cells = 1, room = 0;
    for (size_t i = 0; i < columns; i++) {
        cells *= bins[i];
        room += most[i];
    }
    uint32_t *space = malloc(room * sizeof *space);
    if (!space)
        return brume_no_memory(error, "counts");
    size_t stride = cells, used = 0;
    for (size_t i = 0; i < columns; i++) {
        stride /= bins[i];
        step[i] = space + used;
        for (uint32_t v = 0; v < most[i]; v++)
            step[i][v] = (uint32_t)(stride * (map && map[i] ? map[i][v] : v));
        used += most[i];
    }
    memset(counts, 0, cells * sizeof *counts);
    if (columns == 1)
        for (uint64_t r = 0; r < n; r++)
            counts[step[0][data[0][r]]]++;
    else if (columns == 2)
        for (uint64_t r = 0; r < n; r++)
            counts[step[0][data[0][r]] + step[1][data[1][r]]]++;
    else if (columns == 3)
        for (uint64_t r = 0; r < n; r++)
            counts[step[0][data[0][r]] + step[1][data[1][r]] + step[2][data[2][r]]]++;
    else if (columns == BRUME_TREE_WIDEST)
        for (uint64_t r = 0; r < n; r++)
            counts[step[0][data[0][r]] + step[1][data[1][r]] + step[2][data[2][r]] +
                   step[3][data[3][r]]]++;
    free(space);
    return BRUME_OK;
}

/* How far the counts of rows that scatter around m are from m: E|Poisson(m) - m|. */
static double scatter(double m)
{
    if (m <= 0)
        return 0;
    return m < 0.5 ? 2 * m * exp(-m) : sqrt(m) * BRUME_TREE_ABSOLUTE * (1 - 1 / (12 * m));
}

int64_t brume_tree_distance(const uint32_t *truth, const uint32_t *rows, size_t cells, double scale,
                            double most, double *floor, double *rounding)
{
    int64_t sum = 0;
    *floor = *rounding = 0;
    for (size_t x = 0; x < cells; x++) {
        double m = scale * rows[x], on_grid = rint(BRUME_TREE_GRID * m);
        sum += llabs(BRUME_TREE_GRID * (int64_t)truth[x] - (int64_t)on_grid);
        *floor += rows[x] ? fmin(scatter(m), most) : 0;
        *rounding += fabs(BRUME_TREE_GRID * m - on_grid);
    }
    return sum;
}

/* An upper bound on z with P[N(0, 1) > z] = q: a guess, then more until the tail is surely below.
 */
double brume_tree_normal_upper(double q)
{
    const double most = 40; /* where the tail is below any double */
    double low = -10, high = most;
    for (int i = 0; i < 60; i++) {
        double middle = low + (high - low) / 2;
        if (0.5 * erfc(middle / sqrt(2)) <= q)
            high = middle;
        else
            low = middle;
    }
    for (double more = 0x1p-30; high + more < most; more *= 4) {
        double z = high + more;
        /* down into erfc, up out of it */
        double root = brume_divide_down(z, z > 0 ? brume_sqrt_up(2) : brume_sqrt_down(2));
        if (brume_multiply_up(0.5, brume_erfc_up(root)) <= q)
            return z;
    }
    return most;
}
