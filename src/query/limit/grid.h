/* The grid of limits: 1, 2, 3, 4, 6, 8, 12, ... up to 2^63, and the bin of it that a unit is in.
 *
 * A unit's totals over the cells of a query are a vector v of integers. Bin i holds the units with
 * edge(i-1) < |v|_p <= edge(i); a unit without anything (|v| = 0) is in no bin, one above the last
 * edge in the last bin. So a unit is in one bin at most: one unit more or less moves the histogram
 * by 1, one replaced by 2. proofs/limits.md. */
#ifndef BRUME_QUERY_LIMIT_GRID_H
#define BRUME_QUERY_LIMIT_GRID_H

#include <stddef.h>
#include <stdint.h>

#include "number/wide.h"

enum { BRUME_LIMIT_BINS = 126, BRUME_LIMIT_NO_BIN = BRUME_LIMIT_BINS };

/* Edge of bin 0 .. BRUME_LIMIT_BINS - 1. */
uint64_t brume_limit_edge(size_t bin);

/* How many bins reach up to a ceiling: the least m with edge(m-1) >= ceiling; 0 is no ceiling. */
size_t brume_limit_bins(uint64_t ceiling);

/* What a total counts as: |v|, at most BRUME_LIMIT_LARGEST, so that norms fit 128 bits for four
 * million cells. A function of the total alone. */
#define BRUME_LIMIT_LARGEST(p) ((p) == 1 ? (brume_u128)1 << 80 : (brume_u128)1 << 53)
brume_u128 brume_limit_size(brume_i128 total, int p);

/* What a total adds to its unit's norm: |v| for p = 1, v^2 for p = 2. Norms are sums of these, the
 * same in any order; for p = 2 they are squares of norms. */
brume_u128 brume_limit_part(brume_i128 total, int p);

/* A norm with one more part. What does not fit is BRUME_LIMIT_ENDLESS, whatever is added then:
 * private groups may be more than four million, and a norm that began anew at 0 would cut nothing.
 */
#define BRUME_LIMIT_ENDLESS (~(brume_u128)0)
static inline brume_u128 brume_limit_add(brume_u128 norm, brume_u128 part)
{
    return part > BRUME_LIMIT_ENDLESS - norm ? BRUME_LIMIT_ENDLESS : norm + part;
}

/* The bin, below `bins`, of a norm (p = 1) or of the square of one (p = 2); BRUME_LIMIT_NO_BIN for
 * 0. */
size_t brume_limit_bin(brume_u128 norm, int p, size_t bins);

#endif
