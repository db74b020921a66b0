/* A DuckDB that has nothing but the tables that are put into it: for SQL over released tables.
 *
 *  1. It is in memory and locked: no file, no network, no extension, no setting can be changed; one
 *     thread; nothing goes to disk.
 *  2. It has so much memory and so many seconds; what takes more fails. The clock is looked at
 *     between pieces of work: whoever must be sure runs it in a process that can be killed.
 *  3. Errors carry DuckDB's own text, because there is nothing in it that may not be quoted: put
 *     into it what was released or is public, and nothing else. */
#ifndef BRUME_ENGINE_MEMORY_H
#define BRUME_ENGINE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

#include "base/text.h"
#include "base/type.h"

typedef struct brume_memory brume_memory;

/* `stopped` (or NULL) is asked now and then whether to stop: then ECANCELLED. */
BRUME_MUST_USE brume_status brume_memory_open(bool (*stopped)(void *context), void *context,
                                              brume_memory **out, brume_error *error);
void brume_memory_close(brume_memory *memory);

typedef struct brume_memory_column {
    const char *name;
    brume_type type;
} brume_memory_column;

typedef enum brume_memory_kind {
    BRUME_MEMORY_NULL,
    BRUME_MEMORY_BOOLEAN,
    BRUME_MEMORY_INTEGER,
    BRUME_MEMORY_REAL,
    BRUME_MEMORY_TEXT, /* of any type: it is cast */
} brume_memory_kind;

typedef struct brume_memory_cell {
    brume_memory_kind kind;
    int64_t integer; /* also of booleans */
    double real;
    brume_text text;
} brume_memory_cell;

/* Make a table. EUNSUPPORTED: two columns have one name. */
BRUME_MUST_USE brume_status brume_memory_table(brume_memory *memory, const char *name,
                                               const brume_memory_column *columns, size_t count,
                                               brume_error *error);

/* Add rows, cells one row after the other. EUNSUPPORTED: one does not fit its column. */
BRUME_MUST_USE brume_status brume_memory_add(brume_memory *memory, const char *table,
                                             const brume_memory_cell *cells, size_t columns,
                                             size_t rows, brume_error *error);

/* Run a statement of brume's own whose result does not matter. */
bool brume_memory_set(brume_memory *memory, const char *sql);

/* Seconds of a clock that only goes forwards. */
double brume_memory_clock(void);

/* What is done with a row of texts; the data of one that is NULL is NULL. */
typedef brume_status (*brume_memory_taker)(void *context, const brume_text *row, size_t columns,
                                           brume_error *error);

/* Run one SELECT whose columns are all texts, within `seconds`. EUNSUPPORTED: DuckDB does not take
 * it, or it takes too long; ECANCELLED. */
BRUME_MUST_USE brume_status brume_memory_select(brume_memory *memory, const char *sql,
                                                double seconds, brume_memory_taker take,
                                                void *context, brume_error *error);

#endif
