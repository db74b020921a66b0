/* Users: their names and roles, who may be charged, and that a copy of a ledger has them too
 * (ledger/user.h). */
#include "users.h"

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
    assert_ok(brume_ledger_export(ledger, false, &export, &error));
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
        with_fresh_ledger(names_are_given_once_and_are_plain),
        with_fresh_ledger(users_are_listed_with_what_they_are_and_have),
        with_fresh_ledger(only_an_owner_registers_and_amends_datasets),
        with_fresh_ledger(nobody_is_charged_who_was_removed_has_expired_or_is_an_auditor),
        with_fresh_ledger(a_backup_is_the_ledger_of_one_moment_and_goes_on),
    };
    return cmocka_run_group_tests_name("ledger users", tests, NULL, NULL);
}
