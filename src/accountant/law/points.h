/* Points with masses and their tilted weights on a line: the atoms of a table, or the points of a
 * quadrature. psi - 1 = sum_j v_j (exp(i y l_j) - 1), v_j the tilted weights.
 * proofs/accountant/law.md, section law.2. */
#ifndef BRUME_ACCOUNTANT_LAW_POINTS_H
#define BRUME_ACCOUNTANT_LAW_POINTS_H

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

enum { BRUME_TABLE_MOST_SHIFT = 64 }; /* of a discrete Laplace; a larger one has a closed form */

/* The atoms of a law that is a table; NULL if it is none. */
const brume_points *brume_table_points(const brume_law *law);

#endif
