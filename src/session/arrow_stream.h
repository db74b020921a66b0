/* The rows of an answer as an Arrow stream. */
#ifndef BRUME_SESSION_ARROW_STREAM_H
#define BRUME_SESSION_ARROW_STREAM_H

#include <brume/arrow.h>

#include "query/release/answer.h"

/* A stream of one batch, in memory of its own. The type of a column follows from its values: all
 * booleans, all numbers (int64 if all are whole and below 2^53, else float64), else text; a column
 * without values is float64, of keys text. On error *out is untouched. */
BRUME_MUST_USE brume_status brume_arrow_stream(const brume_query_answer *answer,
                                               struct ArrowArrayStream *out, brume_error *error);

#endif
