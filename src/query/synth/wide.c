/* The method tree of `brume synth`: rows of tables too wide for a histogram. Promises: synth.h; the
 * mechanism is brume/synthetic/tree.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/mechanism/mechanism.h>

#include "base/csv_write.h"
#include "base/error.h"
#include "base/json_real.h"
#include "query/synth/synth.h"
#include "synthetic/schema.h"

/* Rows are kept on the ledger, for a free re-read, up to so many values. */
enum { MOST_KEPT_VALUES = 1 << 20, FIRST_ROOM = 1 << 12 };

static const double ERROR_SHARE = 0.05; /* unless typed */

bool brume_synth_tree_is_kept(const brume_synth *synth)
{
    return synth->rows * brume_schema_columns(synth->schema) <= MOST_KEPT_VALUES;
}

/* ---- the question ---- */

/* Are neighbours near each other? Bins are, and labels that are numbers in their order. */
static bool is_ordered(const brume_schema *schema, size_t column)
{
    char room[BRUME_SCHEMA_TEXT];
    uint32_t labels = brume_schema_size(schema, column) - brume_schema_has_other(schema, column);
    double last = -INFINITY, number;
    if (brume_schema_has_bins(schema, column))
        return true;
    for (uint32_t v = 0; v < labels; v++) {
        const char *text = brume_schema_text(schema, column, v, room);
        if (!brume_schema_number(text, &number) || !(number > last))
            return false;
        last = number;
    }
    return true;
}

static brume_status refuse_options(const brume_synth *synth, brume_error *error)
{
    const brume_synth_words *words = &synth->words;
    if (words->size)
        return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                          "'--size' is of the method small-db");
    if (words->exact_error)
        return brume_fail(error, BRUME_EARGUMENT, "the bars say how far off the rows may be",
                          "'--exact-error' is not of the method tree");
    if (synth->rows == 0)
        return brume_fail(error, BRUME_EARGUMENT, "how many rows to write: --rows 1000",
                          "'--rows' is missing");
    if (words->discover && words->rows_per_unit > 1)
        return brume_fail(error, BRUME_EARGUMENT, "say the values with --domain NAME=V1,V2,...",
                          "'--discover' takes one row of each unit: leave '--rows-per-unit' out");
    return BRUME_OK;
}

void brume_synth_tree_columns(brume_synth *synth)
{
    synth->tree.columns = brume_schema_columns(synth->schema);
    synth->tree.column = synth->tree_columns;
    for (size_t c = 0; c < synth->tree.columns; c++)
        synth->tree_columns[c] =
            (brume_tree_column){brume_schema_size(synth->schema, c), is_ordered(synth->schema, c)};
}

brume_status brume_synth_tree_open(brume_synth *synth, brume_error *error)
{
    const brume_synth_words *words = &synth->words;
    brume_tree_question *tree = &synth->tree;
    synth->rows = words->rows;
    BRUME_TRY(refuse_options(synth, error));
    brume_synth_tree_columns(synth);
    for (size_t c = 0; c < tree->columns; c++) /* a plan for the most labels that there may be */
        if (brume_synth_discovers(synth, brume_schema_name(synth->schema, c)))
            synth->tree_columns[c].values = BRUME_TREE_VALUES;
    tree->table = synth->tree_tables;
    BRUME_TRY(brume_synth_tree_zeros(synth, error));
    tree->options = (brume_tree_options){
        .adjacency = synth->options.adjacency,
        .rows_per_unit = words->rows_per_unit ? words->rows_per_unit : 1, /* as many are read */
        .rows = synth->rows,
        .rounds = words->rounds,
        .model_cells = words->model_cells,
        .error_share = isnan(words->error_share) ? ERROR_SHARE : words->error_share,
        .beta = 1 - words->confidence};
    BRUME_TRY(brume_synth_tree_price(synth, error));
    double records = words->records ? (double)words->records : (double)synth->rows;
    BRUME_TRY(brume_tree_plan_make(tree, records, &synth->tree_plan, error));
    synth->bytes = synth->tree_plan.bytes;
    if (words->discover)
        synth->events[synth->event_count++] =
            (brume_event){.mechanism = brume_card_by_name("approximate")->id,
                          .adjacency = synth->options.adjacency,
                          .sensitivity = 1,
                          .parameter = {synth->discover_epsilon, synth->discover_delta},
                          .count = 1};
    synth->events[synth->event_count++] = synth->tree_plan.event;
    return BRUME_OK;
}

/* ---- what is said before a row is read ---- */

brume_status brume_synth_tree_plan(const brume_synth *synth, json_t *plan, brume_error *error)
{
    static const double gains[] = {0.01, 0.05, 0.2};
    const brume_tree_plan *known = &synth->tree_plan;
    json_t *noise =
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "columns", brume_json_real(known->one_noise),
                  "tables", brume_json_real(known->round_noise), "scores",
                  brume_json_real(known->score_noise), "errors", brume_json_real(known->bar_noise),
                  "mean_error", brume_json_real(known->mean_noise));
    json_t *cells = json_array();
    for (size_t i = 0; synth->words.records && i < 3; i++)
        json_array_append_new(
            cells, json_pack("{s:o, s:o}", "gain", brume_json_real(gains[i]), "cells",
                             brume_json_real(floor(gains[i] * (double)synth->words.records /
                                                   (0.8 * known->round_noise)))));
    json_t *more = json_pack(
        "{s:o, s:o, s:o, s:o, s:I}", "mu", known->mu > 0 ? brume_json_real(known->mu) : json_null(),
        "noise", noise, "bar", brume_json_real(known->bar), "model_cells",
        brume_json_real(known->model_cells), "scored", (json_int_t)known->scored);
    bool good = more && cells && json_object_update(plan, more) == 0 &&
                (json_array_size(cells) == 0 || json_object_set(plan, "cells_at_gain", cells) == 0);
    json_decref(more);
    json_decref(cells);
    return good ? BRUME_OK : brume_no_memory(error, NULL);
}

/* ---- reading ---- */

typedef struct wide_rows {
    uint16_t *column[BRUME_TREE_COLUMNS]; /* private */
    uint64_t count, room;
} wide_rows;

static void wipe_rows(wide_rows *rows)
{
    for (size_t c = 0; c < BRUME_TREE_COLUMNS; c++) {
        if (rows->column[c])
            explicit_bzero(rows->column[c], rows->room * sizeof(uint16_t));
        free(rows->column[c]);
    }
}

static brume_status make_room(wide_rows *rows, size_t columns, brume_error *error)
{
    uint64_t room = rows->room ? 2 * rows->room : FIRST_ROOM;
    if (rows->count < rows->room)
        return BRUME_OK;
    for (size_t c = 0; c < columns; c++) {
        uint16_t *wider = realloc(rows->column[c], room * sizeof *wider);
        if (!wider)
            return brume_no_memory(error, "the rows");
        rows->column[c] = wider;
    }
    rows->room = room;
    return BRUME_OK;
}

/* A row with a value that is none is dropped under add-remove; under replace, where each row must
 * count, it has the column's first value. As brume_schema_cell. */
static brume_status read_rows(const brume_synth *synth, brume_csv *csv, wide_rows *rows,
                              brume_error *error)
{
    size_t places[BRUME_SCHEMA_COLUMNS] = {0}, columns = brume_schema_columns(synth->schema);
    bool replaces = synth->options.adjacency == BRUME_REPLACE;
    BRUME_TRY(brume_synth_find_columns(synth, csv, places, error));
    for (;;) {
        bool more, whole = true;
        BRUME_TRY(brume_csv_next(csv, &more, error));
        if (!more)
            return BRUME_OK;
        BRUME_TRY(make_room(rows, columns, error));
        for (size_t c = 0; c < columns; c++) {
            size_t length;
            uint32_t value = 0;
            const char *text = brume_csv_field(csv, places[c], &length);
            whole = brume_schema_value(synth->schema, c, text, &value) && whole;
            rows->column[c][rows->count] = (uint16_t)value;
        }
        rows->count += whole || replaces;
    }
}

/* ---- the report ---- */

static json_t *names_json(const brume_synth *synth, const uint16_t *column, size_t columns)
{
    json_t *names = json_array();
    for (size_t i = 0; i < columns; i++)
        json_array_append_new(names, json_string(brume_schema_name(synth->schema, column[i])));
    return names;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The bars of all tables, and their median; a bar beyond twice the records says nothing. */
static json_t *bars_json(const brume_synth *synth, const brume_tree_result *made, double *median)
{
    json_t *list = json_array();
    size_t tables = synth->tree.tables, known = 0;
    double *bars = malloc(tables * sizeof *bars);
    *median = NAN;
    for (size_t i = 0; i < tables; i++) {
        const brume_tree_bar *bar = &made->bars[i];
        bool says = bar->most <= 2 * made->records;
        if (bars && isfinite(bar->most))
            bars[known++] = bar->most;
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o}", "columns",
                                              names_json(synth, synth->tree.table[i].column,
                                                         synth->tree.table[i].columns),
                                              "cells", brume_json_real(bar->cells), "error",
                                              brume_json_real(fmax(bar->measured, 0)), "bar",
                                              says ? brume_json_real(bar->most) : json_null()));
    }
    if (known > 0) {
        qsort(bars, known, sizeof *bars, by_value);
        *median = bars[known / 2];
    }
    free(bars);
    return list;
}

static json_t *measured_json(const brume_synth *synth, const brume_tree_result *made)
{
    json_t *list = json_array();
    for (size_t i = 0; i < made->measured_count; i++) {
        const brume_tree_measured *one = &made->measured[i];
        json_t *bins = json_array();
        for (size_t k = 0; k < one->columns; k++)
            json_array_append_new(bins, json_integer(one->bins[k]));
        json_array_append_new(list, json_pack("{s:o, s:o, s:I, s:o, s:o}", "columns",
                                              names_json(synth, one->column, one->columns), "bins",
                                              bins, "round", (json_int_t)one->round, "noise",
                                              brume_json_real(one->sigma), "score",
                                              brume_json_real(one->score)));
    }
    return list;
}

static json_t *values_json(const brume_tree_result *made)
{
    json_t *values = json_array();
    for (uint64_t r = 0; r < made->rows; r++)
        for (size_t c = 0; c < made->columns; c++)
            json_array_append_new(values, json_integer(made->column[c][r]));
    return values;
}

static brume_status report(const brume_synth *synth, const brume_tree_result *made, json_t **answer,
                           brume_error *error)
{
    double median;
    json_t *plan = brume_synth_plan(synth), *bars = bars_json(synth, made, &median);
    bool only_columns = made->chosen == 0;
    json_t *more = json_pack(
        "{s:o, s:s, s:I, s:I, s:o, s:I, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o}", "records",
        brume_json_real(made->records), "records_known",
        synth->options.adjacency == BRUME_REPLACE ? "public" : "from the columns", "rounds",
        (json_int_t)made->rounds, "chosen", (json_int_t)made->chosen, "model_cells",
        brume_json_real(made->model_cells), "passed_over", (json_int_t)made->passed_over,
        "best_passed_over", names_json(synth, made->best_passed, made->best_passed_columns),
        "converged", made->converged, "only_columns", only_columns, "mean_error",
        brume_json_real(made->mean), "mean_error_off", brume_json_real(made->mean_off),
        "median_bar", brume_json_real(median), "tables", bars, "measured",
        measured_json(synth, made));
    bool good = plan && more && json_object_update(plan, more) == 0 &&
                json_object_set_new(plan, "model", brume_synth_model_json(made)) == 0;
    if (good && brume_synth_tree_is_kept(synth))
        good = json_object_set_new(plan, "values", values_json(made)) == 0;
    json_decref(more);
    if (!good) {
        json_decref(plan);
        return brume_no_memory(error, "synthetic data");
    }
    *answer = plan;
    return BRUME_OK;
}

static brume_status draw_rows(const brume_synth *synth, const char *path, brume_bits *bits,
                              brume_synth_rows *rows, json_t **answer, brume_error *error)
{
    wide_rows data = {0};
    brume_csv *csv = NULL;
    brume_tree_question question = synth->tree;
    question.options.progress = brume_synth_goes_on;
    question.options.progress_context = (void *)(uintptr_t)synth;
    BRUME_TRY(brume_csv_open(path, synth->format, &csv, error));
    brume_status status = read_rows(synth, csv, &data, error);
    brume_csv_close(csv);
    brume_tree_result made;
    if (status == BRUME_OK)
        brume_synth_tell(synth, "tree", 0);
    if (status == BRUME_OK)
        status = brume_tree_run(&question, (const uint16_t *const *)data.column, data.count, bits,
                                &made, error);
    brume_synth_tell(synth, NULL, 0);
    wipe_rows(&data);
    BRUME_TRY(status);
    status = report(synth, &made, answer, error);
    if (status == BRUME_OK)
        *rows = (brume_synth_rows){.tree = made};
    else
        brume_tree_result_clear(&made);
    return status;
}

/* The same question with the domains that were bought; its schema is to be closed. */
static brume_status with_found(const brume_synth *synth, const json_t *found, brume_synth *out,
                               brume_error *error)
{
    *out = *synth;
    out->schema = NULL;
    out->found = found;
    BRUME_TRY(brume_synth_schema(out, error));
    brume_synth_tree_columns(out);
    return BRUME_OK;
}

brume_status brume_synth_tree_draw(const brume_synth *synth, const char *path, brume_bits *bits,
                                   brume_synth_rows *rows, json_t **answer, brume_error *error)
{
    brume_synth known = {0};
    json_t *found = NULL;
    if (!synth->words.discover)
        return draw_rows(synth, path, bits, rows, answer, error);
    BRUME_TRY(brume_synth_discover(synth, path, bits, &found, error));
    brume_status status = with_found(synth, found, &known, error);
    if (status == BRUME_OK)
        status = draw_rows(&known, path, bits, rows, answer, error);
    if (status == BRUME_OK) {
        rows->found = known.schema;
        json_object_set(*answer, "found", found);
    } else {
        brume_schema_close(known.schema);
    }
    json_decref(found);
    return status;
}

/* ---- read again ---- */

static brume_status recall_rows(const brume_synth *synth, const json_t *answer,
                                brume_synth_rows *rows, brume_error *error)
{
    const json_t *values = json_object_get(answer, "values");
    size_t columns = brume_schema_columns(synth->schema), at = 0;
    if (!json_is_array(values) || json_array_size(values) != synth->rows * columns)
        return brume_fail(error, BRUME_EDAMAGED, NULL, "the recorded answer has no rows");
    brume_tree_result made = {.rows = synth->rows, .columns = columns};
    for (size_t c = 0; c < columns; c++) {
        made.column[c] = malloc(synth->rows * sizeof(uint16_t));
        if (!made.column[c]) {
            brume_tree_result_clear(&made);
            return brume_no_memory(error, "synthetic data");
        }
    }
    for (uint64_t r = 0; r < synth->rows; r++)
        for (size_t c = 0; c < columns; c++) {
            json_int_t value = json_integer_value(json_array_get(values, at++));
            bool fits = value >= 0 && value < brume_schema_size(synth->schema, c);
            made.column[c][r] = (uint16_t)(fits ? value : 0);
        }
    *rows = (brume_synth_rows){.tree = made};
    return BRUME_OK;
}

brume_status brume_synth_tree_recall(const brume_synth *synth, const json_t *answer,
                                     brume_synth_rows *rows, brume_error *error)
{
    brume_synth known = {0};
    if (!synth->words.discover)
        return recall_rows(synth, answer, rows, error);
    brume_status status = with_found(synth, json_object_get(answer, "found"), &known, error);
    if (status == BRUME_OK)
        status = recall_rows(&known, answer, rows, error);
    if (status == BRUME_OK)
        rows->found = known.schema;
    else
        brume_schema_close(known.schema);
    return status;
}

/* ---- --tables ---- */

static void write_names(FILE *out, const json_t *names)
{
    char text[1024];
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(names) && used < sizeof text - 1; i++) {
        int length = snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "",
                              json_string_value(json_array_get(names, i)));
        used += length > 0 ? (size_t)length : 0;
    }
    brume_csv_write_field(out, text);
}

static void write_number(FILE *out, const json_t *number)
{
    fputc(',', out);
    if (json_is_number(number))
        fprintf(out, "%.10g", json_number_value(number));
}

brume_status brume_synth_tree_write_tables(const brume_synth *synth, const json_t *answer,
                                           brume_error *error)
{
    const char *path = synth->words.tables;
    FILE *out = fopen(path, "w");
    if (!out)
        return brume_fail(error, BRUME_EDISK, NULL, "cannot write '%s': %s", path, strerror(errno));
    const json_t *tables = json_object_get(answer, "tables");
    const json_t *measured = json_object_get(answer, "measured");
    fputs("table,kind,bins,round,noise,error,bar\n", out);
    for (size_t i = 0; i < json_array_size(tables); i++) {
        const json_t *one = json_array_get(tables, i);
        write_names(out, json_object_get(one, "columns"));
        fputs(",workload", out);
        write_number(out, json_object_get(one, "cells"));
        fputs(",,", out);
        write_number(out, json_object_get(one, "error"));
        write_number(out, json_object_get(one, "bar"));
        fputc('\n', out);
    }
    for (size_t i = 0; i < json_array_size(measured); i++) {
        const json_t *one = json_array_get(measured, i), *bins = json_object_get(one, "bins");
        write_names(out, json_object_get(one, "columns"));
        fputs(",measured,", out);
        for (size_t k = 0; k < json_array_size(bins); k++)
            fprintf(out, "%s%lld", k ? " x " : "",
                    (long long)json_integer_value(json_array_get(bins, k)));
        write_number(out, json_object_get(one, "round"));
        write_number(out, json_object_get(one, "noise"));
        write_number(out, json_object_get(one, "score"));
        fputs(",\n", out);
    }
    bool failed = fflush(out) != 0 || ferror(out);
    if (fclose(out) != 0 || failed)
        return brume_fail(error, BRUME_EDISK, NULL, "cannot write '%s'", path);
    return BRUME_OK;
}
