/* brume audit EXPR: a shipped mechanism on the neighbours that its card suggests. */
#include <math.h>
#include <stdlib.h>

#include "audit/subject.h"
#include "base/error.h"
#include "command/audit/audit.h"

/* Choose two of the pairs that the card suggests: a few draws say which promises most for epsilon,
 * and which for delta. */
static brume_status choose_pairs(const brume_event *event, const brume_audited *a, brume_bits *bits,
                                 size_t chosen[2], brume_error *error)
{
    enum { LEAST = 2000, MOST = 1 << 18, SHARE = 10 };
    size_t few = a->samples / SHARE;
    few = few < LEAST ? LEAST : few > MOST ? MOST : few;
    double best[2] = {-1, 0};
    size_t pairs = brume_subject_pairs(event);
    for (size_t pair = 0; pairs > 1 && pair < pairs; pair++) {
        brume_subject *next = NULL;
        double found[2] = {0, 0};
        BRUME_TRY(brume_subject_open(event, pair, &next, error));
        brume_audit_options options = brume_audited_options(a);
        brume_status status = brume_audit_guess(brume_subject_draw, next, &options, few, bits,
                                                &found[0], &found[1], error);
        brume_subject_close(next);
        BRUME_TRY(status);
        for (int of_delta = 0; of_delta < 2; of_delta++)
            if (found[of_delta] > best[of_delta]) {
                best[of_delta] = found[of_delta];
                chosen[of_delta] = pair;
            }
    }
    if (!(a->delta > 0 && best[1] > 0))
        chosen[1] = chosen[0];
    return BRUME_OK;
}

static brume_status audit_pair(const brume_call *call, const brume_event *event, size_t pair,
                               brume_audited *a, brume_bits *bits, brume_error *error)
{
    brume_subject *subject = NULL;
    BRUME_TRY(brume_subject_open(event, pair, &subject, error));
    brume_status status = brume_audited_draw(call, a, brume_subject_draw, subject, bits, error);
    a->step = brume_subject_step(subject);
    a->neighbours = brume_subject_neighbours(subject);
    a->outcome = brume_subject_outcome(subject);
    brume_subject_close(subject);
    return status;
}

/* Both of two audits, each of which had half of the alarm: the larger bounds, and the witness of
 * the one that finds a violation. */
static void join(brume_audited *a, const brume_audited *other)
{
    const brume_audit_result found = a->result;
    bool broken = found.epsilon_lower > a->claimed || found.delta_lower > a->delta;
    if (!broken &&
        (other->result.epsilon_lower > a->claimed || other->result.delta_lower > a->delta))
        *a = *other;
    a->result.epsilon_lower = fmax(found.epsilon_lower, other->result.epsilon_lower);
    a->result.delta_lower = fmax(found.delta_lower, other->result.delta_lower);
    a->result.rho_lower = fmax(found.rho_lower, other->result.rho_lower);
}

/* Where delta is better attacked on other neighbours, these are drawn from too. */
static brume_status audit_pairs(const brume_call *call, const brume_event *event, brume_audited *a,
                                brume_bits *bits, brume_error *error)
{
    size_t pairs[2] = {0, 0};
    BRUME_TRY(choose_pairs(event, a, bits, pairs, error));
    if (pairs[0] == pairs[1])
        return audit_pair(call, event, pairs[0], a, bits, error);
    double confidence = a->confidence;
    brume_audited *other = malloc(sizeof *other);
    if (!other)
        return brume_no_memory(error, "an audit");
    a->confidence = 1 - (1 - confidence) / 2;
    *other = *a;
    brume_status status = audit_pair(call, event, pairs[0], a, bits, error);
    if (status == BRUME_OK)
        status = audit_pair(call, event, pairs[1], other, bits, error);
    if (status == BRUME_OK)
        join(a, other);
    a->confidence = confidence;
    free(other);
    return status;
}

/* The neighbours that the card suggests first, an answer at a time. */
static brume_status time_it(brume_call *call, const brume_event *event, brume_audited *a,
                            brume_bits *bits, brume_error *error)
{
    brume_subject *subject = NULL;
    BRUME_TRY(brume_subject_open(event, 0, &subject, error));
    a->neighbours = brume_subject_neighbours(subject);
    a->outcome = brume_subject_outcome(subject);
    brume_status status = brume_audited_time(call, a, brume_subject_draw, subject, bits, error);
    brume_subject_close(subject);
    return status;
}

brume_status brume_audit_mechanism(brume_call *call, const brume_event *event, brume_audited *a,
                                   brume_error *error)
{
    brume_subject *subject = NULL;
    brume_bits *bits = NULL;
    BRUME_TRY(brume_subject_open(event, 0, &subject, error));
    a->samples = brume_call_count(call, "samples", brume_subject_samples(subject));
    a->threads = brume_audit_processors();
    brume_subject_close(subject);
    bool timed = brume_call_has(call, "time");
    if (!timed)
        BRUME_TRY(brume_audit_claim(event, a->delta, &a->claimed, error));
    BRUME_TRY(brume_audit_make_folder(brume_call_text(call, "save"), error));
    BRUME_TRY(brume_bits_open(&bits, error));
    brume_status status = timed ? time_it(call, event, a, bits, error)
                                : audit_pairs(call, event, a, bits, error);
    brume_bits_close(bits);
    if (status == BRUME_OK && !timed)
        status = brume_audited_write(call, a, error);
    return status == BRUME_OK && !timed ? brume_audit_save_mechanism(call, a, error) : status;
}
