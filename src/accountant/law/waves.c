/* Waves over the points of a table. See the header. */
#include "accountant/law/points.h"

#include "number/elementary.h"
#include "number/paths.h"

enum { ROW = BRUME_WAVE_ROW, BLOCK = BRUME_WAVE_BLOCK };

/* Both parts times a decay of the modulus, or times a weight. */
BRUME_BODY void shrink_body(double *restrict re, double *restrict im, const double *restrict factor,
                            size_t count)
{
    for (size_t j = 0; j < count; j++) {
        re[j] *= factor[j];
        im[j] *= factor[j];
    }
}
BRUME_PATHS(static, shrink, (double *re, double *im, const double *factor, size_t count),
            (re, im, factor, count))

static void start_block(const brume_waves *waves, size_t from, size_t count, double y, double *re,
                        double *im)
{
    double scaled[BLOCK], decay[BLOCK];
    for (size_t j = 0; j < count; j++)
        scaled[j] = y * waves->loss[from + j];
    brume_vector_sincos(scaled, im + from, re + from, count);
    if (waves->decay) {
        for (size_t j = 0; j < count; j++)
            scaled[j] = -y * waves->decay[from + j];
        brume_vector_exp(scaled, decay, count);
        shrink(re + from, im + from, decay, count);
    }
    if (waves->weight)
        shrink(re + from, im + from, waves->weight + from, count);
}

void brume_waves_start(const brume_waves *waves, size_t count, double y, double *re, double *im)
{
    for (size_t from = 0; from < count; from += BLOCK)
        start_block(waves, from, count - from < BLOCK ? count - from : BLOCK, y, re, im);
    for (size_t j = count; j < brume_wave_rows(count); j++)
        re[j] = im[j] = 0;
}

/* The lanes of a row into one sum */
BRUME_BODY double add_lanes(double *lanes)
{
    for (int half = ROW / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++)
            lanes[j] += lanes[j + half];
    return lanes[0];
}

BRUME_BODY void brume_waves_sum_body(const double *restrict re, const double *restrict im,
                                     size_t count, double *restrict sum_re, double *restrict sum_im)
{
    double all_re[ROW] = {0}, all_im[ROW] = {0};
    for (size_t from = 0; from < count; from += ROW)
        for (size_t j = 0; j < ROW; j++) {
            all_re[j] += re[from + j];
            all_im[j] += im[from + j];
        }
    *sum_re = add_lanes(all_re);
    *sum_im = add_lanes(all_im);
}
BRUME_PATHS(, brume_waves_sum,
            (const double *re, const double *im, size_t count, double *sum_re, double *sum_im),
            (re, im, count, sum_re, sum_im))

BRUME_BODY void brume_waves_turn_body(double *restrict re, double *restrict im,
                                      const double *restrict turn_re,
                                      const double *restrict turn_im, size_t count,
                                      double *restrict sum_re, double *restrict sum_im)
{
    double all_re[ROW] = {0}, all_im[ROW] = {0};
    for (size_t from = 0; from < count; from += ROW)
        for (size_t j = 0; j < ROW; j++) {
            double a = re[from + j], b = im[from + j];
            double x = turn_re[from + j], y = turn_im[from + j];
            double new_re = a * x - b * y, new_im = a * y + b * x;
            re[from + j] = new_re;
            im[from + j] = new_im;
            all_re[j] += new_re;
            all_im[j] += new_im;
        }
    *sum_re = add_lanes(all_re);
    *sum_im = add_lanes(all_im);
}
BRUME_PATHS(, brume_waves_turn,
            (double *re, double *im, const double *turn_re, const double *turn_im, size_t count,
             double *sum_re, double *sum_im),
            (re, im, turn_re, turn_im, count, sum_re, sum_im))

BRUME_BODY void gain_body(double *restrict re, double *restrict im, const double *restrict turn_re,
                          const double *restrict turn_im, const double *restrict gain_re,
                          const double *restrict gain_im, size_t count, double *restrict sum_re,
                          double *restrict sum_im)
{
    double all_re[ROW] = {0}, all_im[ROW] = {0};
    for (size_t from = 0; from < count; from += ROW)
        for (size_t j = 0; j < ROW; j++) {
            double a = re[from + j], b = im[from + j];
            double x = turn_re[from + j], y = turn_im[from + j];
            double new_re = a * x - b * y + gain_re[from + j];
            double new_im = a * y + b * x + gain_im[from + j];
            re[from + j] = new_re;
            im[from + j] = new_im;
            all_re[j] += new_re;
            all_im[j] += new_im;
        }
    *sum_re = add_lanes(all_re);
    *sum_im = add_lanes(all_im);
}
BRUME_PATHS(static, gain,
            (double *re, double *im, const double *turn_re, const double *turn_im,
             const double *gain_re, const double *gain_im, size_t count, double *sum_re,
             double *sum_im),
            (re, im, turn_re, turn_im, gain_re, gain_im, count, sum_re, sum_im))

void brume_waves_gain(double *re, double *im, const double *const turn[2],
                      const double *const gains[2], size_t count, double *sum_re, double *sum_im)
{
    gain(re, im, turn[0], turn[1], gains[0], gains[1], count, sum_re, sum_im);
}
