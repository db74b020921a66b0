/* Exact decimal numbers as 128-bit integers. Every operation either is exact (or rounds as named)
 * or says that it does not fit. */
#include "query/expression/wide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

brume_wide brume_wide_power(int exponent)
{
    brume_wide power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

int brume_wide_digits(brume_wide value)
{
    int digits = 1;
    while ((value /= 10) != 0)
        digits++;
    return digits;
}

bool brume_wide_shift(brume_wide value, int shift, brume_wide *out)
{
    if (value == 0) {
        *out = 0;
        return true;
    }
    if (shift < 0 || brume_wide_digits(value) + shift > BRUME_WIDE_DIGITS)
        return false;
    *out = value * brume_wide_power(shift);
    return true;
}

bool brume_wide_rescale(brume_wide value, int from, int to, brume_wide_rounding rounding,
                        brume_wide *out)
{
    if (to >= from)
        return brume_wide_shift(value, to - from, out);
    int drop = from - to;
    brume_wide unit = drop > BRUME_WIDE_DIGITS ? 0 : brume_wide_power(drop);
    brume_wide quotient = unit ? value / unit : 0, rest = unit ? value % unit : value;
    if (rounding == BRUME_WIDE_HALF_AWAY && unit && (rest < 0 ? -rest : rest) >= unit - unit / 2)
        quotient += value < 0 ? -1 : 1;
    if (rounding == BRUME_WIDE_DOWN && rest < 0)
        quotient--;
    if (rounding == BRUME_WIDE_UP && rest > 0)
        quotient++;
    *out = quotient;
    return true;
}

bool brume_wide_parse(const char *text, brume_wide *value, int *scale)
{
    bool negative = *text == '-', point = false, any = false;
    if (*text == '-' || *text == '+')
        text++;
    brume_wide units = 0;
    int decimals = 0;
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        any = true;
        if (brume_wide_digits(units) >= BRUME_WIDE_DIGITS && units != 0)
            return false;
        units = units * 10 + (*text - '0');
        decimals += point;
        if (decimals > 400)
            return false;
    }
    if (!any)
        return false;
    if (*text == 'e' || *text == 'E') {
        char *end;
        if (strlen(text) > 6 || !text[1] || strchr(" \t\n", text[1]))
            return false;
        long exponent = strtol(text + 1, &end, 10);
        if (*end || end == text + 1)
            return false;
        text = end;
        decimals -= (int)exponent;
    }
    if (*text)
        return false;
    if (decimals < 0) {
        if (!brume_wide_shift(units, -decimals, &units))
            return false;
        decimals = 0;
    }
    while (decimals > BRUME_WIDE_DIGITS && units % 10 == 0 && decimals > 0) {
        units /= 10;
        decimals--;
    }
    if (decimals > BRUME_WIDE_DIGITS)
        return false;
    *value = negative ? -units : units;
    *scale = decimals;
    return true;
}

const char *brume_wide_format(brume_wide value, int scale, char buffer[BRUME_WIDE_TEXT_SIZE])
{
    char reversed[BRUME_WIDE_TEXT_SIZE];
    int length = 0;
    bool negative = value < 0;
    for (int i = 0; i <= scale || value != 0; i++) {
        if (i == scale && scale > 0)
            reversed[length++] = '.';
        int digit = (int)(value % 10);
        reversed[length++] = (char)('0' + (digit < 0 ? -digit : digit));
        value /= 10;
    }
    if (negative)
        reversed[length++] = '-';
    for (int i = 0; i < length; i++)
        buffer[i] = reversed[length - 1 - i];
    buffer[length] = 0;
    return buffer;
}

double brume_wide_double(brume_wide value, int scale)
{
    char text[BRUME_WIDE_TEXT_SIZE];
    return strtod(brume_wide_format(value, scale, text), NULL);
}
