/* psi at blocks of nodes. See the header and proofs/accountant/contour.md, section contour.3.
 *
 * With A = (c + 1/2) a, p = 1/(1 + e^{-2A}), q = 1 - p, g = 1/(2 sigma), R = e^{-2iya}:
 *   psi = e^{iya} [p (1 + g) + qR (1 - g)] / D,  pure: g = 0 and D = 1, binary: A = t + cw too.
 * Promise: without the factors e^{iya}, psi up to the error that dense.c states, by whichever
 * instructions: fused or not, a product and a sum err by no more than two roundings. */
#include "accountant/contour/vector_fill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = BRUME_VECTOR_LINE_BLOCK };

brume_vector_line_wave *brume_vector_line_waves_open(const brume_line *line)
{
    enum { STRIDE = 8 };
    size_t size = (line->law_count + 1) * sizeof(brume_vector_line_wave); /* never of no size */
    brume_vector_line_wave *waves = aligned_alloc(64, (size + 63) / 64 * 64);
    if (!waves)
        return NULL;
    for (size_t i = 0; i < line->law_count; i++) {
        const brume_law *law = &line->laws[i];
        brume_vector_line_wave *w = &waves[i];
        memset(w, 0, sizeof *w);
        w->laplace = law->kind == BRUME_LAW_LAPLACE;
        double fade = exp(-2 * law->tilt * law->a), below = w->laplace ? law->denominator : 1;
        if (law->kind ==
            BRUME_LAW_SAMPLED_PURE) /* of e up to 256: A by 4 units, p and q by 2 and 8 */
            fade = (double)expl(-2 * (law->lean + line->c * law->spread));
        /* absolute: e^{-2A} by 16 A e^{-2A} + 4 <= 7 units, p and q by 8, D by 12: 15 units each */
        w->high = 1 / ((1 + fade) * below);
        w->low = fade / ((1 + fade) * below);
        w->angle = -2 * law->a;
        w->draws = (unsigned)law->count;
        /* each turn is one of 8 times one of 4: two sines and cosines and their product */
        for (int j = 0; j < STRIDE; j++)
            sincos(w->angle * (j * line->h), &w->turn_im[j], &w->turn_re[j]);
        for (int j = STRIDE; j < BLOCK; j += STRIDE) {
            double re, im;
            sincos(w->angle * (j * line->h), &im, &re);
            for (int k = 0; k < STRIDE; k++) {
                w->turn_re[j + k] = re * w->turn_re[k] - im * w->turn_im[k];
                w->turn_im[j + k] = re * w->turn_im[k] + im * w->turn_re[k];
            }
        }
        sincos(w->angle * (BLOCK * line->h), &w->next_im, &w->next_re);
    }
    return waves;
}

void brume_vector_line_waves_close(brume_vector_line_wave *waves)
{
    free(waves);
}

void brume_vector_line_waves_turn(brume_vector_line_wave *waves, size_t count, double y,
                                  bool turned)
{
    for (size_t i = 0; i < count; i++) {
        brume_vector_line_wave *w = &waves[i];
        if (turned) {
            double old = w->start_re;
            w->start_re = old * w->next_re - w->start_im * w->next_im;
            w->start_im = old * w->next_im + w->start_im * w->next_re;
        } else {
            sincos(w->angle * y, &w->start_im, &w->start_re);
        }
        w->lead_re = w->low * w->start_re;
        w->lead_im = w->low * w->start_im;
    }
}

typedef double two __attribute__((vector_size(2 * sizeof(double))));

#define LANES      two
#define WIDTH      2
#define MAD        plain_two
#define FILL       fill_two
#define FILL_TIMES times_two
#define FILL_POWER power_two
static inline __attribute__((always_inline)) void plain_two(const two *a, const two *b, two *c)
{
    *c += *a * *b;
}
#include "accountant/contour/vector_lanes.h"

static void fill_plain(brume_vector_line_nodes *block, const brume_vector_line_wave *waves,
                       size_t count)
{
    fill_two(block, waves, count);
}

#if defined(__x86_64__)

typedef double four __attribute__((vector_size(4 * sizeof(double))));

#undef LANES
#undef WIDTH
#undef MAD
#undef FILL
#undef FILL_TIMES
#undef FILL_POWER
#define LANES      four
#define WIDTH      4
#define MAD        fused_four
#define FILL       fill_fused_four
#define FILL_TIMES times_fused_four
#define FILL_POWER power_fused_four
static inline __attribute__((always_inline)) void fused_four(const four *a, const four *b, four *c)
{
    for (int k = 0; k < 4; k++)
        (*c)[k] = __builtin_fma((*a)[k], (*b)[k], (*c)[k]);
}
#include "accountant/contour/vector_lanes.h"

__attribute__((target("avx2,fma"))) static void fill_wide(brume_vector_line_nodes *block,
                                                          const brume_vector_line_wave *waves,
                                                          size_t count)
{
    fill_fused_four(block, waves, count);
}

typedef double eight __attribute__((vector_size(8 * sizeof(double))));

#undef LANES
#undef WIDTH
#undef MAD
#undef FILL
#undef FILL_TIMES
#undef FILL_POWER
#define LANES      eight
#define WIDTH      8
#define MAD        fused_eight
#define FILL       fill_fused_eight
#define FILL_TIMES times_fused_eight
#define FILL_POWER power_fused_eight
static inline __attribute__((always_inline)) void fused_eight(const eight *a, const eight *b,
                                                              eight *c)
{
    for (int k = 0; k < 8; k++)
        (*c)[k] = __builtin_fma((*a)[k], (*b)[k], (*c)[k]);
}
#include "accountant/contour/vector_lanes.h"

__attribute__((target("avx512f,fma"))) static void fill_widest(brume_vector_line_nodes *block,
                                                               const brume_vector_line_wave *waves,
                                                               size_t count)
{
    fill_fused_eight(block, waves, count);
}

brume_fill_function *brume_vector_line_filler(brume_filling filling)
{
    __builtin_cpu_init();
    bool fused = __builtin_cpu_supports("fma");
    if (filling >= BRUME_FILL_EIGHT)
        return fused && __builtin_cpu_supports("avx512f") ? fill_widest : NULL;
    if (filling == BRUME_FILL_FOUR)
        return fused && __builtin_cpu_supports("avx2") ? fill_wide : NULL;
    return fill_plain;
}

#else

brume_fill_function *brume_vector_line_filler(brume_filling filling)
{
    return filling == BRUME_FILL_PLAIN ? fill_plain : NULL;
}

#endif
