/* Tokens, and the verifiers and decoys by which a password is checked (ledger/user.h). */
#include "users.h"

#include <stdlib.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

static void a_token_authenticates_its_user_and_no_other_text_does(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0}, other = {0};
    char alice[BRUME_TOKEN_TEXT], bob[BRUME_TOKEN_TEXT];
    brume_user *user = NULL;
    add_with(ledger, "alice", BRUME_ROLE_ANALYST, NULL, NULL, NULL, alice);
    add_with(ledger, "bob", BRUME_ROLE_AUDITOR, NULL, NULL, NULL, bob);
    assert_int_equal(strlen(alice), 49); /* "brume_" and 256 bits in base64url */
    assert_string_not_equal(alice, bob);
    assert_ok(brume_ledger_authenticate(ledger, alice, now(), &user, &error));
    assert_string_equal(user->name, "alice");
    assert_int_equal(user->role, BRUME_ROLE_ANALYST);
    brume_user_close(user);
    assert_ok(brume_ledger_authenticate(ledger, bob, now(), &user, &error));
    assert_string_equal(user->name, "bob");
    brume_user_close(user);
    user = NULL;
    const char *const wrong[] = {"", "alice", "brume_", alice + 1, NULL};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(brume_ledger_authenticate(ledger, wrong[i], now(), &user, &error),
                     BRUME_EPOLICY);
    alice[20] = alice[20] == 'a' ? 'b' : 'a';
    assert_fails(brume_ledger_authenticate(ledger, alice, now(), &user, &other), BRUME_EPOLICY);
    assert_string_equal(error.message, other.message);
    assert_null(user);
    check_verified(ledger, 2);
}

static void an_expired_rotated_or_removed_token_is_refused_with_one_text(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error first = {0}, error = {0};
    char token[BRUME_TOKEN_TEXT], newer[BRUME_TOKEN_TEXT];
    brume_user *user = NULL;
    assert_fails(brume_ledger_authenticate(ledger, "brume_nobody", now(), &user, &first),
                 BRUME_EPOLICY);
    brume_new_user carol = {.name = "carol", .role = BRUME_ROLE_ANALYST, .expires = 1000};
    assert_ok(brume_ledger_add_user(ledger, &carol, token, &error));
    assert_ok(brume_ledger_authenticate(ledger, token, 999, &user, &error));
    brume_user_close(user);
    user = NULL;
    assert_fails(brume_ledger_authenticate(ledger, token, 1000, &user, &error), BRUME_EPOLICY);
    assert_string_equal(error.message, first.message);
    assert_ok(brume_ledger_rotate_token(ledger, "carol", 0, newer, &error));
    assert_fails(brume_ledger_authenticate(ledger, token, 999, &user, &error), BRUME_EPOLICY);
    assert_string_equal(error.message, first.message);
    assert_string_equal(error.hint, first.hint);
    assert_ok(
        brume_ledger_authenticate(ledger, newer, now(), &user, &error)); /* never expires now */
    brume_user_close(user);
    user = NULL;
    assert_ok(brume_ledger_remove_user(ledger, "carol", &error));
    assert_fails(brume_ledger_authenticate(ledger, newer, now(), &user, &error), BRUME_EPOLICY);
    assert_string_equal(error.message, first.message);
    assert_fails(brume_ledger_rotate_token(ledger, "carol", 0, newer, &error), BRUME_EUNKNOWN);
    assert_fails(brume_ledger_remove_user(ledger, "carol", &error), BRUME_EUNKNOWN);
    check_verified(ledger, 1);
}

/* The verifier is what RFC 5802 makes of the token; a decoy is the same each time. */
static void the_verifier_is_that_of_the_token_and_unknown_names_have_one_too(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    char token[BRUME_TOKEN_TEXT];
    brume_user *user = NULL, *again = NULL, *other = NULL;
    add_with(ledger, "alice", BRUME_ROLE_ANALYST, NULL, NULL, NULL, token);
    assert_ok(brume_ledger_find_user(ledger, "alice", now(), &user, &error));
    unsigned char salted[32], client[32], stored[32], server[32];
    unsigned length = 0;
    assert_int_equal(PKCS5_PBKDF2_HMAC(token, (int)strlen(token), user->scram.salt, 16,
                                       (int)user->scram.iterations, EVP_sha256(), 32, salted),
                     1);
    HMAC(EVP_sha256(), salted, 32, (const unsigned char *)"Client Key", 10, client, &length);
    HMAC(EVP_sha256(), salted, 32, (const unsigned char *)"Server Key", 10, server, &length);
    assert_int_equal(EVP_Digest(client, 32, stored, &length, EVP_sha256(), NULL), 1);
    assert_memory_equal(stored, user->scram.stored_key, 32);
    assert_memory_equal(server, user->scram.server_key, 32);
    assert_true(user->scram.iterations >= 4096);
    brume_user_close(user);
    assert_ok(brume_ledger_find_user(ledger, "nobody", now(), &user, &error));
    assert_ok(brume_ledger_find_user(ledger, "nobody", now(), &again, &error));
    assert_ok(brume_ledger_find_user(ledger, "somebody", now(), &other, &error));
    assert_int_equal(user->role, BRUME_ROLE_NONE);
    assert_int_equal(user->scram.iterations, 4096);
    assert_memory_equal(&user->scram, &again->scram, sizeof user->scram);
    assert_memory_not_equal(user->scram.salt, other->scram.salt, sizeof user->scram.salt);
    brume_user_close(other);
    /* one who has expired, or was removed, is nobody */
    brume_new_user late = {.name = "late", .role = BRUME_ROLE_OWNER, .expires = 1000};
    assert_ok(brume_ledger_add_user(ledger, &late, token, &error));
    brume_user *before = NULL;
    assert_ok(brume_ledger_find_user(ledger, "late", 999, &before, &error));
    assert_ok(brume_ledger_find_user(ledger, "late", 1000, &other, &error));
    assert_int_equal(before->role, BRUME_ROLE_OWNER);
    assert_int_equal(other->role, BRUME_ROLE_NONE);
    assert_memory_not_equal(before->scram.stored_key, other->scram.stored_key, 32);
    brume_user_close(before);
    brume_user_close(other);
    assert_ok(brume_ledger_remove_user(ledger, "late", &error));
    assert_ok(brume_ledger_find_user(ledger, "late", 999, &other, &error));
    assert_int_equal(other->role, BRUME_ROLE_NONE);
    brume_user_close(user);
    brume_user_close(again);
    brume_user_close(other);
}

/* Whoever knows the key of decoys can tell them from the salts of users. */
static void decoys_are_of_a_key_that_each_ledger_draws(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    brume_user *one = NULL, *other = NULL;
    place where;
    make_place(&where);
    brume_ledger *second = open_ledger(&where);
    assert_ok(brume_ledger_find_user(ledger, "nobody", now(), &one, &error));
    assert_ok(brume_ledger_find_user(second, "nobody", now(), &other, &error));
    assert_memory_not_equal(one->scram.salt, other->scram.salt, sizeof one->scram.salt);
    brume_user_close(one);
    brume_user_close(other);
    brume_ledger_close(second);
    remove_place(&where);
}

static void no_secret_is_in_the_journal_or_an_export(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    char token[BRUME_TOKEN_TEXT], *texts[8];
    json_t *export = NULL, *users = NULL;
    add_with(ledger, "alice", BRUME_ROLE_ANALYST, NULL, NULL, NULL, token);
    assert_ok(brume_ledger_rotate_token(ledger, "alice", -1, token, &error));
    assert_ok(brume_ledger_export(ledger, false, &export, &error));
    assert_ok(brume_ledger_users(ledger, now(), &users, &error));
    char *text = json_dumps(export, 0), *listed = json_dumps(users, 0);
    size_t count = read_texts(place_of(state),
                              "SELECT value FROM secret WHERE name IN ('token of alice', "
                              "'verifier of alice', 'key of decoys')",
                              texts, 8);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++) {
        assert_null(strstr(text, texts[i]));
        assert_null(strstr(listed, texts[i]));
        assert_null(strstr(texts[i], token));
        free(texts[i]);
    }
    assert_null(strstr(text, token));
    free(text);
    free(listed);
    json_decref(export);
    json_decref(users);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fresh_ledger(a_token_authenticates_its_user_and_no_other_text_does),
        with_fresh_ledger(an_expired_rotated_or_removed_token_is_refused_with_one_text),
        with_fresh_ledger(the_verifier_is_that_of_the_token_and_unknown_names_have_one_too),
        with_fresh_ledger(decoys_are_of_a_key_that_each_ledger_draws),
        with_fresh_ledger(no_secret_is_in_the_journal_or_an_export),
    };
    return cmocka_run_group_tests_name("ledger tokens", tests, NULL, NULL);
}
