/* Clipping: a unit's vector over the cells, scaled into a ball and put on a grid.
 *
 * p = 2: why no total needs a second look. With F = T/|v| exactly, the factor is at most
 * F (1 - 2^-40)(1 + 2^-50): norm and limit (or its square) become doubles, one or two roots and a
 * quotient are taken, each within 2^-53 of right. |v_k| is at most 2^53 and so a double; |v_k|
 * 2^shift factor is rounded once more, then down. So y_k <= |v_k| 2^shift F (1 - 2^-40)(1 + 2^-49)
 * <= |v_k| 2^shift F, and the sum of squares is at most t^2. */
#include "query/limit/clip.h"

#include <math.h>

#include "query/limit/grid.h"

#define SLACK (1 - 0x1p-40)

int brume_limit_shift(double reach, bool refine, double noise)
{
    int shift = 0;
    while (refine && reach > 0 && ldexp(reach, shift) < ldexp(1, BRUME_LIMIT_FINE))
        shift++;
    while (ldexp(reach, shift) > ldexp(1, BRUME_LIMIT_COARSE) ||
           ldexp(reach, shift) * noise > 0x1p49)
        shift--;
    return shift;
}

brume_limit_factor brume_limit_factor_of(brume_u128 norm, uint64_t limit, int p)
{
    brume_u128 most = p == 1 ? limit : (brume_u128)limit * limit;
    brume_limit_factor result = {.cuts = norm > most, .norm = norm, .factor = 1};
    if (result.cuts)
        result.factor = (double)limit / (p == 1 ? (double)norm : sqrt((double)norm)) * SLACK;
    if (norm == BRUME_LIMIT_ENDLESS) /* only for p = 2: nobody knows what T/|v| is */
        result.factor = 0;
    return result;
}

brume_limit_factor brume_limit_factor_within(brume_u128 norm, uint64_t square)
{
    brume_limit_factor result = {.cuts = norm > square, .norm = norm, .factor = 1};
    if (result.cuts)
        result.factor = sqrt((double)square) / sqrt((double)norm) * SLACK;
    if (norm == BRUME_LIMIT_ENDLESS)
        result.factor = 0;
    return result;
}

/* size * 2^shift towards zero; sizes are such that the result is within 2^62. */
static int64_t shifted(brume_u128 size, int shift)
{
    return (int64_t)(shift >= 0 ? size << shift : shift > -128 ? size >> -shift : 0);
}

int64_t brume_limit_clip(brume_i128 total, const brume_limit_factor *factor, uint64_t limit,
                         int shift, int p)
{
    brume_u128 size = brume_limit_size(total, p);
    int64_t clipped;
    if (!factor->cuts)
        clipped = shifted(size, shift);
    else if (p == 2)
        clipped = (int64_t)floor(ldexp((double)size * factor->factor, shift));
    else if (shift >= 0) /* size <= 2^80 and limit 2^shift <= 2^44 */
        clipped = (int64_t)(size * ((brume_u128)limit << shift) / factor->norm);
    else /* limit <= 2^63: the limit is made coarse first, which is towards zero */
        clipped = (int64_t)(size * (brume_u128)(uint64_t)shifted(limit, shift) / factor->norm);
    return total < 0 ? -clipped : clipped;
}

int64_t brume_limit_follow(brume_i128 total, const brume_limit_factor *factor, int shift)
{
    brume_u128 size = total < 0 ? -(brume_u128)total : (brume_u128)total;
    int64_t clipped = factor->cuts ? (int64_t)floor(ldexp((double)size * factor->factor, shift))
                                   : shifted(size, shift);
    return total < 0 ? -clipped : clipped;
}

uint32_t brume_limit_weight(brume_u128 values, uint64_t limit)
{
    if (values <= limit)
        return UINT32_C(1) << BRUME_LIMIT_WEIGHT_BITS;
    return (uint32_t)(((brume_u128)limit << BRUME_LIMIT_WEIGHT_BITS) / values); /* down */
}
