/* Numbers, booleans and dates: see the header. */
#include "reader/value.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

/* ---- dates and timestamps from text: see value.h ---- */

static const int64_t day_microseconds = 86400000000;

/* Exactly `count` digits; steps over them. */
static bool take_digits(brume_text *text, size_t count, int *out)
{
    int value = 0;
    if (text->length < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        unsigned digit = (unsigned)(text->data[i] - '0');
        if (digit > 9)
            return false;
        value = 10 * value + (int)digit;
    }
    text->data += count;
    text->length -= count;
    *out = value;
    return true;
}

static bool take_byte(brume_text *text, char byte)
{
    if (text->length == 0 || *text->data != byte)
        return false;
    text->data++;
    text->length--;
    return true;
}

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* Days from 1970-01-01 to a day of the Gregorian calendar, years 1 to 9999: years begin in March,
 * so that the day that not every year has is their last. */
static int32_t days_since_1970(int year, int month, int day)
{
    int shifted = month > 2 ? year : year - 1, months = (month + 9) % 12;
    int of_year = (153 * months + 2) / 5 + day - 1;
    return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + of_year - 719468;
}

static bool take_date(brume_text *text, int32_t *days)
{
    int year, month, day;
    if (!take_digits(text, 4, &year) || !take_byte(text, '-') || !take_digits(text, 2, &month) ||
        !take_byte(text, '-') || !take_digits(text, 2, &day))
        return false;
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month))
        return false;
    *days = days_since_1970(year, month, day);
    return true;
}

bool brume_value_date(brume_text text, int32_t *days)
{
    int32_t found;
    text = brume_value_trim(text);
    if (!take_date(&text, &found) || text.length > 0)
        return false;
    *days = found;
    return true;
}

/* hours:minutes[:seconds[.digits]] */
static bool take_time(brume_text *text, int64_t *microseconds)
{
    int hours, minutes, seconds = 0;
    int64_t fraction = 0, unit = 100000;
    if (!take_digits(text, 2, &hours) || !take_byte(text, ':') || !take_digits(text, 2, &minutes))
        return false;
    if (take_byte(text, ':')) {
        int digit;
        if (!take_digits(text, 2, &seconds))
            return false;
        if (take_byte(text, '.')) {
            if (!take_digits(text, 1, &digit))
                return false;
            do {
                fraction += unit * digit;
                unit /= 10;
            } while (take_digits(text, 1, &digit));
        }
    }
    if (hours > 23 || minutes > 59 || seconds > 59)
        return false;
    *microseconds = ((hours * 60 + minutes) * 60 + seconds) * INT64_C(1000000) + fraction;
    return true;
}

/* Z, or how far ahead of UTC, at most 18 hours: +hh, +hhmm, +hh:mm; nothing is 0. */
static bool take_zone(brume_text *text, int64_t *microseconds)
{
    int hours, minutes = 0;
    *microseconds = 0;
    if (text->length == 0 || take_byte(text, 'Z') || take_byte(text, 'z'))
        return true;
    bool ahead = take_byte(text, '+');
    if (!ahead && !take_byte(text, '-'))
        return false;
    if (!take_digits(text, 2, &hours))
        return false;
    if ((take_byte(text, ':') || text->length > 0) && !take_digits(text, 2, &minutes))
        return false;
    if (hours > 18 || minutes > 59)
        return false;
    *microseconds = (hours * 60 + minutes) * INT64_C(60000000) * (ahead ? 1 : -1);
    return true;
}

bool brume_value_timestamp(brume_text text, int64_t *microseconds)
{
    int32_t days;
    int64_t time = 0, zone = 0;
    text = brume_value_trim(text);
    if (!take_date(&text, &days))
        return false;
    if (text.length > 0) {
        if (!take_byte(&text, ' ') && !take_byte(&text, 'T') && !take_byte(&text, 't'))
            return false;
        if (!take_time(&text, &time))
            return false;
        if (take_byte(&text, ' ') && text.length == 0)
            return false;
        if (!take_zone(&text, &zone) || text.length > 0)
            return false;
    }
    int64_t first = days_since_1970(1, 1, 1) * day_microseconds;
    int64_t last = (days_since_1970(9999, 12, 31) + 1) * day_microseconds;
    int64_t found = days * day_microseconds + time - zone;
    if (found < first || found >= last)
        return false;
    *microseconds = found;
    return true;
}

brume_text brume_value_trim(brume_text text)
{
    while (text.length > 0 && (*text.data == ' ' || *text.data == '\t')) {
        text.data++;
        text.length--;
    }
    while (text.length > 0 &&
           (text.data[text.length - 1] == ' ' || text.data[text.length - 1] == '\t'))
        text.length--;
    return text;
}

/* ---- numbers ---- */

__extension__ typedef unsigned __int128 wide;

/* A number taken apart: 0.d1 d2 d3... times 10^exponent, where d1 is the first digit that is not
 * zero. */
typedef struct number {
    bool negative;
    const char *digits, *end; /* d1 d2 d3..., a point among them perhaps; empty: the number is 0 */
    int64_t exponent;
} number;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* An exponent, no further from 0 than 10^12: no text is that long. */
static bool take_exponent(const char *at, const char *end, int64_t *out)
{
    const int64_t most = 1000000000000;
    bool negative = at < end && *at == '-';
    int64_t value = 0;
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return false;
    for (; at < end; at++) {
        if (!is_digit(*at))
            return false;
        value = 10 * value + (*at - '0');
        if (value > most)
            value = most;
    }
    *out = negative ? -value : value;
    return true;
}

static bool take_apart(brume_text text, number *out)
{
    text = brume_value_trim(text);
    const char *at = text.data, *end = at + text.length;
    number made = {.negative = at < end && *at == '-'};
    int64_t whole = 0, zeros = 0; /* digits before the point; leading zeros behind it */
    bool any = false, point = false;
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    for (; at < end && (is_digit(*at) || (*at == '.' && !point)); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        any = true;
        if (*at != '0' && !made.digits)
            made.digits = at;
        whole += made.digits && !point;
        zeros += !made.digits && point;
    }
    made.end = at;
    int64_t exponent = 0;
    if (!any ||
        (at < end && ((*at != 'e' && *at != 'E') || !take_exponent(at + 1, end, &exponent))))
        return false;
    if (!made.digits)
        made.digits = made.end;
    made.exponent = exponent + (whole > 0 ? whole : -zeros);
    *out = made;
    return true;
}

static bool round_to_units(const number *parts, int scale, brume_units *out)
{
    enum { MOST_DIGITS = 38 };
    int64_t wanted = parts->exponent + scale; /* digits before the unit's end */
    wide value = 0;
    const char *at = parts->digits;
    if (at == parts->end || wanted < 0) {
        *out = 0;
        return true;
    }
    if (wanted > MOST_DIGITS)
        return false;
    for (int64_t i = 0; i < wanted; i++) {
        if (at < parts->end && *at == '.')
            at++;
        value = 10 * value + (at < parts->end ? (unsigned)(*at++ - '0') : 0);
    }
    if (at < parts->end && *at == '.')
        at++;
    value += at < parts->end && *at >= '5'; /* half and more away from zero */
    wide most = 1;
    for (int i = 0; i < MOST_DIGITS; i++)
        most *= 10;
    if (value >= most)
        return false;
    *out = parts->negative ? -(brume_units)value : (brume_units)value;
    return true;
}

bool brume_value_decimal(brume_text text, int scale, brume_units *out)
{
    number parts;
    return take_apart(text, &parts) && round_to_units(&parts, scale, out);
}

/* Plain whole numbers of at most 18 digits: what most numbers are. */
static inline bool small_integer(brume_text text, int64_t *out)
{
    const char *at = text.data, *end = at + text.length;
    bool negative = text.length > 0 && *at == '-';
    at += negative;
    if (at == end || end - at > 18)
        return false;
    int64_t value = 0;
    for (; at < end; at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (digit > 9)
            return false;
        value = 10 * value + digit;
    }
    *out = negative ? -value : value;
    return true;
}

/* [-] digits [. digits] of at most 18 digits, as digits and the number of those behind the point.
 */
static inline bool small_decimal(brume_text text, int64_t *digits, int *behind)
{
    const char *at = text.data, *end = at + text.length, *point = NULL;
    bool negative = text.length > 0 && *at == '-';
    at += negative;
    if (end - at < 1 || end - at > 19)
        return false;
    uint64_t value = 0; /* holds 19 digits, which are then refused */
    const char *begin = at;
    for (; at < end; at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (digit <= 9)
            value = 10 * value + digit;
        else if (*at == '.' && !point)
            point = at;
        else
            return false;
    }
    if (end - begin - (point != NULL) < 1 || end - begin - (point != NULL) > 18)
        return false;
    *digits = negative ? -(int64_t)value : (int64_t)value;
    *behind = point ? (int)(end - point - 1) : 0;
    return true;
}

static const int64_t powers[] = {1,
                                 10,
                                 100,
                                 1000,
                                 10000,
                                 100000,
                                 1000000,
                                 10000000,
                                 100000000,
                                 1000000000,
                                 10000000000,
                                 100000000000,
                                 1000000000000,
                                 10000000000000,
                                 100000000000000,
                                 1000000000000000,
                                 10000000000000000,
                                 100000000000000000,
                                 1000000000000000000};

/* ---- doubles ---- */

static locale_t plain_locale;

__attribute__((constructor)) static void make_plain_locale(void)
{
    plain_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* By strtod, from at most 800 digits: a double near the middle of two others has fewer, so that
 * behind them only whether anything follows matters. */
static bool long_double(brume_text text, double *out)
{
    enum { DIGITS = 800 };
    char written[DIGITS + 40];
    number parts;
    size_t count = 0;
    if (!take_apart(text, &parts))
        return false;
    if (parts.digits == parts.end || parts.exponent < -400) {
        *out = 0;
        return true;
    }
    if (parts.exponent > 400)
        return false;
    written[count++] = '.';
    const char *at = parts.digits;
    for (; at < parts.end && count <= DIGITS; at++)
        if (*at != '.')
            written[count++] = *at;
    for (; at < parts.end; at++)
        if (*at != '.' && *at != '0') {
            written[count++] = '1';
            break;
        }
    snprintf(written + count, sizeof written - count, "e%d", (int)parts.exponent);
    double value = strtod_l(written, NULL, plain_locale);
    *out = parts.negative ? -value : value;
    return true;
}

bool brume_value_double(brume_text text, double *out)
{
    const double most = 1e150;
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                   1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    const int64_t whole = (int64_t)1 << 53;
    int64_t digits;
    int behind;
    double value;
    /* Both are doubles, so that their quotient is the nearest one. */
    if (small_decimal(text, &digits, &behind) && digits <= whole && digits >= -whole)
        value = (double)digits / exact[behind];
    else if (!long_double(text, &value))
        return false;
    if (!(fabs(value) < most))
        return false;
    *out = value + 0.0; /* no negative zero */
    return true;
}

/* ---- booleans ---- */

bool brume_value_boolean(brume_text text, uint8_t *out)
{
    static const struct {
        const char *word;
        uint8_t value;
    } words[] = {{"true", 1},  {"t", 1}, {"yes", 1}, {"1", 1},
                 {"false", 0}, {"f", 0}, {"no", 0},  {"0", 0}};
    text = brume_value_trim(text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == text.length &&
            strncasecmp(words[i].word, text.data, text.length) == 0) {
            *out = words[i].value;
            return true;
        }
    return false;
}

/* ---- columns ---- */

static bool integer_between(brume_text text, int64_t least, int64_t most, int64_t *out)
{
    brume_units units;
    if (small_integer(text, out))
        return *out >= least && *out <= most;
    if (!brume_value_decimal(text, 0, &units) || units < least || units > most)
        return false;
    *out = (int64_t)units;
    return true;
}

static bool decimal_within(brume_text text, brume_type type, brume_units *out)
{
    int64_t digits;
    int behind;
    if (small_decimal(text, &digits, &behind) && behind <= type.scale &&
        type.scale - behind + 18 <= 36)
        *out = (brume_units)digits * powers[type.scale - behind];
    else if (!brume_value_decimal(text, type.scale, out))
        return false;
    brume_units most = 1;
    if (type.precision <= 18) {
        most = powers[type.precision];
    } else {
        most = powers[18];
        for (int i = 18; i < type.precision; i++)
            most *= 10;
    }
    return *out<most && * out> - most;
}

static bool convert(brume_type type, brume_text text, size_t row, void *values)
{
    int64_t integer = 0;
    brume_units units = 0;
    bool good = false;
    switch (type.kind) {
    case BRUME_TYPE_BOOLEAN:
        return brume_value_boolean(text, (uint8_t *)values + row);
    case BRUME_TYPE_INTEGER:
        good = integer_between(text, INT32_MIN, INT32_MAX, &integer);
        ((int32_t *)values)[row] = (int32_t)integer;
        return good;
    case BRUME_TYPE_BIGINT:
        return integer_between(text, INT64_MIN, INT64_MAX, (int64_t *)values + row);
    case BRUME_TYPE_DECIMAL:
        good = decimal_within(text, type, &units);
        if (type.precision <= 18)
            ((int64_t *)values)[row] = (int64_t)units;
        else
            memcpy((char *)values + row * sizeof units, &units, sizeof units);
        return good;
    case BRUME_TYPE_DOUBLE:
        return brume_value_double(text, (double *)values + row);
    case BRUME_TYPE_DATE:
        return brume_value_date(text, (int32_t *)values + row);
    case BRUME_TYPE_TIMESTAMP:
        return brume_value_timestamp(text, (int64_t *)values + row);
    default:
        return false;
    }
}

static void text_column(const brume_text *texts, size_t count, bool plain,
                        brume_batch_column *column)
{
    brume_text *values = column->values;
    for (size_t i = 0; i < count; i++) {
        bool good = texts[i].data && (plain || brume_utf8_is_text(texts[i].data, texts[i].length));
        values[i] = texts[i];
        column->valid[i / 64] |= (uint64_t)good << (i % 64);
    }
}

void brume_value_column(brume_type type, const brume_text *texts, size_t count, bool plain,
                        brume_batch_column *column)
{
    memset(column->valid, 0, BRUME_BATCH_ROWS / 8);
    if (type.kind == BRUME_TYPE_TEXT) {
        text_column(texts, count, plain, column);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        bool good = texts[i].data && convert(type, texts[i], i, column->values);
        column->valid[i / 64] |= (uint64_t)good << (i % 64);
    }
}
