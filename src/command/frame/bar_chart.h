/* Released values and how far off they may be, as SVG: bars with whiskers, or lines over time with
 * bands. */
#ifndef BRUME_COMMAND_BAR_CHART_H
#define BRUME_COMMAND_BAR_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* One panel: a value for each label, with a whisker or a band from low to high. What is not a
 * number is left out: a value that is NULL has no bar, one without an error bar no whisker. */
typedef struct brume_bars {
    const char *name;
    const double *values, *lows, *highs; /* as many as there are labels */
    bool is_count;                       /* never below 0, and no whisker goes there */
} brume_bars;

/* What the values are of. With groups, labels of one group stand together, and a group is named
 * once: in a chart of bars above its labels, in a chart of lines as one line. */
typedef struct brume_chart_rows {
    const char *const *labels, *const *groups; /* groups: NULL: none */
    size_t count;
} brume_chart_rows;

typedef struct brume_chart_words {
    const char *title, *question, *note; /* above the panels, below the title, at the bottom */
} brume_chart_words;

enum { BRUME_BAR_LABELS_MOST = 60 }; /* more are not drawn; the chart says how many there are */

/* Panels one below the other, with the same labels. Look at ferror(file) in the end. */
void brume_bar_chart_write(FILE *file, const brume_chart_words *words, const brume_chart_rows *rows,
                           const brume_bars *panels, size_t panel_count);

/* The same over time: labels are times, in ascending order within a group. */
void brume_line_chart_write(FILE *file, const brume_chart_words *words,
                            const brume_chart_rows *rows, const brume_bars *panels,
                            size_t panel_count);

#endif
