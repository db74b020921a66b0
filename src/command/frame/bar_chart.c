/* Bars with whiskers, and lines with bands, as SVG. Bars lie, so that long labels can be read. */
#include "command/frame/bar_chart.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <brume/status.h>

#include "base/error.h"
#include "base/text.h"
#include "command/frame/output.h"

enum { BRUME_BAR_LABELS_MOST = 60 }; /* more are not drawn; the chart says how many there are */

/* ---- charts as SVG ---- */

static const char *const colours[] = {"#1b3a5c", "#c8553d", "#588157", "#8d6a9f",
                                      "#d9a441", "#3d8fa8", "#7a7a7a"};
enum { COLOURS = sizeof colours / sizeof *colours };

brume_status brume_svg_open(const char *path, FILE **file, brume_error *error)
{
    *file = fopen(path, "w");
    if (*file)
        return BRUME_OK;
    return brume_fail(error, BRUME_EDISK, NULL, "cannot write '%.200s': %s", path, strerror(errno));
}

brume_status brume_svg_close(FILE *file, const char *path, brume_status status, brume_error *error)
{
    bool failed = ferror(file) != 0;
    failed |= fclose(file) != 0;
    if (status == BRUME_OK && failed)
        status = brume_fail(error, BRUME_EDISK, NULL, "cannot write '%.200s'", path);
    if (status != BRUME_OK)
        remove(path);
    return status;
}

static void text_at(FILE *file, double x, double y, const char *anchor, const char *class,
                    const char *text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor,
            class);
    brume_write_escaped(file, text);
    fputs("</text>\n", file);
}

void brume_svg_begin(FILE *file, double width, double height, const char *title)
{
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\">\n<title>",
            width, height, width, height);
    brume_write_escaped(file, title);
    fputs("</title>\n<style>\n"
          "text { font-family: 'DejaVu Sans', Helvetica, sans-serif; fill: #333; }\n"
          ".title { font-size: 14px; font-weight: bold; }\n"
          ".label { font-size: 12px; }\n"
          ".tick { font-size: 11px; fill: #666; }\n"
          ".grid { stroke: #e4e4e4; stroke-width: 1; }\n"
          ".frame { stroke: #999; stroke-width: 1; fill: none; }\n"
          "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
          file);
}

void brume_svg_end(FILE *file)
{
    fputs("</svg>\n", file);
}

/* Position of a value along an axis, 0 to 1, cut at the ends. */
static double share(const brume_axis *axis, double value)
{
    double s = axis->logarithmic
                   ? log(fmax(value, axis->least) / axis->least) / log(axis->most / axis->least)
                   : (value - axis->least) / (axis->most - axis->least);
    return fmin(fmax(s, 0), 1);
}

static double svg_x(const brume_panel *panel, double value)
{
    return panel->left + panel->width * share(&panel->x, value);
}

static double svg_y(const brume_panel *panel, double value)
{
    return panel->top + panel->height * (1 - share(&panel->y, value));
}

/* About five round steps. */
static double step_of(const brume_axis *axis)
{
    double rough = (axis->most - axis->least) / 5, power = pow(10, floor(log10(rough)));
    double digit = rough / power;
    return power * (digit < 1.5 ? 1 : digit < 3 ? 2 : digit < 7 ? 5 : 10);
}

static void tick(FILE *file, const brume_panel *panel, bool horizontal, double value)
{
    char plain[32], text[64];
    snprintf(plain, sizeof plain, fabs(value) < 1e9 ? "%.9g" : "%.6g", value);
    brume_text_group(plain, text, sizeof text);
    if (horizontal) {
        double x = svg_x(panel, value), bottom = panel->top + panel->height;
        fprintf(file, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", x,
                panel->top, x, bottom);
        text_at(file, x, bottom + 16, "middle", "tick", text);
    } else {
        double y = svg_y(panel, value);
        fprintf(file, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                panel->left, y, panel->left + panel->width, y);
        text_at(file, panel->left - 6, y + 4, "end", "tick", text);
    }
}

static void ticks(FILE *file, const brume_panel *panel, bool horizontal)
{
    const brume_axis *axis = horizontal ? &panel->x : &panel->y;
    if (axis->logarithmic) {
        int first = (int)ceil(log10(axis->least) - 1e-9), last = (int)floor(log10(axis->most));
        int step = (last - first) / 6 + 1;
        for (int power = last; power >= first; power -= step)
            tick(file, panel, horizontal, pow(10, power));
        return;
    }
    double step = step_of(axis);
    int first = (int)ceil(axis->least / step - 1e-9), last = (int)floor(axis->most / step + 1e-9);
    for (int i = first; i <= last; i++)
        tick(file, panel, horizontal, i * step);
}

/* For pictures that are not made of lines: the frame with the horizontal axis of a panel alone, or
 * the vertical one, the position of a value on it, a text at an axis, a label that ends at a point,
 * a heading. */
static void svg_scale(FILE *file, const brume_panel *panel)
{
    ticks(file, panel, true);
    fprintf(file, "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
            panel->left, panel->top, panel->width, panel->height);
    text_at(file, panel->left + panel->width / 2, panel->top + panel->height + 36, "middle",
            "label", panel->x.label);
}

static void svg_scale_y(FILE *file, const brume_panel *panel)
{
    ticks(file, panel, false);
    fprintf(file, "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
            panel->left, panel->top, panel->width, panel->height);
}

static void svg_tick(FILE *file, double middle, double top, const char *text)
{
    text_at(file, middle, top, "middle", "tick", text);
}

void brume_svg_panel(FILE *file, const brume_panel *panel, const char *title)
{
    double middle = panel->top + panel->height / 2;
    ticks(file, panel, false);
    svg_scale(file, panel);
    text_at(file, panel->left, panel->top - 12, "start", "title", title);
    fprintf(file, "<g transform=\"translate(%.1f %.1f) rotate(-90)\">", panel->left - 52, middle);
    text_at(file, 0, 0, "middle", "label", panel->y.label);
    fputs("</g>\n", file);
}

static void stroke_style(FILE *file, int stroke)
{
    if (stroke == BRUME_STROKE_GUIDE)
        fputs("stroke=\"#999\" stroke-width=\"1\" stroke-dasharray=\"4 4\"", file);
    else
        fprintf(file, "stroke=\"%s\" stroke-width=\"%s\"", colours[stroke % COLOURS],
                stroke == BRUME_STROKE_MAIN ? "2.6" : "1.5");
}

void brume_svg_line(FILE *file, const brume_panel *panel, int stroke, const double *x,
                    const double *y, size_t count)
{
    fputs("<polyline fill=\"none\" stroke-linejoin=\"round\" ", file);
    stroke_style(file, stroke);
    fputs(" points=\"", file);
    bool below = false; /* the line has left the panel through its floor */
    for (size_t i = 0; i < count && !below; i++) {
        if (isnan(x[i]) || isnan(y[i]))
            continue;
        fprintf(file, "%.2f,%.2f ", svg_x(panel, x[i]), svg_y(panel, y[i]));
        below = panel->y.logarithmic && y[i] < panel->y.least;
    }
    fputs("\"/>\n", file);
}

void brume_svg_legend(FILE *file, double left, double top, int stroke, const char *text)
{
    fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" ", left, top, left + 26,
            top);
    stroke_style(file, stroke);
    fputs("/>\n", file);
    text_at(file, left + 34, top + 4, "start", "label", text);
}

static void svg_label(FILE *file, double right, double top, const char *text)
{
    text_at(file, right, top, "end", "label", text);
}

static void svg_heading(FILE *file, double left, double top, const char *text)
{
    text_at(file, left, top, "start", "title", text);
}

void brume_svg_note(FILE *file, double left, double top, const char *text)
{
    text_at(file, left, top, "start", "tick", text);
}

/* Pixels. */
enum {
    WIDTH = 760,
    LABELS = 210, /* the column of labels */
    RIGHT = 30,
    TOP = 62,
    BAR = 22,    /* a bar and the space to the next */
    FOOT = 46,   /* below a panel: its axis */
    BOTTOM = 34, /* the note */
    LABEL_CHARACTERS = 30,
    LINES = 240, /* the height of a panel of lines */
    LEFT = 90,   /* of it, for the numbers */
    TIMES = 8    /* so many times are written below it */
};

static bool is_barred(const brume_bars *bars, size_t i)
{
    return isfinite(bars->values[i]) && isfinite(bars->lows[i]) && isfinite(bars->highs[i]);
}

/* The lower end of a whisker: a count that is not below 0 cannot truly be. */
static double low_end(const brume_bars *bars, size_t i)
{
    double low = bars->lows[i];
    return bars->is_count ? fmax(low, fmin(0, bars->values[i])) : low;
}

/* Values and whiskers and 0 are within the axis, with a little space beyond. */
static brume_axis axis_of(const brume_bars *bars, size_t count)
{
    double least = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        bool barred = is_barred(bars, i);
        if (!isfinite(bars->values[i]))
            continue;
        least = fmin(least, barred ? low_end(bars, i) : bars->values[i]);
        most = fmax(most, barred ? bars->highs[i] : bars->values[i]);
    }
    if (!(most > least))
        most = least + 1;
    double space = (most - least) * .03;
    return (brume_axis){bars->name, least < 0 ? least - space : 0, most > 0 ? most + space : 0,
                        false};
}

/* At most LABEL_CHARACTERS characters of UTF-8, whole ones. */
static void shorten(const char *label, char *text, size_t size)
{
    size_t used = 0, characters = 0;
    while (label[used] && used + 8 < size && characters <= LABEL_CHARACTERS) {
        used++;
        while (((unsigned char)label[used] & 0xc0) == 0x80)
            used++;
        characters++;
    }
    snprintf(text, size, "%.*s%s", (int)used, label, label[used] ? "…" : "");
}

static void write_bar(FILE *file, const brume_panel *panel, double top, const brume_bars *bars,
                      size_t i)
{
    double zero = svg_x(panel, 0), end = svg_x(panel, bars->values[i]), middle = top + BAR / 2.;
    fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#7fa3c7\"/>\n",
            fmin(zero, end), top + 4, fabs(end - zero), BAR - 8.);
    if (!is_barred(bars, i))
        return;
    double low = svg_x(panel, low_end(bars, i)), high = svg_x(panel, bars->highs[i]);
    fprintf(file,
            "<path d=\"M%.1f %.1fH%.1fM%.1f %.1fV%.1fM%.1f %.1fV%.1f\" stroke=\"#1b3a5c\" "
            "stroke-width=\"1.4\" fill=\"none\"/>\n",
            low, middle, high, low, top + 6, top + BAR - 6., high, top + 6, top + BAR - 6.);
}

static bool begins_group(const brume_chart_rows *rows, size_t i)
{
    return rows->groups && (i == 0 || strcmp(rows->groups[i], rows->groups[i - 1]) != 0);
}

static void write_panel(FILE *file, const brume_panel *panel, const brume_chart_rows *rows,
                        size_t count, const brume_bars *bars)
{
    double top = panel->top;
    svg_scale(file, panel);
    for (size_t i = 0; i < count; i++, top += BAR) {
        char label[4 * LABEL_CHARACTERS + 16];
        if (begins_group(rows, i)) {
            shorten(rows->groups[i], label, sizeof label);
            svg_heading(file, 16, top + BAR / 2. + 4, label);
            top += BAR;
        }
        shorten(rows->labels[i], label, sizeof label);
        svg_label(file, panel->left - 8, top + BAR / 2. + 4, label);
        if (isfinite(bars->values[i]))
            write_bar(file, panel, top, bars, i);
    }
}

static void write_head(FILE *file, double height, const brume_chart_words *words)
{
    brume_svg_begin(file, WIDTH, height, words->title);
    svg_heading(file, 16, 24, words->title);
    brume_svg_note(file, 16, 42, words->question);
}

static void write_foot(FILE *file, double height, const brume_chart_words *words, size_t drawn,
                       size_t count)
{
    char more[80] = "", text[400];
    if (drawn < count)
        snprintf(more, sizeof more, "; the first %zu of %zu rows", drawn, count);
    snprintf(text, sizeof text, "%.300s%s", words->note, more);
    brume_svg_note(file, 16, height - 14, text);
    brume_svg_end(file);
}

void brume_bar_chart_write(FILE *file, const brume_chart_words *words, const brume_chart_rows *rows,
                           const brume_bars *panels, size_t panel_count)
{
    size_t drawn = rows->count < BRUME_BAR_LABELS_MOST ? rows->count : BRUME_BAR_LABELS_MOST;
    size_t lines = drawn;
    for (size_t i = 0; i < drawn; i++)
        lines += begins_group(rows, i);
    double each = (double)lines * BAR + FOOT;
    double height = TOP + (double)panel_count * each + BOTTOM;
    write_head(file, height, words);
    for (size_t i = 0; i < panel_count; i++) {
        const brume_panel panel = {.left = LABELS,
                                   .top = TOP + (double)i * each,
                                   .width = WIDTH - LABELS - RIGHT,
                                   .height = (double)lines * BAR,
                                   .x = axis_of(&panels[i], drawn)};
        write_panel(file, &panel, rows, drawn, &panels[i]);
    }
    write_foot(file, height, words, drawn, rows->count);
}

/* ---- over time ---- */

/* How many labels are before this one: its place in time. */
static size_t place_of(const brume_chart_rows *rows, const char *label)
{
    size_t before = 0;
    for (size_t i = 0; i < rows->count; i++) {
        bool first = strcmp(rows->labels[i], label) < 0;
        for (size_t j = 0; first && j < i; j++)
            first = strcmp(rows->labels[i], rows->labels[j]) != 0;
        before += first;
    }
    return before;
}

/* The band of one group, then its line. */
static void write_line(FILE *file, const brume_panel *panel, const brume_chart_rows *rows,
                       const brume_bars *bars, size_t from, size_t end, int stroke)
{
    const char *colour = colours[(size_t)stroke % COLOURS];
    fprintf(file, "<polygon fill=\"%s\" fill-opacity=\".15\" points=\"", colour);
    for (size_t i = from; i < end; i++)
        if (is_barred(bars, i))
            fprintf(file, "%.1f,%.1f ", svg_x(panel, (double)place_of(rows, rows->labels[i])),
                    svg_y(panel, bars->highs[i]));
    for (size_t i = end; i-- > from;)
        if (is_barred(bars, i))
            fprintf(file, "%.1f,%.1f ", svg_x(panel, (double)place_of(rows, rows->labels[i])),
                    svg_y(panel, low_end(bars, i)));
    fprintf(file, "\"/>\n<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"",
            colour);
    for (size_t i = from; i < end; i++)
        if (isfinite(bars->values[i]))
            fprintf(file, "%.1f,%.1f ", svg_x(panel, (double)place_of(rows, rows->labels[i])),
                    svg_y(panel, bars->values[i]));
    fputs("\"/>\n", file);
}

/* A time under the panel wherever there is room for it. */
static void write_times(FILE *file, const brume_panel *panel, const brume_chart_rows *rows,
                        size_t times)
{
    size_t step = (times + TIMES - 1) / TIMES;
    for (size_t i = 0; i < rows->count; i++) {
        size_t place = place_of(rows, rows->labels[i]);
        bool again = false;
        for (size_t j = 0; j < i && !again; j++)
            again = strcmp(rows->labels[j], rows->labels[i]) == 0;
        if (!again && place % step == 0)
            svg_tick(file, svg_x(panel, (double)place), panel->top + panel->height + 16,
                     rows->labels[i]);
    }
}

static void write_lines(FILE *file, const brume_panel *panel, const brume_chart_rows *rows,
                        const brume_bars *bars)
{
    int stroke = 0;
    svg_scale_y(file, panel);
    svg_heading(file, panel->left, panel->top - 6, bars->name);
    for (size_t from = 0, end; from < rows->count; from = end, stroke++) {
        for (end = from + 1; end < rows->count && !begins_group(rows, end);)
            end++;
        write_line(file, panel, rows, bars, from, end, stroke);
        if (rows->groups && panel->top < 2 * TOP)
            brume_svg_legend(file, WIDTH - 150, panel->top + 14. * (stroke + 1), stroke,
                             rows->groups[from]);
    }
}

void brume_line_chart_write(FILE *file, const brume_chart_words *words,
                            const brume_chart_rows *rows, const brume_bars *panels,
                            size_t panel_count)
{
    double each = LINES + FOOT, height = TOP + 14 + (double)panel_count * each + BOTTOM;
    size_t times = 1;
    for (size_t i = 0; i < rows->count; i++) {
        size_t place = place_of(rows, rows->labels[i]);
        times = place + 1 > times ? place + 1 : times;
    }
    write_head(file, height, words);
    for (size_t i = 0; i < panel_count; i++) {
        const brume_panel panel = {.left = LEFT,
                                   .top = TOP + 14 + (double)i * each,
                                   .width = WIDTH - LEFT - (rows->groups ? 170 : RIGHT),
                                   .height = LINES,
                                   .x = {"", 0, times > 1 ? (double)times - 1 : 1, false},
                                   .y = axis_of(&panels[i], rows->count)};
        write_lines(file, &panel, rows, &panels[i]);
        write_times(file, &panel, rows, times);
    }
    write_foot(file, height, words, rows->count, rows->count);
}
