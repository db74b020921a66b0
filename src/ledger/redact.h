/* Redaction: taking what people typed and were answered out of the ledger.
 *
 * 1. What is left says what was paid: prices, states, dataset, user. Nothing is refunded, and the
 *    chain, an earlier export and every sum still verify.
 * 2. Texts of schema 5 lie beside the chain (wording.h) and are deleted with their salts. An older
 *    row holds them in its body: it is restated without them and keeps its hash, and the row
 *    `redact` says which rows were restated and to what. So no price can be changed on the way: the
 *    next row of its dataset has the filter's state.
 * 3. The question has no recorded answer any more: asked again it is paid. Its answer can still be
 *    read by the number of the charge, unless that was taken out too.
 * 4. What was deleted is in no page of the file and of its log when brume_ledger_redact returns.
 *    Exports, backups and what others wrote down are out of its reach. */
#ifndef BRUME_LEDGER_REDACT_H
#define BRUME_LEDGER_REDACT_H

#include "ledger/ledger.h"

/* Where a text is, without regard to the case of ASCII letters: {"charges":[{"id","time","in":
 * ["question","answer"],"sql"}],"elsewhere":[{"id","kind"}]}: the latter rows, such as policies,
 * are the owner's own and cannot be redacted. For owners. The caller frees *out. EARGUMENT: "". */
BRUME_MUST_USE brume_status brume_ledger_find(brume_ledger *ledger, const char *text, json_t **out,
                                              brume_error *error);

typedef struct brume_redaction {
    const uint64_t *charges; /* numbers of reservations */
    size_t count;
    bool answers;       /* also what was answered */
    const char *reason; /* for the journal */
} brume_redaction;

/* In one transaction; then the file is written anew. *redacted is how many charges: the same
 * question of before schema 5, asked twice at once, is taken out as well. EUNKNOWN no such charge;
 * EPOLICY not an owner; EDISK also if the file could not be written anew because others are reading
 * it: the texts are out, and doing it again finishes. */
BRUME_MUST_USE brume_status brume_ledger_redact(brume_ledger *ledger, const brume_redaction *wanted,
                                                size_t *redacted, brume_error *error);

#endif
