/* The plan of a query that reads several datasets, or keys alone, is priced for what one unit may
 * change in it. Each test names the one-line fault that it rejects. */
#include "planned.h"

#include <stdlib.h>

#include <brume/mechanism/stable_histogram.h>

/* ---- joins ---- */

#define COUNT_BY_SEX(join)                                                                         \
    "SELECT sex, COUNT(*), SUM(age) FROM visits v " join                                           \
    " JOIN patients p ON v.patient = p.patient GROUP BY sex"

/* Of the sum that is in all these queries, for a sensitivity of 1; what else they measure differs.
 */
static double scale_of_the_sum(const brume_terms *priced)
{
    for (size_t i = 0; i < priced->plan->measure_count; i++)
        if (priced->measures[i].kind == BRUME_MEASURE_CENTRED ||
            priced->measures[i].kind == BRUME_MEASURE_DIRECT)
            return priced->measures[i].scale / priced->measures[i].sensitivity;
    fail_msg("no sum is measured");
    return NAN;
}

/* Rejects: a nullable side that does not set shape.replace (an outer join priced as add-remove).
 * With as many cells as two units can touch, a replacement costs more than a unit more or less. */
static void the_nullable_side_of_an_outer_join_is_priced_as_a_replacement(void **state)
{
    (void)state;
    static const char *const outer[] = {
        COUNT_BY_SEX("LEFT"), COUNT_BY_SEX("RIGHT"), COUNT_BY_SEX("FULL"),
        "SELECT COUNT(*), SUM(age - 60) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM visits w WHERE "
        "w.patient = v.patient AND w.age > v.age AND NOT EXISTS (SELECT 1 FROM patients p WHERE "
        "p.patient = w.patient AND p.sex = w.clinic))"};
    static const char *const inner[] = {
        COUNT_BY_SEX(""), COUNT_BY_SEX(""), COUNT_BY_SEX(""),
        "SELECT COUNT(*), SUM(age - 60) FROM visits v WHERE EXISTS (SELECT 1 FROM patients p WHERE "
        "v.patient = p.patient)"};
    const terms add_remove = {BRUME_ADD_REMOVE, {1, 1}, {3, 3}, 0, false};
    const terms replace = {BRUME_REPLACE, {1, 1}, {3, 3}, 0, false};
    planned joined, plain, replaced;
    for (size_t i = 0; i < 4; i++) {
        make(&joined, outer[i], &add_remove, "1", NULL);
        make(&plain, inner[i], &add_remove, "1", NULL);
        make(&replaced, inner[i], &replace, "1", NULL);
        assert_true(joined.plan->shape.replace && !plain.plan->shape.replace);
        double dearer = scale_of_the_sum(joined.priced), cheap = scale_of_the_sum(plain.priced);
        if (i < 3) /* a cell left and another entered, or all rows changed: twice at most */
            assert_close(dearer, scale_of_the_sum(replaced.priced), 1e-12);
        assert_holds(dearer >= cheap * (i < 3 ? 2 : 1.3));
        clear(&joined);
        clear(&plain);
        clear(&replaced);
    }
}

/* Rejects: limits read from the first dataset of a join alone, or from the last. */
static void every_dataset_of_a_join_limits_what_a_unit_has_in_it(void **state)
{
    (void)state;
    static const char *const queries[] = {
        "SELECT clinic, COUNT(*) FROM visits v JOIN patients p ON v.patient = p.patient GROUP BY "
        "clinic",
        "SELECT clinic, COUNT(*) FROM patients p JOIN visits v ON v.patient = p.patient GROUP BY "
        "clinic",
        "SELECT clinic, COUNT(*) FROM visits v WHERE patient IN (SELECT patient FROM patients) "
        "GROUP BY clinic"};
    static const terms limits[] = {
        {BRUME_ADD_REMOVE, {5, 2}, {7, 3}, 0, false}, /* patients are the stricter */
        {BRUME_ADD_REMOVE, {2, 5}, {3, 7}, 0, false}, /* visits are */
        {BRUME_ADD_REMOVE, {2, 5}, {7, 3}, 0, false}, /* each in one */
        {BRUME_ADD_REMOVE, {5, 2}, {3, 7}, 0, false},
    };
    planned all;
    for (size_t q = 0; q < 3; q++)
        for (size_t i = 0; i < 4; i++) {
            make(&all, queries[q], &limits[i], "1", "1e-6");
            assert_int_equal(all.plan->shape.max_groups, 2);
            assert_int_equal(all.plan->shape.max_rows, 3);
            clear(&all);
        }
}

/* ---- keys alone ---- */

/* Largest P(S) - e^epsilon Q(S) where one key goes from n+1 units to n and, if `two`, another from
 * m to m+1: each is shown or not, independently. */
static double worst_of_keys(const brume_key_selection *selection, bool two, double epsilon)
{
    enum { MOST = 60 };
    double worst = 0;
    for (uint64_t n = 0; n < MOST; n++)
        for (uint64_t m = 0; m < (two ? MOST : 1); m++)
            for (int direction = 0; direction < 2; direction++) {
                double p[2] = {brume_key_selection_probability(selection, n + 1),
                               two ? brume_key_selection_probability(selection, m) : 0};
                double q[2] = {brume_key_selection_probability(selection, n),
                               two ? brume_key_selection_probability(selection, m + 1) : 0};
                double sum = 0;
                for (int shown = 0; shown < 4; shown++) {
                    double a = 1, b = 1;
                    for (int key = 0; key < 2; key++) {
                        a *= shown >> key & 1 ? p[key] : 1 - p[key];
                        b *= shown >> key & 1 ? q[key] : 1 - q[key];
                    }
                    sum += fmax(0, direction ? a - exp(epsilon) * b : b - exp(epsilon) * a);
                }
                worst = fmax(worst, sum);
            }
    return worst;
}

/* Rejects: the selection of keys opened as add-remove for data whose units are replaced. Then a
 * unit that leaves one key and enters another would cost twice what is charged. */
static void keys_alone_cost_what_is_charged_under_either_adjacency(void **state)
{
    (void)state;
    static const char *const prices[][2] = {{"1", "1e-3"}, {"3", "1e-4"}, {"2", "1e-5"}};
    for (size_t i = 0; i < 3; i++)
        for (int replace = 0; replace <= 1; replace++) {
            const terms of = {replace ? BRUME_REPLACE : BRUME_ADD_REMOVE, {1, 1}, {4, 4}, 0, false};
            planned all;
            make(&all, "SELECT DISTINCT clinic FROM visits", &of, prices[i][0], prices[i][1]);
            assert_non_null(all.plan->selection);
            double epsilon = strtod(prices[i][0], NULL), delta = strtod(prices[i][1], NULL);
            double worst = worst_of_keys(all.plan->selection, replace, epsilon);
            assert_holds(worst <= delta * (1 + 1e-9));
            assert_holds(worst >= delta * (replace ? 0.5 : 0.99)); /* not loose */
            assert_holds(brume_decimal_lower(&all.plan->charge.delta) >= delta * (1 - 1e-12));
            /* the fault, and that this search finds it */
            if (replace) {
                brume_key_selection *fault = NULL;
                assert_ok(
                    brume_key_selection_open(epsilon, delta, 1, BRUME_ADD_REMOVE, &fault, &error));
                assert_holds(worst_of_keys(fault, true, epsilon) > delta * 1.5);
                brume_key_selection_close(fault);
            }
            clear(&all);
        }
}

/* Rejects: the same fault where an outer join makes a unit that goes a replacement. */
static void keys_of_an_outer_join_alone_are_selected_as_under_replace(void **state)
{
    (void)state;
    const terms of = {BRUME_ADD_REMOVE, {1, 1}, {4, 4}, 0, false};
    planned all;
    make(&all,
         "SELECT DISTINCT clinic FROM visits v LEFT JOIN patients p ON v.patient = p.patient AND "
         "age = 30",
         &of, "1", "1e-3");
    assert_non_null(all.plan->selection);
    assert_holds(worst_of_keys(all.plan->selection, true, 1) <= 1e-3 * (1 + 1e-9));
    clear(&all);
}

/* ---- what is charged ---- */

/* Rejects: noise on the estimates of bias beyond what can be drawn, where the query's own can. */
static void noise_on_estimates_of_bias_has_its_limit_too(void **state)
{
    (void)state;
    const terms pure = {BRUME_ADD_REMOVE, {1, 1}, {1, 1}, BRUME_RULE_PURE, true};
    const terms concentrated = {BRUME_ADD_REMOVE, {1, 1}, {1, 1}, BRUME_RULE_CONCENTRATED, true};
    planned all;
    const char *sql = "SELECT MEDIAN(age) FROM visits";
    assert_fails(try(&all, sql, &pure, "5e-15", NULL), BRUME_EOVERFLOW);
    assert_non_null(strstr(error.message, "bias"));
    clear(&all);
    assert_fails(try(&all, sql, &concentrated, "1.9e-15", NULL), BRUME_EOVERFLOW);
    assert_non_null(strstr(error.message, "bias"));
    clear(&all);
    /* enough for the estimates, and not for the rest */
    assert_fails(try(&all, sql, &pure, "2e-14", NULL), BRUME_EOVERFLOW);
    assert_null(strstr(error.message, "bias"));
    clear(&all);
}

/* Rejects: a delta that is used and not charged, or charged beyond what was typed. */
static void no_plan_charges_less_than_it_uses_or_more_than_was_typed(void **state)
{
    (void)state;
    static const char *const queries[] = {
        "SELECT COUNT(*), SUM(age) FROM visits",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic",
        "SELECT MODE() WITHIN GROUP (ORDER BY clinic) FROM visits",
        "SELECT MODE() WITHIN GROUP (ORDER BY clinic), COUNT(*), SUM(age) FROM visits",
        "SELECT day, MODE() WITHIN GROUP (ORDER BY age), SUM(age), MEDIAN(age) FROM visits GROUP BY 1",
        "SELECT DISTINCT clinic FROM visits",
    };
    static const char *const deltas[] = {"1e-6", "0.003", "0.1"};
    brume_decimal typed_epsilon, typed_delta;
    size_t gaussian = 0;
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        for (size_t d = 0; d < 3; d++)
            for (int replace = 0; replace <= 1; replace++) {
                const terms of = {
                    replace ? BRUME_REPLACE : BRUME_ADD_REMOVE, {20, 20}, {3, 3}, 0, false};
                planned all;
                make(&all, queries[i], &of, "0.7", deltas[d]);
                assert_ok(brume_decimal_parse("0.7", &typed_epsilon, &error));
                assert_ok(brume_decimal_parse(deltas[d], &typed_delta, &error));
                const brume_charge *charge = &all.plan->charge;
                assert_int_equal(brume_decimal_compare(&charge->amount, &typed_epsilon), 0);
                assert_holds(brume_decimal_compare(&charge->delta, &typed_delta) <= 0);
                assert_holds(all.priced->price.delta <= brume_decimal_lower(&charge->delta));
                assert_holds(all.priced->price.epsilon <= 0.7);
                gaussian += all.plan->noise == BRUME_NOISE_ROUNDED_GAUSSIAN;
                clear(&all);
            }
    assert_holds(gaussian > 4); /* both noises are among them */
    static const char *const paid[] = {"0.7", "0.3", "1.1", "0.123456789"};
    const terms concentrated = {BRUME_REPLACE, {2, 2}, {3, 3}, BRUME_RULE_CONCENTRATED, false};
    for (size_t i = 0; i < sizeof paid / sizeof *paid; i++) {
        planned all;
        make(&all, queries[0], &concentrated, paid[i], NULL);
        double most = brume_decimal_lower(&all.plan->charge.amount);
        assert_holds(all.priced->price.rho <= most && all.priced->price.rho >= most * (1 - 1e-12));
        clear(&all);
    }
}

/* Rejects: a grid of other bounds than the declared ones, or beyond the bits that sums have. */
static void grids_of_wide_and_of_far_columns_follow_their_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        double step, low, high;
    } grids[] = {
        {"SELECT SUM(age) FROM visits", 1, 0, 120},
        {"SELECT SUM((age - 60) * 100000000000000) FROM visits", 0x1p26, -6e15, 6e15},
        {"SELECT SUM((age - 120) * 100000000000000) FROM visits", 0x1p26, -1.2e16, 0},
        {"SELECT SUM(cost) FROM visits", 0x1p-19, 0, 500},
        {"SELECT SUM((age - 60) * 1000000) FROM visits", 1, -6e7, 6e7},
        {"SELECT VARIANCE(age * 100000) FROM visits", 0x1p6, 0, 1.2e7},
        {"SELECT SUM(age * 1000000000000.25) FROM visits", 0x1p19, 0, 120000000000030},
        {"SELECT SUM(cost * 0.0 + 0.25) FROM visits", 0x1p-60, 0.25, 0.25},
        {"SELECT VARIANCE(cost) FROM visits", 0x1p-9, 0, 500},
        {"SELECT SUM(cost + 1000000000000000.0) FROM visits", 0x1p-9, 1e15, 1e15 + 500},
        {"SELECT SUM(cost - 1000000000000000.0) FROM visits", 0x1p-9, -1e15, 500 - 1e15},
    };
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        const terms of = {BRUME_ADD_REMOVE, {1, 1}, {1, 1}, 0, false};
        planned all;
        make(&all, grids[i].sql, &of, "100", NULL);
        assert_int_equal(all.plan->value_count, 1);
        const brume_plan_value *value = &all.plan->values[0];
        assert_holds(value->step == grids[i].step);
        assert_holds(fabs((double)value->low * value->step - grids[i].low) <= value->step);
        assert_holds(fabs((double)value->high * value->step - grids[i].high) <= value->step);
        clear(&all);
    }
}

/* Rejects: noise on the estimates of bias for another price than their share (a factor 2 of rho
 * forgotten), and a share that the query spends as well. */
static void estimates_of_bias_and_the_query_share_one_price(void **state)
{
    (void)state;
    static const brume_rule rules[] = {BRUME_RULE_PURE, BRUME_RULE_APPROXIMATE,
                                       BRUME_RULE_CONCENTRATED};
    for (size_t r = 0; r < 3; r++)
        for (int replace = 0; replace <= 1; replace++) {
            const terms of = {
                replace ? BRUME_REPLACE : BRUME_ADD_REMOVE, {1, 1}, {3, 3}, rules[r], true};
            planned all;
            make(&all, "SELECT SUM(age), COUNT(*) FROM visits", &of, "0.7", NULL);
            const brume_measurement *bias =
                &all.plan->measurements[all.plan->measurement_count - 1];
            assert_int_equal(bias->kind, BRUME_MEASUREMENT_BIAS);
            assert_holds(bias->count >= 2);
            double count = (double)bias->count, scale = bias->scale;
            bool concentrated = rules[r] == BRUME_RULE_CONCENTRATED;
            double paid = concentrated ? 0.7 * 0.7 / 2 : 0.7;
            double part = concentrated ? count / (2 * scale * scale) : count / scale;
            double rest = concentrated ? all.priced->price.rho : all.priced->price.epsilon;
            assert_int_equal(bias->noise, concentrated ? BRUME_NOISE_DISCRETE_GAUSSIAN
                                                       : BRUME_NOISE_DISCRETE_LAPLACE);
            assert_close(part, paid / 5, 1e-12);
            assert_close(rest, paid * 4 / 5, 1e-12);
            assert_close(brume_decimal_nearest(&all.plan->charge.amount), paid, 1e-12);
            assert_holds(part + rest <= paid * (1 + 1e-14));
            clear(&all);
        }
}

static bool has_part(const brume_expression *tree, const brume_expression *part)
{
    bool found = brume_expression_equal(tree, part);
    for (size_t i = 0; i < tree->argument_count; i++)
        found = found || has_part(tree->arguments[i], part);
    return found;
}

static size_t count_literals(const brume_expression *tree, const char *text)
{
    size_t found = tree->operation == BRUME_OPERATION_LITERAL &&
                   (!text || (tree->text && strcmp(tree->text, text) == 0)); /* NULL: any */
    for (size_t i = 0; i < tree->argument_count; i++)
        found += count_literals(tree->arguments[i], text);
    return found;
}

/* Values nobody declared are counted in rows that the query is about: those of WHERE, with keys
 * that are answered. Rejects: either condition forgotten, so that other rows use up what a unit may
 * have, or are counted. */
static void modes_and_counts_of_values_are_of_the_rows_that_are_answered(void **state)
{
    (void)state;
    static const char *const queries[] = {
        "SELECT sex, MODE() WITHIN GROUP (ORDER BY clinic) FROM visits v JOIN patients p ON "
        "v.patient = p.patient WHERE age > 40 GROUP BY sex",
        "SELECT sex, MODE() WITHIN GROUP (ORDER BY clinic) FROM visits v JOIN patients p ON "
        "v.patient = p.patient GROUP BY sex",
        "SELECT COUNT(DISTINCT clinic) FROM visits WHERE age > 40",
    };
    const terms of = {BRUME_ADD_REMOVE, {1, 1}, {3, 3}, 0, false};
    for (size_t i = 0; i < 3; i++) {
        planned all;
        make(&all, queries[i], &of, "1", "1e-6");
        const brume_expression *rows = NULL;
        for (size_t m = 0; m < all.plan->measurement_count; m++)
            if (all.plan->measurements[m].kind == BRUME_MEASUREMENT_MODE ||
                all.plan->measurements[m].kind == BRUME_MEASUREMENT_DISTINCT)
                rows = all.plan->measurements[m].collection.query->where;
        assert_non_null(rows);
        if (all.query->where)
            assert_holds(has_part(rows, all.query->where));
        if (i < 2) { /* sex is one of two: a list of itself and two words */
            const brume_expression *sex = all.query->keys[0].expression;
            assert_holds(has_part(rows, sex));
            assert_int_equal(count_literals(rows, "f") + count_literals(rows, "m"), 2);
        }
        clear(&all);
    }
    /* numbers that are declared are not texts */
    ages_are_declared = true;
    planned all;
    make(&all, "SELECT age, MODE() WITHIN GROUP (ORDER BY clinic) FROM visits GROUP BY age", &of,
         "1", "1e-6");
    size_t literals = 0;
    for (size_t m = 0; m < all.plan->measurement_count; m++)
        if (all.plan->measurements[m].kind == BRUME_MEASUREMENT_MODE)
            literals += count_literals(all.plan->measurements[m].collection.query->where, "40") +
                        count_literals(all.plan->measurements[m].collection.query->where, "41") +
                        count_literals(all.plan->measurements[m].collection.query->where, NULL);
    assert_int_equal(literals, 4); /* these two, and no other */
    ages_are_declared = false;
    clear(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nullable_side_of_an_outer_join_is_priced_as_a_replacement),
        cmocka_unit_test(every_dataset_of_a_join_limits_what_a_unit_has_in_it),
        cmocka_unit_test(keys_alone_cost_what_is_charged_under_either_adjacency),
        cmocka_unit_test(keys_of_an_outer_join_alone_are_selected_as_under_replace),
        cmocka_unit_test(noise_on_estimates_of_bias_has_its_limit_too),
        cmocka_unit_test(estimates_of_bias_and_the_query_share_one_price),
        cmocka_unit_test(no_plan_charges_less_than_it_uses_or_more_than_was_typed),
        cmocka_unit_test(grids_of_wide_and_of_far_columns_follow_their_bounds),
        cmocka_unit_test(modes_and_counts_of_values_are_of_the_rows_that_are_answered),
    };
    return cmocka_run_group_tests_name("plans", tests, NULL, NULL);
}
