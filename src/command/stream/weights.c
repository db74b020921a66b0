/* brume stream pmw: counts of conditions, most of them for free.
 *
 * Promises: what private multiplicative weights promise (brume/synthetic/multiplicative_weights.h),
 * for a histogram in which each unit is one record: all answers together cost the price typed,
 * however many questions come. Memory is two numbers for each cell of the universe, however many.
 */
#include "command/stream/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <brume/synthetic/multiplicative_weights.h>

#include "command/frame/watch.h"
#include "command/host.h"
#include "command/ledger/open_ledger.h"
#include "command/synth/words.h"
#include "query/collect/file_rows.h"
#include "query/collect/unit_rows.h"
#include "synthetic/workload.h"

#define CELLS_MOST (UINT64_C(1) << 28)

/* A cell takes this much of what a number of an answer does: a few doubles. */
static const double CELL_SHARE = 0x1p-5;

typedef struct weights_stream {
    brume_synth synth; /* columns, universe, price */
    brume_workload *workload;
    brume_multiplicative_weights_options options;
    brume_multiplicative_weights *weights;
    brume_bits *bits;
} weights_stream;

/* ---- questions ---- */

/* "line 1, column 7: no column 'foo'" without the place: a question is one line. */
static brume_status tell_condition(brume_status status, brume_error *error)
{
    const char *rest =
        error && strncmp(error->message, "line 1", 6) == 0 ? strstr(error->message, ": ") : NULL;
    if (rest)
        memmove(error->message, rest + 2, strlen(rest + 2) + 1);
    return status;
}

static brume_status ask_weights(void *context, const char *line, brume_stream_answer *answer,
                                brume_error *error)
{
    weights_stream *all = context;
    brume_workload *one = NULL;
    char *text = NULL;
    bool was_free;
    if (asprintf(&text, "count %s", line) < 0)
        return brume_no_memory(error, "a question");
    brume_status status = brume_workload_parse(all->synth.schema, text, &one, error);
    free(text);
    if (status != BRUME_OK)
        return tell_condition(status, error);
    brume_workload_replace(all->workload, one);
    brume_workload_close(one);
    BRUME_TRY(brume_multiplicative_weights_ask(all->weights, all->bits, 0, &answer->value,
                                               &was_free, error));
    answer->above = !was_free;
    answer->has_value = true;
    answer->hits_left = brume_multiplicative_weights_left(all->weights);
    answer->halted = answer->hits_left == 0;
    return BRUME_OK;
}

static void write_count(const brume_call *call, uint64_t index, const brume_stream_answer *answer)
{
    if (call->json)
        fprintf(call->out,
                "{\"index\": %" PRIu64 ", \"answer\": %s, \"free\": %s, \"updates_left\": %" PRIu64
                ", \"halted\": %s}\n",
                index, brume_shortest(answer->value).text, answer->above ? "false" : "true",
                answer->hits_left, answer->halted ? "true" : "false");
    else
        fprintf(call->out, "%.10g %s\n", answer->value, answer->above ? "paid" : "free");
}

/* ---- open ---- */

static brume_status fill(weights_stream *all, const brume_charged_stream *on, double *counts,
                         brume_error *error)
{
    brume_rows_file rows;
    BRUME_TRY(brume_rows_read(on->question, on->engine, on->bits, &rows, error));
    brume_status status = brume_synth_counts(&all->synth, rows.path, counts, error);
    brume_rows_file_close(&rows);
    return status;
}

static brume_status open_weights(void *context, const brume_charged_stream *on, brume_error *error)
{
    weights_stream *all = context;
    uint64_t cells = all->synth.universe.cells;
    double *counts = calloc(cells, sizeof *counts), records = 0;
    if (!counts)
        return brume_no_memory(error, "the cells");
    brume_status status = fill(all, on, counts, error);
    for (uint64_t i = 0; i < cells; i++)
        records += counts[i];
    if (all->options.adjacency == BRUME_REPLACE)
        all->options.records = records; /* public */
    if (status == BRUME_OK)
        status = brume_multiplicative_weights_open(all->workload, &all->options, counts, all->bits,
                                                   &all->weights, error);
    explicit_bzero(counts, cells * sizeof *counts);
    free(counts);
    return status;
}

static void close_weights(void *context)
{
    weights_stream *all = context;
    brume_multiplicative_weights_close(all->weights);
    all->weights = NULL;
}

/* ---- the words typed ---- */

/* What it draws with, which depends on the words typed alone: a stream over one record is opened
 * and forgotten. */
static brume_status find_events(const weights_stream *all, brume_stream_charge *charge,
                                brume_error *error)
{
    brume_multiplicative_weights_options options = all->options;
    brume_multiplicative_weights *trial = NULL;
    double *counts = calloc(all->synth.universe.cells, sizeof *counts);
    if (!counts)
        return brume_no_memory(error, "the cells");
    counts[0] = 1;
    if (options.adjacency == BRUME_REPLACE)
        options.records = 1;
    brume_status status = brume_multiplicative_weights_open(all->workload, &options, counts,
                                                            all->bits, &trial, error);
    free(counts);
    if (status != BRUME_OK)
        return status;
    brume_multiplicative_weights_events(trial, charge->events);
    charge->event_count = BRUME_MULTIPLICATIVE_WEIGHTS_EVENTS;
    brume_multiplicative_weights_close(trial);
    return BRUME_OK;
}

static brume_status read_words(weights_stream *all, const brume_call *call,
                               brume_adjacency adjacency, brume_error *error)
{
    bool told = brume_call_has(call, "records");
    if (adjacency == BRUME_REPLACE && told)
        return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                          "under replace the number of records is public and counted: '--records' "
                          "has no place");
    if (adjacency == BRUME_ADD_REMOVE && !told)
        return brume_fail(
            error, BRUME_EARGUMENT, "a public estimate; the error bound holds if it is right",
            "'--records' is missing: under add-remove the number of units is private");
    all->synth.options.method = BRUME_SYNTHETIC_WEIGHTS;
    BRUME_TRY(brume_synth_price(&all->synth, true, error));
    BRUME_TRY(brume_synth_schema(&all->synth, error));
    if (all->synth.universe.cells > CELLS_MOST)
        return brume_fail(error, BRUME_EOVERFLOW, "take fewer columns, or coarser domains",
                          "a universe of %llu cells, at most 2^28 are possible",
                          (unsigned long long)all->synth.universe.cells);
    if (call->host && call->host->user)
        BRUME_TRY(brume_user_limits_check(&all->synth.policy->per_user,
                                          brume_call_text(call, "dataset"), 0,
                                          (double)all->synth.universe.cells * CELL_SHARE, error));
    all->options = (brume_multiplicative_weights_options){
        .adjacency = adjacency,
        .epsilon = all->synth.options.epsilon,
        .rho = all->synth.options.rho,
        .alpha = brume_call_real(call, "alpha", 0),
        .records = (double)brume_call_count(call, "records", 1)};
    return brume_workload_open(&all->synth.universe, &all->workload, error);
}

static brume_status run_on(brume_call *call, brume_ledger *ledger, const brume_dataset *dataset,
                           weights_stream *all, brume_error *error)
{
    brume_stream_charge charge = {
        .call = call,
        .adjacency = dataset->adjacency,
        .needs_rows = true,
        .open = open_weights,
        .close = close_weights,
        .source = {.ask = ask_weights, .write = write_count, .context = all}};
    BRUME_TRY(read_words(all, call, dataset->adjacency, error));
    BRUME_TRY(find_events(all, &charge, error));
    charge.epsilon = all->synth.words.epsilon;
    charge.delta = all->synth.words.delta;
    charge.rho = all->synth.words.rho;
    return brume_stream_run_charged(ledger, &charge, all->synth.words.watch, all->bits, error);
}

static brume_status run(brume_call *call, brume_error *error)
{
    weights_stream all = {0};
    brume_synth_words words;
    brume_ledger *ledger = NULL;
    brume_dataset *dataset = NULL;
    BRUME_TRY(brume_synth_read_words(call, &words, error));
    BRUME_TRY(brume_call_watch(call, &words.watch, error));
    BRUME_TRY(brume_call_open_bits(call, &all.bits, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    BRUME_TRY(
        brume_call_open_dataset(call, ledger, brume_call_text(call, "dataset"), &dataset, error));
    words.method = "pmw";
    words.is_stream = true;
    words.replace = dataset->adjacency == BRUME_REPLACE;
    brume_status status = brume_synth_open(&words, dataset, &all.synth, error);
    if (status == BRUME_OK)
        status = run_on(call, ledger, dataset, &all, error);
    brume_workload_close(all.workload);
    brume_synth_clear(&all.synth);
    return status;
}

const brume_command brume_command_stream_pmw = {
    .name = "stream pmw",
    .summary = "answer a stream of counts from a public histogram that learns",
    .usage = "--dataset NAME --columns A,B,... --epsilon E --alpha A [OPTION...]",
    .description =
        "Private multiplicative weights. A public histogram over the cells of the columns, uniform "
        "at first, answers every question that it answers well enough: 'free'. Where it does not, "
        "the answer is the true count with fresh noise, 'paid', and the histogram learns from it. "
        "After floor(ln N/(2 alpha^2)) + 1 paid answers, N the number of cells, the stream halts; "
        "by then the histogram answers every question within about 3 alpha of the records, if "
        "there are enough of them for the price.\n\n"
        "Reads one condition a line from standard input, as after WHERE: comparisons of a column "
        "with a value (=, <>, <, <=, >, >=, IN, BETWEEN, IS OTHER) joined by AND, OR, NOT and "
        "brackets. The histogram knows cells only: a number cut into bins is compared with < or >= "
        "and an edge of its bins. Answers are counts of units, and of each unit one row counts. With --json one object a line with "
        "index, answer, free, updates_left and halted. The next line may be chosen after the last "
        "answer. The price is for the whole stream and is on the ledger before the first answer; "
        "'brume history' tells how far it came.\n\n"
        "A line that is wrong is reported on standard error with its number, costs nothing, and "
        "the stream goes on.",
    BRUME_OPTIONS(
        BRUME_OPTION(TEXT, "dataset", "NAME", "the registered dataset; of each unit one row counts",
                     .required = true),
        BRUME_OPTION(TEXT, "columns", "A,B,...", "the columns that questions may name",
                     .required = true),
        BRUME_OPTION(
            TEXT, "domain", "NAME=V1,V2,...",
            "public values of a column, or LO..HI of whole numbers; the registered ones unless "
            "typed",
            .repeated = true),
        BRUME_OPTION(TEXT, "bounds", "NAME=LO..HI",
                     "public bounds of a number, which are cut into bins", .repeated = true),
        BRUME_OPTION(TEXT, "bins", "[NAME=]B", "how many bins: 10 unless typed", .repeated = true),
        BRUME_OPTION(TEXT, "other", "A,B,...",
                     "columns with one more value, for what is missing or outside the domain"),
        BRUME_OPTION(TEXT, "epsilon", "E", "the price of the whole stream"),
        BRUME_OPTION(
            TEXT, "delta", "D",
            "then more answers are affordable: noise grows with the square root of the updates"),
        BRUME_OPTION(TEXT, "rho", "R", "the price under the rule concentrated"),
        BRUME_OPTION(REAL, "alpha", "A",
                     "how badly the histogram may answer: a share of the records", .required = true,
                     BRUME_ABOVE_TO(0, 1)),
        BRUME_OPTION(COUNT, "records", "N",
                     "a public estimate of the number of units; needed under add-remove",
                     BRUME_FROM_TO(1, 8589934592.0)),
        BRUME_TIMEOUT_OPTION, BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES(
        "stream pmw --dataset visits --columns ward,age --epsilon 0.2 --alpha 0.2 --records 400 < "
        "questions.txt"),
    .asks = true,
    .run = run,
};
