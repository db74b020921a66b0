/* Constants: what was typed, checked and in canonical text. */
#ifndef BRUME_QUERY_LITERAL_H
#define BRUME_QUERY_LITERAL_H

#include <stdbool.h>
#include <stdint.h>

#include "query/expression/expression.h"

#define BRUME_DAY INT64_C(86400000000) /* in microseconds */

/* Write the canonical form; false if `text` is not a constant of that kind. Leading and trailing
 * blanks are ignored. Only YYYY-MM-DD, years 0001 to 9999; never 'now', 'today' or 'infinity'. */
bool brume_literal_date(const char *text, char canonical[32]);
bool brume_literal_timestamp(const char *text, char canonical[32]);
bool brume_literal_boolean(const char *text, bool *value);

/* '1 year 2 months -3 days 04:05:06': months, days, microseconds. */
bool brume_literal_interval(const char *text, int64_t *months, int64_t *days,
                            int64_t *microseconds);

/* How far a canonical date or timestamp is from the start of 1970: days, microseconds. */
int64_t brume_literal_days(const char *canonical);
int64_t brume_literal_microseconds(const char *canonical);

/* A canonical timestamp moved by an interval; false: it is outside of the years 0001 to 9999. */
bool brume_literal_move(const char *canonical, int64_t months, int64_t days, int64_t microseconds,
                        char moved[32]);

enum { BRUME_WIDE_TEXT_SIZE = 48, BRUME_WIDE_DIGITS = 38 };

/* 10^exponent, 0 <= exponent <= 38. */
brume_wide brume_wide_power(int exponent);

/* Decimal digits of |value|; 1 for 0. */
int brume_wide_digits(brume_wide value);

/* value * 10^shift, shift >= 0; false if it does not fit 38 digits. */
bool brume_wide_shift(brume_wide value, int shift, brume_wide *out);

/* From units of 10^-from to units of 10^-to. Narrowing rounds half away from zero, down (to minus
 * infinity), up, or towards zero. False if it does not fit. */
typedef enum brume_wide_rounding {
    BRUME_WIDE_HALF_AWAY,
    BRUME_WIDE_DOWN,
    BRUME_WIDE_UP,
    BRUME_WIDE_TO_ZERO,
} brume_wide_rounding;
bool brume_wide_rescale(brume_wide value, int from, int to, brume_wide_rounding rounding,
                        brume_wide *out);

/* [+-]digits[.digits][e[+-]digits], all of it, as value * 10^-scale with 0 <= scale <= 38 and at
 * most 38 digits; false otherwise. */
bool brume_wide_parse(const char *text, brume_wide *value, int *scale);

/* Plain decimal text with exactly `scale` decimals. */
const char *brume_wide_format(brume_wide value, int scale, char buffer[BRUME_WIDE_TEXT_SIZE]);

/* Nearest double of value * 10^-scale. */
double brume_wide_double(brume_wide value, int scale);

#endif
