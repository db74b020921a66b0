/* Bars with whiskers, and lines with bands, as SVG. Bars lie, so that long labels can be read. */
#include "command/frame/bar_chart.h"

#include <math.h>
#include <string.h>

#include "command/frame/svg.h"

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
    double zero = brume_svg_x(panel, 0), end = brume_svg_x(panel, bars->values[i]),
           middle = top + BAR / 2.;
    fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#7fa3c7\"/>\n",
            fmin(zero, end), top + 4, fabs(end - zero), BAR - 8.);
    if (!is_barred(bars, i))
        return;
    double low = brume_svg_x(panel, low_end(bars, i)), high = brume_svg_x(panel, bars->highs[i]);
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
    brume_svg_scale(file, panel);
    for (size_t i = 0; i < count; i++, top += BAR) {
        char label[4 * LABEL_CHARACTERS + 16];
        if (begins_group(rows, i)) {
            shorten(rows->groups[i], label, sizeof label);
            brume_svg_heading(file, 16, top + BAR / 2. + 4, label);
            top += BAR;
        }
        shorten(rows->labels[i], label, sizeof label);
        brume_svg_label(file, panel->left - 8, top + BAR / 2. + 4, label);
        if (isfinite(bars->values[i]))
            write_bar(file, panel, top, bars, i);
    }
}

static void write_head(FILE *file, double height, const brume_chart_words *words)
{
    brume_svg_begin(file, WIDTH, height, words->title);
    brume_svg_heading(file, 16, 24, words->title);
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
    static const char *const colours[] = {"#1b3a5c", "#c8553d", "#588157", "#8d6a9f",
                                          "#d9a441", "#3d8fa8", "#7a7a7a"};
    const char *colour = colours[(size_t)stroke % (sizeof colours / sizeof *colours)];
    fprintf(file, "<polygon fill=\"%s\" fill-opacity=\".15\" points=\"", colour);
    for (size_t i = from; i < end; i++)
        if (is_barred(bars, i))
            fprintf(file, "%.1f,%.1f ", brume_svg_x(panel, (double)place_of(rows, rows->labels[i])),
                    brume_svg_y(panel, bars->highs[i]));
    for (size_t i = end; i-- > from;)
        if (is_barred(bars, i))
            fprintf(file, "%.1f,%.1f ", brume_svg_x(panel, (double)place_of(rows, rows->labels[i])),
                    brume_svg_y(panel, low_end(bars, i)));
    fprintf(file, "\"/>\n<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"",
            colour);
    for (size_t i = from; i < end; i++)
        if (isfinite(bars->values[i]))
            fprintf(file, "%.1f,%.1f ", brume_svg_x(panel, (double)place_of(rows, rows->labels[i])),
                    brume_svg_y(panel, bars->values[i]));
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
            brume_svg_tick(file, brume_svg_x(panel, (double)place), panel->top + panel->height + 16,
                           rows->labels[i]);
    }
}

static void write_lines(FILE *file, const brume_panel *panel, const brume_chart_rows *rows,
                        const brume_bars *bars)
{
    int stroke = 0;
    brume_svg_scale_y(file, panel);
    brume_svg_heading(file, panel->left, panel->top - 6, bars->name);
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
