/* Random whole queries over the nasty table: aggregates of every kind, keys with and without
 * declared values, subqueries, HAVING, ORDER BY; many that brume refuses. */
#ifndef BRUME_TESTS_NASTY_QUERY_H
#define BRUME_TESTS_NASTY_QUERY_H

#include "nasty.h"

enum { NASTY_QUERY = 400000 };

/* Write a query to `text` (NASTY_QUERY bytes); `unit` is the unit's column, or NULL. */
void nasty_query(nasty_random *random, const char *unit, char *text);

#endif
