/* Exact values as they come from an engine: their order, and dates, timestamps and decimals as
 * text.
 */
#include "query/plan/key_value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int compare_cells(const brume_key_value *a, const brume_key_value *b)
{
    if (a->null || b->null)
        return (int)a->null - (int)b->null; /* NULL last */
    if (a->wire == BRUME_WIRE_INTEGER)
        return (a->integer > b->integer) - (a->integer < b->integer);
    if (a->wire == BRUME_WIRE_REAL)
        return (a->real > b->real) - (a->real < b->real);
    size_t shorter = a->text.length < b->text.length ? a->text.length : b->text.length;
    int order = shorter ? memcmp(a->text.data, b->text.data, shorter) : 0;
    if (order != 0)
        return order;
    return (a->text.length > b->text.length) - (a->text.length < b->text.length);
}

int brume_keys_compare(const brume_key_value *a, const brume_key_value *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int order = compare_cells(&a[i], &b[i]);
        if (order != 0)
            return order;
    }
    return 0;
}

static brume_value number_value(double x)
{
    return (brume_value){.kind = BRUME_VALUE_NUMBER, .number = x};
}

/* A whole number; with its digits where a double may not have it. */
static brume_value whole_value(int64_t x, char *room, size_t size)
{
    brume_value value = number_value((double)x);
    if (x >= INT64_C(1) << 53 || x <= -(INT64_C(1) << 53)) {
        value.length = (size_t)snprintf(room, size, "%lld", (long long)x);
        value.text = room;
    }
    return value;
}

/* Year, month, day of a number of days since 1970-01-01. */
static void date_of(int64_t days, char *text, size_t size)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097, of_era = days - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153, day = of_year - (153 * month + 2) / 5 + 1;
    month += month < 10 ? 3 : -9;
    snprintf(text, size, "%04d-%02d-%02d", (int)(year + era * 400 + (month <= 2)), (int)month,
             (int)day);
}

static void timestamp_of(int64_t microseconds, char *text, size_t size)
{
    int64_t day = INT64_C(86400000000), days = microseconds / day, rest = microseconds % day;
    if (rest < 0) {
        rest += day;
        days--;
    }
    char date[40];
    date_of(days, date, sizeof date);
    int64_t seconds = rest / 1000000;
    int used = snprintf(text, size, "%s %02d:%02d:%02d", date, (int)(seconds / 3600),
                        (int)(seconds / 60 % 60), (int)(seconds % 60));
    if (rest % 1000000)
        snprintf(text + used, size - (size_t)used, ".%06d", (int)(rest % 1000000));
}

/* A decimal from its units of 10^-scale, scale at most 18: those that travel as integers. */
static void decimal_of(int64_t units, int scale, char *text, size_t size)
{
    char digits[32];
    int count = snprintf(digits, sizeof digits, "%019llu",
                         units < 0 ? 0 - (unsigned long long)units : (unsigned long long)units);
    int whole = count - scale, first = 0;
    while (first < whole - 1 && digits[first] == '0')
        first++;
    snprintf(text, size, "%s%.*s.%s", units < 0 ? "-" : "", whole - first, digits + first,
             digits + whole);
}

void brume_integer_text(brume_type type, int64_t value, char *text, size_t size)
{
    if (type.kind == BRUME_TYPE_DATE)
        date_of(value, text, size);
    else if (type.kind == BRUME_TYPE_TIMESTAMP)
        timestamp_of(value, text, size);
    else if (type.kind == BRUME_TYPE_BOOLEAN)
        snprintf(text, size, "%s", value ? "true" : "false");
    else if (type.kind == BRUME_TYPE_DECIMAL && type.scale > 0 && type.scale <= 18)
        decimal_of(value, type.scale, text, size);
    else
        snprintf(text, size, "%lld", (long long)value);
}

brume_value brume_key_formula_value(brume_type type, const brume_key_value *key, char *room,
                                    size_t size)
{
    brume_value value = {.kind = BRUME_VALUE_NULL};
    if (key->null)
        return value;
    switch (type.kind) {
    case BRUME_TYPE_BOOLEAN:
        return (brume_value){.kind = BRUME_VALUE_BOOLEAN, .boolean = key->integer != 0};
    case BRUME_TYPE_INTEGER:
    case BRUME_TYPE_BIGINT:
        return whole_value(key->integer, room, size);
    case BRUME_TYPE_DATE:
        date_of(key->integer, room, size);
        break;
    case BRUME_TYPE_TIMESTAMP:
        timestamp_of(key->integer, room, size);
        break;
    case BRUME_TYPE_DECIMAL:
        if (key->wire == BRUME_WIRE_INTEGER)
            return number_value((double)key->integer / pow(10, type.scale));
        return (brume_value){
            .kind = BRUME_VALUE_TEXT, .text = key->text.data, .length = key->text.length};
    case BRUME_TYPE_DOUBLE:
        return number_value(key->real);
    case BRUME_TYPE_TEXT:
    case BRUME_TYPE_REFUSED:
        return (brume_value){
            .kind = BRUME_VALUE_TEXT, .text = key->text.data, .length = key->text.length};
    }
    return (brume_value){.kind = BRUME_VALUE_TEXT, .text = room, .length = strlen(room)};
}
