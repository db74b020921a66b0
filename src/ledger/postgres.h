/* The ledger in a PostgreSQL database: opening it, and what its administrator runs. */
#ifndef BRUME_LEDGER_POSTGRES_H
#define BRUME_LEDGER_POSTGRES_H

#include "ledger/store.h"

extern const brume_store_engine brume_postgres_engine;

/* Connect to the URL, make the tables where there are none and `mode` allows it, and check that
 * they are brume's. Errors: those of brume_ledger_open. */
BRUME_MUST_USE brume_status brume_postgres_open(const char *url, brume_ledger_mode mode,
                                                brume_ledger *ledger, brume_error *error);

#endif
