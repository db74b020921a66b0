/* Waves w_j exp(y (i l_j - d_j)) over the points of a table, and their sums.
 *
 * Points come in whole rows of BRUME_WAVE_ROW; beyond the last one everything is 0. Sums run in
 * that many lanes, which are added pairwise at the end: of n rows, an error of (n + 4) U of the
 * terms' sizes. On every instruction set the same bits. proofs/accountant/law.md, section law.2. */
#ifndef BRUME_ACCOUNTANT_LAW_WAVES_H
#define BRUME_ACCOUNTANT_LAW_WAVES_H

#include <stddef.h>

/* A row, and how many points are computed at once. */
enum { BRUME_WAVE_ROW = 16, BRUME_WAVE_BLOCK = 64 };

static inline size_t brume_wave_rows(size_t count)
{
    return (count + BRUME_WAVE_ROW - 1) / BRUME_WAVE_ROW * BRUME_WAVE_ROW;
}

typedef struct brume_waves {
    const double *loss, *decay, *weight; /* the last two may be NULL: no decay, weights of 1 */
} brume_waves;

/* The waves of `count` points at y, into whole rows. Relative to its weight a wave errs by 7 U (4
 * where nothing decays) and by U |y (l + i d)|. */
void brume_waves_start(const brume_waves *waves, size_t count, double y, double *re, double *im);

/* Multiply each wave by its turn, and sum: an error of sqrt(5) U each, and that of the turn. */
void brume_waves_turn(double *re, double *im, const double *turn_re, const double *turn_im,
                      size_t count, double *sum_re, double *sum_im);

/* The same, and to each wave add its gain. */
void brume_waves_gain(double *re, double *im, const double *const turn[2],
                      const double *const gain[2], size_t count, double *sum_re, double *sum_im);

void brume_waves_sum(const double *re, const double *im, size_t count, double *sum_re,
                     double *sum_im);

#endif
