/* From what was released to one number: which of two databases does it speak for?
 *
 * What is released is seen as features, names with numbers (answer_features.h of a table). From
 * examples of both databases each feature's values are cut into bins, and every bin gets the
 * logarithm of the quotient of its two frequencies, shrunk where that may be luck. The score is
 * their sum; from many examples each feature counts as much as fits them best (blend.h),
 * and trees (trees.h) add what only several features together say. It is post-processing of what an
 * analyst sees, with weights that are fixed before the draws that count, so that every bound made
 * with it holds; a poor score only finds less. */
#ifndef BRUME_AUDIT_SCORE_H
#define BRUME_AUDIT_SCORE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <brume/status.h>

/* A feature of an outcome; and what visits all of them (false: out of memory). */
typedef void brume_feature_visit(void *context, const char *name, double value);
typedef bool brume_seen(const void *outcome, brume_feature_visit *each, void *context);

typedef struct brume_score brume_score;

/* For so many examples of each database. */
BRUME_MUST_USE brume_status brume_score_open(size_t examples, brume_score **out,
                                             brume_error *error);
void brume_score_close(brume_score *score);

/* An example of the first database or the second. */
BRUME_MUST_USE brume_status brume_score_learn(brume_score *score, brume_seen *seen,
                                              const void *outcome, bool second, brume_error *error);

/* Fix the weights, when there are some of each; how well they should tell the databases apart: the
 * difference of the mean scores. */
double brume_score_settle(brume_score *score);

/* The score of an outcome, in steps of 1/64. Threads may share a settled score. */
int64_t brume_score_of(const brume_score *score, brume_seen *seen, const void *outcome);

/* A settled score as JSON: {"base", "steps", "features": [{"name", "edges", "weights", "absent"}],
 * "trees": [TREE]}. The score is the sum of base, for each feature that an answer has the weight of
 * its value's bin less absent, and what each tree says; times steps, rounded. A TREE is a number or
 * {"feature", "below", "then", "else"}: `then` where the answer does not have the feature, or has a
 * value below `below` ("absent": none, null: any). NULL: out of memory. The caller owns it. */
json_t *brume_score_to_json(const brume_score *score);

#endif
