/* Scalar subqueries: (SELECT one aggregate ...) in a WHERE or HAVING clause, found in the text.
 *
 * They are asked first, each as a query by itself, and what was released of it stands in its place
 * as a constant. One that names a column of the query around it is no query by itself. */
#ifndef BRUME_QUERY_SCALAR_H
#define BRUME_QUERY_SCALAR_H

#include <stddef.h>

#include <brume/status.h>

typedef struct brume_scalar {
    size_t start, end; /* in the text, with its brackets */
    char *sql;         /* what is between them */
} brume_scalar;

/* Those of a text, in order; none inside another. *count is 0 and *scalars NULL where there are
 * none. A text that cannot be parsed has none: whoever asks it says why. EMEMORY; EUNSUPPORTED: one
 * is no single aggregate, or names an item of a WITH around it. */
BRUME_MUST_USE brume_status brume_scalars_find(const char *text, brume_scalar **scalars,
                                               size_t *count, brume_error *error);
void brume_scalars_free(brume_scalar *scalars, size_t count);

/* The text with `values` in their places; the caller frees it. NULL: memory is out. */
char *brume_scalars_replace(const char *text, const brume_scalar *scalars, size_t count,
                            const char *const *values);

#endif
