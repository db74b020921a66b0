/* The journal: an append-only, hash-chained list of facts.
 *
 * Row i has hash_i = SHA-256 over (hash_{i-1}, id, time, kind, body), each preceded by its length;
 * hash_0 is "". A changed, inserted, dropped or moved row breaks every hash after it. Kinds:
 *
 *   create    {}
 *   register  {"dataset","source","data_version","adjacency","filter","cap","policy","new_budget"}
 *   refuse    {"dataset"}: a registration under this name that was refused
 *   amend     as register, with "changes" and "moves_units" for "new_budget": the policy anew
 *   version   {"dataset","data_version"}: until schema 3
 *   reserve   {"charges":[{"dataset","price","filter"}],"wording","events","answer_key"}; before
 *             schema 5 "sql" and, since schema 3, "typed" for "wording" (wording.h). For a dataset
 *             with windows a charge also has "windows":[[FIRST,LAST]], "undated" where that was
 *             touched, "window_price", and "fullest": the sums of the touched window that has spent
 *             most
 *   note      {"reservation","answer_key","answer_hash"}: a part of what an open reservation
 *             releases, recorded before the rest is drawn
 *   commit    {"reservation","answer_hash"}
 *   fail      {"reservation","reason"}
 *   progress  {"reservation","asked","hits"}: how far an open stream of questions came
 *   user      {"action","name"}: of a user (user.h), since schema 4. "add" also has "role",
 *             "expires" (seconds, 0: never) and "allotments":[{"dataset","filter"}]; "allot" these;
 *             "token" has "expires"; "remove" nothing more
 *   redact    {"charges":[ID],"answers","reason","rows":[{"row","hash","left"}]}, since schema 5:
 *             texts that were taken out (redact.c). `rows` are older ones whose bodies were
 * restated: each with its hash, which stays, and the SHA-256 of the body that is left, which has
 *             "redacted": the number of this row
 *   publish   {"dataset","answers","filter","tables"}: answers that left the ledger in a bundle,
 * the numbers of their charges, what the dataset had spent then, a digest of the files
 *   project   {"project","state","purpose","members","approvals","shows_answers","allotments"},
 * since schema 6: what it is from now on (review.h) review    {"reservation","approves","reason"}:
 * a decision on an answer that is held witness   {"action","kind","unreachable"}, since schema 6:
 * "set" or "remove" (witness.h); "accepted":{"rows","hash"}, a head that the ledger was behind
 *   migrate   {"from","to"}: schemas
 *
 * A row that was written while the witness could not be reached has "unwitnessed". A row that was
 * appended for a user has "user", the name, a reservation in a project "project", and "approvals"
 * where its answer needs some; a charge of such a reservation has
 * "allotment", the state of that user's filter after the row, where there is one.
 *
 * `filter` is the state of the dataset's filter after the row, in its exact text form; `price` the
 * charge in its exact text form. Every body also has a digest of the tables of
 * datasets, secrets, marks, users and allotments after the row, so that the newest row vouches for
 * the state of every dataset and for all that is known of its source: "sealed", with projects.
 * (Rows of schema 5, with no projects, call it "attested", those of schema 4, with no windows,
 * "vouched", those of schema 3 and 2, with no users, "beside" and "tables"; those of schema 1 have
 * "states", of the datasets alone.) Bodies are JSON with sorted keys and no spaces. */
#ifndef BRUME_LEDGER_JOURNAL_H
#define BRUME_LEDGER_JOURNAL_H

#include "ledger/digest.h"
#include "ledger/store.h"

/* The number the next row will have, inside the current transaction. */
BRUME_MUST_USE brume_status brume_journal_next(brume_ledger *ledger, uint64_t *id,
                                               brume_error *error);

/* Append a row inside the current transaction, after the tables beside the journal are as it says.
 * Takes the reference to `body` also on failure (NULL: out of memory). */
BRUME_MUST_USE brume_status brume_journal_append(brume_ledger *ledger, const char *kind,
                                                 json_t *body, brume_error *error);

typedef struct brume_journal_row {
    uint64_t id;
    const char *time, *kind, *body, *hash; /* valid until the next step */
} brume_journal_row;

/* Is the newest row the one that ends this ledger, because it was moved (copy.c)? */
BRUME_MUST_USE brume_status brume_journal_has_moved(brume_ledger *ledger, bool *moved,
                                                    brume_error *error);

/* Rows from `first` on, in order: prepare, then step until *row is false, then brume_store_finish.
 */
BRUME_MUST_USE brume_status brume_journal_read(brume_ledger *ledger, uint64_t first,
                                               brume_statement **out, brume_error *error);
BRUME_MUST_USE brume_status brume_journal_step(brume_ledger *ledger, brume_statement *statement,
                                               brume_journal_row *row, bool *more,
                                               brume_error *error);

/* The hash a row must have after a row with hash `previous`. */
BRUME_MUST_USE brume_status brume_journal_hash(const brume_journal_row *row, const char *previous,
                                               char out[BRUME_DIGEST_TEXT], brume_error *error);

/* Does this body of a row `redact` say that the row was restated as it is now? */
bool brume_journal_vouches(const json_t *redaction, const brume_journal_row *row);

/* Load the body of row `id` after checking its hash against the row before it.
 * BRUME_EDAMAGED if there is no such row or it does not hold, which one that was redacted does. The
 * caller frees *body. */
BRUME_MUST_USE brume_status brume_journal_body(brume_ledger *ledger, uint64_t id, json_t **body,
                                               brume_error *error);

/* Is the newest row the one its hash says, and are the tables of datasets and marks what it vouches
 * for? Takes time in the number of datasets and marks, not of rows. */
BRUME_MUST_USE brume_status brume_journal_check_head(brume_ledger *ledger, brume_error *error);

#endif
