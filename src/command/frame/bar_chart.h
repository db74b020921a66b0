/* Released values and how far off they may be, as SVG: bars with whiskers, or lines over time with
 * bands. */
#ifndef BRUME_COMMAND_BAR_CHART_H
#define BRUME_COMMAND_BAR_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <brume/status.h>

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

/* Panels one below the other, with the same labels. Look at ferror(file) in the end. */
void brume_bar_chart_write(FILE *file, const brume_chart_words *words, const brume_chart_rows *rows,
                           const brume_bars *panels, size_t panel_count);

/* The same over time: labels are times, in ascending order within a group. */
void brume_line_chart_write(FILE *file, const brume_chart_words *words,
                            const brume_chart_rows *rows, const brume_bars *panels,
                            size_t panel_count);

/* A small writer of charts as SVG: panels with axes, lines, a legend. */

typedef struct brume_axis {
    const char *label;
    double least, most; /* least < most; both above 0 if logarithmic */
    bool logarithmic;
} brume_axis;

typedef struct brume_panel {
    double left, top, width, height; /* of the area that lines are drawn in */
    brume_axis x, y;
} brume_panel;

/* How a line looks: 0 is the one that matters, 1.. are others, BRUME_STROKE_GUIDE is dashed. */
enum { BRUME_STROKE_MAIN = 0, BRUME_STROKE_GUIDE = -1 };

/* A new file for a picture. Closing it gives `status`, what became of drawing, or EDISK if the file
 * could not be written; where that is no success the file is removed. */
BRUME_MUST_USE brume_status brume_svg_open(const char *path, FILE **file, brume_error *error);
BRUME_MUST_USE brume_status brume_svg_close(FILE *file, const char *path, brume_status status,
                                            brume_error *error);

/* Everything is written to `file` at once. Texts are escaped. */
void brume_svg_begin(FILE *file, double width, double height, const char *title);
void brume_svg_end(FILE *file);
void brume_svg_panel(FILE *file, const brume_panel *panel, const char *title);
/* Points outside the panel are cut at its edge; those that are not numbers are left out. */
void brume_svg_line(FILE *file, const brume_panel *panel, int stroke, const double *x,
                    const double *y, size_t count);
/* One line of a legend at (left, top). */
void brume_svg_legend(FILE *file, double left, double top, int stroke, const char *text);
void brume_svg_note(FILE *file, double left, double top, const char *text);

#endif
