/* The witness: the newest head of the journal, kept where who can put back an older copy of the
 * ledger cannot put it back too.
 *
 * A head is how many rows the journal has, and the hash of the newest, which vouches for all before
 * it. A ledger is behind its witness if the witness's head is not in its journal.
 *
 *  1. A transaction that writes reads the witness first. If the ledger is behind, nothing is
 * written (EDAMAGED).
 *  2. A transaction's rows are on disk before the witness gets the new head, and the witness has it
 *     before the call returns: before anything is drawn that was charged.
 *  3. Both happen under the ledger's write lock, and a head is replaced only by one that continues
 *     it.
 *
 * By 2 the witness's head is in the journal at every moment, so a process may be killed anywhere
 * and the ledger is not behind; a charge whose head the witness never got has no answer. By 1 and 2
 * a ledger that lacks a charge with an answer writes nothing. proofs/witness.md.
 *
 *  4. Where the witness cannot be reached, or has no head of this ledger, the owner's choice holds:
 *     `refuse` writes nothing (EDISK); `go-on` writes rows that say "unwitnessed", and keeps none
 * of these promises meanwhile.
 *  5. Reading needs no witness: it releases nothing new.
 *
 * The place is a secret of the ledger, for it may hold a password: a file; a postgresql:// URL; or
 * exec: and a command for sh, called as
 *     COMMAND read LEDGER                       prints "ROWS HASH", or nothing
 *     COMMAND keep LEDGER ROWS HASH OLD OLDHASH replaces the old head (0 -: there is none), durably
 * where LEDGER is the hash of the journal's first row. It is ended after 10 seconds. */
#ifndef BRUME_LEDGER_WITNESS_H
#define BRUME_LEDGER_WITNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/ledger.h"

enum { BRUME_HEAD_HASH = 65 };

typedef struct brume_head {
    uint64_t rows; /* 0: none */
    char hash[BRUME_HEAD_HASH];
} brume_head;

/* Who reaches a server: read the head that it keeps for a ledger, or put `after` in the place of
 * `before`, durably, if it is that (BRUME_EDAMAGED: it is another). *state is its own, NULL at
 * first. The room of the ledger knows no server: who opens a ledger says who reaches them. */
typedef struct brume_witness_server {
    brume_status (*read)(void **state, const char *url, const char *ledger, brume_head *head,
                         brume_error *error);
    brume_status (*replace)(void **state, const char *url, const char *ledger,
                            const brume_head *before, const brume_head *after, brume_error *error);
    void (*close)(void *state);
} brume_witness_server;

void brume_ledger_reach_witness(brume_ledger *ledger, const brume_witness_server *server);

typedef struct brume_witness_choice {
    const char *place; /* NULL: none any more */
    bool go_on;        /* where it cannot be reached */
    bool accept_older; /* the ledger may be behind: the owner put it back knowingly */
} brume_witness_choice;

/* An owner's: a row of the journal. EDAMAGED: the ledger is behind the old witness or the new one,
 * and `accept_older` is false; EDISK: the new one cannot be reached; EPOLICY: no owner. */
BRUME_MUST_USE brume_status brume_ledger_set_witness(brume_ledger *ledger,
                                                     const brume_witness_choice *choice,
                                                     brume_error *error);

typedef enum brume_witness_state {
    BRUME_WITNESS_NONE,        /* there is none */
    BRUME_WITNESS_AGREES,      /* its head is in the journal */
    BRUME_WITNESS_BEHIND,      /* the ledger is behind it */
    BRUME_WITNESS_UNREACHABLE, /* or it has no head of this ledger */
} brume_witness_state;

typedef struct brume_witness_report {
    brume_witness_state state;
    char *place; /* without a password; the caller frees it; NULL: none */
    bool go_on;
    brume_head head;      /* what it keeps */
    uint64_t rows;        /* what the journal has */
    uint64_t unwitnessed; /* rows that were written without it */
    char why[256];        /* it cannot be reached */
} brume_witness_report;

/* "none", "agrees", "behind", "unreachable". */
const char *brume_witness_word(brume_witness_state state);

/* Ask the witness. Writes nothing. */
BRUME_MUST_USE brume_status brume_ledger_ask_witness(brume_ledger *ledger,
                                                     brume_witness_report *report,
                                                     brume_error *error);

/* Where its place is kept: {"place","go_on"}, a secret. */
#define BRUME_WITNESS_SECRET "witness"

/* ---- for store.c: inside the transaction, and after it ---- */

/* May rows be written now (1, 4)? */
BRUME_MUST_USE brume_status brume_witness_check(brume_ledger *ledger, brume_error *error);

/* Give it the newest head (2, 3), in a new transaction that writes nothing. */
BRUME_MUST_USE brume_status brume_witness_tell(brume_ledger *ledger, brume_error *error);

#endif
