/* Constants of time: where they are on the calendar, and a timestamp moved by an interval, as both
 * engines move it. Months first, where
 * a day that the month does not have becomes its last one; then days; then the clock. */
#include "query/expression/literal.h"

#include <stdio.h>
#include <string.h>

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
