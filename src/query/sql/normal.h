/* The normalised text of a query, for the key of a free re-read and for the ledger. */
#ifndef BRUME_QUERY_NORMAL_H
#define BRUME_QUERY_NORMAL_H

#include "query/expression/query.h"

/* A text in the query's arena that two queries share only if their representations are equal: white
 * space, case of key words, quoting, redundant parentheses and aliases of tables do not show; every
 * type, literal and output name does. NULL: out of memory. */
const char *brume_query_normal(const brume_query *query, const brume_catalog *catalog);

#endif
