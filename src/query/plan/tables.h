/* The tables of a dataset: one unit, one budget.
 *
 * 1. A table has a column that says whose row it is (its unit), or a link to another table of the
 *    dataset, or it is public. Several tables may have a unit column: equal values are one unit.
 * 2. Links lead, step by step and without a circle, to a table with a unit column; the two columns
 *    of a link are of one type.
 * 3. A dataset that was registered as one file or table has one table, of the dataset's name; where
 *    the row is the unit there is no other protected table.
 * 4. Windows (ledger/window.h): every protected table says in which its rows are, on one grid, or
 *    none does. The chain of `link` ends at a table with a column of its own. */
#ifndef BRUME_QUERY_TABLES_H
#define BRUME_QUERY_TABLES_H

#include "query/plan/policy.h"

typedef struct brume_table_policy {
    char *name;
    brume_policy *policy;
} brume_table_policy;

typedef struct brume_tables {
    size_t count;
    brume_table_policy *list;
    bool is_listed; /* registered from a policy file, as a list of tables */
} brume_tables;

enum { BRUME_MOST_TABLES = 64 };

/* Free everything; NULL is allowed. */
void brume_tables_close(brume_tables *tables);

/* Room for `count` tables, all empty and to be filled; NULL if memory is out. */
brume_tables *brume_tables_open(size_t count);

/* Clauses 1 to 4. EARGUMENT, EUNKNOWN with the nearest name. */
BRUME_MUST_USE brume_status brume_tables_check(const brume_tables *tables, brume_error *error);

/* The policy of a dataset as the ledger keeps it; NULL if memory is out. */
json_t *brume_tables_to_json(const brume_tables *tables);

/* Read it back, of a dataset of this name. EDAMAGED if it is not what was written. */
BRUME_MUST_USE brume_status brume_tables_from_json(const json_t *json, const char *dataset,
                                                   brume_tables **out, brume_error *error);

/* The table of that name (exactly, else without regard to case), or SIZE_MAX. */
size_t brume_tables_find(const brume_tables *tables, const char *name);

/* Do rows belong to the same units under both? False wherever that is not certain, also where the
 * tables are not the same ones. */
bool brume_tables_same_units(const brume_tables *before, const brume_tables *after);

#endif
