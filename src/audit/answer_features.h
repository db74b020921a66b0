/* The features of a released table: everything an analyst sees of it, as names and numbers. */
#ifndef BRUME_AUDIT_ANSWER_FEATURES_H
#define BRUME_AUDIT_ANSWER_FEATURES_H

#include <stdbool.h>

#include <brume/status.h>

#include "query/release/answer.h"

/* A number is a feature; every other value, and every key, is one by itself, whose number is 1. */
typedef void brume_feature_visit(void *context, const char *name, double value);

/* Of an answer or, where it is NULL, of a refusal: its status and its texts. False: out of memory.
 */
bool brume_features_visit(const brume_query_answer *answer, const brume_error *refused,
                          brume_feature_visit *each, void *context);

#endif
