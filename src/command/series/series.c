/* brume series open, update, show, list, end: running totals of a table that grows, paid for once.
 * The words typed, and what is shown; query/series/series.h does the rest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv_write.h"
#include "base/text.h"
#include "command/command.h"
#include "command/frame/bar_chart.h"
#include "command/frame/output.h"
#include "command/frame/table.h"
#include "command/frame/watch.h"
#include "command/ledger/open_ledger.h"
#include "command/query/ask.h"
#include "query/plan/tables.h"
#include "query/plan/words.h"
#include "query/series/series.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static double real_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* "epsilon 0.5" or "rho 0.1, delta 1e-9" */
static void write_cost(FILE *out, const json_t *cost)
{
    bool rho = json_is_number(json_object_get(cost, "rho"));
    fprintf(out, "%s %s", rho ? "rho" : "epsilon",
            brume_shortest(real_of(cost, rho ? "rho" : "epsilon")).text);
    if (real_of(cost, "delta") > 0)
        fprintf(out, ", delta %s", brume_shortest(real_of(cost, "delta")).text);
}

/* "2026-11-20 00:00 UTC" of "2026-11-20T00:00:00Z" */
static void write_moment(FILE *out, const char *moment)
{
    if (strlen(moment) < 16)
        fputs(moment, out);
    else
        fprintf(out, "%.10s %.5s UTC", moment, moment + 11);
}

static void write_next(FILE *out, const json_t *made)
{
    const char *next = text_of(made, "next");
    if (!*next)
        return;
    fputs("the next window can be published from ", out);
    write_moment(out, next);
    fputs(" on\n", out);
}

/* What units and rows of a series are called. */
static brume_words words_of(brume_ledger *ledger, const json_t *made)
{
    brume_words words = brume_words_plain();
    brume_dataset *dataset = NULL;
    brume_tables *tables = NULL;
    const char *name = text_of(made, "dataset");
    if (brume_ledger_dataset(ledger, name, &dataset, NULL) == BRUME_OK &&
        brume_tables_from_json(dataset->policy, name, &tables, NULL) == BRUME_OK &&
        tables->count == 1) { /* a series is of one table */
        brume_words_set_units(&words, &tables->list[0].policy, 1);
        brume_words_set_rows(&words, name);
    }
    brume_tables_close(tables);
    brume_dataset_close(dataset);
    return words;
}

/* A short text. */
typedef struct grouped {
    char text[64];
} grouped;

static grouped capital(const char *word)
{
    grouped out;
    snprintf(out.text, sizeof out.text, "%s", word);
    if (out.text[0] >= 'a' && out.text[0] <= 'z')
        out.text[0] = (char)(out.text[0] - 'a' + 'A');
    return out;
}

static grouped with_commas(brume_number_text number)
{
    grouped out;
    brume_text_group(number.text, out.text, sizeof out.text);
    return out;
}

/* ---- open ---- */

static void write_opened(const brume_call *call, const json_t *made, const brume_words *words)
{
    FILE *out = call->out;
    const json_t *errors = json_object_get(made, "errors");
    bool opened = json_is_true(json_object_get(made, "opened"));
    fprintf(out, "%s '%s' of %s: %s\n",
            opened ? "opened the series" : "nothing was charged; this would open the series",
            text_of(made, "series"), text_of(made, "dataset"), text_of(made, "sql"));
    fprintf(out, "  windows   %lld, from %s\n",
            (long long)json_integer_value(json_object_get(made, "horizon")),
            text_of(made, "first"));
    bool whole = strcmp(text_of(made, "protects"), "unit") == 0;
    fprintf(out, "  limit     %s: the most that one %s adds%s\n", text_of(made, "limit"),
            words->unit, whole ? " to all windows together" : "");
    fprintf(out, "  protects  one %s's %s\n", words->unit,
            whole ? "whole history, if rows are only added as the owner says"
                  : "rows in one window");
    fputs("  cost      ", out);
    write_cost(out, json_object_get(made, "cost"));
    fprintf(out, ", %s\n", opened ? "paid; publishing windows is free" : "once for all windows");
    const json_t *windows = json_object_get(made, "windows");
    if (windows) {
        const json_t *range = json_array_get(json_object_get(windows, "ranges"), 0);
        fprintf(out, "  windows   each from %s to %s pays ",
                json_string_value(json_array_get(range, 0)),
                json_string_value(json_array_get(range, 1)));
        write_cost(out, json_object_get(windows, "price"));
        fputc('\n', out);
    }
    fprintf(
        out,
        "  totals    ± %s at 95 %% in the first window, ± %s in the last; one window ± %s;\n"
        "            what the limit cuts comes on top, and what rows change that come or change later than\n"
        "            %s after the end of their window\n",
        with_commas(brume_rounded_up(real_of(errors, "first_total_95"))).text,
        with_commas(brume_rounded_up(real_of(errors, "last_total_95"))).text,
        with_commas(brume_rounded_up(real_of(errors, "last_window_95"))).text,
        text_of(made, "close_after"));
    fputs("  next      from ", out);
    write_moment(out, text_of(made, "next"));
    fprintf(out, " on: 'brume series update %s'\n", text_of(made, "series"));
}

static brume_status run_open(brume_call *call, brume_error *error)
{
    const brume_series_words words = {.name = brume_call_operand(call, 0),
                                      .sql = brume_call_operand(call, 1),
                                      .limit = brume_call_text(call, "limit"),
                                      .epsilon = brume_call_text(call, "epsilon"),
                                      .delta = brume_call_text(call, "delta"),
                                      .rho = brume_call_text(call, "rho"),
                                      .horizon = brume_call_text(call, "horizon"),
                                      .from = brume_call_text(call, "from"),
                                      .window = brume_call_text(call, "window"),
                                      .close_after = brume_call_text(call, "close-after"),
                                      .ever = brume_call_has(call, "ever")};
    brume_ledger *ledger = NULL;
    json_t *made = NULL;
    bool dry_run = brume_call_has(call, "dry-run");
    BRUME_TRY(brume_call_open_ledger(call, dry_run ? BRUME_LEDGER_READ : BRUME_LEDGER_WRITE,
                                     &ledger, error));
    BRUME_TRY(brume_series_open(ledger, &words, dry_run, &made, error));
    BRUME_TRY(brume_call_keep_json(call, made, error));
    if (call->json)
        return brume_call_write_json(call, json_incref(made), error);
    brume_words called = words_of(ledger, made);
    write_opened(call, made, &called);
    return BRUME_OK;
}

/* ---- update ---- */

static void write_updated(const brume_call *call, const json_t *made)
{
    long long published = json_integer_value(json_object_get(made, "published"));
    const char *until = text_of(made, "closed_until");
    if (published > 0)
        fprintf(call->out, "%s: published %lld window%s, up to %s\n", text_of(made, "series"),
                published, published == 1 ? "" : "s", until);
    else
        fprintf(call->out, "%s: nothing to publish%s%s\n", text_of(made, "series"),
                *until ? "; published up to " : "", until);
    write_next(call->out, made);
}

static brume_status run_update(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_bits *bits = NULL;
    const brume_watch *watch = NULL;
    json_t *made = NULL;
    BRUME_TRY(brume_call_watch(call, &watch, error));
    BRUME_TRY(brume_call_open_bits(call, &bits, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    BRUME_TRY(brume_series_update(ledger, brume_call_operand(call, 0), bits, watch, &made, error));
    BRUME_TRY(brume_call_keep_json(call, made, error));
    if (call->json)
        return brume_call_write_json(call, json_incref(made), error);
    write_updated(call, made);
    return BRUME_OK;
}

/* ---- show ---- */

/* The text of a key; `room` for a number. */
static const char *key_text(const json_t *key, char room[32])
{
    if (json_is_string(key))
        return json_string_value(key);
    if (json_is_integer(key))
        snprintf(room, 32, "%lld", (long long)json_integer_value(key));
    else if (json_is_real(key))
        snprintf(room, 32, "%s", brume_shortest(json_real_value(key)).text);
    else
        snprintf(room, 32, "%s",
                 json_is_boolean(key) ? json_is_true(key) ? "true" : "false" : "NULL");
    return room;
}

static bool is_whole(const json_t *made)
{
    size_t i = 0;
    json_t *point = NULL;
    json_array_foreach (json_object_get(made, "points"), i, point)
        if (real_of(point, "total") != floor(real_of(point, "total")))
            return false;
    return true;
}

static brume_status write_table(brume_call *call, const json_t *made, bool markdown,
                                brume_error *error)
{
    const json_t *keys = json_object_get(made, "keys"), *points = json_object_get(made, "points");
    size_t key_count = json_array_size(keys), count = 0, i = 0;
    bool whole = is_whole(made);
    json_t *point = NULL;
    const char **columns = calloc(key_count + 6, sizeof *columns);
    if (!columns)
        return brume_no_memory(error, "a table");
    columns[count++] = "window";
    for (size_t k = 0; k < key_count; k++)
        columns[count++] = json_string_value(json_array_get(keys, k));
    columns[count++] = ">total";
    columns[count++] = ">± 95 %";
    columns[count++] = ">in window";
    columns[count++] = ">± 95 %";
    brume_table *table = brume_table_open(columns);
    json_array_foreach (points, i, point) {
        char room[32];
        const json_t *values = json_object_get(point, "keys");
        brume_table_cell(table, "%s", text_of(point, "window"));
        for (size_t k = 0; k < key_count; k++)
            brume_table_cell(table, "%s", key_text(json_array_get(values, k), room));
        brume_readable total =
            brume_value_and_error(real_of(point, "total"), real_of(point, "error_95"), whole);
        brume_readable inside = brume_value_and_error(real_of(point, "in_window"),
                                                      real_of(point, "in_window_error_95"), whole);
        brume_table_cell(table, "%s", with_commas(total.value).text);
        brume_table_cell(table, "%s", with_commas(total.error).text);
        brume_table_cell(table, "%s", with_commas(inside.value).text);
        brume_table_cell(table, "%s", with_commas(inside.error).text);
    }
    brume_status status = markdown ? brume_table_write_markdown(table, call, error)
                                   : brume_table_write(table, call, error);
    free(columns);
    return status;
}

/* "2026-11 goes up to 2026-11-16": the last of longer windows need not be whole, nor the first. */
static void write_parts(FILE *out, const json_t *made)
{
    const json_t *points = json_object_get(made, "points");
    const json_t *first = json_array_get(points, 0);
    const json_t *last = json_array_get(points, json_array_size(points) - 1);
    brume_write_sentence(out, "%s begins with %s, and %s ends with %s.", text_of(first, "window"),
                         text_of(first, "from"), text_of(last, "window"), text_of(last, "to"));
}

static void write_notes(const brume_call *call, const json_t *made, const brume_words *words)
{
    FILE *out = call->out;
    const char *limit = text_of(made, "limit");
    fputs("\npaid once: ", out);
    write_cost(out, json_object_get(made, "cost"));
    fputs("; publishing and showing windows is free\n", out);
    if (brume_call_has(call, "by") && json_array_size(json_object_get(made, "points")) > 0)
        write_parts(out, made);
    brume_write_sentence(out,
                         "Each %s adds at most %s%s. What %s have beyond that is left out; ± does "
                         "not include it, and nobody counts it.",
                         words->unit, limit, strchr(limit, '/') ? "" : " to all windows together",
                         words->units);
    brume_write_sentence(
        out,
        "%s that come or change later than %s after the end of their window are counted "
        "in part, and more with each window; ± does not include that either.",
        capital(words->rows).text, text_of(made, "close_after"));
    if (json_is_true(json_object_get(made, "ended")))
        fputs("The series has ended.\n", out);
    else
        write_next(out, made);
}

static void write_csv(FILE *out, const json_t *made)
{
    const json_t *keys = json_object_get(made, "keys");
    size_t key_count = json_array_size(keys), i = 0;
    json_t *point = NULL;
    fputs("window,from,to", out);
    for (size_t k = 0; k < key_count; k++) {
        fputc(',', out);
        brume_csv_write_field(out, json_string_value(json_array_get(keys, k)));
    }
    fputs(",total,error_95,in_window,in_window_error_95,error_covers\n", out);
    json_array_foreach (json_object_get(made, "points"), i, point) {
        char room[32];
        fprintf(out, "%s,%s,%s", text_of(point, "window"), text_of(point, "from"),
                text_of(point, "to"));
        for (size_t k = 0; k < key_count; k++) {
            fputc(',', out);
            brume_csv_write_field(
                out, key_text(json_array_get(json_object_get(point, "keys"), k), room));
        }
        fprintf(out, ",%s,%s", brume_shortest(real_of(point, "total")).text,
                brume_shortest(real_of(point, "error_95")).text);
        fprintf(out, ",%s,%s,%s\n", brume_shortest(real_of(point, "in_window")).text,
                brume_shortest(real_of(point, "in_window_error_95")).text,
                text_of(made, "error_covers"));
    }
}

/* ---- the picture ---- */

/* The keys of a point, with commas; the caller frees it. */
static char *keys_text(const json_t *point)
{
    char *text = NULL, room[32];
    size_t size = 0, i = 0;
    json_t *key = NULL;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    json_array_foreach (json_object_get(point, "keys"), i, key)
        fprintf(out, "%s%s", i ? ", " : "", key_text(key, room));
    return fclose(out) == 0 ? text : NULL;
}

typedef struct series_picture {
    size_t count, cells;
    const char **labels;
    char **groups;
    double *numbers; /* totals, lows, highs; the same of windows */
} series_picture;

static void free_picture(series_picture *picture)
{
    for (size_t i = 0; picture->groups && i < picture->count; i++)
        free(picture->groups[i]);
    free(picture->groups);
    free(picture->labels);
    free(picture->numbers);
}

/* Points stand window by window; in a picture those of one group stand together. */
static bool fill_picture(series_picture *picture, const json_t *made)
{
    const json_t *points = json_object_get(made, "points");
    size_t count = picture->count = json_array_size(points);
    const char *first = text_of(json_array_get(points, 0), "window");
    while (picture->cells < count &&
           strcmp(text_of(json_array_get(points, picture->cells), "window"), first) == 0)
        picture->cells++;
    if (picture->cells == 0)
        return false;
    picture->labels = calloc(count + 1, sizeof *picture->labels);
    picture->groups = calloc(count + 1, sizeof *picture->groups);
    picture->numbers = calloc(6 * count + 1, sizeof *picture->numbers);
    if (!picture->labels || !picture->groups || !picture->numbers)
        return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *point = json_array_get(points, i);
        size_t at = i % picture->cells * (count / picture->cells) + i / picture->cells;
        static const char *const names[][2] = {{"total", "error_95"},
                                               {"in_window", "in_window_error_95"}};
        picture->labels[at] = text_of(point, "window");
        if (!(picture->groups[at] = keys_text(point)))
            return false;
        for (size_t j = 0; j < 2; j++) {
            double *to = picture->numbers + 3 * j * count;
            double value = real_of(point, names[j][0]), error = real_of(point, names[j][1]);
            to[at] = value;
            to[count + at] = value - error;
            to[2 * count + at] = value + error;
        }
    }
    return true;
}

static brume_status draw_picture(const char *path, const json_t *made, brume_error *error)
{
    series_picture picture = {0};
    FILE *file = NULL;
    if (json_array_size(json_object_get(made, "points")) == 0)
        return brume_fail(error, BRUME_EARGUMENT, "'brume series update' publishes windows",
                          "there is nothing to draw yet");
    if (!fill_picture(&picture, made)) {
        free_picture(&picture);
        return brume_no_memory(error, "a picture");
    }
    size_t count = picture.count;
    const brume_bars panels[] = {{"running total", picture.numbers, picture.numbers + count,
                                  picture.numbers + 2 * count, false},
                                 {"in window", picture.numbers + 3 * count,
                                  picture.numbers + 4 * count, picture.numbers + 5 * count, false}};
    const brume_chart_words words = {text_of(made, "series"), text_of(made, "sql"),
                                     "bands: noise at 95 %; limits and late rows come on top"};
    bool keyed = json_array_size(json_object_get(made, "keys")) > 0;
    const brume_chart_rows rows = {picture.labels,
                                   keyed ? (const char *const *)picture.groups : NULL, count};
    brume_status status = brume_svg_open(path, &file, error);
    if (status == BRUME_OK) {
        brume_line_chart_write(file, &words, &rows, panels, 2);
        status = brume_svg_close(file, path, BRUME_OK, error);
    }
    free_picture(&picture);
    return status;
}

static brume_status run_show(brume_call *call, brume_error *error)
{
    const brume_series_part part = {.from = brume_call_text(call, "from"),
                                    .to = brume_call_text(call, "to"),
                                    .by = brume_call_text(call, "by")};
    const char *format = brume_call_text(call, "format"), *plot = brume_call_text(call, "plot");
    brume_ledger *ledger = NULL;
    json_t *made = NULL;
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    BRUME_TRY(brume_series_show(ledger, brume_call_operand(call, 0), &part, &made, error));
    BRUME_TRY(brume_call_keep_json(call, made, error));
    if (plot)
        BRUME_TRY(draw_picture(plot, made, error));
    if (call->json || (format && strcmp(format, "json") == 0))
        return brume_call_write_json(call, json_incref(made), error);
    if (format && strcmp(format, "csv") == 0) {
        write_csv(call->out, made);
        return BRUME_OK;
    }
    bool markdown = format && strcmp(format, "markdown") == 0;
    if (json_array_size(json_object_get(made, "points")) == 0)
        fprintf(call->out, "no window is published yet: 'brume series update %s' publishes them\n",
                text_of(made, "series"));
    else
        BRUME_TRY(write_table(call, made, markdown, error));
    brume_words words = words_of(ledger, made);
    write_notes(call, made, &words);
    return BRUME_OK;
}

/* ---- list and end ---- */

static brume_status run_list(brume_call *call, brume_error *error)
{
    static const char *const columns[] = {"series", "dataset", "limit", "published",
                                          "next",   "~sql",    NULL};
    brume_ledger *ledger = NULL;
    json_t *all = NULL, *one = NULL;
    size_t i = 0;
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    BRUME_TRY(brume_series_list(ledger, &all, error));
    BRUME_TRY(brume_call_keep_json(call, all, error));
    if (call->json)
        return brume_call_write_json(call, json_pack("{s:O}", "series", all), error);
    if (json_array_size(all) == 0) {
        fputs("there are no series\n", call->out);
        return BRUME_OK;
    }
    brume_table *table = brume_table_open(columns);
    json_array_foreach (all, i, one) {
        const char *until = text_of(one, "closed_until");
        bool ended = json_is_true(json_object_get(one, "ended"));
        brume_table_cell(table, "%s", text_of(one, "series"));
        brume_table_cell(table, "%s", text_of(one, "dataset"));
        brume_table_cell(table, "%s", text_of(one, "limit"));
        brume_table_cell(table, "%s", *until ? until : "nothing yet");
        brume_table_cell(table, "%s", ended ? "ended" : text_of(one, "next"));
        brume_table_cell(table, "%s", text_of(one, "sql"));
    }
    return brume_table_write(table, call, error);
}

static brume_status run_end(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    const char *name = brume_call_operand(call, 0);
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    BRUME_TRY(brume_series_end(ledger, name, error));
    if (call->json)
        return brume_call_write_json(call, json_pack("{s:s,s:b}", "series", name, "ended", true),
                                     error);
    fprintf(call->out, "ended '%s': its totals stay, and so does the price\n", name);
    return BRUME_OK;
}

/* ---- the commands ---- */

#define SERIES_OPERAND BRUME_OPERAND(TEXT, "NAME", "a series")

const brume_command brume_command_series_open = {
    .name = "series open",
    .summary = "open a series of running totals, paid for once",
    .usage = "NAME SQL --limit T --epsilon E [OPTION...]",
    .description =
        "A series publishes, window by window, the running total of a count or a sum, for each key "
        "of a declared domain, for one charge. Differences of totals are the numbers of a day, a "
        "month, any range. 'brume series update' publishes every window that has closed and is "
        "free, however often and however late it runs.\n\n"
        "The SQL has one number: COUNT(*), COUNT(x), SUM(x) of a bounded x, or COUNT(DISTINCT unit); "
        "WHERE, and GROUP BY of columns with declared values; one table.\n\n"
        "--limit T is the most that one unit adds to all windows together, its earliest rows "
        "first. What one unit has in all its history is then protected, if rows are only added: "
        "the dataset must be declared so, with 'brume amend NAME --append-only true'. Rows that are "
        "changed, deleted one by one or gone for a while are not covered; all rows of a unit may go, for "
        "good. Taking that back with --append-only false ends the series.\n\n"
        "--limit T/day is the most that one unit adds in each window. It is for datasets whose windows "
        "have budgets and whose units have none (--budget none): what a unit has in one window is then "
        "protected, and rows may be late, changed and deleted as they like. On a dataset with windows a "
        "series goes by these windows, without --window, and each window of the horizon pays the price "
        "when it opens: with one limit for all windows twice epsilon, or two to four times rho.\n\n"
        "Noise grows slowly with the number of windows: ten times as many cost 12 % in the first "
        "year. --dry-run says how far off totals will be, and charges nothing. What a limit cuts is in no "
        "error bar: choose one that hardly anybody exceeds.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "NAME", "what the series is called"),
                   BRUME_OPERAND(TEXT, "SQL", "what is counted or added up")),
    BRUME_OPTIONS(
        BRUME_OPTION(TEXT, "limit", "T[/LENGTH]",
                     "the most that one unit adds, in all or in each "
                     "window",
                     .required = true),
        BRUME_OPTION(TEXT, "epsilon", "E", "the price of the whole series"),
        BRUME_OPTION(TEXT, "delta", "D", "and its delta, under the rule approximate"),
        BRUME_OPTION(TEXT, "rho", "R", "the price under the rule concentrated"),
        BRUME_OPTION(
            TEXT, "window", "'COLUMN LENGTH'",
            "by which column rows are in windows, and how long these are: hour, day, week, "
            "month, quarter, year, or Nd from DATE; not where the dataset has windows"),
        BRUME_OPTION(TEXT, "horizon", "TIME",
                     "how long it runs: 10y unless typed; 90d, or a number of windows"),
        BRUME_OPTION(TEXT, "from", "WINDOW", "the first window; the present one unless typed"),
        BRUME_OPTION(
            TEXT, "close-after", "TIME",
            "how long after its end a window is published, 2d unless typed or said by the policy: rows that "
            "come by then are counted whole"),
        BRUME_FLAG("ever", "COUNT(DISTINCT unit): a unit in its first window only"),
        BRUME_FLAG("dry-run", "say what it would be, and charge nothing"), BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES(
        "register sales sales.csv --unit customer --columns 'day date' --budget epsilon=4 --append-only "
        "true > sales.txt && brume series open daily 'SELECT COUNT(*) AS n FROM sales' --limit 3 "
        "--epsilon 0.5 --window 'day day' --from 2026-01-01 --horizon 60"),
    .run = run_open,
};

const brume_command brume_command_series_update = {
    .name = "series update",
    .summary = "publish every window of a series that has closed",
    .description =
        "Free, because the series is paid for; for cron. A window is published once: if this is "
        "killed, or runs several times at once, each window has one value. Windows that were "
        "missed are caught up. Where no window has closed since the last time nothing is done, and "
        "the exit code is 0.",
    BRUME_OPERANDS(SERIES_OPERAND),
    BRUME_OPTIONS(BRUME_TIMEOUT_OPTION, BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("series update daily"),
    .run = run_update,
};

static const char *const show_formats[] = {"table", "markdown", "csv", "json", NULL};

const brume_command brume_command_series_show = {
    .name = "series show",
    .summary = "show the totals of a series, and how far off they may be",
    .description =
        "For each window the running total and what is in the window, with error bars at 95 %. "
        "Published numbers never change. With --by month, or another length, windows are put "
        "together; the bar of any range follows from the noise exactly. Free: it reads the ledger "
        "alone.\n\n"
        "Bars are of the noise alone. Units above the limit are cut, and nobody counts how many. A row "
        "that comes or changes after its window closed is counted in part, and more with each "
        "window: where that is common, open the series with a longer --close-after.",
    BRUME_OPERANDS(SERIES_OPERAND),
    BRUME_OPTIONS(
        BRUME_OPTION(TEXT, "from", "WINDOW", "the first window that is shown"),
        BRUME_OPTION(TEXT, "to", "WINDOW", "and the last one"),
        BRUME_OPTION(TEXT, "by", "LENGTH", "put windows together: week, month, quarter, year"),
        BRUME_OPTION(CHOICE, "format", "FORMAT", "table unless typed", .choices = show_formats),
        BRUME_OPTION(FILE, "plot", "FILE.svg", "also draw the totals and their bands"),
        BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("series show daily --by month"),
    .run = run_show,
};

const brume_command brume_command_series_list = {
    .name = "series list",
    .summary = "list all series",
    .description = "With the last window that is published, and when the next one closes.",
    BRUME_OPTIONS(BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("series list"),
    .run = run_list,
};

const brume_command brume_command_series_end = {
    .name = "series end",
    .summary = "end a series",
    .description =
        "No more windows are published. Its totals stay and can be shown; the price stays "
        "spent. A name is not used again.",
    BRUME_OPERANDS(SERIES_OPERAND),
    BRUME_OPTIONS(BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("series end daily"),
    .run = run_end,
};
