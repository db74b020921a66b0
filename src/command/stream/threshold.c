/* brume stream above-threshold, brume stream sparse-vector: which questions of a stream are above a
 * threshold, paid for once.
 *
 * Promises: pure epsilon (+ epsilon for numbers) for everything that is printed, however many lines
 * come and however they were chosen, given that one unit moves no number by more than the
 * sensitivity; halts by itself; memory does not grow with the lines. */
#include "command/stream/stream.h"

#include <stdlib.h>
#include <string.h>

#include "command/frame/watch.h"
#include "mechanism/threshold/decimal_stream.h"

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
static brume_status read_options(const brume_call *call, bool single,
                                 brume_decimal_stream_options *out, brume_error *error)
{
    const char *sensitivity = brume_call_text(call, "sensitivity");
    const char *answers = brume_call_text(call, "epsilon-answers");
    brume_signed_decimal most, price, extra;
    BRUME_TRY(
        brume_signed_decimal_parse(brume_call_text(call, "threshold"), &out->threshold, error));
    BRUME_TRY(brume_signed_decimal_parse(brume_call_text(call, "epsilon"), &price, error));
    BRUME_TRY(brume_signed_decimal_parse(answers ? answers : "0", &extra, error));
    BRUME_TRY(brume_signed_decimal_parse(sensitivity ? sensitivity : "1", &most, error));
    out->sensitivity = most.size;
    out->rest = (brume_sparse_vector_options){.adjacency = BRUME_ADD_REMOVE, /* pure under any */
                                              .epsilon = brume_decimal_lower(&price.size),
                                              .epsilon_answers = brume_decimal_lower(&extra.size),
                                              .hits = brume_call_count(call, "hits", 1),
                                              .monotone = brume_call_has(call, "monotone"),
                                              .even_split = single};
    return BRUME_OK;
}

static void close_numbers(void *context)
{
    numbers *on = context;
    brume_decimal_stream_close(on->stream);
    brume_bits_close(on->bits);
    free(on);
}

/* Numbers have neither rows nor a price that others must know of: whoever asks may keep them. */
static brume_status run_numbers(brume_call *call, const brume_decimal_stream_options *options,
                                brume_error *error)
{
    numbers *on = calloc(1, sizeof *on);
    if (!on)
        return brume_no_memory(error, "a stream");
    brume_status status = brume_bits_open(&on->bits, error);
    if (status == BRUME_OK)
        status = brume_decimal_stream_open(options, on->bits, &on->stream, error);
    if (status != BRUME_OK) {
        close_numbers(on);
        return status;
    }
    return brume_stream_run(call,
                            &(brume_stream_source){.ask = ask_number,
                                                   .write = brume_stream_write_hit,
                                                   .close = close_numbers,
                                                   .context = on},
                            error);
}

static brume_status run_stream(brume_call *call, bool single, brume_error *error)
{
    brume_decimal_stream_options options;
    if (brume_call_has(call, "no-ledger") == brume_call_has(call, "dataset"))
        return brume_fail(
            error, BRUME_EARGUMENT,
            "with --dataset each line is a condition; with --no-ledger it is a number, "
            "and nobody keeps account",
            "give '--dataset' or '--no-ledger'%s",
            brume_call_has(call, "dataset") ? ", not both" : "");
    if (brume_call_has(call, "dataset"))
        return brume_stream_conditions(call, single, error);
    if (brume_call_has(call, "ledger"))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'--ledger' does not apply with '--no-ledger'");
    BRUME_TRY(brume_call_check_timeout(call, error));
    BRUME_TRY(read_options(call, single, &options, error));
    return run_numbers(call, &options, error);
}

static brume_status run_single(brume_call *call, brume_error *error)
{
    return run_stream(call, true, error);
}

static brume_status run_several(brume_call *call, brume_error *error)
{
    return run_stream(call, false, error);
}

#define STREAM_OPTIONS                                                                             \
    BRUME_OPTION(REAL, "threshold", "T", "what the numbers are compared with; public",             \
                 .required = true),                                                                \
        BRUME_OPTION(REAL, "epsilon", "E", "the price of the whole stream, numbers apart",         \
                     .required = true, BRUME_BETWEEN(0, INFINITY)),                                \
        BRUME_POSITIVE_OPTION("epsilon-answers", "E2",                                             \
                              "the additional price of a number with every 'above'"),              \
        BRUME_POSITIVE_OPTION("sensitivity", "S",                                                  \
                              "the most that one unit moves any number; 1 unless given"),          \
        BRUME_FLAG(                                                                                \
            "monotone",                                                                            \
            "one unit moves all numbers in one direction, as counts under add-remove: less "       \
            "noise"),                                                                              \
        BRUME_OPTION(                                                                              \
            TEXT, "dataset", "NAME",                                                               \
            "each line is a condition whose units are counted in this registered dataset"),        \
        BRUME_FLAG("no-ledger", "each line is a true number, and nobody keeps account"),           \
        BRUME_TIMEOUT_OPTION, BRUME_LEDGER_OPTION

#define STREAM_DESCRIPTION                                                                         \
    "Reads one question a line from standard input and answers each at once: 'below' or 'above', " \
    "with --json one object a line with index, above, value, hits_left and halted. The next line " \
    "may be chosen after the last answer. The price is for the whole stream, however many lines "  \
    "come.\n\n"                                                                                    \
    "With --dataset a line is a condition, as after WHERE: the question is how many units of the " \
    "registered dataset have a row that satisfies it. The price is on the ledger before the "      \
    "first answer and stays spent however the stream ends; 'brume history' tells how far it "      \
    "came. One stream at a time runs on a ledger. Noise is in whole units, and the threshold is "  \
    "rounded up to one.\n\n"                                                                       \
    "With --no-ledger a line is a true number, a decimal, which is secret. The threshold gets "    \
    "noise once and every number fresh noise; the answer tells whether it is then at least the "   \
    "threshold. With --epsilon-answers every 'above' comes with a number that has fresh noise of " \
    "its own. Numbers are taken as exact decimals and rounded down to steps of a 1024th of the "   \
    "sensitivity (coarser for a very small epsilon).\n\n"                                          \
    "A line that is wrong is reported on standard error with its number, costs nothing, and "      \
    "the stream goes on; it counts in index. The end of input ends the stream. How far off an "    \
    "answer may be: 'brume accuracy'."

const brume_command brume_command_stream_above_threshold = {
    .name = "stream above-threshold",
    .summary = "find the first of a stream of questions above a threshold",
    .usage = "--threshold T --epsilon E (--dataset NAME | --no-ledger) [OPTION...]",
    .description = STREAM_DESCRIPTION
    "\n\nHalts after the first 'above'. The noise is Laplace's of "
    "scale 2S/epsilon on the threshold and 4S/epsilon on every "
    "number.",
    BRUME_OPTIONS(STREAM_OPTIONS),
    BRUME_EXAMPLES(
        "stream above-threshold --threshold 600 --epsilon 1 --no-ledger < numbers.txt",
        "stream above-threshold --threshold 600 --epsilon 0.2 --dataset visits < conditions.txt"),
    .asks = true,
    .run = run_single,
};

const brume_command brume_command_stream_sparse_vector = {
    .name = "stream sparse-vector",
    .summary = "find the questions of a stream above a threshold",
    .usage = "--threshold T --epsilon E [--hits C] (--dataset NAME | --no-ledger) [OPTION...]",
    .description = STREAM_DESCRIPTION "\n\nHalts after --hits answers 'above'. Epsilon is divided "
                                      "between the threshold and the numbers as is best for that "
                                      "many hits.",
    BRUME_OPTIONS(STREAM_OPTIONS, BRUME_OPTION(COUNT, "hits", "C",
                                               "halt after so many answers 'above': 1 unless given",
                                               BRUME_FROM_TO(1, 2147483648))),
    BRUME_EXAMPLES("stream sparse-vector --threshold 600 --epsilon 1 --hits 2 --epsilon-answers 1 "
                   "--no-ledger --json < numbers.txt"),
    .asks = true,
    .run = run_several,
};
