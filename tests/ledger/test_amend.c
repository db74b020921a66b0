/* Amendments: the clauses of ledger.h. */
#include "fixture.h"

#include <stdlib.h>

#include "ledger/journal.h"

static uint64_t stated(brume_ledger *ledger, const char *name)
{
    brume_error error = {0};
    brume_dataset *dataset = NULL;
    assert_ok(brume_ledger_dataset(ledger, name, &dataset, &error));
    uint64_t row = dataset->stated;
    brume_dataset_close(dataset);
    return row;
}

static brume_status amend_budget(brume_ledger *ledger, const char *name, const char *epsilon,
                                 const char *delta, brume_error *error)
{
    brume_amendment amendment = {
        .name = name, .stated = stated(ledger, name), .epsilon = epsilon, .delta = delta};
    return brume_ledger_amend(ledger, &amendment, error);
}

static void verify(brume_ledger *ledger)
{
    brume_error error = {0};
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
}

static void what_was_spent_stays_spent(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    uint64_t id = 0;
    register_dataset(ledger, "visits", "1", NULL);
    assert_ok(reserve(ledger, "visits", "0.75", "a", &id, &error));
    assert_fails(amend_budget(ledger, "visits", "0.7", NULL, &error), BRUME_EPOLICY);
    assert_string_equal(error.message, "the new budget is smaller than what was spent");
    assert_ok(amend_budget(ledger, "visits", "0.75", NULL, &error));
    assert_fails(reserve(ledger, "visits", "0.01", "b", &id, &error), BRUME_EBUDGET);
    assert_ok(amend_budget(ledger, "visits", "2", NULL, &error));
    assert_fails(reserve(ledger, "visits", "1.26", "b", &id, &error), BRUME_EBUDGET);
    assert_ok(reserve(ledger, "visits", "1.25", "b", &id, &error));
    assert_fails(reserve(ledger, "visits", "0.01", "c", &id, &error), BRUME_EBUDGET);
    assert_fails(amend_budget(ledger, "visits", "2", "1e-6", &error), BRUME_EARGUMENT);
    verify(ledger);
}

static void register_rule(brume_ledger *ledger, brume_rule rule, const char *epsilon,
                          const char *delta, const char *failure)
{
    brume_error error = {0};
    brume_decimal amount, most, share;
    brume_filter filter;
    assert_ok(brume_decimal_parse(epsilon, &amount, &error));
    assert_ok(brume_decimal_parse(delta, &most, &error));
    assert_ok(brume_decimal_parse(failure ? failure : "0", &share, &error));
    assert_ok(brume_filter_make(rule, &amount, &most, failure ? &share : NULL, &filter, &error));
    json_t *policy = json_object();
    brume_registration registration = {.name = "people",
                                       .source = "people",
                                       .data_version = "",
                                       .adjacency = BRUME_ADD_REMOVE,
                                       .filter = &filter,
                                       .policy = policy};
    assert_ok(brume_ledger_register(ledger, &registration, &error));
    json_decref(policy);
}

static void spend(brume_ledger *ledger, brume_rule rule, const char *amount, const char *delta)
{
    brume_error error = {0};
    brume_decimal price, failure;
    brume_charge charge;
    uint64_t id = 0;
    assert_ok(brume_decimal_parse(amount, &price, &error));
    assert_ok(brume_decimal_parse(delta, &failure, &error));
    assert_ok(brume_charge_make(rule, &price, &failure, &charge, &error));
    brume_ledger_charge one = {.dataset = "people", .price = &charge};
    brume_reservation reservation = {
        .charges = &one, .charge_count = 1, .sql = "SELECT 1", .answer_key = "key"};
    assert_ok(brume_ledger_reserve(ledger, &reservation, &id, &error));
}

static void both_parts_of_a_budget_are_held_to_what_was_spent(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    register_rule(ledger, BRUME_RULE_APPROXIMATE, "1", "1e-6", NULL);
    spend(ledger, BRUME_RULE_APPROXIMATE, "0.5", "5e-7");
    assert_fails(amend_budget(ledger, "people", "0.4", "1e-6", &error), BRUME_EPOLICY);
    assert_fails(amend_budget(ledger, "people", "1", "4e-7", &error), BRUME_EPOLICY);
    assert_fails(amend_budget(ledger, "people", "1", NULL, &error), BRUME_EARGUMENT);
    assert_ok(amend_budget(ledger, "people", "0.5", "5e-7", &error));
    verify(ledger);
}

static void a_concentrated_budget_keeps_its_share_for_failures(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    register_rule(ledger, BRUME_RULE_CONCENTRATED, "1", "1e-6", NULL);
    spend(ledger, BRUME_RULE_CONCENTRATED, "0.005", "1e-7"); /* all of the share of failures */
    /* A tenth of the new delta must carry the failures that were paid for, whatever rho has left.
     */
    assert_fails(amend_budget(ledger, "people", "2", "9e-7", &error), BRUME_EPOLICY);
    assert_ok(amend_budget(ledger, "people", "2", "1e-6", &error));
    brume_dataset *dataset = NULL;
    brume_filter fresh;
    brume_decimal epsilon, delta;
    assert_ok(brume_decimal_parse("2", &epsilon, &error));
    assert_ok(brume_decimal_parse("1e-6", &delta, &error));
    assert_ok(brume_filter_make(BRUME_RULE_CONCENTRATED, &epsilon, &delta, NULL, &fresh, &error));
    assert_ok(brume_ledger_dataset(ledger, "people", &dataset, &error));
    assert_int_equal(brume_decimal_compare(&dataset->filter.limit, &fresh.limit), 0);
    assert_int_equal(brume_decimal_compare(&dataset->filter.limit_delta, &fresh.limit_delta), 0);
    assert_int_equal(brume_decimal_compare(&dataset->filter.spent_delta, &fresh.limit_delta), 0);
    brume_dataset_close(dataset);
    verify(ledger);
}

static void a_share_for_failures_of_its_own_cannot_be_amended(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    register_rule(ledger, BRUME_RULE_CONCENTRATED, "1", "1e-6", "5e-7");
    assert_fails(amend_budget(ledger, "people", "2", "1e-6", &error), BRUME_EPOLICY);
}

static void whose_row_is_whose_is_settled_by_the_first_charge(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    uint64_t id = 0;
    register_dataset(ledger, "visits", "1", NULL);
    json_t *policy = json_pack("{s:s}", "unit", "household");
    brume_amendment unit = {.name = "visits",
                            .stated = stated(ledger, "visits"),
                            .policy = policy,
                            .moves_units = true};
    assert_ok(brume_ledger_amend(ledger, &unit, &error));
    assert_ok(reserve(ledger, "visits", "0.1", "a", &id, &error));
    unit.stated = stated(ledger, "visits");
    assert_fails(brume_ledger_amend(ledger, &unit, &error), BRUME_EPOLICY);
    unit.moves_units = false; /* other parts of the policy may still change */
    assert_ok(brume_ledger_amend(ledger, &unit, &error));
    json_decref(policy);
    json_t *open = json_pack("{s:b}", "public", 1);
    brume_amendment disclosed = {
        .name = "visits", .stated = stated(ledger, "visits"), .policy = open};
    assert_fails(brume_ledger_amend(ledger, &disclosed, &error), BRUME_EPOLICY);
    json_decref(open);
    verify(ledger);
}

static void an_amendment_is_what_the_dataset_is_from_then_on(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    uint64_t id = 0;
    register_dataset(ledger, "visits", "1", NULL);
    json_t *policy = json_pack("{s:i}", "max_groups", 7), *changes = json_pack("[s]", "limits");
    brume_amendment amendment = {.name = "visits",
                                 .stated = stated(ledger, "visits"),
                                 .cap = "0.25",
                                 .data_version = "2026-03",
                                 .policy = policy,
                                 .changes = changes};
    assert_ok(brume_ledger_amend(ledger, &amendment, &error));
    brume_dataset *dataset = NULL;
    assert_ok(brume_ledger_dataset(ledger, "visits", &dataset, &error));
    assert_string_equal(dataset->data_version, "2026-03");
    assert_string_equal(dataset->cap, "0.25");
    assert_true(json_equal(dataset->policy, policy));
    brume_dataset_close(dataset);
    assert_fails(reserve(ledger, "visits", "0.3", "a", &id, &error), BRUME_EPOLICY);
    brume_amendment later = {
        .name = "visits", .stated = stated(ledger, "visits"), .data_version = "later"};
    assert_ok(brume_ledger_amend(ledger, &later, &error));
    assert_ok(brume_ledger_dataset(ledger, "visits", &dataset, &error));
    assert_string_equal(dataset->cap, "0.25"); /* what is not amended stays */
    assert_string_equal(dataset->data_version, "later");
    brume_dataset_close(dataset);
    brume_amendment uncapped = {.name = "visits", .stated = stated(ledger, "visits"), .cap = ""};
    assert_ok(brume_ledger_amend(ledger, &uncapped, &error));
    assert_ok(reserve(ledger, "visits", "0.3", "a", &id, &error));
    json_t *history = NULL;
    assert_ok(brume_ledger_history(ledger, "visits", NULL, &history, &error));
    const json_t *events = json_object_get(history, "events"), *first = json_array_get(events, 0);
    assert_int_equal(json_array_size(events), 4);
    assert_string_equal(json_string_value(json_object_get(first, "state")), "amended");
    assert_true(json_equal(json_object_get(first, "changes"), changes));
    json_decref(history);
    json_decref(policy);
    json_decref(changes);
    brume_amendment nobody = {.name = "nobody", .stated = 1};
    assert_fails(brume_ledger_amend(ledger, &nobody, &error), BRUME_EUNKNOWN);
    verify(ledger);
}

/* An amendment that does not speak of the policy leaves it public, and one that does may not. */
static void what_is_public_stays_public(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    register_dataset(ledger, "open", "1", NULL);
    brume_dataset *dataset = NULL;
    assert_ok(brume_ledger_dataset(ledger, "open", &dataset, &error));
    json_t *policy = json_pack("{s:b}", "public", 1), *other = json_object();
    brume_registration public = {.name = "published",
                                 .source = "source of published",
                                 .data_version = "",
                                 .adjacency = BRUME_ADD_REMOVE,
                                 .filter = &dataset->filter,
                                 .policy = policy};
    assert_ok(brume_ledger_register(ledger, &public, &error));
    brume_amendment relabel = {
        .name = "published", .stated = stated(ledger, "published"), .data_version = "later"};
    assert_ok(brume_ledger_amend(ledger, &relabel, &error));
    brume_amendment protect = {
        .name = "published", .stated = stated(ledger, "published"), .policy = other};
    assert_fails(brume_ledger_amend(ledger, &protect, &error), BRUME_EPOLICY);
    brume_amendment publish = {.name = "open", .stated = stated(ledger, "open"), .policy = policy};
    assert_fails(brume_ledger_amend(ledger, &publish, &error), BRUME_EPOLICY);
    verify(ledger);
    brume_dataset_close(dataset);
    json_decref(policy);
    json_decref(other);
}

static void what_was_planned_under_another_policy_is_not_charged(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    uint64_t id = 0, planned = 0;
    register_dataset(ledger, "visits", "1", NULL);
    planned = stated(ledger, "visits");
    brume_amendment amendment = {.name = "visits", .stated = planned, .data_version = "2"};
    assert_ok(brume_ledger_amend(ledger, &amendment, &error));
    brume_charge price = price_of("0.1", NULL);
    brume_ledger_charge charge = {.dataset = "visits", .price = &price, .stated = planned};
    brume_reservation reservation = {
        .charges = &charge, .charge_count = 1, .sql = "SELECT 1", .answer_key = "key"};
    assert_fails(brume_ledger_reserve(ledger, &reservation, &id, &error), BRUME_EPOLICY);
    charge.stated = stated(ledger, "visits");
    assert_ok(brume_ledger_reserve(ledger, &reservation, &id, &error));
    /* Of two owners who amend the same policy the second is told. */
    assert_fails(brume_ledger_amend(ledger, &amendment, &error), BRUME_EPOLICY);
}

/* Somebody who writes the file with hashes that are right: a body such as brume writes, but for the
 * state of the filter or for the unit. */
static void forge(brume_ledger *ledger, const char *filter, bool moves_units)
{
    brume_error error = {0};
    uint64_t id = 0;
    assert_ok(brume_store_begin(ledger, &error));
    assert_ok(brume_journal_next(ledger, &id, &error));
    assert_ok(brume_store_execute(ledger, &error,
                                  "UPDATE dataset SET registered=?1, last=?1, filter=?2", "it",
                                  (int64_t)id, filter));
    json_t *body = json_pack("{s:s,s:s,s:s,s:s,s:s,s:n,s:{},s:b}", "dataset", "visits", "source",
                             "source of visits", "data_version", "1", "adjacency", "add-remove",
                             "filter", filter, "cap", "policy", "moves_units", moves_units);
    assert_ok(brume_journal_append(ledger, "amend", body, &error));
    assert_ok(brume_store_commit(ledger, &error));
}

static char *filter_of(const place *where)
{
    char *text = NULL;
    assert_int_equal(read_texts(where, "SELECT filter FROM dataset", &text, 1), 1);
    return text;
}

static void verify_finds_a_forged_amendment(void **state)
{
    (void)state;
    static const char *const said[] = {"an amendment that changes what was spent",
                                       "an amendment of the unit after something was spent", NULL};
    for (int i = 0; i < 3; i++) {
        place where;
        brume_error error = {0};
        uint64_t id = 0;
        brume_ledger_report report;
        make_place(&where);
        brume_ledger *ledger = open_ledger(&where);
        register_dataset(ledger, "visits", "1", NULL);
        char *fresh = filter_of(&where);
        assert_ok(reserve(ledger, "visits", "0.75", "a", &id, &error));
        char *spent = filter_of(&where);
        forge(ledger, i == 0 ? fresh : spent, i == 1);
        brume_status status = brume_ledger_verify(ledger, &report, &error);
        assert_int_equal(status, said[i] ? BRUME_EDAMAGED : BRUME_OK);
        if (said[i])
            assert_non_null(strstr(error.message, said[i]));
        brume_ledger_close(ledger);
        free(fresh);
        free(spent);
        remove_place(&where);
    }
}

/* Rows of other kinds, with hashes that are right. */
static void verify_finds_a_forged_progress_and_another_version_of_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *body, *said; /* NULL: it is right */
    } rows[] = {
        {"progress", "{\"reservation\":3,\"asked\":1,\"hits\":0}", NULL},
        {"progress", "{\"reservation\":4,\"asked\":1,\"hits\":0}", "not open"},
        {"progress", "{\"reservation\":9,\"asked\":1,\"hits\":0}", "not open"},
        {"version", "{\"dataset\":\"visits\",\"data_version\":\"2\"}", NULL},
        {"version", "{\"dataset\":\"others\",\"data_version\":\"2\"}", "unknown dataset"},
        {"version", "{\"data_version\":\"2\"}", "unknown dataset"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        place where;
        brume_error error = {0};
        uint64_t open = 0, closed = 0;
        brume_ledger_report report;
        json_t *answer = json_object(), *body = json_loads(rows[i].body, 0, NULL);
        make_place(&where);
        brume_ledger *ledger = open_ledger(&where);
        register_dataset(ledger, "visits", "1", NULL);
        assert_ok(reserve(ledger, "visits", "0.1", "a", &open, &error));
        assert_ok(reserve(ledger, "visits", "0.1", "b", &closed, &error));
        assert_ok(brume_ledger_commit(ledger, closed, answer, &error));
        if (json_object_get(body, "reservation") && i < 2)
            json_object_set_new(body, "reservation",
                                json_integer((json_int_t)(i == 0 ? open : closed)));
        assert_ok(brume_store_begin(ledger, &error));
        if (strcmp(rows[i].kind, "version") == 0)
            assert_ok(
                brume_store_execute(ledger, &error, "UPDATE dataset SET data_version='2'", ""));
        assert_ok(brume_journal_append(ledger, rows[i].kind, body, &error));
        assert_ok(brume_store_commit(ledger, &error));
        brume_status status = brume_ledger_verify(ledger, &report, &error);
        assert_int_equal(status, rows[i].said ? BRUME_EDAMAGED : BRUME_OK);
        if (rows[i].said)
            assert_non_null(strstr(error.message, rows[i].said));
        brume_ledger_close(ledger);
        json_decref(answer);
        remove_place(&where);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fresh_ledger(what_was_spent_stays_spent),
        with_fresh_ledger(both_parts_of_a_budget_are_held_to_what_was_spent),
        with_fresh_ledger(a_concentrated_budget_keeps_its_share_for_failures),
        with_fresh_ledger(a_share_for_failures_of_its_own_cannot_be_amended),
        with_fresh_ledger(whose_row_is_whose_is_settled_by_the_first_charge),
        with_fresh_ledger(an_amendment_is_what_the_dataset_is_from_then_on),
        with_fresh_ledger(what_is_public_stays_public),
        with_fresh_ledger(what_was_planned_under_another_policy_is_not_charged),
        cmocka_unit_test(verify_finds_a_forged_amendment),
        cmocka_unit_test(verify_finds_a_forged_progress_and_another_version_of_nothing),
    };
    return cmocka_run_group_tests_name("ledger amendments", tests, NULL, NULL);
}
