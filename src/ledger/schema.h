/* The tables of the ledger's file, and the way from an older schema to this one. */
#ifndef BRUME_LEDGER_SCHEMA_H
#define BRUME_LEDGER_SCHEMA_H

#include "ledger/store.h"

/* Make an empty file a ledger, inside the current write transaction. */
BRUME_MUST_USE brume_status brume_schema_create(brume_ledger *ledger, brume_error *error);

/* Has the file exactly the tables, indexes and triggers of ledger->schema, letter by letter? A
 * foreign trigger could change what a charge does. BRUME_EDAMAGED otherwise. */
BRUME_MUST_USE brume_status brume_schema_check(brume_ledger *ledger, brume_error *error);

/* Bring an older ledger to BRUME_LEDGER_SCHEMA, inside the current write transaction: verified
 * before and after, the journal only continued. BRUME_EDAMAGED if it did not hold before. */
BRUME_MUST_USE brume_status brume_schema_migrate(brume_ledger *ledger, brume_error *error);

#endif
