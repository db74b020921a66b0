/* Users: who may ask through a server, in which role, and with how much of each budget.
 *
 * 1. A user is a fact of the journal (kind `user`, journal.h): added, given another token or an
 *    allotment, removed. A name is never given again: the history names people by it.
 * 2. A token is 256 random bits, shown once. Kept are its SHA-256 and a SCRAM-SHA-256 verifier
 *    (RFC 5802, RFC 7677), as secrets (store.h): in no journal row, export or answer.
 * 3. An allotment is a second filter, of one user on one dataset, under the dataset's rule. A
 *    reservation is charged to both with the same charge, in one transaction: both or neither. The
 *    dataset's filter remains the promise (proofs/allotments.md); an allotment only narrows what
 *    one user may take of it. A user without an allotment on a dataset is limited by the dataset's
 *    budget alone. What was charged before the allotment was given does not count in it.
 * 4. As with datasets, what was spent stays spent: a new allotment keeps the sums of the old one,
 *    and one below them is refused. An answer that is read again is free, and touches none.
 * 5. A user who was removed or has expired is refused, also in the transaction of a charge, so that
 *    it holds for questions that were being planned meanwhile.
 * 6. What a refusal says is a function of the token, the clock, and the user's own allotment and
 *    the prices charged to it: all of them public to that user. */
#ifndef BRUME_LEDGER_USER_H
#define BRUME_LEDGER_USER_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/ledger.h"

/* Tokens, and what is kept of them: a hash, and a verifier for SCRAM-SHA-256. */

enum {
    BRUME_TOKEN_TEXT = 52, /* "brume_", 43 characters of base64url, the end, and room */
    BRUME_SCRAM_SALT = 16,
    BRUME_SCRAM_KEY = 32,
};

/* What a server needs for an exchange (RFC 5802). */
typedef struct brume_scram_verifier {
    uint32_t iterations;
    uint8_t salt[BRUME_SCRAM_SALT];
    uint8_t stored_key[BRUME_SCRAM_KEY], server_key[BRUME_SCRAM_KEY];
} brume_scram_verifier;

typedef enum brume_role {
    BRUME_ROLE_NONE = 0, /* of nobody: see brume_ledger_find_user */
    BRUME_ROLE_OWNER,    /* registers, amends, has users; may ask */
    BRUME_ROLE_ANALYST,  /* asks */
    BRUME_ROLE_AUDITOR,  /* reads the journal; never charges */
    BRUME_ROLE_REVIEWER, /* approves answers (review.h), and what an auditor does; never charges */
} brume_role;

/* "owner", "analyst", "auditor", "reviewer"; "" for none. */
const char *brume_role_word(brume_role role);
/* EUNKNOWN with the nearest word. */
BRUME_MUST_USE brume_status brume_role_parse(const char *word, brume_role *out, brume_error *error);

/* Bytes of a name: letters, digits, '.', '_', '-', '@' of ASCII. */
enum { BRUME_MOST_USER_NAME = 63 };

typedef struct brume_user {
    char *name;
    brume_role role;
    int64_t expires; /* seconds since 1970, UTC; 0: never. Refused from that second on */
    uint64_t issued; /* the journal row that issued the token */
    brume_scram_verifier scram;
} brume_user;

/* NULL is nothing to free. */
void brume_user_close(brume_user *user);

/* ---- who is it? (no lock is taken, nothing is written: for every request) ---- */

/* The user of a token. EPOLICY with one text for every refusal: not a token, nobody's, revoked,
 * expired. Takes the same time for every token of a length: its hash is compared with that of every
 * user, in constant time each, to the end. */
BRUME_MUST_USE brume_status brume_ledger_authenticate(brume_ledger *ledger, const char *token,
                                                      int64_t now, brume_user **out,
                                                      brume_error *error);

/* The user of a name, with the verifier, for a SCRAM exchange. A name that is nobody's, or whose
 * user was removed or has expired, gives a user of BRUME_ROLE_NONE with a verifier that no password
 * meets, and the same each time for a name: the exchange then fails where it fails for a wrong
 * password, and tells nobody which names there are. */
BRUME_MUST_USE brume_status brume_ledger_find_user(brume_ledger *ledger, const char *name,
                                                   int64_t now, brume_user **out,
                                                   brume_error *error);

/* ---- acting as one ---- */

/* From now on this handle acts for that user: every row it appends to the journal says "user", and
 * every reservation is refused (EPOLICY) unless at that moment the user is there, has not expired,
 * is no auditor and, unless `issued` is 0, still has the token that row issued; and it is charged
 * to the user's allotments. Checks nothing itself. EMEMORY. */
BRUME_MUST_USE brume_status brume_ledger_act_as(brume_ledger *ledger, const char *name,
                                                uint64_t issued, brume_error *error);

/* For whom; NULL: the owner at the shell. */
const char *brume_ledger_acts_for(const brume_ledger *ledger);

/* Bytes of the ledger that the user of this handle has: rows of the journal, and answers. Takes
 * time in the rows since it was asked last in this process. */
BRUME_MUST_USE brume_status brume_ledger_bytes(brume_ledger *ledger, uint64_t *bytes,
                                               brume_error *error);

/* May this user, with the token of row `issued` (0: any), act now? *role is the role. EPOLICY with
 * the text of brume_ledger_authenticate. */
BRUME_MUST_USE brume_status brume_ledger_check_user(brume_ledger *ledger, const char *name,
                                                    uint64_t issued, int64_t now, brume_role *role,
                                                    brume_error *error);

/* The filter of a user's allotment on a dataset; *has is false if there is none. */
BRUME_MUST_USE brume_status brume_ledger_allotment(brume_ledger *ledger, const char *user,
                                                   const char *dataset, bool *has,
                                                   brume_filter *out, brume_error *error);

/* What may still be spent of a dataset by whom this handle acts for: amount and delta are each the
 * lesser of what the dataset's budget and the user's allotment, if there is one, have left. A
 * charge fits both filters iff neither of its numbers is above these. */
BRUME_MUST_USE brume_status brume_ledger_left(brume_ledger *ledger, const brume_dataset *dataset,
                                              brume_charge *left, brume_error *error);

/* ---- for owners: each is a row of the journal ---- */

typedef struct brume_allotment {
    const char *dataset;
    const char *epsilon; /* decimals, in the form of a budget */
    const char *delta; /* NULL: none under pure; else the share of the dataset's delta that epsilon
                          is of its epsilon, rounded down */
} brume_allotment;

typedef struct brume_new_user {
    const char *name;
    brume_role role;
    int64_t expires; /* 0: never */
    const brume_allotment *allotments;
    size_t allotment_count;
} brume_new_user;

/* Add a user and issue a token. EPOLICY: the name is or was somebody's, or an auditor with an
 * allotment; EARGUMENT: a bad name or allotment; EUNKNOWN: no such dataset. */
BRUME_MUST_USE brume_status brume_ledger_add_user(brume_ledger *ledger, const brume_new_user *user,
                                                  char token[BRUME_TOKEN_TEXT], brume_error *error);

/* A new token; the old one is refused from then on. `expires`: -1 as it is. EUNKNOWN. */
BRUME_MUST_USE brume_status brume_ledger_rotate_token(brume_ledger *ledger, const char *name,
                                                      int64_t expires, char token[BRUME_TOKEN_TEXT],
                                                      brume_error *error);

/* Give, raise or lower an allotment (4). EPOLICY: below what was spent; EARGUMENT; EUNKNOWN. */
BRUME_MUST_USE brume_status brume_ledger_allot(brume_ledger *ledger, const char *name,
                                               const brume_allotment *allotments, size_t count,
                                               brume_error *error);

/* The user is refused from then on; the token and its verifier are forgotten. EUNKNOWN. */
BRUME_MUST_USE brume_status brume_ledger_remove_user(brume_ledger *ledger, const char *name,
                                                     brume_error *error);

/* Every user by name, removed ones too: [{"name","role","expires" (a time or null),"state":
 * "active"|"expired"|"removed","allotments":[{"dataset","filter"}]}], the caller frees it. */
BRUME_MUST_USE brume_status brume_ledger_users(brume_ledger *ledger, int64_t now, json_t **out,
                                               brume_error *error);

#endif
