/* brume audit --program: somebody else's program, on tables that are made for it, against what it
 * claims. */
#include "command/audit/audit.h"

#include <stdlib.h>
#include <string.h>

#include "audit/program_subject.h"

/* A number that ends at `end`: the point of "0.." is not its own. */
static bool read_number(const char *text, const char *end, double *out)
{
    char copy[64], *rest = NULL;
    size_t length = (size_t)(end - text);
    if (length == 0 || length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    *out = strtod(copy, &rest);
    return !*rest;
}

brume_status brume_audit_bounds(const char *text, double *low, double *high, brume_error *error)
{
    *low = 0;
    *high = 1;
    if (!text)
        return BRUME_OK;
    const char *dots = strstr(text, "..");
    if (dots && read_number(text, dots, low) && read_number(dots + 2, text + strlen(text), high) &&
        *low < *high)
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, "for example --bounds 0..100",
                      "'--bounds' is '%s', must be LO..HI", text);
}

typedef struct attack {
    const char *command;
    double low, high;
    brume_adjacency adjacency;
} attack;

/* Answers that were printed once, as a brume_audit_draw: for looking at them in several ways. */
typedef struct printed {
    const brume_program_subject *subject;
    brume_program_answer *answers[2];
    size_t count;
} printed;

static brume_status draw_printed(const void *context, bool second, brume_bits *bits, int64_t *out,
                                 size_t n, brume_error *error)
{
    (void)bits;
    const printed *all = context;
    if (n != all->count) /* a second call would give the same ones again */
        return brume_fail(error, BRUME_EINTERNAL, NULL, "not all answers are asked for at once");
    for (size_t i = 0; i < n; i++)
        out[i] = brume_program_subject_outcome(all->subject, &all->answers[second][i]);
    return BRUME_OK;
}

/* What bits tell, they tell loudly: a little more than the value promises is luck. */
static const double LUCK = .5;

/* What a few draws promised most of, so far. */
typedef struct choice {
    size_t pair;
    brume_program_view view;
    double promise;
} choice;

static brume_status try_views(brume_program_subject *subject, const brume_audited *a,
                              const printed *all, size_t pair, choice *best, brume_error *error)
{
    brume_audit_options options = brume_audited_options(a);
    options.threads = 1; /* all of them in one call */
    for (brume_program_view view = BRUME_VIEW_VALUE; view < BRUME_VIEWS; view++) {
        double epsilon = 0, delta = 0;
        brume_program_subject_look(subject, view, a->claimed);
        BRUME_TRY(brume_audit_guess(draw_printed, all, &options, all->count, NULL, &epsilon, &delta,
                                    error));
        if (view != BRUME_VIEW_VALUE)
            epsilon -= LUCK;
        if (epsilon > best->promise)
            *best = (choice){pair, view, epsilon};
    }
    return BRUME_OK;
}

static brume_status try_pair(const attack *of, const brume_audited *a, size_t few, size_t pair,
                             choice *best, brume_error *error)
{
    brume_program_subject *subject = NULL;
    BRUME_TRY(brume_program_subject_open(of->command, of->low, of->high, of->adjacency, pair,
                                         &subject, error));
    printed all = {subject, {NULL, NULL}, few};
    brume_status status = BRUME_OK;
    for (int second = 0; status == BRUME_OK && second < 2; second++) {
        brume_audit_options options = brume_audited_options(a);
        all.answers[second] = malloc(few * sizeof *all.answers[second]);
        status = all.answers[second] ? brume_audit_check_stopped(&options, error)
                                     : brume_no_memory(error, "an audit");
        if (status == BRUME_OK)
            status =
                brume_program_subject_run(subject, second != 0, all.answers[second], few, error);
    }
    if (status == BRUME_OK)
        status = try_views(subject, a, &all, pair, best, error);
    free(all.answers[0]);
    free(all.answers[1]);
    brume_program_subject_close(subject);
    return status;
}

/* The pair of tables, and the way to look at answers, of which a few draws promise most. */
static brume_status choose(const attack *of, const brume_audited *a, choice *best,
                           brume_error *error)
{
    enum { LEAST = 100, MOST = BRUME_AUDIT_WHOLE };
    size_t few = a->samples / 4;
    few = few < LEAST ? LEAST : few > MOST ? MOST : few;
    *best = (choice){0, BRUME_VIEW_VALUE, -INFINITY};
    for (size_t pair = 0; pair < brume_program_pairs(); pair++)
        BRUME_TRY(try_pair(of, a, few, pair, best, error));
    return BRUME_OK;
}

/* Both tables, the command and the event. */
static brume_status save(brume_call *call, const brume_program_subject *subject,
                         const brume_audited *a, brume_error *error)
{
    const char *folder = brume_call_text(call, "save");
    if (!folder)
        return BRUME_OK;
    BRUME_TRY(brume_program_subject_save(subject, folder, error));
    BRUME_TRY(
        brume_audit_save_text(folder, "command.txt", brume_call_text(call, "program"), error));
    BRUME_TRY(
        brume_audit_save_event(folder, a, "samples", json_integer((json_int_t)a->samples), error));
    if (!call->json)
        fprintf(call->out,
                "saved in %s: 1.csv and 2.csv, command.txt, event.json\n"
                "rerun: the command with each table and a number of answers\n",
                folder);
    return BRUME_OK;
}

static brume_status audit(brume_call *call, brume_program_subject *subject, brume_audited *a,
                          brume_error *error)
{
    a->neighbours = brume_program_subject_neighbours(subject);
    a->step = brume_program_subject_step(subject);
    a->outcome = brume_program_subject_words(subject);
    if (brume_call_has(call, "time"))
        return brume_audited_time(call, a, brume_program_subject_draw, subject, NULL, error);
    BRUME_TRY(brume_audited_draw(call, a, brume_program_subject_draw, subject, NULL, error));
    BRUME_TRY(brume_audited_write(call, a, error));
    return save(call, subject, a, error);
}

brume_status brume_audit_program(brume_call *call, brume_audited *a, brume_error *error)
{
    attack of = {.command = brume_call_text(call, "program")};
    brume_program_subject *subject = NULL;
    choice best = {0, BRUME_VIEW_VALUE, 0};
    const char *epsilon = brume_call_text(call, "epsilon");
    char *end = NULL;
    BRUME_TRY(brume_audit_bounds(brume_call_text(call, "bounds"), &of.low, &of.high, error));
    const char *adjacency = brume_call_text(call, "adjacency");
    of.adjacency = adjacency && strcmp(adjacency, "replace") == 0 ? BRUME_REPLACE
                                                                  : BRUME_ADD_REMOVE;
    a->claimed = epsilon ? strtod(epsilon, &end) : NAN;
    if (!epsilon || *end || !(a->claimed >= 0 && a->claimed < 1000))
        return brume_fail(error, BRUME_EARGUMENT, "for example --epsilon 1",
                          "'--epsilon' must say what the program claims");
    bool timed = brume_call_has(call, "time");
    a->samples = brume_call_count(call, "samples", timed ? 200 : 20000);
    a->whole = true;
    BRUME_TRY(brume_audit_make_folder(brume_call_text(call, "save"), error));
    if (!timed)
        BRUME_TRY(choose(&of, a, &best, error));
    BRUME_TRY(brume_program_subject_open(of.command, of.low, of.high, of.adjacency, best.pair,
                                         &subject, error));
    brume_program_subject_look(subject, best.view, a->claimed);
    brume_status status = audit(call, subject, a, error);
    brume_program_subject_close(subject);
    return status;
}
