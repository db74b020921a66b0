/* Every dataset of a reservation keeps its own limits: the cap, the budget, the rule. The dataset
 * that refuses stands first, in the middle or last, and whatever it refuses is charged to none. */
#include "fixture.h"

enum { DATASETS = 3 };

static brume_error error;

static void register_capped(brume_ledger *ledger, const char *name, brume_rule rule,
                            const char *epsilon, const char *cap)
{
    brume_filter filter;
    brume_decimal amount, delta;
    char source[64];
    assert_ok(brume_decimal_parse(epsilon, &amount, &error));
    assert_ok(brume_decimal_parse("1e-6", &delta, &error));
    assert_ok(brume_filter_make(rule, &amount, rule == BRUME_RULE_PURE ? NULL : &delta, NULL,
                                &filter, &error));
    snprintf(source, sizeof source, "source of %s", name);
    json_t *policy = json_object();
    brume_registration registration = {.name = name,
                                       .source = source,
                                       .data_version = "",
                                       .adjacency = BRUME_ADD_REMOVE,
                                       .filter = &filter,
                                       .cap = cap,
                                       .policy = policy};
    assert_ok(brume_ledger_register(ledger, &registration, &error));
    json_decref(policy);
}

/* One price for three datasets, of which number `strict` is `name`. */
static brume_status reserve_all(brume_ledger *ledger, size_t strict, const char *name,
                                brume_rule rule, const char *price)
{
    static const char *const generous[DATASETS] = {"first", "second", "third"};
    static const char *const others[DATASETS] = {"rho-first", "rho-second", "rho-third"};
    brume_decimal amount;
    brume_charge charge;
    brume_ledger_charge charges[DATASETS];
    assert_ok(brume_decimal_parse(price, &amount, &error));
    assert_ok(brume_charge_make(rule, &amount, NULL, &charge, &error));
    for (size_t i = 0; i < DATASETS; i++)
        charges[i] = (brume_ledger_charge){.dataset = i == strict               ? name
                                                      : rule == BRUME_RULE_PURE ? generous[i]
                                                                                : others[i],
                                           .price = &charge};
    brume_reservation all = {
        .charges = charges, .charge_count = DATASETS, .sql = "SELECT 1", .answer_key = "key"};
    uint64_t id = 0;
    return brume_ledger_reserve(ledger, &all, &id, &error);
}

static uint64_t queries_of(brume_ledger *ledger, const char *name)
{
    brume_dataset *dataset = NULL;
    assert_ok(brume_ledger_dataset(ledger, name, &dataset, &error));
    uint64_t queries = dataset->queries;
    assert_true((queries == 0) == brume_filter_is_fresh(&dataset->filter));
    brume_dataset_close(dataset);
    return queries;
}

/* Rejects: the cap of a join's second dataset ignored (check_cap for the first charge alone), and a
 * cap held against an epsilon where rho is paid. */
static void the_cap_of_every_dataset_of_a_reservation_holds(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    static const char *const names[] = {"first",     "second",     "third",
                                        "rho-first", "rho-second", "rho-third"};
    for (size_t i = 0; i < 6; i++)
        register_capped(ledger, names[i], i < 3 ? BRUME_RULE_PURE : BRUME_RULE_CONCENTRATED, "100",
                        NULL);
    register_capped(ledger, "capped", BRUME_RULE_PURE, "100", "0.5");
    register_capped(ledger, "rho-capped", BRUME_RULE_CONCENTRATED, "100", "0.5"); /* rho 0.125 */
    register_capped(ledger, "poor", BRUME_RULE_PURE, "0.5", NULL);
    for (size_t at = 0; at < DATASETS; at++) {
        assert_fails(reserve_all(ledger, at, "capped", BRUME_RULE_PURE, "0.5000000000000000001"),
                     BRUME_EPOLICY);
        assert_non_null(strstr(error.message, "'capped'"));
        assert_fails(
            reserve_all(ledger, at, "rho-capped", BRUME_RULE_CONCENTRATED, "0.12500000000001"),
            BRUME_EPOLICY);
        assert_non_null(strstr(error.message, "'rho-capped'"));
        assert_fails(reserve_all(ledger, at, "poor", BRUME_RULE_PURE, "0.50000000000001"),
                     BRUME_EBUDGET);
    }
    for (size_t i = 0; i < 6; i++) /* nobody was charged */
        assert_int_equal(queries_of(ledger, names[i]), 0);
    for (size_t at = 0; at < DATASETS; at++) {
        assert_ok(reserve_all(ledger, at, "capped", BRUME_RULE_PURE, "0.5"));
        assert_ok(reserve_all(ledger, at, "rho-capped", BRUME_RULE_CONCENTRATED, "0.125"));
    }
    assert_int_equal(queries_of(ledger, "capped"), 3);
    assert_int_equal(queries_of(ledger, "rho-capped"), 3);
    assert_int_equal(queries_of(ledger, "second"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fresh_ledger(the_cap_of_every_dataset_of_a_reservation_holds),
    };
    return cmocka_run_group_tests_name("ledger caps", tests, NULL, NULL);
}
