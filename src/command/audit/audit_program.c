/* brume audit --program: somebody else's program, on tables that are made for it, against what it
 * claims. */
#include "command/audit/audit.h"

#include <stdlib.h>
#include <string.h>

#include "audit/program_subject.h"

/* "LO..HI" */
static brume_status read_bounds(const char *text, double *low, double *high, brume_error *error)
{
    char *end = NULL;
    *low = 0;
    *high = 1;
    if (!text)
        return BRUME_OK;
    *low = strtod(text, &end);
    if (end != text && strncmp(end, "..", 2) == 0) {
        const char *rest = end + 2;
        *high = strtod(rest, &end);
        if (end != rest && !*end && *low < *high)
            return BRUME_OK;
    }
    return brume_fail(error, BRUME_EARGUMENT, "for example --bounds 0..100",
                      "'--bounds' is '%s', must be LO..HI", text);
}

typedef struct attack {
    const char *command;
    double low, high;
    brume_adjacency adjacency;
} attack;

/* The pair of tables of which a few draws promise most. */
static brume_status choose_pair(const attack *of, const brume_audited *a, size_t *chosen,
                                brume_error *error)
{
    size_t few = a->samples / 10 < 100 ? 100 : a->samples / 10;
    double best = -INFINITY;
    for (size_t pair = 0; pair < brume_program_pairs(); pair++) {
        brume_program_subject *next = NULL;
        brume_audit_options options = brume_audited_options(a);
        double epsilon = 0, delta = 0;
        BRUME_TRY(brume_program_subject_open(of->command, of->low, of->high, of->adjacency, pair,
                                             &next, error));
        brume_status status = brume_audit_guess(brume_program_subject_draw, next, &options, few,
                                                NULL, &epsilon, &delta, error);
        brume_program_subject_close(next);
        BRUME_TRY(status);
        if (epsilon > best) {
            best = epsilon;
            *chosen = pair;
        }
    }
    return BRUME_OK;
}

brume_status brume_audit_program(brume_call *call, brume_audited *a, brume_error *error)
{
    attack of = {.command = brume_call_text(call, "program")};
    brume_program_subject *subject = NULL;
    size_t pair = 0;
    const char *epsilon = brume_call_text(call, "epsilon");
    char *end = NULL;
    BRUME_TRY(read_bounds(brume_call_text(call, "bounds"), &of.low, &of.high, error));
    const char *adjacency = brume_call_text(call, "adjacency");
    of.adjacency = adjacency && strcmp(adjacency, "replace") == 0 ? BRUME_REPLACE
                                                                  : BRUME_ADD_REMOVE;
    a->claimed = epsilon ? strtod(epsilon, &end) : NAN;
    if (!epsilon || *end || !(a->claimed >= 0 && a->claimed < 1000))
        return brume_fail(error, BRUME_EARGUMENT, "for example --epsilon 1",
                          "'--epsilon' must say what the program claims");
    a->samples = brume_call_count(call, "samples", 20000);
    a->step = brume_program_subject_step();
    a->outcome = "what the program prints";
    a->whole = true;
    BRUME_TRY(choose_pair(&of, a, &pair, error));
    BRUME_TRY(brume_program_subject_open(of.command, of.low, of.high, of.adjacency, pair, &subject,
                                         error));
    a->neighbours = brume_program_subject_neighbours(subject);
    brume_status status =
        brume_audited_draw(call, a, brume_program_subject_draw, subject, NULL, error);
    brume_program_subject_close(subject);
    return status == BRUME_OK ? brume_audited_write(call, a, error) : status;
}
