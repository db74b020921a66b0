/* Texts in plain forms: see the header. */
#include "engine/plain_form.h"

#include <string.h>

/* What is left of a text. */
typedef struct cursor {
    const char *at, *end;
} cursor;

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool take(cursor *c, const char *any_of)
{
    bool there = c->at < c->end && *c->at && strchr(any_of, *c->at);
    c->at += there;
    return there;
}

/* All the digits that follow; how many. */
static size_t take_digits(cursor *c)
{
    const char *from = c->at;
    while (c->at < c->end && is_digit(*c->at))
        c->at++;
    return (size_t)(c->at - from);
}

/* Exactly `count` digits as a number; -1: they are not there. */
static int take_number(cursor *c, int count)
{
    int number = 0;
    for (int i = 0; i < count; i++, c->at++) {
        if (c->at == c->end || !is_digit(*c->at))
            return -1;
        number = 10 * number + (*c->at - '0');
    }
    return number;
}

static bool take_integer(cursor *c)
{
    take(c, "+-");
    const char *from = c->at;
    size_t digits = take_digits(c), zeros = 0;
    while (zeros < 30 && zeros + 1 < digits && from[zeros] == '0')
        zeros++;
    return digits - zeros >= 1 && digits - zeros <= 19;
}

/* Digits with a point or without, at most so many before and after it. */
static bool take_decimal(cursor *c, size_t whole, size_t fraction)
{
    take(c, "+-");
    size_t before = take_digits(c);
    if (!take(c, "."))
        return before >= 1 && before <= whole;
    size_t after = take_digits(c);
    return before <= whole && after <= fraction && before + after >= 1;
}

static bool take_exponent(cursor *c)
{
    if (!take(c, "eE"))
        return true;
    take(c, "+-");
    size_t digits = take_digits(c);
    return digits == 1 || digits == 2;
}

static bool take_date(cursor *c)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = take_number(c, 4);
    int month = take(c, "-") ? take_number(c, 2) : -1;
    int day = take(c, "-") ? take_number(c, 2) : -1;
    if (year < 1 || month < 1 || month > 12 || day < 1)
        return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= days[month - 1] + (month == 2 && leap);
}

static bool take_time(cursor *c)
{
    int hour = take_number(c, 2), minute = take(c, ":") ? take_number(c, 2) : -1;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59)
        return false;
    if (!take(c, ":"))
        return true;
    int second = take_number(c, 2);
    if (second < 0 || second > 59)
        return false;
    if (!take(c, "."))
        return true;
    size_t digits = take_digits(c);
    return digits >= 1 && digits <= 6;
}

static bool take_form(cursor *c, brume_plain_form form, size_t whole)
{
    switch (form) {
    case BRUME_PLAIN_INTEGER:
        return take_integer(c);
    case BRUME_PLAIN_DECIMAL:
        return take_decimal(c, whole, 30);
    case BRUME_PLAIN_REAL:
        return take_decimal(c, 20, 20) && take_exponent(c);
    case BRUME_PLAIN_DATE:
        return take_date(c);
    case BRUME_PLAIN_TIMESTAMP:
        return take_date(c) && (c->at == c->end || (take(c, " T") && take_time(c)));
    }
    return false;
}

bool brume_plain_match(brume_plain_form form, size_t whole, const char *text, size_t length,
                       const char **from, size_t *matched)
{
    cursor c = {text, text + length};
    while (c.at < c.end && is_blank(*c.at))
        c.at++;
    while (c.at < c.end && is_blank(c.end[-1]))
        c.end--;
    *from = c.at;
    *matched = (size_t)(c.end - c.at);
    return take_form(&c, form, whole) && c.at == c.end;
}
