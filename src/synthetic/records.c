/* Records drawn from a histogram of weights: post-processing of a release. */
#include <brume/mwem.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/primitive.h>

#include "base/error.h"

/* The first cell whose cumulated weight is above `place`. */
static uint64_t find_cell(const double *cumulated, uint64_t cells, double place)
{
    uint64_t low = 0, high = cells - 1;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (cumulated[middle] > place)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

brume_status brume_synthetic_records(const brume_universe *universe, const double *weights,
                                     brume_bits *bits, uint64_t *out, size_t n, brume_error *error)
{
    double total = 0;
    double *cumulated = malloc(universe->cells * sizeof *cumulated);
    if (!cumulated)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %llu cells",
                          (unsigned long long)universe->cells);
    bool good = true;
    for (uint64_t i = 0; i < universe->cells; i++) {
        good = good && weights[i] >= 0;
        cumulated[i] = total += weights[i];
    }
    if (!good || !(total > 0) || !isfinite(total)) {
        free(cumulated);
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "weights to draw records from must be >= 0 with a finite sum above 0");
    }
    brume_status status = BRUME_OK;
    for (size_t i = 0; i < n && status == BRUME_OK; i++) {
        uint64_t place;
        status = brume_sample_below(bits, UINT64_C(1) << 53, &place, error);
        if (status == BRUME_OK)
            out[i] = find_cell(cumulated, universe->cells, (double)place * 0x1p-53 * total);
    }
    if (status != BRUME_OK)
        memset(out, 0, n * sizeof *out);
    free(cumulated);
    return status;
}
