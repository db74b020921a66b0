/* A contradiction of certified statements is seen, and answered safely. */
#include "check.h"

#include <math.h>

#include "accountant/solve/solve.h"

static void ends_that_do_not_cross_are_left_alone(void **state)
{
    (void)state;
    const brume_interval values[] = {{0, 0}, {0.25, 0.25}, {0.25, 0.5}, {INFINITY, INFINITY}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        brume_answer answer = {.value = values[i], .route = "as it was", .excess = 0.125};
        brume_answer_settle(&answer);
        assert_true(answer.value.lower == values[i].lower && answer.value.upper == values[i].upper);
        assert_false(answer.contradictory);
        assert_string_equal(answer.route, "as it was");
        assert_true(answer.excess == 0.125);
    }
}

static void ends_that_cross_become_the_hull_and_are_seen(void **state)
{
    (void)state;
    brume_answer answer = {.value = {0.5, 0.25}, .route = "as it was"};
    brume_answer_settle(&answer);
    assert_true(answer.value.lower == 0.25 && answer.value.upper == 0.5);
    assert_true(answer.contradictory);
    assert_string_not_equal(answer.route, "as it was");
    brume_answer_settle(&answer); /* what was seen stays seen */
    assert_true(answer.contradictory);
    /* by one place, too */
    answer = (brume_answer){.value = {nextafter(0.5, 1), 0.5}};
    brume_answer_settle(&answer);
    assert_true(answer.contradictory && answer.value.upper > 0.5);
    /* what is not a number is not a certificate */
    answer = (brume_answer){.value = {NAN, 0.5}};
    brume_answer_settle(&answer);
    assert_true(answer.contradictory);
}

static void an_end_taken_over_can_contradict_the_other(void **state)
{
    (void)state;
    brume_answer answer = {.value = {0.1, 0.4}}, other = {.value = {0.2, 0.3}, .route = "below"};
    brume_answer_take_upper(&answer, &other);
    assert_true(answer.value.lower == 0.1 && answer.value.upper == 0.3);
    assert_false(answer.contradictory);
    brume_answer_take_lower(&answer, &other);
    assert_true(answer.value.lower == 0.2 && !answer.contradictory);
    other.value = (brume_interval){0.05, 0.15};
    brume_answer_take_upper(&answer, &other); /* below a lower end */
    assert_true(answer.contradictory);
    assert_true(answer.value.lower == 0.15 && answer.value.upper == 0.2);
    answer = (brume_answer){.value = {0.1, 0.4}};
    other.value = (brume_interval){0.5, 0.6};
    brume_answer_take_lower(&answer, &other);
    assert_true(answer.contradictory);
    assert_true(answer.value.lower == 0.4 && answer.value.upper == 0.5);
    answer = (brume_answer){.value = {0.1, 0.4}};
    other = (brume_answer){.value = {0.2, 0.3}, .contradictory = true};
    brume_answer_take_lower(&answer, &other); /* a part's contradiction is the whole's */
    assert_true(answer.contradictory);
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
