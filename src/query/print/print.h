/* Printing expressions and relations for an engine.
 *
 * Every form is total and means the same on all engines. Operands that a form mentions more than
 * once are bound first ("let"), each in a sub-select, so that text and work stay linear:
 *
 *     SELECT final FROM (SELECT *, e2 AS "v2" FROM (SELECT *, e1 AS "v1" FROM rows OFFSET 0) ...)
 *
 * OFFSET 0 keeps PostgreSQL from copying the text back; Spark does not do that, and would read in
 * one task. Never TRY or TRY_CAST: they make time
 * depend on the data, and DuckDB's optimiser drops them. Guards are CASE or RANGE, never AND, which
 * engines reorder. Everything is parenthesised, every name quoted, every literal typed. */
#ifndef BRUME_QUERY_PRINT_H
#define BRUME_QUERY_PRINT_H

#include "query/expression/expression.h"
#include "query/expression/query.h"
#include "query/print/statement.h"

typedef struct brume_piece {
    const char *text; /* NULL: out of memory */
    int level;        /* how many let-steps must come before it */
    bool atom;        /* a name or a literal: may be written twice */
} brume_piece;

typedef struct brume_step {
    int level;
    size_t name;
    const char *text;
} brume_step;

/* An expression that is already bound under a name. */
typedef struct brume_bound {
    const brume_expression *node;
    const char *name;
    const struct brume_bound *next;
} brume_bound;

typedef struct brume_printer {
    brume_arena *arena;
    brume_dialect dialect;
    bool postgresql, spark; /* the dialect, for short; else DuckDB */
    brume_step *steps;
    size_t step_count, step_capacity;
    size_t names; /* used so far */
    size_t width; /* result columns of the statement and all its parts together, at most */
    const brume_bound *bound; /* of a join condition: what its sides compute */
    bool failed;              /* out of memory, or longer than an arena holds */
    const char *refused;      /* why this dialect cannot say it; NULL: it can */
} brume_printer;

/* The text of `node`, adding to the printer's steps what must be bound before. */
brume_piece brume_print_expression(brume_printer *printer, const brume_expression *node);

/* Print what a join condition computes from one side alone, where that needs steps, into that side:
 * *left and *right, relations in FROM, become ones that have it too. Then the condition needs no
 * steps for it. */
void brume_print_sides(brume_printer *printer, const brume_expression *condition,
                       const brume_relation *relations[2], const char *from[2]);

/* `piece` as it travels to C, by the type that it has. */
brume_piece brume_print_wire(brume_printer *printer, brume_piece piece, brume_type type);

/* The stored column `name` as a value of its type. */
const char *brume_print_leaf(brume_printer *printer, const char *name, brume_type type,
                             brume_leaf leaf);

/* Remember that this dialect cannot say it, and why. */
brume_piece brume_print_refuse(brume_printer *printer, const char *why);

/* 'text', quotes doubled; in Spark they, and backslashes, are behind a backslash. */
const char *brume_print_quoted(brume_printer *printer, const char *text);

const char *brume_print_format(brume_printer *printer, const char *format, ...) BRUME_PRINTF(2, 3);

/* A list that grows at its end, in time and memory linear in its length. Begins as {0}. */
typedef struct brume_print_list {
    char *text;
    size_t length, room;
} brume_print_list;

/* Add `item`, after `separator` unless it is the first. */
void brume_print_add(brume_printer *printer, brume_print_list *list, const char *separator,
                     const char *item);

/* RANGE(v, low, high): NULL unless low < v < high; `type` is v's, in the printer's dialect. */
const char *brume_print_range(brume_printer *printer, const char *value, const char *low,
                              const char *high, const char *type);

#endif
