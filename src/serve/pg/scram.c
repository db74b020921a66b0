/* SCRAM-SHA-256, the server's side. Promises: scram.h. */
#include "serve/pg/scram.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "base/error.h"

enum { NONCE_BYTES = 18 }; /* 24 characters of base64, without padding */

static brume_status wrong(brume_error *error)
{
    return brume_fail(error, BRUME_ESYNTAX, NULL, "malformed SCRAM message");
}

static void keyed_hash(const uint8_t key[BRUME_SCRAM_KEY], const char *text,
                       uint8_t out[BRUME_SCRAM_KEY])
{
    unsigned int length = BRUME_SCRAM_KEY;
    (void)HMAC(EVP_sha256(), key, BRUME_SCRAM_KEY, (const uint8_t *)text, strlen(text), out,
               &length);
}

/* Printable bytes and no comma: what a nonce may have. */
static bool is_nonce(const char *text)
{
    for (const char *at = text; *at; at++)
        if (*at < 0x21 || *at > 0x7e || *at == ',')
            return false;
    return *text != 0;
}

/* What the message says of channel binding. */
static brume_status read_header(brume_pg_scram *scram, const char *text, brume_error *error)
{
    static const char bound[] = "p=tls-server-end-point,,";
    if (scram->is_bound != (text[0] == 'p') || (scram->is_bound && scram->binding_length == 0))
        return brume_fail(error, BRUME_EUNSUPPORTED, "set channel_binding=prefer",
                          "the mechanism and the channel binding do not fit");
    if (scram->is_bound) {
        if (strncmp(text, bound, sizeof bound - 1) != 0)
            return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                              "channel binding is by tls-server-end-point");
        memcpy(scram->gs2_header, bound, sizeof bound);
        return BRUME_OK;
    }
    if (text[0] == 'y' && scram->binding_length > 0) /* somebody took it out of the offer */
        return brume_fail(error, BRUME_EPOLICY, NULL,
                          "channel binding was offered, and the client did not see it");
    if ((text[0] != 'n' && text[0] != 'y') || strncmp(text + 1, ",,", 2) != 0)
        return wrong(error); /* names of others to act for, and m= extensions, are not known */
    memcpy(scram->gs2_header, text, 3);
    scram->gs2_header[3] = 0;
    return BRUME_OK;
}

brume_status brume_pg_scram_begin(brume_pg_scram *scram, const uint8_t *message, size_t length,
                                  brume_error *error)
{
    char text[BRUME_PG_SCRAM_TEXT], salt[2 * BRUME_SCRAM_SALT];
    uint8_t fresh[NONCE_BYTES];
    if (length == 0 || length > 200 || memchr(message, 0, length))
        return wrong(error);
    memcpy(text, message, length);
    text[length] = 0;
    BRUME_TRY(read_header(scram, text, error));
    const char *bare = text + strlen(scram->gs2_header);
    snprintf(scram->client_first_bare, sizeof scram->client_first_bare, "%s", bare);
    const char *nonce = strstr(bare, ",r=");
    if (strncmp(bare, "n=", 2) != 0 || !nonce)
        return wrong(error);
    char *more = strchr(nonce + 3, ',');
    if (more)
        *more = 0; /* extensions that are not mandatory */
    if (!is_nonce(nonce + 3))
        return wrong(error);
    if (getrandom(fresh, sizeof fresh, 0) != (ssize_t)sizeof fresh)
        return brume_fail(error, BRUME_ERANDOM, NULL, "the kernel gives no random bytes");
    size_t own = strlen(nonce + 3);
    memcpy(scram->nonce, nonce + 3, own);
    EVP_EncodeBlock((uint8_t *)scram->nonce + own, fresh, NONCE_BYTES);
    EVP_EncodeBlock((uint8_t *)salt, scram->verifier.salt, BRUME_SCRAM_SALT);
    snprintf(scram->server_first, sizeof scram->server_first, "r=%.300s,s=%s,i=%u", scram->nonce,
             salt, scram->verifier.iterations);
    return BRUME_OK;
}

/* 32 bytes from their 44 characters of base64. */
static bool decode_key(const char *text, uint8_t key[BRUME_SCRAM_KEY])
{
    uint8_t room[BRUME_SCRAM_KEY + 4];
    if (strlen(text) != 44 || text[43] != '=' || text[42] == '=' ||
        EVP_DecodeBlock(room, (const uint8_t *)text, 44) != 33)
        return false;
    memcpy(key, room, BRUME_SCRAM_KEY);
    return true;
}

static bool proof_holds(const brume_pg_scram *scram, const char *signed_text,
                        const uint8_t proof[BRUME_SCRAM_KEY])
{
    uint8_t signature[BRUME_SCRAM_KEY], key[BRUME_SCRAM_KEY], hash[BRUME_SCRAM_KEY];
    keyed_hash(scram->verifier.stored_key, signed_text, signature);
    for (int i = 0; i < BRUME_SCRAM_KEY; i++)
        key[i] = proof[i] ^ signature[i];
    SHA256(key, BRUME_SCRAM_KEY, hash);
    bool same = CRYPTO_memcmp(hash, scram->verifier.stored_key, BRUME_SCRAM_KEY) == 0;
    OPENSSL_cleanse(key, sizeof key);
    return same & !scram->is_mock;
}

brume_status brume_pg_scram_end(brume_pg_scram *scram, const uint8_t *message, size_t length,
                                bool *accepted, char final[BRUME_PG_SCRAM_TEXT], brume_error *error)
{
    char text[BRUME_PG_SCRAM_TEXT], expected[BRUME_PG_SCRAM_TEXT], header[160];
    uint8_t bound[sizeof scram->gs2_header + BRUME_PG_BINDING];
    char signed_text[3 * BRUME_PG_SCRAM_TEXT + 8], encoded[64];
    uint8_t proof[BRUME_SCRAM_KEY], signature[BRUME_SCRAM_KEY];
    if (length == 0 || length >= sizeof text || memchr(message, 0, length))
        return wrong(error);
    memcpy(text, message, length);
    text[length] = 0;
    char *sent = strstr(text, ",p=");
    if (!sent || !decode_key(sent + 3, proof))
        return wrong(error);
    *sent = 0;
    size_t length_bound = strlen(scram->gs2_header);
    memcpy(bound, scram->gs2_header, length_bound);
    if (scram->is_bound) {
        memcpy(bound + length_bound, scram->binding, scram->binding_length);
        length_bound += scram->binding_length;
    }
    EVP_EncodeBlock((uint8_t *)header, bound, (int)length_bound);
    snprintf(expected, sizeof expected, "c=%s,r=%.300s", header, scram->nonce);
    size_t known = strlen(expected); /* extensions may follow */
    if (strncmp(text, expected, known) != 0 || (text[known] != 0 && text[known] != ','))
        return wrong(error);
    snprintf(signed_text, sizeof signed_text, "%s,%s,%s", scram->client_first_bare,
             scram->server_first, text);
    *accepted = proof_holds(scram, signed_text, proof);
    keyed_hash(scram->verifier.server_key, signed_text, signature);
    EVP_EncodeBlock((uint8_t *)encoded, signature, BRUME_SCRAM_KEY);
    snprintf(final, BRUME_PG_SCRAM_TEXT, "v=%s", encoded);
    return BRUME_OK;
}
