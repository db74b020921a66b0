/* brume audit: does a shipped mechanism, or a whole query, keep its promise? A black-box test with
 * a certificate.
 *
 * Promises: what is sound is called a violation with probability at most 1 - confidence; what is
 * drawn comes from the functions that releases use. No data is read: of a query's datasets the
 * policies are, from a ledger that is not written to. */
#include "command/audit/audit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <brume/account/account.h>
#include <brume/mechanism/mechanism.h>

#include "command/account/account.h"
#include "command/frame/output.h"
#include "command/frame/watch.h"

static bool is_violation(const brume_audited *a)
{
    return a->result.epsilon_lower > a->claimed || a->result.delta_lower > a->delta;
}

/* The event that the verdict rests on: of delta where that alone is violated. */
static const brume_audit_event *witness_of(const brume_audited *a)
{
    bool by_delta = !(a->result.epsilon_lower > a->claimed) && a->result.delta_lower > a->delta;
    return by_delta ? &a->result.delta_event : &a->result.event;
}

static void event_text(const brume_audited *a, char *text, size_t size)
{
    brume_partition_text(&a->result.bins, &witness_of(a)->of, a->step, text, size);
}

/* Both errors of tests that exist: a false alarm on the first neighbour, and on the second none. */
static json_t *json_curve(const brume_audit_result *result)
{
    json_t *curve = json_array();
    for (size_t i = 0; i < BRUME_AUDIT_CURVE; i++)
        json_array_append_new(curve,
                              json_pack("{s:o, s:o}", "false_alarm_upper",
                                        brume_json_real(result->curve[i].q_upper), "miss_upper",
                                        brume_json_real(1 - result->curve[i].p_lower)));
    return curve;
}

json_t *brume_audited_witness(const brume_audited *a)
{
    const brume_audit_event *event = witness_of(a);
    char text[1200];
    event_text(a, text, sizeof text);
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:[I, I]}", "event", text, "outcome", a->outcome,
                     "neighbours", a->neighbours, "likelier", event->of.second ? "second" : "first",
                     "draws", (json_int_t)a->result.draws, "hits", (json_int_t)event->hits[0],
                     (json_int_t)event->hits[1]);
}

static brume_status write_json(brume_call *call, const brume_audited *a, brume_error *error)
{
    const brume_audit_result *result = &a->result;
    json_t *witness = brume_audited_witness(a);
    return brume_call_write_json(
        call,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:s, s:o, s:o}", "epsilon_claimed",
                  brume_json_real(a->claimed), "epsilon_lower",
                  brume_json_real(result->epsilon_lower), "delta", brume_json_real(a->delta),
                  "delta_lower", brume_json_real(result->delta_lower), "rho_lower",
                  brume_json_real(result->rho_lower), "confidence", brume_json_real(a->confidence),
                  "samples", (json_int_t)a->samples, "verdict",
                  is_violation(a) ? "violation" : "consistent", "witness", witness, "tradeoff",
                  json_curve(result)),
        error);
}

static void write_text(brume_call *call, const brume_audited *a)
{
    const brume_audit_result *result = &a->result;
    const brume_audit_event *event = witness_of(a);
    char text[1200];
    event_text(a, text, sizeof text);
    fprintf(call->out, "%s%s%s: epsilon >= %.6g at delta = %s, with confidence %s\n",
            brume_bold(call), is_violation(a) ? "violation" : "consistent", brume_plain(call),
            result->epsilon_lower, brume_shortest(a->delta).text,
            brume_shortest(a->confidence).text);
    fprintf(call->out, "claimed: epsilon <= %s\n", brume_shortest(a->claimed).text);
    if (a->delta > 0)
        fprintf(call->out, "delta at that epsilon >= %.6g, rho >= %.6g\n", result->delta_lower,
                result->rho_lower);
    char *texts[2] = {NULL, NULL};
    bool made = asprintf(&texts[0], "neighbours: %s; outcome: %s", a->neighbours, a->outcome) >=
                    0 &&
                asprintf(&texts[1],
                         "witness: %s, in %" PRIu64 " and %" PRIu64 " of %" PRIu64
                         " draws on each; others chose it",
                         text, event->hits[0], event->hits[1], result->draws) >= 0;
    fputs(brume_dim(call), call->out);
    for (size_t i = 0; made && i < 2; i++)
        brume_write_wrapped(call->out, texts[i], 0, 2);
    fputs(brume_plain(call), call->out);
    free(texts[0]);
    free(made ? texts[1] : NULL);
}

static brume_status check_expression(const brume_expression *expression, brume_error *error)
{
    if (expression->count != 1)
        return brume_fail(error, BRUME_EUNSUPPORTED, "audit each of them, account for all",
                          "an audit takes one mechanism, '+' joins %zu", expression->count);
    if (expression->has_unknown)
        return brume_fail(error, BRUME_EARGUMENT, "'brume calibrate' finds such a value",
                          "'%s' is '?', must be a number", expression->unknown.parameter->name);
    return BRUME_OK;
}

brume_status brume_audit_claim(const brume_event *event, double delta, double *claimed,
                               brume_error *error)
{
    brume_term *terms = NULL;
    brume_bound bound;
    const brume_card *card = brume_card_by_id(event->mechanism);
    if (card->broken) { /* the accountant claims nothing; who uses it wrongly claims this */
        size_t epsilon = brume_card_parameter(card, "epsilon");
        *claimed = event->parameter[epsilon] * (double)event->count;
        return BRUME_OK;
    }
    BRUME_TRY(brume_account_terms(event, 1, 1, BRUME_METHOD_AUTO, &terms, error));
    brume_status status = brume_account_epsilon(BRUME_METHOD_AUTO, terms, 1, delta, &bound, error);
    free(terms);
    if (status != BRUME_OK)
        return status;
    if (bound.infinite)
        return brume_fail(error, BRUME_EARGUMENT, "for example --delta 1e-3",
                          "no finite epsilon is claimed at delta = %g: there is nothing to audit",
                          delta);
    *claimed = bound.upper;
    return BRUME_OK;
}

static void tell(void *context, size_t done)
{
    brume_progress_update(context, done);
}

brume_status brume_audited_draw(const brume_call *call, brume_audited *a, brume_audit_draw *of,
                                const void *subject, brume_bits *bits, brume_error *error)
{
    brume_progress progress;
    brume_audit_options options = brume_audited_options(a);
    options.progress = tell;
    options.progress_context = &progress;
    brume_progress_start(&progress, call, "drawing", 2 * a->samples);
    brume_status status = brume_audit_epsilon(of, subject, &options, bits, &a->result, error);
    brume_progress_end(&progress);
    return status;
}

static const char *why_stopped(void *context)
{
    const brume_watch *watch = context;
    return watch->stopped(watch->context);
}

brume_audit_options brume_audited_options(const brume_audited *a)
{
    return (brume_audit_options){.samples = a->samples,
                                 .confidence = a->confidence,
                                 .delta = a->delta,
                                 .epsilon = a->claimed,
                                 .threads = a->threads,
                                 .ordered = a->ordered,
                                 .whole = a->whole,
                                 .stopped = a->watch ? why_stopped : NULL,
                                 .stopped_context = (void *)a->watch};
}

brume_status brume_audited_write(brume_call *call, const brume_audited *a, brume_error *error)
{
    if (call->json)
        return write_json(call, a, error);
    write_text(call, a);
    return BRUME_OK;
}

size_t brume_audit_processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (size_t)count : 1;
}

/* EXPR, --query or --program, and the options that belong to it. */
static brume_status check_words(const brume_call *call, brume_error *error)
{
    static const struct {
        const char *name;
        bool expression, query, program, command;
    } words[] = {{"epsilon", false, true, true, false},    {"rho", false, true, false, false},
                 {"ledger", false, true, false, false},    {"bounds", false, false, true, true},
                 {"adjacency", true, false, true, false},  {"exact", true, false, false, false},
                 {"neighbour", false, true, false, false}, {"windows", false, true, false, false},
                 {"limit", false, true, false, false},     {"delta", true, true, true, false}};
    bool query = brume_call_has(call, "query"), program = brume_call_has(call, "program");
    bool command = brume_call_has(call, "command");
    bool expression = brume_call_operand(call, 0) != NULL;
    if (query + program + command + expression != 1)
        return brume_fail(error, BRUME_EARGUMENT, "see 'brume help audit'",
                          "give one of EXPR, '--query SQL', '--command WORDS' and '--program "
                          "COMMAND'");
    if (query && brume_call_has(call, "adjacency"))
        return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                          "'--adjacency' is that of the datasets of a query");
    if (brume_call_has(call, "windows") && !brume_call_has(call, "neighbour"))
        return brume_fail(error, BRUME_EARGUMENT, "add --neighbour window",
                          "'--windows' goes with '--neighbour window'");
    if (brume_call_has(call, "exact") + brume_call_has(call, "time") +
            brume_call_has(call, "save") >
        1)
        return brume_fail(error, BRUME_EARGUMENT, "see 'brume help audit'",
                          "give one of '--exact', '--time' and '--save'");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        bool goes = query     ? words[i].query
                    : program ? words[i].program
                    : command ? words[i].command
                              : words[i].expression;
        if (brume_call_has(call, words[i].name) && !goes)
            return brume_fail(error, BRUME_EARGUMENT, "see 'brume help audit'",
                              "'--%s' does not go with %s", words[i].name,
                              query     ? "'--query'"
                              : program ? "'--program'"
                              : command ? "'--command'"
                                        : "EXPR");
    }
    return BRUME_OK;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_expression expression;
    brume_audited a = {.delta = brume_call_real(call, "delta", 0),
                       .confidence = brume_call_real(call, "confidence", 0.999)};
    BRUME_TRY(check_words(call, error));
    BRUME_TRY(brume_call_watch_noted(call, &a.watch, error));
    if (brume_call_has(call, "query"))
        return brume_audit_query(call, &a, error);
    if (brume_call_has(call, "program"))
        return brume_audit_program(call, &a, error);
    if (brume_call_has(call, "command"))
        return brume_audit_command(call, &a, error);
    BRUME_TRY(brume_call_expression(call, &expression, error));
    brume_status status = check_expression(&expression, error);
    if (status == BRUME_OK && brume_call_has(call, "exact"))
        status = brume_audit_exact(call, &expression.events[0], &a, error);
    else if (status == BRUME_OK)
        status = brume_audit_mechanism(call, &expression.events[0], &a, error);
    brume_expression_free(&expression);
    return status;
}

static const char *const neighbour_words[] = {"window", NULL};

const brume_command brume_command_audit = {
    .name = "audit",
    .summary = "attack a mechanism or a query: its epsilon from below",
    .usage =
        "EXPR|--query SQL|--command WORDS|--program COMMAND [--exact|--time] [--bounds LO..HI] [--epsilon E|--rho R] [--delta D] [--samples N] "
        "[--confidence C] [--adjacency A] [--ledger FILE] [--save DIR] [--timeout SECONDS]",
    .description =
        "Draws on two neighbours that are as bad for the mechanism as is known, the best of those that "
        "its card suggests, through the "
        "functions that releases use, on all processors. On some of the draws it looks for the event "
        "that tells them apart best, on the others it bounds the event's probabilities exactly. The result is "
        "a lower bound of epsilon that holds with the stated confidence whatever the program "
        "does: where it exceeds what the accountant claims, the promise is broken, and the event "
        "is the witness. The reverse is no proof: a fault that few draws meet is not found.\n\n"
        "It can audit every mechanism for which 'brume mechanisms NAME' says \"audited on\", also those "
        "that are broken on purpose, of which it finds a violation. A mechanism that is repeated is audited by "
        "the sum of its outcomes.\n\n"
        "With --exact the probability of every outcome is computed on both neighbours, for every pair "
        "that the card suggests, in both directions and under both adjacencies, and delta at every "
        "epsilon is compared with the accountant's: \"violation\", \"tight\", or \"loose\" and by how "
        "much. Nothing is left to chance.\n\n"
        "With --query the whole path of a SQL query is audited, from the printed SQL to the table that "
        "an analyst sees, at the claimed price. The neighbours are small tables, made from the policies "
        "of the datasets and the literals of the query: the data is not read and nothing is spent; a "
        "PostgreSQL server gets them as constants in the SQL. Of "
        "some such pairs the one that the answers tell apart best is drawn from. Under the rule "
        "concentrated the claim is the epsilon that rho has at a delta of 0.01. With --save DIR the tables "
        "are kept as 1-TABLE.csv and 2-TABLE.csv, the query as query.sql, and event.json says how an "
        "answer is scored, which scores are the event and how often they came: for datasets of files.\n\n"
        "With --command a statistic or a synthetic table is audited as it is shipped: the words are those of "
        "'brume release' or 'brume synth' without a ledger, TABLE stands for the source and OUTPUT for "
        "the file that synth writes (whose name ends in .csv). The tables are those of --program, the claim "
        "is the price that the command names, and all that it says or writes is looked at.\n\n"
        "With --program anybody's mechanism is attacked: the command is run by the shell with the "
        "name of a CSV file, whose column \"value\" has numbers within --bounds, and a number of "
        "answers to print, each independent of the others, a line each. The tables differ by one "
        "row, or in one row with --adjacency replace; --epsilon and --delta are what it claims. Beside "
        "the number that is printed its bits are looked at: noise made of floating-point numbers "
        "reaches other numbers from one neighbour than from the other.\n\n"
        "With --time answers are drawn one at a time, in pairs, and their times are compared: tau is "
        "how much likelier it is that the answer on the second neighbour (or the larger of two "
        "outcomes) took longer than that it took less time; 0 where the time tells nothing. "
        "\"violation\" says that an interval leaves 0 out.",
    BRUME_OPERANDS(
        BRUME_OPERAND(EXPRESSION, "EXPR",
                      "one mechanism, e.g. 'laplace(scale=2)' or 'discrete_laplace(scale=10)*5'",
                      .optional = true)),
    BRUME_OPTIONS(
        BRUME_OPTION(
            TEXT, "query", "SQL",
            "instead of EXPR: a query over registered datasets, at the price that follows"),
        BRUME_OPTION(TEXT, "command", "WORDS",
                     "instead of EXPR: 'release ...' or 'synth ...' with TABLE for the source"),
        BRUME_OPTION(
            TEXT, "program", "COMMAND",
            "instead of EXPR: a program, run as 'COMMAND FILE COUNT', that prints COUNT answers"),
        BRUME_OPTION(
            TEXT, "bounds", "LO..HI",
            "with --program and --command: of the numbers in the table: 0..1 unless typed"),
        BRUME_OPTION(
            TEXT, "epsilon", "E",
            "with --query: its price, the whole budget unless typed; nothing is spent; with "
            "--program: what it claims"),
        BRUME_OPTION(TEXT, "rho", "R", "with --query: its price under the rule concentrated"),
        BRUME_OPTION(
            CHOICE, "neighbour", "window",
            "with --query: the neighbours differ in one unit's rows of one window of a table "
            "that grows, and the claim is what that window pays",
            .choices = neighbour_words),
        BRUME_OPTION(TEXT, "windows", "FIRST..LAST",
                     "with --neighbour window: the windows that are read"),
        BRUME_OPTION(TEXT, "limit", "[COLUMN=]T", "with --query: as 'brume query' takes it",
                     .repeated = true),
        BRUME_OPTION(
            COUNT, "samples", "N",
            "draws on each neighbour: 200000 unless typed, 20000 of slow mechanisms, 2000 of queries",
            BRUME_FROM_TO(100, 1 << 28)),
        BRUME_OPTION(TEXT, "save", "DIR",
                     "keep both neighbours, what was asked and the event in this folder"),
        BRUME_FLAG(
            "time",
            "instead of epsilon: does the time of an answer tell the neighbour, or the value?"),
        BRUME_FLAG("exact",
                   "no draws: the whole output law against the claim, where the card states one"),
        BRUME_PROBABILITY_OPTION(
            "confidence", "C",
            "a sound mechanism is accused with probability at most 1 - C: 0.999 unless typed"),
        BRUME_DELTA_OPTION(
            "audit epsilon at this delta: 0 unless typed; with --query, as 'brume query' takes it"),
        BRUME_ADJACENCY_OPTION, BRUME_LEDGER_OPTION,
        BRUME_OPTION(REAL, "timeout", "SECONDS", "end after this time, without a result",
                     BRUME_ABOVE_TO(0, BRUME_TIMEOUT_MOST))),
    BRUME_EXAMPLES(
        "audit 'discrete_laplace(scale=2)'", "audit 'gaussian(sigma=1)' --delta 0.01 --json",
        "audit 'sparse_vector(epsilon=1, hits=2)' --samples 20000",
        "audit 'randomized_response(epsilon=1)' --confidence 0.999999",
        "audit 'above_threshold(epsilon=1)' --exact",
        "audit 'laplace(scale=1)' --time --samples 10000",
        "audit --command 'release sum TABLE --column value --bounds 0..1 --epsilon 1' --samples 200",
        "audit --query 'SELECT ward, COUNT(*) FROM visits GROUP BY ward' --epsilon 1 --samples 200"),
    .run = run,
};
