/* Totals where the rows lie: the engine adds up, and only histograms and groups cross over.
 *
 * What totals.h does with streamed rows is done here by two statements that the server runs, around
 * the very SELECT whose rows would be streamed (brume_query_print_rows): first the units counted by
 * their norms, then, when the limits are known, the sums of what is left of each unit's totals.
 *
 * 1. The integers are those of totals.h, to the last one: totals and norms are exact in `numeric`;
 *    where clip.h divides integers so does numeric's div, and where it takes doubles the server
 *    takes the same ones in the same order (float8 is IEEE 754 binary64, a numeric becomes the
 *    nearest one, and every operation is rounded to nearest).
 * 2. So the sensitivity is the one that proofs/limits.md shows, and plan, price and noise are the
 *    same as for streamed rows.
 * 3. No row makes a statement fail: sums of int8 are numeric, nothing that is multiplied in int8
 *    can leave it, no quotient has a divisor of 0, no double overflows or vanishes.
 * 4. Both statements read one snapshot: a transaction is held from the first to the last.
 * proofs/push-down.md has the argument.
 *
 * Where something of every unit is kept by a keyed hash (groups that nobody declared, counts of
 * distinct values, modes of undeclared ones) the server's own hash ranks it: pushed_choice.c. What
 * is kept of a unit is a function of its own rows and the key, whatever the hash is.
 *
 * What cannot be pushed down: brume_push_obstacle. */
#ifndef BRUME_QUERY_PUSHED_H
#define BRUME_QUERY_PUSHED_H

#include <stdio.h>

#include "query/collect/totals.h"
#include "query/plan/collection.h"

/* Why a collection needs rows outside of an engine of this dialect, as the end of a sentence that
 * begins with "because"; NULL: it does not. Public: nothing is read for it. */
const char *brume_push_obstacle(const brume_collection *collection, brume_dialect dialect);

/* Print " WHERE ...": the keys "r1", "r2", ... are those of a declared group, and of one of
 * collection->only; nothing where there is no condition. */
void brume_push_put_domain(FILE *out, const brume_collection *collection);

/* What is printed around `rows`, the text of the SELECT whose columns "r0", "r1", ... are the unit,
 * the keys and the values of the collection. *sql is the caller's, to free.
 *
 * The histogram's result: bin and number of units, both INTEGER, for the bins that are not empty.
 * The sums' result: the keys, then the units (INTEGER), the rows (TEXT) and each of the sums (TEXT)
 * of every group that has a row; where there are no keys, one row. */
BRUME_MUST_USE brume_status brume_push_print_histogram(const brume_collection *collection,
                                                       const char *rows, const brume_total *of,
                                                       int p, size_t bins, char **sql,
                                                       brume_error *error);
BRUME_MUST_USE brume_status brume_push_print_sums(const brume_collection *collection,
                                                  const char *rows, const brume_total_limit *limits,
                                                  size_t limit_count, int p,
                                                  const brume_limited_sum *sums, size_t sum_count,
                                                  char **sql, brume_error *error);

/* What is kept by a hash with `key`, which is secret, and another one for each collection. */

/* Groups of which each unit keeps one. Result: the keys, and the units that keep each (INTEGER). */
BRUME_MUST_USE brume_status brume_push_print_kept(const brume_collection *collection,
                                                  const char *rows, uint64_t key, char **sql,
                                                  brume_error *error);

/* How many values of the last key there are under each combination of the others, of those that
 * some unit keeps: a unit keeps `limit` of its pairs. Result: the other keys, and the number
 * (INTEGER). */
BRUME_MUST_USE brume_status brume_push_print_distinct(const brume_collection *collection,
                                                      const char *rows, uint64_t key,
                                                      uint64_t limit, char **sql,
                                                      brume_error *error);

/* Groups of which each unit keeps max_groups, and nothing but them: no value is measured. Result:
 * the keys, and the units and rows (INTEGER) that are kept, max_rows rows of each pair at most. */
BRUME_MUST_USE brume_status brume_push_print_bounded(const brume_collection *collection,
                                                     const char *rows, uint64_t key, char **sql,
                                                     brume_error *error);

/* ---- shared by the dialects ---- */

/* "r1", "r2", ...: the first `count` keys, after `before`; nothing where there are none. */
void brume_push_put_keys(FILE *out, size_t count, const char *before);

/* A dialect's condition that key k is one of these values; print with it that the keys are those of
 * a declared group, in any of the grouping sets. */
typedef void (*brume_push_among)(FILE *out, size_t k, const brume_key_value *values, size_t count);
void brume_push_put_sets(FILE *out, const brume_collection *collection, brume_push_among put_among);

/* May a unit be in more groups than stay? Public: declared groups are counted, not rows. */
bool brume_push_cuts_groups(const brume_collection *collection);

/* As brume_push_obstacle, where a statement names at most so many declared values; `more` is said
 * of more. */
const char *brume_push_shared_obstacle(const brume_collection *collection, size_t most,
                                       const char *more);

/* ---- */

/* Longer SELECTs of rows are fenced off. */
const char *brume_push_fence(const char *rows);

/* What is an engine's own: how it is asked, and what it cannot be asked. A dialect has its
 * statements in a file of its own; the functions above are PostgreSQL's. */
typedef struct brume_push_dialect {
    const char *(*obstacle)(const brume_collection *collection); /* as brume_push_obstacle */
    brume_status (*print_histogram)(const brume_collection *collection, const char *rows,
                                    const brume_total *of, int p, size_t bins, char **sql,
                                    brume_error *error);
    brume_status (*print_sums)(const brume_collection *collection, const char *rows,
                               const brume_total_limit *limits, size_t limit_count, int p,
                               const brume_limited_sum *sums, size_t sum_count, char **sql,
                               brume_error *error);
    /* What is kept by hash. */
    brume_status (*print_kept)(const brume_collection *collection, const char *rows, uint64_t key,
                               char **sql, brume_error *error);
    brume_status (*print_distinct)(const brume_collection *collection, const char *rows,
                                   uint64_t key, uint64_t limit, char **sql, brume_error *error);
    brume_status (*print_bounded)(const brume_collection *collection, const char *rows,
                                  uint64_t key, char **sql, brume_error *error);
} brume_push_dialect;

/* NULL: nothing is pushed down there. */
const brume_push_dialect *brume_push_dialect_of(brume_dialect dialect);

/* The obstacles of PostgreSQL. */
const char *brume_push_postgresql_obstacle(const brume_collection *collection);

#endif
