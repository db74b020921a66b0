/* Columns as an owner declares them: 'person text, income integer, "full name", d decimal(9,2)'.
 *
 * Names and types parted by a space, columns by commas. A name with a comma, a space or a quote in
 * it is written in "...", a quote inside doubled. Types are those of base/type.h, in any case. */
#ifndef BRUME_ENGINE_DECLARED_H
#define BRUME_ENGINE_DECLARED_H

#include "engine/engine.h"

typedef struct brume_declared {
    brume_column *columns; /* only names and types; without a type BRUME_TYPE_REFUSED */
    size_t count;
} brume_declared;

/* EARGUMENT: not such a text, an unknown type, a name twice. Clear also after a failure. */
BRUME_MUST_USE brume_status brume_declared_parse(const char *text, brume_declared *out,
                                                 brume_error *error);
void brume_declared_clear(brume_declared *declared);

/* The column of that name, or NULL. */
brume_column *brume_declared_find(const brume_declared *declared, const char *name);

BRUME_MUST_USE brume_status brume_declared_add(brume_declared *declared, const char *name,
                                               brume_type type, brume_error *error);

/* The type of a column that has bounds and no declared type: whole bounds a BIGINT, others a
 * DECIMAL with as many decimals as they are typed with, wide enough to hold them; dates a DATE, or
 * a TIMESTAMP where one has more. False if they are neither, or too large for any. */
bool brume_declared_type_of_bounds(const char *low, const char *high, brume_type *type);

#endif
