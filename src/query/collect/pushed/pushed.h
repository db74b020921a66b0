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
 * distinct values, modes of undeclared ones) the server's own hash ranks it: pushed.c. What
 * is kept of a unit is a function of its own rows and the key, whatever the hash is.
 *
 * What cannot be pushed down: brume_push_obstacle. */
#ifndef BRUME_QUERY_PUSHED_H
#define BRUME_QUERY_PUSHED_H

#include "query/collect/pushed/pushed_statement.h"

/* Why a collection needs rows outside of an engine of this dialect, as the end of a sentence that
 * begins with "because"; NULL: it does not. Public: nothing is read for it. */
const char *brume_push_obstacle(const brume_collection *collection, brume_dialect dialect);

/* What is an engine's own: what it cannot be asked, and how it is asked. The statements are printed
 * around `rows`, the text of the SELECT whose columns "r0", "r1", ... are the unit, the keys and
 * the values of the collection. *sql is the caller's, to free. */
typedef struct brume_push_dialect {
    const char *(*obstacle)(const brume_collection *collection); /* as brume_push_obstacle */

    /* Result: bin and number of units, both INTEGER, for the bins that are not empty. */
    brume_status (*print_histogram)(const brume_collection *collection, const char *rows,
                                    const brume_total *of, int p, size_t bins, char **sql,
                                    brume_error *error);

    /* Result: the keys, then the units (INTEGER), the rows (TEXT) and each of the sums (TEXT) of
     * every group that has a row; where there are no keys, one row. */
    brume_status (*print_sums)(const brume_collection *collection, const char *rows,
                               const brume_total_limit *limits, size_t limit_count, int p,
                               const brume_limited_sum *sums, size_t sum_count, char **sql,
                               brume_error *error);

    /* Print an integer of 64 bits; the hash of the unit and the keys with `key`, of 64 bits; and,
     * as a table, what is wanted of each pair of a unit and a group, with "r0", the keys and its
     * rows "n"; or with `whole` of each unit in all groups together. */
    void (*put_integer)(FILE *out, int64_t value);
    void (*put_rank)(const brume_push_statement *to, uint64_t key);
    void (*put_totals)(const brume_push_statement *to, const char *rows, bool whole);
} brume_push_dialect;

/* NULL: nothing is pushed down there. */
const brume_push_dialect *brume_push_dialect_of(brume_dialect dialect);

/* ---- what is kept by hash ---- */

/* Its key is secret, and another one for each collection. */

/* Groups of which each unit keeps one. Result: the keys, and the units that keep each (INTEGER). */
BRUME_MUST_USE brume_status brume_push_print_kept(const brume_push_dialect *dialect,
                                                  const brume_collection *collection,
                                                  const char *rows, uint64_t key, char **sql,
                                                  brume_error *error);

/* How many values of the last key there are under each combination of the others, of those that
 * some unit keeps: a unit keeps `limit` of its pairs. Result: the other keys, and the number
 * (INTEGER). */
BRUME_MUST_USE brume_status brume_push_print_distinct(const brume_push_dialect *dialect,
                                                      const brume_collection *collection,
                                                      const char *rows, uint64_t key,
                                                      uint64_t limit, char **sql,
                                                      brume_error *error);

/* Groups of which each unit keeps max_groups, and nothing but them: no value is measured. Result:
 * the keys, and the units (INTEGER) that keep them. */
BRUME_MUST_USE brume_status brume_push_print_bounded(const brume_push_dialect *dialect,
                                                     const brume_collection *collection,
                                                     const char *rows, uint64_t key, char **sql,
                                                     brume_error *error);

#endif
