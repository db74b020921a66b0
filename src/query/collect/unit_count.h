/* How many units satisfy a condition, asked many times of rows that are read once.
 *
 * 1. A condition is what may follow WHERE: over the columns of one dataset, without subqueries. It
 *    is checked like every query, and no row makes it fail.
 * 2. The count is of the units of which at least one row satisfies it; rows whose unit is NULL are
 *    nobody's. Where a row is a unit it is the number of such rows.
 * 3. So one unit more or less moves the counts of all conditions by 0 or 1, and in one direction;
 *    one unit with other rows moves each by -1, 0 or 1. proofs/sparse_vector.md, "Conditions".
 * 4. Files are read at open, into memory; tables of a server are read for every condition.
 * 5. Nothing of a condition is kept after its answer. */
#ifndef BRUME_QUERY_UNIT_COUNT_H
#define BRUME_QUERY_UNIT_COUNT_H

#include <brume/bits.h>

#include "query/plan/question.h"

typedef struct brume_unit_counter brume_unit_counter;

/* Read the rows of the one dataset of `question`, which must outlive the counter, as must `engine`.
 * Errors: those of the engine; EMEMORY. */
BRUME_MUST_USE brume_status brume_unit_counter_open(const brume_question *question,
                                                    brume_engine *engine, brume_bits *bits,
                                                    brume_unit_counter **out, brume_error *error);
void brume_unit_counter_close(brume_unit_counter *counter);

/* The true count of a condition: private. Errors before anything is read: ESYNTAX, EUNKNOWN,
 * EUNSUPPORTED, EARGUMENT; then those of the engine. */
BRUME_MUST_USE brume_status brume_unit_counter_ask(brume_unit_counter *counter,
                                                   const char *condition, uint64_t *units,
                                                   brume_error *error);

#endif
