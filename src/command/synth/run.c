/* The run of `brume synth`: a table in, a histogram, rows drawn from it, a report.
 *
 * Promises: no row can make it fail; the report holds what was released and what is computed from
 * it. The one exception is the exact error, which the caller must ask for and which is kept apart
 * under "not_private". */
#include "command/synth/synth.h"

#include <stdlib.h>
#include <string.h>

#include "reader/csv_rows.h"
#include "command/frame/progress.h"

/* ---- reading ---- */

static brume_status find_columns(const brume_synth *synth, const brume_csv *csv, size_t *places,
                                 brume_error *error)
{
    for (size_t c = 0; c < brume_schema_columns(synth->schema); c++)
        BRUME_TRY(brume_csv_find(csv, brume_schema_name(synth->schema, c), &places[c], error));
    return BRUME_OK;
}

brume_status brume_synth_check_file(const brume_synth *synth, const char *path, brume_error *error)
{
    brume_csv *csv = NULL;
    size_t places[BRUME_UNIVERSE_COLUMNS];
    BRUME_TRY(brume_csv_open(path, synth->format, &csv, error));
    brume_status status = find_columns(synth, csv, places, error);
    brume_csv_close(csv);
    return status;
}

/* counts[cell]: how many rows are that record. */
static brume_status count_rows(const brume_synth *synth, brume_csv *csv, double *counts,
                               brume_error *error)
{
    size_t places[BRUME_UNIVERSE_COLUMNS] = {0}, columns = brume_schema_columns(synth->schema);
    BRUME_TRY(find_columns(synth, csv, places, error));
    for (;;) {
        const char *texts[BRUME_UNIVERSE_COLUMNS];
        uint64_t cell;
        bool more;
        BRUME_TRY(brume_csv_next(csv, &more, error));
        if (!more)
            return BRUME_OK;
        for (size_t c = 0; c < columns; c++) {
            size_t length;
            texts[c] = brume_csv_field(csv, places[c], &length);
        }
        if (brume_schema_cell(synth->schema, &synth->universe, synth->options.adjacency, texts,
                              &cell))
            counts[cell]++;
    }
}

brume_status brume_synth_counts(const brume_synth *synth, const char *path, double *counts,
                                brume_error *error)
{
    brume_csv *csv = NULL;
    BRUME_TRY(brume_csv_open(path, synth->format, &csv, error));
    brume_status status = count_rows(synth, csv, counts, error);
    brume_csv_close(csv);
    return status;
}

/* ---- drawing rows ---- */

bool brume_synth_is_kept(const brume_synth *synth)
{
    return synth->rows <= BRUME_SYNTH_KEPT || synth->universe.cells <= BRUME_SYNTH_KEPT;
}

brume_status brume_synth_recall(const brume_synth *synth, const json_t *answer, double **rows,
                                brume_error *error)
{
    const json_t *cells = json_object_get(answer, "cells");
    if (!json_is_array(cells))
        return brume_fail(error, BRUME_EDAMAGED, NULL, "the recorded answer has no rows");
    double *made = calloc(synth->universe.cells, sizeof *made);
    if (!made)
        return brume_no_memory(error, "synthetic data");
    for (size_t i = 0; i + 1 < json_array_size(cells); i += 2) {
        uint64_t cell = (uint64_t)json_integer_value(json_array_get(cells, i));
        if (cell < synth->universe.cells)
            made[cell] = (double)json_integer_value(json_array_get(cells, i + 1));
    }
    *rows = made;
    return BRUME_OK;
}

static json_t *cells_json(const brume_synth *synth, const double *drawn)
{
    json_t *cells = json_array();
    for (uint64_t i = 0; cells && i < synth->universe.cells; i++)
        if (drawn[i] > 0) {
            json_array_append_new(cells, json_integer((json_int_t)i));
            json_array_append_new(cells, json_integer((json_int_t)drawn[i]));
        }
    return cells;
}

/* max_f |a(f) - times b(f)| over answers. */
static double worst_distance(const double *a, const double *b, double times, size_t count)
{
    double worst = 0;
    for (size_t i = 0; i < count; i++)
        worst = fmax(worst, fabs(a[i] - times * b[i]));
    return worst;
}

/* ---- the report ---- */

typedef struct synth_work {
    double *counts;  /* private, then the rows drawn */
    double *weights; /* released */
    double *of_weights, *of_rows, *truth;
} synth_work;

static const char *records_word(const brume_synth *synth)
{
    if (synth->options.adjacency == BRUME_REPLACE)
        return "public";
    if (synth->options.records > 0)
        return "told";
    if (synth->options.method == BRUME_SYNTHETIC_HISTOGRAM)
        return "from the cells";
    bool fits = synth->options.method == BRUME_SYNTHETIC_LAPLACE ||
                synth->options.method == BRUME_SYNTHETIC_GAUSSIAN;
    return fits && synth->event_count == 1 ? "from the answers" : "bought";
}

static json_t *report_json(const brume_synth *synth, const brume_synthetic_report *report,
                           const synth_work *space, bool exact)
{
    size_t queries = brume_workload_size(synth->workload);
    double scale = report->records / (double)synth->rows;
    json_t *answer = brume_synth_plan(synth);
    json_t *more = json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:b}", "records",
        brume_json_real(report->records), "records_known", records_word(synth), "records_off",
        brume_json_real(report->records_off), "bound", brume_json_real(report->bound), "measured",
        brume_json_real(report->measured), "fit", brume_json_real(report->fit), "sampling",
        brume_json_real(worst_distance(space->of_weights, space->of_rows, scale, queries)), "paid",
        (json_int_t)report->paid, "halted", report->halted);
    if (more && exact)
        json_object_set_new(
            more, "not_private",
            json_pack(
                "{s:o, s:o}", "error",
                brume_json_real(worst_distance(space->truth, space->of_weights, 1, queries)),
                "error_of_rows",
                brume_json_real(worst_distance(space->truth, space->of_rows, scale, queries))));
    bool kept = brume_synth_is_kept(synth);
    if (!answer || !more || json_object_update(answer, more) != 0 ||
        (kept && json_object_set_new(answer, "cells", cells_json(synth, space->counts)) != 0)) {
        json_decref(answer);
        answer = NULL;
    }
    json_decref(more);
    return answer;
}

typedef struct shown {
    const brume_synth *synth;
    brume_progress bar;
} shown;

/* False, that is, stop: after Ctrl-C. */
static bool show_progress(void *context, uint64_t round, uint64_t rounds)
{
    (void)rounds;
    shown *all = context;
    const brume_watch *watch = all->synth->watch;
    brume_progress_update(&all->bar, round);
    return !watch || !watch->stopped(watch->context);
}

static brume_status run_in(const brume_synth *synth, const char *path, bool exact, brume_bits *bits,
                           synth_work *space, json_t **answer, brume_error *error)
{
    shown progress = {.synth = synth};
    brume_synthetic_report report;
    brume_synthetic_options options = synth->options;
    bool counted = options.method != BRUME_SYNTHETIC_WEIGHTS;
    BRUME_TRY(brume_synth_counts(synth, path, space->counts, error));
    if (exact)
        BRUME_TRY(brume_workload_answer(synth->workload, space->counts, space->truth, error));
    brume_progress_start(&progress.bar, synth->call, synth->method, counted ? options.rounds : 0);
    options.progress = show_progress;
    options.progress_context = &progress;
    brume_status status = brume_synthetic_histogram(synth->workload, &options, space->counts, bits,
                                                    space->weights, &report, error);
    brume_progress_end(&progress.bar);
    BRUME_TRY(status);
    BRUME_TRY(brume_workload_answer(synth->workload, space->weights, space->of_weights, error));
    BRUME_TRY(brume_synthetic_rows(&synth->universe, space->weights, bits, synth->rows,
                                   space->counts, error));
    BRUME_TRY(brume_workload_answer(synth->workload, space->counts, space->of_rows, error));
    json_t *made = report_json(synth, &report, space, exact);
    if (!made)
        return brume_no_memory(error, "synthetic data");
    *answer = made;
    return BRUME_OK;
}

brume_status brume_synth_run(const brume_synth *synth, const char *path, bool exact,
                             brume_bits *bits, double **rows, json_t **answer, brume_error *error)
{
    size_t queries = brume_workload_size(synth->workload);
    synth_work space = {.counts = calloc(synth->universe.cells, sizeof(double)),
                        .weights = malloc(synth->universe.cells * sizeof(double)),
                        .of_weights = malloc(queries * sizeof(double)),
                        .of_rows = malloc(queries * sizeof(double)),
                        .truth = malloc(queries * sizeof(double))};
    brume_status status = BRUME_OK;
    if (!space.counts || !space.weights || !space.of_weights || !space.of_rows || !space.truth)
        status = brume_no_memory(error, "synthetic data");
    if (status == BRUME_OK)
        status = run_in(synth, path, exact, bits, &space, answer, error);
    if (status == BRUME_OK) {
        *rows = space.counts; /* the rows drawn; the data are gone */
    } else if (space.counts) {
        explicit_bzero(space.counts, synth->universe.cells * sizeof(double));
        free(space.counts);
    }
    free(space.weights);
    free(space.of_weights);
    free(space.of_rows);
    free(space.truth);
    return status;
}
