/* The features of a released table: everything an analyst sees of it, as names and numbers. */
#ifndef BRUME_AUDIT_ANSWER_FEATURES_H
#define BRUME_AUDIT_ANSWER_FEATURES_H

#include <brume/status.h>

#include "audit/query/score.h"
#include "query/plan/plan.h"
#include "query/release/answer.h"

/* An answer or, where it is NULL, a refusal; and the plan that it is an answer of. */
typedef struct brume_answered {
    const brume_query_answer *answer;
    const brume_error *refused;
    const brume_plan *plan;
} brume_answered;

/* Features of a brume_answered, as a brume_seen: which keys are in the table, the numbers of each
 * row, as they are, over their error and less those of the first row, texts, and what is said of
 * each column; of a refusal its status and its texts. A number is a feature; every other value, and
 * every key, is one by itself, whose number is 1.
 *
 * The error of a mean says how large the noisy number of values was: its width is about that of the
 * noisy sum, which is in proportion to the limit, over that number. So both numbers behind a mean
 * can be told from what is shown, and are features too: limit/error, and times it how far the mean
 * is from the centre of the bounds, which the plan says. */
bool brume_features_visit(const void *answered, brume_feature_visit *each, void *context);

#endif
