/* Tokens, and what is kept of them: a hash, and a verifier for SCRAM-SHA-256. */
#ifndef BRUME_LEDGER_TOKEN_H
#define BRUME_LEDGER_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/digest.h"

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

/* What is kept of a token: two lines of text, both secrets. */
enum { BRUME_VERIFIER_TEXT = 192 };
typedef struct brume_kept_token {
    char hash[BRUME_DIGEST_TEXT];
    char verifier[BRUME_VERIFIER_TEXT]; /* SCRAM-SHA-256$ITERATIONS:SALT$STORED:SERVER, in hex */
} brume_kept_token;

/* Draw a token of 256 random bits. ERANDOM. */
BRUME_MUST_USE brume_status brume_token_draw(char token[BRUME_TOKEN_TEXT], brume_kept_token *kept,
                                             brume_error *error);

/* The hash of a text that may be a token. */
BRUME_MUST_USE brume_status brume_token_hash(const char *token, char hash[BRUME_DIGEST_TEXT],
                                             brume_error *error);

/* Are both hashes the same? Takes the same time whatever is in them. */
bool brume_token_hash_equal(const char a[BRUME_DIGEST_TEXT], const char *b);

/* EDAMAGED: not a text that brume_token_draw makes. */
BRUME_MUST_USE brume_status brume_verifier_parse(const char *text, brume_scram_verifier *out,
                                                 brume_error *error);

/* A verifier that no password meets and that only who knows `key` can tell from another, the same
 * for a name each time. */
BRUME_MUST_USE brume_status brume_verifier_decoy(const char *key, const char *name,
                                                 brume_scram_verifier *out, brume_error *error);

#endif
