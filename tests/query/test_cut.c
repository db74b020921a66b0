/* What an answer says was cut holds: of units above the owner's ceiling, in arithmetic on
 * aggregates, and of private groups, of which each query shows others. */
#include "check.h"

#include "ask_json.h"
#include "query/release/explain.h"
#include "registered.h"

enum { PEOPLE = 4000 };

static int rows_of(int person)
{
    return person % 10 ? person % 8 + 1 : 40;
}

/* Nine of ten people have up to eight rows, the others forty. */
static void open_orders(registered *all, uint64_t max_rows)
{
    static const registered_terms terms = {"orders", BRUME_RULE_APPROXIMATE, "1000", "0.1",
                                           BRUME_ADD_REMOVE};
    brume_error error = {0};
    FILE *file = registered_begin(all);
    fputs("person,paid\n", file);
    for (int person = 0; person < PEOPLE; person++)
        for (int row = 0; row < rows_of(person); row++)
            fprintf(file, "p%d,%d\n", person, person % 50);
    registered_open(all, file, 3);
    brume_policy *policy = registered_file(all->csv, "person text, paid bigint");
    assert_ok(brume_policy_set_unit(policy, "person", &error));
    assert_ok(brume_policy_set_bounds(policy, "paid", "0", "100", &error));
    policy->max_rows = max_rows;
    policy->max_groups = 1;
    registered_enter(all->ledger, policy, &terms);
}

static const char *chosen(const json_t *answer)
{
    return json_string_value(json_object_get(json_object_get(answer, "limits"), "chosen"));
}

static const json_t *said(const json_t *answer, size_t column, const char *name)
{
    return json_object_get(json_array_get(json_object_get(answer, "columns"), column), name);
}

static double number(const json_t *answer, size_t column, const char *name)
{
    const json_t *found = said(answer, column, name);
    return json_is_number(found) ? json_number_value(found) : NAN;
}

static double value(const json_t *answer, size_t column)
{
    return json_number_value(
        json_array_get(json_array_get(json_object_get(answer, "rows"), 0), column));
}

static json_t *ask(const registered *all, const char *sql)
{
    brume_error error = {0};
    brume_payment payment = {.epsilon = "1"};
    json_t *answer = NULL;
    assert_ok(ask_json(all->ledger, sql, &payment, NULL, all->bits, NULL, &answer, &error));
    return answer;
}

/* Four hundred people have forty rows each, and the owner lets ten of them count: no
 * limit is above that, and the answer says how many people it cuts, and allows for it. */
static void units_above_the_ceiling_are_counted_as_cut(void **state)
{
    (void)state;
    registered all;
    open_orders(&all, 10);
    json_t *answer = ask(&all, "SELECT COUNT(*) FROM orders");
    double rows = 0, above = 0;
    for (int person = 0; person < PEOPLE; person++) {
        rows += rows_of(person);
        above += rows_of(person) > 10;
    }
    assert_string_equal(chosen(answer), "auto");
    assert_holds(number(answer, 0, "limit") <= 10);
    assert_holds(number(answer, 0, "cut_units") >= above);
    assert_true(json_is_true(said(answer, 0, "biased")));
    assert_holds(value(answer, 0) < rows - 10000);
    assert_holds(fabs(value(answer, 0) - rows) <=
                 number(answer, 0, "error_95") + number(answer, 0, "cut_allowance"));
    json_decref(answer);
    registered_close(&all);
}

/* Where the ceiling cuts most people the allowance is still of the size of what was cut: the last
 * bin of the histogram, which has them all, does not say that they are just above it. */
static void a_ceiling_below_most_units_is_allowed_for(void **state)
{
    (void)state;
    registered all;
    open_orders(&all, 3);
    json_t *answer = ask(&all, "SELECT COUNT(*) FROM orders");
    double rows = 0, above = 0;
    for (int person = 0; person < PEOPLE; person++) {
        rows += rows_of(person);
        above += rows_of(person) > 3;
    }
    assert_holds(number(answer, 0, "limit") == 3);
    assert_holds(number(answer, 0, "cut_units") >= above);
    assert_holds(fabs(value(answer, 0) - rows) <=
                 number(answer, 0, "error_95") + number(answer, 0, "cut_allowance"));
    json_decref(answer);
    registered_close(&all);
}

/* Arithmetic on a count that was cut was cut too, and its bar allows for that. */
static void arithmetic_says_what_was_cut(void **state)
{
    (void)state;
    registered all;
    open_orders(&all, 10);
    json_t *plain = ask(&all, "SELECT COUNT(*) FROM orders");
    json_t *made = ask(&all, "SELECT COUNT(*) / 10.0, 100.0 * SUM(paid) / COUNT(*) FROM orders");
    double rows = 0, paid = 0;
    for (int person = 0; person < PEOPLE; person++) {
        rows += rows_of(person);
        paid += rows_of(person) * (person % 50);
    }
    double truth[] = {rows / 10, 100 * paid / rows};
    for (size_t i = 0; i < 2; i++) {
        double noise = number(made, i, "error_95");
        double cut = number(made, i, "cut_allowance");
        assert_holds(cut > noise && fabs(value(made, i) - truth[i]) <= noise + cut);
    }
    assert_holds(fabs(value(made, 0) - truth[0]) > number(made, 0, "error_95"));
    /* a tenth of the count has a tenth of its allowance, or of the other draw's */
    assert_close(number(made, 0, "cut_allowance"), number(plain, 0, "cut_allowance") / 10, 0.2);
    json_decref(plain);
    json_decref(made);
    registered_close(&all);
}

/* ---- private groups ---- */

/* Everybody has a row in the group "all"; every second one also in thirty others, in each of which
 * hardly fifty keep it. */
static void open_groups(registered *all)
{
    static const registered_terms terms = {"visits", BRUME_RULE_APPROXIMATE, "1000", "0.1",
                                           BRUME_ADD_REMOVE};
    brume_error error = {0};
    FILE *file = registered_begin(all);
    fputs("person,place\n", file);
    for (int person = 0; person < 3000; person++)
        for (int place = 0; place <= (person % 2 ? 30 : 0); place++)
            fprintf(file, place ? "p%d,g%d\n" : "p%d,all\n", person, place);
    registered_open(all, file, 5);
    brume_policy *policy = registered_file(all->csv, "person text, place text");
    assert_ok(brume_policy_set_unit(policy, "person", &error));
    registered_enter(all->ledger, policy, &terms);
}

/* A small delta shows one group, in which nobody has more than one row; a larger one shows all. The
 * limit of the first would cut half of the people in the second, and its counts would not tell. */
static void a_choice_for_private_groups_is_not_used_again(void **state)
{
    (void)state;
    brume_error error = {0};
    registered all;
    open_groups(&all);
    const char *sql = "SELECT place, COUNT(*) FROM visits GROUP BY place";
    brume_payment payment = {.epsilon = "1", .delta = "1e-12"};
    json_t *few = NULL, *many = NULL, *plan = NULL;
    assert_ok(ask_json(all.ledger, sql, &payment, NULL, all.bits, NULL, &few, &error));
    assert_int_equal(json_array_size(json_object_get(few, "rows")), 1);
    assert_holds(number(few, 1, "limit") == 1);
    payment.delta = "1e-3";
    assert_ok(brume_explain(all.ledger, sql, &payment, NULL, &plan, &error));
    const json_t *limit = json_array_get(json_object_get(plan, "limit_plan"), 0);
    assert_string_equal(json_string_value(json_object_get(limit, "chosen")), "auto");
    assert_ok(ask_json(all.ledger, sql, &payment, NULL, all.bits, NULL, &many, &error));
    assert_true(json_array_size(json_object_get(many, "rows")) > 20);
    assert_string_equal(chosen(many), "auto");
    assert_holds(number(many, 1, "limit") >= 24 || number(many, 1, "cut_units") >= 1500);
    json_decref(few);
    json_decref(many);
    json_decref(plan);
    registered_close(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_above_the_ceiling_are_counted_as_cut),
        cmocka_unit_test(a_ceiling_below_most_units_is_allowed_for),
        cmocka_unit_test(arithmetic_says_what_was_cut),
        cmocka_unit_test(a_choice_for_private_groups_is_not_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
