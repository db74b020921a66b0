/* A contradiction of certified statements is seen, and answered safely. */
#include "check.h"

#include <math.h>

#include "accountant/solve/solve.h"

static void ends_that_do_not_cross_are_left_alone(void **state)
{
    (void)state;
    const brume_interval values[] = {{0, 0}, {0.25, 0.25}, {0.25, 0.5}, {INFINITY, INFINITY}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        brume_certified certified = {.value = values[i], .route = "as it was", .excess = 0.125};
        brume_certified_settle(&certified);
        assert_true(certified.value.lower == values[i].lower &&
                    certified.value.upper == values[i].upper);
        assert_false(certified.contradictory);
        assert_string_equal(certified.route, "as it was");
        assert_true(certified.excess == 0.125);
    }
}

static void ends_that_cross_become_the_hull_and_are_seen(void **state)
{
    (void)state;
    brume_certified certified = {.value = {0.5, 0.25}, .route = "as it was"};
    brume_certified_settle(&certified);
    assert_true(certified.value.lower == 0.25 && certified.value.upper == 0.5);
    assert_true(certified.contradictory);
    assert_string_not_equal(certified.route, "as it was");
    brume_certified_settle(&certified); /* what was seen stays seen */
    assert_true(certified.contradictory);
    /* by one place, too */
    certified = (brume_certified){.value = {nextafter(0.5, 1), 0.5}};
    brume_certified_settle(&certified);
    assert_true(certified.contradictory && certified.value.upper > 0.5);
    /* what is not a number is not a certificate */
    certified = (brume_certified){.value = {NAN, 0.5}};
    brume_certified_settle(&certified);
    assert_true(certified.contradictory);
}

static void an_end_taken_over_can_contradict_the_other(void **state)
{
    (void)state;
    brume_certified certified = {.value = {0.1, 0.4}},
                    other = {.value = {0.2, 0.3}, .route = "below"};
    brume_certified_take_upper(&certified, &other);
    assert_true(certified.value.lower == 0.1 && certified.value.upper == 0.3);
    assert_false(certified.contradictory);
    brume_certified_take_lower(&certified, &other);
    assert_true(certified.value.lower == 0.2 && !certified.contradictory);
    other.value = (brume_interval){0.05, 0.15};
    brume_certified_take_upper(&certified, &other); /* below a lower end */
    assert_true(certified.contradictory);
    assert_true(certified.value.lower == 0.15 && certified.value.upper == 0.2);
    certified = (brume_certified){.value = {0.1, 0.4}};
    other.value = (brume_interval){0.5, 0.6};
    brume_certified_take_lower(&certified, &other);
    assert_true(certified.contradictory);
    assert_true(certified.value.lower == 0.4 && certified.value.upper == 0.5);
    certified = (brume_certified){.value = {0.1, 0.4}};
    other = (brume_certified){.value = {0.2, 0.3}, .contradictory = true};
    brume_certified_take_lower(&certified, &other); /* a part's contradiction is the whole's */
    assert_true(certified.contradictory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_that_do_not_cross_are_left_alone),
        cmocka_unit_test(ends_that_cross_become_the_hull_and_are_seen),
        cmocka_unit_test(an_end_taken_over_can_contradict_the_other),
    };
    return cmocka_run_group_tests_name("accountant answer", tests, NULL, NULL);
}
