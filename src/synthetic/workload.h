/* The inside of a workload, for what answers it.
 *
 * The universe is cut into an outer and an inner part: the inner one is the last few columns, a few
 * thousand cells that lie next to each other (more only where a column is that large). A box is
 * then a yes or no per outer cell and one mask for all inner blocks. */
#ifndef BRUME_SYNTHETIC_WORKLOAD_H
#define BRUME_SYNTHETIC_WORKLOAD_H

#include <brume/synthetic/workload.h>

typedef enum brume_group_kind {
    BRUME_GROUP_MARGINAL,
    BRUME_GROUP_BOX,
    BRUME_GROUP_DENSE
} brume_group_kind;

/* Queries that were added together: a marginal has many, the others one. */
typedef struct brume_group {
    brume_group_kind kind;
    size_t first, count;                           /* numbers of its queries */
    size_t columns;                                /* marginal: which columns, ascending */
    size_t column[BRUME_UNIVERSE_COLUMNS];         /*   */
    uint64_t table_stride[BRUME_UNIVERSE_COLUMNS]; /*   stride in the table, 0: not in it */
    uint8_t *allowed[BRUME_UNIVERSE_COLUMNS];      /* box: NULL: any value */
    float *values;                                 /* dense: multiples of 2^-20 */
} brume_group;

struct brume_workload {
    brume_universe universe;
    size_t split;   /* columns split.. are the inner part */
    size_t inner;   /* cells of an inner block */
    uint64_t outer; /* number of blocks */
    brume_group *groups;
    size_t group_count, group_room, size;
};

/* Put the queries of `from`, over the same universe, in the place of those of `workload`; `from`
 * has none then. */
void brume_workload_replace(brume_workload *workload, brume_workload *from);

/* The group of a query, which must exist. */
const brume_group *brume_workload_group(const brume_workload *workload, size_t query);

/* The most cells at which a query is not 0; at least 1. */
uint64_t brume_workload_widest(const brume_workload *workload);

/* One pass: weights[i] = max(scale e^(rate f(i)) weights[i], least); *total is their sum. |rate| <=
 * 700. */
BRUME_MUST_USE brume_status brume_workload_step(const brume_workload *workload, size_t query,
                                                double rate, double scale, double least,
                                                double *weights, double *total, brume_error *error);

/* One pass: weights[i] = max(scale factors[place of i in the marginal] weights[i], least). */
BRUME_MUST_USE brume_status brume_workload_step_marginal(const brume_workload *workload,
                                                         const brume_group *marginal,
                                                         const double *factors, double scale,
                                                         double least, double *weights,
                                                         double *total, brume_error *error);

#endif
