/* The groups of public keys: every combination of their values that can occur.
 *
 * Which combinations can occur is known without a protected row where
 *   1. keys read public tables that the query joins: the combinations that the joined tables have
 *      (brume_query.ties);
 *   2. keys are functions of one date or timestamp whose days lie between two constants: year,
 *      quarter, month, day, weekday and day of the year of it, the starts of parts of time by
 *      date_trunc, and the date itself.
 * Rows of no such combination do not exist; one that came all the same is dropped, as a row
 * outside of a declared domain is. proofs/public-keys.md. */
#ifndef BRUME_QUERY_KEY_CELLS_H
#define BRUME_QUERY_KEY_CELLS_H

#include "query/plan/key_domain.h"
#include "query/plan/plan.h"

/* Visit every group of a closed domain, the last key fastest. */
typedef brume_status (*brume_cell_visitor)(void *context, const brume_key_value *cell,
                                           brume_error *error);

BRUME_MUST_USE brume_status brume_cells_visit(const brume_collection *collection,
                                              brume_cell_visitor visit, void *context,
                                              brume_error *error);

#endif
