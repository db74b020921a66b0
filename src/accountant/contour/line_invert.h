/* Epsilon at a delta on one line. */
#ifndef BRUME_ACCOUNTANT_CONTOUR_LINE_INVERT_H
#define BRUME_ACCOUNTANT_CONTOUR_LINE_INVERT_H

#include <brume/interval.h>

#include "accountant/contour/line.h"

/* Newton on the logarithm of the sum from `epsilon`, bracketed; returns the new epsilon. */
double brume_line_newton(const brume_line *line, double epsilon, double delta, double low,
                         double high, bool may_leave);

/* Widen around `epsilon` until both ends are certified; ends that cannot be are left alone. */
void brume_line_ends(brume_line *line, double epsilon, double delta, double delta_error,
                     brume_interval *value);

#endif
