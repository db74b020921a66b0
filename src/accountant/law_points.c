/* Losses that are finite sums: tables of atoms (and the real quadrature of the subsampled Gaussian,
 * of which only the cumulant and the tilted weights are used).
 *
 * psi - 1 = sum_j v_j (exp(i y l_j) - 1), v_j the tilted weights; consecutive nodes turn the waves
 * v_j exp(i y l_j) by one complex product, with a fresh sine and cosine every 16 nodes.
 * Promise: |error of psi - 1| <= brume_points_error, see proofs/accountant.md, section 4. */
#include "accountant/law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double unit = BRUME_UNIT;

/* Below exp(-55) of the largest weight a point is dropped: its share goes into the error. */
static const double cut = -55;

bool brume_points_allocate(brume_points *points, size_t count)
{
    enum { ARRAYS = 13 };
    if (count == 0 || count > SIZE_MAX / (ARRAYS * sizeof(double)))
        return false;
    double *memory = malloc(count * ARRAYS * sizeof *memory);
    if (!memory)
        return false;
    free(points->memory);
    double **arrays[ARRAYS] = {
        &points->loss,    &points->log_mass, &points->place,   &points->atom,    &points->weight,
        &points->spot,    &points->wave_re,  &points->wave_im, &points->turn_re, &points->turn_im,
        &points->gain_re, &points->gain_im,  &points->doubt};
    for (size_t i = 0; i < ARRAYS; i++)
        *arrays[i] = memory + i * count;
    points->memory = memory;
    points->count = count;
    points->live = 0;
    return true;
}

/* The bound of |error of log v_j + normaliser| of one point: the mass's own, the parameter in c l,
 * the sum and the exponential. */
static double point_error(const brume_law *law, double c, size_t j, double exponent)
{
    const brume_points *p = &law->points;
    double error = 14 * fabs(c * p->loss[j]) + 12 * fabs(p->log_mass[j]) + 2 * fabs(exponent) + 8;
    if (law->kind == BRUME_LAW_SAMPLED)
        error += (c + 1) * brume_sampled_loss_error(law, p->place[j]);
    return p->mass_error + unit * error;
}

long double brume_points_cumulant(const brume_law *law, double c, double *slope, double *error)
{
    const brume_points *p = &law->points;
    double most = -INFINITY;
    for (size_t j = 0; j < p->count; j++)
        most = fmax(most, c * p->loss[j] + p->log_mass[j]);
    double sum = 0, moment = 0, deviation = 0;
    for (size_t j = 0; j < p->count; j++) {
        double exponent = c * p->loss[j] + p->log_mass[j] - most;
        if (exponent < cut)
            continue;
        double weight = exp(exponent);
        sum += weight;
        moment += weight * p->loss[j];
        if (error)
            deviation += weight * point_error(law, c, j, exponent);
    }
    if (slope)
        *slope = moment / sum;
    if (error)
        *error = deviation / sum + (double)p->count * (exp(cut) + unit) +
                 4 * unit * (fabs(most) + 1);
    return (long double)most + logl((long double)sum);
}

void brume_points_settle(brume_law *law)
{
    brume_points *p = &law->points;
    double c = law->c, most = -INFINITY;
    for (size_t j = 0; j < p->count; j++)
        most = fmax(most, c * p->loss[j] + p->log_mass[j]);
    double sum = 0, size = 0, error_size = 0, error_sum = 0, loss_error = 0;
    size_t live = 0;
    for (size_t j = 0; j < p->count; j++) {
        double exponent = c * p->loss[j] + p->log_mass[j] - most;
        if (exponent < cut)
            continue;
        double weight = exp(exponent), deviation = point_error(law, c, j, exponent);
        p->weight[live] = weight;
        p->atom[live] = p->loss[j];
        p->spot[live] = p->place[j];
        live++;
        sum += weight;
        size += weight * fabs(p->loss[j]);
        error_size += weight * deviation * fabs(p->loss[j]);
        error_sum += weight * deviation;
        if (law->kind == BRUME_LAW_SAMPLED)
            loss_error += weight * brume_sampled_loss_error(law, p->place[j]);
    }
    law->loss_error = loss_error / sum;
    for (size_t j = 0; j < live; j++)
        p->weight[j] /= sum;
    p->live = live;
    law->mean_size = size / sum * (1 + 1e-9);
    law->error_size = (error_size + error_sum * size / sum) / sum;
    law->error_sum = 2 * error_sum / sum + (double)p->count * exp(cut);
    law->wave_index = -1;
}

double brume_points_error(const brume_law *law, double y)
{
    y = fabs(y);
    /* y l by 12 units and 16 turns of 4 units each; sums of 16-blocks; the weights' own errors
     * move sum v_j (e^{i y l_j} - 1) by at most min(y * error_size, 2 * error_sum) */
    double blocks = (double)(law->points.live / 16) + 20;
    double fresh = fmin(y * law->mean_size, 2);
    double error = unit * (y * (16 * law->mean_size + law->loss_error) + (76 + blocks) * fresh) +
                   fmin(y * law->error_size * 1.1, 2.2 * law->error_sum) +
                   (double)law->points.count * exp(cut);
    return error;
}

/* Stand the waves at node `index`. */
static void turn_waves(brume_law *law, long index, double h)
{
    brume_points *p = &law->points;
    double *re = p->wave_re, *im = p->wave_im, *turn_re = p->turn_re, *turn_im = p->turn_im;
    bool new_step = law->wave_index < 0 || law->wave_step != h;
    size_t live = p->live;
    if (new_step)
        for (size_t j = 0; j < live; j++)
            sincos(h * p->atom[j], &turn_im[j], &turn_re[j]);
    if (new_step || law->wave_index != index - 1 || index % 16 == 0) {
        double y = (double)index * h;
        for (size_t j = 0; j < live; j++) {
            sincos(y * p->atom[j], &im[j], &re[j]);
            re[j] *= p->weight[j];
            im[j] *= p->weight[j];
        }
    } else {
        for (size_t j = 0; j < live; j++) {
            double a = re[j], b = im[j];
            re[j] = a * turn_re[j] - b * turn_im[j];
            im[j] = a * turn_im[j] + b * turn_re[j];
        }
    }
    law->wave_index = index;
    law->wave_step = h;
}

static brume_log_psi few_points(const brume_law *law, double y)
{
    /* directly, without cancellation near y = 0 */
    const brume_points *p = &law->points;
    double z_re = 0, z_im = 0;
    for (size_t j = 0; j < p->live; j++) {
        double s, c;
        sincos(0.5 * y * p->atom[j], &s, &c);
        z_re -= 2 * p->weight[j] * s * s;
        z_im += 2 * p->weight[j] * s * c;
    }
    return brume_log_psi_of(z_re, z_im, brume_points_error(law, y));
}

brume_log_psi brume_points_node(brume_law *law, long index, double h)
{
    double y = (double)index * h;
    if (law->points.live <= 24)
        return few_points(law, y);
    turn_waves(law, index, h);
    const brume_points *p = &law->points;
    double z_re = 0, z_im = 0;
    for (size_t start = 0; start < p->live; start += 16) {
        size_t end = start + 16 < p->live ? start + 16 : p->live;
        double block_re = 0, block_im = 0;
        for (size_t j = start; j < end; j++) {
            block_re += p->wave_re[j];
            block_im += p->wave_im[j];
        }
        z_re += block_re;
        z_im += block_im;
    }
    /* here psi itself is summed: the weights sum to 1 within live/16 + 20 units */
    double whole = unit * ((double)p->live / 8 + 60);
    return brume_log_psi_of(z_re - 1, z_im, brume_points_error(law, y) + whole);
}

double brume_points_band(const brume_law *law, double low, double high)
{
    if (!(high < 1e12))
        return 0;
    const brume_points *p = &law->points;
    double re = 0, im = 0;
    for (size_t j = 0; j < p->live; j++) {
        double s, c;
        sincos(low * p->atom[j], &s, &c);
        re += p->weight[j] * c;
        im += p->weight[j] * s;
    }
    /* |psi| is Lipschitz in y with constant E|L - m| <= 2 E|L|, and with E|L| itself */
    double bound = hypot(re, im) + brume_points_error(law, low) + (high - low) * law->mean_size +
                   unit * (double)(p->live + 8);
    return bound < 1 ? log(bound) : 0;
}
