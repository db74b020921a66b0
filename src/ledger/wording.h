/* What people typed and what they were answered: beside the journal's chain, so that it can be
 * taken out of the ledger and the chain still holds (redact.c).
 *
 * A reservation's row has "wording": SHA-256(salt, text), a commit's or note's row "answer_hash":
 * SHA-256(salt, answer). Texts and salts, 128 random bits each, are in the tables `wording` and
 * `answer`. Without its salt a hash says nothing of a text that could be guessed. An answer's key
 * is a hash of the question under a key of the ledger, for the same reason. Before schema 5 rows
 * held the texts themselves, and hashes had neither salt nor key. */
#ifndef BRUME_LEDGER_WORDING_H
#define BRUME_LEDGER_WORDING_H

#include "ledger/digest.h"
#include "ledger/store.h"

enum { BRUME_SALT_TEXT = 33 };

/* 128 random bits as hexadecimal digits. */
BRUME_MUST_USE brume_status brume_salt_draw(char salt[BRUME_SALT_TEXT], brume_error *error);

/* SHA-256(salt, text); of the text alone where the salt is "". */
BRUME_MUST_USE brume_status brume_salted_digest(const char *salt, const char *text,
                                                char out[BRUME_DIGEST_TEXT], brume_error *error);

/* Keep what a reservation was asked with (`typed` may be NULL), inside the current transaction;
 * `digest` is for its row of the journal. */
BRUME_MUST_USE brume_status brume_wording_keep(brume_ledger *ledger, uint64_t reservation,
                                               const char *sql, const char *typed,
                                               char digest[BRUME_DIGEST_TEXT], brume_error *error);

/* It, as {"sql","typed"}, the second where there is one; `body` is that of the reservation's row.
 * NULL in *out: it was redacted. EDAMAGED if it is not what the row says. The caller frees it. */
BRUME_MUST_USE brume_status brume_wording_read(brume_ledger *ledger, uint64_t reservation,
                                               const json_t *body, json_t **out,
                                               brume_error *error);

/* The key under which an answer to the question with this one is recorded. */
BRUME_MUST_USE brume_status brume_keyed_answer(brume_ledger *ledger, const char *key,
                                               char out[BRUME_DIGEST_TEXT], brume_error *error);

/* The same of a question that is asked in the handle's project, where it has one (review.h).
 * EPOLICY: the user is in several, and named none. */
BRUME_MUST_USE brume_status brume_keyed_question(brume_ledger *ledger, const char *key,
                                                 char out[BRUME_DIGEST_TEXT], brume_error *error);

#define BRUME_ANSWER_SECRET "key of answers"

/* The key of the answer of a charge that was redacted: no question has it. */
enum { BRUME_REDACTED_KEY = 40 };
void brume_redacted_key(uint64_t reservation, char key[BRUME_REDACTED_KEY]);

#endif
