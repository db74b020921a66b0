/* Making row expressions: each function types, checks and bounds one node.
 *
 * On failure a function returns NULL and has filled the builder's error; NULL arguments are passed
 * through, so that calls can be nested. docs/sql.md has the rules. */
#ifndef BRUME_QUERY_BUILD_H
#define BRUME_QUERY_BUILD_H

#include <brume/status.h>

#include "query/expression/expression.h"

typedef const brume_expression *brume_node;

typedef struct brume_builder {
    brume_arena *arena;
    brume_error *error;
    brume_status status; /* of the first failure */
    size_t nodes;
    size_t work; /* of all nodes: see brume_text_work */
} brume_builder;

enum {
    BRUME_LIMIT_DEPTH = 64,
    BRUME_LIMIT_NODES = 2000,
    BRUME_LIMIT_LIST = 1000,
    BRUME_LIMIT_TEXT = 1024 * 1024, /* bytes that an expression's text may have */
};

/* Record a failure (the first one counts) and return NULL. */
brume_node brume_build_fail(brume_builder *builder, brume_status status, const char *hint,
                            const char *format, ...) BRUME_PRINTF(4, 5);

/* A node of this operation and type over `arguments`; nullable, bounded and inexact_key as the
 * arguments together have it; the caller completes it. */
brume_expression *brume_build_node(brume_builder *builder, brume_operation operation,
                                   brume_type type, const brume_node *arguments, size_t count);

/* What every value of `node` is known to lie within, by more than its operations say. */
brume_node brume_build_within(brume_builder *builder, brume_node node, brume_wide low,
                              brume_wide high);

/* Intervals (`duration`): a constant, of months of 30 days as they are compared; a - b of times; a
 * field of one; and the years or months of age(a, b). */
brume_node brume_build_duration(brume_builder *builder, int64_t months, int64_t days,
                                int64_t microseconds);
brume_node brume_build_elapsed(brume_builder *builder, brume_node a, brume_node b);
brume_node brume_build_duration_field(brume_builder *builder, const char *field, brume_node node);
brume_node brume_build_age_field(brume_builder *builder, const char *field, brume_node a,
                                 brume_node b);

/* Bounds of the whole type. */
brume_bounds brume_type_bounds(brume_type type);

/* Is a date or timestamp known to lie within less than the calendar? The calendar is no bound to
 * measure within: noise for it would drown every answer. */
bool brume_build_is_dated(brume_node node);

/* Literals. `text` is what was typed: it is checked and made canonical. NULL text: the NULL of that
 * type. An untyped literal (a quoted text, or NULL) takes the type of what it meets. */
brume_node brume_build_literal(brume_builder *builder, brume_type type, const char *text);
brume_node brume_build_untyped(brume_builder *builder, const char *text);
brume_node brume_build_number(brume_builder *builder, const char *text);
bool brume_build_is_null(brume_node node);

brume_node brume_build_column(brume_builder *builder, const struct brume_relation *relation,
                              size_t column, brume_type type, bool nullable);

/* Widening, as SQL does it implicitly; untyped literals become `type`. */
brume_node brume_build_convert(brume_builder *builder, brume_node node, brume_type type);

/* The type that all of `nodes` widen to. */
bool brume_build_common(brume_builder *builder, const brume_node *nodes, size_t count,
                        brume_type *type);
brume_node brume_build_cast(brume_builder *builder, brume_node node, brume_type type);

brume_node brume_build_arithmetic(brume_builder *builder, brume_operation operation, brume_node a,
                                  brume_node b);
brume_node brume_build_unary(brume_builder *builder, brume_operation operation, brume_node a);

/* low and high are decimals as typed; values outside become them, NULL stays NULL. */
brume_node brume_build_clamp(brume_builder *builder, brume_node node, const char *low,
                             const char *high);
brume_node brume_build_grid(brume_builder *builder, brume_node node, const brume_bounds *bounds,
                            int binary_digits);

brume_node brume_build_compare(brume_builder *builder, brume_operation operation, brume_node a,
                               brume_node b);
brume_node brume_build_logic(brume_builder *builder, brume_operation operation,
                             const brume_node *arguments, size_t count);
brume_node brume_build_test(brume_builder *builder, brume_operation operation, brume_node a);
brume_node brume_build_between(brume_builder *builder, bool negated, brume_node a, brume_node low,
                               brume_node high);
brume_node brume_build_in(brume_builder *builder, bool negated, brume_node a,
                          const brume_node *list, size_t count);

/* `pattern` with backslash as its escape. */
brume_node brume_build_like(brume_builder *builder, brume_operation operation, brume_node a,
                            const char *pattern);

/* Does the text, or a part of it unless `whole`, match a regular expression (base/regular.h)? */
brume_node brume_build_matches(brume_builder *builder, brume_node a, const char *pattern,
                               bool folds, bool whole);

/* condition, value, condition, value, ..., else (NULL of no type where there is none). */
brume_node brume_build_case(brume_builder *builder, const brume_node *arguments, size_t count);

/* COALESCE, GREATEST, LEAST, NULLIF, CONCAT, JOIN_TEXT. */
brume_node brume_build_choice(brume_builder *builder, brume_operation operation,
                              const brume_node *arguments, size_t count);

/* A function by its SQL name. */
brume_node brume_build_function(brume_builder *builder, const char *name,
                                const brume_node *arguments, size_t count);
brume_node brume_build_interval(brume_builder *builder, brume_node a, int64_t months, int64_t days,
                                int64_t microseconds);

/* What to_char calls the part that a format of FORMAT_TIME starts with; NULL: it is no part, and
 * stands for itself. */
const char *brume_format_part(const char *format);

#endif
