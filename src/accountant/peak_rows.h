/* The rows of a Laplace line's peaks: one place in each period, node by node and then by a series.
 *
 * In the words of peaks.c: y = y_r + mP for one r and all m >= 1. proofs/accountant.md, section 11.
 */
#ifndef BRUME_ACCOUNTANT_PEAK_ROWS_H
#define BRUME_ACCOUNTANT_PEAK_ROWS_H

#include "accountant/law.h"

enum { BRUME_PEAK_TERMS = 32 };

/* What all rows share; the law is settled. */
typedef struct brume_peak_frame {
    const brume_law *law;
    double draws, period, h, half; /* k, P, P/M, (M-1)/2 */
    double first;                  /* the first peak that is not summed node by node */
} brume_peak_frame;

typedef struct brume_peak_place {
    double re, im, y, error;
} brume_peak_place;

/* One place of all peaks but the central one. */
typedef struct brume_peak_row {
    double y;               /* y_r */
    brume_peak_place *node; /* psi^k/(s(s+1)) at y_r + mP for m = 1 .. length, signs left out */
    size_t length;          /* first - 1, unless what follows is nothing */
    int terms;              /* of the series for m >= first; 0: none */
    double tail[2 * BRUME_PEAK_TERMS]; /* coefficients of (first/m)^{i+2}, re and im */
    double slack[BRUME_PEAK_TERMS];    /* bounds of their errors */
    double rest; /* a bound of what the series leaves out, for all m together */
} brume_peak_row;

/* exp(re + i im)/(s(s+1)) at y; `error` is that of the exponent. */
brume_peak_place brume_peak_place_at(double c, double y, double re, double im, double error);

/* A bound of |psi|^k at every place from y on whose sine is at least this one. */
double brume_peak_bound(const brume_peak_frame *frame, double sine, double y);

/* Choose where the series begin for the rows |r| <= far: what they leave out should be below
 * `limit` each. False if that is too far, or if a series would not serve. */
bool brume_peak_first(brume_peak_frame *frame, double far, double limit);

/* Lay row r, whose `node` has room for first - 1. *skipped grows by a bound of what was left out
 * and is not in row->rest. False if doubles do not suffice. */
bool brume_peak_row_lay(const brume_peak_frame *frame, double r, double limit, brume_peak_row *row,
                        double *skipped);

#endif
