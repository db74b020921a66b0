/* Registering, reserving, committing, recalling, exporting: what holds when nothing goes wrong. */
#include "fixture.h"

#include <stdlib.h>

static void ten_charges_of_a_tenth_fill_a_budget_of_one_and_no_more(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    register_dataset(ledger, "visits", "1", NULL);
    uint64_t id = 0;
    for (int i = 0; i < 10; i++)
        assert_ok(reserve(ledger, "visits", "0.1", "key", &id, &error));
    uint64_t untouched = 77;
    assert_fails(reserve(ledger, "visits", "0.0000001", "key", &untouched, &error), BRUME_EBUDGET);
    assert_int_equal(untouched, 77);
    brume_dataset *dataset = NULL;
    assert_ok(brume_ledger_dataset(ledger, "visits", &dataset, &error));
    assert_int_equal(dataset->queries, 10);
    brume_dataset_close(dataset);
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    assert_int_equal(report.reservations, 10);
}

static void what_was_spent_is_still_spent_after_reopening(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    uint64_t id = 0;
    make_place(&where);
    brume_ledger *ledger = open_ledger(&where);
    register_dataset(ledger, "visits", "1", NULL);
    assert_ok(reserve(ledger, "visits", "0.75", "key", &id, &error));
    brume_ledger_close(ledger);
    ledger = open_ledger(&where);
    assert_fails(reserve(ledger, "visits", "0.5", "key", &id, &error), BRUME_EBUDGET);
    assert_ok(reserve(ledger, "visits", "0.25", "key", &id, &error));
    brume_ledger_close(ledger);
    remove_place(&where);
}

static void an_answer_is_recalled_by_what_was_charged_for_it(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    uint64_t id = 0, open = 0;
    json_t *answer = json_pack("{s:i}", "rows", 3), *found = NULL, *datasets = NULL;
    char when[BRUME_WHEN_TEXT];
    register_dataset(ledger, "visits", "1", NULL);
    assert_ok(reserve(ledger, "visits", "0.1", "a", &id, &error));
    assert_ok(brume_ledger_commit(ledger, id, answer, &error));
    assert_ok(reserve(ledger, "visits", "0.1", "b", &open, &error));
    assert_ok(brume_ledger_recall_reservation(ledger, id, &found, &datasets, when, &error));
    assert_true(json_equal(found, answer));
    assert_int_equal(json_array_size(datasets), 1);
    assert_string_equal(json_string_value(json_array_get(datasets, 0)), "visits");
    json_decref(found);
    json_decref(datasets);
    found = datasets = NULL;
    assert_fails(brume_ledger_recall_reservation(ledger, open, &found, &datasets, when, &error),
                 BRUME_EUNKNOWN);
    assert_int_not_equal(
        brume_ledger_recall_reservation(ledger, 99, &found, &datasets, when, &error), BRUME_OK);
    assert_null(found);
    assert_null(datasets);
    json_decref(answer);
}

/* What was spent is shown as no less than it was. */
static void the_history_shows_prices_rounded_up(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    uint64_t id = 0;
    json_t *history = NULL;
    register_dataset(ledger, "soft", "1", "0.1");
    brume_charge price = price_of("0.100000000000000000001", "0.010000000000000000001");
    brume_ledger_charge charge = {.dataset = "soft", .price = &price};
    brume_reservation reservation = {
        .charges = &charge, .charge_count = 1, .sql = "SELECT 1", .answer_key = "a"};
    assert_ok(brume_ledger_reserve(ledger, &reservation, &id, &error));
    assert_ok(brume_ledger_history(ledger, "soft", NULL, &history, &error));
    const json_t *event = json_array_get(json_object_get(history, "events"), 0);
    const json_t *cost = json_object_get(event, "cost");
    assert_non_null(cost);
    assert_holds(json_real_value(json_object_get(cost, "epsilon")) > 0.1);
    assert_holds(json_real_value(json_object_get(cost, "delta")) > 0.01);
    json_decref(history);
}

static void a_name_or_a_source_is_registered_once(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    register_dataset(ledger, "visits", "1", NULL);
    brume_dataset *dataset = NULL;
    assert_ok(brume_ledger_dataset(ledger, "visits", &dataset, &error));
    brume_registration again = {.name = "visits",
                                .source = "another",
                                .data_version = "",
                                .adjacency = BRUME_ADD_REMOVE,
                                .filter = &dataset->filter,
                                .policy = dataset->policy};
    assert_fails(brume_ledger_register(ledger, &again, &error), BRUME_EPOLICY);
    again.name = "visits2";
    again.source = "source of visits";
    assert_fails(brume_ledger_register(ledger, &again, &error), BRUME_EPOLICY);
    again.new_budget = true;
    assert_ok(brume_ledger_register(ledger, &again, &error));
    json_t *names = NULL;
    assert_ok(brume_ledger_names(ledger, &names, &error));
    assert_int_equal(json_array_size(names), 2);
    json_decref(names);
    brume_dataset_close(dataset);
    dataset = NULL;
    assert_fails(brume_ledger_dataset(ledger, "vistis", &dataset, &error), BRUME_EUNKNOWN);
    assert_string_equal(error.hint, "did you mean 'visits'?");
}

static void several_datasets_are_charged_all_or_none(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    register_dataset(ledger, "rich", "10", NULL);
    register_dataset(ledger, "poor", "1", NULL);
    brume_charge price = price_of("0.6", NULL);
    brume_ledger_charge charges[] = {{.dataset = "rich", .price = &price},
                                     {.dataset = "poor", .price = &price}};
    brume_reservation both = {
        .charges = charges, .charge_count = 2, .sql = "SELECT 1", .answer_key = "key"};
    uint64_t id = 0;
    assert_ok(brume_ledger_reserve(ledger, &both, &id, &error));
    assert_fails(brume_ledger_reserve(ledger, &both, &id, &error), BRUME_EBUDGET);
    brume_dataset *rich = NULL;
    assert_ok(brume_ledger_dataset(ledger, "rich", &rich, &error));
    brume_decimal expected;
    assert_ok(brume_decimal_parse("0.6", &expected, &error));
    assert_int_equal(brume_decimal_compare(&rich->filter.spent, &expected), 0);
    brume_dataset_close(rich);
    charges[1].dataset = "rich"; /* the same one twice in one reservation */
    assert_fails(brume_ledger_reserve(ledger, &both, &id, &error), BRUME_EINTERNAL);
}

static void the_cap_the_rule_and_the_adjacency_are_the_owners(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    uint64_t id = 0;
    register_dataset(ledger, "visits", "10", NULL);
    brume_dataset *dataset = NULL;
    assert_ok(brume_ledger_dataset(ledger, "visits", &dataset, &error));
    brume_registration other = {.name = "capped",
                                .source = "another",
                                .data_version = "",
                                .adjacency = BRUME_REPLACE,
                                .filter = &dataset->filter,
                                .cap = "0.5",
                                .policy = dataset->policy};
    assert_ok(brume_ledger_register(ledger, &other, &error));
    assert_fails(reserve(ledger, "capped", "0.50001", "key", &id, &error), BRUME_EPOLICY);
    assert_ok(reserve(ledger, "capped", "0.5", "key", &id, &error));
    brume_charge price = price_of("0.1", NULL), other_rule = price_of("0.1", "1e-9");
    brume_ledger_charge charges[] = {{.dataset = "visits", .price = &price},
                                     {.dataset = "capped", .price = &price}};
    brume_reservation mixed = {
        .charges = charges, .charge_count = 2, .sql = "SELECT 1", .answer_key = "key"};
    assert_fails(brume_ledger_reserve(ledger, &mixed, &id, &error), BRUME_EPOLICY);
    charges[0].price = &other_rule;
    mixed.charge_count = 1;
    assert_fails(brume_ledger_reserve(ledger, &mixed, &id, &error), BRUME_EPOLICY);
    brume_dataset_close(dataset);
}

static void an_answer_is_recalled_by_its_key_and_the_first_one_stays(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    uint64_t first = 0, second = 0;
    register_dataset(ledger, "visits", "1", NULL);
    json_t *answer = NULL, *recorded = json_pack("{s:[f,i]}", "rows", 0.1, 42);
    assert_ok(brume_ledger_recall(ledger, "key", &answer, NULL, &error));
    assert_null(answer);
    assert_ok(reserve(ledger, "visits", "0.1", "key", &first, &error));
    assert_ok(brume_ledger_recall(ledger, "key", &answer, NULL, &error));
    assert_null(answer); /* reserved is not answered */
    assert_ok(brume_ledger_commit(ledger, first, recorded, &error));
    assert_fails(brume_ledger_commit(ledger, first, recorded, &error), BRUME_EARGUMENT);
    assert_fails(brume_ledger_fail(ledger, first, BRUME_EENGINE, &error), BRUME_EARGUMENT);
    assert_ok(brume_ledger_recall(ledger, "key", &answer, NULL, &error));
    assert_true(json_equal(answer, recorded));
    json_decref(answer);
    json_t *later = json_pack("{s:[i]}", "rows", 7);
    assert_ok(reserve(ledger, "visits", "0.1", "key", &second, &error));
    assert_ok(brume_ledger_commit(ledger, second, later, &error));
    assert_ok(brume_ledger_recall(ledger, "key", &answer, NULL, &error));
    assert_true(json_equal(answer, recorded));
    json_decref(answer);
    json_decref(recorded);
    json_decref(later);
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    assert_int_equal(report.answers, 1);
}

/* Asked anew: recorded beside the earlier answer, recalled from then on, and each charge keeps its
 * own. A key that begins with the same letters is another one. */
static void an_answer_that_is_asked_anew_is_recalled_in_place_of_the_earlier_one(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    brume_charge price = price_of("0.1", NULL);
    brume_ledger_charge charge = {.dataset = "visits", .price = &price};
    brume_reservation reservation = {.charges = &charge,
                                     .charge_count = 1,
                                     .sql = "SELECT COUNT(*) FROM t",
                                     .answer_key = "key",
                                     .anew = true};
    uint64_t ids[4] = {0};
    char when[BRUME_WHEN_TEXT], reserved[BRUME_WHEN_TEXT];
    json_t *found = NULL, *datasets = NULL;
    register_dataset(ledger, "visits", "1", NULL);
    for (int i = 0; i < 4; i++) {
        json_t *answer = json_pack("{s:i}", "rows", i);
        if (i == 0 || i == 3)
            assert_ok(reserve(ledger, "visits", "0.1", i ? "keys" : "key", &ids[i], &error));
        else
            assert_ok(brume_ledger_reserve(ledger, &reservation, &ids[i], &error));
        assert_ok(brume_ledger_commit(ledger, ids[i], answer, &error));
        json_decref(answer);
    }
    assert_ok(brume_ledger_recall(ledger, "key", &found, when, &error));
    assert_int_equal(json_integer_value(json_object_get(found, "rows")), 2);
    json_decref(found);
    assert_ok(brume_ledger_reserved_at(ledger, ids[2], reserved, &error));
    assert_string_equal(when, reserved);
    for (int i = 0; i < 4; i++) {
        assert_ok(brume_ledger_recall_reservation(ledger, ids[i], &found, &datasets, when, &error));
        assert_int_equal(json_integer_value(json_object_get(found, "rows")), i);
        json_decref(found);
        json_decref(datasets);
    }
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    assert_int_equal(report.answers, 4);
}

static void a_failed_query_stays_charged_and_is_in_the_history(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    brume_error error = {0};
    uint64_t id = 0;
    register_dataset(ledger, "visits", "1", NULL);
    assert_ok(reserve(ledger, "visits", "0.6", "key", &id, &error));
    assert_ok(brume_ledger_fail(ledger, id, BRUME_EENGINE, &error));
    assert_fails(reserve(ledger, "visits", "0.6", "key", &id, &error), BRUME_EBUDGET);
    json_t *history = NULL;
    assert_ok(brume_ledger_history(ledger, "visits", NULL, &history, &error));
    json_t *event = json_array_get(json_object_get(history, "events"), 0);
    assert_string_equal(json_string_value(json_object_get(event, "state")), "failed");
    assert_string_equal(json_string_value(json_object_get(event, "sql")), "SELECT COUNT(*) FROM t");
    json_decref(history);
}

static void an_export_is_continued_by_the_ledger_but_not_by_another(void **state)
{
    (void)state;
    place where, elsewhere;
    brume_error error = {0};
    uint64_t id = 0;
    make_place(&where);
    make_place(&elsewhere);
    brume_ledger *ledger = open_ledger(&where), *other = open_ledger(&elsewhere);
    register_dataset(ledger, "visits", "1", NULL);
    register_dataset(other, "visits", "1", NULL);
    assert_ok(reserve(ledger, "visits", "0.1", "key", &id, &error));
    json_t *export = NULL;
    assert_ok(brume_ledger_export(ledger, false, &export, &error));
    assert_ok(reserve(ledger, "visits", "0.1", "key", &id, &error));
    assert_ok(brume_ledger_verify_against(ledger, export, &error));
    assert_fails(brume_ledger_verify_against(other, export, &error), BRUME_EDAMAGED);
    json_t *nothing = json_object();
    assert_fails(brume_ledger_verify_against(ledger, nothing, &error), BRUME_ESYNTAX);
    json_decref(nothing);
    json_decref(export);
    brume_ledger_close(ledger);
    brume_ledger_close(other);
    remove_place(&where);
    remove_place(&elsewhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fresh_ledger(ten_charges_of_a_tenth_fill_a_budget_of_one_and_no_more),
        cmocka_unit_test(what_was_spent_is_still_spent_after_reopening),
        with_fresh_ledger(an_answer_is_recalled_by_what_was_charged_for_it),
        with_fresh_ledger(the_history_shows_prices_rounded_up),
        with_fresh_ledger(a_name_or_a_source_is_registered_once),
        with_fresh_ledger(several_datasets_are_charged_all_or_none),
        with_fresh_ledger(the_cap_the_rule_and_the_adjacency_are_the_owners),
        with_fresh_ledger(an_answer_is_recalled_by_its_key_and_the_first_one_stays),
        with_fresh_ledger(an_answer_that_is_asked_anew_is_recalled_in_place_of_the_earlier_one),
        with_fresh_ledger(a_failed_query_stays_charged_and_is_in_the_history),
        cmocka_unit_test(an_export_is_continued_by_the_ledger_but_not_by_another),
    };
    return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
