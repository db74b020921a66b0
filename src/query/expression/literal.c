/* Constants: what was typed, checked and in canonical text. */
#include "query/expression/literal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
