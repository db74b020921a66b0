/* Users as they are: who a token's user is, and whether that user may act.
 *
 * Promise: reading takes no lock and writes nothing; every refusal has one text. */
#include "ledger/user.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include "base/error.h"
#include "base/text.h"
#include "ledger/digest.h"
#include "ledger/journal.h"
#include "ledger/ledger.h"
#include "ledger/store.h"
#include "ledger/user_row.h"

/* What is kept of a token: two lines of text, both secrets. */
enum { BRUME_VERIFIER_TEXT = 192 };

typedef struct brume_kept_token {
    char hash[BRUME_DIGEST_TEXT];
    char verifier[BRUME_VERIFIER_TEXT]; /* SCRAM-SHA-256$ITERATIONS:SALT$STORED:SERVER, in hex */
} brume_kept_token;

/* Tokens, and what is kept of them.
 *
 * Promise: from what is kept nobody finds the token otherwise than by trying all 2^256. That is why
 * one SHA-256 is enough for the hash, and the usual 4096 iterations for the verifier: both slow
 * down guessing, which is hopeless for a random token anyway.
 *
 * SCRAM (RFC 5802): SaltedPassword = PBKDF2-HMAC-SHA-256(token, salt, iterations),
 * StoredKey = SHA-256(HMAC(SaltedPassword, "Client Key")),
 * ServerKey = HMAC(SaltedPassword, "Server Key"). A token is ASCII, which SASLprep leaves alone. */

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

static brume_status token_hash(const char *token, char hash[BRUME_DIGEST_TEXT], brume_error *error);

/* Draw a token of 256 random bits. ERANDOM. */
static brume_status token_draw(char token[BRUME_TOKEN_TEXT], brume_kept_token *kept,
                               brume_error *error)
{
    uint8_t bytes[TOKEN_BYTES];
    char drawn[BRUME_TOKEN_TEXT];
    brume_scram_verifier verifier;
    brume_kept_token made;
    BRUME_TRY(draw_bytes(bytes, sizeof bytes, error));
    print_token(bytes, drawn);
    OPENSSL_cleanse(bytes, sizeof bytes);
    BRUME_TRY(token_hash(drawn, made.hash, error));
    BRUME_TRY(make_verifier(drawn, &verifier, error));
    print_verifier(&verifier, made.verifier);
    memcpy(token, drawn, sizeof drawn);
    OPENSSL_cleanse(drawn, sizeof drawn);
    *kept = made;
    return BRUME_OK;
}

/* The hash of a text that may be a token. */
static brume_status token_hash(const char *token, char hash[BRUME_DIGEST_TEXT], brume_error *error)
{
    uint8_t bytes[BRUME_SCRAM_KEY];
    size_t length = 0;
    if (EVP_Q_digest(NULL, "SHA256", NULL, token, strlen(token), bytes, &length) != 1)
        return crypto_failed(error);
    print_hex(bytes, sizeof bytes, hash);
    return BRUME_OK;
}

/* Are both hashes the same? Takes the same time whatever is in them. */
static bool token_hash_equal(const char a[BRUME_DIGEST_TEXT], const char *b)
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

/* EDAMAGED: not a text that token_draw makes. */
static brume_status verifier_parse(const char *text, brume_scram_verifier *out, brume_error *error)
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

/* A verifier that no password meets and that only who knows `key` can tell from another, the same
 * for a name each time. */
static brume_status verifier_decoy(const char *key, const char *name, brume_scram_verifier *out,
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

static brume_status out_of_memory(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "reading the ledger: out of memory");
}

static const char *const role_words[] = {"", "owner", "analyst", "auditor", "reviewer"};

const char *brume_role_word(brume_role role)
{
    return role <= BRUME_ROLE_REVIEWER ? role_words[role] : "";
}

brume_status brume_role_parse(const char *word, brume_role *out, brume_error *error)
{
    for (int i = BRUME_ROLE_OWNER; i <= BRUME_ROLE_REVIEWER; i++)
        if (strcmp(word, role_words[i]) == 0) {
            *out = (brume_role)i;
            return BRUME_OK;
        }
    return brume_fail(error, BRUME_EUNKNOWN, "one of: owner, analyst, auditor, reviewer",
                      "no role '%.40s'", word);
}

/* One text whatever the reason. */
static brume_status refusal(brume_error *error)
{
    return brume_fail(error, BRUME_EPOLICY, "ask the owner for a new token",
                      "the token is not valid");
}

/* ---- rows ---- */

/* Under which names the hash and the verifier of a user's token are kept (secret.h). */
static void user_secrets(const char *user, char hash[BRUME_USER_SECRET],
                         char verifier[BRUME_USER_SECRET])
{
    snprintf(hash, BRUME_USER_SECRET, "token of %s", user);
    snprintf(verifier, BRUME_USER_SECRET, "verifier of %s", user);
}

static brume_status read_columns(brume_statement *statement, brume_user_row *out,
                                 brume_error *error)
{
    brume_user_row row = {BRUME_ROLE_NONE, brume_store_int(statement, 1),
                          (uint64_t)brume_store_int(statement, 2),
                          (uint64_t)brume_store_int(statement, 3),
                          strcmp(brume_store_text(statement, 4), "removed") == 0};
    if (brume_role_parse(brume_store_text(statement, 0), &row.role, NULL) != BRUME_OK)
        return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                          "the ledger's record of a user cannot be read");
    *out = row;
    return BRUME_OK;
}

/* *found is false where there is no such row, as in every ledger before schema 4. */
static brume_status user_read(brume_ledger *ledger, const char *name, brume_user_row *out,
                              bool *found, brume_error *error)
{
    brume_statement *statement = NULL;
    *found = false;
    if (ledger->schema < 4)
        return BRUME_OK;
    BRUME_TRY(brume_store_prepare(
        ledger, &statement, error,
        "SELECT role, expires, issued, changed, state FROM \"user\" WHERE name = ?1", "t", name));
    brume_status status = brume_store_step(ledger, statement, found, error);
    if (status == BRUME_OK && *found)
        status = read_columns(statement, out, error);
    brume_store_finish(statement);
    return status;
}

/* Is it neither removed nor expired at `now`? */
static bool user_is_active(const brume_user_row *row, int64_t now)
{
    return !row->removed && (row->expires == 0 || now < row->expires);
}

void brume_user_close(brume_user *user)
{
    if (user)
        free(user->name);
    free(user);
}

/* A user of this name; `verifier` is what is kept of the token. */
static brume_status make_user(const char *name, const brume_user_row *row,
                              const brume_scram_verifier *verifier, brume_user **out,
                              brume_error *error)
{
    brume_user *user = calloc(1, sizeof *user);
    char *copy = strdup(name);
    if (!user || !copy) {
        free(user);
        free(copy);
        return out_of_memory(error);
    }
    *user = (brume_user){copy, row->role, row->expires, row->issued, *verifier};
    *out = user;
    return BRUME_OK;
}

/* ---- by token ---- */

/* Compare with every user's hash, to the end; `name` is the one that has it, or "". */
static brume_status find_hash(brume_ledger *ledger, const char *hash,
                              char name[BRUME_MOST_USER_NAME + 1], brume_error *error)
{
    brume_statement *statement = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT \"user\".name, secret.value FROM \"user\" JOIN secret ON "
                                  "secret.name = 'token of ' || \"user\".name",
                                  ""));
    bool row = true;
    brume_status status = BRUME_OK;
    name[0] = 0;
    while (status == BRUME_OK && row) {
        status = brume_store_step(ledger, statement, &row, error);
        if (status == BRUME_OK && row && token_hash_equal(hash, brume_store_text(statement, 1)))
            snprintf(name, BRUME_MOST_USER_NAME + 1, "%s", brume_store_text(statement, 0));
    }
    brume_store_finish(statement);
    return status;
}

static brume_status read_verifier(brume_ledger *ledger, const char *name, brume_scram_verifier *out,
                                  brume_error *error)
{
    char hash[BRUME_USER_SECRET], verifier[BRUME_USER_SECRET], *text = NULL;
    user_secrets(name, hash, verifier);
    BRUME_TRY(brume_secret_read(ledger, verifier, &text, error));
    brume_status status = verifier_parse(text ? text : "", out, error);
    free(text);
    return status;
}

brume_status brume_ledger_authenticate(brume_ledger *ledger, const char *token, int64_t now,
                                       brume_user **out, brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT], name[BRUME_MOST_USER_NAME + 1];
    brume_user_row row = {0};
    brume_scram_verifier verifier;
    bool found = false;
    BRUME_TRY(token_hash(token ? token : "", hash, error));
    if (ledger->schema < 4)
        return refusal(error);
    BRUME_TRY(find_hash(ledger, hash, name, error));
    BRUME_TRY(user_read(ledger, name, &row, &found, error));
    if (!found || !user_is_active(&row, now))
        return refusal(error);
    BRUME_TRY(read_verifier(ledger, name, &verifier, error));
    return make_user(name, &row, &verifier, out, error);
}

/* ---- by name ---- */

brume_status brume_ledger_find_user(brume_ledger *ledger, const char *name, int64_t now,
                                    brume_user **out, brume_error *error)
{
    char *key = NULL;
    brume_user_row row = {0};
    brume_scram_verifier verifier;
    bool found = false;
    BRUME_TRY(brume_secret_read(ledger, BRUME_DECOY_KEY, &key, error));
    /* For every name, so that one that is somebody's takes no less time. */
    brume_status status = verifier_decoy(key ? key : "", name, &verifier, error);
    free(key);
    if (status == BRUME_OK)
        status = user_read(ledger, name, &row, &found, error);
    if (status != BRUME_OK)
        return status;
    if (found && user_is_active(&row, now))
        BRUME_TRY(read_verifier(ledger, name, &verifier, error));
    else
        row = (brume_user_row){0};
    return make_user(name, &row, &verifier, out, error);
}

/* ---- acting ---- */

brume_status brume_ledger_act_as(brume_ledger *ledger, const char *name, uint64_t issued,
                                 brume_error *error)
{
    char *copy = strdup(name);
    if (!copy)
        return out_of_memory(error);
    free(ledger->user);
    ledger->user = copy;
    ledger->user_issued = issued;
    return BRUME_OK;
}

brume_status brume_ledger_check_user(brume_ledger *ledger, const char *name, uint64_t issued,
                                     int64_t now, brume_role *role, brume_error *error)
{
    brume_user_row row = {0};
    bool found = false;
    BRUME_TRY(user_read(ledger, name, &row, &found, error));
    if (!found || !user_is_active(&row, now) || (issued != 0 && issued != row.issued))
        return refusal(error);
    *role = row.role;
    return BRUME_OK;
}

brume_status brume_user_check_charge(brume_ledger *ledger, brume_error *error)
{
    brume_role role = BRUME_ROLE_NONE;
    if (!ledger->user)
        return BRUME_OK;
    BRUME_TRY(brume_ledger_check_user(ledger, ledger->user, ledger->user_issued,
                                      (int64_t)time(NULL), &role, error));
    if (role != BRUME_ROLE_OWNER && role != BRUME_ROLE_ANALYST)
        return brume_fail(error, BRUME_EPOLICY, "ask the owner for the role of an analyst",
                          role == BRUME_ROLE_AUDITOR ? "an auditor asks no questions of the data"
                                                     : "a reviewer asks no questions of the data");
    return BRUME_OK;
}

brume_status brume_user_check_owner(brume_ledger *ledger, brume_error *error)
{
    brume_role role = BRUME_ROLE_NONE;
    if (!ledger->user)
        return BRUME_OK;
    BRUME_TRY(brume_ledger_check_user(ledger, ledger->user, ledger->user_issued,
                                      (int64_t)time(NULL), &role, error));
    if (role != BRUME_ROLE_OWNER)
        return brume_fail(error, BRUME_EPOLICY, "ask the owner", "only an owner does that");
    return BRUME_OK;
}

/* What an owner does to users: add, rotate the token, allot, remove, list.
 *
 * Promise: each is one transaction with one row of the journal; on an error nothing is changed, and
 * no token was issued. */

static brume_status out_of_room(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "writing the ledger: out of memory");
}

static brume_status check_name(const char *name, brume_error *error)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                  "._-@";
    size_t length = strlen(name);
    if (length >= 1 && length <= BRUME_MOST_USER_NAME && strspn(name, allowed) == length)
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, "1 to 63 letters, digits and . _ - @",
                      "'%.80s' is no name for a user", name);
}

/* The row of a user who was not removed; EUNKNOWN. */
static brume_status read_present(brume_ledger *ledger, const char *name, brume_user_row *row,
                                 brume_error *error)
{
    bool found = false;
    BRUME_TRY(user_read(ledger, name, row, &found, error));
    if (!found || row->removed)
        return brume_fail(error, BRUME_EUNKNOWN, "see 'brume user list'",
                          found ? "the user '%.80s' was removed" : "no user '%.80s'", name);
    return BRUME_OK;
}

static brume_status keep_token(brume_ledger *ledger, const char *name, const brume_kept_token *kept,
                               brume_error *error)
{
    char hash[BRUME_USER_SECRET], verifier[BRUME_USER_SECRET];
    user_secrets(name, hash, verifier);
    BRUME_TRY(brume_secret_replace(ledger, hash, kept->hash, error));
    return brume_secret_replace(ledger, verifier, kept->verifier, error);
}

/* ---- allotments ---- */

/* *out is the list for the journal row `id`; the caller frees it also on an error. */
static brume_status allot_all(brume_ledger *ledger, const char *name, brume_role role,
                              const brume_allotment *typed, size_t count, uint64_t id, json_t **out,
                              brume_error *error)
{
    *out = json_array();
    if (!*out)
        return out_of_room(error);
    if (count > 0 && role != BRUME_ROLE_OWNER && role != BRUME_ROLE_ANALYST)
        return brume_fail(error, BRUME_EPOLICY, "leave the allotment out, or add an analyst",
                          role == BRUME_ROLE_AUDITOR
                              ? "an auditor asks nothing, and has nothing allotted"
                              : "a reviewer asks nothing, and has nothing allotted");
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++)
            if (strcmp(typed[i].dataset, typed[j].dataset) == 0)
                return brume_fail(error, BRUME_EARGUMENT, "name each dataset once",
                                  "'%.80s' is allotted twice", typed[i].dataset);
        BRUME_TRY(brume_allotment_give(ledger, name, &typed[i], id, *out, error));
    }
    return BRUME_OK;
}

/* ---- the four changes, inside a transaction ---- */

typedef struct change {
    const brume_new_user *user; /* only for `add` */
    const char *name;
    int64_t expires; /* -1: as it is */
    const brume_allotment *allotments;
    size_t allotment_count;
    const brume_kept_token *kept; /* of the new token */
} change;

static brume_status add_now(brume_ledger *ledger, const change *what, brume_error *error)
{
    const brume_new_user *new = what->user;
    brume_user_row row = {0};
    bool taken = false;
    uint64_t id = 0;
    json_t *list = NULL;
    BRUME_TRY(user_read(ledger, new->name, &row, &taken, error));
    if (taken)
        return brume_fail(error, BRUME_EPOLICY,
                          row.removed ? "a name is not given twice, since the history names people "
                                        "by it: choose another"
                                      : "choose another name, or rotate the token: 'brume user "
                                        "token'",
                          row.removed ? "the name '%s' was a user's before"
                                      : "the name '%s' is a user's already",
                          new->name);
    BRUME_TRY(brume_journal_next(ledger, &id, error));
    BRUME_TRY(brume_store_execute(
        ledger, error,
        "INSERT INTO \"user\"(name, role, expires, issued, changed, state) "
        "VALUES(?1,?2,?3,?4,?4,'active')",
        "ttii", new->name, brume_role_word(new->role), new->expires, (int64_t)id));
    BRUME_TRY(keep_token(ledger, new->name, what->kept, error));
    brume_status status = allot_all(ledger, new->name, new->role, new->allotments,
                                    new->allotment_count, id, &list, error);
    if (status == BRUME_OK)
        status =
            brume_journal_append(ledger, "user",
                                 json_pack("{s:s,s:s,s:s,s:I,s:O}", "action", "add", "name",
                                           new->name, "role", brume_role_word(new->role), "expires",
                                           (json_int_t) new->expires, "allotments", list),
                                 error);
    json_decref(list);
    return status;
}

static brume_status rotate_now(brume_ledger *ledger, const change *what, brume_error *error)
{
    brume_user_row row = {0};
    uint64_t id = 0;
    BRUME_TRY(read_present(ledger, what->name, &row, error));
    int64_t expires = what->expires < 0 ? row.expires : what->expires;
    BRUME_TRY(brume_journal_next(ledger, &id, error));
    BRUME_TRY(brume_store_execute(
        ledger, error, "UPDATE \"user\" SET expires=?2, issued=?3, changed=?3 WHERE name=?1", "tii",
        what->name, expires, (int64_t)id));
    BRUME_TRY(keep_token(ledger, what->name, what->kept, error));
    return brume_journal_append(ledger, "user",
                                json_pack("{s:s,s:s,s:I}", "action", "token", "name", what->name,
                                          "expires", (json_int_t)expires),
                                error);
}

static brume_status allot_now(brume_ledger *ledger, const change *what, brume_error *error)
{
    brume_user_row row = {0};
    uint64_t id = 0;
    json_t *list = NULL;
    BRUME_TRY(read_present(ledger, what->name, &row, error));
    BRUME_TRY(brume_journal_next(ledger, &id, error));
    BRUME_TRY(brume_store_execute(ledger, error, "UPDATE \"user\" SET changed=?2 WHERE name=?1",
                                  "ti", what->name, (int64_t)id));
    brume_status status = allot_all(ledger, what->name, row.role, what->allotments,
                                    what->allotment_count, id, &list, error);
    if (status == BRUME_OK)
        status = brume_journal_append(
            ledger, "user",
            json_pack("{s:s,s:s,s:O}", "action", "allot", "name", what->name, "allotments", list),
            error);
    json_decref(list);
    return status;
}

static brume_status remove_now(brume_ledger *ledger, const change *what, brume_error *error)
{
    brume_user_row row = {0};
    uint64_t id = 0;
    char hash[BRUME_USER_SECRET], verifier[BRUME_USER_SECRET];
    BRUME_TRY(read_present(ledger, what->name, &row, error));
    BRUME_TRY(brume_journal_next(ledger, &id, error));
    BRUME_TRY(brume_store_execute(ledger, error,
                                  "UPDATE \"user\" SET state='removed', changed=?2 WHERE name=?1",
                                  "ti", what->name, (int64_t)id));
    user_secrets(what->name, hash, verifier);
    BRUME_TRY(brume_secret_forget(ledger, hash, error));
    BRUME_TRY(brume_secret_forget(ledger, verifier, error));
    return brume_journal_append(
        ledger, "user", json_pack("{s:s,s:s}", "action", "remove", "name", what->name), error);
}

static brume_status make_change(brume_ledger *ledger, const change *what,
                                brume_status (*now)(brume_ledger *, const change *, brume_error *),
                                brume_error *error)
{
    BRUME_TRY(brume_store_begin(ledger, error));
    brume_status status = brume_journal_check_head(ledger, error);
    if (status == BRUME_OK)
        status = brume_user_check_owner(ledger, error);
    if (status == BRUME_OK)
        status = now(ledger, what, error);
    if (status == BRUME_OK)
        return brume_store_commit(ledger, error);
    brume_store_undo(ledger);
    return status;
}

/* ---- as they are called ---- */

brume_status brume_ledger_add_user(brume_ledger *ledger, const brume_new_user *user,
                                   char token[BRUME_TOKEN_TEXT], brume_error *error)
{
    char drawn[BRUME_TOKEN_TEXT];
    brume_kept_token kept;
    BRUME_TRY(check_name(user->name, error));
    if (user->role == BRUME_ROLE_NONE)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a user needs a role");
    if (user->expires < 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a user cannot expire before 1970");
    BRUME_TRY(token_draw(drawn, &kept, error));
    change what = {.user = user, .kept = &kept};
    BRUME_TRY(make_change(ledger, &what, add_now, error));
    memcpy(token, drawn, sizeof drawn);
    return BRUME_OK;
}

brume_status brume_ledger_rotate_token(brume_ledger *ledger, const char *name, int64_t expires,
                                       char token[BRUME_TOKEN_TEXT], brume_error *error)
{
    char drawn[BRUME_TOKEN_TEXT];
    brume_kept_token kept;
    BRUME_TRY(token_draw(drawn, &kept, error));
    change what = {.name = name, .expires = expires, .kept = &kept};
    BRUME_TRY(make_change(ledger, &what, rotate_now, error));
    memcpy(token, drawn, sizeof drawn);
    return BRUME_OK;
}

brume_status brume_ledger_allot(brume_ledger *ledger, const char *name,
                                const brume_allotment *allotments, size_t count, brume_error *error)
{
    change what = {.name = name, .allotments = allotments, .allotment_count = count};
    if (count == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "nothing is allotted");
    return make_change(ledger, &what, allot_now, error);
}

brume_status brume_ledger_remove_user(brume_ledger *ledger, const char *name, brume_error *error)
{
    change what = {.name = name};
    return make_change(ledger, &what, remove_now, error);
}

/* ---- the list ---- */

static json_t *time_to_json(int64_t seconds)
{
    char text[32];
    struct tm utc;
    time_t moment = (time_t)seconds;
    if (seconds == 0)
        return json_null();
    gmtime_r(&moment, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return json_string(text);
}

static brume_status add_allotments(brume_ledger *ledger, const char *user, json_t *list,
                                   brume_error *error)
{
    brume_statement *statement = NULL;
    bool row = true;
    BRUME_TRY(brume_store_prepare(
        ledger, &statement, error,
        "SELECT dataset, filter FROM allotment WHERE \"user\" = ?1 ORDER BY dataset", "t", user));
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && row) {
        status = brume_store_step(ledger, statement, &row, error);
        if (status == BRUME_OK && row &&
            json_array_append_new(list,
                                  json_pack("{s:s,s:s}", "dataset", brume_store_text(statement, 0),
                                            "filter", brume_store_text(statement, 1))) != 0)
            status = out_of_room(error);
    }
    brume_store_finish(statement);
    return status;
}

static brume_status add_user(brume_ledger *ledger, const char *name, int64_t now, json_t *users,
                             brume_error *error)
{
    brume_user_row row = {0};
    bool found = false;
    BRUME_TRY(user_read(ledger, name, &row, &found, error));
    const char *state = row.removed ? "removed" : user_is_active(&row, now) ? "active" : "expired";
    json_t *list = json_array();
    json_t *entry = json_pack("{s:s,s:s,s:o,s:s,s:O}", "name", name, "role",
                              brume_role_word(row.role), "expires", time_to_json(row.expires),
                              "state", state, "allotments", list);
    brume_status status = entry ? add_allotments(ledger, name, list, error) : out_of_room(error);
    json_decref(list);
    if (status == BRUME_OK)
        return json_array_append_new(users, entry) == 0 ? BRUME_OK : out_of_room(error);
    json_decref(entry);
    return status;
}

static brume_status list_users(brume_ledger *ledger, int64_t now, json_t *users, brume_error *error)
{
    brume_statement *statement = NULL;
    bool row = true;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT name FROM \"user\" ORDER BY name", ""));
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && row) {
        status = brume_store_step(ledger, statement, &row, error);
        if (status == BRUME_OK && row)
            status = add_user(ledger, brume_store_text(statement, 0), now, users, error);
    }
    brume_store_finish(statement);
    return status;
}

brume_status brume_ledger_users(brume_ledger *ledger, int64_t now, json_t **out, brume_error *error)
{
    json_t *users = json_array();
    if (!users)
        return out_of_room(error);
    brume_status status = ledger->schema < 4 ? BRUME_OK : list_users(ledger, now, users, error);
    if (status != BRUME_OK) {
        json_decref(users);
        return status;
    }
    *out = users;
    return BRUME_OK;
}
