/* A statement in two layers: queries by themselves, and SQL over their answers
 * (proofs/released.md).
 *
 * The tree decides, never the text. A SELECT that reads protected tables is an inner query where it
 * is a query by itself, as a whole; else its parts are looked at. What reads protected rows outside
 * of all inner queries makes the statement none of this form. An item of WITH that rows of
 * protected tables come from goes into the inner queries that name it. */
#ifndef BRUME_QUERY_RELEASED_H
#define BRUME_QUERY_RELEASED_H

#include <stdbool.h>

#include "query/sql/parse.h"
#include "query/sql/public.h"

enum { BRUME_RELEASED_MOST = 16 }; /* inner queries of a statement */

/* Is this text a query by itself, whose answer is of groups? If not, `why` may say why. */
typedef bool (*brume_is_query)(void *context, const char *sql, brume_error *why);

typedef struct brume_inner_queries {
    char *inner[BRUME_RELEASED_MOST]; /* texts of the inner queries, each once */
    size_t count;
    bool all_public; /* no protected table is read at all */
} brume_inner_queries;

/* The name that the answer of inner query `index` has in the tree. */
enum { BRUME_RELEASED_NAME = 40 };
void brume_released_name(size_t index, char name[BRUME_RELEASED_NAME]);

/* Split a statement that is no query itself: in its tree each inner query becomes SELECT * FROM its
 * answer. *found is false where it is not of this form, and then `why` may say more of it than is
 * known already (its status is BRUME_OK where it does not). EMEMORY; EUNSUPPORTED: too many. */
BRUME_MUST_USE brume_status brume_sql_split_released(const brume_sql *sql,
                                                     const brume_catalog *catalog,
                                                     brume_is_query is_query, void *context,
                                                     brume_inner_queries *out, bool *found,
                                                     brume_error *why, brume_error *error);
void brume_released_clear(brume_inner_queries *released);

/* Which outputs of the outer SQL are keys: computed from keys of answers, public columns and
 * constants alone, by names. `keys` are the names of columns that are: see brume_sql_key_outputs. A
 * wrong one costs error bars and nothing else. To be called after brume_sql_public_wide. */
void brume_sql_key_outputs(const brume_sql *sql, const brume_catalog *catalog,
                           const bool *const *is_key, char *const *names, size_t count, bool *keys);

#endif
