/* brume stream above-threshold, sparse-vector, pmw: questions of a stream, paid for once. The words
 * typed, and the answers as text; query/stream/stream.h answers. */
#include "command/stream/stream.h"

#include <inttypes.h>
#include <string.h>

#include "command/frame/watch.h"
#include "command/host.h"
#include "command/ledger/open_ledger.h"
#include "command/synth/words.h"

/* ---- answers ---- */

/* "below", "above", "above 123", or an object. */
static void write_hit(const brume_call *call, uint64_t index, const brume_stream_answer *answer)
{
    if (call->json)
        fprintf(call->out, "{\"index\": %" PRIu64 ", \"above\": %s, \"value\": ", index,
                answer->above ? "true" : "false");
    else
        fputs(answer->above ? "above" : "below", call->out);
    if (call->json && answer->has_value)
        fputs(brume_shortest(answer->value).text, call->out);
    else if (call->json)
        fputs("null", call->out);
    else if (answer->has_value)
        fprintf(call->out, " %.10g", answer->value);
    if (call->json)
        fprintf(call->out, ", \"hits_left\": %" PRIu64 ", \"halted\": %s}", answer->hits_left,
                answer->halted ? "true" : "false");
    fputc('\n', call->out);
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

/* Answer what whoever runs the command asks (host.h). EUNSUPPORTED where nobody does. */
static brume_status run_questions(void *context, const brume_stream_source *source,
                                  brume_error *error)
{
    brume_call *call = context;
    const brume_host *host = call->host;
    if (host && host->questions)
        return host->questions(host->context, call, source, error);
    if (source->close)
        source->close(source->context);
    return brume_fail(error, BRUME_EUNSUPPORTED, "open it as a stream, then ask",
                      "'%s' answers questions one by one, not in one call", call->command->name);
}

/* ---- how far a stream has come ---- */

brume_status brume_stream_pause(const brume_stream_source *source,
                                const brume_stream_progress *progress, brume_error *error)
{
    return source->pause ? source->pause(source->context, progress->asked, progress->hits, error)
                         : BRUME_OK;
}

brume_status brume_stream_answer_line(brume_call *call, const brume_stream_source *source,
                                      const char *line, brume_stream_progress *progress,
                                      brume_error *error)
{
    brume_stream_answer answer = {0};
    progress->index++;
    if (!line || strlen(line) > BRUME_STREAM_LINE_MOST)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "more than %d bytes, or a byte that is 0",
                          (int)BRUME_STREAM_LINE_MOST);
    BRUME_TRY(source->ask(source->context, line, &answer, error));
    call->command->answer(call, progress->index, &answer);
    progress->asked++;
    progress->hits += answer.above;
    progress->halted = answer.halted;
    return BRUME_OK;
}

/* ---- the words ---- */

static brume_status describe(brume_call *call, const char **what, brume_error *error)
{
    static const char *const local[] = {"ledger", "timeout", NULL};
    enum { MOST = 4096 };
    BRUME_TRY(brume_call_describe(call, call->command->name, local, false, what, error));
    return strlen(*what) < MOST ? BRUME_OK
                                : brume_fail(error, BRUME_EARGUMENT, NULL,
                                             "the options are longer than %d bytes", MOST);
}

/* The registered dataset, and what it takes to ask it. */
static brume_status open_asker(brume_call *call, brume_stream_asker *out, brume_error *error)
{
    brume_dataset *dataset = NULL;
    *out = (brume_stream_asker){
        .run = run_questions, .context = call, .has_user = call->host && call->host->user};
    BRUME_TRY(brume_call_watch(call, &out->watch, error));
    BRUME_TRY(brume_call_open_bits(call, &out->bits, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &out->ledger, error));
    BRUME_TRY(brume_call_open_dataset(call, out->ledger, brume_call_text(call, "dataset"), &dataset,
                                      error));
    out->dataset = dataset;
    out->windows = brume_call_text(call, "windows");
    return describe(call, &out->what, error);
}

static brume_status run_threshold(brume_call *call, bool single, brume_error *error)
{
    const brume_threshold_words words = {
        .threshold = brume_call_text(call, "threshold"),
        .epsilon = brume_call_text(call, "epsilon"),
        .epsilon_answers = brume_call_text(call, "epsilon-answers"),
        .sensitivity = brume_call_text(call, "sensitivity"),
        .hits = brume_call_count(call, "hits", 1),
        .monotone = brume_call_has(call, "monotone"),
        .single = single};
    brume_stream_asker asker;
    brume_stream_source source;
    bool dataset = brume_call_has(call, "dataset");
    if (brume_call_has(call, "no-ledger") == dataset)
        return brume_fail(
            error, BRUME_EARGUMENT,
            "with --dataset each line is a condition; with --no-ledger it is a number, "
            "and nobody keeps account",
            "give '--dataset' or '--no-ledger'%s", dataset ? ", not both" : "");
    if (dataset) {
        BRUME_TRY(open_asker(call, &asker, error));
        return brume_stream_conditions(&asker, &words, error);
    }
    if (brume_call_has(call, "ledger"))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'--ledger' does not apply with '--no-ledger'");
    BRUME_TRY(brume_call_check_timeout(call, error));
    BRUME_TRY(brume_stream_numbers(&words, &source, error));
    return run_questions(call, &source, error);
}

static brume_status run_single(brume_call *call, brume_error *error)
{
    return run_threshold(call, true, error);
}

static brume_status run_several(brume_call *call, brume_error *error)
{
    return run_threshold(call, false, error);
}

static brume_status run_weights(brume_call *call, brume_error *error)
{
    brume_synth_words words;
    brume_stream_asker asker;
    BRUME_TRY(brume_synth_read_words(call, &words, error));
    BRUME_TRY(open_asker(call, &asker, error));
    words.method = "pmw";
    words.is_stream = true;
    words.replace = asker.dataset->adjacency == BRUME_REPLACE;
    words.watch = asker.watch;
    return brume_stream_weights(&asker, &words, error);
}

/* ---- the commands ---- */

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
        BRUME_WINDOW_OPTION, BRUME_TIMEOUT_OPTION, BRUME_PROJECT_OPTION, BRUME_LEDGER_OPTION

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
    .answer = write_hit,
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
    .answer = write_hit,
    .run = run_several,
};

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
        BRUME_OPTION(TEXT, "epsilon", "E", "the price of the whole stream"), BRUME_WINDOW_OPTION,
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
        BRUME_TIMEOUT_OPTION, BRUME_PROJECT_OPTION, BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES(
        "stream pmw --dataset visits --columns ward,age --epsilon 0.2 --alpha 0.2 --records 400 < "
        "questions.txt"),
    .answer = write_count,
    .run = run_weights,
};
