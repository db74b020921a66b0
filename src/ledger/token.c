/* Tokens, and what is kept of them.
 *
 * Promise: from what is kept nobody finds the token otherwise than by trying all 2^256. That is why
 * one SHA-256 is enough for the hash, and the usual 4096 iterations for the verifier: both slow
 * down guessing, which is hopeless for a random token anyway.
 *
 * SCRAM (RFC 5802): SaltedPassword = PBKDF2-HMAC-SHA-256(token, salt, iterations),
 * StoredKey = SHA-256(HMAC(SaltedPassword, "Client Key")),
 * ServerKey = HMAC(SaltedPassword, "Server Key"). A token is ASCII, which SASLprep leaves alone. */
#include "ledger/token.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/error.h"

enum { TOKEN_BYTES = 32, ITERATIONS = 4096 };

static brume_status crypto_failed(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "libcrypto could not compute a hash");
}

static brume_status draw_bytes(uint8_t *bytes, size_t count, brume_error *error)
{
    size_t got = 0;
    while (got < count) {
        ssize_t more = getrandom(bytes + got, count - got, 0);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            return brume_fail(error, BRUME_ERANDOM, NULL, "the kernel gives no random bytes");
        got += (size_t)more;
    }
    return BRUME_OK;
}

/* "brume_" and base64url without padding, so that a token stands in headers, URLs and shells. */
static void print_token(const uint8_t bytes[TOKEN_BYTES], char token[BRUME_TOKEN_TEXT])
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    char *out = token + snprintf(token, BRUME_TOKEN_TEXT, "brume_");
    uint32_t pending = 0;
    int bits = 0;
    for (size_t i = 0; i < TOKEN_BYTES; i++) {
        pending = pending << 8 | bytes[i];
        for (bits += 8; bits >= 6; bits -= 6)
            *out++ = letters[pending >> (bits - 6) & 63];
    }
    *out++ = letters[pending << (6 - bits) & 63]; /* 256 = 42 * 6 + 4: four bits are left */
    *out = 0;
}

static void print_hex(const uint8_t *bytes, size_t count, char *out)
{
    for (size_t i = 0; i < count; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static bool hmac(const void *key, size_t key_length, const char *text, uint8_t out[BRUME_SCRAM_KEY])
{
    unsigned length = 0;
    return HMAC(EVP_sha256(), key, (int)key_length, (const unsigned char *)text, strlen(text), out,
                &length) &&
           length == BRUME_SCRAM_KEY;
}

static brume_status make_verifier(const char *token, brume_scram_verifier *out, brume_error *error)
{
    uint8_t salted[BRUME_SCRAM_KEY], client_key[BRUME_SCRAM_KEY];
    size_t length = 0;
    out->iterations = ITERATIONS;
    BRUME_TRY(draw_bytes(out->salt, sizeof out->salt, error));
    bool good = PKCS5_PBKDF2_HMAC(token, (int)strlen(token), out->salt, sizeof out->salt,
                                  ITERATIONS, EVP_sha256(), sizeof salted, salted) == 1 &&
                hmac(salted, sizeof salted, "Client Key", client_key) &&
                hmac(salted, sizeof salted, "Server Key", out->server_key) &&
                EVP_Q_digest(NULL, "SHA256", NULL, client_key, sizeof client_key, out->stored_key,
                             &length) == 1;
    OPENSSL_cleanse(salted, sizeof salted);
    OPENSSL_cleanse(client_key, sizeof client_key);
    return good ? BRUME_OK : crypto_failed(error);
}

static void print_verifier(const brume_scram_verifier *verifier, char text[BRUME_VERIFIER_TEXT])
{
    char salt[2 * BRUME_SCRAM_SALT + 1], stored[2 * BRUME_SCRAM_KEY + 1],
        server[2 * BRUME_SCRAM_KEY + 1];
    print_hex(verifier->salt, sizeof verifier->salt, salt);
    print_hex(verifier->stored_key, sizeof verifier->stored_key, stored);
    print_hex(verifier->server_key, sizeof verifier->server_key, server);
    snprintf(text, BRUME_VERIFIER_TEXT, "SCRAM-SHA-256$%u:%s$%s:%s", verifier->iterations, salt,
             stored, server);
}

brume_status brume_token_draw(char token[BRUME_TOKEN_TEXT], brume_kept_token *kept,
                              brume_error *error)
{
    uint8_t bytes[TOKEN_BYTES];
    char drawn[BRUME_TOKEN_TEXT];
    brume_scram_verifier verifier;
    brume_kept_token made;
    BRUME_TRY(draw_bytes(bytes, sizeof bytes, error));
    print_token(bytes, drawn);
    OPENSSL_cleanse(bytes, sizeof bytes);
    BRUME_TRY(brume_token_hash(drawn, made.hash, error));
    BRUME_TRY(make_verifier(drawn, &verifier, error));
    print_verifier(&verifier, made.verifier);
    memcpy(token, drawn, sizeof drawn);
    OPENSSL_cleanse(drawn, sizeof drawn);
    *kept = made;
    return BRUME_OK;
}

brume_status brume_token_hash(const char *token, char hash[BRUME_DIGEST_TEXT], brume_error *error)
{
    uint8_t bytes[BRUME_SCRAM_KEY];
    size_t length = 0;
    if (EVP_Q_digest(NULL, "SHA256", NULL, token, strlen(token), bytes, &length) != 1)
        return crypto_failed(error);
    print_hex(bytes, sizeof bytes, hash);
    return BRUME_OK;
}

bool brume_token_hash_equal(const char a[BRUME_DIGEST_TEXT], const char *b)
{
    return strlen(b) == BRUME_DIGEST_TEXT - 1 && CRYPTO_memcmp(a, b, BRUME_DIGEST_TEXT - 1) == 0;
}

static bool read_hex(const char **text, uint8_t *out, size_t count, char end)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = *text;
    for (size_t i = 0; i < count; i++, at += 2) {
        const char *high = *at ? strchr(digits, at[0]) : NULL;
        const char *low = high && at[1] ? strchr(digits, at[1]) : NULL;
        if (!low)
            return false;
        out[i] = (uint8_t)((high - digits) << 4 | (low - digits));
    }
    if (*at != end)
        return false;
    *text = at + (end != 0);
    return true;
}

brume_status brume_verifier_parse(const char *text, brume_scram_verifier *out, brume_error *error)
{
    brume_scram_verifier read;
    int used = 0;
    if (sscanf(text, "SCRAM-SHA-256$%u:%n", &read.iterations, &used) == 1 && used > 0) {
        const char *at = text + used;
        if (read_hex(&at, read.salt, sizeof read.salt, '$') &&
            read_hex(&at, read.stored_key, sizeof read.stored_key, ':') &&
            read_hex(&at, read.server_key, sizeof read.server_key, 0)) {
            *out = read;
            return BRUME_OK;
        }
    }
    return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                      "what the ledger keeps of a token cannot be read");
}

brume_status brume_verifier_decoy(const char *key, const char *name, brume_scram_verifier *out,
                                  brume_error *error)
{
    static const char *const parts[] = {"decoy salt ", "decoy stored key ", "decoy server key "};
    uint8_t made[3][BRUME_SCRAM_KEY];
    for (int i = 0; i < 3; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s%.100s", parts[i], name);
        if (!hmac(key, strlen(key), text, made[i]))
            return crypto_failed(error);
    }
    out->iterations = ITERATIONS;
    memcpy(out->salt, made[0], sizeof out->salt);
    memcpy(out->stored_key, made[1], sizeof out->stored_key);
    memcpy(out->server_key, made[2], sizeof out->server_key);
    return BRUME_OK;
}
