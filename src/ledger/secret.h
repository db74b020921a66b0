/* What the ledger knows and shows nobody: keys, passwords of servers, hashes of tokens.
 *
 * In the file, which only its owner may read, and in no journal row, export or answer. The newest
 * row's digest vouches for it. */
#ifndef BRUME_LEDGER_SECRET_H
#define BRUME_LEDGER_SECRET_H

#include "ledger/store.h"

/* Draw 32 random bytes under this name, as hexadecimal digits. */
BRUME_MUST_USE brume_status brume_secret_draw(brume_ledger *ledger, const char *name,
                                              brume_error *error);

BRUME_MUST_USE brume_status brume_secret_set(brume_ledger *ledger, const char *name,
                                             const char *value, brume_error *error);

/* In place of the one of this name, if there is one; and without it. */
BRUME_MUST_USE brume_status brume_secret_replace(brume_ledger *ledger, const char *name,
                                                 const char *value, brume_error *error);
BRUME_MUST_USE brume_status brume_secret_forget(brume_ledger *ledger, const char *name,
                                                brume_error *error);

/* The secret, which the caller frees; NULL if there is none of that name. */
BRUME_MUST_USE brume_status brume_secret_read(brume_ledger *ledger, const char *name, char **value,
                                              brume_error *error);

#endif
