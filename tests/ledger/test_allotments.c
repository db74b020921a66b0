/* Allotments: a user's share of a dataset's budget, charged as well as it (ledger/user.h). */
#include "users.h"

#include "ledger/user_row.h"

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
    assert_ok(brume_ledger_history(ledger, "people", NULL, &history, &error));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fresh_ledger(an_allotment_without_delta_gets_its_share_rounded_down),
        with_fresh_ledger(what_is_left_is_the_less_of_budget_and_allotment),
        with_fresh_ledger(a_charge_goes_to_both_filters_or_to_neither),
        with_fresh_ledger(a_user_without_an_allotment_has_the_budget_alone),
        with_fresh_ledger(a_join_charges_every_allotment_or_none),
        with_fresh_ledger(an_allotment_keeps_its_sums_and_is_of_the_datasets_rule),
    };
    return cmocka_run_group_tests_name("ledger allotments", tests, NULL, NULL);
}
