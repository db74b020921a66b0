/* The statistics that are ready for brume_propose_test_release: their value and their distance to
 * data whose local sensitivity exceeds a proposed bound. The handle must outlive the result. */
#ifndef BRUME_TESTED_H
#define BRUME_TESTED_H

#include <brume/statistic/interquartile.h>
#include <brume/statistic/quantile.h>
#include <brume/statistic/regression.h>
#include <brume/mechanism/stability.h>
#include <brume/statistic/triangle.h>

#ifdef __cplusplus
extern "C" {
#endif

BRUME_API brume_tested brume_tested_quantile(const brume_quantile *quantile);
BRUME_API brume_tested brume_tested_interquartile(const brume_interquartile *range);
BRUME_API brume_tested brume_tested_triangles(const brume_graph *graph);

/* 1/count in steps of `step`, rounded down exactly, at most 2^62; of 0 it is that of 1. A bound of
 * b steps stands for a local sensitivity of at most b step: numbers that are so near are no further
 * apart when both are rounded down, since b is an integer.
 * Requires (checked by the calls): step > 0, a bound of at least 1 with b step >= 2^-60. */
typedef struct brume_tested_count {
    uint64_t count;
    double step;
} brume_tested_count;
BRUME_API brume_tested brume_tested_reciprocal(brume_tested_count *count);

/* ln of the standard deviation of a prediction, in steps (brume/statistic/regression.h). A bound of
 * b steps stands for LS(ln q) <= (b - 2) step: see there. */
typedef struct brume_tested_prediction {
    const brume_gram *gram;
    const double *point;
    double step; /* a power of two in [2^-20, 1] */
} brume_tested_prediction;
BRUME_API brume_tested brume_tested_regression(brume_tested_prediction *prediction);

#ifdef __cplusplus
}
#endif

#endif
