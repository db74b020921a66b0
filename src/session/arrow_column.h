/* One column of an answer as an Arrow array, and what a schema says of it. */
#ifndef BRUME_SESSION_ARROW_COLUMN_H
#define BRUME_SESSION_ARROW_COLUMN_H

#include <brume/arrow.h>

#include "query/release/answer.h"

typedef struct brume_arrow_field {
    char *name;
    const char *format; /* "b", "l", "g", "u" or "U"; not owned */
    char *metadata;     /* as the specification lays it out, or NULL */
    size_t metadata_length;
} brume_arrow_field;

void brume_arrow_field_clear(brume_arrow_field *field);

/* Fill in both, which are empty; clear the field and, if its release is set, release the array also
 * after a failure. EMEMORY. */
BRUME_MUST_USE brume_status brume_arrow_column(const brume_query_answer *answer, size_t column,
                                               brume_arrow_field *field, struct ArrowArray *array,
                                               brume_error *error);

#endif
