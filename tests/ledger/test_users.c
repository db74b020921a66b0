/* Users, tokens and allotments (the clauses of ledger/user.h). */
#include "fixture.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "ledger/user.h"
#include "ledger/user_row.h"
#include "ledger/verify_user.h"

static int64_t now(void)
{
    return (int64_t)time(NULL);
}

static void add_with(brume_ledger *ledger, const char *name, brume_role role, const char *dataset,
                     const char *epsilon, const char *delta, char token[BRUME_TOKEN_TEXT])
{
    brume_error error = {0};
    brume_allotment allotment = {dataset, epsilon, delta};
    brume_new_user user = {
        .name = name, .role = role, .allotments = &allotment, .allotment_count = dataset ? 1 : 0};
    assert_ok(brume_ledger_add_user(ledger, &user, token, &error));
}

static void act(brume_ledger *ledger, const char *name)
{
    brume_error error = {0};
    assert_ok(brume_ledger_act_as(ledger, name, 0, &error));
}

static void check_verified(brume_ledger *ledger, uint64_t users)
{
    brume_error error = {0};
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    assert_int_equal(report.users, users);
}

static const place *place_of(void **state)
{
    return (const place *)*state; /* the first member of what the fixture keeps */
}

/* ---- tokens ---- */

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

static void no_secret_is_in_the_journal_or_an_export(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    char token[BRUME_TOKEN_TEXT], *texts[8];
    json_t *export = NULL, *users = NULL;
    add_with(ledger, "alice", BRUME_ROLE_ANALYST, NULL, NULL, NULL, token);
    assert_ok(brume_ledger_rotate_token(ledger, "alice", -1, token, &error));
    assert_ok(brume_ledger_export(ledger, &export, &error));
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

static void names_are_given_once_and_are_plain(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    char token[BRUME_TOKEN_TEXT] = "untouched";
    static const char *const bad[] = {"", "a b", "a\nb", "a/b", "ümlaut", "a'b"};
    brume_new_user user = {.role = BRUME_ROLE_OWNER};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        user.name = bad[i];
        assert_fails(brume_ledger_add_user(ledger, &user, token, &error), BRUME_EARGUMENT);
    }
    char longest[65];
    memset(longest, 'n', sizeof longest);
    longest[64] = 0;
    user.name = longest;
    assert_fails(brume_ledger_add_user(ledger, &user, token, &error), BRUME_EARGUMENT);
    longest[63] = 0; /* 63 characters, and 1 */
    brume_user *found = NULL;
    assert_ok(brume_ledger_add_user(ledger, &user, token, &error));
    assert_ok(brume_ledger_authenticate(ledger, token, now(), &found, &error));
    assert_string_equal(found->name, longest);
    brume_user_close(found);
    user.name = "n";
    assert_ok(brume_ledger_add_user(ledger, &user, token, &error));
    snprintf(token, sizeof token, "untouched");
    user.name = "alice";
    user.role = BRUME_ROLE_NONE;
    assert_fails(brume_ledger_add_user(ledger, &user, token, &error), BRUME_EARGUMENT);
    assert_string_equal(token, "untouched");
    user.role = BRUME_ROLE_OWNER;
    assert_ok(brume_ledger_add_user(ledger, &user, token, &error));
    assert_fails(brume_ledger_add_user(ledger, &user, token, &error), BRUME_EPOLICY);
    assert_ok(brume_ledger_remove_user(ledger, "alice", &error));
    assert_fails(brume_ledger_add_user(ledger, &user, token, &error), BRUME_EPOLICY);
    check_verified(ledger, 3);
}

static void users_are_listed_with_what_they_are_and_have(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    char token[BRUME_TOKEN_TEXT];
    json_t *users = NULL;
    register_dataset(ledger, "visits", "1", NULL);
    add_with(ledger, "alice", BRUME_ROLE_ANALYST, "visits", "0.25", NULL, token);
    brume_new_user late = {.name = "late", .role = BRUME_ROLE_AUDITOR, .expires = 1000};
    assert_ok(brume_ledger_add_user(ledger, &late, token, &error));
    add_with(ledger, "zoe", BRUME_ROLE_OWNER, NULL, NULL, NULL, token);
    assert_ok(brume_ledger_remove_user(ledger, "zoe", &error));
    assert_ok(brume_ledger_users(ledger, 1000, &users, &error));
    static const char *const expected[][3] = {{"alice", "analyst", "active"},
                                              {"late", "auditor", "expired"},
                                              {"zoe", "owner", "removed"}};
    assert_int_equal(json_array_size(users), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *user = json_array_get(users, i);
        assert_string_equal(json_string_value(json_object_get(user, "name")), expected[i][0]);
        assert_string_equal(json_string_value(json_object_get(user, "role")), expected[i][1]);
        assert_string_equal(json_string_value(json_object_get(user, "state")), expected[i][2]);
        assert_int_equal(json_array_size(json_object_get(user, "allotments")), i == 0);
    }
    const json_t *expires = json_object_get(json_array_get(users, 1), "expires");
    assert_string_equal(json_string_value(expires), "1970-01-01T00:16:40Z");
    json_decref(users);
    assert_ok(brume_ledger_users(ledger, 999, &users, &error));
    assert_string_equal(json_string_value(json_object_get(json_array_get(users, 1), "state")),
                        "active");
    json_decref(users);
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

static void only_an_owner_registers_and_amends_datasets(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    char token[BRUME_TOKEN_TEXT];
    brume_dataset *dataset = NULL;
    register_dataset(ledger, "visits", "1", NULL);
    add_with(ledger, "alice", BRUME_ROLE_ANALYST, NULL, NULL, NULL, token);
    add_with(ledger, "ann", BRUME_ROLE_AUDITOR, NULL, NULL, NULL, token);
    add_with(ledger, "olga", BRUME_ROLE_OWNER, NULL, NULL, NULL, token);
    assert_ok(brume_ledger_dataset(ledger, "visits", &dataset, &error));
    brume_amendment more = {.name = "visits", .stated = dataset->stated, .epsilon = "100"};
    brume_registration new = {.name = "new",
                              .source = "source of new",
                              .data_version = "",
                              .adjacency = BRUME_ADD_REMOVE,
                              .filter = &dataset->filter,
                              .policy = dataset->policy};
    static const char *const others[] = {"alice", "ann", "nobody"};
    for (size_t i = 0; i < 3; i++) {
        act(ledger, others[i]);
        assert_fails(brume_ledger_amend(ledger, &more, &error), BRUME_EPOLICY);
        assert_fails(brume_ledger_register(ledger, &new, &error), BRUME_EPOLICY);
        assert_string_not_equal(error.message, "the name or the source is registered already");
    }
    act(ledger, "olga");
    assert_ok(brume_ledger_register(ledger, &new, &error));
    brume_dataset_close(dataset);
    assert_ok(brume_ledger_amend(ledger, &more, &error));
    check_verified(ledger, 3);
}

/* ---- allotments ---- */

/* delta <= (mine/whole) of the dataset's delta, exactly, and nearly as much; never more than all.
 */
static void an_allotment_without_delta_gets_its_share_rounded_down(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    static const uint64_t whole[] = {10, 3, 7, 9, 11, 13};    /* tenths */
    static const uint64_t mine[] = {1, 250, 125, 100, 77, 3}; /* thousandths */
    static const char *const deltas[] = {"1e-6", "0.00000095367431640625", "3e-9"};
    for (size_t i = 0; i < 6 * 6 * 3; i++) {
        uint64_t w = whole[i % 6], m = mine[i / 6 % 6];
        char name[32], epsilon[64], part[32], user[32], token[BRUME_TOKEN_TEXT];
        snprintf(name, sizeof name, "d%zu", i);
        snprintf(user, sizeof user, "u%zu", i);
        snprintf(epsilon, sizeof epsilon, "%llu.%llu", (unsigned long long)(w / 10),
                 (unsigned long long)(w % 10));
        snprintf(part, sizeof part, "0.%03llu", (unsigned long long)m);
        register_dataset(ledger, name, epsilon, deltas[i / 36]);
        brume_allotment typed = {name, part, NULL};
        brume_dataset *dataset = NULL;
        brume_filter filter;
        assert_ok(brume_ledger_dataset(ledger, name, &dataset, &error));
        assert_ok(brume_allotment_filter(dataset, &typed, NULL, &filter, &error));
        brume_decimal all, left, right;
        assert_ok(brume_decimal_parse(deltas[i / 36], &all, &error));
        assert_ok(brume_decimal_multiply(&filter.delta, 100 * w, &left, &error));
        assert_ok(brume_decimal_multiply(&all, m, &right, &error));
        assert_holds(brume_decimal_compare(&left, &right) <= 0);
        assert_close(brume_decimal_nearest(&left), brume_decimal_nearest(&right), 1e-13);
        if (i < 6) { /* one that is larger than the budget */
            typed.epsilon = "50";
            assert_ok(brume_allotment_filter(dataset, &typed, NULL, &filter, &error));
            assert_holds(brume_decimal_compare(&filter.delta, &all) <= 0);
            add_with(ledger, user, BRUME_ROLE_ANALYST, name, part, NULL, token);
        }
        brume_dataset_close(dataset);
    }
    check_verified(ledger, 6);
}

static void what_is_left_is_the_less_of_budget_and_allotment(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    char token[BRUME_TOKEN_TEXT];
    brume_dataset *dataset = NULL;
    brume_charge left;
    register_dataset(ledger, "soft", "1", "1e-6");
    add_with(ledger, "alice", BRUME_ROLE_ANALYST, "soft", "0.125", "4e-6", token);
    add_with(ledger, "bob", BRUME_ROLE_ANALYST, "soft", "5", "1e-7", token);
    add_with(ledger, "carol", BRUME_ROLE_ANALYST, NULL, NULL, NULL, token);
    brume_allotment other = {"soft", "0.25", "5e-6"};
    assert_ok(brume_ledger_allot(ledger, "alice", &other, 1, &error)); /* once more */
    check_verified(ledger, 3);
    assert_ok(brume_ledger_dataset(ledger, "soft", &dataset, &error));
    static const struct {
        const char *user;
        double amount, delta;
    } expected[] = {{"alice", 0.25, 1e-6}, {"bob", 1, 1e-7}, {"carol", 1, 1e-6}};
    for (size_t i = 0; i < 3; i++) {
        act(ledger, expected[i].user);
        assert_ok(brume_ledger_left(ledger, dataset, &left, &error));
        assert_holds(brume_decimal_nearest(&left.amount) == expected[i].amount);
        assert_holds(brume_decimal_nearest(&left.delta) == expected[i].delta);
    }
    brume_dataset_close(dataset);
}

static void a_charge_goes_to_both_filters_or_to_neither(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    char token[BRUME_TOKEN_TEXT];
    uint64_t id = 0;
    bool has = false;
    brume_filter filter;
    brume_dataset *dataset = NULL;
    register_dataset(ledger, "visits", "1", NULL);
    add_with(ledger, "alice", BRUME_ROLE_ANALYST, "visits", "0.3", NULL, token);
    add_with(ledger, "bob", BRUME_ROLE_ANALYST, "visits", "5", NULL, token);
    act(ledger, "alice");
    assert_ok(reserve(ledger, "visits", "0.1", "a", &id, &error));
    assert_ok(reserve(ledger, "visits", "0.1", "b", &id, &error));
    assert_ok(reserve(ledger, "visits", "0.1", "c", &id, &error));
    /* the allotment is used up: nothing is charged to the dataset */
    assert_fails(reserve(ledger, "visits", "0.1", "d", &id, &error), BRUME_EBUDGET);
    assert_non_null(strstr(error.message, "allotment on 'visits'"));
    assert_ok(brume_ledger_dataset(ledger, "visits", &dataset, &error));
    assert_int_equal(dataset->queries, 3);
    brume_dataset_close(dataset);
    /* an allotment that is larger than the budget gives no more than the budget: collusion */
    act(ledger, "bob");
    assert_ok(reserve(ledger, "visits", "0.7", "e", &id, &error));
    assert_fails(reserve(ledger, "visits", "0.1", "f", &id, &error), BRUME_EBUDGET);
    assert_null(strstr(error.message, "allotment"));
    assert_ok(brume_ledger_allotment(ledger, "bob", "visits", &has, &filter, &error));
    assert_true(has);
    assert_int_equal(filter.charges, 1); /* the refused one is not charged to it */
    check_verified(ledger, 2);
}

static void a_user_without_an_allotment_has_the_budget_alone(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    char token[BRUME_TOKEN_TEXT];
    uint64_t id = 0;
    json_t *history = NULL;
    register_dataset(ledger, "visits", "1", NULL);
    register_dataset(ledger, "people", "1", NULL);
    add_with(ledger, "alice", BRUME_ROLE_ANALYST, "visits", "0.1", NULL, token);
    act(ledger, "alice");
    assert_ok(reserve(ledger, "people", "1", "a", &id, &error));
    assert_ok(brume_ledger_history(ledger, "people", &history, &error));
    const json_t *event = json_array_get(json_object_get(history, "events"), 0);
    assert_string_equal(json_string_value(json_object_get(event, "user")), "alice");
    json_decref(history);
    check_verified(ledger, 1);
}

static void a_join_charges_every_allotment_or_none(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    char token[BRUME_TOKEN_TEXT];
    uint64_t id = 0;
    bool has = false;
    brume_filter filter;
    register_dataset(ledger, "visits", "1", NULL);
    register_dataset(ledger, "people", "1", NULL);
    brume_allotment both[] = {{"visits", "0.5", NULL}, {"people", "0.2", NULL}};
    brume_new_user user = {
        .name = "alice", .role = BRUME_ROLE_ANALYST, .allotments = both, .allotment_count = 2};
    assert_ok(brume_ledger_add_user(ledger, &user, token, &error));
    act(ledger, "alice");
    brume_charge price = price_of("0.3", NULL), small = price_of("0.2", NULL);
    brume_ledger_charge charges[] = {{.dataset = "visits", .price = &price},
                                     {.dataset = "people", .price = &price}};
    brume_reservation join = {
        .charges = charges, .charge_count = 2, .sql = "SELECT 1", .answer_key = "j"};
    assert_fails(brume_ledger_reserve(ledger, &join, &id, &error), BRUME_EBUDGET);
    assert_non_null(strstr(error.message, "people"));
    assert_ok(brume_ledger_allotment(ledger, "alice", "visits", &has, &filter, &error));
    assert_int_equal(filter.charges, 0);
    charges[0].price = charges[1].price = &small;
    assert_ok(brume_ledger_reserve(ledger, &join, &id, &error));
    assert_ok(brume_ledger_allotment(ledger, "alice", "visits", &has, &filter, &error));
    assert_int_equal(filter.charges, 1);
    check_verified(ledger, 1);
}

static void an_allotment_keeps_its_sums_and_is_of_the_datasets_rule(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    char token[BRUME_TOKEN_TEXT];
    uint64_t id = 0;
    bool has = false;
    brume_filter filter;
    register_dataset(ledger, "visits", "1", NULL);
    register_dataset(ledger, "soft", "1", "1e-6");
    add_with(ledger, "alice", BRUME_ROLE_ANALYST, "visits", "0.3", NULL, token);
    act(ledger, "alice");
    assert_ok(reserve(ledger, "visits", "0.2", "a", &id, &error));
    brume_allotment less = {"visits", "0.1", NULL}, same = {"visits", "0.2", NULL},
                    more = {"visits", "0.5", NULL}, delta = {"visits", "0.5", "1e-9"},
                    soft = {"soft", "0.25", NULL}, none = {"absent", "1", NULL};
    /* alice is no owner */
    assert_fails(brume_ledger_allot(ledger, "alice", &more, 1, &error), BRUME_EPOLICY);
    brume_ledger *owner = open_ledger(place_of(state));
    assert_fails(brume_ledger_allot(owner, "alice", &less, 1, &error), BRUME_EPOLICY);
    assert_fails(brume_ledger_allot(owner, "alice", &delta, 1, &error), BRUME_EARGUMENT);
    assert_fails(brume_ledger_allot(owner, "alice", &none, 1, &error), BRUME_EUNKNOWN);
    assert_fails(brume_ledger_allot(owner, "nobody", &more, 1, &error), BRUME_EUNKNOWN);
    assert_ok(brume_ledger_allot(owner, "alice", &same, 1, &error));
    assert_fails(reserve(ledger, "visits", "0.01", "b", &id, &error), BRUME_EBUDGET);
    assert_ok(brume_ledger_allot(owner, "alice", &more, 1, &error));
    assert_ok(brume_ledger_allot(owner, "alice", &soft, 1, &error));
    assert_ok(reserve(ledger, "visits", "0.3", "b", &id, &error));
    assert_fails(reserve(ledger, "visits", "0.01", "c", &id, &error), BRUME_EBUDGET);
    /* without a delta: the share that epsilon is of the budget's epsilon */
    assert_ok(brume_ledger_allotment(ledger, "alice", "soft", &has, &filter, &error));
    assert_true(has && filter.rule == BRUME_RULE_APPROXIMATE);
    double share = brume_decimal_nearest(&filter.delta);
    assert_true(share <= 2.5e-7 && share > 2.4999e-7);
    check_verified(owner, 1);
    brume_ledger_close(owner);
}

/* ---- who may be charged ---- */

static void nobody_is_charged_who_was_removed_has_expired_or_is_an_auditor(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    char token[BRUME_TOKEN_TEXT];
    uint64_t id = 0;
    brume_user *user = NULL;
    register_dataset(ledger, "visits", "10", NULL);
    add_with(ledger, "alice", BRUME_ROLE_ANALYST, NULL, NULL, NULL, token);
    add_with(ledger, "ann", BRUME_ROLE_AUDITOR, NULL, NULL, NULL, token);
    brume_new_user late = {.name = "late", .role = BRUME_ROLE_ANALYST, .expires = now()};
    assert_ok(brume_ledger_add_user(ledger, &late, token, &error));
    const char *const refused[] = {"ann", "late", "nobody"};
    for (size_t i = 0; i < 3; i++) {
        act(ledger, refused[i]);
        assert_fails(reserve(ledger, "visits", "0.1", "a", &id, &error), BRUME_EPOLICY);
    }
    /* a session of a token that is rotated while it plans */
    assert_ok(brume_ledger_find_user(ledger, "alice", now(), &user, &error));
    assert_ok(brume_ledger_act_as(ledger, "alice", user->issued, &error));
    assert_ok(reserve(ledger, "visits", "0.1", "a", &id, &error));
    brume_user_close(user);
    brume_ledger *owner = open_ledger(place_of(state));
    assert_ok(brume_ledger_rotate_token(owner, "alice", -1, token, &error));
    assert_fails(reserve(ledger, "visits", "0.1", "b", &id, &error), BRUME_EPOLICY);
    act(ledger, "alice");
    assert_ok(reserve(ledger, "visits", "0.1", "b", &id, &error));
    /* removed between the charge and the answer: what was charged may be answered and recorded */
    assert_ok(brume_ledger_remove_user(owner, "alice", &error));
    json_t *answer = json_pack("[i]", 1);
    assert_ok(brume_ledger_commit(ledger, id, answer, &error));
    json_decref(answer);
    assert_fails(reserve(ledger, "visits", "0.1", "c", &id, &error), BRUME_EPOLICY);
    check_verified(owner, 3);
    brume_allotment some = {"visits", "1", NULL};
    assert_fails(brume_ledger_allot(owner, "ann", &some, 1, &error), BRUME_EPOLICY);
    brume_ledger_close(owner);
}

/* ---- damage ---- */

static void a_change_of_a_table_is_found(void **state)
{
    static const char *const edits[] = {
        "UPDATE user SET role = 'owner' WHERE name = 'alice'",
        "UPDATE user SET expires = 0 WHERE name = 'alice'",
        "UPDATE allotment SET filter = (SELECT filter FROM allotment WHERE user = 'bob') WHERE "
        "user = 'alice'",
        "DELETE FROM allotment WHERE user = 'alice'",
        "INSERT INTO user VALUES('mallory', 'owner', 0, 1, 1, 'active')",
        "UPDATE secret SET value = (SELECT value FROM secret WHERE name = 'token of bob') WHERE "
        "name = 'token of alice'",
        "DELETE FROM secret WHERE name = 'verifier of alice'",
    };
    (void)state;
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        place where;
        brume_error error = {0};
        brume_ledger_report report;
        char token[BRUME_TOKEN_TEXT];
        uint64_t id = 0;
        make_place(&where);
        brume_ledger *ledger = open_ledger(&where);
        register_dataset(ledger, "visits", "10", NULL);
        brume_allotment allotment = {"visits", "1", NULL}, large = {"visits", "2", NULL};
        brume_new_user alice = {"alice", BRUME_ROLE_ANALYST, 4000000000, &allotment, 1};
        brume_new_user bob = {"bob", BRUME_ROLE_ANALYST, 0, &large, 1};
        assert_ok(brume_ledger_add_user(ledger, &alice, token, &error));
        assert_ok(brume_ledger_add_user(ledger, &bob, token, &error));
        assert_ok(brume_ledger_verify(ledger, &report, &error));
        tamper(&where, edits[i]);
        assert_fails(brume_ledger_verify(ledger, &report, &error), BRUME_EDAMAGED);
        assert_fails(brume_ledger_remove_user(ledger, "bob", &error), BRUME_EDAMAGED);
        if (strstr(edits[i], "allotment SET filter")) { /* found where it is read alone, too */
            bool has = false;
            brume_filter filter;
            assert_fails(brume_ledger_allotment(ledger, "alice", "visits", &has, &filter, &error),
                         BRUME_EDAMAGED);
        }
        act(ledger, "alice");
        assert_fails(reserve(ledger, "visits", "0.1", "a", &id, &error), BRUME_EDAMAGED);
        brume_ledger_close(ledger);
        remove_place(&where);
    }
}

/* Somebody who may write the file may also write a journal with right hashes. What such a history
 * cannot say: each row here is what a careless ledger could have written, and must be refused. */
typedef struct forged {
    const char *kind, *body, *wrong; /* NULL: it is right */
} forged;

static const char *replay_forged(brume_user_replay *all, uint64_t id, const forged *row,
                                 const json_t *datasets)
{
    const char *wrong = NULL;
    json_t *body = json_loads(row->body, 0, NULL);
    assert_non_null(body);
    brume_user_replay_actor(all, row->kind, body, &wrong);
    if (!wrong && strcmp(row->kind, "user") == 0)
        brume_user_replay_row(all, id, body, datasets, &wrong);
    if (!wrong && strcmp(row->kind, "reserve") == 0)
        brume_user_replay_charge(all, id, body, json_array_get(json_object_get(body, "charges"), 0),
                                 &wrong);
    json_decref(body);
    return wrong;
}

#define FILTER(spent, charges)                                                                     \
    "brume-filter-1 pure epsilon=1 delta=0 limit=1 limit_delta=0 spent=" spent                     \
    " spent_delta=0 charges=" charges
#define CHARGE(user, price, state)                                                                 \
    "{\"user\":\"" user "\",\"charges\":[{\"dataset\":\"d\",\"price\":\"pure epsilon=" price       \
    " delta=0\",\"allotment\":\"" state "\"}]}"

static void what_no_ledger_may_have_written_is_found(void **state)
{
    (void)state;
    static const forged rows[] = {
        {"user",
         "{\"action\":\"add\",\"name\":\"alice\",\"role\":\"analyst\",\"expires\":0,\"allotments\":[{"
         "\"dataset\":\"d\",\"filter\":\"" FILTER("0.5", "1") "\"}]}",
         "changes what was spent"}, /* it begins unspent */
        {"user",
         "{\"action\":\"add\",\"name\":\"bob\",\"role\":\"analyst\",\"expires\":0,\"allotments\":[{"
         "\"dataset\":\"d\",\"filter\":\"" FILTER("0", "0") "\"}]}",
         NULL},
        {"user",
         "{\"action\":\"add\",\"name\":\"bob\",\"role\":\"owner\",\"expires\":0,\"allotments\":[]}",
         "not a new user"},
        {"user",
         "{\"action\":\"add\",\"name\":\"x\",\"role\":\"king\",\"expires\":0,\"allotments\":[]}",
         "not a new user"},
        {"user",
         "{\"action\":\"add\",\"name\":\"ann\",\"role\":\"auditor\",\"expires\":0,\"allotments\":[]}",
         NULL},
        {"reserve", CHARGE("bob", "0.25", FILTER("0.25", "1")), NULL},
        {"reserve", CHARGE("bob", "0.25", FILTER("0.25", "1")), "not the sum"},
        {"reserve", CHARGE("bob", "0.8", FILTER("1.05", "2")), "did not carry"},
        {"reserve",
         "{\"user\":\"bob\",\"charges\":[{\"dataset\":\"d\",\"price\":\"pure epsilon=0.1 "
         "delta=0\"}]}",
         "was not charged"},
        {"reserve",
         "{\"charges\":[{\"dataset\":\"d\",\"price\":\"pure epsilon=0.1 delta=0\",\"allotment\":"
         "\"x\"}]}",
         "of nobody"},
        {"reserve",
         "{\"user\":\"ann\",\"charges\":[{\"dataset\":\"d\",\"price\":\"pure epsilon=0.1 "
         "delta=0\"}]}",
         "may not ask"},
        {"reserve", CHARGE("carol", "0.1", FILTER("0.1", "1")), "is not there"},
        {"user", "{\"action\":\"remove\",\"name\":\"ann\",\"user\":\"bob\"}", "no owner"},
        {"amend", "{\"user\":\"bob\"}", "no owner"},
        {"register", "{\"user\":\"ann\"}", "no owner"},
        {"commit", "{\"user\":\"bob\"}", NULL},
        {"commit", "{\"user\":\"carol\"}", "is not there"},
        {"user",
         "{\"action\":\"allot\",\"name\":\"bob\",\"allotments\":[{\"dataset\":\"d\",\"filter\":"
         "\"" FILTER("0", "0") "\"}]}",
         "changes what was spent"}, /* what was spent stays spent */
        {"user",
         "{\"action\":\"allot\",\"name\":\"bob\",\"allotments\":[{\"dataset\":\"e\",\"filter\":"
         "\"" FILTER("0", "0") "\"}]}",
         "unknown dataset"},
        {"user", "{\"action\":\"crown\",\"name\":\"bob\"}", "unknown way"},
        {"user", "{\"name\":\"bob\"}", "unknown way"},
        {"user", "{\"action\":\"remove\",\"name\":\"bob\"}", NULL},
        {"reserve", CHARGE("bob", "0.1", FILTER("0.35", "2")), "may not ask"},
        {"user", "{\"action\":\"token\",\"name\":\"bob\",\"expires\":0}", "not there"},
    };
    brume_error error = {0};
    brume_user_replay all;
    assert_ok(brume_user_replay_open(&all, &error));
    json_t *datasets = json_pack("{s:{s:s}}", "d", "filter", FILTER("0", "0"));
    assert_non_null(datasets);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        brume_user_replay before = {json_deep_copy(all.users), json_deep_copy(all.allotments)};
        const char *wrong = replay_forged(&all, i + 2, &rows[i], datasets);
        if (!rows[i].wrong && wrong)
            fail_msg("row %zu is refused: %s", i, wrong);
        if (rows[i].wrong && (!wrong || !strstr(wrong, rows[i].wrong)))
            fail_msg("row %zu: %s, not %s", i, wrong ? wrong : "accepted", rows[i].wrong);
        if (rows[i].wrong) { /* go on as if it had not been there */
            brume_user_replay_close(&all);
            all = before;
        } else {
            brume_user_replay_close(&before);
        }
    }
    json_decref(datasets);
    brume_user_replay_close(&all);
}

/* ---- copies ---- */

static void a_backup_is_the_ledger_of_one_moment_and_goes_on(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    brume_ledger_report report;
    char token[BRUME_TOKEN_TEXT];
    uint64_t id = 0;
    place copy;
    json_t *export = NULL;
    brume_user *user = NULL;
    register_dataset(ledger, "visits", "1", NULL);
    add_with(ledger, "alice", BRUME_ROLE_ANALYST, "visits", "0.5", NULL, token);
    act(ledger, "alice");
    assert_ok(reserve(ledger, "visits", "0.2", "a", &id, &error));
    make_place(&copy);
    assert_ok(brume_ledger_backup(ledger, copy.path, &report, &error));
    assert_int_equal(report.reservations, 1);
    assert_ok(brume_ledger_export(ledger, &export, &error));
    assert_fails(brume_ledger_backup(ledger, copy.path, &report, &error), BRUME_EPOLICY);
    assert_ok(reserve(ledger, "visits", "0.1", "b", &id, &error));
    brume_ledger *restored = open_ledger(&copy);
    assert_ok(brume_ledger_verify_against(restored, export, &error));
    assert_ok(brume_ledger_authenticate(restored, token, now(), &user, &error));
    brume_user_close(user);
    act(restored, "alice");
    assert_fails(reserve(restored, "visits", "0.31", "b", &id, &error), BRUME_EBUDGET);
    assert_ok(reserve(restored, "visits", "0.3", "b", &id, &error));
    check_verified(restored, 1);
    brume_ledger_close(restored);
    json_decref(export);
    remove_place(&copy);
    assert_fails(brume_ledger_backup(ledger, "/nowhere/at/all", &report, &error), BRUME_EDISK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fresh_ledger(a_token_authenticates_its_user_and_no_other_text_does),
        with_fresh_ledger(an_expired_rotated_or_removed_token_is_refused_with_one_text),
        with_fresh_ledger(the_verifier_is_that_of_the_token_and_unknown_names_have_one_too),
        with_fresh_ledger(no_secret_is_in_the_journal_or_an_export),
        with_fresh_ledger(names_are_given_once_and_are_plain),
        with_fresh_ledger(users_are_listed_with_what_they_are_and_have),
        with_fresh_ledger(decoys_are_of_a_key_that_each_ledger_draws),
        with_fresh_ledger(only_an_owner_registers_and_amends_datasets),
        with_fresh_ledger(an_allotment_without_delta_gets_its_share_rounded_down),
        with_fresh_ledger(what_is_left_is_the_less_of_budget_and_allotment),
        with_fresh_ledger(a_charge_goes_to_both_filters_or_to_neither),
        with_fresh_ledger(a_user_without_an_allotment_has_the_budget_alone),
        with_fresh_ledger(a_join_charges_every_allotment_or_none),
        with_fresh_ledger(an_allotment_keeps_its_sums_and_is_of_the_datasets_rule),
        with_fresh_ledger(nobody_is_charged_who_was_removed_has_expired_or_is_an_auditor),
        cmocka_unit_test(a_change_of_a_table_is_found),
        cmocka_unit_test(what_no_ledger_may_have_written_is_found),
        with_fresh_ledger(a_backup_is_the_ledger_of_one_moment_and_goes_on),
    };
    return cmocka_run_group_tests_name("ledger users", tests, NULL, NULL);
}
