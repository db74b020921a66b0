/* Homogeneous Laplace draws, few of them continuous: the infinite line, summed to its end.
 *
 * With P = pi/e the transform of a Laplace loss is cosh(sigma e) + sinh(sigma e)/(2 sigma), sigma =
 * s + 1/2: periodic (up to sign) but for 1/sigma. So the line has a peak at every multiple of P,
 * and the peaks fall only like 1/y^2. A step h = P/M puts the same M places into each period; the
 * first periods are summed node by node, and at each place all further ones are a power series in
 * 1/m whose sums over m are shared by all places. Nothing is smoothed and nothing is cut but a
 * remainder that is bounded. Inequalities: proofs/accountant.md, section 11. */
#ifndef BRUME_ACCOUNTANT_PEAKS_H
#define BRUME_ACCOUNTANT_PEAKS_H

#include "accountant/closed.h"
#include "accountant/line.h"

typedef struct brume_peaks brume_peaks;

/* Lay the line for losses near `epsilon`. NULL if `law` is not Laplace, if the draws are too many
 * or too few for this to help, or if memory ran out: other routes remain. `law` must outlive it. */
brume_peaks *brume_peaks_open(brume_law *law, double epsilon);
void brume_peaks_close(brume_peaks *peaks);
brume_closed brume_peaks_form(brume_peaks *peaks);

/* Narrow the answer; false if brume_peaks_open refuses. */
bool brume_peaks_delta(brume_law *law, double epsilon, brume_answer *answer);
bool brume_peaks_epsilon(brume_law *law, double delta, double delta_error, double guess,
                         brume_answer *answer);

/* The quadrature behind the sums over peaks: everything that does not depend on omega. */
enum { BRUME_PEAK_SIDE = 480 };
typedef struct brume_peak_rule {
    double first;
    int right, left; /* nodes u >= 0, from index 0, and u < 0, from BRUME_PEAK_SIDE */
    double u[2 * BRUME_PEAK_SIDE], fade[2 * BRUME_PEAK_SIDE], weight[2 * BRUME_PEAK_SIDE];
    double g_re[2 * BRUME_PEAK_SIDE], g_im[2 * BRUME_PEAK_SIDE];
} brume_peak_rule;

/* first >= 8 */
void brume_peak_rule_open(double first, brume_peak_rule *rule);

/* Z_i = sum over m >= first of e^{i omega m} (first/m)^i for i = 2 .. count + 1, 0 <= omega <= pi,
 * and bounds of the errors for this very omega. */
void brume_peak_sums(const brume_peak_rule *rule, double omega, int count, double *re, double *im,
                     double *error);

#endif
