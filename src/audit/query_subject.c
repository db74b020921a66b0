/* The answers of a query on two neighbouring databases. */
#include "audit/query_subject.h"

#include <stdlib.h>

#include "audit/neighbours.h"
#include "audit/score.h"
#include "base/error.h"
#include "query/release/ask.h"

/* Pairs that are tried; examples of each database of a pair, with little noise and as audited. */
enum { PAIRS = 6, SHARP = 6, EXAMPLES = 24 };

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

/* One answer, unless somebody wants to stop. */
static brume_status draw(const brume_query_subject *subject, brume_plan *plan, bool second,
                         brume_bits *bits, brume_query_answer **answer, brume_error *error)
{
    const brume_watch *watch = subject->watch;
    if (watch && watch->stopped(watch->context))
        return brume_fail(error, BRUME_ECANCELLED, NULL, "interrupted; nothing was spent");
    brume_engine *engine = brume_neighbours_engine(subject->neighbours, second);
    return brume_draw_answer(subject->question, plan, engine, bits, NULL, answer, error);
}

/* Examples of one database; `sharp`: with hardly any noise. */
static brume_status learn(const brume_query_subject *subject, brume_plan *plan, bool second,
                          bool sharp, size_t count, brume_bits *bits, brume_error *error)
{
    for (size_t i = 0; i < count; i++) {
        brume_query_answer *answer = NULL;
        BRUME_TRY(draw(subject, plan, second, bits, &answer, error));
        brume_status status = brume_score_learn(subject->score, answer, second, sharp, error);
        brume_query_answer_close(answer);
        BRUME_TRY(status);
    }
    return BRUME_OK;
}

/* Make a pair and learn its score; *separation says how well it does. */
static brume_status try_pair(brume_query_subject *subject, brume_plan *sharp, const char *sql,
                             uint64_t number, brume_bits *bits, double *separation,
                             brume_error *error)
{
    BRUME_TRY(brume_score_open(&subject->score, error));
    brume_plan *plan = subject->plan;
    uint64_t threshold =
        plan->shape.private_keys && plan->price.threshold > 0 ? (uint64_t)plan->price.threshold : 0;
    BRUME_TRY(brume_neighbours_open(subject->question, plan->adjacency, sql, threshold, number,
                                    &subject->neighbours, error));
    for (int second = 0; second < 2; second++) {
        BRUME_TRY(learn(subject, sharp, second != 0, true, SHARP, bits, error));
        BRUME_TRY(learn(subject, plan, second != 0, false, EXAMPLES, bits, error));
    }
    *separation = brume_score_settle(subject->score);
    return BRUME_OK;
}

brume_status brume_query_subject_open(const brume_question *question, brume_plan *plan,
                                      brume_plan *sharp, const char *sql, brume_bits *bits,
                                      const brume_watch *watch, brume_query_subject **out,
                                      brume_error *error)
{
    brume_query_subject *best = NULL;
    double best_separation = -1;
    for (uint64_t number = 0; number < PAIRS; number++) {
        brume_query_subject *next = calloc(1, sizeof *next);
        double separation = 0;
        brume_status status = BRUME_OK;
        if (next) {
            next->question = question;
            next->plan = plan;
            next->watch = watch;
            status = try_pair(next, sharp, sql, number, bits, &separation, error);
        } else {
            status = brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for an audit");
        }
        if (status != BRUME_OK) {
            brume_query_subject_close(next);
            brume_query_subject_close(best);
            return status;
        }
        if (separation > best_separation) {
            brume_query_subject_close(best);
            best = next;
            best_separation = separation;
        } else {
            brume_query_subject_close(next);
        }
    }
    *out = best;
    return BRUME_OK;
}

brume_status brume_query_subject_draw(const void *context, bool second, brume_bits *bits,
                                      int64_t *out, size_t n, brume_error *error)
{
    const brume_query_subject *subject = context;
    for (size_t i = 0; i < n; i++) {
        brume_query_answer *answer = NULL;
        BRUME_TRY(draw(subject, subject->plan, second, bits, &answer, error));
        out[i] = brume_score_of(subject->score, answer);
        brume_query_answer_close(answer);
    }
    return BRUME_OK;
}

const char *brume_query_subject_neighbours(const brume_query_subject *subject)
{
    return brume_neighbours_words(subject->neighbours);
}

const char *brume_query_subject_outcome(void)
{
    return "a weighted sum of the released table, in 64ths of its deviation";
}
