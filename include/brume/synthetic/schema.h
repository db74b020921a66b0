/* A schema: the named columns of a universe, and which text of a table is which value.
 *
 * 1. A column has a public domain: labels in an order of their own, or bins of equal width between
 *    two bounds. Values are numbered from 0 in that order.
 * 2. Labels: a text that is a label's bytes is that value; so is a number that equals a label that
 *    is a number (1, 1.0, 01). Bins: bin i of b is [low + i w, low + (i+1) w), w = (high - low)/b,
 *    the last one with its upper end; numbers beyond the bounds are clamped.
 * 3. What is neither, a missing text too, is the column's last value, `other`, if it has one; else
 *    it has no value. So reading is total: no row can make it fail.
 * 4. A value is written as its label, a bin as the middle of it, `other` as an empty text. */
#ifndef BRUME_SCHEMA_H
#define BRUME_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/adjacency.h>
#include <brume/status.h>
#include <brume/synthetic/universe.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A universe has fewer columns: BRUME_UNIVERSE_COLUMNS. */
enum { BRUME_SCHEMA_COLUMNS = 128, BRUME_SCHEMA_VALUES = 1 << 20, BRUME_SCHEMA_TEXT = 32 };

typedef struct brume_schema brume_schema;

/* An empty schema. Close with brume_schema_close, which takes NULL. */
BRUME_API BRUME_MUST_USE brume_status brume_schema_open(brume_schema **out, brume_error *error);
BRUME_API void brume_schema_close(brume_schema *schema);

/* Add a column of labels, or of bins; `other`: see 3. Names and labels are copied.
 * Errors: BRUME_EARGUMENT for a name that is empty or there already, no labels or more than
 * BRUME_SCHEMA_VALUES, a label that is empty or there twice (as in 2), bounds that are not finite
 * or not low < high, no bins; more than BRUME_SCHEMA_COLUMNS columns. BRUME_EMEMORY. */
BRUME_API BRUME_MUST_USE brume_status brume_schema_add_labels(brume_schema *schema,
                                                              const char *name,
                                                              const char *const *labels,
                                                              size_t count, bool other,
                                                              brume_error *error);
BRUME_API BRUME_MUST_USE brume_status brume_schema_add_bins(brume_schema *schema, const char *name,
                                                            double low, double high, uint32_t bins,
                                                            bool other, brume_error *error);

/* The columns: how many, their names, and one by its name (exactly, else without regard to case;
 * SIZE_MAX: there is none). */
BRUME_API size_t brume_schema_columns(const brume_schema *schema);
BRUME_API const char *brume_schema_name(const brume_schema *schema, size_t column);
BRUME_API size_t brume_schema_find(const brume_schema *schema, const char *name);

/* Values of a column, `other` included; whether it has `other`; whether it has bins. */
BRUME_API uint32_t brume_schema_size(const brume_schema *schema, size_t column);
BRUME_API bool brume_schema_has_other(const brume_schema *schema, size_t column);
BRUME_API bool brume_schema_has_bins(const brume_schema *schema, size_t column);

/* The universe of the columns. Errors: those of brume_universe_make. */
BRUME_API BRUME_MUST_USE brume_status brume_schema_universe(const brume_schema *schema,
                                                            brume_universe *out,
                                                            brume_error *error);

/* The value of a text (NULL: missing); false if it has none. */
BRUME_API bool brume_schema_value(const brume_schema *schema, size_t column, const char *text,
                                  uint32_t *value);

/* The cell of a row: one text per column (NULL: missing). Where a text has no value the row has no
 * cell and false is returned, under BRUME_ADD_REMOVE; under BRUME_REPLACE, where the number of rows
 * is public and each must count, it counts as the column's first value. So one row more, less or
 * other is at most one record more, less or other. */
BRUME_API bool brume_schema_cell(const brume_schema *schema, const brume_universe *universe,
                                 brume_adjacency adjacency, const char *const *texts,
                                 uint64_t *cell);

/* The number of the lower edge of bin i, 0 <= i <= bins; i = bins is the upper bound. */
BRUME_API double brume_schema_edge(const brume_schema *schema, size_t column, uint32_t i);

/* The text of a value; it lives in the schema, or in `room`. */
BRUME_API const char *brume_schema_text(const brume_schema *schema, size_t column, uint32_t value,
                                        char room[BRUME_SCHEMA_TEXT]);

#ifdef __cplusplus
}
#endif

#endif
