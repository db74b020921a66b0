/* Bars with whiskers as SVG: released values and how far off they may be. */
#ifndef BRUME_COMMAND_BAR_CHART_H
#define BRUME_COMMAND_BAR_CHART_H

#include <stddef.h>
#include <stdio.h>

/* One panel: a bar for each label, with a whisker from value - error to value + error. What is not
 * a number is left out: a value that is NULL has no bar, one without an error bar no whisker. */
typedef struct brume_bars {
    const char *name;
    const double *values, *errors; /* as many as there are labels */
} brume_bars;

enum { BRUME_BAR_LABELS_MOST = 60 }; /* more are not drawn; the chart says how many there are */

/* Panels one below the other, with the same labels; `note` is written at the bottom. Look at
 * ferror(file) in the end. */
void brume_bar_chart_write(FILE *file, const char *title, const char *const *labels, size_t count,
                           const brume_bars *panels, size_t panel_count, const char *note);

#endif
