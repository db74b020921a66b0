/* Two neighbouring databases for the tables of a question, made from its policies alone.
 *
 * 1. Units with rows of public values. Under add-remove the second database has one unit more in
 *    one of the tables, or in all tables of a dataset that are linked; under replace one unit has
 *    other rows in one of the tables.
 * 2. In linked tables every unit has keys of its own, so that its rows lead to its own unit. Keys
 *    of different tables meet, and where a recipe says so, the unit that differs has the keys of
 *    other units: rows that are linked to them are its rows too while it is there, and stay when
 *    it goes.
 * 3. For the neighbour of a window (hints.window; the question's windows are found): the unit that
 *    differs has rows in a first window, which go, or under replace are others, and rows of other
 *    groups in a last one, which stay. Rows of all others are in these two windows as well.
 * 4. The sources of the datasets are never read: the tables are CSV files in a folder of their own,
 *    or constants in the SQL that a server runs (made_table.h). */
#ifndef BRUME_AUDIT_NEIGHBOURS_H
#define BRUME_AUDIT_NEIGHBOURS_H

#include "query/plan/question.h"

/* Which units the tables of an audit have, and what the unit that differs has: a list of recipes,
 * each of which attacks something else. Any of them gives neighbours; the draws say which tell
 * most.
 *
 * Most other units have one row each, so that no limit has to choose among their rows: what differs
 * is what the one unit does. Some have several, so that the limits that are chosen rise. */

/* What the price says of a query. */
typedef struct brume_recipe_hints {
    uint64_t threshold; /* units that a private key or an undeclared mode needs; 0: there is none */
    double epsilon;
    bool limits;     /* what one unit may add is chosen as part of the answer */
    bool replace;    /* a unit is replaced by another */
    bool shared;     /* rows may be linked to several units */
    bool means;      /* a sum and a number of values are measured for a mean */
    bool quantiles;  /* there is one, */
    double quantile; /* this one */
    bool window;     /* the unit differs in its rows of one window that the question touches */
} brume_recipe_hints;

typedef struct brume_neighbours brume_neighbours;

/* May rows of a linked table belong to several units: do links lead to a column that is not the
 * unit? */
bool brume_neighbours_share(const brume_question *question);

/* How many pairs there are: of each recipe one for every private table, in a row. */
size_t brume_neighbours_count(const brume_question *question, const brume_recipe_hints *hints);

/* Make pair `number`; each is another. `sql` is the question's text. Close with
 * brume_neighbours_close, which removes the files. Errors: BRUME_EUNSUPPORTED for units whose type
 * has too few values; BRUME_EDISK, BRUME_EMEMORY and those of brume_engine_open. */
BRUME_MUST_USE brume_status brume_neighbours_open(const brume_question *question,
                                                  brume_adjacency adjacency, const char *sql,
                                                  const brume_recipe_hints *hints, size_t number,
                                                  brume_neighbours **out, brume_error *error);
void brume_neighbours_close(brume_neighbours *neighbours);

/* One database of so many units of one row each, for trying a query out: always the same for a
 * question, and as independent of the data. brume_neighbours_engine gives it as the first. Errors
 * as above. */
BRUME_MUST_USE brume_status brume_neighbours_open_one(const brume_question *question,
                                                      const char *sql, uint64_t units,
                                                      brume_neighbours **out, brume_error *error);

/* The first database or the second, for brume_draw_answer. Each lane has engines of its own, opened
 * when they are asked for, so that threads of different lanes may draw at once. The errors of
 * brume_engine_open; BRUME_EARGUMENT for a lane that is none of BRUME_NEIGHBOUR_LANES. */
enum { BRUME_NEIGHBOUR_LANES = 16 };
BRUME_MUST_USE brume_status brume_neighbours_engine(brume_neighbours *neighbours, size_t lane,
                                                    bool second, brume_engine **out,
                                                    brume_error *error);

/* Write both databases as CSV files into the folder, which exists: 1-TABLE.csv and 2-TABLE.csv.
 * Files only; for a server BRUME_EUNSUPPORTED. */
BRUME_MUST_USE brume_status brume_neighbours_save(const brume_neighbours *neighbours,
                                                  const char *folder, brume_error *error);

/* "6 units made from the policy of 'visits', and one more with 4 rows" */
const char *brume_neighbours_words(const brume_neighbours *neighbours);

#endif
