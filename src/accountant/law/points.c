/* Losses that are finite sums: tables of atoms, and the real quadrature of the subsampled Gaussian,
 * of which only the cumulant and the tilted weights are used.
 *
 * psi - 1 = sum_j v_j (exp(i y l_j) - 1), v_j the tilted weights; consecutive nodes turn the waves
 * v_j exp(i y l_j) by one complex product, with a fresh sine and cosine every 8 nodes.
 * Promise: |error of psi - 1| <= psi_error, see proofs/accountant/law.md, section law.2. */
#include "accountant/law/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/law/family.h"
#include "number/elementary.h"
#include "number/elementary_body.h"

enum { BLOCK = BRUME_WAVE_BLOCK, ROW = BRUME_WAVE_ROW, FRESH = 8 };

static const double unit = BRUME_UNIT;

/* Below exp(-55) of the largest weight a point is dropped: its share goes into the error. */
static const double cut = -55;

bool brume_points_allocate(brume_points *points, size_t count)
{
    enum { ARRAYS = 14 };
    size_t length = count > SIZE_MAX / 2 ? 0 : brume_wave_rows(count);
    if (length == 0 || length > SIZE_MAX / (ARRAYS * sizeof(double)))
        return false;
    double *memory = malloc(length * ARRAYS * sizeof *memory);
    if (!memory)
        return false;
    free(points->memory);
    double **arrays[ARRAYS] = {
        &points->loss,    &points->log_mass, &points->place,   &points->moved,   &points->atom,
        &points->weight,  &points->spot,     &points->wave_re, &points->wave_im, &points->turn_re,
        &points->turn_im, &points->gain_re,  &points->gain_im, &points->doubt};
    for (size_t i = 0; i < ARRAYS; i++) {
        *arrays[i] = memory + i * length;
        memset(*arrays[i] + count, 0, (length - count) * sizeof *memory); /* the last row's rest */
    }
    memset(points->moved, 0, length * sizeof *memory);
    points->memory = memory;
    points->count = count;
    points->live = 0;
    brume_points_restart(points);
    return true;
}

void brume_points_close(brume_points *points)
{
    free(points->memory);
    points->memory = NULL;
}

void brume_points_restart(brume_points *points)
{
    points->wave_index = -1;
    points->envelope_low = NAN;
}

/* The largest of c l_j + log m_j. */
BRUME_BODY void largest_body(const double *restrict loss, const double *restrict log_mass, double c,
                             size_t count, double *restrict out)
{
    double most[ROW];
    for (size_t j = 0; j < ROW; j++)
        most[j] = -INFINITY;
    size_t from = 0;
    for (; from + ROW <= count; from += ROW)
        for (size_t j = 0; j < ROW; j++) {
            double exponent = c * loss[from + j] + log_mass[from + j];
            most[j] = exponent > most[j] ? exponent : most[j];
        }
    for (; from < count; from++) {
        double exponent = c * loss[from] + log_mass[from];
        most[0] = exponent > most[0] ? exponent : most[0];
    }
    for (size_t j = 1; j < ROW; j++)
        most[0] = most[j] > most[0] ? most[j] : most[0];
    *out = most[0];
}
BRUME_PATHS(static, largest,
            (const double *loss, const double *log_mass, double c, size_t count, double *out),
            (loss, log_mass, c, count, out))

BRUME_BODY void exponents_body(const double *restrict loss, const double *restrict log_mass,
                               double c, double most, size_t count, double *restrict out)
{
    for (size_t j = 0; j < count; j++)
        out[j] = c * loss[j] + log_mass[j] - most;
}
BRUME_PATHS(static, exponents,
            (const double *loss, const double *log_mass, double c, double most, size_t count,
             double *out),
            (loss, log_mass, c, most, count, out))

/* Up to a block of points from `from` on: their weights and, if asked, the bounds of |error of log
 * v_j + normaliser|: the mass's own, the parameter in c l, the sum and the exponential. Points
 * below the cut weigh nothing. */
BRUME_BODY void deviations_body(const double *restrict loss, const double *restrict log_mass,
                                const double *restrict moved, const double *restrict exponent,
                                double c, double own, size_t count, double *restrict out)
{
    for (size_t j = 0; j < count; j++) {
        double error = 14 * fabs(c * loss[j]) + 12 * fabs(log_mass[j]) + 2 * fabs(exponent[j]) + 8;
        error = own + unit * (error + (c + 1) * moved[j]);
        out[j] = brume_choose(brume_mask(exponent[j] >= cut), error, 0);
    }
}
BRUME_PATHS(static, deviations,
            (const double *loss, const double *log_mass, const double *moved,
             const double *exponent, double c, double own, size_t count, double *out),
            (loss, log_mass, moved, exponent, c, own, count, out))

BRUME_BODY void drop_body(const double *restrict exponent, size_t count, double *restrict weight)
{
    for (size_t j = 0; j < count; j++)
        weight[j] = brume_choose(brume_mask(exponent[j] >= cut), weight[j], 0);
}
BRUME_PATHS(static, drop, (const double *exponent, size_t count, double *weight),
            (exponent, count, weight))

static void weigh(const brume_points *p, double c, double most, size_t from, size_t count,
                  double *exponent, double *weight, double *deviation)
{
    exponents(p->loss + from, p->log_mass + from, c, most, count, exponent);
    brume_vector_exp(exponent, weight, count);
    drop(exponent, count, weight);
    if (deviation)
        deviations(p->loss + from, p->log_mass + from, p->moved + from, exponent, c, p->mass_error,
                   count, deviation);
}

/* Sums over points: of w, w l, w |l|, w d, w d |l|, w m. */
typedef struct totals {
    double weight, moment, size, deviation, spread, moved;
} totals;

BRUME_BODY double lane_sum(const double *lanes)
{
    double sum = 0;
    for (int j = 0; j < ROW; j++)
        sum += lanes[j];
    return sum;
}

/* One row, or what is left of it, into its lanes. */
BRUME_BODY void add_row_moments(const double *restrict weight, const double *restrict loss,
                                size_t count, double all[2][ROW])
{
    for (size_t j = 0; j < count; j++) {
        all[0][j] += weight[j];
        all[1][j] += weight[j] * loss[j];
    }
}

BRUME_BODY void add_moments_body(const double *restrict weight, const double *restrict loss,
                                 size_t count, totals *restrict out)
{
    double all[2][ROW] = {{0}};
    size_t from = 0;
    for (; from + ROW <= count; from += ROW)
        add_row_moments(weight + from, loss + from, ROW, all);
    add_row_moments(weight + from, loss + from, count - from, all);
    out->weight += lane_sum(all[0]);
    out->moment += lane_sum(all[1]);
}
BRUME_PATHS(static, add_moments,
            (const double *weight, const double *loss, size_t count, totals *out),
            (weight, loss, count, out))

BRUME_BODY void add_row_deviations(const double *restrict weight, const double *restrict loss,
                                   const double *restrict deviation, const double *restrict moved,
                                   size_t count, double all[4][ROW])
{
    for (size_t j = 0; j < count; j++) {
        double w = weight[j], size = fabs(loss[j]);
        all[0][j] += w * size;
        all[1][j] += w * deviation[j];
        all[2][j] += w * deviation[j] * size;
        all[3][j] += w * moved[j];
    }
}

BRUME_BODY void add_deviations_body(const double *restrict weight, const double *restrict loss,
                                    const double *restrict deviation, const double *restrict moved,
                                    size_t count, totals *restrict out)
{
    double all[4][ROW] = {{0}};
    size_t from = 0;
    for (; from + ROW <= count; from += ROW)
        add_row_deviations(weight + from, loss + from, deviation + from, moved + from, ROW, all);
    add_row_deviations(weight + from, loss + from, deviation + from, moved + from, count - from,
                       all);
    out->size += lane_sum(all[0]);
    out->deviation += lane_sum(all[1]);
    out->spread += lane_sum(all[2]);
    out->moved += lane_sum(all[3]);
}
BRUME_PATHS(static, add_deviations,
            (const double *weight, const double *loss, const double *deviation, const double *moved,
             size_t count, totals *out),
            (weight, loss, deviation, moved, count, out))

long double brume_points_cumulant(const brume_points *p, double c, double *slope, double *error)
{
    double most, exponent[BLOCK], weight[BLOCK], deviation[BLOCK];
    largest(p->loss, p->log_mass, c, p->count, &most);
    totals all = {0};
    for (size_t from = 0; from < p->count; from += BLOCK) {
        size_t count = p->count - from < BLOCK ? p->count - from : BLOCK;
        weigh(p, c, most, from, count, exponent, weight, error ? deviation : NULL);
        add_moments(weight, p->loss + from, count, &all);
        if (error)
            add_deviations(weight, p->loss + from, deviation, p->moved + from, count, &all);
    }
    if (slope)
        *slope = all.moment / all.weight;
    if (error)
        *error = all.deviation / all.weight + (double)p->count * (exp(cut) + unit) +
                 unit * (28 + 4 * fabs(most));
    return (long double)most + logl((long double)all.weight);
}

void brume_points_settle(brume_points *p, double c)
{
    double most, exponent[BLOCK], weight[BLOCK], error[BLOCK];
    double *deviation = p->wave_re, *moved = p->wave_im; /* until waves are made */
    largest(p->loss, p->log_mass, c, p->count, &most);
    size_t live = 0;
    for (size_t from = 0; from < p->count; from += BLOCK) {
        size_t count = p->count - from < BLOCK ? p->count - from : BLOCK;
        weigh(p, c, most, from, count, exponent, weight, error);
        for (size_t j = 0; j < count; j++) {
            if (exponent[j] < cut)
                continue;
            p->weight[live] = weight[j];
            p->atom[live] = p->loss[from + j];
            p->spot[live] = p->place[from + j];
            deviation[live] = error[j];
            moved[live] = p->moved[from + j];
            live++;
        }
    }
    totals all = {0};
    add_moments(p->weight, p->atom, live, &all);
    add_deviations(p->weight, p->atom, deviation, moved, live, &all);
    double sum = all.weight;
    p->loss_error = all.moved / sum;
    for (size_t j = 0; j < live; j++)
        p->weight[j] /= sum;
    p->live = live;
    p->mean_size = all.size / sum * (1 + 1e-9);
    p->error_size = (all.spread + all.deviation * all.size / sum) / sum;
    p->error_sum = 2 * all.deviation / sum + (double)p->count * exp(cut);
    brume_points_restart(p);
}

static double psi_error(const brume_points *p, double y)
{
    y = fabs(y);
    /* y l by 12 units and 16 turns of 4 units each; sums of 16-blocks; the weights' own errors
     * move sum v_j (e^{i y l_j} - 1) by at most min(y * error_size, 2 * error_sum) */
    double blocks = (double)(p->live / 16) + 20;
    double fresh = fmin(y * p->mean_size, 2);
    double error = unit * (y * (16 * p->mean_size + p->loss_error) + (76 + blocks) * fresh) +
                   fmin(y * p->error_size * 1.1, 2.2 * p->error_sum) + (double)p->count * exp(cut);
    return error;
}

/* Stand the waves at node `index`, and sum them. */
static void turn_waves(brume_points *p, long index, double h, double *sum_re, double *sum_im)
{
    bool new_step = p->wave_index < 0 || p->wave_step != h;
    size_t rows = brume_wave_rows(p->live);
    if (new_step)
        brume_waves_start(&(brume_waves){.loss = p->atom}, p->live, h, p->turn_re, p->turn_im);
    if (new_step || p->wave_index != index - 1 || index % FRESH == 0) {
        brume_waves waves = {.loss = p->atom, .weight = p->weight};
        brume_waves_start(&waves, p->live, (double)index * h, p->wave_re, p->wave_im);
        brume_waves_sum(p->wave_re, p->wave_im, rows, sum_re, sum_im);
    } else {
        brume_waves_turn(p->wave_re, p->wave_im, p->turn_re, p->turn_im, rows, sum_re, sum_im);
    }
    p->wave_index = index;
    p->wave_step = h;
}

enum { FEW = 32 };

static brume_log_psi few_points(const brume_points *p, double y)
{
    /* directly, without cancellation near y = 0 */
    double z_re = 0, z_im = 0, angle[FEW], s[FEW], c[FEW];
    for (size_t j = 0; j < p->live; j++)
        angle[j] = 0.5 * y * p->atom[j];
    brume_vector_sincos(angle, s, c, p->live);
    for (size_t j = 0; j < p->live; j++) {
        z_re -= 2 * p->weight[j] * s[j] * s[j];
        z_im += 2 * p->weight[j] * s[j] * c[j];
    }
    return brume_log_psi_of(z_re, z_im, psi_error(p, y));
}

brume_log_psi brume_points_node(brume_points *p, long index, double h)
{
    double y = (double)index * h, re, im;
    if (p->live <= FEW)
        return few_points(p, y);
    turn_waves(p, index, h, &re, &im);
    /* here psi itself is summed: the weights sum to 1 within live/16 + 20 units; 7 turns of 6 units
     * and a start of 6 */
    double whole = unit * ((double)p->live / 8 + 80);
    return brume_log_psi_of(re - 1, im, psi_error(p, y) + whole);
}

/* |psi(low)|, a bound */
static double modulus_at(const brume_points *p, double low)
{
    double re = 0, im = 0, wave_re[BLOCK], wave_im[BLOCK];
    for (size_t from = 0; from < p->live; from += BLOCK) {
        size_t count = p->live - from < BLOCK ? p->live - from : BLOCK;
        brume_waves waves = {.loss = p->atom + from, .weight = p->weight + from};
        double block_re, block_im;
        brume_waves_start(&waves, count, low, wave_re, wave_im);
        brume_waves_sum(wave_re, wave_im, brume_wave_rows(count), &block_re, &block_im);
        re += block_re;
        im += block_im;
    }
    return brume_modulus(re, im) + psi_error(p, low) + unit * (double)(p->live + 8);
}

double brume_points_envelope(brume_points *p, double low, double high)
{
    if (!(high < 1e12))
        return 0;
    if (p->envelope_low != low) {
        p->modulus_low = modulus_at(p, low);
        p->envelope_low = low;
    }
    /* |psi| is Lipschitz in y with constant E|L - m| <= 2 E|L|, and with E|L| itself */
    double bound = p->modulus_low + (high - low) * p->mean_size;
    return bound < 1 ? log(bound) : 0;
}
