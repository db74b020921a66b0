/* The words of expressions: names, numbers, counts and signs, read off a cursor that skips blanks.
 *
 * It promises that a number is a plain decimal whatever the locale, that nothing is read beyond the
 * end of the text, and that a refusal says at which position and what was found there. */
#include "mechanism/expression/cursor.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

size_t brume_cursor_position(const brume_cursor *c)
{
    return c->at + 1;
}

static bool is_blank(char x)
{
    return x == ' ' || x == '\t' || x == '\n' || x == '\r';
}

static bool is_digit(char x)
{
    return x >= '0' && x <= '9';
}

bool brume_is_letter(char x)
{
    return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || x == '_';
}

char brume_cursor_peek(brume_cursor *c)
{
    while (is_blank(c->text[c->at]))
        c->at++;
    return c->text[c->at];
}

size_t brume_cursor_start(brume_cursor *c)
{
    (void)brume_cursor_peek(c);
    return c->at;
}

bool brume_cursor_take(brume_cursor *c, char wanted)
{
    if (brume_cursor_peek(c) != wanted)
        return false;
    c->at++;
    return true;
}

brume_status brume_cursor_unexpected(brume_cursor *c, const char *wanted, const char *hint)
{
    char found = brume_cursor_peek(c);
    if (!found)
        return brume_fail(c->error, BRUME_ESYNTAX, hint,
                          "expected %s at position %zu, found the end", wanted,
                          brume_cursor_position(c));
    if (found < ' ' || found > '~')
        return brume_fail(c->error, BRUME_ESYNTAX, hint,
                          "expected %s at position %zu, found a byte that is no plain text", wanted,
                          brume_cursor_position(c));
    return brume_fail(c->error, BRUME_ESYNTAX, hint, "expected %s at position %zu, found '%c'",
                      wanted, brume_cursor_position(c), found);
}

brume_status brume_cursor_name(brume_cursor *c, const char *wanted, const char *if_number,
                               char name[BRUME_NAME_BYTES])
{
    if (!brume_is_letter(brume_cursor_peek(c)))
        return brume_cursor_unexpected(c, wanted,
                                       is_digit(brume_cursor_peek(c)) ? if_number : NULL);
    size_t start = c->at, length = 0;
    while (brume_is_letter(c->text[c->at]) || is_digit(c->text[c->at])) {
        if (length + 1 < BRUME_NAME_BYTES)
            name[length++] = c->text[c->at];
        c->at++;
    }
    name[length] = 0;
    if (c->at - start >= BRUME_NAME_BYTES)
        return brume_fail(c->error, BRUME_EUNKNOWN, "see 'brume mechanisms'",
                          "the name at position %zu is too long", start + 1);
    return BRUME_OK;
}

brume_status brume_cursor_number(brume_cursor *c, double *value)
{
    (void)brume_cursor_peek(c);
    const char *start = c->text + c->at, *p = start;
    size_t digits = 0;
    bool nonzero = false;
    if (*p == '+' || *p == '-')
        p++;
    for (; is_digit(*p); p++, digits++)
        nonzero |= *p != '0';
    if (*p == '.')
        for (p++; is_digit(*p); p++, digits++)
            nonzero |= *p != '0';
    if (digits == 0)
        return brume_cursor_unexpected(c, "a number, true, false or ?", NULL);
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '+' || *p == '-')
            p++;
        if (!is_digit(*p)) {
            c->at = (size_t)(p - c->text);
            return brume_cursor_unexpected(c, "the digits of an exponent", NULL);
        }
        while (is_digit(*p))
            p++;
    }
    if (brume_is_letter(*p) || *p == '.') {
        c->at = (size_t)(p - c->text);
        return brume_cursor_unexpected(c, "',' or ')' after the number", NULL);
    }
    char *end = NULL;
    double parsed = strtod_l(start, &end, c->locale);
    if (end != p) /* strtod reads on only where a hexadecimal follows, and "0x" was refused */
        return brume_fail(c->error, BRUME_ESYNTAX, NULL, "cannot read the number at position %zu",
                          brume_cursor_position(c));
    if (isinf(parsed) || (parsed == 0 && nonzero))
        return brume_fail(c->error, BRUME_EARGUMENT, "numbers reach from 5e-324 to 1.7e308",
                          "the number at position %zu is too %s", brume_cursor_position(c),
                          parsed == 0 ? "small" : "large");
    c->at = (size_t)(p - c->text);
    *value = parsed;
    return BRUME_OK;
}

brume_status brume_cursor_count(brume_cursor *c, uint64_t *count)
{
    if (!is_digit(brume_cursor_peek(c)))
        return brume_cursor_unexpected(c, "a count",
                                       "a count is a whole number: laplace(scale=1)*5");
    size_t start = c->at;
    uint64_t value = 0;
    bool large = false;
    for (; is_digit(c->text[c->at]); c->at++) {
        uint64_t digit = (uint64_t)(c->text[c->at] - '0');
        large |= value > (INT64_MAX - digit) / 10;
        value = large ? 0 : value * 10 + digit;
    }
    char next = c->text[c->at];
    if (next == '.' || brume_is_letter(next))
        return brume_fail(c->error, BRUME_ESYNTAX, "write it out in digits",
                          "the count at position %zu is not a whole number", start + 1);
    if (large)
        return brume_fail(c->error, BRUME_EARGUMENT, NULL,
                          "the count at position %zu is above 2^63 - 1", start + 1);
    if (value == 0)
        return brume_fail(c->error, BRUME_EARGUMENT, "leave the term out",
                          "the count at position %zu is 0, must be at least 1", start + 1);
    *count = value;
    return BRUME_OK;
}
