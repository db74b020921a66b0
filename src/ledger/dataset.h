/* What the files of src/ledger share about datasets. */
#ifndef BRUME_LEDGER_DATASET_H
#define BRUME_LEDGER_DATASET_H

#include "ledger/ledger.h"

/* Is the dataset one that needs no protection, by the policy that the journal states? */
BRUME_MUST_USE brume_status brume_dataset_is_public(brume_ledger *ledger, const char *name,
                                                    bool *is_public, brume_error *error);

enum { BRUME_MOST_DATASET_NAME = 255, BRUME_PASSWORD_NAME = BRUME_MOST_DATASET_NAME + 32 };

/* Do a window's budget and that of whole histories (NULL: none) go together? EPOLICY: a window
 * budget that would never bind, since a unit's window pays at most twice the epsilon (four times
 * the rho) of its whole history; EARGUMENT: another rule. */
BRUME_MUST_USE brume_status brume_window_budget_check(const brume_filter *window,
                                                      const brume_filter *whole,
                                                      brume_error *error);

/* Without a budget for whole histories: is every protected row of the policy in a window? EPOLICY:
 * a table is in none, and nothing would protect it. */
BRUME_MUST_USE brume_status brume_window_cover_check(const json_t *policy, brume_error *error);

/* Under which name the password of a dataset's server is kept (store.h). */
void brume_password_name(const char *dataset, char name[BRUME_PASSWORD_NAME]);

#endif
