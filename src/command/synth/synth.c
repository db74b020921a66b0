/* brume synth: a synthetic table that answers a workload of queries nearly as the real one. The
 * words typed, and the report; query/synth/synth.h makes the table. */
#include "query/synth/synth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/frame/input.h"
#include "command/frame/output.h"
#include "command/frame/watch.h"
#include "command/ledger/open_ledger.h"
#include "command/query/ask.h"
#include "command/synth/words.h"

/* ---- the report as text ---- */

static double number_of(const json_t *answer, const char *name)
{
    const json_t *value = json_object_get(answer, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void write_cost(brume_call *call, const json_t *answer)
{
    const json_t *cost = json_object_get(answer, "cost");
    double epsilon = number_of(cost, "epsilon"), delta = number_of(cost, "delta");
    bool cached = json_is_true(json_object_get(answer, "cached"));
    fprintf(call->out, "  cost      %s", cached ? "nothing: read again; it cost " : "");
    if (isfinite(epsilon))
        fprintf(call->out, "epsilon %s%s", brume_shortest(epsilon).text, delta > 0 ? ", " : "");
    else
        fprintf(call->out, "rho %s", brume_shortest(number_of(cost, "rho")).text);
    if (delta > 0)
        fprintf(call->out, "delta %s", brume_shortest(delta).text);
    const json_t *left = json_object_get(answer, "remaining");
    if (left) {
        const char *unit = json_is_number(json_object_get(left, "rho")) ? "rho" : "epsilon";
        fprintf(call->out, "; left: %s %s", unit, brume_shortest(number_of(left, unit)).text);
    }
    fprintf(call->out, "\n");
}

static void write_plan(brume_call *call, const json_t *answer)
{
    const json_t *events = json_object_get(answer, "events");
    fprintf(call->out, "  table     columns %zu, cells %s, %s %lld; by %s, %s\n",
            json_array_size(json_object_get(answer, "columns")),
            brume_shortest(number_of(answer, "universe")).text,
            json_object_get(answer, "noise") ? "tables" : "queries",
            (long long)json_integer_value(json_object_get(answer, "queries")),
            json_string_value(json_object_get(answer, "method")),
            json_string_value(json_object_get(answer, "adjacency")));
    for (size_t i = 0; i < json_array_size(events); i++)
        fprintf(call->out, "  %s%s\n", i ? "          " : "draws     ",
                json_string_value(json_array_get(events, i)));
}

static void write_errors(brume_call *call, const json_t *answer)
{
    double records = number_of(answer, "records"), bound = number_of(answer, "bound");
    double fit = number_of(answer, "fit"), off = number_of(answer, "records_off");
    double percent = 100 * number_of(answer, "confidence");
    FILE *out = call->out;
    fprintf(out, "  records   %s (%s", brume_shortest(records).text,
            json_string_value(json_object_get(answer, "records_known")));
    if (off > 0)
        fprintf(out, ", within %s", brume_rounded_up(off).text);
    fprintf(out, ")\n");
    /* a bound that is not measured from noisy answers rests on the number of records */
    const char *known = json_string_value(json_object_get(answer, "records_known"));
    bool measured = number_of(answer, "measured") <= bound;
    bool rests = isnan(fit) && !measured && known && strcmp(known, "told") == 0;
    if (isfinite(bound))
        fprintf(out, "  error     every answer of the histogram is within %s records, at %s %%%s\n",
                brume_rounded_up(bound).text, brume_rounded_up(percent).text,
                rests ? ", if there are so many records" : "");
    else
        fprintf(out, "  error     no bound is known here%s\n",
                json_is_true(json_object_get(answer, "halted")) ? ": it halted" : "");
    if (isfinite(fit))
        fprintf(out, "  fit       within %s records of the noisy answers\n",
                brume_rounded_up(fit).text);
    fprintf(out, "  rows      drawing them moved answers by at most %s records more\n",
            brume_rounded_up(number_of(answer, "sampling")).text);
    const json_t *exact = json_object_get(answer, "not_private");
    if (exact)
        fprintf(out,
                "  %sNOT PRIVATE%s the true error of the histogram is %s records, of the rows %s\n",
                brume_bold(call), brume_plain(call),
                brume_rounded_up(number_of(exact, "error")).text,
                brume_rounded_up(number_of(exact, "error_of_rows")).text);
}

/* The method tree: what is known before, or of the rows. */
static void write_tree(brume_call *call, const json_t *answer, bool dry)
{
    const json_t *noise = json_object_get(answer, "noise");
    const json_t *cells = json_object_get(answer, "cells_at_gain");
    FILE *out = call->out;
    double bar = number_of(answer, "bar"), mean = number_of(answer, "mean_error");
    if (dry) {
        fprintf(out, "  noise     %s on a count of one column, about %s on one of a chosen table\n",
                brume_rounded_up(number_of(noise, "columns")).text,
                brume_rounded_up(number_of(noise, "tables")).text);
        if (isfinite(number_of(noise, "scores")))
            fprintf(out, "  choice    %lld tables are scored, each within about %s records\n",
                    (long long)json_integer_value(json_object_get(answer, "scored")),
                    brume_rounded_up(number_of(noise, "scores")).text);
        for (size_t i = 0; i < json_array_size(cells); i++)
            fprintf(out, "            a gain of %g %% of the records pays for %s cells\n",
                    100 * number_of(json_array_get(cells, i), "gain"),
                    brume_shortest(number_of(json_array_get(cells, i), "cells")).text);
        if (isfinite(bar))
            fprintf(out, "  bars      about %s records above the error of each table\n",
                    brume_rounded_up(bar).text);
        return;
    }
    if (json_is_true(json_object_get(answer, "only_columns")))
        fprintf(out, "  only single columns are modelled: the noise is too large for tables\n");
    fprintf(out, "  records   %s (%s)\n", brume_shortest(number_of(answer, "records")).text,
            json_string_value(json_object_get(answer, "records_known")));
    fprintf(out, "  model     %lld tables in %lld rounds, %s cells%s\n",
            (long long)json_integer_value(json_object_get(answer, "chosen")),
            (long long)json_integer_value(json_object_get(answer, "rounds")),
            brume_shortest(number_of(answer, "model_cells")).text,
            json_is_true(json_object_get(answer, "converged")) ? "" : "; the fit was stopped");
    double records = number_of(answer, "records");
    if (isfinite(mean))
        fprintf(out,
                "  error     a table of the rows is %.2f %% of the records off, on average "
                "(± %.2f)\n",
                100 * fmax(mean, 0) / records, 100 * number_of(answer, "mean_error_off") / records);
    if (isfinite(number_of(answer, "median_bar")))
        fprintf(out,
                "            half of the tables are at most %.2f %% off; all bars hold at %s "
                "%%\n",
                100 * number_of(answer, "median_bar") / records,
                brume_rounded_up(100 * number_of(answer, "confidence")).text);
}

/* Every answer within so many records, by each method. */
static void write_methods(brume_call *call, const json_t *methods)
{
    static const char *const parameters[] = {"rounds", "alpha", "size"};
    if (json_array_size(methods) > 0)
        fprintf(call->out, "  bounds    known before, for every answer at once:\n");
    for (size_t i = 0; i < json_array_size(methods); i++) {
        const json_t *row = json_array_get(methods, i);
        double bound = number_of(row, "bound");
        fprintf(call->out, "            %-10s", json_string_value(json_object_get(row, "method")));
        if (!isfinite(bound)) {
            fprintf(call->out, " %s\n", json_string_value(json_object_get(row, "why")));
            continue;
        }
        fprintf(call->out, " %s records", brume_rounded_up(bound).text);
        for (size_t j = 0; j < sizeof parameters / sizeof *parameters; j++)
            if (isfinite(number_of(row, parameters[j])))
                fprintf(call->out, ", %s %.4g", parameters[j], number_of(row, parameters[j]));
        fprintf(call->out, "\n");
    }
}

static brume_status write_report(brume_call *call, json_t *answer, brume_error *error)
{
    bool dry = brume_call_has(call, "dry-run");
    if (call->json)
        return brume_call_write_json(call, json_incref(answer), error);
    if (dry)
        fprintf(call->out, "nothing was read, drawn or charged\n");
    else
        fprintf(call->out, "wrote %s%lld rows%s to %s\n", brume_bold(call),
                (long long)json_integer_value(json_object_get(answer, "rows")), brume_plain(call),
                brume_call_text(call, "output"));
    write_plan(call, answer);
    if (json_object_get(answer, "noise"))
        write_tree(call, answer, dry);
    else if (!dry)
        write_errors(call, answer);
    write_cost(call, answer);
    if (dry)
        fprintf(call->out, "  memory    about %s MiB\n",
                brume_rounded_up(number_of(answer, "memory_bytes") * 0x1p-20).text);
    if (dry)
        write_methods(call, json_object_get(answer, "methods"));
    return BRUME_OK;
}

/* ---- the words ---- */

brume_status brume_synth_read_words(brume_call *call, brume_synth_words *out, brume_error *error)
{
    static const char *const others[] = {"epsilon", "delta",    "rho",    "ledger", "output",
                                         "dry-run", "workload", "tables", "model",  NULL};
    *out =
        (brume_synth_words){.source = brume_call_operand(call, 0),
                            .method = brume_call_text(call, "method"),
                            .columns = brume_call_text(call, "columns"),
                            .workload = brume_call_text(call, "workload"),
                            .other = brume_call_text(call, "other"),
                            .epsilon = brume_call_text(call, "epsilon"),
                            .delta = brume_call_text(call, "delta"),
                            .rho = brume_call_text(call, "rho"),
                            .windows = brume_call_text(call, "windows"),
                            .rounds = brume_call_count(call, "rounds", 0),
                            .candidates = brume_call_count(call, "candidates", UINT64_C(1) << 26),
                            .size = brume_call_count(call, "size", 0),
                            .rows = brume_call_count(call, "rows", 0),
                            .records = brume_call_count(call, "records", 0),
                            .model_cells = brume_call_count(call, "model-cells", 0),
                            .view = brume_call_text(call, "from"),
                            .discover = brume_call_text(call, "discover"),
                            .rows_per_unit = brume_call_count(call, "rows-per-unit", 0),
                            .tables = brume_call_text(call, "tables"),
                            .model = brume_call_text(call, "model"),
                            .alpha = brume_call_real(call, "alpha", 0.1),
                            .error_share = brume_call_real(call, "error-share", NAN),
                            .confidence = brume_call_real(call, "confidence", 0.95),
                            .dry_run = brume_call_has(call, "dry-run"),
                            .exact_error = brume_call_has(call, "exact-error"),
                            .output = brume_call_text(call, "output")};
    BRUME_TRY(brume_call_texts(call, "domain", &out->domains.texts, &out->domains.count, error));
    BRUME_TRY(brume_call_texts(call, "bounds", &out->bounds.texts, &out->bounds.count, error));
    BRUME_TRY(brume_call_texts(call, "bins", &out->bins.texts, &out->bins.count, error));
    BRUME_TRY(brume_call_texts(call, "never", &out->never.texts, &out->never.count, error));
    return brume_call_describe(call, "", others, true, &out->others, error);
}

/* ---- running ---- */

/* A label that is new starts the host's bar; none ends it. */
static void show_progress(void *context, const char *label, uint64_t done, uint64_t total)
{
    brume_progress *bar = context;
    if (!label)
        brume_progress_end(bar);
    else if (!bar->host && done == 0)
        brume_progress_start(bar, bar->call, label, total);
    else
        brume_progress_update(bar, done);
}

/* What the words promise, for nothing. */
static brume_status show_plan(brume_call *call, const brume_synth *synth, brume_error *error)
{
    json_t *plan = brume_synth_plan(synth), *methods = brume_synth_compare(synth);
    BRUME_TRY(brume_call_keep_json(call, plan, error));
    if (methods)
        json_object_set_new(plan, "methods", methods);
    return write_report(call, plan, error);
}

/* The rows, and what is said of them: `path` is the file, NULL where a dataset pays. */
static brume_status produce(brume_call *call, brume_synth *synth, brume_ledger *ledger,
                            const brume_input *file, brume_error *error)
{
    json_t *answer = NULL;
    brume_bits *bits = NULL;
    brume_synth_rows rows = {0};
    BRUME_TRY(brume_synth_check_output(synth, error));
    BRUME_TRY(brume_call_open_bits(call, &bits, error));
    BRUME_TRY(
        file ? brume_synth_of_file(synth, file->path, file->format, bits, &rows, &answer, error)
             : brume_synth_charged(synth, ledger, bits, &rows, &answer, error));
    bool inline_rows = strcmp(synth->words.output, "-") == 0;
    char *text = NULL;
    brume_status status = inline_rows ? brume_synth_text(synth, &rows, &text, error)
                                      : brume_synth_write(synth, &rows, error);
    if (status == BRUME_OK && synth->words.tables)
        status = brume_synth_tree_write_tables(synth, answer, error);
    if (status == BRUME_OK && synth->words.model)
        status = brume_synth_write_model(synth, &rows, json_object_get(answer, "model"),
                                         synth->words.model, error);
    brume_synth_rows_clear(&rows);
    if (status != BRUME_OK)
        free(text);
    BRUME_TRY(brume_call_keep_json(call, answer, error));
    BRUME_TRY(status);
    json_object_del(answer, "cells");
    json_object_del(answer, "values");
    json_object_del(answer, "model");
    if (json_object_set_new(answer, inline_rows ? "csv" : "output",
                            json_string(inline_rows ? text : synth->words.output)) != 0)
        status = brume_no_memory(error, NULL);
    if (status == BRUME_OK && inline_rows && !call->json)
        fputs(text, call->out); /* and nothing else: it may go into a pipe */
    else if (status == BRUME_OK)
        status = write_report(call, answer, error);
    free(text);
    return status;
}

static brume_status run_charged(brume_call *call, brume_synth_words *words, brume_synth *synth,
                                brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_dataset *dataset = NULL;
    if (words->exact_error)
        return brume_fail(error, BRUME_EPOLICY, "it is for --no-ledger, to study the methods",
                          "the exact error is a function of the data and is not private");
    BRUME_TRY(brume_call_watch(call, &words->watch, error));
    brume_status status = brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error);
    if (status == BRUME_OK)
        status = brume_call_open_dataset(call, ledger, words->source, &dataset, error);
    if (status == BRUME_ESOURCE || status == BRUME_EUNKNOWN)
        brume_hint_at_file(call, words->source, error);
    BRUME_TRY(status);
    if (!brume_call_has(call, "adjacency"))
        words->replace = dataset->adjacency == BRUME_REPLACE;
    BRUME_TRY(brume_synth_open(words, dataset, synth, error));
    if (words->dry_run)
        BRUME_TRY(brume_synth_check_view(synth, ledger, error));
    return words->dry_run ? show_plan(call, synth, error)
                          : produce(call, synth, ledger, NULL, error);
}

static brume_status run_on_file(brume_call *call, const brume_synth_words *words,
                                brume_synth *synth, brume_error *error)
{
    brume_input input = {0};
    BRUME_TRY(brume_synth_open(words, NULL, synth, error));
    brume_status status = brume_input_open(words->source, words->columns, &input, error);
    if (status == BRUME_OK)
        status = brume_synth_of_file(synth, input.path, input.format, NULL, NULL, NULL, error);
    if (status == BRUME_OK)
        status = words->dry_run ? show_plan(call, synth, error)
                                : produce(call, synth, NULL, &input, error);
    brume_input_close(&input);
    return status;
}

/* More rows of a model, for nothing. */
static brume_status run_again(brume_call *call, const brume_synth_words *words, brume_synth *synth,
                              brume_error *error)
{
    static const char *const taken[] = {"again", "rows", "output", NULL};
    brume_bits *bits = NULL;
    brume_synth_rows rows = {0};
    char *text = NULL;
    for (size_t i = 0; i < call->command->option_count; i++) {
        const char *name = call->command->options[i].name;
        bool known = false;
        for (size_t k = 0; taken[k]; k++)
            known = known || strcmp(taken[k], name) == 0;
        if (!known && brume_call_has(call, name))
            return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                              "'--%s' is not for '--again': the model says it", name);
    }
    if (words->rows == 0)
        return brume_fail(error, BRUME_EARGUMENT, "how many rows to write: --rows 1000",
                          "'--rows' is missing");
    BRUME_TRY(brume_call_open_bits(call, &bits, error));
    brume_status status = brume_synth_again(words, bits, synth, &rows, error);
    if (status == BRUME_OK)
        status = brume_synth_check_output(synth, error);
    bool inline_rows = status == BRUME_OK && strcmp(words->output, "-") == 0;
    if (status == BRUME_OK)
        status = inline_rows ? brume_synth_text(synth, &rows, &text, error)
                             : brume_synth_write(synth, &rows, error);
    brume_synth_rows_clear(&rows);
    BRUME_TRY(status);
    if (call->json)
        status = brume_call_write_json(call,
                                       json_pack("{s:I, s:s}", "rows", (json_int_t)words->rows,
                                                 inline_rows ? "csv" : "output",
                                                 inline_rows ? text : words->output),
                                       error);
    else if (inline_rows)
        fputs(text, call->out);
    else
        fprintf(call->out, "wrote %llu rows to %s\n  cost      nothing: the model is paid\n",
                (unsigned long long)words->rows, words->output);
    free(text);
    return status;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_synth synth = {0};
    brume_synth_words words;
    brume_progress bar = {.call = call};
    const char *adjacency = brume_call_text(call, "adjacency");
    BRUME_TRY(brume_call_check_timeout(call, error));
    BRUME_TRY(brume_synth_read_words(call, &words, error));
    if (brume_call_has(call, "no-ledger") && (words.view || words.rows_per_unit))
        return brume_fail(error, BRUME_EARGUMENT, "register the file",
                          "'--%s' is of registered datasets",
                          words.view ? "from" : "rows-per-unit");
    words.replace = adjacency && strcmp(adjacency, "replace") == 0;
    words.progress = show_progress;
    words.context = &bar;
    brume_status status = brume_call_has(call, "again") ? run_again(call, &words, &synth, error)
                          : brume_call_has(call, "no-ledger")
                              ? run_on_file(call, &words, &synth, error)
                              : run_charged(call, &words, &synth, error);
    brume_synth_clear(&synth);
    return status;
}

static const char *const adjacencies[] = {"add-remove", "replace", NULL};
static const char *const methods[] = {"tree",    "mwem",     "pmw",       "small-db",
                                      "laplace", "gaussian", "histogram", NULL};

const brume_command brume_command_synth = {
    .name = "synth",
    .summary = "write a synthetic table that answers many queries well",
    .usage = "SOURCE --columns A,B,... --workload marginals:K|FILE --method METHOD --epsilon E "
             "--rows N --output FILE [OPTION...]",
    .description =
        "SOURCE is a registered dataset, charged like a query (of each unit one row counts), or "
        "with --no-ledger a file. The rows written are drawn from a histogram that answers the "
        "workload nearly as the data does; anything may be done with them.\n\n"
        "Each column needs a public domain: values, or bounds that are cut into bins. A number is "
        "written as the middle of its bin. Numbers outside the bounds are clamped. A row with a "
        "value that is missing or outside its domain is dropped under add-remove, and counts as the "
        "first value under replace, where the number of rows is public; --other gives it a value of "
        "its own, written as an empty field. No row can make the command fail.\n\n"
        "A workload file has one statement a line: total, histogram, marginal A, B, marginals K, "
        "prefixes A, ranges A, count CONDITION, sum NUMBER where CONDITION, ...; # begins a "
        "comment. A condition is comparisons (=, !=, <, >=, in (V, V), in V .. V, is other) joined by "
        "and, or.\n\n"
        "tree is for many columns: it chooses tables of two and three columns by noisy scores, "
        "measures them at the resolution that the noise can bear, fits a model and draws rows from "
        "it; a workload of it is marginals. Every table of the workload has a bar: how far the rows "
        "that are written may be from the data, all bars at once at --confidence. mwem measures the worst answers again and again; pmw asks every query and pays for those "
        "that the histogram answers badly; small-db weighs all small databases, for tiny universes "
        "only; laplace and gaussian put noise on every answer and fit a histogram to them; "
        "histogram puts noise on every cell.\n\n"
        "The report's bound, in records, is known without the data, or from released numbers: with "
        "--error-share a part of the price measures the worst error over the workload. The "
        "same question at the same price is read again for free, unless it has more than 65536 "
        "rows over more than 65536 cells: then it is bought again.",
    BRUME_OPERANDS(
        BRUME_OPERAND(FILE, "SOURCE",
                      "a registered dataset, or with --no-ledger a .csv, .parquet or .json file")),
    BRUME_OPTIONS(
        BRUME_OPTION(TEXT, "columns", "A,B,...", "the columns of the synthetic table"),
        BRUME_OPTION(TEXT, "workload", "marginals:K|FILE",
                     "the queries it is to answer well: marginals:2, marginals:1,3, or a file"),
        BRUME_OPTION(CHOICE, "method", "METHOD",
                     "tree, mwem, pmw, small-db, laplace, gaussian or histogram",
                     .choices = methods),
        BRUME_OPTION(TEXT, "epsilon", "E", "the price of all of it; there is no default"),
        BRUME_WINDOW_OPTION,
        BRUME_OPTION(
            TEXT, "delta", "D",
            "its part of delta: needed by gaussian, less noise by mwem, pmw and histogram"),
        BRUME_OPTION(TEXT, "rho", "R",
                     "the price in rho instead, for the rule concentrated or without a ledger"),
        BRUME_OPTION(COUNT, "rows", "N", "how many rows to draw",
                     BRUME_FROM_TO(1, BRUME_SYNTH_ROWS)),
        BRUME_OPTION(
            FILE, "output", "FILE",
            "where to write them: .csv or .parquet; - for CSV on standard output, with --json in its csv"),
        BRUME_OPTION(TEXT, "domain", "NAME=V1,V2,...",
                     "public values of a column, or LO..HI for whole numbers; else the policy's",
                     .repeated = true),
        BRUME_OPTION(TEXT, "bounds", "NAME=LO..HI",
                     "public bounds of a column of numbers, cut into bins; else the policy's",
                     .repeated = true),
        BRUME_OPTION(TEXT, "bins", "[NAME=]N", "how many bins of equal width; 10 unless typed",
                     .repeated = true),
        BRUME_OPTION(TEXT, "other", "A,B,...",
                     "columns with a value of its own for what is missing or outside the domain"),
        BRUME_OPTION(COUNT, "rounds", "T",
                     "of mwem: 10 unless typed; of the fit to noisy answers: 300; of tree: 4, or 6 "
                     "where noise is fine",
                     BRUME_FROM_TO(1, 1 << 20)),
        BRUME_OPTION(REAL, "alpha", "A",
                     "pmw, small-db: the error aimed at, a share of the records; 0.1 unless typed",
                     BRUME_ABOVE_TO(0, 1)),
        BRUME_OPTION(
            COUNT, "model-cells", "N",
            "tree: cells of the model at most; 2^18 unless typed, 2^20 where noise is fine",
            BRUME_FROM_TO(1, 268435456)),
        BRUME_OPTION(
            TEXT, "from", "SQL",
            "tree: a SELECT over the tables of the dataset, whose rows are read; each is of one "
            "unit, checked as in a subquery"),
        BRUME_OPTION(
            COUNT, "rows-per-unit", "M",
            "tree: of each unit at most so many rows count, with as much more noise; 1 unless "
            "typed",
            BRUME_FROM_TO(1, 1000)),
        BRUME_OPTION(
            TEXT, "discover", "A,B,...",
            "tree: columns of labels without a domain; a tenth of epsilon and delta shows which "
            "there are, the others are written as an empty field"),
        BRUME_OPTION(FILE, "model", "FILE",
                     "tree: a JSON file of what was measured, of which --again makes more rows"),
        BRUME_FLAG("again", "SOURCE is a file that --model wrote: more rows, for nothing"),
        BRUME_OPTION(
            TEXT, "never", "CONDITION",
            "tree: what no row can be, as 'sex = m and ward = maternity', of at most three "
            "columns; no row written is",
            .repeated = true),
        BRUME_OPTION(FILE, "tables", "FILE",
                     "tree: a CSV file of the workload's tables with their bars, and of what was "
                     "measured"),
        BRUME_OPTION(COUNT, "size", "M", "small-db: its records; else from --alpha",
                     BRUME_FROM_TO(1, 4096)),
        BRUME_OPTION(COUNT, "candidates", "C",
                     "small-db: refuse to weigh more databases than this; 2^26 unless typed",
                     BRUME_FROM_TO(1, 1099511627776.0)),
        BRUME_OPTION(COUNT, "records", "N",
                     "a public estimate of the number of rows; else part of the price may buy one",
                     BRUME_FROM_TO(1, 8589934592.0)),
        BRUME_OPTION(
            REAL, "error-share", "S",
            "share of the price that measures the worst error, tree: of every table; tree, "
            "mwem, pmw, small-db: 0.05",
            BRUME_FROM_TO(0, 0.5)),
        BRUME_PROBABILITY_OPTION("confidence", "C", "of the error bound; 0.95 unless typed"),
        BRUME_OPTION(CHOICE, "adjacency", "WORD",
                     "the dataset's; add-remove without a ledger unless typed",
                     .choices = adjacencies),
        BRUME_FLAG(
            "dry-run",
            "check everything, show the plan, the price and, with --records, what every method promises"),
        BRUME_FLAG("exact-error", "with --no-ledger: the true error too, which is NOT private"),
        BRUME_FLAG("no-ledger", "SOURCE is a file, and nobody keeps account: a row is a unit"),
        BRUME_TIMEOUT_OPTION, BRUME_PROJECT_OPTION, BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES(
        "synth people.csv --columns city,age --domain city=Lyon,Paris,Lille --bounds age=0..100 "
        "--workload marginals:1,2 --method mwem --epsilon 1 --rows 500 --output synthetic.csv "
        "--no-ledger",
        "synth people.csv --columns city,age --domain city=Lyon,Paris,Lille --bounds age=0..100 "
        "--workload marginals:2 --method tree --epsilon 1 --delta 1e-7 --rows 500 --output "
        "rows.csv --tables bars.csv --no-ledger",
        "synth visits --columns ward,age --workload marginals:2 --method laplace --epsilon 0.5 --rows "
        "200 --output visits.parquet",
        "synth visits --columns ward,age --workload marginals:1 --method gaussian --epsilon 0.5 "
        "--delta 1e-7 --rows 200 --output visits.csv --dry-run"),
    .run = run,
};
