/* What people typed and what they were answered. */
#include "ledger/wording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static brume_status damaged(uint64_t reservation, brume_error *error)
{
    return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                      "the text of charge %llu is not the one its journal says",
                      (unsigned long long)reservation);
}

brume_status brume_salt_draw(char salt[BRUME_SALT_TEXT], brume_error *error)
{
    return brume_random_digits(salt, (BRUME_SALT_TEXT - 1) / 2, error);
}

brume_status brume_salted_digest(const char *salt, const char *text, char out[BRUME_DIGEST_TEXT],
                                 brume_error *error)
{
    const char *const parts[] = {salt, text};
    return *salt ? brume_digest(parts, 2, out, error) : brume_digest(parts + 1, 1, out, error);
}

brume_status brume_wording_keep(brume_ledger *ledger, uint64_t reservation, const char *sql,
                                const char *typed, char digest[BRUME_DIGEST_TEXT],
                                brume_error *error)
{
    char salt[BRUME_SALT_TEXT];
    BRUME_TRY(brume_salt_draw(salt, error));
    json_t *words = json_pack("{s:s,s:s*}", "sql", sql, "typed", typed);
    char *text = words ? json_dumps(words, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(words);
    if (!text)
        return brume_no_memory(error, "writing the ledger");
    brume_status status = brume_salted_digest(salt, text, digest, error);
    if (status == BRUME_OK)
        status = brume_store_execute(
            ledger, error, "INSERT INTO wording(reservation, salt, body) VALUES(?1,?2,?3)", "itt",
            (int64_t)reservation, salt, text);
    free(text);
    return status;
}

/* The row of the table, checked; *out NULL if there is none. */
static brume_status read_row(brume_ledger *ledger, uint64_t reservation, const char *digest,
                             json_t **out, brume_error *error)
{
    brume_statement *statement = NULL;
    bool found = false;
    char hash[BRUME_DIGEST_TEXT];
    json_t *made = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT salt, body FROM wording WHERE reservation = ?1", "i",
                                  (int64_t)reservation));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    if (status == BRUME_OK && found) {
        const char *text = brume_store_text(statement, 1);
        status = brume_salted_digest(brume_store_text(statement, 0), text, hash, error);
        if (status == BRUME_OK &&
            (strcmp(hash, digest) != 0 || !(made = json_loads(text, JSON_ALLOW_NUL, NULL))))
            status = damaged(reservation, error);
    }
    brume_store_finish(statement);
    if (status == BRUME_OK)
        *out = made;
    return status;
}

brume_status brume_wording_read(brume_ledger *ledger, uint64_t reservation, const json_t *body,
                                json_t **out, brume_error *error)
{
    json_t *digest = json_object_get(body, "wording"), *sql = json_object_get(body, "sql");
    if (digest)
        return json_is_string(digest)
                   ? read_row(ledger, reservation, json_string_value(digest), out, error)
                   : damaged(reservation, error);
    *out = sql ? json_pack("{s:O,s:O*}", "sql", sql, "typed",
                           json_is_string(json_object_get(body, "typed"))
                               ? json_object_get(body, "typed")
                               : NULL)
               : NULL;
    return !sql || *out ? BRUME_OK : brume_no_memory(error, "reading the ledger");
}

static brume_status know_secret(brume_ledger *ledger, brume_error *error)
{
    if (ledger->answer_secret)
        return BRUME_OK;
    BRUME_TRY(brume_secret_read(ledger, BRUME_ANSWER_SECRET, &ledger->answer_secret, error));
    return ledger->answer_secret ? BRUME_OK
                                 : brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                                              "the key of the ledger's answers is missing");
}

brume_status brume_keyed_answer(brume_ledger *ledger, const char *key, char out[BRUME_DIGEST_TEXT],
                                brume_error *error)
{
    char inner[BRUME_DIGEST_TEXT];
    BRUME_TRY(know_secret(ledger, error));
    const char *parts[] = {ledger->answer_secret, key};
    BRUME_TRY(brume_digest(parts, 2, inner, error));
    parts[1] = inner;
    return brume_digest(parts, 2, out, error);
}

/* A project has answers of its own: who asks the same elsewhere finds none of them. */
brume_status brume_keyed_question(brume_ledger *ledger, const char *key,
                                  char out[BRUME_DIGEST_TEXT], brume_error *error)
{
    char of_project[BRUME_DIGEST_TEXT];
    const char *const parts[] = {"project", ledger->project, key};
    if (ledger->must_name_project)
        return brume_fail(error, BRUME_EPOLICY, "'brume project list' shows them",
                          "you are in several projects: name one with --project");
    if (!ledger->project)
        return brume_keyed_answer(ledger, key, out, error);
    BRUME_TRY(brume_digest(parts, 3, of_project, error));
    return brume_keyed_answer(ledger, of_project, out, error);
}

void brume_redacted_key(uint64_t reservation, char key[BRUME_REDACTED_KEY])
{
    snprintf(key, BRUME_REDACTED_KEY, "redacted.%llu", (unsigned long long)reservation);
}
