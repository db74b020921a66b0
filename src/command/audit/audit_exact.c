/* brume audit EXPR --exact: the output law itself against the accountant's claim, on every pair of
 * neighbours that the card suggests, in both directions, under both adjacencies. */
#include "command/audit/audit.h"

#include <stdlib.h>

#include <brume/account/account.h>
#include <brume/mechanism/mechanism.h>

#include "audit/exact.h"

enum { MOST_PAIRS = 8, MOST_SIDES = 2 * MOST_PAIRS };

/* Everything under one adjacency. */
typedef struct exact_case {
    brume_adjacency adjacency;
    brume_subject *subjects[MOST_PAIRS]; /* that have a law */
    brume_exact_law *laws[MOST_PAIRS];
    size_t pairs;
    brume_exact_side sides[MOST_SIDES]; /* two a pair */
    size_t best;                        /* the side with the largest epsilon */
    double claimed;                     /* epsilon at delta; may be infinite */
    brume_interval epsilon;
    brume_exact_result result;
} exact_case;

static void close_case(exact_case *c)
{
    for (size_t i = 0; i < c->pairs; i++) {
        brume_exact_close(c->laws[i]);
        brume_subject_close(c->subjects[i]);
    }
}

static const char *adjacency_name(const exact_case *c)
{
    return c->adjacency == BRUME_REPLACE ? "replace"
           : c->adjacency == BRUME_EDGE  ? "edge"
                                         : "add-remove";
}

static const char *neighbours(const exact_case *c, size_t side)
{
    return brume_subject_neighbours(c->subjects[side / 2]);
}

static const char *likelier(const exact_case *c, size_t side)
{
    return c->sides[side].reversed ? "second" : "first";
}

/* ---- comparing ---- */

static brume_status claimed_delta(const void *context, double epsilon, double *delta,
                                  brume_error *error)
{
    brume_bound bound;
    BRUME_TRY(brume_account_delta(BRUME_METHOD_AUTO, context, 1, epsilon, &bound, error));
    *delta = bound.upper;
    return BRUME_OK;
}

static brume_status open_laws(exact_case *c, const brume_event *event,
                              const brume_audit_options *options, brume_error *error)
{
    size_t pairs = brume_subject_pairs(event);
    for (size_t pair = 0; pair < (pairs > 0 ? pairs : 1) && c->pairs < MOST_PAIRS; pair++) {
        brume_subject *subject = NULL;
        BRUME_TRY(brume_subject_open(event, pair, &subject, error));
        brume_status status = BRUME_OK;
        brume_exact_law *law = NULL;
        if (brume_subject_has_law(subject))
            status = brume_exact_open(subject, options, &law, error);
        if (!law) {
            brume_subject_close(subject);
            BRUME_TRY(status);
            continue;
        }
        for (int reversed = 0; reversed < 2; reversed++)
            c->sides[2 * c->pairs + (size_t)reversed] = (brume_exact_side){law, reversed != 0};
        c->subjects[c->pairs] = subject;
        c->laws[c->pairs++] = law;
    }
    return BRUME_OK;
}

static brume_status examine(exact_case *c, const brume_term *term, double delta,
                            const brume_audit_options *options, brume_error *error)
{
    brume_bound bound;
    BRUME_TRY(brume_account_epsilon(BRUME_METHOD_AUTO, term, 1, delta, &bound, error));
    c->claimed = bound.infinite ? INFINITY : bound.upper;
    for (size_t i = 0; i < 2 * c->pairs; i++) {
        BRUME_TRY(brume_audit_check_stopped(options, error));
        brume_interval epsilon = brume_exact_epsilon(c->sides[i].law, c->sides[i].reversed, delta);
        if (i == 0 || epsilon.lower > c->epsilon.lower) {
            c->epsilon.lower = epsilon.lower;
            c->best = i;
        }
        c->epsilon.upper = fmax(c->epsilon.upper, epsilon.upper);
    }
    return brume_exact_compare(c->sides, 2 * c->pairs, claimed_delta, term, c->claimed, options,
                               &c->result, error);
}

static brume_status audit_case(exact_case *c, const brume_event *event, double delta,
                               const brume_audit_options *options, brume_error *error)
{
    brume_term *terms = NULL;
    brume_event claimed = *event;
    const brume_card *card = brume_card_by_id(event->mechanism);
    c->adjacency = event->adjacency;
    if (card->broken) { /* who uses it wrongly claims this */
        claimed = (brume_event){.mechanism = brume_card_by_name("pure")->id,
                                .adjacency = event->adjacency,
                                .sensitivity = 1,
                                .count = 1};
        claimed.parameter[0] = event->parameter[brume_card_parameter(card, "epsilon")];
    }
    BRUME_TRY(open_laws(c, event, options, error));
    if (c->pairs == 0)
        return brume_fail(error, BRUME_EUNSUPPORTED, "leave '--exact' out: draws will do",
                          "the card of %s states no exact law for this", card->name);
    BRUME_TRY(brume_account_terms(&claimed, 1, 1, BRUME_METHOD_AUTO, &terms, error));
    brume_status status = examine(c, terms, delta, options, error);
    free(terms);
    return status;
}

/* ---- the result ---- */

static json_t *json_point(const exact_case *c, const brume_exact_point *point)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:s, s:s}", "epsilon", brume_json_real(point->epsilon),
                     "delta_claimed", brume_json_real(point->claimed), "delta_lower",
                     brume_json_real(point->delta.lower), "delta_upper",
                     brume_json_real(point->delta.upper), "neighbours", neighbours(c, point->side),
                     "likelier", likelier(c, point->side));
}

static json_t *json_case(const exact_case *c)
{
    json_t *profile = json_array();
    for (size_t i = 0; i < c->result.count; i++)
        json_array_append_new(profile, json_point(c, &c->result.points[i]));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "adjacency", adjacency_name(c),
                     "verdict", brume_exact_verdict_name(c->result.verdict), "epsilon_claimed",
                     brume_json_real(c->claimed), "epsilon_lower",
                     brume_json_real(c->epsilon.lower), "epsilon_upper",
                     brume_json_real(c->epsilon.upper), "worst",
                     json_point(c, &c->result.points[c->result.worst]), "profile", profile);
}

/* The worse verdict first. */
static const exact_case *chosen(const exact_case *cases, size_t count)
{
    return count > 1 && cases[1].result.verdict > cases[0].result.verdict ? &cases[1] : &cases[0];
}

static brume_status write_json(brume_call *call, const exact_case *cases, size_t count,
                               double delta, brume_error *error)
{
    const exact_case *c = chosen(cases, count);
    size_t outcomes = brume_exact_outcomes(c->sides[c->best].law);
    double outcome = brume_subject_step(c->subjects[c->best / 2]) *
                     (double)brume_exact_witness(c->sides[c->best].law, c->sides[c->best].reversed);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_case(&cases[i]));
    json_t *witness = json_pack("{s:s, s:s, s:s, s:o, s:I}", "neighbours", neighbours(c, c->best),
                                "adjacency", adjacency_name(c), "likelier", likelier(c, c->best),
                                "outcome", brume_json_real(outcome), "outcomes",
                                (json_int_t)outcomes);
    return brume_call_write_json(
        call,
        json_pack("{s:o, s:o, s:o, s:o, s:s, s:o, s:o}", "epsilon_claimed",
                  brume_json_real(c->claimed), "epsilon_lower", brume_json_real(c->epsilon.lower),
                  "epsilon_upper", brume_json_real(c->epsilon.upper), "delta",
                  brume_json_real(delta), "verdict", brume_exact_verdict_name(c->result.verdict),
                  "witness", witness, "cases", list),
        error);
}

static void write_case(brume_call *call, const exact_case *c, double delta)
{
    const brume_exact_point *worst = &c->result.points[c->result.worst];
    fprintf(call->out, "%s%s%s under %s: epsilon = %.9g at delta = %s", brume_bold(call),
            brume_exact_verdict_name(c->result.verdict), brume_plain(call), adjacency_name(c),
            c->epsilon.lower, brume_shortest(delta).text);
    if (isinf(c->claimed))
        fputs(", where no finite epsilon is claimed\n", call->out);
    else
        fprintf(call->out, ", claimed is %s\n", brume_shortest(c->claimed).text);
    fprintf(call->out, "%s  %zu pair%s of neighbours in both directions; largest: %s\n",
            brume_dim(call), c->pairs, c->pairs == 1 ? "" : "s", neighbours(c, c->best));
    if (c->result.verdict == BRUME_EXACT_TIGHT)
        fprintf(call->out, "  delta is what is claimed at all of %zu epsilons\n", c->result.count);
    else
        fprintf(call->out,
                "  delta %s what is claimed most at epsilon = %.6g: it is %.6g, claimed is %.6g\n",
                c->result.verdict == BRUME_EXACT_LOOSE ? "is below" : "exceeds", worst->epsilon,
                worst->delta.lower, worst->claimed);
    fputs(brume_plain(call), call->out);
}

brume_status brume_audit_exact(brume_call *call, const brume_event *event, const brume_audited *a,
                               brume_error *error)
{
    double delta = a->delta;
    brume_audit_options options = brume_audited_options(a);
    static const brume_adjacency both[] = {BRUME_ADD_REMOVE, BRUME_REPLACE};
    exact_case *cases = calloc(2, sizeof *cases);
    size_t count = 0;
    if (!cases)
        return brume_no_memory(error, "an audit");
    const brume_card *card = brume_card_by_id(event->mechanism);
    brume_status status = BRUME_OK;
    if (brume_call_has(call, "adjacency"))
        status = audit_case(&cases[count++], event, delta, &options, error);
    for (size_t i = 0; status == BRUME_OK && !brume_call_has(call, "adjacency") && i < 2; i++) {
        brume_event under = *event;
        under.adjacency = both[i];
        if (card->adjacencies & (unsigned)both[i])
            status = audit_case(&cases[count++], &under, delta, &options, error);
    }
    if (status == BRUME_OK && call->json)
        status = write_json(call, cases, count, delta, error);
    for (size_t i = 0; status == BRUME_OK && !call->json && i < count; i++)
        write_case(call, &cases[i], delta);
    for (size_t i = 0; i < 2; i++)
        close_case(&cases[i]);
    free(cases);
    return status;
}
