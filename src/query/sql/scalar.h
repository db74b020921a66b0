/* Scalar subqueries: (SELECT one aggregate ...) found in the text: in a WHERE, HAVING or FILTER
 * clause, and in the outputs of the query itself, but not inside an aggregate.
 *
 * They are asked first, each as a query by itself, and what was released of it stands in its place
 * as a constant. One that names a column of the query around it is no query by itself. */
#ifndef BRUME_QUERY_SCALAR_H
#define BRUME_QUERY_SCALAR_H

#include <stddef.h>

#include <brume/status.h>

#include "base/error.h"
#include "query/expression/query.h"
#include "query/sql/formula.h"

typedef struct brume_scalar {
    size_t start, end; /* in the text, with its brackets */
    char *sql;         /* what is between them */
    bool shown;        /* in an output */
    bool unnamed;      /* it is an output by itself, and has no name */
} brume_scalar;

/* Those of a text, in order; none inside another. *count is 0 and *scalars NULL where there are
 * none. A text that cannot be parsed has none: whoever asks it says why. EMEMORY; EUNSUPPORTED: one
 * is no single aggregate, or names an item of a WITH around it. */
BRUME_MUST_USE brume_status brume_scalars_find(const char *text, brume_scalar **scalars,
                                               size_t *count, brume_error *error);
void brume_scalars_free(brume_scalar *scalars, size_t count);

/* The text with `values` in their places, and `names` (NULL, or NULL for one: none) for those that
 * are unnamed; the caller frees it. NULL: memory is out. */
char *brume_scalars_replace(const char *text, const brume_scalar *scalars, size_t count,
                            const char *const *values, const char *const *names);

/* ---- values: what stands in the place of one once it was asked ----
 *
 * Every function replaces *value, which is the caller's, or fails and leaves it. Types are "double
 * precision", "date" and "timestamp". */

/* Is it a number, or NULL, whatever is released? */
bool brume_scalar_is_number(const brume_formula *formula);

/* EUNSUPPORTED: it is none, and no date. */
brume_status brume_scalar_no_number(brume_error *error);

/* A constant of a type (NULL: of any): `text`, which has no quote, or NULL. Times as the result of
 * an operation, which no domain of keys is made of: which groups there are may not depend on it. */
BRUME_MUST_USE brume_status brume_scalar_constant(const char *type, const char *text, char **value,
                                                  brume_error *error);

/* What was released. EUNSUPPORTED: it is of another type, which is known before it is paid for, but
 * of a stage that has stages itself. */
BRUME_MUST_USE brume_status brume_scalar_released(const char *type, const brume_value *released,
                                                  char **value, brume_error *error);

/* What was released, as a part of an output: a number with its error at 95 % (not finite: it is not
 * known), or NULL. EUNSUPPORTED: it is no number. */
BRUME_MUST_USE brume_status brume_scalar_shown(const brume_value *released, double error_95,
                                               char **value, brume_error *error);

/* What a public table has, exactly; a text takes the type of what it is compared with.
 * EUNSUPPORTED: a number of 2^53 or more, since an answer has doubles. */
BRUME_MUST_USE brume_status brume_scalar_public(const brume_value *exact, char **value,
                                                brume_error *error);

#endif
