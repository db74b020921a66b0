/* Quantiles and modes of units with many rows, on the release path: every row counts, those of a
 * unit above the limit less; what is said of it; what is chosen. */
#include "check.h"

#include "ask_json.h"
#include "query/release/explain.h"
#include "registered.h"

enum { FEW = 200, HEAVY = 4, MANY = 150 };

/* 200 people have one row: shop a, 10 paid. Four have 150: shop b, 90 paid, 600 rows in all. 1200
 * rows have no person. */
static void open_orders(registered *all, brume_adjacency adjacency, brume_rule rule)
{
    const registered_terms terms = {"orders", rule, "1e9", "0.1", adjacency};
    static const char *const shops[] = {"a", "b", "c"};
    brume_error error = {0};
    FILE *file = registered_begin(all);
    fputs("person,shop,paid\n", file);
    for (int person = 0; person < FEW; person++)
        fprintf(file, "p%d,a,10\n", person);
    for (int person = 0; person < HEAVY; person++)
        for (int row = 0; row < MANY; row++)
            fprintf(file, "q%d,b,90\n", person);
    for (int row = 0; row < 2 * HEAVY * MANY; row++)
        fprintf(file, ",c,50\n"); /* nobody's: these do not count */
    registered_open(all, file, 3);
    brume_policy *policy = registered_file(all->csv, "paid bigint");
    assert_ok(brume_policy_set_unit(policy, "person", &error));
    assert_ok(brume_policy_set_bounds(policy, "paid", "0", "100", &error));
    assert_ok(brume_policy_set_domain(policy, "shop", shops, 3, &error));
    registered_enter(all->ledger, policy, &terms);
}

static const json_t *first(const json_t *answer, size_t column)
{
    return json_array_get(json_array_get(json_object_get(answer, "rows"), 0), column);
}

static const json_t *said(const json_t *answer, size_t column, const char *name)
{
    return json_object_get(json_array_get(json_object_get(answer, "columns"), column), name);
}

static json_t *ask_as(registered *all, bool concentrated, const char *sql, const char *price,
                      const char *limit, const char *other)
{
    brume_error error = {0};
    brume_payment payment = {.limits = {limit, other}};
    *(concentrated ? &payment.rho : &payment.epsilon) = price;
    payment.limit_count = other ? 2 : limit ? 1 : 0;
    json_t *answer = NULL;
    if (ask_json(all->ledger, sql, &payment, NULL, all->bits, NULL, &answer, &error) != BRUME_OK)
        fail_msg("%s: %s", sql, error.message);
    return answer;
}

static json_t *ask(registered *all, const char *sql, const char *epsilon, const char *limit,
                   const char *other)
{
    return ask_as(all, false, sql, epsilon, limit, other);
}

/* The ends of the interval in the first row and this column. */
static double end_of(const json_t *answer, size_t column, size_t end)
{
    const json_t *row = json_array_get(json_object_get(answer, "rows_interval_95"), 0);
    return json_number_value(json_array_get(json_array_get(row, column), end));
}

static const char *const both =
    "SELECT MEDIAN(paid) AS m, MODE() WITHIN GROUP (ORDER BY shop) AS s "
    "FROM orders";

/* At a price of 10^6 noise decides nothing (a rank error of 1 has a chance below e^-1000). */
static void rows_of_a_unit_above_the_limit_count_less(void **state)
{
    (void)state;
    for (int replace = 0; replace < 2; replace++)
        for (int concentrated = 0; concentrated < 2; concentrated++) {
            registered all;
            open_orders(&all, replace ? BRUME_REPLACE : BRUME_ADD_REMOVE,
                        concentrated ? BRUME_RULE_CONCENTRATED : BRUME_RULE_APPROXIMATE);
            const char *price = "1e6";
            json_t *whole = ask_as(&all, concentrated, both, price, "m=150",
                                   "s=150"); /* 200 against 600 rows */
            assert_close(json_number_value(first(whole, 0)), 90, 1e-9);
            assert_string_equal(json_string_value(first(whole, 1)), "b");
            json_t *less =
                ask_as(&all, concentrated, both, price, "m=10", "s=10"); /* 200 against 40 */
            assert_close(json_number_value(first(less, 0)), 10, 1e-9);
            assert_string_equal(json_string_value(first(less, 1)), "a");
            assert_close(json_number_value(said(less, 0, "limit")), 10, 1e-9);
            assert_close(json_number_value(said(less, 1, "limit")), 10, 1e-9);
            assert_true(json_is_true(said(less, 0, "biased")));
            /* the interval is of weighted ranks too: the one value that is there */
            assert_true(end_of(whole, 0, 0) == 90 && end_of(whole, 0, 1) == 90);
            assert_true(end_of(less, 0, 0) == 10 && end_of(less, 0, 1) == 10);
            /* the rank's error is in proportion to the limit */
            assert_close(json_number_value(said(whole, 0, "rank_error_95")),
                         15 * json_number_value(said(less, 0, "rank_error_95")), 1e-6);
            /* no row of the four is dropped: at 40 of 240 the quantile .84 is theirs */
            json_t *high =
                ask_as(&all, concentrated,
                       "SELECT PERCENTILE_CONT(0.84) WITHIN GROUP (ORDER BY paid) AS h, "
                       "PERCENTILE_CONT(0.83) WITHIN GROUP (ORDER BY paid) AS l FROM orders",
                       price, "h=10", NULL);
            assert_close(json_number_value(first(high, 0)), 90, 1e-9);
            assert_close(json_number_value(first(high, 1)), 10, 1e-9);
            json_decref(whole);
            json_decref(less);
            json_decref(high);
            registered_close(&all);
        }
}

/* A limit over two groups is one: a unit in both has half of it in each, where it has as many rows.
 */
static void several_quantiles_and_groups_have_one_limit(void **state)
{
    (void)state;
    registered all;
    open_orders(&all, BRUME_ADD_REMOVE, BRUME_RULE_APPROXIMATE);
    json_t *many = ask(&all,
                       "SELECT PERCENTILE_CONT(ARRAY[.1,.2,.3,.4,.5,.6,.7,.8,.9]) WITHIN GROUP "
                       "(ORDER BY paid) AS q FROM orders",
                       "1e6", "q_0.1=10", NULL);
    for (size_t i = 0; i < 9; i++)
        assert_close(json_number_value(first(many, i)), i < 8 ? 10 : 90, 1e-9);
    json_t *groups =
        ask(&all, "SELECT shop, MEDIAN(paid) AS m FROM orders GROUP BY shop", "1e6", "150", NULL);
    assert_close(json_number_value(first(groups, 1)), 10, 1e-9);
    json_decref(many);
    json_decref(groups);
    registered_close(&all);
}

/* In each of two shops 15 people have a row of 10 paid, kind x, and one person, the same in both,
 * has 100 of 90 paid, kind y. Under a limit of 20 these weigh 1/10 each, 10 in a shop: less than
 * the 15. Rejects: rows that weigh 1, and a limit for each shop, under which they weigh 20. */
static void a_unit_in_several_groups_weighs_by_the_rows_of_all(void **state)
{
    (void)state;
    static const registered_terms terms = {"orders", BRUME_RULE_APPROXIMATE, "1e9", "0.1",
                                           BRUME_ADD_REMOVE};
    static const char *const shops[] = {"a", "b"}, *const kinds[] = {"x", "y"};
    static const char *const queries[] = {
        "SELECT shop, MEDIAN(paid) AS m FROM orders GROUP BY shop",
        "SELECT shop, PERCENTILE_CONT(ARRAY[.1,.2,.25,.3,.35,.4,.45,.5,.55]) WITHIN GROUP (ORDER "
        "BY paid) AS q FROM orders GROUP BY shop",
        "SELECT shop, MODE() WITHIN GROUP (ORDER BY kind) AS k FROM orders GROUP BY shop"};
    brume_error error = {0};
    registered all;
    FILE *file = registered_begin(&all);
    fputs("person,shop,kind,paid\n", file);
    for (int person = 0; person < 30; person++)
        fprintf(file, "p%d,%s,x,10\n", person, shops[person % 2]);
    for (int row = 0; row < 200; row++)
        fprintf(file, "q,%s,y,90\n", shops[row % 2]);
    registered_open(&all, file, 3);
    brume_policy *policy = registered_file(all.csv, "paid bigint");
    assert_ok(brume_policy_set_unit(policy, "person", &error));
    assert_ok(brume_policy_set_bounds(policy, "paid", "0", "100", &error));
    assert_ok(brume_policy_set_domain(policy, "shop", shops, 2, &error));
    assert_ok(brume_policy_set_domain(policy, "kind", kinds, 2, &error));
    registered_enter(all.ledger, policy, &terms);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        json_t *answer = ask(&all, queries[i], "1e6", "20", NULL);
        for (size_t shop = 0; shop < 2; shop++) {
            const json_t *row = json_array_get(json_object_get(answer, "rows"), shop);
            for (size_t column = 1; column < json_array_size(row); column++) {
                const json_t *value = json_array_get(row, column);
                if (json_is_string(value))
                    assert_string_equal(json_string_value(value), "x");
                else
                    assert_close(json_number_value(value), 10, 1e-9);
            }
        }
        json_decref(answer);
    }
    registered_close(&all);
}

/* Where nobody says a limit it is chosen, shown, recorded and used again. A private key or value
 * keeps one of a unit's, and says so. */
static void limits_of_quantiles_are_chosen_and_shown(void **state)
{
    (void)state;
    brume_error error = {0};
    registered all;
    open_orders(&all, BRUME_ADD_REMOVE, BRUME_RULE_APPROXIMATE);
    brume_payment one = {.epsilon = "20"};
    json_t *plan = NULL;
    assert_ok(brume_explain(all.ledger, both, &one, NULL, &plan, &error));
    const json_t *limits = json_object_get(plan, "limit_plan");
    assert_int_equal(json_array_size(limits), 2);
    const json_t *ladder = json_object_get(json_array_get(limits, 1), "ladder");
    double at_one = json_number_value(json_object_get(json_array_get(ladder, 0), "rank_error_95"));
    double at_ten = json_number_value(json_object_get(json_array_get(ladder, 1), "rank_error_95"));
    assert_close(at_ten, 10 * at_one, 1e-9);
    json_t *answer = ask(&all, both, "20", NULL, NULL), *again = ask(&all, both, "14", NULL, NULL);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(answer, "limits"), "chosen")), "auto");
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(again, "limits"), "chosen")), "ledger");
    assert_true(json_number_value(said(answer, 0, "limit")) >= 1);
    assert_true(json_is_number(said(answer, 0, "cut_units")));
    json_t *votes =
        ask(&all, "SELECT MODE() WITHIN GROUP (ORDER BY paid) AS v FROM orders", "20", NULL, NULL);
    assert_close(json_number_value(first(votes, 0)), 10, 1e-9); /* 200 people against 4 */
    assert_close(json_number_value(said(votes, 0, "limit")), 1, 1e-9);
    assert_true(json_is_true(said(votes, 0, "biased")));
    json_decref(plan);
    json_decref(answer);
    json_decref(again);
    json_decref(votes);
    registered_close(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_unit_above_the_limit_count_less),
        cmocka_unit_test(several_quantiles_and_groups_have_one_limit),
        cmocka_unit_test(a_unit_in_several_groups_weighs_by_the_rows_of_all),
        cmocka_unit_test(limits_of_quantiles_are_chosen_and_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
