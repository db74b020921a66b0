/* Bounds of public columns that nobody declared: between which values they lie is read, for free.
 *
 * A sum of quantity * price needs to know how large a price can be, and the price is in a public
 * table. No row of a protected table is read. Should the table change before its rows are read,
 * values outside are clamped where they are put on a grid, as all are. */
#ifndef BRUME_QUERY_PUBLIC_BOUNDS_H
#define BRUME_QUERY_PUBLIC_BOUNDS_H

#include "ledger/ledger.h"
#include "query/expression/query.h"
#include "query/plan/policy.h"

/* The tables of a question, as it has them. */
typedef struct brume_bounds_reading {
    const char *sql;
    size_t table_count;
    brume_dataset *const *datasets;
    brume_policy *const *policies;
    const brume_catalog_table *tables;
    brume_catalog_column *const *columns; /* get the bounds */
    char **texts;                         /* of the bounds: whoever has the catalog frees them */
    size_t text_count;
} brume_bounds_reading;

/* Read the least and the greatest value of each number and date of the public tables that the SQL
 * names and that has no bounds. *found: there is such a column.
 * Errors: those of opening the sources; EPOLICY where one of them is not public any more. */
BRUME_MUST_USE brume_status brume_read_public_bounds(brume_ledger *ledger,
                                                     brume_bounds_reading *question, bool *found,
                                                     brume_error *error);

#endif
