/* Damage to what a ledger knows of its users: tables that were changed, and journals with right
 * hashes that no ledger may have written (ledger/verify.h). */
#include "users.h"

#include "ledger/verify.h"

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
        brume_user_replay before = {json_deep_copy(all.users), json_deep_copy(all.allotments),
                                    json_deep_copy(all.projects)};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_of_a_table_is_found),
        cmocka_unit_test(what_no_ledger_may_have_written_is_found),
    };
    return cmocka_run_group_tests_name("ledger damage of users", tests, NULL, NULL);
}
