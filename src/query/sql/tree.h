/* Any tree of the grammar, by reflection: every message that is in it, whatever its kind.
 *
 * Where all kinds must be known, as in an allow-list, or where a thing may stand anywhere, as the
 * name of a table may, this finds what a walk written by hand would miss. */
#ifndef BRUME_QUERY_TREE_H
#define BRUME_QUERY_TREE_H

#include <brume/status.h>
#include <pg_query/pg_query.pb-c.h>
#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

/* Told of a message; false: do not go into it. */
typedef bool (*brume_tree_visitor)(void *context, const ProtobufCMessage *message);

/* Visit the message (NULL: nothing) and, from outside in, all that is in it. */
void brume_tree_visit(const ProtobufCMessage *message, brume_tree_visitor visit, void *context);

/* Are they the same SQL? Where they stand in the text does not count, and t.x is x: where x alone
 * is no fault it is t's. */
bool brume_tree_equal(const ProtobufCMessage *a, const ProtobufCMessage *b);

/* ESYNTAX: the text has such a number. */
BRUME_MUST_USE brume_status brume_grammar_check_tokens(const PgQuery__ScanResult *tokens,
                                                       const char *sql, brume_error *error);

/* ESYNTAX: the tree has such a subquery. */
BRUME_MUST_USE brume_status brume_grammar_check_tree(const PgQuery__ParseResult *tree,
                                                     brume_error *error);

/* Give aggregates of DuckDB the names that the rest of brume knows: mean is avg, count_if(c) is
 * COUNT(*) FILTER (WHERE c), approx_count_distinct(x) is COUNT(DISTINCT x), quantile and
 * approx_quantile are quantile_disc and quantile_cont. */
BRUME_MUST_USE brume_status brume_grammar_rename(PgQuery__ParseResult *tree, brume_error *error);

#endif
