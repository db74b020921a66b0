/* Parts of reservations for the files of src/ledger, all inside the current transaction. */
#ifndef BRUME_LEDGER_RESERVE_H
#define BRUME_LEDGER_RESERVE_H

#include "ledger/ledger.h"

/* Charge and record, as brume_ledger_reserve does. */
BRUME_MUST_USE brume_status brume_reserve_write(brume_ledger *ledger,
                                                const brume_reservation *reservation, uint64_t *id,
                                                brume_error *error);

/* As brume_ledger_note does, of a text. */
BRUME_MUST_USE brume_status brume_reserve_note(brume_ledger *ledger, uint64_t id, const char *key,
                                               const char *part, brume_error *error);

/* The recorded answer of a charge, also while it is held: for its reviewer (review.c) alone. */
BRUME_MUST_USE brume_status brume_recall_held(brume_ledger *ledger, uint64_t id, json_t **answer,
                                              brume_error *error);

/* As brume_ledger_commit does, of a text. */
BRUME_MUST_USE brume_status brume_reserve_close(brume_ledger *ledger, uint64_t id,
                                                const char *answer, brume_error *error);

#endif
