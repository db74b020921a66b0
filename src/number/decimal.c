/* Exact decimals. Promise: parse, sum, difference, product with a count and comparison have no
 * rounding; what does not fit in 256 bits is refused, never approximated; the ways to and from
 * doubles name their direction. Independent of the locale: texts that reach a converter have no
 * decimal point. */
#include "number/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpfr.h>

#include "base/error.h"

enum { MOST_EXPONENT = 1000, LIMBS = BRUME_DECIMAL_LIMBS, MOST_DIGITS = 78 };

/* ------------------------------------------------------------------ 256-bit unsigned integers */

static bool limbs_zero(const uint32_t *x)
{
    uint32_t any = 0;
    for (int i = 0; i < LIMBS; i++)
        any |= x[i];
    return any == 0;
}

/* x = factor * x + addend; false, and x meaningless, if it does not fit. */
static bool limbs_multiply_add(uint32_t *x, uint32_t factor, uint32_t addend)
{
    uint64_t carry = addend;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)factor * x[i];
        x[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return carry == 0;
}

/* x = floor(x / 10); the remainder is returned. */
static uint32_t limbs_divide_ten(uint32_t *x)
{
    uint64_t remainder = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
        remainder = remainder << 32 | x[i];
        x[i] = (uint32_t)(remainder / 10);
        remainder %= 10;
    }
    return (uint32_t)remainder;
}

static bool limbs_add(uint32_t *x, const uint32_t *y)
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)x[i] + y[i];
        x[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return carry == 0;
}

/* x -= y; requires x >= y. */
static void limbs_subtract(uint32_t *x, const uint32_t *y)
{
    uint64_t borrow = 0;
    for (int i = 0; i < LIMBS; i++) {
        uint64_t difference = (uint64_t)x[i] - y[i] - borrow;
        x[i] = (uint32_t)difference;
        borrow = difference >> 63;
    }
}

static int limbs_compare(const uint32_t *x, const uint32_t *y)
{
    for (int i = LIMBS - 1; i >= 0; i--)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* ---------------------------------------------------------------------------- normal form */

static void normalise(brume_decimal *x)
{
    if (limbs_zero(x->digits)) {
        x->exponent = 0;
        return;
    }
    for (;;) {
        uint32_t shorter[LIMBS];
        memcpy(shorter, x->digits, sizeof shorter);
        if (limbs_divide_ten(shorter) != 0)
            return;
        memcpy(x->digits, shorter, sizeof shorter);
        x->exponent++;
    }
}

/* Write x with the smaller exponent `exponent`; false if the digits do not fit. */
static bool lower_exponent(brume_decimal *x, int32_t exponent)
{
    while (x->exponent > exponent && !limbs_zero(x->digits)) {
        if (!limbs_multiply_add(x->digits, 10, 0))
            return false;
        x->exponent--;
    }
    x->exponent = exponent;
    return true;
}

static bool align(brume_decimal *x, brume_decimal *y)
{
    if (limbs_zero(x->digits))
        x->exponent = y->exponent;
    if (limbs_zero(y->digits))
        y->exponent = x->exponent;
    int32_t exponent = x->exponent < y->exponent ? x->exponent : y->exponent;
    return lower_exponent(x, exponent) && lower_exponent(y, exponent);
}

/* The digits as text, most significant first, and how many. */
static int digits_text(const brume_decimal *x, char text[MOST_DIGITS + 1])
{
    uint32_t rest[LIMBS];
    memcpy(rest, x->digits, sizeof rest);
    char backwards[MOST_DIGITS];
    int length = 0;
    do
        backwards[length++] = (char)('0' + limbs_divide_ten(rest));
    while (!limbs_zero(rest));
    for (int i = 0; i < length; i++)
        text[i] = backwards[length - 1 - i];
    text[length] = 0;
    return length;
}

static brume_status does_not_fit(brume_error *error)
{
    return brume_fail(error, BRUME_EOVERFLOW, "use fewer digits",
                      "a decimal of more than 77 digits cannot be kept exactly");
}

static brume_status finish(brume_decimal *x, brume_decimal *out, brume_error *error)
{
    normalise(x);
    if (abs(x->exponent) > MOST_EXPONENT)
        return brume_fail(error, BRUME_EOVERFLOW, NULL,
                          "a decimal with exponent %d is out of range: at most %d either way",
                          (int)x->exponent, MOST_EXPONENT);
    *out = *x;
    return BRUME_OK;
}

/* ---------------------------------------------------------------------------------- text */

static brume_status fault(const char *text, size_t position, brume_error *error)
{
    static const char hint[] = "write a decimal number such as 0.1, 2 or 1e-6";
    if (text[position] == 0)
        return brume_fail(error, BRUME_ESYNTAX, hint, "'%.60s' ends too early to be a number",
                          text);
    return brume_fail(
        error, BRUME_ESYNTAX, hint, "'%.60s' is not a number: unexpected '%c' at character %zu",
        text, text[position] >= ' ' && text[position] <= '~' ? text[position] : '?', position + 1);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

brume_status brume_decimal_parse(const char *text, brume_decimal *out, brume_error *error)
{
    brume_decimal x = {{0}, 0};
    size_t i = 0;
    if (text[0] == '-' && (is_digit(text[1]) || text[1] == '.'))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'%.60s' is negative", text);
    bool any = false, point = false, fits = true;
    int32_t zeros = 0; /* read, not yet multiplied in: trailing zeros cost no digits */
    for (;; i++) {
        if (text[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(text[i]))
            break;
        any = true;
        if (x.exponent < -MOST_EXPONENT - MOST_DIGITS || zeros > 2 * MOST_EXPONENT)
            fits = false;
        if (text[i] == '0' && fits) {
            zeros++;
        } else if (fits) {
            for (; zeros > 0 && !limbs_zero(x.digits); zeros--)
                fits = fits && limbs_multiply_add(x.digits, 10, 0);
            zeros = 0;
            fits = fits && limbs_multiply_add(x.digits, 10, (uint32_t)(text[i] - '0'));
        }
        if (point && fits)
            x.exponent--;
    }
    if (!any)
        return fault(text, i, error);
    x.exponent += zeros;
    if (text[i] == 'e' || text[i] == 'E') {
        i++;
        bool negative = text[i] == '-';
        if (text[i] == '-' || text[i] == '+')
            i++;
        if (!is_digit(text[i]))
            return fault(text, i, error);
        int32_t exponent = 0;
        for (; is_digit(text[i]); i++)
            exponent = exponent > 99999 ? exponent : 10 * exponent + (text[i] - '0');
        x.exponent += negative ? -exponent : exponent;
    }
    if (text[i] != 0)
        return fault(text, i, error);
    if (!fits)
        return does_not_fit(error);
    return finish(&x, out, error);
}

brume_status brume_signed_decimal_parse(const char *text, brume_signed_decimal *out,
                                        brume_error *error)
{
    brume_decimal size;
    bool sign = text[0] == '-' || text[0] == '+';
    if (sign && (text[1] == '-' || text[1] == '+'))
        return fault(text, 1, error);
    BRUME_TRY(brume_decimal_parse(text + sign, &size, error));
    out->size = size;
    out->negative = text[0] == '-' && !limbs_zero(size.digits);
    return BRUME_OK;
}

void brume_decimal_print(const brume_decimal *x, char *text, size_t size)
{
    char digits[MOST_DIGITS + 1], full[BRUME_DECIMAL_TEXT];
    int length = digits_text(x, digits);
    int point = length + x->exponent; /* digits before the decimal point */
    if (limbs_zero(x->digits))
        snprintf(full, sizeof full, "0");
    else if (x->exponent >= 0 && point <= 21)
        snprintf(full, sizeof full, "%s%.*s", digits, (int)x->exponent, "000000000000000000000");
    else if (x->exponent < 0 && point > 0)
        snprintf(full, sizeof full, "%.*s.%s", point, digits, digits + point);
    else if (x->exponent < 0 && point > -5)
        snprintf(full, sizeof full, "0.%.*s%s", -point, "00000", digits);
    else
        snprintf(full, sizeof full, "%c%s%se%d", digits[0], length > 1 ? "." : "", digits + 1,
                 point - 1);
    snprintf(text, size, "%s", full);
}

/* ---------------------------------------------------------------------------- arithmetic */

bool brume_decimal_is_zero(const brume_decimal *x)
{
    return limbs_zero(x->digits);
}

int brume_decimal_compare(const brume_decimal *a, const brume_decimal *b)
{
    bool a_zero = limbs_zero(a->digits), b_zero = limbs_zero(b->digits);
    if (a_zero || b_zero)
        return a_zero ? (b_zero ? 0 : -1) : 1;
    /* The one with more digits before the point is larger; with equally many, digit texts compare
     * as fractions, and a shorter text that agrees so far is smaller (no trailing zeros). */
    char a_text[MOST_DIGITS + 1], b_text[MOST_DIGITS + 1];
    int a_point = digits_text(a, a_text) + a->exponent;
    int b_point = digits_text(b, b_text) + b->exponent;
    if (a_point != b_point)
        return a_point < b_point ? -1 : 1;
    int order = strcmp(a_text, b_text);
    return order < 0 ? -1 : order > 0;
}

brume_status brume_decimal_add(const brume_decimal *a, const brume_decimal *b, brume_decimal *out,
                               brume_error *error)
{
    brume_decimal x = *a, y = *b;
    if (!align(&x, &y) || !limbs_add(x.digits, y.digits))
        return does_not_fit(error);
    return finish(&x, out, error);
}

brume_status brume_decimal_subtract(const brume_decimal *a, const brume_decimal *b,
                                    brume_decimal *out, brume_error *error)
{
    brume_decimal x = *a, y = *b;
    if (brume_decimal_compare(a, b) < 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a difference of decimals is negative");
    if (!align(&x, &y))
        return does_not_fit(error);
    if (limbs_compare(x.digits, y.digits) < 0)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "decimals compare inconsistently");
    limbs_subtract(x.digits, y.digits);
    return finish(&x, out, error);
}

brume_status brume_decimal_multiply(const brume_decimal *x, uint64_t count, brume_decimal *out,
                                    brume_error *error)
{
    brume_decimal low = *x, high = *x;
    if (!limbs_multiply_add(low.digits, (uint32_t)count, 0) ||
        !limbs_multiply_add(high.digits, (uint32_t)(count >> 32), 0))
        return does_not_fit(error);
    if (high.digits[LIMBS - 1] != 0)
        return does_not_fit(error);
    memmove(high.digits + 1, high.digits, (LIMBS - 1) * sizeof *high.digits);
    high.digits[0] = 0;
    if (!limbs_add(low.digits, high.digits))
        return does_not_fit(error);
    return finish(&low, out, error);
}

brume_status brume_decimal_product(const brume_decimal *a, const brume_decimal *b,
                                   brume_decimal *out, brume_error *error)
{
    brume_decimal result = {.exponent = a->exponent + b->exponent};
    for (int i = LIMBS - 1; i >= 0; i--) {
        brume_decimal part = *a;
        if (result.digits[LIMBS - 1] != 0 || !limbs_multiply_add(part.digits, b->digits[i], 0))
            return does_not_fit(error);
        memmove(result.digits + 1, result.digits, (LIMBS - 1) * sizeof *result.digits);
        result.digits[0] = 0;
        if (!limbs_add(result.digits, part.digits))
            return does_not_fit(error);
    }
    return finish(&result, out, error);
}

brume_status brume_decimal_quantise_up(const brume_decimal *x, int places, brume_decimal *out,
                                       brume_error *error)
{
    brume_decimal result = *x;
    bool inexact = false;
    while (result.exponent < -places && !limbs_zero(result.digits)) {
        inexact |= limbs_divide_ten(result.digits) != 0;
        result.exponent++;
    }
    if (inexact) { /* the floor is below x: one more unit is above it */
        result.exponent = -places;
        if (!limbs_multiply_add(result.digits, 1, 1))
            return does_not_fit(error);
    }
    return finish(&result, out, error);
}

void brume_decimal_quantise_down(const brume_decimal *x, int places, brume_decimal *out)
{
    brume_decimal result = *x;
    while (result.exponent < -places && !limbs_zero(result.digits)) {
        limbs_divide_ten(result.digits); /* the floor */
        result.exponent++;
    }
    normalise(&result);
    *out = result;
}

/* ------------------------------------------------------------------------------- doubles */

/* digits e exponent, without a point: the same in every locale. */
static void plain_text(const brume_decimal *x, char text[BRUME_DECIMAL_TEXT])
{
    char digits[MOST_DIGITS + 1];
    digits_text(x, digits);
    snprintf(text, BRUME_DECIMAL_TEXT, "%se%d", digits, (int)x->exponent);
}

static double to_double(const brume_decimal *x, mpfr_rnd_t direction)
{
    char text[BRUME_DECIMAL_TEXT];
    plain_text(x, text);
    MPFR_DECL_INIT(t, 53);
    mpfr_strtofr(t, text, NULL, 10, direction); /* correctly rounded in `direction` */
    return mpfr_get_d(t, direction);            /* the same direction, for subnormals */
}

double brume_decimal_lower(const brume_decimal *x)
{
    return to_double(x, MPFR_RNDD);
}

double brume_decimal_upper(const brume_decimal *x)
{
    return to_double(x, MPFR_RNDU);
}

double brume_decimal_nearest(const brume_decimal *x)
{
    char text[BRUME_DECIMAL_TEXT];
    plain_text(x, text);
    return strtod(text, NULL); /* one rounding, also for subnormals */
}

static brume_status from_double(double x, int significant, mpfr_rnd_t direction, brume_decimal *out,
                                brume_error *error)
{
    if (!isfinite(x) || x < 0 || significant < 1 || significant > 40)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "%g is not a finite number of at least 0",
                          x);
    if (x == 0) {
        *out = (brume_decimal){{0}, 0};
        return BRUME_OK;
    }
    MPFR_DECL_INIT(t, 53);
    mpfr_set_d(t, x, MPFR_RNDN); /* exact */
    char digits[64], text[96];
    mpfr_exp_t point;
    /* mpfr_get_str takes at least 2 digits in some bases; 40 + 2 fit in `digits` */
    if (!mpfr_get_str(digits, &point, 10, (size_t)significant, t, direction))
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a double does not convert");
    snprintf(text, sizeof text, "%se%ld", digits, (long)point - (long)strlen(digits));
    return brume_decimal_parse(text, out, error);
}

brume_status brume_decimal_from_double_up(double x, int significant, brume_decimal *out,
                                          brume_error *error)
{
    return from_double(x, significant, MPFR_RNDU, out, error);
}

brume_status brume_decimal_from_double_down(double x, int significant, brume_decimal *out,
                                            brume_error *error)
{
    return from_double(x, significant, MPFR_RNDD, out, error);
}

brume_status brume_decimal_from_double_shortest(double x, brume_decimal *out, brume_error *error)
{
    for (int significant = 1; significant <= 17; significant++) {
        brume_decimal candidate;
        BRUME_TRY(from_double(x, significant, MPFR_RNDN, &candidate, error));
        if (brume_decimal_nearest(&candidate) == x) {
            *out = candidate;
            return BRUME_OK;
        }
    }
    return brume_fail(error, BRUME_EINTERNAL, NULL, "17 digits do not identify a double");
}

/* The double from the nearest one on, in the direction of `towards`, whose shortest decimal is on
 * that side of x. */
static double shown(const brume_decimal *x, double towards)
{
    int wrong = towards > 0 ? -1 : 1;
    for (double at = brume_decimal_nearest(x);; at = nextafter(at, towards)) {
        brume_decimal text;
        if (!isfinite(at) || at <= 0 ||
            brume_decimal_from_double_shortest(at, &text, NULL) != BRUME_OK ||
            brume_decimal_compare(&text, x) != wrong)
            return at > 0 ? at : 0;
    }
}

double brume_decimal_shown_up(const brume_decimal *x)
{
    return shown(x, INFINITY);
}

double brume_decimal_shown_down(const brume_decimal *x)
{
    return shown(x, 0);
}
