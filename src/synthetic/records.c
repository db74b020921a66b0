/* Records drawn from a histogram of weights: post-processing of a release. */
#include <brume/synthetic/mwem.h>
#include <brume/synthetic/synthetic.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/noise/primitive.h>

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

/* Systematic sampling: row k is where the cumulated weight passes (k + u)/n of the total. */
brume_status brume_synthetic_rows(const brume_universe *universe, const double *weights,
                                  brume_bits *bits, uint64_t n, double *rows, brume_error *error)
{
    double total = 0, cumulated = 0;
    bool good = true;
    uint64_t place, last = 0;
    memset(rows, 0, universe->cells * sizeof *rows);
    for (uint64_t i = 0; i < universe->cells; i++) {
        good = good && weights[i] >= 0;
        total += weights[i];
        last = weights[i] > 0 ? i : last;
    }
    if (!good || !(total > 0) || !isfinite(total))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "weights to draw rows from must be >= 0 with a finite sum above 0");
    BRUME_TRY(brume_sample_below(bits, UINT64_C(1) << 53, &place, error));
    double offset = (double)place * 0x1p-53;
    uint64_t drawn = 0;
    for (uint64_t i = 0; i < universe->cells && drawn < n; i++) {
        cumulated += weights[i];
        /* how many k have (k + u)/n < cumulated/total */
        double reached = ceil(cumulated / total * (double)n - offset);
        uint64_t upto = reached <= 0 ? 0 : reached >= (double)n ? n : (uint64_t)reached;
        if (weights[i] > 0 && upto > drawn) {
            rows[i] = (double)(upto - drawn);
            drawn = upto;
        }
    }
    rows[last] += (double)(n - drawn); /* what rounding left over */
    return BRUME_OK;
}
