/* Keys whose values are known without a row that needs protection. They are public: every group is
 * answered, also the empty ones, without a test and without a delta.
 *
 * What a key may be is known
 *   1. where it is a column with a declared domain: its values; rows with others are dropped;
 *   2. where its expression can have few values, whatever the row: constants, CASE and COALESCE of
 *      such, booleans, whole numbers between close bounds (EXTRACT(month ...), width_bucket,
 *      CLAMP);
 *   3. where it reads public tables alone: what these have (brume_key.values, read before the plan
 *      is made);
 *   4. where WHERE, or the condition of an inner join, says that it equals a constant or one of
 *      several, or lies between two close ones (whole numbers and dates); EXTRACT(field FROM d) and
 *      date_trunc(unit, d) of days and longer by the bounds of d; and where it is a column of a
 *      subquery, what the WHERE there says so.
 * What 4 says narrows what 1 to 3 say, and a value for which a condition cannot be true, whatever
 * else is in the row (key <> 'v', NOT IN, an order), is none. NULL is one of the values where 2 and
 * 3 cannot exclude it, and none where 1 or 4 speaks. */
#ifndef BRUME_QUERY_KEY_DOMAIN_H
#define BRUME_QUERY_KEY_DOMAIN_H

#include "query/plan/plan.h"

/* The values of a key as texts of its type, NULL for NULL. */
typedef struct brume_key_domain {
    bool is_known;
    const char *const *values;
    size_t count;
} brume_key_domain;

/* The date or timestamp that a key is a function of, by its day or hour alone; NULL: it is none.
 * *by_hour says whether it takes the hour. */
const brume_expression *brume_key_date_of(const brume_expression *key, bool *by_hour);

/* What such a key is in an hour (since 1970), as texts of domains are written. */
void brume_key_value_at(const brume_expression *key, int64_t hour, char *text, size_t size);

enum { BRUME_FIRST_DAY = -719162, BRUME_LAST_DAY = 2932896 }; /* 0001-01-01, 9999-12-31 */

enum { BRUME_KEY_RANGE = 400, BRUME_KEY_VALUES = 100000 };

/* The domain of key `index`, made in the query's arena. EARGUMENT: a condition leaves none of its
 * values; EMEMORY. */
BRUME_MUST_USE brume_status brume_key_domain_find(const brume_query *query, size_t index,
                                                  const brume_plan_table *tables,
                                                  brume_key_domain *out, brume_error *error);

/* What the conditions that every row of a query satisfies say of an expression. */

/* The least and the largest whole number or day (also of a timestamp) that `of` can be where WHERE
 * and inner joins hold, those of subqueries too where it is a column of one, and within the bounds
 * that are declared of a date or a timestamp; false: one of them is not said, or they leave
 * nothing.
 */
bool brume_key_limits(brume_row_scope scope, const brume_expression *of, int64_t *low,
                      int64_t *high);

/* The same of a timestamp, in microseconds since 1970. */
bool brume_key_moments(brume_row_scope scope, const brume_expression *of, int64_t *low,
                       int64_t *high);

#endif
