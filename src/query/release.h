/* What is shown, computed from what was released: arithmetic on aggregates, HAVING, ORDER BY.
 *
 * A tree over the keys and the aggregates of one released group. Post-processing: no node can read
 * data. Total: what has no value is NULL, as is a division by a number that is not above 0 (a noisy
 * count may be 0 or less). */
#ifndef BRUME_QUERY_RELEASE_H
#define BRUME_QUERY_RELEASE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum brume_release_kind {
    BRUME_RELEASE_KEY,       /* keys[index] */
    BRUME_RELEASE_AGGREGATE, /* aggregates[index] */
    BRUME_RELEASE_LITERAL,   /* value */
    BRUME_RELEASE_ADD,
    BRUME_RELEASE_SUBTRACT,
    BRUME_RELEASE_MULTIPLY,
    BRUME_RELEASE_DIVIDE,
    BRUME_RELEASE_NEGATE,
    BRUME_RELEASE_ABS,
    BRUME_RELEASE_ROUND, /* to `digits` decimals, half away from zero */
    BRUME_RELEASE_FLOOR,
    BRUME_RELEASE_CEIL,
    BRUME_RELEASE_SQRT,
    BRUME_RELEASE_LN,
    BRUME_RELEASE_EXP,
    BRUME_RELEASE_EQUAL,
    BRUME_RELEASE_NOT_EQUAL,
    BRUME_RELEASE_LESS,
    BRUME_RELEASE_LESS_EQUAL,
    BRUME_RELEASE_GREATER,
    BRUME_RELEASE_GREATER_EQUAL,
    BRUME_RELEASE_AND,
    BRUME_RELEASE_OR,
    BRUME_RELEASE_NOT,
    BRUME_RELEASE_IS_NULL,
    BRUME_RELEASE_COALESCE,
    BRUME_RELEASE_NULLIF,
    BRUME_RELEASE_GREATEST,
    BRUME_RELEASE_LEAST,
    BRUME_RELEASE_CASE, /* condition, value, ..., else */
} brume_release_kind;

typedef enum brume_value_kind {
    BRUME_VALUE_NULL,
    BRUME_VALUE_BOOLEAN,
    BRUME_VALUE_NUMBER,
    BRUME_VALUE_TEXT, /* also dates and timestamps, in their canonical text */
} brume_value_kind;

typedef struct brume_value {
    brume_value_kind kind;
    bool boolean;
    double number;
    const char *text; /* not owned */
    size_t length;
} brume_value;

typedef struct brume_release {
    brume_release_kind kind;
    size_t index;
    int digits;
    brume_value value;
    size_t argument_count;
    const struct brume_release *const *arguments;
} brume_release;

const char *brume_release_word(brume_release_kind kind);

/* The value for one group. Text of the result points into the arguments or the tree. */
brume_value brume_release_evaluate(const brume_release *release, const brume_value *keys,
                                   const brume_value *aggregates);

/* Whether HAVING keeps the group: NULL does not. */
bool brume_release_is_true(const brume_release *release, const brume_value *keys,
                           const brume_value *aggregates);

/* Order of two values, NULL after everything: numbers by size, text by bytes, false before true. */
int brume_value_compare(const brume_value *a, const brume_value *b);

bool brume_release_equal(const brume_release *a, const brume_release *b);

#endif
