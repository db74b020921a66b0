/* Showing keys without counts, as often as privacy allows.                                [DVGM20]
 *
 * Promises: (e, d)-DP for one key that changes by one unit, where e = epsilon/S and d is the share
 * 1-(1-delta)^(1/S), S keys changing between neighbours; all S together are (epsilon, delta)-DP.
 * The probabilities rise as fast as two inequalities allow,
 *     p_n <= exp(e) p_{n-1} + d    and    1 - p_{n-1} <= exp(e) (1 - p_n) + d,
 * and each is rounded down to a multiple of 2^-62 before the next is made from it, so that the
 * inequalities hold for the numbers that are drawn. A d below 2^-53 is lost when it is added to a
 * chance near 1: there the chances stop rising and the last one holds for all larger counts.
 * proofs/stable_histogram.md. */
#include <brume/mechanism/stable_histogram.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <brume/noise/primitive.h>

#include "base/error.h"
#include "mechanism/stability/laplace_tail.h"
#include "number/rounding.h"

static const double ONE = 0x1p62;
static const uint64_t CERTAIN = UINT64_C(1) << 62;

struct brume_key_selection {
    uint64_t *chance; /* chance[n] 2^-62 for n < size */
    size_t size;
    uint64_t last; /* the chance from `size` on: 1, or the last that rounding lets rise */
};

/* The largest multiple of 2^-62, of at most 53 bits, that may follow `before`. */
static double next_chance(double before, double epsilon, double delta)
{
    double grown = brume_add_down(brume_multiply_down(brume_exp_down(epsilon), before), delta);
    double missing = brume_subtract_up(1, brume_add_down(before, delta));
    double shrunk = brume_subtract_down(1, brume_multiply_up(brume_exp_up(-epsilon), missing));
    double least = grown < shrunk ? grown : shrunk;
    least = least < 1 ? least : 1;
    return floor(least * ONE) / ONE; /* both exact: powers of two and a floor */
}

brume_status brume_key_selection_open(double epsilon, double delta, uint64_t keys_per_unit,
                                      brume_adjacency adjacency, brume_key_selection **out,
                                      brume_error *error)
{
    if (adjacency != BRUME_ADD_REMOVE && adjacency != BRUME_REPLACE)
        return brume_fail(error, BRUME_EARGUMENT, "use add-remove or replace",
                          "selecting keys is not defined under this 'adjacency'");
    if (keys_per_unit < 1 || keys_per_unit > 1 << 20)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "%llu keys a unit, must be in [1, 2^20]",
                          (unsigned long long)keys_per_unit);
    uint64_t changing = adjacency == BRUME_REPLACE ? 2 * keys_per_unit : keys_per_unit;
    double share = delta > 0 && delta < .5 ? brume_delta_share_lower(delta, changing) : 0;
    double each = brume_divide_down(epsilon, (double)changing);
    if (!(each >= 0x1p-20 && epsilon <= 700 && share >= 0x1p-60))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'epsilon' %.17g and 'delta' %.17g leave too little for each key",
                          epsilon, delta);
    size_t room = 1024;
    brume_key_selection *selection = calloc(1, sizeof *selection);
    uint64_t *chance = malloc(room * sizeof *chance);
    double before = 0;
    while (selection && chance && before < 1) {
        if (selection->size == room) {
            uint64_t *more = realloc(chance, 2 * room * sizeof *chance);
            if (!more) {
                free(chance);
                chance = NULL;
                break;
            }
            chance = more;
            room *= 2;
        }
        /* cppcheck-suppress nullPointerRedundantCheck ; the loop ends where there is none */
        chance[selection->size++] = (uint64_t)(before * ONE);
        double next = next_chance(before, each, share);
        if (!(next > before))
            break; /* equal chances are private at every epsilon and delta */
        before = next;
    }
    if (!selection || !chance) {
        free(selection);
        free(chance);
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for the chances of keys");
    }
    selection->chance = chance;
    selection->last = (uint64_t)(before * ONE);
    *out = selection;
    return BRUME_OK;
}

void brume_key_selection_close(brume_key_selection *selection)
{
    if (!selection)
        return;
    free(selection->chance);
    free(selection);
}

double brume_key_selection_probability(const brume_key_selection *selection, uint64_t units)
{
    uint64_t chance = units < selection->size ? selection->chance[units] : selection->last;
    return (double)chance / ONE;
}

brume_status brume_key_selection_draw(const brume_key_selection *selection, brume_bits *bits,
                                      const int64_t *units, unsigned char *keep, size_t n,
                                      brume_error *error)
{
    brume_status status = BRUME_OK;
    for (size_t i = 0; i < n && status == BRUME_OK; i++) {
        bool shown = units[i] > 0;
        uint64_t chance = shown && (uint64_t)units[i] < selection->size
                              ? selection->chance[units[i]]
                              : selection->last;
        if (shown && chance < CERTAIN)
            status = brume_sample_bernoulli(bits, chance, CERTAIN, &shown, error);
        keep[i] = shown;
    }
    if (status != BRUME_OK)
        for (size_t i = 0; i < n; i++)
            keep[i] = 0;
    return status;
}
