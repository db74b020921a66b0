/* Verify inside a transaction, for who holds one already. */
#ifndef BRUME_LEDGER_VERIFY_H
#define BRUME_LEDGER_VERIFY_H

#include "ledger/store.h"

/* As brume_ledger_verify, in the current transaction. */
BRUME_MUST_USE brume_status brume_verify_now(brume_ledger *ledger, brume_ledger_report *report,
                                             brume_error *error);

#endif
