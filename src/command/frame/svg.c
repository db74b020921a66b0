/* Charts as SVG. */
#include "command/frame/svg.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

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

static void escaped(FILE *file, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", file);
            break;
        case '>':
            fputs("&gt;", file);
            break;
        case '&':
            fputs("&amp;", file);
            break;
        case '"':
            fputs("&quot;", file);
            break;
        default:
            fputc(*text, file);
        }
}

static void text_at(FILE *file, double x, double y, const char *anchor, const char *class,
                    const char *text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor,
            class);
    escaped(file, text);
    fputs("</text>\n", file);
}

void brume_svg_begin(FILE *file, double width, double height, const char *title)
{
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\">\n<title>",
            width, height, width, height);
    escaped(file, title);
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

double brume_svg_x(const brume_panel *panel, double value)
{
    return panel->left + panel->width * share(&panel->x, value);
}

double brume_svg_y(const brume_panel *panel, double value)
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
        double x = brume_svg_x(panel, value), bottom = panel->top + panel->height;
        fprintf(file, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", x,
                panel->top, x, bottom);
        text_at(file, x, bottom + 16, "middle", "tick", text);
    } else {
        double y = brume_svg_y(panel, value);
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

void brume_svg_scale(FILE *file, const brume_panel *panel)
{
    ticks(file, panel, true);
    fprintf(file, "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
            panel->left, panel->top, panel->width, panel->height);
    text_at(file, panel->left + panel->width / 2, panel->top + panel->height + 36, "middle",
            "label", panel->x.label);
}

void brume_svg_scale_y(FILE *file, const brume_panel *panel)
{
    ticks(file, panel, false);
    fprintf(file, "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
            panel->left, panel->top, panel->width, panel->height);
}

void brume_svg_tick(FILE *file, double middle, double top, const char *text)
{
    text_at(file, middle, top, "middle", "tick", text);
}

void brume_svg_panel(FILE *file, const brume_panel *panel, const char *title)
{
    double middle = panel->top + panel->height / 2;
    ticks(file, panel, false);
    brume_svg_scale(file, panel);
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
        fprintf(file, "%.2f,%.2f ", brume_svg_x(panel, x[i]), brume_svg_y(panel, y[i]));
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

void brume_svg_label(FILE *file, double right, double top, const char *text)
{
    text_at(file, right, top, "end", "label", text);
}

void brume_svg_heading(FILE *file, double left, double top, const char *text)
{
    text_at(file, left, top, "start", "title", text);
}

void brume_svg_note(FILE *file, double left, double top, const char *text)
{
    text_at(file, left, top, "start", "tick", text);
}
