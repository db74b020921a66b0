/* The answers of a query on two neighbouring databases. */
#include "audit/query_subject.h"

#include <math.h>
#include <stdlib.h>

#include "audit/neighbours.h"
#include "audit/score.h"
#include "base/error.h"
#include "query/release/ask.h"

/* Examples of each database of a pair, at first and of the best; how many are the best. */
enum { LEAST_EXAMPLES = 8, MOST_EXAMPLES = 200, LEAST_LEARNED = 40, MOST_LEARNED = 600, BEST = 3 };

struct brume_query_subject {
    const brume_question *question;
    brume_plan *plan;
    const brume_watch *watch;
    brume_neighbours *neighbours;
    brume_score *score;
};

void brume_query_subject_close(brume_query_subject *subject)
{
    if (!subject)
        return;
    brume_neighbours_close(subject->neighbours);
    brume_score_close(subject->score);
    free(subject);
}

/* Is it something that an analyst is told, and not a fault of the machine? */
static bool is_refusal(brume_status status)
{
    return status != BRUME_OK && status != BRUME_ECANCELLED && status != BRUME_EMEMORY &&
           status != BRUME_EDISK;
}

/* One answer (NULL: it was refused, *refused says how), unless somebody wants to stop. */
static brume_status draw(const brume_query_subject *subject, bool second, brume_bits *bits,
                         brume_query_answer **answer, brume_error *refused, brume_error *error)
{
    const brume_watch *watch = subject->watch;
    if (watch && watch->stopped(watch->context))
        return brume_fail(error, BRUME_ECANCELLED, NULL, "interrupted; nothing was spent");
    brume_engine *engine = brume_neighbours_engine(subject->neighbours, second);
    *refused = (brume_error){0};
    brume_status status =
        brume_draw_answer(subject->question, subject->plan, engine, bits, NULL, answer, refused);
    if (status == BRUME_OK || is_refusal(status)) {
        refused->status = status;
        return BRUME_OK;
    }
    if (error)
        *error = *refused;
    return status;
}

/* A score from `count` examples of each database; *separation says how well it does. */
static brume_status learn(brume_query_subject *subject, size_t count, brume_bits *bits,
                          double *separation, brume_error *error)
{
    size_t refusals = 0;
    brume_error refused = {.status = BRUME_EINTERNAL};
    brume_score_close(subject->score);
    subject->score = NULL;
    BRUME_TRY(brume_score_open(count, &subject->score, error));
    for (size_t i = 0; i < 2 * count; i++) {
        brume_query_answer *answer = NULL;
        bool second = i % 2 != 0;
        BRUME_TRY(draw(subject, second, bits, &answer, &refused, error));
        refusals += !answer;
        brume_status status = brume_score_learn(subject->score, answer, &refused, second, error);
        brume_query_answer_close(answer);
        BRUME_TRY(status);
    }
    if (refusals == 2 * count) { /* there is nothing to audit */
        if (error)
            *error = refused;
        return refused.status;
    }
    *separation = brume_score_settle(subject->score);
    return BRUME_OK;
}

/* What the search knows. */
typedef struct search {
    const char *sql;
    const brume_audit_options *options;
    brume_recipe_hints hints;
    brume_bits *bits;
    brume_query_subject *best[BEST]; /* by falling separation; NULL: there is none yet */
    double separation[BEST];
} search;

static brume_recipe_hints hints_of(const brume_plan *plan, double epsilon)
{
    brume_recipe_hints hints = {.epsilon = epsilon};
    if (plan->shape.private_keys)
        hints.threshold = plan->price.threshold;
    for (size_t m = 0; m < plan->measurement_count; m++)
        for (size_t i = 0; i < plan->measure_count; i++)
            if (plan->measures[i].threshold > hints.threshold)
                hints.threshold = plan->measures[i].threshold;
    return hints;
}

/* Put it in its place among the best; the last falls out. */
static void rank(search *s, brume_query_subject *next, double separation)
{
    for (size_t i = 0; i < BEST; i++) {
        if (s->best[i] && s->separation[i] >= separation)
            continue;
        brume_query_subject *moved = s->best[i];
        double before = s->separation[i];
        s->best[i] = next;
        s->separation[i] = separation;
        next = moved;
        separation = before;
        if (!next)
            return;
    }
    brume_query_subject_close(next);
}

static size_t between(size_t least, size_t count, size_t most)
{
    return count < least ? least : count > most ? most : count;
}

static brume_status try_pair(search *s, const brume_query_subject *like, size_t number,
                             brume_error *error)
{
    brume_query_subject *next = malloc(sizeof *next);
    double separation = 0;
    if (!next)
        return brume_no_memory(error, "an audit");
    *next = *like;
    size_t examples = between(LEAST_EXAMPLES, s->options->samples / 40, MOST_EXAMPLES);
    brume_status status = brume_neighbours_open(next->question, next->plan->adjacency, s->sql,
                                                &s->hints, number, &next->neighbours, error);
    if (status == BRUME_OK)
        status = learn(next, examples, s->bits, &separation, error);
    if (status != BRUME_OK) {
        brume_query_subject_close(next);
        return status;
    }
    rank(s, next, separation);
    return BRUME_OK;
}

/* The best of the best: each learns from more examples, and draws that are scored decide. */
static brume_status decide(search *s, size_t *chosen, brume_error *error)
{
    size_t count = between(LEAST_LEARNED, s->options->samples / 8, MOST_LEARNED);
    double most = -INFINITY;
    *chosen = 0;
    for (size_t i = 0; i < BEST && s->best[i]; i++) {
        double unused, epsilon, delta;
        BRUME_TRY(learn(s->best[i], count, s->bits, &unused, error));
        BRUME_TRY(brume_audit_guess(brume_query_subject_draw, s->best[i], s->options, count,
                                    s->bits, &epsilon, &delta, error));
        if (epsilon > most) {
            most = epsilon;
            *chosen = i;
        }
    }
    return BRUME_OK;
}

brume_status brume_query_subject_open(const brume_question *question, brume_plan *plan,
                                      const char *sql, const brume_audit_options *options,
                                      brume_bits *bits, const brume_watch *watch,
                                      brume_query_subject **out, brume_error *error)
{
    search s = {sql, options, hints_of(plan, options->epsilon), bits, {NULL}, {0}};
    brume_query_subject like = {question, plan, watch, NULL, NULL};
    size_t chosen = 0, pairs = brume_neighbours_count(question, &s.hints);
    brume_status status = BRUME_OK;
    for (size_t number = 0; status == BRUME_OK && number < (pairs ? pairs : 1); number++)
        status = try_pair(&s, &like, number, error);
    if (status == BRUME_OK)
        status = decide(&s, &chosen, error);
    if (status == BRUME_OK) {
        *out = s.best[chosen];
        s.best[chosen] = NULL;
    }
    for (size_t i = 0; i < BEST; i++)
        brume_query_subject_close(s.best[i]);
    return status;
}

brume_status brume_query_subject_draw(const void *context, bool second, brume_bits *bits,
                                      int64_t *out, size_t n, brume_error *error)
{
    const brume_query_subject *subject = context;
    for (size_t i = 0; i < n; i++) {
        brume_query_answer *answer = NULL;
        brume_error refused;
        BRUME_TRY(draw(subject, second, bits, &answer, &refused, error));
        out[i] = brume_score_of(subject->score, answer, &refused);
        brume_query_answer_close(answer);
    }
    return BRUME_OK;
}

json_t *brume_query_subject_score(const brume_query_subject *subject)
{
    return brume_score_to_json(subject->score);
}

brume_status brume_query_subject_save(const brume_query_subject *subject, const char *folder,
                                      brume_error *error)
{
    return brume_neighbours_save(subject->neighbours, folder, error);
}

const char *brume_query_subject_neighbours(const brume_query_subject *subject)
{
    return brume_neighbours_words(subject->neighbours);
}

const char *brume_query_subject_outcome(void)
{
    return "a weighted sum of the released table, in 64ths of its deviation";
}
