/* brume stream above-threshold, sparse-vector --dataset: which conditions are satisfied by more
 * units than a threshold.
 *
 * Promises: what the card sparse_vector promises, for counts of units: one unit moves each by at
 * most 1, under add-remove all in one direction (unit_count.h), which takes half the noise. */
#include "command/stream/stream.h"

#include <math.h>

#include <brume/decimal.h>
#include <brume/mechanism/sparse_vector.h>

#include "command/frame/watch.h"
#include "command/ledger/open_ledger.h"
#include "query/collect/unit_count.h"

typedef struct conditions {
    brume_sparse_vector_options options;
    brume_bits *bits;
    brume_sparse_vector *stream;
    brume_unit_counter *counter;
} conditions;

static brume_status open_counter(void *context, const brume_charged_stream *on, brume_error *error)
{
    conditions *all = context;
    BRUME_TRY(brume_unit_counter_open(on->question, on->engine, on->bits, &all->counter, error));
    return brume_sparse_vector_open(&all->options, all->bits, &all->stream, error);
}

static void close_counter(void *context)
{
    conditions *all = context;
    brume_unit_counter_close(all->counter);
    brume_sparse_vector_close(all->stream);
    all->counter = NULL;
    all->stream = NULL;
}

static brume_status ask_condition(void *context, const char *line, brume_stream_answer *answer,
                                  brume_error *error)
{
    conditions *all = context;
    uint64_t units = 0;
    int64_t value = 0;
    BRUME_TRY(brume_unit_counter_ask(all->counter, line, &units, error));
    BRUME_TRY(brume_sparse_vector_ask(all->stream, all->bits, (int64_t)units, &answer->above,
                                      &value, error));
    answer->has_value = answer->above && all->options.epsilon_answers > 0;
    answer->value = (double)value;
    answer->hits_left = brume_sparse_vector_left(all->stream);
    answer->halted = answer->hits_left == 0;
    return BRUME_OK;
}

/* ---- the words typed ---- */

static brume_status read_options(const brume_call *call, bool single, brume_adjacency adjacency,
                                 brume_sparse_vector_options *out, char *price, size_t size,
                                 brume_error *error)
{
    static const char *const known[] = {"sensitivity", "monotone"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (brume_call_has(call, known[i]))
            return brume_fail(error, BRUME_EARGUMENT,
                              "one unit moves a count of units by at most 1",
                              "'--%s' does not apply with '--dataset'", known[i]);
    const char *answers = brume_call_text(call, "epsilon-answers");
    brume_decimal epsilon, extra, sum;
    double threshold = ceil(brume_call_real(call, "threshold", 0)); /* counts are whole numbers */
    if (!(fabs(threshold) <= 0x1p61))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--threshold' must be in [-2^61, 2^61]");
    BRUME_TRY(brume_decimal_parse(brume_call_text(call, "epsilon"), &epsilon, error));
    BRUME_TRY(brume_decimal_parse(answers ? answers : "0", &extra, error));
    BRUME_TRY(brume_decimal_add(&epsilon, &extra, &sum, error));
    brume_decimal_print(&sum, price, size);
    *out = (brume_sparse_vector_options){.adjacency = adjacency,
                                         .sensitivity = 1,
                                         .threshold = (int64_t)threshold,
                                         .epsilon = brume_decimal_lower(&epsilon),
                                         .epsilon_answers = brume_decimal_lower(&extra),
                                         .hits = brume_call_count(call, "hits", 1),
                                         .monotone = adjacency == BRUME_ADD_REMOVE,
                                         .even_split = single};
    return BRUME_OK;
}

/* What it draws with, from a stream that is opened and forgotten: bad words show here. */
static brume_status find_event(const conditions *all, brume_stream_charge *charge,
                               brume_error *error)
{
    brume_sparse_vector *trial = NULL;
    BRUME_TRY(brume_sparse_vector_open(&all->options, all->bits, &trial, error));
    charge->events[charge->event_count++] = brume_sparse_vector_event(trial);
    brume_sparse_vector_close(trial);
    return BRUME_OK;
}

brume_status brume_stream_conditions(brume_call *call, bool single, brume_error *error)
{
    conditions all = {0};
    brume_ledger *ledger = NULL;
    brume_dataset *dataset = NULL;
    const brume_watch *watch = NULL;
    char price[BRUME_DECIMAL_TEXT];
    BRUME_TRY(brume_call_watch(call, &watch, error));
    BRUME_TRY(brume_call_open_bits(call, &all.bits, error));
    brume_stream_charge charge = {
        .call = call,
        .epsilon = price,
        .open = open_counter,
        .close = close_counter,
        .source = {.ask = ask_condition, .write = brume_stream_write_hit, .context = &all}};
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    BRUME_TRY(
        brume_call_open_dataset(call, ledger, brume_call_text(call, "dataset"), &dataset, error));
    charge.adjacency = dataset->adjacency;
    BRUME_TRY(
        read_options(call, single, dataset->adjacency, &all.options, price, sizeof price, error));
    BRUME_TRY(find_event(&all, &charge, error));
    return brume_stream_run_charged(ledger, &charge, watch, all.bits, error);
}
