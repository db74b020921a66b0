/* Looking at the units of a limit.
 *
 * Promise: every count gets its noise, also of empty bins; a unit is in one number of each look.
 * True counts are read here only. */
#include "query/release/draw_look.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "query/release/draw.h"

/* The true histogram of a limit, and what its numbers cost: it lives as long as noisy numbers are
 * drawn from it. */
typedef struct counting {
    int64_t units[BRUME_LIMIT_BINS];
    brume_noise_kind noise;
    brume_bits *bits;
} counting;

static int64_t units_in(const counting *all, size_t from, size_t end)
{
    int64_t sum = 0;
    for (size_t i = from; i < end; i++)
        sum += all->units[i];
    return sum;
}

/* Draw a number for each of the counts and pool it with what was bought before for the same. */
static brume_status draw(const counting *all, double scale, const int64_t *truth, size_t count,
                         brume_noisy *numbers, brume_error *error)
{
    double noisy[BRUME_LIMIT_BINS + BRUME_LIMIT_PARTS];
    double deviation = all->noise == BRUME_NOISE_DISCRETE_LAPLACE ? M_SQRT2 * scale : scale;
    BRUME_TRY(brume_draw_counts(all->noise, scale, truth, count, all->bits, noisy, error));
    for (size_t i = 0; i < count; i++)
        brume_noisy_pool(&numbers[i], noisy[i], deviation);
    return BRUME_OK;
}

/* The tail: each bin below the parts, and the parts; disjoint, so that a unit is in one of them. */
static brume_status draw_tail(const counting *all, double scale, brume_looks *bought,
                              brume_error *error)
{
    int64_t truth[BRUME_LIMIT_BINS + BRUME_LIMIT_PARTS];
    brume_noisy numbers[BRUME_LIMIT_BINS + BRUME_LIMIT_PARTS];
    size_t body = bought->tail;
    for (size_t i = 0; i < body; i++) {
        truth[i] = all->units[i];
        numbers[i] = bought->bin[i];
    }
    for (size_t p = 0; p < BRUME_LIMIT_PARTS; p++) {
        truth[body + p] =
            units_in(all, brume_looks_part(bought->tail, p), brume_looks_part(bought->tail, p + 1));
        numbers[body + p] = bought->part[p];
    }
    BRUME_TRY(draw(all, scale, truth, body + BRUME_LIMIT_PARTS, numbers, error));
    memcpy(bought->bin, numbers, body * sizeof *numbers);
    memcpy(bought->part, &numbers[body], sizeof bought->part);
    return BRUME_OK;
}

brume_status brume_look(const uint64_t units[BRUME_LIMIT_BINS], const brume_look_prices *prices,
                        brume_bits *bits, brume_decider decide, void *context,
                        brume_found_limit *limit, brume_error *error)
{
    counting all = {.noise = prices->noise, .bits = bits};
    brume_looks *bought = &limit->bought;
    for (size_t i = 0; i < BRUME_LIMIT_BINS; i++)
        all.units[i] = (int64_t)units[i];
    bought->gaussian = prices->noise != BRUME_NOISE_DISCRETE_LAPLACE;
    if (prices->first > 0) {
        int64_t above = units_in(&all, 1, BRUME_LIMIT_BINS);
        BRUME_TRY(draw(&all, prices->first, &above, 1, &bought->first, error));
        limit->step = BRUME_CHOICE_COUNT;
        brume_looks looks = brume_found_looks(limit);
        if (brume_looks_are_quiet(&looks))
            return BRUME_OK;
    }
    BRUME_TRY(draw(&all, prices->histogram, all.units, BRUME_LIMIT_BINS, bought->bin, error));
    limit->step = BRUME_CHOICE_HISTOGRAM;
    BRUME_TRY(decide(context, limit, error));
    if (!limit->choice.found)
        return BRUME_OK;
    brume_looks looks = brume_found_looks(limit);
    bought->tail = brume_looks_next_tail(&looks);
    BRUME_TRY(draw_tail(&all, prices->tail, bought, error));
    limit->step = BRUME_CHOICE_TAIL;
    BRUME_TRY(decide(context, limit, error));
    if (!limit->choice.in_doubt || !(prices->again > 0))
        return BRUME_OK;
    BRUME_TRY(draw_tail(&all, prices->again, bought, error));
    limit->step = BRUME_CHOICE_AGAIN;
    return BRUME_OK;
}
