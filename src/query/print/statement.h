/* The statements that an engine is to run, printed from a query. */
#ifndef BRUME_QUERY_STATEMENT_H
#define BRUME_QUERY_STATEMENT_H

#include "query/expression/query.h"

/* How a value of this type travels from the engine to C. */
brume_wire brume_type_wire(brume_type type);

/* SELECT the expressions (over query->from) of the rows that satisfy query->where; where there is a
 * unit, rows without one are dropped. `tables[i]` is what stands for catalog table i in FROM.
 * *sql is the caller's, to free. */
BRUME_MUST_USE brume_status brume_query_print_rows(const brume_query *query, brume_dialect dialect,
                                                   const char *const *tables,
                                                   const brume_expression *const *expressions,
                                                   size_t count, char **sql, brume_error *error);

/* What is known of a text column: it must be compared by its bytes in so many words; by itself it
 * is; it is, and only rows where it is one of some texts that a column may hold are asked for. */
typedef enum brume_bytes {
    BRUME_BYTES_ASKED,
    BRUME_BYTES_COMPARED,
    BRUME_BYTES_LISTED
} brume_bytes;
typedef brume_bytes (*brume_bytewise)(void *context, size_t table, const char *column);

/* The same of rows that stay on their server and are grouped there: expressions[0] is the unit,
 * which is no result and so is not widened, and texts that are keys and nothing else keep the
 * collation of their column where that compares bytes. So that as little as can be is between a
 * table and GROUP BY, and PostgreSQL can send it to other servers. */
BRUME_MUST_USE brume_status brume_query_print_staying(const brume_query *query,
                                                      brume_dialect dialect,
                                                      const char *const *tables,
                                                      brume_bytewise bytewise, void *context,
                                                      const brume_expression *const *expressions,
                                                      size_t count, char **sql, brume_error *error);

/* One measured expression of a plan that needs no bounding (the row is the unit, or one row per
 * unit and one group): the engine itself sums. */
typedef struct brume_group_sum {
    const brume_expression *value; /* a BIGINT, as brume_query_grid makes it */
    int64_t centre;                /* subtracted from each value before summing */
    bool squares;                  /* also the squares; needs |value - centre| <= 2^31 */
} brume_group_sum;

/* SELECT the keys, COUNT(*), and for each of `sums`: COUNT(value) as INTEGER, SUM(value - centre)
 * as TEXT (128 bits; 0 for no value) and, with squares, SUM((value - centre)^2) as TEXT; GROUP BY
 * the keys, in no defined order. Otherwise as brume_query_print_rows. */
BRUME_MUST_USE brume_status brume_query_print_groups(const brume_query *query,
                                                     brume_dialect dialect,
                                                     const char *const *tables,
                                                     const brume_group_sum *sums, size_t count,
                                                     char **sql, brume_error *error);

#endif
