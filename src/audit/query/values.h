/* Values to try in a column, from what is public of it: its declared domain and bounds, the
 * literals of the query, and a few of its type. No data is read. */
#ifndef BRUME_AUDIT_VALUES_H
#define BRUME_AUDIT_VALUES_H

#include "query/plan/policy.h"

enum { BRUME_VALUES = 48 };

typedef struct brume_values {
    char *texts[BRUME_VALUES];
    size_t count;     /* at least 1 */
    size_t low, high; /* where the bounds are; equal: there are none */
} brume_values;

/* Those of `column`, with the literals of `sql` that fit its type. Free with brume_values_clear,
 * also after a failure. */
BRUME_MUST_USE brume_status brume_values_find(const brume_policy_column *column, const char *sql,
                                              brume_values *out, brume_error *error);

/* Add what is public of `other`, a column of the same name in another table: they may be joined on.
 */
BRUME_MUST_USE brume_status brume_values_share(const brume_policy_column *other, brume_type type,
                                               brume_values *values, brume_error *error);
void brume_values_clear(brume_values *values);

/* A value far above the column's bounds, or far below; "" where it has none or its type has no such
 * value. */
void brume_values_beyond(const brume_policy_column *column, bool above, char text[64]);

/* A value between the column's bounds, this share of the way up; "" where it has none. */
void brume_values_between(const brume_policy_column *column, double share, char text[64]);

/* Unit number `unit`, as a value of the column. BRUME_EUNSUPPORTED where its type has too few. */
BRUME_MUST_USE brume_status brume_values_unit(const brume_policy_column *column, unsigned unit,
                                              char text[64], brume_error *error);

#endif
