/* Two functions around the one that delta averages, both with a transform that ends.
 *
 * delta(eps) = E f(L - eps) on the tilted line, f(x) = e^{-cx} (1 - e^{-x})_+, whose transform
 * 1/(s(s+1)) never ends. Where no law ends the line either, f is held between M >= f >= m, of
 * exponential type 2 pi/w: their transforms are 0 from y = 2 pi/w on, and the integrals of M - f
 * and f - m are w^2/24 and w^2/12, the least there can be. They take the values of f at w(n + a), n
 * >= 0, touching it there: a = 0 for m, near 1/2 for M. [GV81]; proofs/accountant/contour.md,
 * section contour.2. */
#ifndef BRUME_ACCOUNTANT_CONTOUR_BAND_H
#define BRUME_ACCOUNTANT_CONTOUR_BAND_H

#include <stdbool.h>

#include "accountant/law/law.h"

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

/* The same at up to BRUME_PSI_BLOCK places. */
typedef struct brume_band_block {
    double upper_re[BRUME_PSI_BLOCK], upper_im[BRUME_PSI_BLOCK];
    double lower_re[BRUME_PSI_BLOCK], lower_im[BRUME_PSI_BLOCK];
    double error[BRUME_PSI_BLOCK];
} brume_band_block;
void brume_band_at_block(const brume_band *band, const double *y, size_t count,
                         brume_band_block *out);

/* A bound of (1/pi) times the integral of either transform's modulus over [low, high], high <= end,
 * and of the sum of the nodes' moduli in (low, high]. width 0: of 1/|s(s+1)|. */
double brume_band_weight(const brume_band *band, double low, double high);

/* Where the losses are spread smoothly: the part of upper - lower end that the upper end exceeds
 * the truth by. */
#define BRUME_BAND_SHARE (1.0 / 3)

#endif
