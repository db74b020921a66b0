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

/* Inside the transaction of a charge: is the project in which the handle asks still the user's? */
BRUME_MUST_USE brume_status brume_project_check_charge(brume_ledger *ledger, brume_error *error);

/* Whose allotment it is: a user's name, or "project:NAME". */
enum { BRUME_HOLDER_TEXT = BRUME_MOST_USER_NAME + 1 };
void brume_project_holder(const char *project, char holder[BRUME_HOLDER_TEXT]);

/* Of this handle: its project, else its user, else NULL. */
const char *brume_ledger_holder(const brume_ledger *ledger, char holder[BRUME_HOLDER_TEXT]);

/* Charge the allotment of the ledger's project or user on this dataset, if there is one
 * (a project must have one): in memory, with its
 * state after it as text; "" if there is none. EBUDGET. */
BRUME_MUST_USE brume_status brume_allotment_charge(brume_ledger *ledger, const char *dataset,
                                                   const brume_charge *price,
                                                   char state[BRUME_FILTER_TEXT],
                                                   brume_error *error);

/* Write the state that journal row `id` will give to it. */
BRUME_MUST_USE brume_status brume_allotment_store(brume_ledger *ledger, const char *user,
                                                  const char *dataset, const char *state,
                                                  uint64_t id, brume_error *error);

/* Give, raise or lower one, for journal row `id`; `list` gets its entry. */
BRUME_MUST_USE brume_status brume_allotment_give(brume_ledger *ledger, const char *holder,
                                                 const brume_allotment *typed, uint64_t id,
                                                 json_t *list, brume_error *error);

/* The filter of a new allotment on a dataset, with the sums of `before` (NULL: none). */
BRUME_MUST_USE brume_status brume_allotment_filter(const brume_dataset *dataset,
                                                   const brume_allotment *typed,
                                                   const brume_filter *before, brume_filter *out,
                                                   brume_error *error);

#endif
