/* What is shown, computed from what was released: arithmetic on aggregates, HAVING, ORDER BY.
 *
 * A tree over the keys and the aggregates of one released group. Post-processing: no node can read
 * data. Total: what has no value is NULL, as is a division by a number that is not above 0 (a noisy
 * count may be 0 or less). */
#ifndef BRUME_QUERY_FORMULA_H
#define BRUME_QUERY_FORMULA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum brume_formula_kind {
    BRUME_FORMULA_KEY,       /* keys[index] */
    BRUME_FORMULA_AGGREGATE, /* aggregates[index] */
    BRUME_FORMULA_LITERAL,   /* value */
    BRUME_FORMULA_ADD,
    BRUME_FORMULA_SUBTRACT,
    BRUME_FORMULA_MULTIPLY,
    BRUME_FORMULA_DIVIDE,
    BRUME_FORMULA_NEGATE,
    BRUME_FORMULA_ABS,
    BRUME_FORMULA_ROUND, /* to `digits` decimals, half away from zero */
    BRUME_FORMULA_FLOOR,
    BRUME_FORMULA_CEIL,
    BRUME_FORMULA_SQRT,
    BRUME_FORMULA_LN,
    BRUME_FORMULA_EXP,
    BRUME_FORMULA_EQUAL,
    BRUME_FORMULA_NOT_EQUAL,
    BRUME_FORMULA_LESS,
    BRUME_FORMULA_LESS_EQUAL,
    BRUME_FORMULA_GREATER,
    BRUME_FORMULA_GREATER_EQUAL,
    BRUME_FORMULA_AND,
    BRUME_FORMULA_OR,
    BRUME_FORMULA_NOT,
    BRUME_FORMULA_IS_NULL,
    BRUME_FORMULA_COALESCE,
    BRUME_FORMULA_NULLIF,
    BRUME_FORMULA_GREATEST,
    BRUME_FORMULA_LEAST,
    BRUME_FORMULA_CASE,      /* condition, value, ..., else */
    BRUME_FORMULA_DATE,      /* of days since 1970-01-01 */
    BRUME_FORMULA_TIMESTAMP, /* of seconds since then */
    BRUME_FORMULA_WINDOW,    /* windows[index]: a function of the shown rows, computed before */
} brume_formula_kind;

typedef enum brume_value_kind {
    BRUME_VALUE_NULL,
    BRUME_VALUE_BOOLEAN,
    BRUME_VALUE_NUMBER,
    BRUME_VALUE_TEXT,      /* also keys that are dates and timestamps, in their canonical text */
    BRUME_VALUE_DATE,      /* number: days since 1970-01-01 */
    BRUME_VALUE_TIMESTAMP, /* number: seconds since then */
} brume_value_kind;

typedef struct brume_value {
    brume_value_kind kind;
    bool boolean;
    double number;
    const char *text; /* not owned; of a NUMBER its digits, where it is a whole number of 64 bits,
                         of 2^53 or more in size (a key, an exact answer); else NULL there */
    size_t length;
} brume_value;

/* A NUMBER as a whole number: of its digits where it has some. It must be one. */
int64_t brume_value_whole(const brume_value *value);

/* A function of the rows that are shown: those that HAVING keeps, before LIMIT. */
typedef enum brume_window_function {
    BRUME_WINDOW_ROW_NUMBER,
    BRUME_WINDOW_RANK,
    BRUME_WINDOW_DENSE_RANK,
    BRUME_WINDOW_COUNT_ROWS,
    BRUME_WINDOW_COUNT,
    BRUME_WINDOW_SUM,
    BRUME_WINDOW_AVG,
    BRUME_WINDOW_MIN,
    BRUME_WINDOW_MAX,
} brume_window_function;

/* The arguments of the formula are what it is of (unless of none: ROW_NUMBER to COUNT_ROWS), then
 * those of PARTITION BY, then those of ORDER BY. */
typedef struct brume_window {
    brume_window_function function;
    size_t partition_count, order_count;
    const bool *descending, *nulls_first; /* of ORDER BY */
    bool by_row; /* a running value ends at its own row (ROWS), not with its equals (RANGE) */
} brume_window;

const char *brume_window_word(brume_window_function function);

typedef struct brume_formula {
    brume_formula_kind kind;
    size_t index;
    int digits;
    bool extreme; /* AGGREGATE: a quantile that was asked for as MIN or MAX */
    /* LITERAL: a number that was released before, and what its noise moved it by at most in 95 % of
     * draws; infinite: that is not known. */
    bool released;
    double error_95;
    brume_value value;
    const brume_window *window; /* WINDOW */
    size_t argument_count;
    const struct brume_formula *const *arguments;
} brume_formula;

const char *brume_formula_word(brume_formula_kind kind);

/* The value for one group. `aggregates` is followed by the values of the windows, by their index.
 * Text of the result points into the arguments or the tree. */
brume_value brume_formula_evaluate(const brume_formula *formula, const brume_value *keys,
                                   const brume_value *aggregates);

/* The canonical text of a DATE or TIMESTAMP value. */
enum { BRUME_TIME_TEXT = 32 };
void brume_value_time(const brume_value *value, char text[BRUME_TIME_TEXT]);

/* Whether HAVING keeps the group: NULL does not. */
bool brume_formula_is_true(const brume_formula *formula, const brume_value *keys,
                           const brume_value *aggregates);

/* Order of two values, NULL after everything: numbers by size, text by bytes, false before true. */
int brume_value_compare(const brume_value *a, const brume_value *b);

bool brume_formula_equal(const brume_formula *a, const brume_formula *b);

/* How many aggregates, and numbers that were released before, it is computed from. */
size_t brume_formula_count_aggregates(const brume_formula *formula);
size_t brume_formula_count_released(const brume_formula *formula);

#endif
