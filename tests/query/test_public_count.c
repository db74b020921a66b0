/* A mean or a sum under replace, of a whole table whose rows are its units, rests on their public
 * number: when, what it then costs by enumeration, and what it answers. */
#include "check.h"

#include "ask_json.h"
#include "query/release/explain.h"
#include "registered.h"

static void open_table(registered *all, brume_adjacency adjacency, const char *unit)
{
    const registered_terms terms = {"people", BRUME_RULE_PURE, "1e9", NULL, adjacency};
    brume_error error = {0};
    FILE *file = registered_begin(all);
    fputs("person,age\n", file);
    for (int i = 0; i < 300; i++)
        fprintf(file, "p%d,%d\n", i, i % 100);
    fputs("p300,\n", file);
    registered_open(all, file, 8);
    brume_policy *policy = registered_file(all->csv, "age bigint");
    if (unit)
        assert_ok(brume_policy_set_unit(policy, unit, &error));
    assert_ok(brume_policy_set_bounds(policy, "age", "0", "200", &error));
    registered_enter(all->ledger, policy, &terms);
}

/* The plan's measures, and the scale of the one named. */
static size_t plan_of(registered *all, const char *sql, const char *measure, double *scale)
{
    brume_error error = {0};
    brume_payment one = {.epsilon = "1"};
    json_t *plan = NULL, *each = NULL;
    size_t i = 0;
    if (brume_explain(all->ledger, sql, &one, NULL, &plan, &error) != BRUME_OK)
        fail_msg("%s: %s", sql, error.message);
    const json_t *list = json_object_get(plan, "plan");
    size_t count = json_array_size(list);
    *scale = NAN;
    json_array_foreach (list, i, each)
        if (strcmp(json_string_value(json_object_get(each, "measure")), measure) == 0)
            *scale = json_number_value(json_object_get(each, "scale"));
    json_decref(plan);
    return count;
}

static void only_a_whole_table_of_rows_has_a_public_number(void **state)
{
    (void)state;
    double scale = 0;
    registered replace, add_remove, units;
    open_table(&replace, BRUME_REPLACE, NULL);
    open_table(&add_remove, BRUME_ADD_REMOVE, NULL);
    open_table(&units, BRUME_REPLACE, "person");
    const char *whole = "SELECT AVG(COALESCE(age, 0)) FROM people";
    assert_int_equal(plan_of(&replace, whole, "centred sum", &scale), 1);
    assert_int_equal(plan_of(&add_remove, whole, "centred sum", &scale), 2);
    assert_int_equal(plan_of(&units, whole, "centred sum", &scale), 2);
    static const char *const others[] = {
        "SELECT AVG(age) FROM people", /* NULLs do not count, and are private */
        "SELECT AVG(COALESCE(age, 0)) FROM people WHERE age > 10",
        "SELECT AVG(COALESCE(age, 0)) FILTER (WHERE age > 10) FROM people",
        "SELECT AVG(COALESCE(a, 0)) FROM (SELECT age AS a FROM people WHERE age > 10) t",
        "SELECT age > 10, AVG(COALESCE(age, 0)) FROM people GROUP BY 1",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (plan_of(&replace, others[i], "centred sum", &scale) != 2)
            fail_msg("%s divides by a number that is not public", others[i]);
    registered_close(&replace);
    registered_close(&add_remove);
    registered_close(&units);
}

/* The law of round(mean) over all tables of three rows on a grid of five ages: the largest loss
 * when one row becomes another. The sum is noised, the number is not. */
static double worst_loss(double scale)
{
    enum { MOST = 60 };
    double worst = 0, a = exp(-1 / scale);
    for (int others = 0; others <= 8; others++)
        for (int x = 0; x <= 4; x++)
            for (int y = 0; y <= 4; y++)
                for (int seen = -MOST; seen <= MOST; seen++) {
                    int k = seen - others - x, l = seen - others - y;
                    double p = pow(a, abs(k)), q = pow(a, abs(l)); /* ends: of one sign, or less */
                    worst = fmax(worst, fabs(log(p / q)));
                }
    return worst;
}

static void a_public_number_costs_nothing_and_the_sum_its_price(void **state)
{
    (void)state;
    double scale = 0;
    registered all;
    open_table(&all, BRUME_REPLACE, NULL);
    (void)plan_of(&all, "SELECT AVG(CLAMP(COALESCE(age, 0), 0, 4)) FROM people", "centred sum",
                  &scale);
    double loss = worst_loss(scale);
    printf("# loss %.6f of 1\n", loss);
    assert_holds(loss <= 1 + 1e-9 && loss > 1 - 1e-6);
    assert_holds(worst_loss(scale / 2) > 1.9); /* a control: the price of add-remove */
    brume_error error = {0};
    brume_payment much = {.epsilon = "1e6"}; /* noise of 2e-4 on the sum: below 1e-5 of the mean */
    json_t *answer = NULL;
    assert_ok(ask_json(all.ledger, "SELECT AVG(COALESCE(age, 0)) FROM people", &much, NULL,
                       all.bits, NULL, &answer, &error));
    double mean =
        json_number_value(json_array_get(json_array_get(json_object_get(answer, "rows"), 0), 0));
    assert_close(mean, 3 * 4950.0 / 301, 1e-3); /* the missing age is 0 and counts */
    json_decref(answer);
    registered_close(&all);
}

/* The numbers of the one row that is answered. */
static void answer_of(registered *all, const char *sql, const char *epsilon, double *out,
                      double *errors, size_t count)
{
    brume_error error = {0};
    brume_payment payment = {.epsilon = epsilon};
    json_t *answer = NULL;
    assert_ok(ask_json(all->ledger, sql, &payment, NULL, all->bits, NULL, &answer, &error));
    const json_t *row = json_array_get(json_object_get(answer, "rows"), 0);
    const json_t *columns = json_object_get(answer, "columns");
    for (size_t i = 0; i < count; i++) {
        out[i] = json_number_value(json_array_get(row, i));
        errors[i] = json_number_value(json_object_get(json_array_get(columns, i), "error_95"));
    }
    json_decref(answer);
}

/* Rejects: a sum that is measured beside the mean's, or with the noise of all that is below the
 * lower bound; a sum beyond what so many values can add up to; a count that makes others dearer
 * although no unit can come or go. */
static void a_sum_is_that_of_the_mean_and_a_public_number(void **state)
{
    (void)state;
    double scale = 0, both = 0, numbers[3], errors[3];
    registered all;
    open_table(&all, BRUME_REPLACE, NULL);
    /* ages of 150 to 200: what one row moves is 50, not 200 */
    const char *sum = "SELECT SUM(CLAMP(COALESCE(age, 150), 150, 200)) AS s FROM people";
    assert_int_equal(plan_of(&all, sum, "centred sum", &scale), 1);
    assert_close(scale, 50, 1e-12);
    assert_int_equal(
        plan_of(&all,
                "SELECT SUM(CLAMP(COALESCE(age, 150), 150, 200)) AS s, "
                "AVG(CLAMP(COALESCE(age, 150), 150, 200)) AS m, COUNT(*) AS n FROM people",
                "centred sum", &both),
        2);
    assert_close(both, scale, 1e-12);
    (void)plan_of(&all, "SELECT COUNT(*) AS n, COUNT(age) AS k FROM people", "values", &scale);
    assert_close(scale, 1, 1e-12); /* beside a number of rows that nothing moves */
    answer_of(&all,
              "SELECT SUM(COALESCE(age, 0)) AS s, AVG(COALESCE(age, 0)) AS m, "
              "MEDIAN(COALESCE(age, 0)) AS q FROM people",
              "1e6", numbers, errors, 3);
    assert_close(numbers[0], 3 * 4950.0, 1e-6);
    assert_close(numbers[0] / 301, numbers[1], 1e-9); /* one draw */
    assert_close(numbers[2], 49, 0.05);
    /* noise far beyond all sums: what is shown stays within 301 values of 150 to 200 */
    for (int i = 0; i < 20; i++) {
        char epsilon[32];
        snprintf(epsilon, sizeof epsilon, "0.0000%d", 100 + i);
        answer_of(&all, sum, epsilon, numbers, errors, 1);
        assert_holds(numbers[0] >= 301 * 150.0 && numbers[0] <= 301 * 200.0);
    }
    /* of 301 sums fewer than 262 are within a bar of 95 % with a chance of 2.4e-8; of one that is
     * half as wide 262 or more are with one of 2.2e-5 */
    int within = 0;
    for (int i = 0; i < 301; i++) {
        char epsilon[32];
        snprintf(epsilon, sizeof epsilon, "1.00%03d", i);
        answer_of(&all, "SELECT SUM(COALESCE(age, 0)) AS s FROM people", epsilon, numbers, errors,
                  1);
        within += fabs(numbers[0] - 3 * 4950.0) <= errors[0];
    }
    printf("# %d of 301 within the bar\n", within);
    assert_holds(within >= 262);
    registered_close(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_whole_table_of_rows_has_a_public_number),
        cmocka_unit_test(a_public_number_costs_nothing_and_the_sum_its_price),
        cmocka_unit_test(a_sum_is_that_of_the_mean_and_a_public_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
