/* What the conditions that every row of a query satisfies say of an expression. */
#ifndef BRUME_QUERY_KEY_RANGE_H
#define BRUME_QUERY_KEY_RANGE_H

#include "query/plan/plan.h"

/* Whole numbers, also as decimals without decimals, such as EXTRACT gives. */
bool brume_key_is_whole(brume_type type);

/* Whole numbers and dates as they were before they were compared with wider ones. */
const brume_expression *brume_key_without_widening(const brume_expression *node);

/* The same, apart from widening. */
bool brume_key_is_same(const brume_expression *key, const brume_expression *node);

/* A literal that is not NULL. */
bool brume_key_is_constant(const brume_expression *node);

/* The least and the largest whole number or day (also of a timestamp) that `of` can be where WHERE
 * and inner joins hold, those of subqueries too where it is a column of one, and within the bounds
 * that are declared of a date or a timestamp; false: one of them is not said, or they leave
 * nothing.
 */
bool brume_key_limits(brume_row_scope scope, const brume_expression *of, int64_t *low,
                      int64_t *high);

#define BRUME_MICROSECONDS_OF_DAY INT64_C(86400000000)

/* The same of a timestamp, in microseconds since 1970. */
bool brume_key_moments(brume_row_scope scope, const brume_expression *of, int64_t *low,
                       int64_t *high);

/* Can the condition be true in a row where the key has this value, a text of its type or NULL?
 * False only where it cannot, whatever else is in the row: then no row of the group satisfies it.
 */
bool brume_key_may_hold(const brume_expression *condition, const brume_expression *key,
                        const char *value);

#endif
