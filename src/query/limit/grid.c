/* The grid of limits, and the bin of it that a unit is in.
 *
 * Promise: integers only, so that the bin of a unit is the same on every machine and for every
 * order of its rows. Edges are 2^k and 3 2^(k-1): two to an octave, each a third or a half more
 * than the one before, and none needs rounding. */
#include "query/limit/grid.h"

uint64_t brume_limit_edge(size_t bin)
{
    if (bin == 0)
        return 1;
    return bin % 2 ? UINT64_C(1) << (bin + 1) / 2 : UINT64_C(3) << (bin / 2 - 1);
}

size_t brume_limit_bins(uint64_t ceiling)
{
    size_t bins = 1;
    if (ceiling == 0)
        return BRUME_LIMIT_BINS;
    while (bins < BRUME_LIMIT_BINS && brume_limit_edge(bins - 1) < ceiling)
        bins++;
    return bins;
}

brume_u128 brume_limit_size(brume_i128 total, int p)
{
    brume_u128 size = total < 0 ? -(brume_u128)total : (brume_u128)total;
    return size < BRUME_LIMIT_LARGEST(p) ? size : BRUME_LIMIT_LARGEST(p);
}

brume_u128 brume_limit_part(brume_i128 total, int p)
{
    brume_u128 size = brume_limit_size(total, p);
    return p == 1 ? size : size * size;
}

size_t brume_limit_bin(brume_u128 norm, int p, size_t bins)
{
    if (norm == 0)
        return BRUME_LIMIT_NO_BIN;
    size_t low = 0, high = bins - 1; /* the last bin is open */
    while (low < high) {
        size_t middle = (low + high) / 2;
        brume_u128 edge = brume_limit_edge(middle);
        if (norm <= (p == 1 ? edge : edge * edge)) /* at most 2^126 */
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
