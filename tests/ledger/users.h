/* Users in a ledger: what tests of users, tokens and allotments share. */
#ifndef BRUME_TESTS_LEDGER_USERS_H
#define BRUME_TESTS_LEDGER_USERS_H

#include "fixture.h"

#include "ledger/user.h"

/* Seconds since 1970. */
int64_t now(void);

/* Add a user with one allotment (dataset NULL: none). */
void add_with(brume_ledger *ledger, const char *name, brume_role role, const char *dataset,
              const char *epsilon, const char *delta, char token[BRUME_TOKEN_TEXT]);

/* Go on as this user, with whichever token. */
void act(brume_ledger *ledger, const char *name);

/* The ledger is sound, and has so many users. */
void check_verified(brume_ledger *ledger, uint64_t users);

/* Where the ledger of with_fresh_ledger is. */
const place *place_of(void **state);

#endif
