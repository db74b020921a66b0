/* A statement's tree, read by reflection: every message that is in it, whatever its kind. */
#ifndef BRUME_SERVE_PG_TREE_H
#define BRUME_SERVE_PG_TREE_H

#include <stdbool.h>

#include <pg_query/pg_query.pb-c.h>

#include <brume/status.h>

/* Parse a text into statements. The text is checked first: its length, that it is UTF-8, and how
 * deep it can nest, for the parser and this program walk trees by recursion. ESYNTAX: with the
 * character of the fault in *position (0: not known), EUNSUPPORTED: too long or too deep. Free with
 * pg_query__parse_result__free_unpacked(tree, NULL). */
BRUME_MUST_USE brume_status brume_pg_parse(const char *text, PgQuery__ParseResult **out,
                                           int *position, brume_error *error);

/* Told of a message; false: do not go into it. */
typedef bool brume_pg_visitor(void *context, const ProtobufCMessage *message);

/* Visit the message (NULL: nothing) and, from outside in, all that is in it. */
void brume_pg_visit(const ProtobufCMessage *message, brume_pg_visitor *visit, void *context);

/* Has the tree an item of WITH with this name? */
bool brume_pg_has_with(const ProtobufCMessage *tree, const char *name);

/* The tokens of a text, as the parser's scanner cuts it; NULL: it cannot. Free with
 * pg_query__scan_result__free_unpacked(tokens, NULL). */
PgQuery__ScanResult *brume_pg_scan(const char *text);

#endif
