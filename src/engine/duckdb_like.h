/* brume_like(text, pattern) and brume_ilike(text, pattern) for DuckDB, whose own LIKE tries again
 * and again: with three % its time grows with the cube of the text. */
#ifndef BRUME_ENGINE_DUCKDB_LIKE_H
#define BRUME_ENGINE_DUCKDB_LIKE_H

#include <stdbool.h>

#include <duckdb.h>

/* Make both known to the connection's database. The pattern must be the same in every row. */
bool brume_duckdb_like_register(duckdb_connection connection);

#endif
