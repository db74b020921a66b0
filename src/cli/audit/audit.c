/* brume audit: does a shipped mechanism, or a whole query, keep its promise? A black-box test with
 * a certificate.
 *
 * Promises: what is sound is called a violation with probability at most 1 - confidence; what is
 * drawn comes from the functions that releases use. No data is read: of a query's datasets the
 * policies are, from a ledger that is not written to. */
#include "cli/audit/audit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <brume/account/account.h>
#include <brume/mechanism/mechanism.h>

#include "audit/subject.h"
#include "cli/frame/progress.h"
#include "cli/account/releases.h"
#include "cli/frame/wrap.h"

static bool is_violation(const brume_audited *a)
{
    return a->result.epsilon_lower > a->claimed;
}

/* "outcome >= 3", "outcome in {0, 2}" */
static void event_text(const brume_audited *a, char *text, size_t size)
{
    const brume_audit_event *event = &a->result.event;
    if (event->kind != BRUME_AUDIT_ONE_OF) {
        snprintf(text, size, "outcome %s %s", event->kind == BRUME_AUDIT_AT_LEAST ? ">=" : "<=",
                 brume_shortest(a->step * (double)event->threshold).text);
        return;
    }
    int length = snprintf(text, size, "outcome in {");
    for (size_t i = 0; i < event->count && (size_t)length < size; i++)
        length += snprintf(text + length, size - (size_t)length, "%s%s", i ? ", " : "",
                           brume_shortest(a->step * (double)event->outcomes[i]).text);
    if ((size_t)length < size)
        snprintf(text + length, size - (size_t)length, "}");
}

static brume_status write_json(brume_call *call, const brume_audited *a, brume_error *error)
{
    const brume_audit_result *result = &a->result;
    char event[1200];
    event_text(a, event, sizeof event);
    json_t *witness = json_pack("{s:s, s:s, s:s, s:s, s:I, s:[I, I]}", "event", event, "outcome",
                                a->outcome, "neighbours", a->neighbours, "likelier",
                                result->event.second ? "second" : "first", "draws",
                                (json_int_t)result->draws, "hits", (json_int_t)result->hits[0],
                                (json_int_t)result->hits[1]);
    return brume_call_write_json(
        call,
        json_pack("{s:o, s:o, s:o, s:o, s:I, s:s, s:o}", "epsilon_claimed",
                  brume_json_real(a->claimed), "epsilon_lower",
                  brume_json_real(result->epsilon_lower), "delta", brume_json_real(a->delta),
                  "confidence", brume_json_real(a->confidence), "samples", (json_int_t)a->samples,
                  "verdict", is_violation(a) ? "violation" : "consistent", "witness", witness),
        error);
}

static void write_text(brume_call *call, const brume_audited *a)
{
    const brume_audit_result *result = &a->result;
    char event[1200];
    event_text(a, event, sizeof event);
    fprintf(call->out, "%s%s%s: epsilon >= %.6g at delta = %s, with confidence %s\n",
            brume_bold(call), is_violation(a) ? "violation" : "consistent", brume_plain(call),
            result->epsilon_lower, brume_shortest(a->delta).text,
            brume_shortest(a->confidence).text);
    fprintf(call->out, "claimed: epsilon <= %s\n", brume_shortest(a->claimed).text);
    char *texts[2] = {NULL, NULL};
    bool made = asprintf(&texts[0], "neighbours: %s; outcome: %s", a->neighbours, a->outcome) >=
                    0 &&
                asprintf(&texts[1],
                         "witness: %s, in %" PRIu64 " and %" PRIu64 " of %" PRIu64
                         " draws on each; as many more chose it",
                         event, result->hits[0], result->hits[1], result->draws) >= 0;
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

typedef struct watched {
    brume_audit_draw *draw;
    const void *subject;
    brume_progress *progress;
    size_t samples;
} watched;

/* The subject's draws, in parts that are told to the progress bar. */
static brume_status draw(const void *context, bool second, brume_bits *bits, int64_t *out, size_t n,
                         brume_error *error)
{
    const watched *w = context;
    size_t step = n / 100 + 1;
    for (size_t done = 0; done < n; done += step) {
        size_t part = n - done < step ? n - done : step;
        BRUME_TRY(w->draw(w->subject, second, bits, out + done, part, error));
        brume_progress_update(w->progress, done + (second ? w->samples : 0));
    }
    return BRUME_OK;
}

brume_status brume_audited_draw(brume_audited *a, brume_audit_draw *of, const void *subject,
                                brume_bits *bits, brume_error *error)
{
    brume_audit_options options = {a->samples, a->confidence, a->delta};
    brume_progress progress;
    watched watch = {of, subject, &progress, a->samples};
    brume_progress_start(&progress, "drawing", 2 * a->samples);
    brume_status status = brume_audit_epsilon(draw, &watch, &options, bits, &a->result, error);
    brume_progress_end(&progress);
    return status;
}

brume_status brume_audited_write(brume_call *call, const brume_audited *a, brume_error *error)
{
    if (call->json)
        return write_json(call, a, error);
    write_text(call, a);
    return BRUME_OK;
}

static brume_status audit(brume_call *call, const brume_event *event, brume_audited *a,
                          brume_error *error)
{
    brume_subject *subject = NULL;
    brume_bits *bits = NULL;
    BRUME_TRY(brume_subject_open(event, &subject, error));
    a->samples = brume_call_count(call, "samples", brume_subject_samples(subject));
    brume_status status = brume_audit_claim(event, a->delta, &a->claimed, error);
    if (status == BRUME_OK)
        status = brume_bits_open(&bits, error);
    if (status == BRUME_OK)
        status = brume_audited_draw(a, brume_subject_draw, subject, bits, error);
    brume_bits_close(bits);
    a->step = brume_subject_step(subject);
    a->neighbours = brume_subject_neighbours(subject);
    a->outcome = brume_subject_outcome(subject);
    brume_subject_close(subject);
    return status == BRUME_OK ? brume_audited_write(call, a, error) : status;
}

/* EXPR or --query, and the options that belong to it. */
static brume_status check_words(const brume_call *call, bool query, brume_error *error)
{
    static const char *const of_query[] = {"epsilon", "rho", "ledger"};
    if (query == (brume_call_operand(call, 0) != NULL))
        return brume_fail(error, BRUME_EARGUMENT, "see 'brume help audit'",
                          query ? "EXPR and '--query' are both given"
                                : "give EXPR, or '--query SQL'");
    for (size_t i = 0; !query && i < sizeof of_query / sizeof *of_query; i++)
        if (brume_call_has(call, of_query[i]))
            return brume_fail(error, BRUME_EARGUMENT, NULL, "'--%s' goes with '--query'",
                              of_query[i]);
    if (query && brume_call_has(call, "adjacency"))
        return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                          "'--adjacency' is that of the datasets of a query");
    return BRUME_OK;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_expression expression;
    bool query = brume_call_has(call, "query");
    brume_audited a = {.delta = brume_call_real(call, "delta", 0),
                       .confidence = brume_call_real(call, "confidence", 0.999)};
    BRUME_TRY(check_words(call, query, error));
    if (query)
        return brume_audit_query(call, &a, error);
    BRUME_TRY(brume_call_expression(call, &expression, error));
    brume_status status = check_expression(&expression, error);
    if (status == BRUME_OK)
        status = audit(call, &expression.events[0], &a, error);
    brume_expression_free(&expression);
    return status;
}

static const brume_operand operands[] = {
    {.name = "EXPR",
     .type = BRUME_OPERAND_EXPRESSION,
     .optional = true,
     .help = "one mechanism, e.g. 'laplace(scale=2)' or 'discrete_laplace(scale=10)*5'"},
};

static const brume_option options[] = {
    {.name = "query",
     .type = BRUME_OPTION_TEXT,
     .argument = "SQL",
     .help = "instead of EXPR: a query over registered datasets, at the price that follows"},
    {.name = "epsilon",
     .type = BRUME_OPTION_TEXT,
     .argument = "E",
     .help = "with --query: its price, the whole budget unless typed; nothing is spent"},
    {.name = "rho",
     .type = BRUME_OPTION_TEXT,
     .argument = "R",
     .help = "with --query: its price under the rule concentrated"},
    {.name = "samples",
     .type = BRUME_OPTION_COUNT,
     .argument = "N",
     .least = 100,
     .most = 1 << 28,
     .help =
         "draws on each neighbour: 200000 unless typed, 20000 of slow mechanisms, 2000 of queries"},
    BRUME_PROBABILITY_OPTION(
        "confidence", "C",
        "a sound mechanism is accused with probability at most 1 - C: 0.999 unless typed"),
    BRUME_DELTA_OPTION(
        "audit epsilon at this delta: 0 unless typed; with --query, as 'brume query' takes it"),
    BRUME_ADJACENCY_OPTION,
    BRUME_LEDGER_OPTION,
};

static const char *const examples[] = {
    "audit 'discrete_laplace(scale=2)'",
    "audit 'gaussian(sigma=1)' --delta 0.01 --json",
    "audit 'sparse_vector(epsilon=1, hits=2)' --samples 20000",
    "audit 'randomized_response(epsilon=1)' --confidence 0.999999",
    "audit --query 'SELECT ward, COUNT(*) FROM visits GROUP BY ward' --epsilon 1 --samples 200",
    NULL,
};

const brume_command brume_command_audit = {
    .name = "audit",
    .summary = "attack a mechanism or a query: its epsilon from below",
    .usage = "EXPR|--query SQL [--epsilon E|--rho R] [--delta D] [--samples N] [--confidence C] "
             "[--adjacency A] [--ledger FILE]",
    .description =
        "Draws on two neighbours that are as bad for the mechanism as is known, through the "
        "functions that releases use. On half of the draws it looks for the event that tells them "
        "apart best, on the other half it bounds the event's probabilities exactly. The result is "
        "a lower bound of epsilon that holds with the stated confidence whatever the program "
        "does: where it exceeds what the accountant claims, the promise is broken, and the event "
        "is the witness. The reverse is no proof: a fault that few draws meet is not found.\n\n"
        "It can audit every mechanism for which 'brume mechanisms NAME' says \"audited on\", also those "
        "that are broken on purpose, of which it finds a violation. A mechanism that is repeated is audited by "
        "the sum of its outcomes.\n\n"
        "With --query the whole path of a SQL query is audited, from the printed SQL to the table that "
        "an analyst sees, at the claimed price. The neighbours are small tables, made from the policies "
        "of the datasets and the literals of the query: the data is not read and nothing is spent; a "
        "PostgreSQL server gets them as constants in the SQL. Of "
        "some such pairs the one that the answers tell apart best is drawn from. Under the rule "
        "concentrated the claim is the epsilon that rho has at a delta of 0.01.",
    .operands = BRUME_LIST(operands),
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
