/* Bars with whiskers as SVG. Bars lie, so that long labels can be read. */
#include "command/frame/bar_chart.h"

#include <math.h>
#include <string.h>

#include "command/frame/svg.h"

/* Pixels. */
enum {
    WIDTH = 760,
    LABELS = 210, /* the column of labels */
    RIGHT = 30,
    TOP = 44,
    BAR = 22,    /* a bar and the space to the next */
    FOOT = 46,   /* below a panel: its axis */
    BOTTOM = 34, /* the note */
    LABEL_CHARACTERS = 30
};

/* Values and whiskers and 0 are within the axis, with a little space beyond. */
static brume_axis axis_of(const brume_bars *bars, size_t count)
{
    double least = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        double error = isfinite(bars->errors[i]) ? bars->errors[i] : 0;
        if (!isfinite(bars->values[i]))
            continue;
        least = fmin(least, bars->values[i] - error);
        most = fmax(most, bars->values[i] + error);
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

static void write_bar(FILE *file, const brume_panel *panel, double top, double value, double error)
{
    double zero = brume_svg_x(panel, 0), end = brume_svg_x(panel, value), middle = top + BAR / 2.;
    fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#7fa3c7\"/>\n",
            fmin(zero, end), top + 4, fabs(end - zero), BAR - 8.);
    if (!isfinite(error))
        return;
    double low = brume_svg_x(panel, value - error), high = brume_svg_x(panel, value + error);
    fprintf(file,
            "<path d=\"M%.1f %.1fH%.1fM%.1f %.1fV%.1fM%.1f %.1fV%.1f\" stroke=\"#1b3a5c\" "
            "stroke-width=\"1.4\" fill=\"none\"/>\n",
            low, middle, high, low, top + 6, top + BAR - 6., high, top + 6, top + BAR - 6.);
}

static void write_panel(FILE *file, const brume_panel *panel, const char *const *labels,
                        size_t count, const brume_bars *bars)
{
    brume_svg_scale(file, panel);
    for (size_t i = 0; i < count; i++) {
        double top = panel->top + (double)i * BAR;
        char label[4 * LABEL_CHARACTERS + 16];
        shorten(labels[i], label, sizeof label);
        brume_svg_label(file, panel->left - 8, top + BAR / 2. + 4, label);
        if (isfinite(bars->values[i]))
            write_bar(file, panel, top, bars->values[i], bars->errors[i]);
    }
}

void brume_bar_chart_write(FILE *file, const char *title, const char *const *labels, size_t count,
                           const brume_bars *panels, size_t panel_count, const char *note)
{
    size_t drawn = count < BRUME_BAR_LABELS_MOST ? count : BRUME_BAR_LABELS_MOST;
    double each = (double)drawn * BAR + FOOT;
    double height = TOP + (double)panel_count * each + BOTTOM;
    brume_svg_begin(file, WIDTH, height, title);
    brume_svg_heading(file, 16, 24, title);
    for (size_t i = 0; i < panel_count; i++) {
        const brume_panel panel = {.left = LABELS,
                                   .top = TOP + (double)i * each,
                                   .width = WIDTH - LABELS - RIGHT,
                                   .height = (double)drawn * BAR,
                                   .x = axis_of(&panels[i], drawn)};
        write_panel(file, &panel, labels, drawn, &panels[i]);
    }
    char more[80] = "";
    if (drawn < count)
        snprintf(more, sizeof more, "; the first %zu of %zu rows", drawn, count);
    char text[400];
    snprintf(text, sizeof text, "%.300s%s", note, more);
    brume_svg_note(file, 16, height - 14, text);
    brume_svg_end(file);
}
