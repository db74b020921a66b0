/* Streams of questions that are paid for once. Promises: stream.h. */
#include "query/stream/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <brume/decimal.h>
#include <brume/mechanism/mechanism.h>
#include <brume/mechanism/sparse_vector.h>
#include <brume/synthetic/multiplicative_weights.h>

#include "base/error.h"
#include "base/read_number.h"
#include "base/text.h"
#include "mechanism/threshold/decimal_stream.h"
#include "number/rounding.h"
#include "query/collect/unit_count.h"
#include "query/collect/unit_rows.h"
#include "query/release/charged.h"
#include "synthetic/workload.h"

bool brume_stream_goes_on(brume_status status)
{
    return status == BRUME_EARGUMENT || status == BRUME_ESYNTAX || status == BRUME_EUNKNOWN ||
           status == BRUME_EUNSUPPORTED || status == BRUME_EOVERFLOW;
}

/* ---- a stream that a registered dataset pays for ---- */

/* A stream that is paid for. */
typedef struct stream_charge {
    const brume_stream_asker *asker;
    const char *epsilon, *delta, *rho; /* as typed, or their sum; as brume_charged has them */
    brume_event events[2];             /* what it draws with */
    size_t event_count;
    bool needs_rows; /* refuse an empty table before the charge, under replace only */
    /* The questions, once the price is on the ledger; closed by `close`. */
    brume_status (*open)(void *context, const brume_charged_stream *on, brume_error *error);
    void (*close)(void *context);
    brume_stream_ask ask;
    void *context;
} stream_charge;

typedef struct charged_run {
    const stream_charge *charge;
    const brume_charged_stream *on;
    uint64_t asked, hits, recorded; /* recorded: how many were asked by the newest row */
    double recorded_at;             /* seconds of the monotonic clock */
    bool halted;
} charged_run;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Write down how far it came. Others see that in the ledger: the watch says when. */
static brume_status record(charged_run *run, brume_error *error)
{
    const brume_watch *watch = run->on->watch;
    if (watch)
        watch->enter(watch->context, BRUME_PHASE_SPENT, NULL);
    run->recorded = run->asked;
    run->recorded_at = now();
    brume_status status =
        brume_ledger_progress(run->on->ledger, run->on->reservation, run->asked, run->hits, error);
    if (watch)
        watch->enter(watch->context, BRUME_PHASE_RUNNING, run->on->engine);
    return status;
}

static brume_status ask_and_note(void *context, const char *line, brume_stream_answer *answer,
                                 brume_error *error)
{
    charged_run *run = context;
    BRUME_TRY(run->charge->ask(run->charge->context, line, answer, error));
    run->halted = answer->halted;
    return brume_ledger_stream_note(run->on->ledger, run->on->reservation, run->asked + 1,
                                    run->hits + answer->above, error);
}

static brume_status pause_run(void *context, uint64_t asked, uint64_t hits, brume_error *error)
{
    charged_run *run = context;
    const brume_watch *watch = run->on->watch;
    run->asked = asked;
    run->hits = hits;
    if (watch && watch->stopped(watch->context))
        return brume_fail(error, BRUME_ECANCELLED, NULL, "interrupted");
    return run->asked != run->recorded && now() - run->recorded_at >= 1 ? record(run, error)
                                                                        : BRUME_OK;
}

static brume_status answer_all(void *context, const brume_charged_stream *on, json_t **answer,
                               brume_error *error)
{
    const stream_charge *charge = context;
    charged_run run = {.charge = charge, .on = on};
    brume_stream_source source = {.ask = ask_and_note, .pause = pause_run, .context = &run};
    BRUME_TRY(record(&run, error));
    brume_status status = charge->open(charge->context, on, error);
    if (status == BRUME_OK)
        status = charge->asker->run(charge->asker->context, &source, error);
    charge->close(charge->context);
    brume_status recorded = record(&run, status == BRUME_OK ? error : NULL);
    if (status != BRUME_OK || recorded != BRUME_OK)
        return status != BRUME_OK ? status : recorded;
    *answer = json_pack("{s:I,s:I,s:b}", "asked", (json_int_t)run.asked, "hits",
                        (json_int_t)run.hits, "halted", run.halted);
    return *answer ? BRUME_OK : brume_no_memory(error, "a stream");
}

/* The events as texts, and what they cost in rho together; 0 where one has no rho. */
static brume_status price_events(const stream_charge *charge, json_t *events, double *rho,
                                 brume_error *error)
{
    bool known = true;
    *rho = 0;
    for (size_t i = 0; i < charge->event_count; i++) {
        char text[256];
        brume_cost cost;
        BRUME_TRY(brume_event_cost(&charge->events[i], &cost, error));
        BRUME_TRY(brume_event_write(&charge->events[i], text, sizeof text, error));
        known = known && cost.concentrated != BRUME_ABSENT;
        /* up: a cost */
        *rho = brume_add_up(*rho, brume_multiply_up(cost.rho, (double)charge->events[i].count));
        if (json_array_append_new(events, json_string(text)) != 0)
            return brume_no_memory(error, "a stream");
    }
    if (!known)
        *rho = 0;
    return BRUME_OK;
}

/* Charge it and run it; how far it came goes to the ledger, once a second at most and at its end.
 */
static brume_status run_charged(const stream_charge *charge, brume_error *error)
{
    const brume_stream_asker *asker = charge->asker;
    double rho_upper = 0;
    json_t *answer = NULL, *events = json_array();
    if (!events)
        return brume_no_memory(error, "a stream");
    brume_status status = price_events(charge, events, &rho_upper, error);
    brume_charged charged = {.dataset = asker->dataset->name,
                             .adjacency = asker->dataset->adjacency,
                             .epsilon = charge->epsilon,
                             .delta = charge->delta,
                             .rho = charge->rho,
                             .rho_upper = rho_upper,
                             .windows = asker->windows,
                             .events = events,
                             .fresh = true,
                             .needs_rows = charge->needs_rows,
                             .what = asker->what,
                             .stream = answer_all,
                             .context = (void *)(uintptr_t)charge};
    if (status == BRUME_OK)
        status = brume_charged_release(asker->ledger, &charged, asker->bits, asker->watch, &answer,
                                       error);
    json_decref(answer);
    json_decref(events);
    return status;
}

/* ---- conditions: which are satisfied by more units than a threshold ----
 *
 * What the card sparse_vector promises, for counts of units: one unit moves each by at most 1,
 * under add-remove all in one direction (unit_count.h), which takes half the noise. */

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

static brume_status read_conditions(const brume_threshold_words *words, brume_adjacency adjacency,
                                    brume_sparse_vector_options *out,
                                    char price[BRUME_DECIMAL_TEXT], brume_error *error)
{
    brume_decimal epsilon, extra, sum;
    double threshold = 0;
    if (words->sensitivity || words->monotone)
        return brume_fail(error, BRUME_EARGUMENT, "one unit moves a count of units by at most 1",
                          "'--%s' does not apply with '--dataset'",
                          words->sensitivity ? "sensitivity" : "monotone");
    BRUME_TRY(brume_read_real(words->threshold, "--threshold", &threshold, error));
    threshold = ceil(threshold); /* counts are whole numbers */
    if (!(fabs(threshold) <= 0x1p61))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--threshold' must be in [-2^61, 2^61]");
    BRUME_TRY(brume_decimal_parse(words->epsilon, &epsilon, error));
    BRUME_TRY(
        brume_decimal_parse(words->epsilon_answers ? words->epsilon_answers : "0", &extra, error));
    BRUME_TRY(brume_decimal_add(&epsilon, &extra, &sum, error));
    brume_decimal_print(&sum, price, BRUME_DECIMAL_TEXT);
    *out = (brume_sparse_vector_options){.adjacency = adjacency,
                                         .sensitivity = 1,
                                         .threshold = (int64_t)threshold,
                                         .epsilon = brume_decimal_lower(&epsilon),
                                         .epsilon_answers = brume_decimal_lower(&extra),
                                         .hits = words->hits,
                                         .monotone = adjacency == BRUME_ADD_REMOVE,
                                         .even_split = words->single};
    return BRUME_OK;
}

/* What it draws with, from a stream that is opened and forgotten: bad words show here. */
static brume_status find_event(const conditions *all, stream_charge *charge, brume_error *error)
{
    brume_sparse_vector *trial = NULL;
    BRUME_TRY(brume_sparse_vector_open(&all->options, all->bits, &trial, error));
    charge->events[charge->event_count++] = brume_sparse_vector_event(trial);
    brume_sparse_vector_close(trial);
    return BRUME_OK;
}

brume_status brume_stream_conditions(const brume_stream_asker *asker,
                                     const brume_threshold_words *words, brume_error *error)
{
    conditions all = {.bits = asker->bits};
    char price[BRUME_DECIMAL_TEXT];
    stream_charge charge = {.asker = asker,
                            .epsilon = price,
                            .open = open_counter,
                            .close = close_counter,
                            .ask = ask_condition,
                            .context = &all};
    BRUME_TRY(read_conditions(words, asker->dataset->adjacency, &all.options, price, error));
    BRUME_TRY(find_event(&all, &charge, error));
    return run_charged(&charge, error);
}

/* ---- numbers: which are above a threshold ---- */

typedef struct numbers {
    brume_bits *bits;
    brume_decimal_stream *stream;
} numbers;

/* A number is a line: a decimal with spaces around it at most. */
static brume_status ask_number(void *context, const char *line, brume_stream_answer *answer,
                               brume_error *error)
{
    numbers *on = context;
    brume_signed_decimal query;
    char word[128];
    line += strspn(line, " \t");
    size_t length = strcspn(line, " \t");
    if (length == 0 || length >= sizeof word || line[length + strspn(line + length, " \t")] != 0)
        return brume_fail(error, BRUME_EARGUMENT, "write one decimal a line, such as 12 or -0.5",
                          length == 0 ? "there is no number" : "not one decimal number");
    memcpy(word, line, length);
    word[length] = 0;
    if (brume_signed_decimal_parse(word, &query, NULL) != BRUME_OK)
        return brume_fail(error, BRUME_EARGUMENT, "write one decimal a line, such as 12 or -0.5",
                          "not a finite decimal number of at most 77 digits");
    double value = NAN;
    BRUME_TRY(
        brume_decimal_stream_ask(on->stream, on->bits, &query, &answer->above, &value, error));
    answer->has_value = !isnan(value);
    answer->value = value;
    answer->hits_left = brume_decimal_stream_left(on->stream);
    answer->halted = answer->hits_left == 0;
    return BRUME_OK;
}

/* The words typed; prices are not above the decimals typed. */
static brume_status read_numbers(const brume_threshold_words *words,
                                 brume_decimal_stream_options *out, brume_error *error)
{
    const char *answers = words->epsilon_answers ? words->epsilon_answers : "0";
    brume_signed_decimal most, price, extra;
    BRUME_TRY(brume_signed_decimal_parse(words->threshold, &out->threshold, error));
    BRUME_TRY(brume_signed_decimal_parse(words->epsilon, &price, error));
    BRUME_TRY(brume_signed_decimal_parse(answers, &extra, error));
    BRUME_TRY(
        brume_signed_decimal_parse(words->sensitivity ? words->sensitivity : "1", &most, error));
    out->sensitivity = most.size;
    out->rest = (brume_sparse_vector_options){.adjacency = BRUME_ADD_REMOVE, /* pure under any */
                                              .epsilon = brume_decimal_lower(&price.size),
                                              .epsilon_answers = brume_decimal_lower(&extra.size),
                                              .hits = words->hits,
                                              .monotone = words->monotone,
                                              .even_split = words->single};
    return BRUME_OK;
}

static void close_numbers(void *context)
{
    numbers *on = context;
    brume_decimal_stream_close(on->stream);
    brume_bits_close(on->bits);
    free(on);
}

brume_status brume_stream_numbers(const brume_threshold_words *words, brume_stream_source *out,
                                  brume_error *error)
{
    brume_decimal_stream_options options;
    BRUME_TRY(read_numbers(words, &options, error));
    numbers *on = calloc(1, sizeof *on);
    if (!on)
        return brume_no_memory(error, "a stream");
    brume_status status = brume_bits_open(&on->bits, error);
    if (status == BRUME_OK)
        status = brume_decimal_stream_open(&options, on->bits, &on->stream, error);
    if (status != BRUME_OK)
        close_numbers(on);
    else
        *out = (brume_stream_source){.ask = ask_number, .close = close_numbers, .context = on};
    return status;
}

/* ---- counts of conditions, most of them for free ----
 *
 * What private multiplicative weights promise (brume/synthetic/multiplicative_weights.h), for a
 * histogram in which each unit is one record. Memory is two numbers for each cell of the universe.
 */

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

static brume_status fill(weights_stream *all, const brume_charged_stream *on, double *counts,
                         brume_error *error)
{
    brume_rows_file rows;
    const brume_rows_of of = {.question = on->question, .each = 1};
    BRUME_TRY(brume_rows_read(&of, on->engine, on->bits, &rows, error));
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

/* What it draws with, which depends on the words typed alone: a stream over one record is opened
 * and forgotten. */
static brume_status find_events(const weights_stream *all, stream_charge *charge,
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

static brume_status read_weights(weights_stream *all, const brume_stream_asker *asker,
                                 brume_error *error)
{
    brume_adjacency adjacency = asker->dataset->adjacency;
    const brume_synth_words *words = &all->synth.words;
    bool told = words->records > 0;
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
    if (asker->has_user)
        BRUME_TRY(brume_user_limits_check(&all->synth.policy->per_user, asker->dataset->name, 0,
                                          (double)all->synth.universe.cells * CELL_SHARE, error));
    all->options =
        (brume_multiplicative_weights_options){.adjacency = adjacency,
                                               .epsilon = all->synth.options.epsilon,
                                               .rho = all->synth.options.rho,
                                               .alpha = words->alpha,
                                               .records = told ? (double)words->records : 1};
    return brume_workload_open(&all->synth.universe, &all->workload, error);
}

static brume_status run_weights(weights_stream *all, const brume_stream_asker *asker,
                                brume_error *error)
{
    const brume_synth_words *words = &all->synth.words;
    stream_charge charge = {.asker = asker,
                            .epsilon = words->epsilon,
                            .delta = words->delta,
                            .rho = words->rho,
                            .needs_rows = true,
                            .open = open_weights,
                            .close = close_weights,
                            .ask = ask_weights,
                            .context = all};
    BRUME_TRY(read_weights(all, asker, error));
    BRUME_TRY(find_events(all, &charge, error));
    return run_charged(&charge, error);
}

brume_status brume_stream_weights(const brume_stream_asker *asker, const brume_synth_words *words,
                                  brume_error *error)
{
    weights_stream all = {.bits = asker->bits};
    brume_status status = brume_synth_open(words, asker->dataset, &all.synth, error);
    if (status == BRUME_OK)
        status = run_weights(&all, asker, error);
    brume_workload_close(all.workload);
    brume_synth_clear(&all.synth);
    return status;
}
