/* Exact decimal numbers of up to 38 digits as 128-bit integers in units of 10^-scale. */
#ifndef BRUME_QUERY_WIDE_H
#define BRUME_QUERY_WIDE_H

#include <stdbool.h>

#include "query/expression/expression.h"

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
