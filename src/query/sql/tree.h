/* Any tree of the grammar, by reflection: every message that is in it, whatever its kind.
 *
 * Where all kinds must be known, as in an allow-list, or where a thing may stand anywhere, as the
 * name of a table may, this finds what a walk written by hand would miss. */
#ifndef BRUME_QUERY_TREE_H
#define BRUME_QUERY_TREE_H

#include <stdbool.h>

#include <protobuf-c/protobuf-c.h>

/* Told of a message; false: do not go into it. */
typedef bool (*brume_tree_visitor)(void *context, const ProtobufCMessage *message);

/* Visit the message (NULL: nothing) and, from outside in, all that is in it. */
void brume_tree_visit(const ProtobufCMessage *message, brume_tree_visitor visit, void *context);

/* Are they the same SQL? Where they stand in the text does not count, and t.x is x: where x alone
 * is no fault it is t's. */
bool brume_tree_equal(const ProtobufCMessage *a, const ProtobufCMessage *b);

#endif
