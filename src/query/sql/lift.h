/* A SELECT that groups, cut at its GROUP BY: its groups, which may be a query by itself, and SQL
 * over them (proofs/released.md).
 *
 *     SELECT to_char(month, 'MM'), SUM(x) - LAG(SUM(x)) OVER (ORDER BY month) FROM t GROUP BY month
 *
 * is the groups SELECT month, SUM(x) AS sum FROM t GROUP BY month, and in its place
 *
 *     SELECT to_char(month, 'MM'), sum - LAG(sum) OVER (ORDER BY month) FROM the answer
 *
 * with HAVING as WHERE. The tree is changed when it is applied, and not before. */
#ifndef BRUME_QUERY_LIFT_H
#define BRUME_QUERY_LIFT_H

#include <stdbool.h>

#include <pg_query/pg_query.pb-c.h>

#include <brume/status.h>

typedef struct brume_lift brume_lift;

/* *out is NULL where the SELECT cannot be cut so: it does not group, or its outputs need columns
 * that are neither grouped nor aggregated. */
BRUME_MUST_USE brume_status brume_lift_open(PgQuery__SelectStmt *select, brume_lift **out,
                                            brume_error *error);
void brume_lift_close(brume_lift *lift);

/* The groups; parts of it belong to the SELECT. It has no WITH of its own. */
const PgQuery__SelectStmt *brume_lift_groups(const brume_lift *lift);

/* Visit the SELECTs inside what will stand over the groups: subqueries that stay. */
void brume_lift_visit_subqueries(const brume_lift *lift,
                                 void (*visit)(void *context, const PgQuery__SelectStmt *select),
                                 void *context);

/* Make the SELECT one over the answer of this name. The groups are gone then. */
BRUME_MUST_USE brume_status brume_lift_apply(brume_lift *lift, const char *answer,
                                             brume_error *error);

#endif
