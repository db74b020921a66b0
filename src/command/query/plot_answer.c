/* query --plot FILE.svg: an answer as bars with whiskers. */
#include "command/query/plot_answer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* "north, 2024": the keys of a row; the caller frees it. */
static char *label_of(const brume_query_answer *answer, size_t row)
{
    char *text = NULL;
    size_t length = 0, keys = 0;
    FILE *out = open_memstream(&text, &length);
    for (size_t i = 0; out && i < answer->column_count; i++) {
        if (!answer->columns[i].is_key)
            continue;
        char *key = brume_value_text(&answer->values[row * answer->column_count + i], "NULL", true);
        fprintf(out, "%s%s", keys++ ? ", " : "", key ? key : "");
        free(key);
    }
    if (!out || fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* Everything that is drawn, in arrays of its own. */
typedef struct chart {
    char **labels;
    brume_bars *panels;
    double *numbers; /* values and errors of all panels */
    size_t panel_count;
} chart;

static void fill_panel(chart *c, const brume_query_answer *answer, size_t column)
{
    size_t rows = answer->row_count;
    double *values = c->numbers + 2 * rows * c->panel_count, *errors = values + rows;
    bool any = false;
    for (size_t row = 0; row < rows; row++) {
        size_t cell = row * answer->column_count + column;
        const brume_value *value = &answer->values[cell];
        values[row] = value->kind == BRUME_VALUE_NUMBER ? value->number : (double)NAN;
        errors[row] = brume_query_answer_bar(answer, cell);
        any |= isfinite(values[row]);
    }
    if (any)
        c->panels[c->panel_count++] = (brume_bars){answer->columns[column].name, values, errors};
}

static bool fill(chart *c, const brume_query_answer *answer)
{
    size_t rows = answer->row_count, columns = answer->column_count;
    c->labels = calloc(rows + 1, sizeof *c->labels);
    c->panels = calloc(columns + 1, sizeof *c->panels);
    c->numbers = calloc(2 * rows * columns + 1, sizeof *c->numbers);
    if (!c->labels || !c->panels || !c->numbers)
        return false;
    for (size_t row = 0; row < rows; row++)
        if (!(c->labels[row] = label_of(answer, row)))
            return false;
    for (size_t i = 0; i < columns; i++)
        if (!answer->columns[i].is_key)
            fill_panel(c, answer, i);
    return true;
}

static void empty(chart *c, size_t rows)
{
    for (size_t row = 0; c->labels && row < rows; row++)
        free(c->labels[row]);
    free(c->labels);
    free(c->panels);
    free(c->numbers);
}

static brume_status draw(brume_plot_file *plot, const chart *c, const brume_query_answer *answer,
                         brume_error *error)
{
    char note[200];
    bool cut = false, biased = false;
    for (size_t i = 0; i < answer->column_count; i++) {
        cut = cut || answer->columns[i].cut_allowance > 0;
        biased = biased || answer->columns[i].biased;
    }
    snprintf(note, sizeof note, "whiskers: noise at 95 %%%s%s; cost %s %s",
             cut ? " and an estimate of what limits cut" : "",
             biased ? "; limits and bounds may bias" : "",
             answer->cost.concentrated ? "rho" : "epsilon",
             brume_shortest(answer->cost.amount).text);
    if (ftruncate(fileno(plot->file), 0) == 0) {
        brume_bar_chart_write(plot->file, "brume: a private answer", (const char *const *)c->labels,
                              answer->row_count, c->panels, c->panel_count, note);
        if (fflush(plot->file) == 0 && !ferror(plot->file)) {
            plot->is_new = false; /* it stays */
            return BRUME_OK;
        }
    }
    return brume_fail(error, BRUME_EDISK, "ask again: the answer is recorded and free to read",
                      "cannot write '%s': %s", plot->path, strerror(errno));
}

brume_status brume_plot_answer(brume_plot_file *plot, const brume_query_answer *answer,
                               brume_error *error)
{
    if (!plot->file)
        return BRUME_OK;
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
    empty(&c, answer->row_count);
    return status;
}
