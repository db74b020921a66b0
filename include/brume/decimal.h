/* Decimals as a person types them, exactly: 0.1 fits ten times in a budget of 1.
 *
 * A decimal is digits * 10^exponent, digits an integer below 2^256 (any 77 digits fit). It is kept
 * in lowest terms, so that equal numbers are equal structs and print the same. Never negative:
 * budgets and prices are not. Zero-initialised memory is the number 0. */
#ifndef BRUME_DECIMAL_H
#define BRUME_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BRUME_DECIMAL_LIMBS = 8, BRUME_DECIMAL_TEXT = 128 };

typedef struct brume_decimal {
    uint32_t digits[BRUME_DECIMAL_LIMBS]; /* least significant first */
    int32_t exponent;                     /* power of ten; |exponent| <= 1000 */
} brume_decimal;

/* Read digits with an optional point and an optional exponent: 1, 0.25, .5, 2.5e-7, 1E6.
 * Errors: BRUME_ESYNTAX with the position of the fault, BRUME_EARGUMENT for a negative number,
 * BRUME_EOVERFLOW if it has too many digits to be kept exactly. */
BRUME_API BRUME_MUST_USE brume_status brume_decimal_parse(const char *text, brume_decimal *out,
                                                          brume_error *error);

/* The shortest text that reads back exactly: plain digits where that takes at most 21 of them,
 * otherwise with an exponent. Cut to `size` like snprintf; BRUME_DECIMAL_TEXT bytes are enough. */
BRUME_API void brume_decimal_print(const brume_decimal *x, char *text, size_t size);

/* -1, 0, 1 as a is less than, equal to, greater than b. Exact for all decimals. */
BRUME_API int brume_decimal_compare(const brume_decimal *a, const brume_decimal *b);

BRUME_API bool brume_decimal_is_zero(const brume_decimal *x);

/* a + b exactly. BRUME_EOVERFLOW if that takes more than 256 bits. `out` may be an operand. */
BRUME_API BRUME_MUST_USE brume_status brume_decimal_add(const brume_decimal *a,
                                                        const brume_decimal *b, brume_decimal *out,
                                                        brume_error *error);

/* a - b exactly. Requires b <= a, else BRUME_EARGUMENT; BRUME_EOVERFLOW as for the sum. */
BRUME_API BRUME_MUST_USE brume_status brume_decimal_subtract(const brume_decimal *a,
                                                             const brume_decimal *b,
                                                             brume_decimal *out,
                                                             brume_error *error);

/* count * x exactly. BRUME_EOVERFLOW as for the sum. */
BRUME_API BRUME_MUST_USE brume_status brume_decimal_multiply(const brume_decimal *x, uint64_t count,
                                                             brume_decimal *out,
                                                             brume_error *error);

/* A decimal with a sign; 0 is not negative. */
typedef struct brume_signed_decimal {
    brume_decimal size;
    bool negative;
} brume_signed_decimal;

/* As brume_decimal_parse, with an optional + or - before the digits. */
BRUME_API BRUME_MUST_USE brume_status brume_signed_decimal_parse(const char *text,
                                                                 brume_signed_decimal *out,
                                                                 brume_error *error);

/* The double next to x in the named direction; x itself where it is a double. */
BRUME_API double brume_decimal_lower(const brume_decimal *x);
BRUME_API double brume_decimal_nearest(const brume_decimal *x);
BRUME_API double brume_decimal_upper(const brume_decimal *x);

#ifdef __cplusplus
}
#endif

#endif
