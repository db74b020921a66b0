/* A line Re s = c through the transform of the composed loss, cut into nodes, and what it
 * certifies.
 *
 * delta(eps) = (1/2 pi) int exp(-s eps) phi(s)/(s(s+1)) dy. The trapezoid rule of step h gives
 * T = sum over n of exp(2 pi n c/h) delta(eps + 2 pi n/h) >= delta(eps): it never under-reports.
 * If all losses lie in one lattice the infinite sum folds exactly onto the M nodes of one period;
 * if nothing ends it, two band-limited functions around the kernel do (a band). c, h, M and the
 * band's width are free: a bad choice widens the interval, never falsifies it. */
#ifndef BRUME_ACCOUNTANT_CONTOUR_LINE_H
#define BRUME_ACCOUNTANT_CONTOUR_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/interval.h>

#include "accountant/law/law.h"

/* Two functions around the one that delta averages, both with a transform that ends.
 *
 * delta(eps) = E f(L - eps) on the tilted line, f(x) = e^{-cx} (1 - e^{-x})_+, whose transform
 * 1/(s(s+1)) never ends. Where no law ends the line either, f is held between M >= f >= m, of
 * exponential type 2 pi/w: their transforms are 0 from y = 2 pi/w on, and the integrals of M - f
 * and f - m are w^2/24 and w^2/12, the least there can be. They take the values of f at w(n + a), n
 * >= 0, touching it there: a = 0 for m, near 1/2 for M. [GV81]; proofs/accountant/contour.md,
 * section contour.2. */

typedef struct brume_band {
    double width; /* w; 0: no band, the line is f's own */
    double c;
    double end;                 /* 2 pi/w */
    double offset;              /* a of M */
    double decay, decay_more;   /* e^{-cw}, e^{-(c+1)w} */
    double rest, rest_more;     /* 1 - e^{-cw}, 1 - e^{-(c+1)w} */
    double near, far;           /* M: 1 - e^{-aw}, e^{-aw} - e^{-w} */
    double offset_decay, whole; /* e^{-acw}, e^{-aw} */
    double step;                /* m: 1 - e^{-w} */
    double slope;               /* m: what makes its slope at 0 the right one */
    double doubt;               /* error of a, and of slope over w, in units */
} brume_band;

/* The transforms of M and m at one y >= 0, and a bound of either's error, absolute. */
typedef struct brume_band_pair {
    double upper_re, upper_im, lower_re, lower_im, error;
} brume_band_pair;

/* `width` is rounded to 24 bits and lowered to 1/(c+1). c > 0 has 24 bits. */
void brume_band_open(double width, double c, brume_band *out);

/* For 0 <= y < end, y exact. */
brume_band_pair brume_band_at(const brume_band *band, double y);

/* A bound of (1/pi) times the integral of either transform's modulus over [low, high], high <= end,
 * and of the sum of the nodes' moduli in (low, high]. width 0: of 1/|s(s+1)|. */
double brume_band_weight(const brume_band *band, double low, double high);

/* Where the losses are spread smoothly: the part of upper - lower end that the upper end exceeds
 * the truth by. */
#define BRUME_BAND_SHARE (1.0 / 3)

typedef struct brume_line_node {
    double y;
    double first_re, first_im;   /* psi/(s(s+1)); folded: psi/((1-e^{-sa})(1-e^{-(s+1)a})); banded:
                                    psi M^ */
    double second_re, second_im; /* folded: the same times e^{-(s+1)a}; banded: psi m^ */
    double lever;                /* folded: a bound of |psi/(1-e^{-(s+1)a})| */
    double error; /* bound of the error of first, absolute; for a node that is not summed: a bound
                     of |first| */
    double second_error; /* the same of second */
} brume_line_node;

typedef struct brume_line {
    brume_law *laws;
    size_t law_count;
    double c, h;
    double tolerance;            /* of what is cut away; 0: BRUME_LINE_TOLERANCE */
    double lead, saddle;         /* about log T, and c, as aimed */
    double width;                /* of the band, as asked for; 0: none */
    brume_band band;             /* as laid */
    double unit;                 /* of the lattice; 0: not folded */
    bool half;                   /* losses lie in unit * (Z + 1/2) */
    double fold;                 /* M, odd */
    double centre, centre_error; /* sum of the laws' centres, whose phase the nodes leave out */
    long double cumulant;        /* log phi(c) of all draws */
    double cumulant_error;
    brume_line_node *nodes;
    size_t count, capacity;
    double skipped;   /* bound of all that was not summed, over exp(cumulant - c x) */
    double last_skip; /* how many nodes were skipped last time */
    bool cut;         /* the node cap ended the line */
} brume_line;

/* A point on the profile: value = T, error = rounding and truncation, slope = dT/d eps. */
typedef struct brume_line_sum {
    double value, error, slope;
} brume_line_sum;
long double brume_cumulant(brume_law *laws, size_t count, double c, double *slope, double *error);

/* The same without a bound of its error, for choosing. */
static inline double brume_cumulant_rough(brume_law *laws, size_t count, double c, double *slope)
{
    return (double)brume_cumulant(laws, count, c, slope, NULL);
}

/* c near the root of K'(c) = eps + 1/c + 1/(c+1), rounded to 24 bits. */
double brume_saddle(brume_law *laws, size_t count, double epsilon);

/* Choose c and h for eps, and fold if the laws share a lattice. */
void brume_line_aim(brume_line *line, double epsilon);

/* Nanoseconds or so of one node: a sampled law sums its whole table. */
double brume_line_node_cost(const brume_line *line);

/* Lay nodes until what is left is below `goal` (a log, of T's size) times the line's tolerance.
 * Call with `width` set. False if memory ran out. */
BRUME_MUST_USE bool brume_line_lay(brume_line *line, double epsilon, double goal);

/* Laying in parts, for a caller that sets c, h and `width` itself (24 bits each) and folds nothing:
 * ready the laws and open the band; then lay all nodes from 0 to `last`, with `least` as above.
 * What lies beyond the caller must bound, and add to `skipped`. False if memory ran out. */
BRUME_MUST_USE bool brume_line_ready(brume_line *line);
BRUME_MUST_USE bool brume_line_lay_all(brume_line *line, size_t last, double least);

/* log of the size of T at eps: what `goal` should be at least. */
double brume_line_size(const brume_line *line, double epsilon);

/* Would the laws' own decay end the line, without a band, within so many nodes? */
bool brume_line_decays(brume_line *line, double epsilon, double goal, double most);
enum { BRUME_LINE_LONG = 32000, BRUME_LINE_SHORT = 8000 };

/* Folded lines: the place on the lattice, in units from the centre, at which the sum over losses
 * above eps starts. All losses before it are below eps, for every parameter within 8 units. */
double brume_line_place(const brume_line *line, double epsilon);

/* With M^ where there is a band. */
brume_line_sum brume_line_evaluate(const brume_line *line, double epsilon);

/* The same, and in *lower the sum with m^ where there is a band, else the same. */
brume_line_sum brume_line_evaluate_both(const brume_line *line, double epsilon,
                                        brume_line_sum *lower);

/* Certified bounds of delta(eps), finite losses only. Either may be NULL. Returns what the band
 * leaves open between them, without rounding, where both are asked for: an estimate. */
double brume_line_certify(brume_line *line, double epsilon, double *lower, double *upper);

void brume_line_close(brume_line *line);

/* --- where a search for epsilon starts --- */

/* The Chernoff epsilon at delta; *upper is a certified upper end, *best_place the order of both. */
double brume_chernoff_epsilon(brume_law *laws, size_t count, double delta, double delta_error,
                              double *upper, double *best_place);

/* About the epsilon at delta, by the saddle point from the order c; NAN where it says nothing. */
double brume_saddle_epsilon(brume_law *laws, size_t count, double log_delta, double c);

/* Is delta(epsilon) certainly at most `target`, by its moments? Looks at few orders: cheap, and no
 * where it is not far below. */
bool brume_moments_below(brume_law *laws, size_t count, double epsilon, double target);

/* For delta below 0.3 a certified lower end, by mean and deviation; -infinity where not known. */
double brume_mean_epsilon(const brume_law *laws, size_t count);

/* About what delta is, by the saddle point: a place to start, not a bound. May be NAN. */
double brume_saddle_delta(brume_law *laws, size_t count, double epsilon);

#endif
