/* A small writer of charts as SVG: panels with axes, lines, a legend. */
#ifndef BRUME_COMMAND_SVG_H
#define BRUME_COMMAND_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <brume/status.h>

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
/* For pictures that are not made of lines: the frame with the horizontal axis of a panel alone, or
 * the vertical one, the position of a value on it, a text at an axis, a label that ends at a point,
 * a heading. */
void brume_svg_scale(FILE *file, const brume_panel *panel);
double brume_svg_x(const brume_panel *panel, double value);
void brume_svg_scale_y(FILE *file, const brume_panel *panel);
double brume_svg_y(const brume_panel *panel, double value);
void brume_svg_tick(FILE *file, double middle, double top, const char *text);
void brume_svg_label(FILE *file, double right, double top, const char *text);
void brume_svg_heading(FILE *file, double left, double top, const char *text);
void brume_svg_note(FILE *file, double left, double top, const char *text);

#endif
