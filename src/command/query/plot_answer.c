/* query --plot FILE.svg: an answer as bars with whiskers, or as lines over time. */
#include "command/query/plot_answer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "command/frame/bar_chart.h"
#include "command/query/write_answer.h"

brume_status brume_plot_open(const brume_call *call, brume_plot_file *out, brume_error *error)
{
    *out = (brume_plot_file){.path = brume_call_text(call, "plot")};
    if (!out->path)
        return BRUME_OK;
    out->file = fopen(out->path, "r+e");
    if (!out->file) {
        out->is_new = true;
        out->file = fopen(out->path, "wxe");
    }
    if (!out->file)
        return brume_fail(error, BRUME_EDISK, "nothing was spent", "cannot write '%s': %s",
                          out->path, strerror(errno));
    return BRUME_OK;
}

void brume_plot_close(brume_plot_file *plot)
{
    if (plot->file)
        fclose(plot->file);
    if (plot->file && plot->is_new)
        unlink(plot->path);
    plot->file = NULL;
}

/* Everything that is drawn, in arrays of its own. Two keys are a group and a label in it. */
typedef struct chart {
    size_t rows, *order; /* the rows of the answer, those of a group together */
    char **labels, **groups;
    bool over_time;
    brume_bars *panels;
    double *numbers; /* values and errors of all panels */
    size_t panel_count;
} chart;

/* The keys of a row from `first` on, with commas; the caller frees it. */
static char *keys_text(const brume_query_answer *answer, size_t row, size_t first, size_t most)
{
    char *text = NULL;
    size_t length = 0, keys = 0;
    FILE *out = open_memstream(&text, &length);
    for (size_t i = 0; out && i < answer->column_count; i++) {
        if (!answer->columns[i].is_key)
            continue;
        size_t key = keys++;
        if (key < first || key >= first + most)
            continue;
        char *cell = brume_cell_text(answer, row * answer->column_count + i, "NULL", true);
        fprintf(out, "%s%s", key > first ? ", " : "", cell ? cell : "");
        free(cell);
    }
    if (!out || fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* A year and a month, at least, or 2024-Q1. */
static bool is_time(const char *label)
{
    bool quarter = strlen(label) == 7 && label[5] == 'Q';
    static const char form[] = "dddd-dd-dd dd:dd:dd";
    size_t length = strlen(label);
    if (length < 7 || length > sizeof form - 1)
        return false;
    for (size_t i = 0; i < length; i++)
        if (quarter && i == 5)
            continue;
        else if (form[i] == 'd' ? label[i] < '0' || label[i] > '9' : label[i] != form[i])
            return false;
    return true;
}

static bool all_times(char *const *labels, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_time(labels[i]))
            return false;
    return count > 1;
}

typedef struct ordering {
    const chart *of;
    const size_t *first; /* of each row, the first row of its group */
} ordering;

static int compare_rows(const void *left, const void *right, void *context)
{
    const ordering *by = context;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    if (by->first[a] != by->first[b])
        return by->first[a] < by->first[b] ? -1 : 1;
    int sign = by->of->over_time ? strcmp(by->of->labels[a], by->of->labels[b]) : 0;
    return sign ? sign : a < b ? -1 : a > b;
}

static void permute(char **texts, const size_t *order, size_t count, char **room)
{
    for (size_t i = 0; i < count; i++)
        room[i] = texts[order[i]];
    memcpy(texts, room, count * sizeof *texts);
}

/* Groups in the order in which they come, times in that of time. */
static bool arrange(chart *c)
{
    size_t *first = calloc(c->rows + 1, sizeof *first);
    char **room = calloc(c->rows + 1, sizeof *room);
    bool good = first && room;
    for (size_t i = 0; good && i < c->rows; i++) {
        while (c->groups && strcmp(c->groups[first[i]], c->groups[i]) != 0)
            first[i]++;
        c->order[i] = i;
    }
    ordering by = {c, first};
    if (good && c->rows) {
        qsort_r(c->order, c->rows, sizeof *c->order, compare_rows, &by);
        permute(c->labels, c->order, c->rows, room);
        if (c->groups)
            permute(c->groups, c->order, c->rows, room);
    }
    free(first);
    free(room);
    return good;
}

static bool make_labels(chart *c, const brume_query_answer *answer)
{
    size_t keys = 0;
    for (size_t i = 0; i < answer->column_count; i++)
        keys += answer->columns[i].is_key;
    c->labels = calloc(c->rows + 1, sizeof *c->labels);
    c->groups = keys == 2 ? calloc(c->rows + 1, sizeof *c->groups) : NULL;
    c->order = calloc(c->rows + 1, sizeof *c->order);
    if (!c->labels || !c->order || (keys == 2 && !c->groups))
        return false;
    for (size_t row = 0; row < c->rows; row++) {
        c->labels[row] = keys_text(answer, row, keys == 2, SIZE_MAX / 2);
        if (!c->labels[row] || (c->groups && !(c->groups[row] = keys_text(answer, row, 0, 1))))
            return false;
    }
    if (c->groups && all_times(c->groups, c->rows)) { /* lines are over time, whichever key it is */
        char **times = c->groups;
        c->groups = c->labels;
        c->labels = times;
    }
    c->over_time = all_times(c->labels, c->rows);
    return arrange(c);
}

static void fill_panel(chart *c, const brume_query_answer *answer, size_t column)
{
    double *values = c->numbers + 3 * c->rows * c->panel_count;
    double *lows = values + c->rows, *highs = lows + c->rows;
    bool any = false;
    for (size_t row = 0; row < c->rows; row++) {
        size_t cell = c->order[row] * answer->column_count + column;
        const brume_value *value = &answer->values[cell];
        values[row] = value->kind == BRUME_VALUE_NUMBER ? value->number : (double)NAN;
        const brume_value *ends = brume_query_answer_interval(answer, cell);
        bool interval = ends && ends[0].kind == BRUME_VALUE_NUMBER;
        double error = brume_query_answer_bar(answer, cell);
        lows[row] = interval ? ends[0].number : values[row] - error;
        highs[row] = interval ? ends[1].number : values[row] + error;
        any |= isfinite(values[row]);
    }
    if (any)
        c->panels[c->panel_count++] =
            (brume_bars){answer->columns[column].name, values, lows, highs,
                         answer->columns[column].side == BRUME_SIDE_HIGHER};
}

static bool fill(chart *c, const brume_query_answer *answer)
{
    c->rows = answer->row_count;
    c->panels = calloc(answer->column_count + 1, sizeof *c->panels);
    c->numbers = calloc(3 * c->rows * answer->column_count + 1, sizeof *c->numbers);
    if (!c->panels || !c->numbers || !make_labels(c, answer))
        return false;
    for (size_t i = 0; i < answer->column_count; i++)
        if (!answer->columns[i].is_key)
            fill_panel(c, answer, i);
    return true;
}

static void empty(chart *c)
{
    for (size_t row = 0; row < c->rows; row++) {
        free(c->labels ? c->labels[row] : NULL);
        free(c->groups ? c->groups[row] : NULL);
    }
    free(c->labels);
    free(c->groups);
    free(c->order);
    free(c->panels);
    free(c->numbers);
}

/* "n, mean_cost by ward": what the question was. */
static void write_title(const brume_query_answer *answer, char *title, size_t size)
{
    size_t used = 0;
    for (int keys = 0; keys < 2; keys++)
        for (size_t i = 0, said = 0; i < answer->column_count && used < size; i++)
            if (answer->columns[i].is_key == (keys == 1)) {
                used += (size_t)snprintf(title + used, size - used, "%s%s",
                                         said   ? ", "
                                         : keys ? " by "
                                                : "",
                                         answer->columns[i].name);
                said++;
            }
    brume_utf8_mend(title);
}

static brume_status draw(brume_plot_file *plot, const chart *c, const brume_query_answer *answer,
                         brume_error *error)
{
    char note[200], title[160] = "", question[130];
    bool cut = false;
    for (size_t i = 0; i < answer->column_count; i++)
        cut = cut || answer->columns[i].cut_allowance > 0;
    snprintf(note, sizeof note, "%s: noise at 95 %%%s; cost %s %s",
             c->over_time ? "bands" : "whiskers", cut ? " and an estimate of what limits cut" : "",
             answer->cost.concentrated ? "rho" : "epsilon",
             brume_shortest(answer->cost.amount).text);
    write_title(answer, title, sizeof title);
    snprintf(question, sizeof question, "%.110s%s", plot->question,
             strlen(plot->question) > 110 ? " ..." : "");
    brume_utf8_mend(question);
    const brume_chart_words words = {title, question, note};
    const brume_chart_rows rows = {(const char *const *)c->labels, (const char *const *)c->groups,
                                   c->rows};
    if (ftruncate(fileno(plot->file), 0) == 0) {
        (c->over_time ? brume_line_chart_write : brume_bar_chart_write)(plot->file, &words, &rows,
                                                                        c->panels, c->panel_count);
        if (fflush(plot->file) == 0 && !ferror(plot->file)) {
            plot->is_new = false; /* it stays */
            return BRUME_OK;
        }
    }
    return brume_fail(error, BRUME_EDISK, "ask again: the answer is recorded and free to read",
                      "cannot write '%s': %s", plot->path, strerror(errno));
}

brume_status brume_plot_answer(brume_plot_file *plot, const brume_query_answer *answer,
                               const char *sql, brume_error *error)
{
    if (!plot->file)
        return BRUME_OK;
    plot->question = sql;
    chart c = {0};
    brume_status status = BRUME_OK;
    if (!fill(&c, answer))
        status = brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for a picture");
    else if (c.panel_count == 0)
        status = brume_fail(error, BRUME_EUNSUPPORTED,
                            "ask again without --plot: the answer is recorded and free to read",
                            "the answer has no numbers to draw");
    else
        status = draw(plot, &c, answer, error);
    empty(&c);
    return status;
}
