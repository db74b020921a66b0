/* What stands in the place of a scalar subquery once it was asked: its value as SQL.
 *
 * Every function replaces *value, which is the caller's, or fails and leaves it. Types are "double
 * precision", "date" and "timestamp". */
#ifndef BRUME_QUERY_STAGE_VALUE_H
#define BRUME_QUERY_STAGE_VALUE_H

#include "base/error.h"
#include "query/expression/query.h"
#include "query/sql/formula.h"

/* Is it a number, or NULL, whatever is released? */
bool brume_stage_is_number(const brume_formula *formula);

/* EUNSUPPORTED: it is none, and no date. */
brume_status brume_stage_no_number(brume_error *error);

/* A constant of a type (NULL: of any): `text`, which has no quote, or NULL. Times as the result of
 * an operation, which no domain of keys is made of: which groups there are may not depend on it. */
BRUME_MUST_USE brume_status brume_stage_constant(const char *type, const char *text, char **value,
                                                 brume_error *error);

/* What was released. EUNSUPPORTED: it is of another type, which is known before it is paid for, but
 * of a stage that has stages itself. */
BRUME_MUST_USE brume_status brume_stage_released(const char *type, const brume_value *released,
                                                 char **value, brume_error *error);

/* What a public table has, exactly; a text takes the type of what it is compared with.
 * EUNSUPPORTED: a number of 2^53 or more, since an answer has doubles. */
BRUME_MUST_USE brume_status brume_stage_public(const brume_value *exact, char **value,
                                               brume_error *error);

#endif
