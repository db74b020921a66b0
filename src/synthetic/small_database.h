/* The inside of SmallDB that the tests look at. */
#ifndef BRUME_SYNTHETIC_SMALL_DATABASE_H
#define BRUME_SYNTHETIC_SMALL_DATABASE_H

#include <brume/synthetic/small_database.h>

/* lengths[u], 0 <= u <= records: how many candidates have badness u. */
BRUME_MUST_USE brume_status brume_small_database_classes(
    const brume_workload *workload, const brume_small_database_options *options,
    const double *counts, uint64_t *lengths, brume_error *error);

#endif
