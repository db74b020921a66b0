/* Values to try in a column, from what is public of it. */
#include "audit/query/values.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/expression/literal.h"

void brume_values_clear(brume_values *values)
{
    for (size_t i = 0; i < values->count; i++)
        free(values->texts[i]);
    *values = (brume_values){0};
}

static bool is_whole(const char *text)
{
    text += *text == '-' || *text == '+';
    return *text && strspn(text, "0123456789") == strlen(text);
}

static bool is_number(const char *text)
{
    char *end = NULL;
    strtod(text, &end);
    return end != text && !*end && strspn(text, "+-.0123456789eE") == strlen(text);
}

static bool is_whole_within(const char *text, int64_t low, int64_t high)
{
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    return is_whole(text) && errno == 0 && value >= low && value <= high;
}

/* Does the text convert to the type on every engine? A row of another would be skipped, or be an
 * error. */
static bool fits(brume_type type, const char *text)
{
    char canonical[32];
    switch (type.kind) {
    case BRUME_TYPE_REFUSED:
        return false;
    case BRUME_TYPE_BOOLEAN:
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    case BRUME_TYPE_INTEGER:
        return is_whole_within(text, INT32_MIN, INT32_MAX);
    case BRUME_TYPE_BIGINT:
        return is_whole_within(text, INT64_MIN, INT64_MAX);
    case BRUME_TYPE_DECIMAL: /* half a unit of room: it may be rounded up */
        return is_number(text) && !strpbrk(text, "eE") &&
               fabs(strtod(text, NULL)) < pow(10, type.precision - type.scale) - 0.5;
    case BRUME_TYPE_DOUBLE:
        return is_number(text) && fabs(strtod(text, NULL)) < 1e150;
    case BRUME_TYPE_TEXT:
        return true;
    case BRUME_TYPE_DATE:
        return brume_literal_date(text, canonical);
    case BRUME_TYPE_TIMESTAMP:
        return brume_literal_timestamp(text, canonical);
    }
    return false;
}

/* The place of the value; it is added where it is new and there is room. False: out of memory. */
static bool add(brume_values *values, const char *text, size_t *place)
{
    for (size_t i = 0; i < values->count; i++)
        if (strcmp(values->texts[i], text) == 0) {
            *place = i;
            return true;
        }
    *place = values->count ? values->count - 1 : 0;
    if (values->count == BRUME_VALUES)
        return true;
    char *copy = strdup(text);
    if (!copy)
        return false;
    *place = values->count;
    values->texts[values->count++] = copy;
    return true;
}

/* A literal; around a number also its neighbours, since conditions turn there. */
static bool add_literal(brume_values *values, brume_type type, const char *text)
{
    size_t place;
    char near[40];
    if (!fits(type, text))
        return true;
    bool good = add(values, text, &place);
    bool number = brume_type_is_number(type) && strlen(text) < 16;
    for (int step = -1; good && number && step <= 1; step += 2) {
        snprintf(near, sizeof near, "%.10g", strtod(text, NULL) + step);
        if (fits(type, near))
            good = add(values, near, &place);
    }
    return good;
}

/* Every 'text' and every number that stands in the SQL. */
static bool add_literals(brume_values *values, brume_type type, const char *sql)
{
    bool good = true;
    while (good && *sql) {
        char text[80];
        size_t length = 0;
        if (*sql == '\'') {
            for (sql++; *sql && (*sql != '\'' || sql[1] == '\''); sql++) {
                sql += *sql == '\''; /* doubled */
                if (length + 1 < sizeof text)
                    text[length++] = *sql;
            }
            sql += *sql != 0;
        } else if (isdigit((unsigned char)*sql)) {
            for (; isdigit((unsigned char)*sql) || *sql == '.'; sql++)
                if (length + 1 < sizeof text)
                    text[length++] = *sql;
        } else if (isalpha((unsigned char)*sql) || *sql == '_') {
            sql += strspn(sql, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
            continue;
        } else {
            sql++;
            continue;
        }
        text[length] = 0;
        good = add_literal(values, type, text);
    }
    return good;
}

/* A few values of the type, where nothing better is known. */
static bool add_plain(brume_values *values, brume_type type)
{
    static const char *const plain[] = {"0",          "1",          "2",          "3",
                                        "true",       "false",      "2020-01-01", "2020-06-15",
                                        "2021-12-31", "1999-02-28", "a",          "b"};
    size_t place;
    bool good = true;
    for (size_t i = 0; good && i < sizeof plain / sizeof *plain; i++)
        if (fits(type, plain[i]))
            good = add(values, plain[i], &place);
    return good;
}

brume_status brume_values_find(const brume_policy_column *column, const char *sql,
                               brume_values *out, brume_error *error)
{
    size_t place;
    bool good = true;
    *out = (brume_values){0};
    if (column->low && column->high)
        good = add(out, column->low, &out->low) && add(out, column->high, &out->high);
    for (size_t i = 0; good && i < column->domain_count; i++)
        good = add(out, column->domain[i], &place);
    good = good && add_literals(out, column->type, sql);
    if (good && !column->domain && !(column->low && column->high))
        good = add_plain(out, column->type);
    if (good && out->count == 0)
        good = add(out, "", &place); /* missing */
    return good ? BRUME_OK : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for an audit");
}

brume_status brume_values_share(const brume_policy_column *other, brume_type type,
                                brume_values *values, brume_error *error)
{
    const char *const bounds[] = {other->low, other->high};
    size_t place;
    bool good = true;
    for (size_t i = 0; good && i < 2; i++)
        good = !bounds[i] || !fits(type, bounds[i]) || add(values, bounds[i], &place);
    for (size_t i = 0; good && i < other->domain_count; i++)
        good = !fits(type, other->domain[i]) || add(values, other->domain[i], &place);
    return good ? BRUME_OK : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for an audit");
}

void brume_values_between(const brume_policy_column *column, double share, char text[64])
{
    text[0] = 0;
    if (!column->low || !column->high || !brume_type_is_number(column->type))
        return;
    double low = strtod(column->low, NULL), high = strtod(column->high, NULL);
    bool whole = column->type.kind == BRUME_TYPE_INTEGER || column->type.kind == BRUME_TYPE_BIGINT;
    snprintf(text, 64, whole ? "%.0f" : "%.4f", low + share * (high - low));
    if (!fits(column->type, text))
        text[0] = 0;
}

void brume_values_beyond(const brume_policy_column *column, bool above, char text[64])
{
    text[0] = 0;
    if (!column->low || !column->high || !brume_type_is_number(column->type))
        return;
    double low = strtod(column->low, NULL), high = strtod(column->high, NULL);
    for (double times = 10; times > .1; times /= 2) { /* as far as the type lets it */
        double beyond = above ? high + times * (high - low) + 1 : low - times * (high - low) - 1;
        snprintf(text, 64, "%.0f", beyond);
        if (fits(column->type, text))
            return;
    }
    text[0] = 0;
}

brume_status brume_values_unit(const brume_policy_column *column, unsigned unit, char text[64],
                               brume_error *error)
{
    enum { WHOLE_DIGITS = 4 }; /* of the largest number of a unit */
    brume_type type = column->type;
    bool date = type.kind == BRUME_TYPE_DATE || type.kind == BRUME_TYPE_TIMESTAMP;
    bool few = type.kind == BRUME_TYPE_DECIMAL && type.precision - type.scale < WHOLE_DIGITS;
    if (strcmp(column->native, "UUID") == 0)
        snprintf(text, 64, "00000000-0000-0000-0000-%012u", unit);
    else if (type.kind == BRUME_TYPE_BOOLEAN || strncmp(column->native, "ENUM(", 5) == 0 || few)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "units of the type %.40s cannot be made for an audit", column->native);
    else
        snprintf(text, 64, date ? "%u-01-01" : "%u", date ? 1000 + unit : unit); /* below 9999 */
    return BRUME_OK;
}
