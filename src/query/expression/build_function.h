/* A function of SQL: its name, its builder and how many arguments it takes. One table a kind; a new
 * function is one line in its kind's table and, where none of the builders fits, one builder. */
#ifndef BRUME_QUERY_BUILD_FUNCTION_H
#define BRUME_QUERY_BUILD_FUNCTION_H

#include "query/expression/build.h"

typedef brume_node brume_function_builder(brume_builder *builder, const char *name,
                                          brume_operation operation, const brume_node *arguments,
                                          size_t count);

typedef struct brume_function {
    const char *name; /* NULL ends a table */
    brume_function_builder *build;
    brume_operation operation;
    size_t least, most; /* arguments */
} brume_function;

extern const brume_function brume_number_functions[], brume_text_functions[],
    brume_time_functions[], brume_named_functions[];

/* The constant text of an argument, or NULL. */
const char *brume_argument_constant(brume_node node);

/* A constant integer argument within [low, high]; false: refused. */
bool brume_argument_constant_integer(brume_builder *builder, const char *name, brume_node node,
                                     long low, long high, long *value);

/* The argument as a number, a text, an integer; NULL: refused, or `node` is NULL. An untyped
 * literal becomes what is wanted; nothing else is converted. */
brume_node brume_argument_text(brume_builder *builder, const char *name, brume_node node);

#endif
