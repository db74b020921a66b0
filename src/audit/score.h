/* From a released table to one number: which of two databases does it speak for?
 *
 * A table is read as features: which keys are in it, the numbers of each, and texts. From examples
 * of both databases each feature gets a weight, its difference over its variance; the score is the
 * weighted sum. It is post-processing of the answer with weights that are fixed before the draws
 * that count, so that every bound made with it holds; a poor score only finds less. */
#ifndef BRUME_AUDIT_SCORE_H
#define BRUME_AUDIT_SCORE_H

#include <stdbool.h>
#include <stdint.h>

#include <brume/status.h>

#include "query/release/answer.h"

typedef struct brume_score brume_score;

BRUME_MUST_USE brume_status brume_score_open(brume_score **out, brume_error *error);
void brume_score_close(brume_score *score);

/* An example: an answer, on the first database or the second. Those with
 * little noise (`sharp`) say how features differ, the others how much they vary. */
BRUME_MUST_USE brume_status brume_score_learn(brume_score *score, const brume_query_answer *answer,
                                              bool second, bool sharp, brume_error *error);

/* Fix the weights, when there are some of each; how well they should tell the databases apart, in
 * squared deviations. */
double brume_score_settle(brume_score *score);

/* The score of an answer, in steps of a 64th of a deviation. */
int64_t brume_score_of(const brume_score *score, const brume_query_answer *answer);

#endif
