/* What the value of an answer does not show: which numbers are reachable, and how long it takes.
 * Attacks on noise that is made of doubles and on clocks, each with a control that is broken on
 * purpose and must be found, and the library's own noise, which must not be.
 *
 * Reachability: the draws are those of a seeded tape, the same in every run. Times are real: a
 * sound one is accused with the probability of its share of false_alarms.def. */
#include "check.h"

#include <math.h>

#include <brume/noise/noise.h>

#include "audit/epsilon.h"
#include "audit/floating_point.h"
#include "audit/timing.h"
#include "base/error.h"
#include "chance.h"
#include "random/tape.h"

static brume_error error;

static void precision_is_the_lowest_bit(void **state)
{
    (void)state;
    assert_int_equal(brume_precision_of(1), 0);
    assert_int_equal(brume_precision_of(-12), 2);
    assert_int_equal(brume_precision_of(0.375), -3);
    assert_int_equal(brume_precision_of(1 + 0x1p-52), -52);
    assert_int_equal(brume_precision_of(0x1p-1074), -1074);
    assert_int_equal(brume_precision_of(0x1.8p1023), 1022);
    assert_int_equal(brume_precision_of(0), BRUME_PRECISION_OF_ZERO);
}

static void textbook_noise_reaches_what_it_gave(void **state)
{
    (void)state;
    size_t missed = 0;
    for (uint64_t i = 1; i < 2000; i++) {
        double u = ldexp((double)(i * UINT64_C(4503599627370) % (UINT64_C(1) << 53) + 1), -53);
        for (double truth = 0; truth < 3; truth++) {
            assert_true(brume_textbook_reaches(truth + 2 * log(u), truth, 2));
            assert_true(brume_textbook_reaches(truth - 2 * log(u), truth, 2));
            missed += !brume_textbook_reaches(truth + 2 * log(u), truth + 1, 2);
        }
    }
    assert_true(missed > 500); /* and not everything */
}

/* ---- reachable numbers ---- */

enum { GRID = 1 << 20 };

typedef enum noise { TEXTBOOK, TEXTBOOK_ROUNDED, LIBRARY } noise;
typedef enum look { PRECISION, REACHED } look;

typedef struct released {
    noise noise;
    look look;
    brume_noise *law; /* of the library, on a grid */
} released;

/* 0 or 1, with Laplace noise of scale 1, as a double. */
static double release(const released *of, bool second, brume_bits *bits)
{
    double truth = second ? 1 : 0;
    int64_t steps;
    if (of->noise == LIBRARY) {
        assert_ok(brume_noise_draw(of->law, bits, &steps, &error));
        return (truth * GRID + (double)steps) / GRID;
    }
    uint64_t word;
    assert_ok(brume_bits_words(bits, &word, 1, &error));
    double u = (double)((word >> 11) + 1) * 0x1p-53;
    double noisy = word & 1 ? truth + log(u) : truth - log(u);
    return of->noise == TEXTBOOK ? noisy : rint(noisy * GRID) / GRID;
}

static brume_status draw_bits(const void *context, bool second, brume_bits *bits, int64_t *out,
                              size_t n, brume_error *unused)
{
    (void)unused;
    const released *of = context;
    for (size_t i = 0; i < n; i++) {
        double x = release(of, second, bits);
        out[i] = of->look == PRECISION
                     ? brume_precision_of(x)
                     : brume_textbook_reaches(x, 0, 1) + 2 * brume_textbook_reaches(x, 1, 1);
    }
    return BRUME_OK;
}

static double found(noise made, look at)
{
    brume_bits *bits = NULL;
    brume_audit_result result;
    released of = {made, at, NULL};
    brume_audit_options options = {.samples = 20000, .confidence = .999, .epsilon = 1};
    bits = brume_tape_open_seeded(31);
    assert_non_null(bits);
    assert_ok(brume_noise_open_discrete_laplace(GRID, &of.law, &error));
    assert_ok(brume_audit_epsilon(draw_bits, &of, &options, bits, &result, &error));
    brume_noise_close(of.law);
    brume_bits_close(bits);
    return result.epsilon_lower;
}

static void noise_of_doubles_is_found(void **state)
{
    (void)state;
    assert_true(found(TEXTBOOK, PRECISION) > 4);
    assert_true(found(TEXTBOOK, REACHED) > 4);
}

static void noise_on_a_grid_reaches_the_same_numbers(void **state)
{
    (void)state;
    /* the same noise rounded to a grid has nothing to be found in its bits, nor has ours */
    assert_true(found(TEXTBOOK_ROUNDED, PRECISION) < .2);
    assert_true(found(LIBRARY, PRECISION) < .2);
    assert_true(found(LIBRARY, REACHED) <= 1); /* which depends on the value a little */
}

/* ---- time ---- */

typedef enum clock_fault { STEADY, BY_VALUE, BY_NEIGHBOUR } clock_fault;

/* Work of about so many nanoseconds. */
static void work(int64_t count)
{
    volatile double x = 1;
    for (int64_t i = 0; i < count; i++)
        x = x * 1.0000001 + 1e-9;
}

static brume_status draw_slowly(const void *context, bool second, brume_bits *bits, int64_t *out,
                                size_t n, brume_error *unused)
{
    const clock_fault *fault = context;
    for (size_t i = 0; i < n; i++) {
        uint64_t word;
        BRUME_TRY(brume_bits_words(bits, &word, 1, unused));
        int64_t byte = (int64_t)(word >> 56);
        out[i] = second + byte;
        work(2000 + (*fault == BY_VALUE ? 10 * byte : 0) +
             (*fault == BY_NEIGHBOUR && second ? 500 : 0));
    }
    return BRUME_OK;
}

static brume_timing measured(clock_fault fault, double confidence)
{
    brume_bits *bits = NULL;
    brume_timing timing;
    brume_audit_options options = {.samples = 2000, .confidence = confidence};
    assert_ok(brume_bits_open(&bits, &error));
    assert_ok(brume_timing_measure(draw_slowly, &fault, &options, bits, &timing, &error));
    brume_bits_close(bits);
    return timing;
}

static void times_that_tell_are_found(void **state)
{
    (void)state;
    assert_true(measured(BY_NEIGHBOUR, .999).neighbour.lower > 0);
    assert_true(measured(BY_VALUE, .999).value.lower > 0);
}

static void times_that_tell_nothing_are_not(void **state)
{
    (void)state;
    double confidence = 1 - false_alarm_share(false_alarm_times);
    brume_timing timing = measured(STEADY, confidence);
    assert_false(brume_timing_tells(&timing));
    assert_true(timing.neighbour.pairs == 2000 && timing.value.pairs == 2000);
    assert_true(timing.neighbour.upper - timing.neighbour.lower < .5); /* and it would have been */
}

static void bounds_of_tau_are_exact(void **state)
{
    (void)state;
    /* a draw that takes no time to speak of and has one value: neither sign for the value */
    brume_timing timing = measured(STEADY, .5);
    assert_true(timing.neighbour.lower <= timing.neighbour.upper);
    assert_true(timing.neighbour.lower >= -1 && timing.neighbour.upper <= 1);
    assert_true(timing.median[0] > 0 && timing.median[1] > 0);
    brume_audit_options few = {.samples = 99, .confidence = .999};
    clock_fault fault = STEADY;
    assert_int_equal(brume_timing_measure(draw_slowly, &fault, &few, NULL, &timing, &error),
                     BRUME_EARGUMENT);
}

/* ---- stopping ---- */

typedef struct patience {
    int left;
} patience;

static const char *has_enough(void *context)
{
    return --((patience *)context)->left < 0 ? "enough" : NULL;
}

static void audits_stop_when_asked(void **state)
{
    (void)state;
    brume_bits *bits = NULL;
    brume_audit_result result;
    brume_timing timing;
    clock_fault fault = STEADY;
    assert_ok(brume_bits_open(&bits, &error));
    for (int left = 0; left < 3; left++) {
        patience p = {40 * left};
        brume_audit_options options = {.samples = 100000,
                                       .confidence = .9,
                                       .epsilon = 1,
                                       .stopped = has_enough,
                                       .stopped_context = &p};
        assert_int_equal(brume_audit_epsilon(draw_slowly, &fault, &options, bits, &result, &error),
                         BRUME_ECANCELLED);
        p.left = 40 * left;
        assert_int_equal(brume_timing_measure(draw_slowly, &fault, &options, bits, &timing, &error),
                         BRUME_ECANCELLED);
    }
    brume_bits_close(bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precision_is_the_lowest_bit),
        cmocka_unit_test(textbook_noise_reaches_what_it_gave),
        cmocka_unit_test(noise_of_doubles_is_found),
        cmocka_unit_test(noise_on_a_grid_reaches_the_same_numbers),
        cmocka_unit_test(times_that_tell_are_found),
        cmocka_unit_test(times_that_tell_nothing_are_not),
        cmocka_unit_test(bounds_of_tau_are_exact),
        cmocka_unit_test(audits_stop_when_asked),
    };
    return cmocka_run_group_tests_name("what values do not show", tests, NULL, NULL);
}
