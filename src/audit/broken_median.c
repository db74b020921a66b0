/* The median with noise scaled to its local sensitivity. Promises: audit/broken_median.h. */
#include "audit/broken_median.h"

#include <brume/quantile.h>

#include "base/error.h"
#include "mechanism/broken/broken.h"

enum { RANGE = 1000000 };

brume_status brume_broken_median_draw(double epsilon, brume_adjacency adjacency, bool second,
                                      brume_bits *bits, int64_t *out, size_t n, brume_error *error)
{
    bool replace = adjacency == BRUME_REPLACE;
    size_t zeros = second ? 5 : 6, count = replace || second ? 10 : 11;
    int64_t values[11];
    for (size_t i = 0; i < count; i++)
        values[i] = i < zeros ? 0 : RANGE;
    brume_quantile_rule rule = {.numerator = 1,
                                .denominator = 2,
                                .values_per_unit = 1,
                                .adjacency = adjacency,
                                .upper = RANGE};
    brume_quantile *median = NULL;
    BRUME_TRY(brume_quantile_open(&rule, values, count, &median, error));
    brume_status status = brume_broken_local_release(bits, epsilon,
                                                     (double)brume_quantile_local(median, 0),
                                                     brume_quantile_value(median), out, n, error);
    brume_quantile_close(median);
    return status;
}
