/* Exact values as they come from an engine, such as the key of a group: their order, and what they
 * are as text and in formulas. */
#ifndef BRUME_QUERY_KEY_VALUE_H
#define BRUME_QUERY_KEY_VALUE_H

#include "engine/engine.h"
#include "query/sql/formula.h"

/* One cell of a group's key. */
typedef struct brume_key_value {
    bool null;
    brume_wire wire;
    int64_t integer;
    double real;
    brume_text text; /* lives as long as the result */
} brume_key_value;

/* The order of keys that is used everywhere: NULL last, numbers by size, text by bytes. */
int brume_keys_compare(const brume_key_value *a, const brume_key_value *b, size_t count);

/* An integer as it travels (a decimal in its units, days, microseconds, 0 or 1) as text of its
 * type. */
void brume_integer_text(brume_type type, int64_t value, char *text, size_t size);

enum { BRUME_KEY_TEXT = 48 };

/* A key as a value; `room`, of `size` bytes, holds texts that have to be made. */
brume_value brume_key_formula_value(brume_type type, const brume_key_value *key, char *room,
                                    size_t size);

#endif
