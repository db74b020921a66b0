/* The law of one kind of privacy loss, as the contour sees it.
 *
 * phi(s) = E exp(s L) for L the loss of one release. On the line s = c + iy everything is relative
 * to the real point: psi(y) = phi(c + iy) / phi(c), |psi| <= 1, and log phi(c) is kept apart, in
 * long doubles. So n log psi(y) loses nothing where psi is near 1, however large n is.
 *
 * Every number that leaves here has a bound of its error beside it. The bounds cover rounding, libm
 * within 2 units in the last place, and parameters known to BRUME_PARAMETER_UNITS units of 2^-53.
 * The inequalities are in proofs/accountant/law.md, section law.1 and law.2. */
#ifndef BRUME_ACCOUNTANT_LAW_LAW_H
#define BRUME_ACCOUNTANT_LAW_LAW_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include <brume/cost.h>
#include <brume/status.h>

#define BRUME_UNIT            0x1p-53
#define BRUME_PARAMETER_UNITS 8.0

enum { BRUME_LAW_LAYERS = 24 };

typedef enum brume_law_kind {
    BRUME_LAW_GAUSSIAN,          /* a = mu */
    BRUME_LAW_LAPLACE,           /* a = epsilon0 */
    BRUME_LAW_PURE,              /* a = epsilon0 */
    BRUME_LAW_TABLE,             /* finitely many atoms */
    BRUME_LAW_DISCRETE_LAPLACE,  /* discrete Laplace of a large shift; a = 1/scale */
    BRUME_LAW_DISCRETE_GAUSSIAN, /* discrete Gaussian; a = sigma */
    BRUME_LAW_SAMPLED_GAUSSIAN,  /* Poisson-subsampled Gaussian; a = sigma, rate */
    BRUME_LAW_SAMPLED_LAPLACE,   /* Laplace on a Poisson sample; a = half the distance of its end
                                    atoms */
    BRUME_LAW_SAMPLED_PURE, /* two atoms, centre +- a: the worst pure law on a Poisson sample */
} brume_law_kind;

/* Points of a table or of a quadrature, and their tilted weights on the current line. */
typedef struct brume_points {
    size_t count;      /* of the law */
    double *loss;      /* l_j */
    double *log_mass;  /* log P(L = l_j), or of the quadrature weight */
    double *place;     /* x_j; quadrature only */
    double *moved;     /* how far the parameters move l_j, in units; SAMPLED only, else 0 */
    double mass_error; /* bound of |error of log_mass| */

    size_t live;                                   /* points whose tilted weight matters */
    double *atom;                                  /* their losses */
    double *weight;                                /* their tilted weights; sum 1 */
    double *spot;                                  /* their places */
    double *wave_re, *wave_im, *turn_re, *turn_im; /* weight * exp(i y l), and exp(i h l) */
    double *gain_re, *gain_im, *doubt; /* SAMPLED: weight * (exp(i h l) - 1), weight * its error */
    double *memory;                    /* the one allocation behind all of these */
} brume_points;

typedef struct brume_panels brume_panels;

typedef struct brume_law {
    brume_law_kind kind;
    brume_loss source; /* what it was opened from; kind NONE for a table of atoms */
    double count;
    double a, rate, shift;
    bool reversed; /* of a sample: the order (Q, P), a record added */
    double unit;   /* all losses lie in unit * (Z + half/2); 0 if in no lattice */
    bool half;
    double multiple; /* the unit is this many times the unit of a lattice shared with others */
    bool bounded;    /* the loss has a largest value */
    double top, log_top_mass; /* that value and the log of its probability (may be -infinity) */
    double reach;             /* SAMPLED: how far in y the quadrature should be good */
    long double centre;       /* BINARY: the middle of its atoms; its psi is of L - centre */
    long double spread, lean; /* BINARY: a itself, and half the log of the odds of the upper atom */

    brume_panels *panels; /* THINNED: see law_thinned.c */
    brume_points points;
    double step, range_lower, range_upper, covered; /* SAMPLED: the real quadrature, up to c */
    double uncovered;     /* ... 0, or from this c on a table would be too long */
    double most_points;   /* ... 0, or how long it may be */
    brume_points shifted; /* SAMPLED: the quadrature on Im x = shift_height, see law_sampled.c */
    double shift_line;    /* the c at which it was made; NAN: none */
    double shift_height, shift_step, shift_error, shift_bend;
    double band_low, band_far, band_near; /* what the envelope found at its last `low` */
    double shift_size, shift_moment, shift_deviation, shift_spread;
    double wave_size, wave_doubt, wave_gain; /* bounds of sums over the waves, see law_sampled.c */

    /* Settled on the line Re s = c. */
    double c, tilt;                          /* tilt = c + 1/2 */
    double tanh_a, tanh_rest;                /* tanh(A), tanh(A) - A, for A = tilt * a */
    double sech2, denominator;               /* 1/cosh(A)^2, 1 + tanh(A)/(2 tilt) */
    double mean_size, error_size, error_sum; /* E|L|, sums of weight errors; points only */
    double loss_error;                       /* E|error of l_j|, in units; SAMPLED only */
    double theta[4];                         /* THETA: normaliser, pairs of weights */
    double comb_atoms, comb_middle; /* COMB: shares of the two end atoms and of the middle */
    double layer_height[BRUME_LAW_LAYERS], layer_length[BRUME_LAW_LAYERS];
    long wave_index; /* node at which the waves stand; -1: none */
    double wave_step;
} brume_law;

/* log psi at one node, per draw. */
typedef struct brume_log_psi {
    double re, im;
    double error;   /* |error of re + i im| <= error; only if error <= 1/2 */
    double ceiling; /* log |psi| <= ceiling, always */
} brume_log_psi;

/* A law from its public description, `count` draws of it. `reversed` chooses the order of the pair
 * where it matters. Errors: BRUME_EARGUMENT for parameters out of range, BRUME_EMEMORY. */
BRUME_MUST_USE brume_status brume_law_open(const brume_loss *loss, double count, bool reversed,
                                           brume_law *out, brume_error *error);

/* A law from a table of atoms (log masses), which is copied. */
BRUME_MUST_USE brume_status brume_law_open_table(const double *loss, const double *log_mass,
                                                 size_t atoms, double mass_error, double count,
                                                 brume_law *out, brume_error *error);

void brume_law_close(brume_law *law);

/* log phi(c), and its derivative if asked; *error bounds the error of the value. For c > 0. */
long double brume_law_cumulant(brume_law *law, double c, double *slope, double *error);

/* The same in doubles, to some 1e-12 of 1 + |value| + c * reach: enough to choose a line by, and,
 * with BRUME_ROUGH added, to bound what is multiplied by a tiny number anyway. */
double brume_law_cumulant_rough(brume_law *law, double c, double *slope);
#define BRUME_ROUGH 1e-9

/* Prepare for the line Re s = c; c and c + 1/2 are exact doubles. False if memory ran out. */
BRUME_MUST_USE bool brume_law_settle(brume_law *law, double c);

/* log psi at y = index * h, without the factor e^{iy centre}; call settle first. */
brume_log_psi brume_law_node(brume_law *law, long index, double h);

/* psi itself, for laws with a cheap one (Laplace and pure), and a bound of its relative error;
 * false for the others. */
bool brume_law_factor(const brume_law *law, double y, double *re, double *im, double *error);
void brume_laplace_rest(const brume_law *law, double y, double *re, double *im, double *error);

/* A bound of log |psi| over [low, high]; high may be infinite. */
double brume_law_envelope(brume_law *law, double low, double high);

/* --- one file per family --- */
brume_log_psi brume_gaussian_node(const brume_law *law, double y);
brume_log_psi brume_laplace_node(const brume_law *law, double y);
brume_log_psi brume_pure_node(const brume_law *law, double y);
void brume_laplace_settle(brume_law *law);
long double brume_laplace_cumulant(const brume_law *law, double c, double *slope, double *error);
double brume_laplace_cumulant_rough(const brume_law *law, double c, double *slope);
double brume_laplace_envelope(brume_law *law, double low, double high);
/* Of Laplace: log |psi| at every place from y on at which sin^2 theta / cosh^2 A >= lost. */
double brume_laplace_bound(const brume_law *law, double lost, double y);

BRUME_MUST_USE bool brume_points_allocate(brume_points *points, size_t count);
long double brume_points_cumulant(const brume_law *law, double c, double *slope, double *error);
void brume_points_settle(brume_law *law);
brume_log_psi brume_points_node(brume_law *law, long index, double h);
double brume_points_band(brume_law *law, double low, double high);
double brume_points_error(const brume_law *law, double y);

/* Of k-ary randomized response, relative to its own size: for small c a and many draws. */
long double brume_kary_cumulant(const brume_law *law, double c, double *error);
BRUME_MUST_USE brume_status brume_atoms_open(const brume_loss *loss, brume_law *law,
                                             brume_error *error);
BRUME_MUST_USE bool brume_discrete_gaussian_law_settle(brume_law *law);
long double brume_discrete_gaussian_law_cumulant(const brume_law *law, double c, double *slope,
                                                 double *error);
double brume_discrete_gaussian_law_cumulant_rough(const brume_law *law, double c, double *slope);
brume_log_psi brume_discrete_gaussian_law_node(const brume_law *law, double y);
double brume_discrete_gaussian_law_envelope(brume_law *law, double low, double high);
void brume_discrete_laplace_law_settle(brume_law *law);
long double brume_discrete_laplace_law_cumulant(const brume_law *law, double c, double *slope,
                                                double *error);
brume_log_psi brume_discrete_laplace_law_node(const brume_law *law, double y);
double brume_discrete_laplace_law_envelope(const brume_law *law, double low, double high);

BRUME_MUST_USE bool brume_sampled_gaussian_law_cover(brume_law *law, double c);
BRUME_MUST_USE bool brume_sampled_gaussian_law_settle(brume_law *law);
double brume_sampled_gaussian_law_real_error(const brume_law *law, double c);
brume_log_psi brume_sampled_gaussian_law_node(brume_law *law, long index, double h);
double brume_sampled_gaussian_law_envelope(brume_law *law, double low, double high);

/* --- on a Poisson sample: law_binary.c --- */
/* log(1 - rate + rate e^loss), to some units of a long double. */
long double brume_sampled_log_ratio(long double loss, long double rate);
BRUME_MUST_USE brume_status brume_sampled_pure_law_open(brume_law *law, brume_error *error);
void brume_sampled_pure_law_settle(brume_law *law);
long double brume_sampled_pure_law_cumulant(const brume_law *law, double c, double *slope,
                                            double *error);
brume_log_psi brume_sampled_pure_law_node(const brume_law *law, double y);
double brume_sampled_pure_law_envelope(brume_law *law, double low, double high);

/* e^{cx} - 1 + c (e^{-x} - 1), by its series for |x| and |cx| up to 1/4. */
long double brume_bend(long double c, long double x, bool series);

#define BRUME_SAMPLED_LAPLACE_MOST 17.0 /* of the inner epsilon */
BRUME_MUST_USE brume_status brume_sampled_laplace_law_open(brume_law *law, brume_error *error);
BRUME_MUST_USE bool brume_sampled_laplace_law_settle(brume_law *law);
long double brume_sampled_laplace_law_cumulant(brume_law *law, double c, double *slope,
                                               double *error);
double brume_sampled_laplace_law_cumulant_rough(brume_law *law, double c, double *slope);
brume_log_psi brume_sampled_laplace_law_node(const brume_law *law, double y);
double brume_sampled_laplace_law_price(const brume_law *law); /* of a node, nanoseconds or so */
double brume_sampled_laplace_law_envelope(const brume_law *law, double low, double high);

/* Do the two orders of the pair have different laws? */
static inline bool brume_law_is_lopsided(const brume_law *law)
{
    return law->kind == BRUME_LAW_SAMPLED_GAUSSIAN || law->kind == BRUME_LAW_SAMPLED_PURE ||
           law->kind == BRUME_LAW_SAMPLED_LAPLACE ||
           law->source.kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE;
}

/* Does a node sum over a table? */
static inline bool brume_law_is_expensive(const brume_law *law)
{
    return law->kind == BRUME_LAW_SAMPLED_GAUSSIAN || law->kind == BRUME_LAW_SAMPLED_LAPLACE;
}

/* The largest loss of all draws together and the log of its probability; false if unbounded. Both
 * carry a relative error of at most (12 + count of laws) units. */
bool brume_top_atom(const brume_law *laws, size_t count, double *top, double *log_mass);

/* A parameter moved by a little more than its 8 units. */
static inline double brume_parameter_moved(double parameter, int direction)
{
    return parameter * (1 + direction * 0x1.2p-50); /* 9 units, of which rounding takes one */
}

/* |re + i im|, to 2 units: what hypot is where nothing overflows or underflows. */
static inline double brume_modulus(double re, double im)
{
    double square = re * re + im * im;
    return square > 1e-280 && square < 1e280 ? sqrt(square) : hypot(re, im);
}

/* A lower bound of sin^2 over [low, high], 0 <= low <= high. */
double brume_smallest_sine_square(double low, double high);

/* log psi from z = psi - 1 and a bound of |error of z|. */
brume_log_psi brume_log_psi_of(double z_re, double z_im, double z_error);

#endif
