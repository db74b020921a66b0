/* The plan of a synthetic histogram: how the price is split. */
#ifndef BRUME_SYNTHETIC_SYNTHETIC_H
#define BRUME_SYNTHETIC_SYNTHETIC_H

#include <brume/synthetic/direct.h>
#include <brume/synthetic/multiplicative_weights.h>
#include <brume/synthetic/small_database.h>
#include <brume/synthetic/synthetic.h>

typedef struct brume_synthetic_plan {
    bool buys; /* the number of records, with `records_event`; MWEM does it itself */
    brume_event records_event;
    double epsilon, rho; /* what is left for the method itself */
    uint64_t hits;       /* WEIGHTS */
} brume_synthetic_plan;

BRUME_MUST_USE brume_status brume_synthetic_plan_make(const brume_workload *workload,
                                                      const brume_synthetic_options *options,
                                                      brume_synthetic_plan *plan,
                                                      brume_error *error);

/* The options of each method under a plan. */
brume_mwem_options brume_synthetic_mwem(const brume_synthetic_options *options);
brume_direct_options brume_synthetic_direct(const brume_synthetic_options *options,
                                            const brume_synthetic_plan *plan);
brume_small_database_options brume_synthetic_small(const brume_synthetic_options *options,
                                                   const brume_synthetic_plan *plan,
                                                   double records);

#endif
