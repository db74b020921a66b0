/* Bounds over one cell of a sieve. See sieve.h and proofs/accountant.md, section 12.
 *
 * Law by law: S = base - sum g cos(2ay) + sum g' cos(4ay) by its Taylor series in the middle of the
 * cell: of the first harmonic three derivatives over half the cell, of the second one. The rest is
 * `bend`.
 * By groups: sum g cos(2ay) <= |G|, G = sum g e^{2i(a - b)y} for any b; over the cell G is G0 +
 * iuG1, |u| <= 1, up to sum g t^2/2. The second harmonic likewise. */
#include <math.h>
#include <string.h>

#include "accountant/sieve.h"

typedef double lanes __attribute__((vector_size(4 * sizeof(double))));

#define LOAD(to, from) memcpy(&(to), (from), sizeof(lanes))

static inline __attribute__((always_inline)) double total(lanes x)
{
    return (x[0] + x[1]) + (x[2] + x[3]);
}

static inline __attribute__((always_inline)) void turn_lane(brume_sieve_lane *lane, lanes re,
                                                            lanes im)
{
    lanes turn_re, turn_im;
    LOAD(turn_re, lane->turn_re);
    LOAD(turn_im, lane->turn_im);
    lanes next_re = re * turn_re - im * turn_im, next_im = re * turn_im + im * turn_re;
    memcpy(lane->wave_re, &next_re, sizeof re);
    memcpy(lane->wave_im, &next_im, sizeof re);
}

static inline __attribute__((always_inline)) double cell_bound(brume_sieve *sieve)
{
    lanes value = {0}, slope = {0}, curve = {0}, twist = {0}, bow = {0};
    for (size_t j = 0; j < sieve->lane_count; j++) {
        brume_sieve_lane *lane = &sieve->lane[j];
        lanes re, im, part;
        LOAD(re, lane->wave_re);
        LOAD(im, lane->wave_im);
        LOAD(part, lane->size);
        value += part * re;
        LOAD(part, lane->slope);
        slope += part * im;
        LOAD(part, lane->curve);
        curve += part * re;
        LOAD(part, lane->twist);
        twist += part * im;
        LOAD(part, lane->second);
        value -= part * (re * re - im * im);
        LOAD(part, lane->second_slope);
        bow += part * (2 * re * im);
        turn_lane(lane, re, im);
    }
    double second = total(curve);
    return sieve->base - total(value) - fabs(total(slope - bow)) + (second < 0 ? second : 0) -
           fabs(total(twist)) - sieve->bend;
}

/* |G0 + iuG1| for |u| <= 1: its square is convex in u, so that one of the ends is largest. */
static inline __attribute__((always_inline)) double largest(lanes value_re, lanes value_im,
                                                            lanes slope_re, lanes slope_im)
{
    double a = total(value_re), b = total(value_im), c = total(slope_re), d = total(slope_im);
    return sqrt((a * a + b * b) + (c * c + d * d) + 2 * fabs(b * c - a * d));
}

static inline __attribute__((always_inline)) double group_bound(brume_sieve *sieve)
{
    double bound = sieve->base - sieve->bend;
    size_t j = 0;
    for (size_t k = 0; k < sieve->group_count; k++) {
        lanes value_re = {0}, value_im = {0}, slope_re = {0}, slope_im = {0};
        lanes second_re = {0}, second_im = {0}, bow_re = {0}, bow_im = {0};
        for (; j < sieve->group_end[k]; j++) {
            brume_sieve_lane *lane = &sieve->lane[j];
            lanes re, im, part;
            LOAD(re, lane->wave_re);
            LOAD(im, lane->wave_im);
            LOAD(part, lane->size);
            value_re += part * re;
            value_im += part * im;
            LOAD(part, lane->slope);
            slope_re += part * re;
            slope_im += part * im;
            lanes square_re = re * re - im * im, square_im = 2 * re * im;
            LOAD(part, lane->second);
            second_re += part * square_re;
            second_im += part * square_im;
            LOAD(part, lane->second_slope);
            bow_re += part * square_re;
            bow_im += part * square_im;
            turn_lane(lane, re, im);
        }
        bound -= largest(value_re, value_im, slope_re, slope_im) +
                 largest(second_re, second_im, bow_re, bow_im);
    }
    return bound;
}

double brume_sieve_cell(brume_sieve *sieve)
{
    return cell_bound(sieve);
}

double brume_sieve_group(brume_sieve *sieve)
{
    return group_bound(sieve);
}

#if defined(__x86_64__)
/* The same operations four at a time; no contraction, so the same numbers. */
__attribute__((target("avx2"))) double brume_sieve_cell_wide(brume_sieve *sieve)
{
    return cell_bound(sieve);
}

__attribute__((target("avx2"))) double brume_sieve_group_wide(brume_sieve *sieve)
{
    return group_bound(sieve);
}
#else
double brume_sieve_cell_wide(brume_sieve *sieve)
{
    return cell_bound(sieve);
}

double brume_sieve_group_wide(brume_sieve *sieve)
{
    return group_bound(sieve);
}
#endif
