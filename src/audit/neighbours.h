/* Two neighbouring databases for the tables of a question, made from its policies alone.
 *
 * 1. A few units with rows of public values (values.h). Under add-remove the second database has
 * one unit more in one of the tables; under replace one unit of it has other rows there.
 * 2. That unit has as many groups and rows as the policy lets count, or twice as many, so that the
 *    bounding is attacked too.
 * 3. The sources of the datasets are never read: the tables are CSV files in a folder of their own,
 *    or constants in the SQL that a server runs (made_table.h). */
#ifndef BRUME_AUDIT_NEIGHBOURS_H
#define BRUME_AUDIT_NEIGHBOURS_H

#include "query/plan/question.h"

typedef struct brume_neighbours brume_neighbours;

/* Make pair `number`; each is another. `sql` is the question's text; `threshold` is how many units
 * a private key needs to be shown, 0 where keys are public. Close with brume_neighbours_close,
 * which removes the files. Errors: BRUME_EUNSUPPORTED for units whose type has too few values;
 * BRUME_EDISK, BRUME_EMEMORY and those of brume_engine_open. */
BRUME_MUST_USE brume_status brume_neighbours_open(const brume_question *question,
                                                  brume_adjacency adjacency, const char *sql,
                                                  uint64_t threshold, uint64_t number,
                                                  brume_neighbours **out, brume_error *error);
void brume_neighbours_close(brume_neighbours *neighbours);

/* The first database or the second, for brume_draw_answer. */
brume_engine *brume_neighbours_engine(const brume_neighbours *neighbours, bool second);

/* "6 units made from the policy of 'visits', and one more with 4 rows" */
const char *brume_neighbours_words(const brume_neighbours *neighbours);

#endif
