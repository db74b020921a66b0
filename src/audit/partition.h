/* Bins of outcomes, learned from examples, and events that are unions of bins.
 *
 * An outcome that comes often has a bin of its own, the others are cut at quantiles, finer in the
 * tails. An event that speaks for one neighbour is looked for among the outcomes up to an edge,
 * those from an edge on, and the bins with the largest quotients of the two frequencies. Nothing is
 * claimed of what is found here: draws that were not looked at decide. */
#ifndef BRUME_AUDIT_PARTITION_H
#define BRUME_AUDIT_PARTITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

enum { BRUME_BINS = 768 };

typedef struct brume_partition {
    size_t count;
    int64_t edges[BRUME_BINS]; /* bin i has the outcomes from edges[i] to below edges[i + 1]; the
                                  first edge is INT64_MIN */
    int64_t least;             /* of the outcomes in `table`, which has their bins */
    uint16_t table[1 << 16];
    size_t tabled;
} brume_partition;

/* Bins for n outcomes on each neighbour; sorts them. */
BRUME_MUST_USE brume_status brume_partition_learn(int64_t *first, int64_t *second, size_t n,
                                                  brume_partition *out, brume_error *error);

/* How many outcomes of each neighbour are in each bin. */
typedef struct brume_bin_counts {
    uint64_t of[2][BRUME_BINS];
} brume_bin_counts;

/* Add outcomes of the first neighbour, or of the second. */
void brume_partition_count(const brume_partition *bins, const int64_t *outcomes, size_t n,
                           bool second, brume_bin_counts *counts);

typedef struct brume_bin_event {
    bool in[BRUME_BINS];
    bool second; /* likelier on the second neighbour */
} brume_bin_event;

/* How good an event looks that has the frequencies p and q on its likelier neighbour and on the
 * other. */
typedef double brume_promise(const void *context, double p, double q);

/* The event of the largest promise by counts[1], and that promise; -INFINITY: there is none. Bins
 * are ranked by counts[0], of other draws, so that luck is not counted twice; if `ordered`, they
 * are not, and an event ends at one edge. */
double brume_partition_choose(const brume_partition *bins, const brume_bin_counts counts[2],
                              bool ordered, brume_promise *promise, const void *context,
                              brume_bin_event *out);

/* Of the outcomes that speak most for the second neighbour, about the share `share` on the first.
 */
void brume_partition_nested(const brume_partition *bins, const brume_bin_counts *counts,
                            double share, brume_bin_event *out);

/* "outcome >= 3", "outcome in {0, 2, 5..7}", outcomes times `step`. */
void brume_partition_text(const brume_partition *bins, const brume_bin_event *event, double step,
                          char *text, size_t size);

#endif
