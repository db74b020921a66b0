/* Values of declared domains, as an engine sends them in a key column. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "query/plan/policy.h"

static bool read_integer(const char *text, int64_t *out)
{
    char *end = NULL;
    long long value = strtoll(text, &end, 10);
    char again[24];
    snprintf(again, sizeof again, "%lld", value);
    *out = value;
    return *text && !*end && strcmp(again, text) == 0; /* the canonical writing only */
}

/* Days from 1970-01-01 to a date of the proleptic Gregorian calendar. */
static int64_t days_from_date(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool read_date(const char *text, int64_t *out)
{
    static const int lengths[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = 0, month = 0, day = 0;
    /* Digits alone: sscanf takes signs and spaces, and one date must not be two values. */
    for (size_t i = 0; i < 10; i++)
        if (i == 4 || i == 7 ? text[i] != '-' : text[i] < '0' || text[i] > '9')
            return false;
    if (text[10] || sscanf(text, "%4d-%2d-%2d", &year, &month, &day) != 3 || year < 1 ||
        month < 1 || month > 12 || day < 1 || day > lengths[month - 1])
        return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (month == 2 && day == 29 && !leap)
        return false;
    *out = days_from_date(year, month, day);
    return true;
}

brume_status brume_policy_domain_value(brume_type type, const char *text, brume_key_value *out,
                                       brume_error *error)
{
    brume_key_value cell = {.wire = BRUME_WIRE_INTEGER};
    bool good = false;
    switch (type.kind) {
    case BRUME_TYPE_TEXT:
        cell.wire = BRUME_WIRE_TEXT;
        cell.text = (brume_text){text, strlen(text)};
        good = true;
        break;
    case BRUME_TYPE_BOOLEAN:
        cell.integer = strcmp(text, "true") == 0;
        good = cell.integer || strcmp(text, "false") == 0;
        break;
    case BRUME_TYPE_INTEGER:
    case BRUME_TYPE_BIGINT:
        good = read_integer(text, &cell.integer);
        break;
    case BRUME_TYPE_DATE:
        good = read_date(text, &cell.integer);
        break;
    case BRUME_TYPE_REFUSED:
    case BRUME_TYPE_DECIMAL:
    case BRUME_TYPE_DOUBLE:
    case BRUME_TYPE_TIMESTAMP:
        break;
    }
    char name[BRUME_TYPE_NAME_SIZE];
    if (!good)
        return brume_fail(error, BRUME_EARGUMENT,
                          "domains are declared for text, whole numbers, dates and booleans",
                          "'%s' is not a value of type %s for a domain", text,
                          brume_type_name(type, name));
    *out = cell;
    return BRUME_OK;
}
