/* PostgreSQL's binary COPY, message by message, into columns of a batch. */
#ifndef BRUME_ENGINE_COPY_H
#define BRUME_ENGINE_COPY_H

#include "engine/engine.h"

typedef struct brume_copy brume_copy;

/* Make the columns; close also what a failure left. */
BRUME_MUST_USE brume_status brume_copy_open(const brume_wire *wires, size_t wire_count,
                                            brume_copy **out, brume_error *error);
void brume_copy_close(brume_copy *copy);

/* Begin a batch; what the last one held is gone. */
void brume_copy_start(brume_copy *copy);

/* Take one CopyData message: the file header before the first row, a row, or the trailer.
 * EENGINE if it is none of them. */
BRUME_MUST_USE brume_status brume_copy_take(brume_copy *copy, const unsigned char *bytes,
                                            size_t length, brume_error *error);

/* No further row fits into the batch. */
bool brume_copy_is_full(const brume_copy *copy);

/* The trailer was seen. */
bool brume_copy_is_complete(const brume_copy *copy);

/* Point the columns at the batch; how many rows it has. Valid until the next start. */
size_t brume_copy_columns(brume_copy *copy, brume_chunk_column *columns);

#endif
