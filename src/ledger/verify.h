/* Verify inside a transaction, for who holds one already. */
#ifndef BRUME_LEDGER_VERIFY_H
#define BRUME_LEDGER_VERIFY_H

#include "ledger/store.h"

/* As brume_ledger_verify, in the current transaction. */
BRUME_MUST_USE brume_status brume_verify_now(brume_ledger *ledger, brume_ledger_report *report,
                                             brume_error *error);

/* What the journal says of users and allotments, recomputed row by row. */

typedef struct brume_user_replay {
    json_t *users;      /* name -> {"role","expires","issued","changed","state"} */
    json_t *allotments; /* "user dataset" or "project:NAME dataset" -> {"filter","last"} */
    json_t *projects;   /* name -> {"stated","state","members","approvals"} */
} brume_user_replay;

BRUME_MUST_USE brume_status brume_user_replay_open(brume_user_replay *all, brume_error *error);
void brume_user_replay_close(brume_user_replay *all);

/* A row of the kind `user`; `datasets` has name -> {"filter"} of each dataset.
 * *wrong is what is wrong with it, or NULL. */
void brume_user_replay_row(brume_user_replay *all, uint64_t id, const json_t *body,
                           const json_t *datasets, const char **wrong);

/* Who appended a row: a user who is or was there; of a kind that only owners write, an owner who
 * was there then. */
void brume_user_replay_actor(const brume_user_replay *all, const char *kind, const json_t *body,
                             const char **wrong);

/* A charge of the reservation `body`: by a user who could be charged, and carried by the allotment,
 * if there is one. */
void brume_user_replay_charge(brume_user_replay *all, uint64_t id, const json_t *body,
                              const json_t *charge, const char **wrong);

#endif
