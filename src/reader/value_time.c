/* Dates and timestamps from text: see value.h. */
#include "reader/value.h"
#include "reader/value_parts.h"

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
