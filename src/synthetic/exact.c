/* The private side of a release of many queries.
 *
 * Promises: what noise is added to are whole numbers that one unit moves by at most 1, computed
 * without rounding: counts are whole and at most 2^33 together, values of queries multiples of
 * 2^-20, so every partial sum is a double, in whatever order the cores add. */
#include "synthetic/exact.h"

#include <math.h>

#include "base/error.h"

brume_status brume_exact_records(const brume_universe *universe, const double *counts,
                                 double *records, brume_error *error)
{
    double total = 0;
    for (uint64_t i = 0; i < universe->cells; i++) {
        if (!(counts[i] >= 0 && counts[i] <= BRUME_RECORDS_MOST && counts[i] == floor(counts[i])))
            return brume_fail(error, BRUME_EARGUMENT, "count the records of each cell",
                              "a histogram must hold whole numbers from 0 to 2^33");
        total += counts[i];
        if (total > BRUME_RECORDS_MOST)
            return brume_fail(error, BRUME_EOVERFLOW, NULL,
                              "a histogram of more than 2^33 records");
    }
    *records = total;
    return BRUME_OK;
}

brume_status brume_exact_answers(const brume_workload *workload, const double *counts,
                                 double *answers, brume_error *error)
{
    BRUME_TRY(brume_workload_answer(workload, counts, answers, error));
    for (size_t i = 0; i < brume_workload_size(workload); i++)
        answers[i] = floor(answers[i]);
    return BRUME_OK;
}

brume_status brume_exact_price(const char *what, brume_adjacency adjacency, double epsilon,
                               double rho, brume_error *error)
{
    if (adjacency != BRUME_ADD_REMOVE && adjacency != BRUME_REPLACE)
        return brume_fail(error, BRUME_EARGUMENT, "use add-remove or replace",
                          "%s is not defined under this 'adjacency'", what);
    bool pure = epsilon > 0 && isfinite(epsilon) && rho == 0;
    bool concentrated = rho > 0 && isfinite(rho) && epsilon == 0;
    if (!pure && !concentrated)
        return brume_fail(error, BRUME_EARGUMENT,
                          "give 'epsilon' for a pure guarantee or 'rho' for a concentrated one",
                          "%s needs one of 'epsilon' and 'rho', positive and finite, the other 0",
                          what);
    return BRUME_OK;
}
