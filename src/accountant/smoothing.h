/* An imaginary tiny mechanism, composed with the real ones so that the line integral can be cut.
 *
 * Z has the Kaiser-Bessel law on [-w, w], shifted by `drift` so that E exp(-Z) = 1: it is itself a
 * privacy loss, so composing with it can only raise the profile. Its transform is exp(s drift)
 * k(s), k(s) = [sinh z / z]/[sinh b / b], z^2 = b^2 + w^2 s^2, b = 38. Width 0 means no smoothing.
 */
#ifndef BRUME_ACCOUNTANT_SMOOTHING_H
#define BRUME_ACCOUNTANT_SMOOTHING_H

/* log k(1): the drift. */
double brume_smoothing_drift(double width);

/* log k(c) for real c >= 0. */
double brume_smoothing_cumulant(double width, double c);

/* log k(c + iy) - log k(c), and a bound of its error (above 1/2: unusable). */
void brume_smoothing_node(double width, double c, double y, double *re, double *im, double *error);

/* k(c + iy)/k(c) itself, without logarithms, for width > 0; *error bounds its error, absolute. */
void brume_smoothing_factor(double width, double c, double y, double *re, double *im,
                            double *error);

/* The y from which on k is nearly nothing; width > 0. */
double brume_smoothing_end(double width);

/* A bound of log |k(c + iy')| - log k(c) over y' >= y. */
double brume_smoothing_envelope(double width, double c, double y);

/* What the lower end needs: the ends of exp(-Z) as 1 - v_low and v_high - 1, and a bound of
 * E(1 - exp(-Z))_+. */
void brume_smoothing_moments(double width, double *below, double *above, double *mean_upper);

/* For a delta of smooth second derivative D'': the upper end exceeds it by Var V D''/2, the lower
 * end falls short of that end by (A + B)/(1 - A - B) w^2 D''/2. The ratio of the two: an estimate.
 */
double brume_smoothing_share(double width);

#endif
