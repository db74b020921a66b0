/* The choice of limits on the release path: it is recorded before anything else is drawn, found by
 * later queries, never drawn twice; typed limits, ceilings and refusals. */
#include "check.h"

#include "ask_json.h"
#include "query/release/explain.h"
#include "registered.h"

enum { PEOPLE = 4000 };

/* Nine of ten people have up to eight rows, the others forty. */
static void open_orders(registered *all, uint64_t max_groups, uint64_t max_rows, bool fixed)
{
    static const registered_terms terms = {"orders", BRUME_RULE_APPROXIMATE, "1000", "0.1",
                                           BRUME_ADD_REMOVE};
    static const char *const shops[] = {"a", "b"};
    brume_error error = {0};
    FILE *file = registered_begin(all);
    fputs("person,shop,paid\n", file);
    for (int person = 0; person < PEOPLE; person++)
        for (int row = 0; row < (person % 10 ? person % 8 + 1 : 40); row++)
            fprintf(file, "p%d,%c,%d\n", person, "ab"[row % 2], person % 50);
    registered_open(all, file, 3);
    brume_policy *policy = registered_file(all->csv, "paid bigint");
    assert_ok(brume_policy_set_unit(policy, "person", &error));
    assert_ok(brume_policy_set_bounds(policy, "paid", "0", "100", &error));
    assert_ok(brume_policy_set_domain(policy, "shop", shops, 2, &error));
    policy->max_groups = max_groups;
    policy->max_rows = max_rows;
    policy->limits_fixed = fixed;
    registered_enter(all->ledger, policy, &terms);
}

static const char *chosen(const json_t *answer)
{
    return json_string_value(json_object_get(json_object_get(answer, "limits"), "chosen"));
}

static double column_number(const json_t *answer, size_t column, const char *name)
{
    const json_t *found =
        json_object_get(json_array_get(json_object_get(answer, "columns"), column), name);
    return json_is_number(found) ? json_number_value(found) : NAN;
}

static double value(const json_t *answer)
{
    return json_number_value(json_array_get(json_array_get(json_object_get(answer, "rows"), 0), 0));
}

static void a_choice_is_made_once_and_used_again_for_free(void **state)
{
    (void)state;
    brume_error error = {0};
    registered all;
    open_orders(&all, 0, 0, false);
    brume_payment one = {.epsilon = "1"}, two = {.epsilon = "2"};
    json_t *first = NULL, *second = NULL, *other = NULL;
    const char *sql = "SELECT COUNT(*) FROM orders";
    assert_ok(ask_json(all.ledger, sql, &one, NULL, all.bits, NULL, &first, &error));
    assert_string_equal(chosen(first), "auto");
    assert_close(column_number(first, 0, "limit"), 48, 0.5); /* 40 are there, above 8 a few */
    assert_ok(ask_json(all.ledger, sql, &two, NULL, all.bits, NULL, &second, &error));
    assert_string_equal(chosen(second), "ledger");
    assert_holds(column_number(first, 0, "limit") == column_number(second, 0, "limit"));
    assert_holds(column_number(first, 0, "cut_units") == column_number(second, 0, "cut_units"));
    /* all of the price measures: 2 against 9/10 of 1 */
    assert_close(column_number(second, 0, "error_95"), 0.45 * column_number(first, 0, "error_95"),
                 0.03);
    assert_ok(ask_json(all.ledger, "SELECT COUNT(*) FROM orders WHERE paid > 10", &one, NULL,
                       all.bits, NULL, &other, &error));
    assert_string_equal(chosen(other), "auto"); /* other rows, another choice */
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(all.ledger, &report, &error));
    assert_int_equal(report.reservations, 3);
    assert_int_equal(report.answers, 3);
    json_decref(first);
    json_decref(second);
    json_decref(other);
    registered_close(&all);
}

/* Stops a query after its choice is recorded, before its answer is. */
static const char *stop_late(void *context)
{
    int *asked = context;
    return ++*asked > 1 ? "interrupted" : NULL;
}

static void enter_nothing(void *context, brume_phase phase, brume_engine *engine)
{
    (void)context;
    (void)phase;
    (void)engine;
}

static void a_choice_survives_what_comes_after_it(void **state)
{
    (void)state;
    brume_error error = {0};
    registered all;
    open_orders(&all, 0, 0, false);
    int asked = 0;
    brume_watch watch = {.enter = enter_nothing, .stopped = stop_late, .context = &asked};
    brume_payment one = {.epsilon = "1"};
    json_t *answer = NULL;
    const char *sql = "SELECT shop, COUNT(*), SUM(paid) FROM orders GROUP BY shop";
    assert_fails(ask_json(all.ledger, sql, &one, NULL, all.bits, &watch, &answer, &error),
                 BRUME_ECANCELLED);
    assert_ok(ask_json(all.ledger, sql, &one, NULL, all.bits, NULL, &answer, &error));
    assert_string_equal(chosen(answer), "ledger"); /* never a second draw */
    json_decref(answer);
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(all.ledger, &report, &error));
    assert_int_equal(report.answers, 1);
    registered_close(&all);
}

/* The same for a choice that was bought alone, which also makes an accuracy possible. */
static void limits_can_be_bought_alone(void **state)
{
    (void)state;
    brume_error error = {0};
    registered all;
    open_orders(&all, 0, 0, false);
    brume_payment alone = {.epsilon = "0.5", .limits_only = true}, none = {0};
    brume_target target = {.within = 200, .confidence = 0.95};
    const char *sql = "SELECT COUNT(*) FROM orders";
    json_t *answer = NULL, *limits = NULL;
    assert_fails(ask_json(all.ledger, sql, &none, &target, all.bits, NULL, &answer, &error),
                 BRUME_EARGUMENT);
    assert_non_null(strstr(error.hint, "brume limits"));
    assert_ok(ask_json(all.ledger, sql, &alone, NULL, all.bits, NULL, &limits, &error));
    assert_ok(ask_json(all.ledger, sql, &none, &target, all.bits, NULL, &answer, &error));
    assert_string_equal(chosen(answer), "ledger");
    assert_holds(column_number(answer, 0, "error_95") <= 200);
    alone.epsilon = "0.6"; /* a second one would be paid for and not kept */
    json_t *again = NULL;
    assert_fails(ask_json(all.ledger, sql, &alone, NULL, all.bits, NULL, &again, &error),
                 BRUME_EARGUMENT);
    json_decref(limits);
    json_decref(answer);
    registered_close(&all);
}

static void typed_limits_are_used_and_ceilings_hold(void **state)
{
    (void)state;
    brume_error error = {0};
    registered all;
    open_orders(&all, 2, 30, false);
    json_t *answer = NULL;
    brume_payment typed = {.epsilon = "1000", .limits = {"3"}, .limit_count = 1};
    assert_ok(ask_json(all.ledger, "SELECT COUNT(*) FROM orders WHERE shop = 'a'", &typed, NULL,
                       all.bits, NULL, &answer, &error));
    assert_string_equal(chosen(answer), "typed");
    double cut = 0; /* what is left of each person's rows in shop a */
    for (int person = 0; person < PEOPLE; person++)
        cut += fmin(3, person % 10 ? (person % 8 + 2) / 2 : 20);
    assert_close(value(answer), cut, 1e-9); /* noise of scale 3/1000: none in 1 - e^-300 */
    json_decref(answer);
    typed.limits[0] = "31"; /* one group, so 30 rows at most */
    assert_fails(ask_json(all.ledger, "SELECT COUNT(*) FROM orders", &typed, NULL, all.bits, NULL,
                          &answer, &error),
                 BRUME_EPOLICY);
    typed.limits[0] = "n=5";
    assert_fails(ask_json(all.ledger, "SELECT COUNT(*) FROM orders", &typed, NULL, all.bits, NULL,
                          &answer, &error),
                 BRUME_EARGUMENT);
    typed.limits[0] = "5";
    assert_fails(ask_json(all.ledger, "SELECT COUNT(*), SUM(paid) FROM orders", &typed, NULL,
                          all.bits, NULL, &answer, &error),
                 BRUME_EARGUMENT); /* of which? */
    assert_fails(ask_json(all.ledger, "SELECT MEDIAN(paid) FROM orders", &typed, NULL, all.bits,
                          NULL, &answer, &error),
                 BRUME_EUNSUPPORTED);
    registered_close(&all);
}

static void fixed_limits_are_the_ceilings(void **state)
{
    (void)state;
    brume_error error = {0};
    registered all;
    open_orders(&all, 2, 5, true);
    json_t *answer = NULL, *plan = NULL;
    brume_payment one = {.epsilon = "1"};
    const char *sql = "SELECT shop, COUNT(*) FROM orders GROUP BY shop";
    assert_ok(brume_explain(all.ledger, sql, &one, NULL, &plan, &error));
    assert_ok(ask_json(all.ledger, sql, &one, NULL, all.bits, NULL, &answer, &error));
    assert_string_equal(chosen(answer), "policy");
    assert_holds(column_number(answer, 1, "limit") == 10);
    assert_true(json_is_number(json_array_get(json_object_get(plan, "error_95"), 0)));
    json_decref(plan);
    json_decref(answer);
    registered_close(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_choice_is_made_once_and_used_again_for_free),
        cmocka_unit_test(a_choice_survives_what_comes_after_it),
        cmocka_unit_test(limits_can_be_bought_alone),
        cmocka_unit_test(typed_limits_are_used_and_ceilings_hold),
        cmocka_unit_test(fixed_limits_are_the_ceilings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
