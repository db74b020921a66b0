/* The exact local sensitivities of a quantile under add-remove, for any q.
 *
 * Data of N values has the quantile at rank m(N) = max(1, ceil(q N)), m(0) = 0. Between data of N'
 * values and a neighbour the quantile moves across one gap of adjacent order statistics, the one
 * with L values on its left: L = m(N'+1) - 1 for an added value, L = m(N'-1) for a removed one. So
 * one change can move the quantile by the gap with L values on its left and U on its right
 * if and only if (L, U) is one of these pairs, N' = L + U.
 *
 * To make x_i and x_{i+w+1} adjacent takes w removals; to have L values on the left in place of i
 * and U on the right in place of u = N - i - w takes |L - i| + |U - u| changes, at the bounds. So
 * LS_k is the widest x_{i+w+1} - x_i with w + min over pairs of (|L - i| + |U - u|) <= k.
 *
 * Pairs with L >= i and U >= u are enough: where L < i, the window that begins at L has the same
 * end, is wider and costs the same, because the i - L values are removed either way; and where
 * U < u the one that ends U values before the last. Such a pair costs w + N' - (N - w), so that the
 * least N' is sought. For a fixed w it does not fall as i moves away from the L of the pair of size
 * N - w: on the right of it U >= u holds for all sizes from N - w on and the least L >= i is
 * sought, on the left L >= i holds and the least U >= u is. */
#include <brume/statistic/instability.h>

#include <stdbool.h>

#include "base/error.h"
#include "statistic/quantile.h"

static int64_t rank_of(const brume_quantile *quantile, int64_t n)
{
    uint64_t p = quantile->rule.numerator, d = quantile->rule.denominator;
    if (n <= 0)
        return 0;
    int64_t rank = (int64_t)(((uint64_t)n * p + d - 1) / d);
    return rank == 0 ? 1 : rank;
}

/* Is there a pair of that size with L >= i and U >= u? If there is, larger sizes have one, too:
 * neither L nor U falls as the size grows. */
static bool has_pair(const brume_quantile *quantile, int64_t size, int64_t i, int64_t u)
{
    int64_t added = rank_of(quantile, size + 1) - 1, removed = rank_of(quantile, size - 1);
    return (added >= i && size - added >= u) || (removed >= i && size - removed >= u);
}

/* Windows of width w from i on in one direction, as far as they cost at most `most`. */
static void walk(const brume_quantile *quantile, int64_t w, int64_t i, int64_t direction,
                 int64_t most, uint64_t *local)
{
    int64_t rest = (int64_t)quantile->n - w, size = rest;
    for (; i >= 0 && i <= rest; i += direction) {
        while (!has_pair(quantile, size, i, rest - i))
            if (w + ++size - rest > most)
                return;
        uint64_t gap = quantile_gap(quantile, i, i + w + 1), *at = &local[w + size - rest];
        *at = gap > *at ? gap : *at;
    }
}

brume_status brume_quantile_reach(const brume_quantile *quantile, uint64_t most, uint64_t *local,
                                  brume_error *error)
{
    if (quantile->rule.adjacency != BRUME_ADD_REMOVE || quantile->rule.values_per_unit != 1)
        return brume_fail(error, BRUME_EARGUMENT, "use add-remove and one value per unit",
                          "exact local sensitivities are not known for this 'adjacency'");
    if (most > 1000)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'most' is %llu, must be at most 1000",
                          (unsigned long long)most);
    for (uint64_t k = 0; k <= most; k++)
        local[k] = 0;
    int64_t n = (int64_t)quantile->n;
    for (int64_t w = 0; w <= n && w <= (int64_t)most; w++) {
        int64_t start = rank_of(quantile, n - w + 1) - 1; /* L of the pair of that size */
        walk(quantile, w, start, 1, (int64_t)most, local);
        walk(quantile, w, start - 1, -1, (int64_t)most, local);
    }
    for (uint64_t k = 1; k <= most; k++)
        local[k] = local[k] > local[k - 1] ? local[k] : local[k - 1];
    return BRUME_OK;
}
