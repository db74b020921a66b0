/* What a window pays. By enumeration of small units: the change of a unit's limited vector, when
 * its rows of one window go or become others, is never above what is charged, and where a query has
 * groups or signs it is above the price for whole histories. Plans of real questions have these
 * factors. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include <brume/account/filter.h>

#include "clinic.h"
#include "number/decimal.h"
#include "query/plan/make_plan.h"
#include "query/plan/plan_terms.h"
#include "query/plan/window_price.h"
#include "query/sql/parse.h"

static brume_error error;

/* ---- the trap, by enumeration ---- */

enum { CELLS_MOST = 4 };

/* A unit's vector is scaled to norm 1 at most. */
static void limit(const double *v, int count, int p, double *out)
{
    double norm = 0;
    for (int i = 0; i < count; i++)
        norm += p == 1 ? fabs(v[i]) : v[i] * v[i];
    norm = p == 1 ? norm : sqrt(norm);
    for (int i = 0; i < count; i++)
        out[i] = norm > 1 ? v[i] / norm : v[i];
}

typedef struct setting {
    int windows, wards; /* rows of a unit: windows x wards */
    bool by_day;        /* the groups are the windows too */
    const double *values;
    int value_count;
} setting;

static int to_cells(const setting *s, const double *rows, double *cells)
{
    int count = s->by_day ? s->windows * s->wards : s->wards;
    memset(cells, 0, CELLS_MOST * sizeof *cells);
    for (int w = 0; w < s->windows; w++)
        for (int k = 0; k < s->wards; k++)
            cells[s->by_day ? w * s->wards + k : k] += rows[w * s->wards + k];
    return count;
}

static void choose(const setting *s, uint64_t index, int count, double *rows)
{
    for (int i = 0; i < count; i++, index /= (uint64_t)s->value_count)
        rows[i] = s->values[index % (uint64_t)s->value_count];
}

/* The largest change to the power p: the unit's rows of window 0 go (`replaced`: become any
 * others), or (`whole`) all its rows go. */
static double worst(const setting *s, int p, bool whole, bool replaced)
{
    int size = s->windows * s->wards;
    uint64_t all = 1, others = 1;
    double largest = 0;
    for (int i = 0; i < size; i++)
        all *= (uint64_t)s->value_count;
    for (int i = 0; i < s->wards && replaced; i++)
        others *= (uint64_t)s->value_count;
    for (uint64_t i = 0; i < all; i++)
        for (uint64_t j = 0; j < others; j++) {
            double rows[CELLS_MOST], other[CELLS_MOST], a[CELLS_MOST], b[CELLS_MOST], change = 0;
            choose(s, i, size, rows);
            memcpy(other, rows, sizeof other);
            memset(other, 0, (size_t)(whole ? size : s->wards) * sizeof *other);
            if (replaced)
                choose(s, j, s->wards, other);
            int count = to_cells(s, rows, a);
            limit(a, count, p, a);
            to_cells(s, other, b);
            limit(b, count, p, b);
            for (int k = 0; k < count; k++)
                change += p == 1 ? fabs(a[k] - b[k]) : (a[k] - b[k]) * (a[k] - b[k]);
            largest = fmax(largest, change);
        }
    return largest;
}

static const double counts[] = {0, 1, 50}, signs[] = {-50, -1, 0, 1, 50};

static void rows_of_one_window_change_a_unit_by_as_much_as_replacement(void **state)
{
    (void)state;
    /* one window: it comes or goes, as a whole unit does */
    setting one = {1, 2, false, counts, 3};
    setting total = {2, 1, false, counts, 3}, wards = {2, 2, false, counts, 3},
            days = {2, 1, true, counts, 3}, signed_total = {2, 1, false, signs, 5},
            signed_days = {2, 1, true, signs, 5};
    for (int p = 1; p <= 2; p++) {
        assert_close(worst(&one, p, false, false), 1, 1e-12);
        assert_close(worst(&one, p, true, false), 1, 1e-12);
        assert_true(worst(&total, p, false, false) <= 1 + 1e-12);
        assert_true(worst(&total, p, false, true) <= 1 + 1e-12);
        /* the trap: whole units are within 1, one window is not */
        const setting *grouped[] = {&wards, &days, &signed_days, &signed_total};
        for (size_t i = 0; i < 4; i++) {
            double charged = i < 2 ? 2 : p == 1 ? 2 : 4;
            assert_true(worst(grouped[i], p, true, false) <= 1 + 1e-12);
            assert_true(worst(grouped[i], p, false, false) > 1.9);
            assert_true(worst(grouped[i], p, false, false) <= charged + 1e-12);
            assert_true(worst(grouped[i], p, false, true) <= charged + 1e-12);
        }
    }
}

/* ---- plans ---- */

static brume_policy policies[4];
static brume_policy_column columns[4][7];
static brume_dataset dataset;
static brume_plan_table tables[4];

static void set_rule(brume_rule rule, brume_adjacency adjacency)
{
    brume_decimal amount, delta;
    dataset = (brume_dataset){.name = (char *)"clinic", .adjacency = adjacency};
    assert_ok(brume_decimal_parse("100", &amount, &error));
    assert_ok(brume_decimal_parse("1e-5", &delta, &error));
    assert_ok(brume_filter_make(rule, &amount, rule == BRUME_RULE_PURE ? NULL : &delta, NULL,
                                &dataset.filter, &error));
    for (size_t i = 0; i < 4; i++) {
        const brume_catalog_table *table = &clinic_tables[i];
        for (size_t j = 0; j < table->column_count; j++)
            columns[i][j] = (brume_policy_column){.name = (char *)(uintptr_t)table->columns[j].name,
                                                  .type = table->columns[j].type};
        policies[i] = (brume_policy){.columns = columns[i], .column_count = table->column_count};
        tables[i] = (brume_plan_table){&dataset, &policies[i]};
    }
    policies[2].is_public = true;
    policies[1].window.place = BRUME_WINDOW_TIMELESS;
    for (size_t i = 0; i < 4; i += 3) {
        policies[i].window.place = BRUME_WINDOW_BY_COLUMN;
        policies[i].window.column = (char *)"day";
        assert_ok(brume_window_grid_parse("day", NULL, &policies[i].window.grid, &error));
    }
}

#define ONE  "day = '2026-01-03'"
#define MANY "day >= '2026-01-01' AND day < '2026-02-01'"

/* The price of each window as a multiple of the price, at epsilon 0.5 or rho 0.5. */
static double factor_of(const char *sql, const char *const *limits, size_t limit_count,
                        bool *as_replace, double *delta_factor)
{
    brume_query *query = NULL;
    brume_touched *touched = NULL;
    brume_plan *plan = NULL;
    brume_window_price price;
    brume_window_wish wish = {.now = INT64_C(1800000000) * 1000000};
    bool rho = dataset.filter.rule == BRUME_RULE_CONCENTRATED;
    brume_payment payment = {.epsilon = rho ? NULL : "0.5", .rho = rho ? "0.5" : NULL};
    for (size_t i = 0; i < limit_count; i++)
        payment.limits[payment.limit_count++] = limits[i];
    if (brume_query_parse(sql, &clinic_catalog, &query, &error) != BRUME_OK ||
        brume_touched_find(query, tables, &wish, &touched, &error) != BRUME_OK ||
        brume_query_plan_make(query, tables, &payment, &plan, &error) != BRUME_OK ||
        brume_window_price_of(plan, touched, &price, &error) != BRUME_OK)
        fail_msg("%s: %s", sql, error.message);
    double factor = brume_decimal_upper(&price.charge.amount) /
                    brume_decimal_upper(&plan->charge.amount);
    double delta = brume_decimal_upper(&plan->charge.delta);
    if (delta_factor)
        *delta_factor = delta > 0 ? brume_decimal_upper(&price.charge.delta) / delta : 1;
    *as_replace = price.as_replace;
    brume_query_plan_close(plan);
    brume_touched_close(touched);
    brume_query_free(query);
    return factor;
}

static void expect(const char *sql, double least, double most, bool replaced)
{
    bool as_replace;
    double factor = factor_of(sql, NULL, 0, &as_replace, NULL);
    if (factor < least - 1e-9 || factor > most + 1e-9 || as_replace != replaced)
        fail_msg("%s: a window pays %.6g of the price, not %g to %g", sql, factor, least, most);
}

static void a_driven_question_of_one_window_pays_once(void **state)
{
    (void)state;
    static const brume_rule rules[] = {BRUME_RULE_PURE, BRUME_RULE_CONCENTRATED};
    for (size_t i = 0; i < 2; i++) {
        set_rule(rules[i], BRUME_ADD_REMOVE);
        expect("SELECT COUNT(*) FROM visits WHERE " ONE, 1, 1, false);
        expect("SELECT SUM(cost), AVG(age) FROM visits WHERE " ONE, 1, 1, false);
        expect("SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient = p.patient WHERE " ONE,
               1, 1, false);
        /* a row is a unit, and in one window */
        expect("SELECT COUNT(*) FROM people WHERE " MANY, 1, 1, false);
        /* a patient without visits that day is in the answer, with NULLs: priced as replaced */
        expect(
            "SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON v.patient = p.patient AND " ONE,
            1, 1, true);
        set_rule(rules[i], BRUME_REPLACE);
        expect("SELECT COUNT(*) FROM visits WHERE " MANY, 1, 1, false);
        expect("SELECT SUM(age) FROM visits WHERE " MANY, 1, 1, false);
    }
}

static void several_windows_pay_as_under_replace(void **state)
{
    (void)state;
    set_rule(BRUME_RULE_PURE, BRUME_ADD_REMOVE);
    expect("SELECT COUNT(DISTINCT patient) FROM visits WHERE " MANY, 1, 1, true);
    expect("SELECT COUNT(*) FROM visits WHERE " MANY, 1.34, 1.36, true);
    expect("SELECT AVG(age) FROM visits WHERE " MANY, 2, 2, true);
    expect("SELECT MEDIAN(age) FROM visits WHERE " MANY, 2, 2, true);
    expect("SELECT COUNT(DISTINCT age) FROM visits WHERE " MANY, 2, 2, true);
    expect("SELECT day, COUNT(*) FROM visits WHERE " MANY " GROUP BY day", 2, 2, true);
    set_rule(BRUME_RULE_CONCENTRATED, BRUME_ADD_REMOVE);
    expect("SELECT COUNT(DISTINCT patient) FROM visits WHERE " MANY, 1, 1, true);
    expect("SELECT day, COUNT(*) FROM visits WHERE " MANY " GROUP BY day", 2, 2, true);
    expect("SELECT day, SUM(cost - 250) FROM visits WHERE " MANY " GROUP BY day", 4, 4, true);
    expect("SELECT AVG(age) FROM visits WHERE " MANY, 4, 4, true);
    expect("SELECT MEDIAN(age) FROM visits WHERE " MANY, 4, 4, true);
    expect("SELECT COUNT(DISTINCT age) FROM visits WHERE " MANY, 4, 4, true);
}

/* Groups whose keys nobody declared: epsilon doubles, and delta with it only where keys alone are
 * shown by chance. */
static void tests_of_keys_keep_their_delta(void **state)
{
    (void)state;
    bool as_replace;
    double delta;
    set_rule(BRUME_RULE_APPROXIMATE, BRUME_ADD_REMOVE);
    assert_close(factor_of("SELECT clinic, COUNT(*) FROM visits WHERE " MANY " GROUP BY clinic",
                           NULL, 0, &as_replace, &delta),
                 2, 1e-12);
    assert_close(delta, 1, 1e-9);
    assert_close(factor_of("SELECT clinic FROM visits WHERE " MANY " GROUP BY clinic", NULL, 0,
                           &as_replace, &delta),
                 2, 1e-12);
    assert_true(delta >= 1 && delta <= 2);
}

/* delta at epsilon of one Gaussian whose centres are mu standard deviations apart: Phi(mu/2 -
 * epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) [BW18, Thm 8]. */
static double gaussian_delta(double mu, double epsilon)
{
    double a = (epsilon / mu - mu / 2) / sqrt(2), b = (epsilon / mu + mu / 2) / sqrt(2);
    return erfc(a) / 2 - exp(epsilon) * erfc(b) / 2;
}

/* Rounded Gaussian noise: what a window pays is the least epsilon, at the same delta, for the noise
 * that there is and the change that a replaced unit makes. That is more than twice the price where
 * the change is twice as large. */
static void rounded_gaussian_noise_has_a_price_of_its_own(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        double factor; /* of the squared change, by the enumeration above */
    } all[] = {
        {"SELECT clinic, COUNT(*) FROM visits WHERE " MANY " GROUP BY clinic", 2},
        {"SELECT clinic, SUM(age - 60) FROM visits WHERE " MANY " GROUP BY clinic", 4},
        {"SELECT clinic, SUM(age) FROM visits WHERE " MANY " GROUP BY clinic", 2},
    };
    static const char *const epsilons[] = {"0.1", "0.5", "1", "3"}, *const deltas[] = {"1e-5",
                                                                                       "1e-9"};
    brume_window_wish wish = {.now = INT64_C(1800000000) * 1000000};
    enum { CLINICS = 1000 }; /* so many cells that Gaussian noise is better */
    static char *domain[CLINICS], values[CLINICS][8];
    set_rule(BRUME_RULE_APPROXIMATE, BRUME_ADD_REMOVE);
    for (size_t i = 0; i < CLINICS; i++) {
        snprintf(values[i], sizeof values[i], "c%03zu", i);
        domain[i] = values[i];
    }
    columns[0][3].domain = domain;
    columns[0][3].domain_count = CLINICS;
    for (size_t i = 0; i < 3 * 4 * 2; i++) {
        brume_query *query = NULL;
        brume_touched *touched = NULL;
        brume_plan *plan = NULL;
        brume_terms *terms = NULL;
        brume_window_price price;
        const char *sql = all[i / 8].sql;
        brume_payment payment = {.epsilon = epsilons[i / 2 % 4], .delta = deltas[i % 2]};
        payment.limits[payment.limit_count++] = "3";
        assert_ok(brume_query_parse(sql, &clinic_catalog, &query, &error));
        assert_ok(brume_touched_find(query, tables, &wish, &touched, &error));
        assert_ok(brume_query_plan_make(query, tables, &payment, &plan, &error));
        assert_ok(brume_terms_make(plan, NULL, 0, &terms, &error));
        assert_ok(brume_window_price_of(plan, touched, &price, &error));
        assert_int_equal(plan->noise, BRUME_NOISE_ROUNDED_GAUSSIAN);
        assert_int_equal(plan->measure_count, 1);
        assert_true(price.as_replace);
        double mu = 1 / terms->measures[0].noise, delta = brume_decimal_lower(&plan->charge.delta);
        double epsilon = brume_decimal_upper(&plan->charge.amount);
        double charged = brume_decimal_lower(&price.charge.amount);
        double change = sqrt(all[i / 8].factor) * mu;
        assert_true(brume_decimal_lower(&price.charge.delta) >= delta);
        assert_true(gaussian_delta(mu, epsilon) <= delta * (1 + 1e-9));
        if (gaussian_delta(change, charged) > delta * (1 + 1e-9))
            fail_msg("%s at epsilon %g: a window pays %.9g, and delta is %g of %g", sql, epsilon,
                     charged, gaussian_delta(change, charged), delta);
        assert_true(gaussian_delta(change, charged * 0.999) >
                    delta);         /* it is no more than needed */
        if (all[i / 8].factor == 4) /* twice the price is not enough */
            assert_true(gaussian_delta(change, 2 * epsilon) > delta);
        brume_terms_close(terms);
        brume_query_plan_close(plan);
        brume_touched_close(touched);
        brume_query_free(query);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_one_window_change_a_unit_by_as_much_as_replacement),
        cmocka_unit_test(a_driven_question_of_one_window_pays_once),
        cmocka_unit_test(several_windows_pay_as_under_replace),
        cmocka_unit_test(tests_of_keys_keep_their_delta),
        cmocka_unit_test(rounded_gaussian_noise_has_a_price_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
