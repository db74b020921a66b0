/* Constants: what was typed, checked and in canonical text. */
#include "query/expression/literal.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "query/expression/expression.h"

static const char *skip_blanks(const char *text)
{
    while (*text && strchr(" \t\n\v\f\r", *text))
        text++;
    return text;
}

/* Exactly `count` digits at *text. */
static bool digits(const char **text, int count, int *value)
{
    *value = 0;
    for (int i = 0; i < count; i++) {
        if (!isdigit((unsigned char)**text))
            return false;
        *value = *value * 10 + (*(*text)++ - '0');
    }
    return true;
}

static bool read_date(const char **text, char canonical[32])
{
    static const int lengths[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day;
    if (!digits(text, 4, &year) || *(*text)++ != '-' || !digits(text, 2, &month) ||
        *(*text)++ != '-' || !digits(text, 2, &day))
        return false;
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > lengths[month - 1] ||
        (month == 2 && day == 29 && !leap))
        return false;
    snprintf(canonical, 32, "%04d-%02d-%02d", year, month, day);
    return true;
}

bool brume_literal_date(const char *text, char canonical[32])
{
    text = skip_blanks(text);
    return read_date(&text, canonical) && !*skip_blanks(text);
}

bool brume_literal_timestamp(const char *text, char canonical[32])
{
    int hour = 0, minute = 0, second = 0, micro = 0;
    text = skip_blanks(text);
    if (!read_date(&text, canonical))
        return false;
    if (*text == 'T' || (*text == ' ' && isdigit((unsigned char)text[1]))) {
        text++;
        if (!digits(&text, 2, &hour) || *text++ != ':' || !digits(&text, 2, &minute))
            return false;
        if (*text == ':') {
            text++;
            if (!digits(&text, 2, &second))
                return false;
            if (*text == '.') {
                int scale = 1000000;
                for (text++; isdigit((unsigned char)*text) && scale > 1; text++)
                    micro += (*text - '0') * (scale /= 10);
                if (scale == 1000000)
                    return false;
            }
        }
    }
    if (*skip_blanks(text) || hour > 23 || minute > 59 || second > 59)
        return false;
    size_t length = strlen(canonical);
    snprintf(canonical + length, 32 - length, " %02d:%02d:%02d", hour, minute, second);
    if (micro) {
        length = strlen(canonical);
        snprintf(canonical + length, 32 - length, ".%06d", micro);
        for (char *end = canonical + strlen(canonical) - 1; *end == '0'; end--)
            *end = 0;
    }
    return true;
}

bool brume_literal_boolean(const char *text, bool *value)
{
    static const char *const yes[] = {"t", "tr", "tru", "true", "y", "ye", "yes", "on", "1"};
    static const char *const no[] = {"f", "fa", "fal", "fals", "false",
                                     "n", "no", "of",  "off",  "0"};
    char word[16];
    text = skip_blanks(text);
    size_t length = strlen(text);
    while (length && strchr(" \t\n\v\f\r", text[length - 1]))
        length--;
    if (length >= sizeof word)
        return false;
    memcpy(word, text, length);
    word[length] = 0;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (strcasecmp(word, yes[i]) == 0) {
            *value = true;
            return true;
        }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (strcasecmp(word, no[i]) == 0) {
            *value = false;
            return true;
        }
    return false;
}

typedef struct interval_unit {
    const char *name;
    int64_t months, days, microseconds;
} interval_unit;

/* The span of a unit's name; NULL: unknown. */
static const interval_unit *find_interval_unit(const char *name, size_t length)
{
    static const interval_unit units[] = {
        {"year", 12, 0, 0},
        {"years", 12, 0, 0},
        {"month", 1, 0, 0},
        {"mon", 1, 0, 0},
        {"months", 1, 0, 0},
        {"mons", 1, 0, 0},
        {"week", 0, 7, 0},
        {"weeks", 0, 7, 0},
        {"day", 0, 1, 0},
        {"days", 0, 1, 0},
        {"hour", 0, 0, 3600000000},
        {"hours", 0, 0, 3600000000},
        {"minute", 0, 0, 60000000},
        {"minutes", 0, 0, 60000000},
        {"min", 0, 0, 60000000},
        {"second", 0, 0, 1000000},
        {"seconds", 0, 0, 1000000},
        {"sec", 0, 0, 1000000},
        {"millisecond", 0, 0, 1000},
        {"milliseconds", 0, 0, 1000},
        {"microsecond", 0, 0, 1},
        {"microseconds", 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strncasecmp(units[i].name, name, length) == 0 && !units[i].name[length])
            return &units[i];
    return NULL;
}

/* The rest of hours:minutes or hours:minutes:seconds, in microseconds; *text is at the colon. */
static bool read_clock(const char **text, int64_t hours, int64_t *microseconds)
{
    int minute, second = 0;
    ++*text;
    if (!digits(text, 2, &minute) || minute > 59 || hours < 0 || hours > 100000)
        return false;
    if (**text == ':') {
        ++*text;
        if (!digits(text, 2, &second) || second > 59)
            return false;
    }
    *microseconds = (hours * 3600 + minute * 60 + second) * 1000000;
    return true;
}

bool brume_literal_interval(const char *text, int64_t *months, int64_t *days, int64_t *microseconds)
{
    int64_t total[3] = {0, 0, 0};
    bool any = false;
    for (text = skip_blanks(text); *text; text = skip_blanks(text)) {
        bool negative = *text == '-';
        if (*text == '-' || *text == '+')
            text = skip_blanks(text + 1);
        int64_t number = 0, clock = 0;
        const char *start = text;
        for (; isdigit((unsigned char)*text); text++)
            if ((number = number * 10 + (*text - '0')) > 100000000)
                return false;
        if (text == start)
            return false;
        number = negative ? -number : number;
        any = true;
        if (*text == ':') {
            if (!read_clock(&text, number, &clock))
                return false;
            total[2] += negative ? -clock : clock;
            continue;
        }
        start = text = skip_blanks(text);
        while (isalpha((unsigned char)*text))
            text++;
        const interval_unit *unit = find_interval_unit(start, (size_t)(text - start));
        if (!unit)
            return false;
        total[0] += number * unit->months;
        total[1] += number * unit->days;
        total[2] += number * unit->microseconds;
    }
    /* 120,000 months and 3.7 million days span the calendar; so do 3.2e17 microseconds. */
    if (!any || llabs(total[0]) > 120000 || llabs(total[1]) > 4000000 ||
        llabs(total[2]) > 320000000000000000)
        return false;
    *months = total[0];
    *days = total[1];
    *microseconds = total[2];
    return true;
}

/* Constants of time: where they are on the calendar, and a timestamp moved by an interval, as both
 * engines move it. Months first, where
 * a day that the month does not have becomes its last one; then days; then the clock. */

/* Days from 1970-01-01 of the proleptic Gregorian calendar, and back: eras of 400 years that begin
 * on the first of March. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_of(int64_t days, int64_t *year, int64_t *month, int64_t *day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097, of_era = days - era * 146097;
    int64_t years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * years + years / 4 - years / 100);
    int64_t from_march = (5 * of_year + 2) / 153;
    *day = of_year - (153 * from_march + 2) / 5 + 1;
    *month = from_march + (from_march < 10 ? 3 : -9);
    *year = years + era * 400 + (*month <= 2);
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

int64_t brume_literal_days(const char *canonical)
{
    int year = 1970, month = 1, day = 1;
    (void)sscanf(canonical, "%4d-%2d-%2d", &year, &month, &day);
    return days_of(year, month, day);
}

/* Microseconds since midnight. */
static int64_t clock_of(const char *canonical)
{
    int hour = 0, minute = 0, second = 0, read = 0;
    if (sscanf(canonical, "%*4d-%*2d-%*2d %2d:%2d:%2d%n", &hour, &minute, &second, &read) < 3)
        return 0;
    int64_t clock = ((hour * INT64_C(60) + minute) * 60 + second) * 1000000;
    int64_t unit = 100000;
    if (canonical[read] == '.')
        for (const char *at = canonical + read + 1; *at; at++, unit /= 10)
            clock += (*at - '0') * unit;
    return clock;
}

int64_t brume_literal_microseconds(const char *canonical)
{
    return brume_literal_days(canonical) * BRUME_DAY + clock_of(canonical);
}

bool brume_literal_move(const char *canonical, int64_t months, int64_t days, int64_t microseconds,
                        char moved[32])
{
    int year, month, day;
    if (sscanf(canonical, "%4d-%2d-%2d", &year, &month, &day) < 3)
        return false;
    int64_t clock = clock_of(canonical);
    int64_t total = year * INT64_C(12) + month - 1 + months;
    int64_t new_year = floor_divide(total, 12), new_month = total - new_year * 12 + 1;
    int64_t first = days_of(new_year, new_month, 1);
    int64_t length = days_of(new_year + new_month / 12, new_month % 12 + 1, 1) - first;
    int64_t date = first + (day < length ? day : length) - 1 + days;
    clock += microseconds % BRUME_DAY;
    date += microseconds / BRUME_DAY + floor_divide(clock, BRUME_DAY);
    clock -= floor_divide(clock, BRUME_DAY) * BRUME_DAY;
    int64_t y, m, d;
    date_of(date, &y, &m, &d);
    if (y < 1 || y > 9999)
        return false;
    char text[64];
    snprintf(text, sizeof text, "%04d-%02d-%02d %02d:%02d:%02d.%06d", (int)y, (int)m, (int)d,
             (int)(clock / 3600000000), (int)(clock / 60000000 % 60), (int)(clock / 1000000 % 60),
             (int)(clock % 1000000));
    return brume_literal_timestamp(text, moved);
}

/* Exact decimal numbers as 128-bit integers. Every operation either is exact (or rounds as named)
 * or says that it does not fit.
 *
 * Exact decimal numbers of up to 38 digits as 128-bit integers in units of 10^-scale. */

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
