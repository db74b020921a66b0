/* Points with masses and their tilted weights on a line: the atoms of a table, or the points of a
 * quadrature. psi - 1 = sum_j v_j (exp(i y l_j) - 1), v_j the tilted weights.
 * proofs/accountant/law.md, section law.2. */
#ifndef BRUME_ACCOUNTANT_LAW_POINTS_H
#define BRUME_ACCOUNTANT_LAW_POINTS_H

#include <stddef.h>

#include "accountant/law/law.h"

typedef struct brume_points {
    size_t count;      /* of the law */
    double *loss;      /* l_j */
    double *log_mass;  /* log P(L = l_j), or of the quadrature weight */
    double *place;     /* x_j; quadrature only */
    double *moved;     /* quadrature: how far the parameters move l_j, in units; else 0 */
    double mass_error; /* bound of |error of log_mass| */

    /* on the line */
    size_t live;                                   /* points whose tilted weight matters */
    double *atom;                                  /* their losses */
    double *weight;                                /* their tilted weights; sum 1 */
    double *spot;                                  /* their places */
    double *wave_re, *wave_im, *turn_re, *turn_im; /* weight * exp(i y l), and exp(i h l) */
    double *gain_re, *gain_im,
        *doubt;                   /* quadrature: weight * (exp(i h l) - 1), weight * its error */
    double *memory;               /* the one allocation behind all of these */
    double mean_size;             /* E|L| */
    double error_size, error_sum; /* sums of weight errors, times |l| and alone */
    double loss_error;            /* E|error of l_j|, in units; quadrature only */
    long wave_index;              /* node at which the waves stand; -1: none */
    double wave_step;
    double envelope_low, modulus_low; /* where |psi| was last bounded, and that bound */
} brume_points;

/* Room for `count` points; what was there is freed. False if memory ran out. */
BRUME_MUST_USE bool brume_points_allocate(brume_points *points, size_t count);
void brume_points_close(brume_points *points);

/* As the functions of a law (law.h). */
long double brume_points_cumulant(const brume_points *points, double c, double *slope,
                                  double *error);
void brume_points_settle(brume_points *points, double c);
brume_log_psi brume_points_node(brume_points *points, long index, double h);
double brume_points_envelope(brume_points *points, double low, double high);

/* Forget what was known of the last line. */
void brume_points_restart(brume_points *points);

/* --- tables of atoms as laws: table.c --- */

enum { BRUME_GROUP_MOST_MEMBERS = 16 }; /* of a group on a sample that has a table */
enum { BRUME_TABLE_MOST_SHIFT = 64 };   /* of a discrete Laplace; a larger one has a closed form */

/* The atoms of a law that is a table; NULL if it is none. */
const brume_points *brume_table_points(const brume_law *law);

/* Waves w_j exp(y (i l_j - d_j)) over the points of a table, and their sums.
 *
 * Points come in whole rows of BRUME_WAVE_ROW; beyond the last one everything is 0. Sums run in
 * that many lanes, which are added pairwise at the end: of n rows, an error of (n + 4) U of the
 * terms' sizes. On every instruction set the same bits. proofs/accountant/law.md, section law.2. */
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
