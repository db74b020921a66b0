/* A user's row, for the files of src/ledger that read or change it. */
#ifndef BRUME_LEDGER_USER_ROW_H
#define BRUME_LEDGER_USER_ROW_H

#include "ledger/store.h"
#include "ledger/user.h"

typedef struct brume_user_row {
    brume_role role;
    int64_t expires; /* 0: never */
    uint64_t issued, changed;
    bool removed;
} brume_user_row;

enum { BRUME_USER_SECRET = BRUME_MOST_USER_NAME + 32 };
/* The key of the verifiers that nobody meets. */
#define BRUME_DECOY_KEY "key of decoys"

/* The ledger's user, inside the transaction of a charge: may this user be charged now? BRUME_OK
 * where the ledger acts for nobody. */
BRUME_MUST_USE brume_status brume_user_check_charge(brume_ledger *ledger, brume_error *error);

/* Is the ledger's user an owner, inside the transaction of what only owners do? BRUME_OK where it
 * acts for nobody. */
BRUME_MUST_USE brume_status brume_user_check_owner(brume_ledger *ledger, brume_error *error);

/* Charge the allotment of the ledger's user on this dataset, if there is one: in memory, with its
 * state after it as text; "" if there is none. EBUDGET. */
BRUME_MUST_USE brume_status brume_allotment_charge(brume_ledger *ledger, const char *dataset,
                                                   const brume_charge *price,
                                                   char state[BRUME_FILTER_TEXT],
                                                   brume_error *error);

/* Write the state that journal row `id` will give to it. */
BRUME_MUST_USE brume_status brume_allotment_store(brume_ledger *ledger, const char *user,
                                                  const char *dataset, const char *state,
                                                  uint64_t id, brume_error *error);

/* The filter of a new allotment on a dataset, with the sums of `before` (NULL: none). */
BRUME_MUST_USE brume_status brume_allotment_filter(const brume_dataset *dataset,
                                                   const brume_allotment *typed,
                                                   const brume_filter *before, brume_filter *out,
                                                   brume_error *error);

#endif
