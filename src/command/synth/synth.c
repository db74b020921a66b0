/* brume synth: a synthetic table that answers a workload of queries nearly as the real one.
 *
 * Promises: everything that can be wrong with the words shows before anything is charged; the price
 * is on the ledger before a row is read; the report tells released numbers only, unless the exact
 * error is asked for without a ledger. */
#include "command/synth/synth.h"

#include <stdlib.h>
#include <string.h>

#include <brume/synthetic/small_database.h>

#include "command/query/ask.h"
#include "command/frame/input.h"
#include "command/frame/watch.h"
#include "command/ledger/open_ledger.h"
#include "ledger/ledger.h"
#include "query/release/charged.h"

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
    fprintf(call->out, "  table     columns %zu, cells %lld, queries %lld; by %s, %s\n",
            json_array_size(json_object_get(answer, "columns")),
            (long long)json_integer_value(json_object_get(answer, "universe")),
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
    if (!dry)
        write_errors(call, answer);
    write_cost(call, answer);
    if (dry)
        fprintf(call->out, "  memory    about %s MiB\n",
                brume_rounded_up(number_of(answer, "memory_bytes") * 0x1p-20).text);
    if (dry)
        brume_synth_write_methods(call, json_object_get(answer, "methods"));
    return BRUME_OK;
}

/* ---- running ---- */

typedef struct synth_charged_draw {
    const brume_synth *synth;
    bool rehearsed;
    double *rows;
} synth_charged_draw;

/* First without rows, before the charge: are the columns there? Then with them. */
static brume_status draw(void *context, const char *path, brume_bits *bits, json_t **answer,
                         brume_error *error)
{
    synth_charged_draw *all = context;
    if (all->rehearsed)
        return brume_synth_run(all->synth, path, false, bits, &all->rows, answer, error);
    all->rehearsed = true;
    BRUME_TRY(brume_synth_check_file(all->synth, path, error));
    *answer = json_object();
    return *answer ? BRUME_OK : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
}

static brume_status run_charged(const brume_synth *synth, brume_ledger *ledger, brume_bits *bits,
                                double **rows, json_t **answer, brume_error *error)
{
    synth_charged_draw context = {.synth = synth};
    char *what = NULL;
    json_t *plan = brume_synth_plan(synth);
    if (!plan)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    brume_status status = brume_synth_describe(synth, &what, error);
    brume_charged charged = {.dataset = brume_call_operand(synth->call, 0),
                             .adjacency = synth->options.adjacency,
                             .epsilon = synth->epsilon,
                             .delta = synth->delta,
                             .rho = synth->rho,
                             .rho_upper = synth->rho_upper,
                             .events = json_object_get(plan, "events"),
                             .fresh = !brume_synth_is_kept(synth),
                             .needs_rows = true,
                             .most_rows = synth->options.method == BRUME_SYNTHETIC_SMALL_DATABASE
                                              ? BRUME_SMALL_DATABASE_RECORDS
                                              : 0,
                             .what = what,
                             .draw = draw,
                             .context = &context};
    if (status == BRUME_OK)
        status = brume_charged_release(ledger, &charged, bits, synth->watch, answer, error);
    json_decref(plan);
    free(what);
    if (status == BRUME_OK && !context.rows) /* read again */
        status = brume_synth_recall(synth, *answer, &context.rows, error);
    if (status == BRUME_OK)
        *rows = context.rows;
    else
        free(context.rows);
    return status;
}

/* From a dataset of the ledger, or without one from the CSV file at `path`. */
static brume_status produce(brume_call *call, const brume_synth *synth, brume_ledger *ledger,
                            const char *path, brume_error *error)
{
    json_t *answer = NULL;
    brume_bits *bits = NULL;
    if (brume_call_has(call, "dry-run")) {
        answer = brume_synth_plan(synth);
        json_t *rows = brume_synth_compare(synth);
        if (answer && rows)
            json_object_set_new(answer, "methods", rows);
        brume_status shown = answer ? write_report(call, answer, error)
                                    : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
        json_decref(answer);
        return shown;
    }
    BRUME_TRY(brume_synth_check_output(synth, error));
    BRUME_TRY(brume_call_open_bits(call, &bits, error));
    double *rows = NULL;
    brume_status status = ledger ? run_charged(synth, ledger, bits, &rows, &answer, error)
                                 : brume_synth_run(synth, path, brume_call_has(call, "exact-error"),
                                                   bits, &rows, &answer, error);
    if (status != BRUME_OK) {
        json_decref(answer);
        return status;
    }
    status = brume_synth_write(synth, rows, error);
    free(rows);
    json_object_del(answer, "cells");
    if (status == BRUME_OK &&
        json_object_set_new(answer, "output", json_string(brume_call_text(call, "output"))) != 0)
        status = brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    if (status == BRUME_OK)
        status = write_report(call, answer, error);
    json_decref(answer);
    return status;
}

/* --adjacency, else the dataset's, else add-remove. */
static brume_adjacency adjacency_of(const brume_call *call, const brume_dataset *dataset)
{
    const char *word = brume_call_text(call, "adjacency");
    if (word)
        return strcmp(word, "replace") == 0 ? BRUME_REPLACE : BRUME_ADD_REMOVE;
    return dataset ? dataset->adjacency : BRUME_ADD_REMOVE;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_synth synth = {.call = call};
    brume_ledger *ledger = NULL;
    brume_dataset *dataset = NULL;
    brume_policy *policy = NULL;
    bool charged = !brume_call_has(call, "no-ledger");
    brume_status status = BRUME_OK;
    BRUME_TRY(brume_call_check_timeout(call, error));
    if (charged && brume_call_has(call, "exact-error"))
        return brume_fail(error, BRUME_EPOLICY, "it is for --no-ledger, to study the methods",
                          "the exact error is a function of the data and is not private");
    if (charged)
        status = brume_call_watch(call, &synth.watch, error);
    if (status == BRUME_OK && charged)
        status = brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error);
    if (status == BRUME_OK && charged)
        status =
            brume_call_open_dataset(call, ledger, brume_call_operand(call, 0), &dataset, error);
    if (charged && !dataset && (status == BRUME_ESOURCE || status == BRUME_EUNKNOWN))
        brume_hint_at_file(call, brume_call_operand(call, 0), error);
    if (status == BRUME_OK && charged)
        status = brume_policy_from_json(dataset->policy, &policy, error);
    synth.policy = policy;
    synth.options.adjacency = adjacency_of(call, dataset);
    synth.spends_rho = dataset && dataset->filter.rule == BRUME_RULE_CONCENTRATED;
    if (status == BRUME_OK)
        status = brume_synth_read(&synth, error);
    brume_input input = {0};
    synth.format = &brume_rows_format;
    if (status == BRUME_OK && !charged) {
        status = brume_input_open(brume_call_operand(call, 0), brume_call_text(call, "columns"),
                                  &input, error);
        synth.format = input.format;
    }
    if (status == BRUME_OK && !charged)
        status = brume_synth_check_file(&synth, input.path, error);
    if (status == BRUME_OK)
        status = produce(call, &synth, ledger, input.path, error);
    brume_input_close(&input);
    brume_synth_clear(&synth);
    brume_policy_close(policy);
    return status;
}

static const char *const adjacencies[] = {"add-remove", "replace", NULL};
static const char *const methods[] = {"mwem",     "pmw",       "small-db", "laplace",
                                      "gaussian", "histogram", NULL};

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
        "mwem measures the worst answers again and again; pmw asks every query and pays for those "
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
                     "mwem, pmw, small-db, laplace, gaussian or histogram", .choices = methods),
        BRUME_OPTION(TEXT, "epsilon", "E", "the price of all of it; there is no default"),
        BRUME_OPTION(
            TEXT, "delta", "D",
            "its part of delta: needed by gaussian, less noise by mwem, pmw and histogram"),
        BRUME_OPTION(TEXT, "rho", "R",
                     "the price in rho instead, for the rule concentrated or without a ledger"),
        BRUME_OPTION(COUNT, "rows", "N", "how many rows to draw",
                     BRUME_FROM_TO(1, BRUME_SYNTH_ROWS)),
        BRUME_OPTION(FILE, "output", "FILE", "where to write them: .csv or .parquet"),
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
                     "of mwem: 10 unless typed; of the fit to noisy answers: 300",
                     BRUME_FROM_TO(1, 1 << 20)),
        BRUME_OPTION(REAL, "alpha", "A",
                     "pmw, small-db: the error aimed at, a share of the records; 0.1 unless typed",
                     BRUME_ABOVE_TO(0, 1)),
        BRUME_OPTION(COUNT, "size", "M", "small-db: its records; else from --alpha",
                     BRUME_FROM_TO(1, 4096)),
        BRUME_OPTION(COUNT, "candidates", "C",
                     "small-db: refuse to weigh more databases than this; 2^26 unless typed",
                     BRUME_FROM_TO(1, 1099511627776.0)),
        BRUME_OPTION(COUNT, "records", "N",
                     "a public estimate of the number of rows; else part of the price may buy one",
                     BRUME_FROM_TO(1, 8589934592.0)),
        BRUME_OPTION(REAL, "error-share", "S",
                     "share of the price that measures the worst error; mwem, pmw, small-db: 0.05",
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
        BRUME_TIMEOUT_OPTION, BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES(
        "synth people.csv --columns city,age --domain city=Lyon,Paris,Lille --bounds age=0..100 "
        "--workload marginals:1,2 --method mwem --epsilon 1 --rows 500 --output synthetic.csv "
        "--no-ledger",
        "synth visits --columns ward,age --workload marginals:2 --method laplace --epsilon 0.5 --rows "
        "200 --output visits.parquet",
        "synth visits --columns ward,age --workload marginals:1 --method gaussian --epsilon 0.5 "
        "--delta 1e-7 --rows 200 --output visits.csv --dry-run"),
    .run = run,
};
