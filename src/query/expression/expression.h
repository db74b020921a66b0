/* Row expressions: typed, total, with bounds.
 *
 * 1. An expression is a tree of the operations below. Every node has one type; conversions are
 *    nodes of their own, so that no engine is left to convert anything by itself.
 * 2. Total: no row makes it fail. Where SQL would raise, the value is NULL at that node.
 * 3. `bounds` hold for every value it can have, by interval arithmetic from the bounds of its
 *    columns; `nullable` is false only where it can never be NULL.
 *    A date counts in days since 1970-01-01, a timestamp in microseconds.
 * 4. `bounded` says whether the bounds come from declared bounds, literals or the operation itself
 *    rather than from the mere range of a type: an aggregate needs a bounded argument.
 * 5. Nodes are made by the functions of build.h only, live in an arena, and never change. */
#ifndef BRUME_QUERY_EXPRESSION_H
#define BRUME_QUERY_EXPRESSION_H

#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

#include "base/type.h"

__extension__ typedef __int128 brume_wide;

typedef enum brume_operation {
#define BRUME_OPERATION(name, word) BRUME_OPERATION_##name,
#include "query/expression/operation.def"
#undef BRUME_OPERATION
} brume_operation;

/* The word of operation.def: what the normalised text calls it. */
const char *brume_operation_word(brume_operation operation);

/* Inclusive. Integers and decimals: units of 10^-scale. Doubles: the reals. Other types: unused. */
typedef struct brume_bounds {
    brume_wide low, high;
    double real_low, real_high;
} brume_bounds;

struct brume_relation;

typedef struct brume_expression {
    brume_operation operation;
    brume_type type;
    brume_bounds bounds;
    bool nullable;
    bool bounded;
    bool untyped;     /* a quoted literal or NULL that no type was given yet */
    bool inexact_key; /* its last bit may depend on the machine (ln, exp, power): never a group key
                       */
    bool duration; /* an interval: the seconds between two times, with which SQL does not count */
    size_t max_length; /* TEXT: bytes at most */
    size_t work;       /* of the tree: see brume_text_work */
    int depth;         /* of the tree */
    size_t size;       /* nodes of the tree, shared ones counted each time */
    size_t argument_count;
    const struct brume_expression *const *arguments;
    /* COLUMN */
    const struct brume_relation *relation;
    size_t column;
    /* LITERAL: canonical text, NULL for the SQL NULL. LIKE, trims, extract, date_trunc: the
     * pattern, the characters, the field. */
    const char *text;
    /* ROUND, TRUNC: digits. WIDTH_BUCKET: buckets. ADD_INTERVAL: months, days, microseconds.
     * GRID: binary digits after the point. */
    int64_t number[3];
} brume_expression;

/* Same tree: the same operation on the same things. */
bool brume_expression_equal(const brume_expression *a, const brume_expression *b);

typedef struct brume_arena brume_arena;

/* NULL: out of memory. */
brume_arena *brume_arena_open(void);
void brume_arena_close(brume_arena *arena);

/* Zeroed and aligned for anything; NULL: out of memory, or more than the arena's limit (64 MiB). */
void *brume_arena_allocate(brume_arena *arena, size_t size);
void *brume_arena_copy(brume_arena *arena, const void *data, size_t size);
char *brume_arena_text(brume_arena *arena, const char *text);
char *brume_arena_format(brume_arena *arena, const char *format, ...) BRUME_PRINTF(2, 3);

enum {
    BRUME_LIMIT_WORK = 8 * 1024 * 1024, /* bytes of text a row, of a query */
    BRUME_LIMIT_REPEATS = 16,           /* of what is searched for */
};

/* The work of the operation itself, without that of its arguments. */
size_t brume_text_work(brume_operation operation, const brume_expression *const *arguments,
                       size_t count);

/* The longest that LEFT, RIGHT or SUBSTRING of these arguments can be, in bytes. */
size_t brume_text_part(brume_operation operation, const brume_expression *const *arguments,
                       size_t count);

/* How often a text repeats itself, whether it is compared from its beginning or from its end. */
size_t brume_text_repeats(const char *text);

/* The same of the parts of a LIKE pattern between its %. */
size_t brume_pattern_repeats(const char *pattern);

#endif
