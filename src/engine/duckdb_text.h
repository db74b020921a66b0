/* Functions of texts for DuckDB whose time does not depend on what the texts hold:
 *
 *   brume_like(text, pattern), brume_ilike(text, pattern)   engine/like.h
 *   brume_matches(text, pattern)                            base/regular.h
 *   brume_plain(text, form)                                 engine/plain_form.h: what is between
 * the blanks of a text of that form, else NULL
 *
 * DuckDB's own LIKE tries again and again: with three % its time grows with the cube of the text.
 * Its regular expressions are built while they run, so that the first text of a form costs
 * milliseconds. */
#ifndef BRUME_ENGINE_DUCKDB_TEXT_H
#define BRUME_ENGINE_DUCKDB_TEXT_H

#include <stdbool.h>

#include "engine/libduckdb.h"

/* Make them known to the connection's database. Pattern and form must be the same in every row. */
bool brume_duckdb_text_register(duckdb_connection connection);

#endif
