/* The odometer reads what compose says, and counts kinds, not releases. */
#include "check.h"

#include <brume/account/odometer.h>

static brume_error error;

static brume_cost gaussian(double mu)
{
    return (brume_cost){.loss = BRUME_EXACT, .law = {BRUME_LOSS_GAUSSIAN, mu, 0, 0}};
}

static void nothing_released_costs_nothing(void **state)
{
    (void)state;
    brume_odometer *odometer;
    brume_reading reading;
    assert_ok(brume_odometer_open(&odometer, &error));
    assert_ok(brume_odometer_read(odometer, 0, &reading, &error));
    assert_true(reading.epsilon.upper == 0 && reading.releases == 0);
    assert_string_equal(reading.label, BRUME_ODOMETER_LABEL);
    brume_odometer_close(odometer);
    brume_odometer_close(NULL);
}

static void releases_one_by_one_read_as_their_composition(void **state)
{
    (void)state;
    brume_odometer *odometer;
    brume_reading reading;
    brume_cost pure = {.pure = BRUME_EXACT, .epsilon = 0.01}, noise = gaussian(0.02);
    assert_ok(brume_odometer_open(&odometer, &error));
    double before = 0;
    for (int i = 0; i < 100000; i++) {
        assert_ok(brume_odometer_add(odometer, i % 2 ? &pure : &noise, 1, &error));
        if (i % 20000 == 0) { /* it only grows */
            assert_ok(brume_odometer_read(odometer, 1e-6, &reading, &error));
            assert_true(reading.epsilon.upper >= before);
            before = reading.epsilon.upper;
        }
    }
    assert_ok(brume_odometer_read(odometer, 1e-6, &reading, &error));
    const brume_term terms[] = {{pure, 50000}, {noise, 50000}};
    brume_bound bound;
    assert_ok(brume_account_epsilon(BRUME_METHOD_AUTO, terms, 2, 1e-6, &bound, &error));
    assert_close(reading.epsilon.upper, bound.upper, 1e-12);
    assert_true(reading.releases == 100000);
    brume_odometer_close(odometer);
}

static void bad_additions_are_refused_and_change_nothing(void **state)
{
    (void)state;
    brume_odometer *odometer;
    brume_reading reading;
    brume_cost noise = gaussian(1e-9), nothing = {0};
    assert_ok(brume_odometer_open(&odometer, &error));
    assert_fails(brume_odometer_add(odometer, &noise, 0, &error), BRUME_EARGUMENT);
    assert_fails(brume_odometer_add(odometer, &nothing, 1, &error), BRUME_EARGUMENT);
    assert_ok(brume_odometer_add(odometer, &noise, INT64_MAX, &error));
    assert_fails(brume_odometer_add(odometer, &noise, 1, &error), BRUME_EOVERFLOW);
    assert_fails(brume_odometer_read(odometer, 1, &reading, &error), BRUME_EARGUMENT);
    assert_ok(brume_odometer_read(odometer, 1e-6, &reading, &error));
    assert_true(reading.releases == INT64_MAX);
    brume_odometer_close(odometer);
}

/* As many kinds as make it grow several times, and each is still there. */
static void every_kind_is_kept(void **state)
{
    (void)state;
    enum { KINDS = 50 };
    brume_odometer *odometer;
    brume_reading reading;
    brume_term terms[KINDS];
    brume_bound bound;
    assert_ok(brume_odometer_open(&odometer, &error));
    for (int i = 0; i < KINDS; i++) {
        terms[i] = (brume_term){gaussian(.01 * (i + 1)), (uint64_t)i + 1};
        assert_ok(brume_odometer_add(odometer, &terms[i].cost, terms[i].count, &error));
    }
    assert_ok(brume_odometer_read(odometer, 1e-6, &reading, &error));
    assert_ok(brume_account_epsilon(BRUME_METHOD_AUTO, terms, KINDS, 1e-6, &bound, &error));
    assert_true(reading.epsilon.upper == bound.upper);
    assert_int_equal(reading.releases, KINDS * (KINDS + 1) / 2);
    brume_odometer_close(odometer);
}

static void counts_end_at_the_largest_number(void **state)
{
    (void)state;
    brume_odometer *odometer;
    brume_reading reading;
    brume_cost wrong = gaussian(1e-9);
    wrong.law.a = NAN;
    assert_ok(brume_odometer_open(&odometer, &error));
    assert_fails(brume_odometer_read(odometer, 1, &reading, &error), BRUME_EARGUMENT);
    assert_fails(brume_odometer_add(odometer, &wrong, 1, &error), BRUME_EARGUMENT);
    for (int i = 1; i <= 3; i++) {
        brume_cost noise = gaussian(1e-12 * i);
        assert_ok(brume_odometer_add(odometer, &noise, INT64_MAX - 1, &error));
        assert_ok(brume_odometer_add(odometer, &noise, 1, &error)); /* the last that fits */
    }
    assert_ok(brume_odometer_read(odometer, 1e-6, &reading, &error));
    assert_true(reading.releases == UINT64_MAX);
    brume_odometer_close(odometer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_released_costs_nothing),
        cmocka_unit_test(releases_one_by_one_read_as_their_composition),
        cmocka_unit_test(bad_additions_are_refused_and_change_nothing),
        cmocka_unit_test(every_kind_is_kept),
        cmocka_unit_test(counts_end_at_the_largest_number),
    };
    return cmocka_run_group_tests_name("odometer", tests, NULL, NULL);
}
