/* From a released table to one number: which of two databases does it speak for?
 *
 * A table is read as features: which keys are in it, the numbers of each row, as they are and over
 * their error, texts, and what is said of each column; a refusal is a feature too. From examples of
 * both databases each feature's values are cut into bins, and every bin gets the logarithm of the
 * quotient of its two frequencies, shrunk where that may be luck. The score is their sum. It is
 * post-processing of what an analyst sees, with weights that are fixed before the draws that count,
 * so that every bound made with it holds; a poor score only finds less. */
#ifndef BRUME_AUDIT_SCORE_H
#define BRUME_AUDIT_SCORE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <brume/status.h>

#include "query/release/answer.h"

typedef struct brume_score brume_score;

/* For so many examples of each database. */
BRUME_MUST_USE brume_status brume_score_open(size_t examples, brume_score **out,
                                             brume_error *error);
void brume_score_close(brume_score *score);

/* An example of the first database or the second: an answer, or (NULL) the refusal `refused`. */
BRUME_MUST_USE brume_status brume_score_learn(brume_score *score, const brume_query_answer *answer,
                                              const brume_error *refused, bool second,
                                              brume_error *error);

/* Fix the weights, when there are some of each; how well they should tell the databases apart: the
 * difference of the mean scores. */
double brume_score_settle(brume_score *score);

/* The score of an answer or a refusal, in steps of 1/64. Threads may share a settled score. */
int64_t brume_score_of(const brume_score *score, const brume_query_answer *answer,
                       const brume_error *refused);

/* A settled score as JSON: {"base", "steps", "features": [{"name", "edges", "weights", "absent"}]}.
 * The score is base plus, for each feature that an answer has, the weight of its value's bin less
 * absent, times steps, rounded. NULL: out of memory. The caller owns it. */
json_t *brume_score_to_json(const brume_score *score);

#endif
