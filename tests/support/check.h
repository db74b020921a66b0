/* What every test program includes: cmocka in its required order, and shared assertions. */
#ifndef BRUME_TESTS_CHECK_H
#define BRUME_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <brume/status.h>

/* The call must succeed; otherwise show its message. `error` is a brume_error in scope. */
#define assert_ok(call)                                                                            \
    do {                                                                                           \
        brume_status check_status_ = (call);                                                       \
        if (check_status_ != BRUME_OK)                                                             \
            fail_msg("%s: %s: %s", #call, brume_status_word(check_status_), error.message);        \
    } while (0)

/* The call must fail with this status. */
#define assert_fails(call, expected) assert_int_equal((int)(call), (int)(expected))

/* |actual - expected| <= tolerance * |expected|. */
#define assert_close(actual, expected, tolerance)                                                  \
    do {                                                                                           \
        double check_actual_ = (actual), check_expected_ = (expected);                             \
        if (!(fabs(check_actual_ - check_expected_) <= (tolerance)*fabs(check_expected_)))         \
            fail_msg("%s is %.17g, expected %.17g", #actual, check_actual_, check_expected_);      \
    } while (0)

#define assert_holds(condition)                                                                    \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("does not hold: %s", #condition);                                             \
    } while (0)

#endif
