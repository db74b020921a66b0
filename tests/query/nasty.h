/* A table of values that break naive SQL, on both engines; and random SQL expressions over it. */
#ifndef BRUME_TESTS_NASTY_H
#define BRUME_TESTS_NASTY_H

#include <stddef.h>
#include <stdint.h>

#include "query/expression/query.h"

enum { NASTY_ROWS = 300 };

/* A small generator for tests; the same seed gives the same table and expressions. */
typedef struct nasty_random {
    uint64_t state;
} nasty_random;
uint64_t nasty_next(nasty_random *random);
size_t nasty_below(nasty_random *random, size_t bound);

/* Make the table in PostgreSQL (at `url`; NULL: not there) and as a Parquet file at `path`. */
void nasty_make(uint64_t seed, const char *url, const char *path);

/* Append a random expression of about this depth to `text` (size bytes). */
void nasty_expression(nasty_random *random, int depth, char *text, size_t size);
void nasty_condition(nasty_random *random, int depth, char *text, size_t size);

/* The catalog of an engine opened on the table as source 0: some columns with declared bounds.
 * Valid until the next call with the same slot (0 or 1). */
const brume_catalog *nasty_catalog(brume_engine *engine, int slot);

#endif
