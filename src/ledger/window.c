/* Windows: their numbers, their names, and sets of them. */
#include "ledger/window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define MICROSECONDS_AN_HOUR INT64_C(3600000000)
#define LENGTHS              "hour, day, week, month, quarter, year, '14d from 2026-01-05', values"

/* Towards minus infinity; C's division goes towards zero and would put the days before and after
 * 1970 into one window. */
static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Days from 1970-01-01 of the proleptic Gregorian calendar, and back: eras of 400 years that begin
 * on the first of March. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = floor_divide(year, 400), of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_of(int64_t days, int64_t *year, int64_t *month, int64_t *day)
{
    days += 719468;
    int64_t era = floor_divide(days, 146097), of_era = days - era * 146097;
    int64_t years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * years + years / 4 - years / 100);
    int64_t from_march = (5 * of_year + 2) / 153;
    *day = of_year - (153 * from_march + 2) / 5 + 1;
    *month = from_march + (from_march < 10 ? 3 : -9);
    *year = years + era * 400 + (*month <= 2);
}

/* `text` is "YYYY-MM-DD" of the calendar and nothing more. */
static bool read_date(const char *text, int64_t *day)
{
    int year, month, date, read = 0;
    if (strlen(text) != 10 || strspn(text, "0123456789-") != 10 ||
        sscanf(text, "%4d-%2d-%2d%n", &year, &month, &date, &read) != 3 || read != 10 || year < 1 ||
        month < 1 || month > 12 || date < 1 || date > 31)
        return false;
    int64_t found = days_of(year, month, date), y, m, d;
    date_of(found, &y, &m, &d);
    if (y != year || m != month || d != date)
        return false;
    *day = found;
    return true;
}

/* ---- grids ---- */

static brume_status parse_offset(const char *text, int64_t *offset, brume_error *error)
{
    int hours, minutes, read = 0;
    *offset = 0;
    if (!text || !*text)
        return BRUME_OK;
    if ((*text != '+' && *text != '-') || strlen(text) != 6 ||
        strspn(text + 1, "0123456789:") != 5 ||
        sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &read) != 2 || read != 5 || minutes > 59 ||
        hours * 60 + minutes > 18 * 60)
        return brume_fail(error, BRUME_EARGUMENT,
                          "write a fixed offset such as +02:00; a zone by name is refused, because "
                          "two engines may not agree on its summer time",
                          "the offset of windows is '%s', and must be from -18:00 to +18:00", text);
    *offset = (hours * INT64_C(60) + minutes) * 60 * (*text == '-' ? -1 : 1);
    return BRUME_OK;
}

static const char *const length_names[] = {
    [BRUME_WINDOW_HOUR] = "hour",       [BRUME_WINDOW_DAY] = "day",
    [BRUME_WINDOW_WEEK] = "week",       [BRUME_WINDOW_MONTH] = "month",
    [BRUME_WINDOW_QUARTER] = "quarter", [BRUME_WINDOW_YEAR] = "year",
    [BRUME_WINDOW_DAYS] = "Nd",         [BRUME_WINDOW_VALUES] = "values"};

brume_status brume_window_grid_parse(const char *length, const char *offset,
                                     brume_window_grid *grid, brume_error *error)
{
    brume_window_grid made = *grid;
    bool known = false;
    made.days = made.origin = 0;
    for (size_t i = 0; i <= BRUME_WINDOW_VALUES && !known; i++)
        if (i != BRUME_WINDOW_DAYS && strcmp(length, length_names[i]) == 0) {
            made.length = (brume_window_length)i;
            known = true;
        }
    int days = 0, at = 0;
    if (!known && strspn(length, "0123456789") >= 1 && strspn(length, "0123456789") <= 5 &&
        sscanf(length, "%5dd from %n", &days, &at) == 1 && at > 0 && days >= 1 && days <= 36600 &&
        read_date(length + at, &made.origin)) {
        made.length = BRUME_WINDOW_DAYS;
        made.days = days;
        known = true;
    }
    if (!known)
        return brume_fail(error, BRUME_EARGUMENT, "one of " LENGTHS,
                          "unknown length of windows '%s'", length);
    BRUME_TRY(parse_offset(offset, &made.offset, error));
    if (made.offset != 0 && made.length == BRUME_WINDOW_VALUES)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "windows of values have no 'offset'");
    *grid = made;
    return BRUME_OK;
}

static void write_date(int64_t day, char text[BRUME_WINDOW_TEXT])
{
    int64_t y, m, d;
    date_of(day, &y, &m, &d);
    snprintf(text, BRUME_WINDOW_TEXT, "%04d-%02d-%02d", (int)y, (int)m, (int)d);
}

const char *brume_window_length_text(const brume_window_grid *grid, char text[BRUME_WINDOW_TEXT])
{
    char date[BRUME_WINDOW_TEXT];
    if (grid->length != BRUME_WINDOW_DAYS) {
        snprintf(text, BRUME_WINDOW_TEXT, "%s", length_names[grid->length]);
        return text;
    }
    write_date(grid->origin, date);
    snprintf(text, BRUME_WINDOW_TEXT, "%dd from %.10s", (int)grid->days, date);
    return text;
}

const char *brume_window_offset_text(const brume_window_grid *grid, char text[BRUME_WINDOW_TEXT])
{
    int minutes = (int)(llabs(grid->offset) / 60);
    snprintf(text, BRUME_WINDOW_TEXT, "%c%02d:%02d", grid->offset < 0 ? '-' : '+', minutes / 60,
             minutes % 60);
    return text;
}

/* ---- one window ---- */

static int64_t within_calendar(int64_t day)
{
    return day < BRUME_WINDOW_FIRST_DAY  ? BRUME_WINDOW_FIRST_DAY
           : day > BRUME_WINDOW_LAST_DAY ? BRUME_WINDOW_LAST_DAY
                                         : day;
}

int64_t brume_window_of_day(const brume_window_grid *grid, int64_t day)
{
    int64_t y, m, d;
    day = within_calendar(day);
    date_of(day, &y, &m, &d);
    switch (grid->length) {
    case BRUME_WINDOW_WEEK: /* 1970-01-01 was a Thursday: window 0 is its week */
        return floor_divide(day + 3, 7);
    case BRUME_WINDOW_MONTH:
        return (y - 1970) * 12 + m - 1;
    case BRUME_WINDOW_QUARTER:
        return (y - 1970) * 4 + (m - 1) / 3;
    case BRUME_WINDOW_YEAR:
        return y - 1970;
    case BRUME_WINDOW_DAYS:
        return floor_divide(day - grid->origin, grid->days);
    default:
        return day;
    }
}

int64_t brume_window_of_instant(const brume_window_grid *grid, int64_t instant)
{
    int64_t local = instant + grid->offset * 1000000;
    if (grid->length != BRUME_WINDOW_HOUR)
        return brume_window_of_day(grid, floor_divide(local, BRUME_WINDOW_MICROSECONDS));
    int64_t hour = floor_divide(local, MICROSECONDS_AN_HOUR);
    return hour < BRUME_WINDOW_FIRST_DAY * 24       ? BRUME_WINDOW_FIRST_DAY * 24
           : hour > BRUME_WINDOW_LAST_DAY * 24 + 23 ? BRUME_WINDOW_LAST_DAY * 24 + 23
                                                    : hour;
}

int64_t brume_window_of_value(const brume_window_grid *grid, const char *value)
{
    size_t i = 0;
    while (i < grid->value_count && strcmp(grid->values[i], value) != 0)
        i++;
    return (int64_t)i;
}

int64_t brume_window_first_day(const brume_window_grid *grid, int64_t window)
{
    switch (grid->length) {
    case BRUME_WINDOW_WEEK:
        return window * 7 - 3;
    case BRUME_WINDOW_MONTH:
        return days_of(1970 + floor_divide(window, 12), window - floor_divide(window, 12) * 12 + 1,
                       1);
    case BRUME_WINDOW_QUARTER:
        return days_of(1970 + floor_divide(window, 4),
                       (window - floor_divide(window, 4) * 4) * 3 + 1, 1);
    case BRUME_WINDOW_YEAR:
        return days_of(1970 + window, 1, 1);
    case BRUME_WINDOW_DAYS:
        return grid->origin + window * grid->days;
    default:
        return window;
    }
}

int64_t brume_window_first_instant(const brume_window_grid *grid, int64_t window)
{
    int64_t local = grid->length == BRUME_WINDOW_HOUR
                        ? window * MICROSECONDS_AN_HOUR
                        : brume_window_first_day(grid, window) * BRUME_WINDOW_MICROSECONDS;
    return local - grid->offset * 1000000;
}

int64_t brume_window_least(const brume_window_grid *grid)
{
    return grid->length == BRUME_WINDOW_VALUES ? 0
           : grid->length == BRUME_WINDOW_HOUR ? BRUME_WINDOW_FIRST_DAY * 24
                                               : brume_window_of_day(grid, BRUME_WINDOW_FIRST_DAY);
}

int64_t brume_window_greatest(const brume_window_grid *grid)
{
    return grid->length == BRUME_WINDOW_VALUES ? (int64_t)grid->value_count
           : grid->length == BRUME_WINDOW_HOUR ? BRUME_WINDOW_LAST_DAY * 24 + 23
                                               : brume_window_of_day(grid, BRUME_WINDOW_LAST_DAY);
}

#define OTHER_VALUES "all other values"

const char *brume_window_label(const brume_window_grid *grid, int64_t window,
                               char label[BRUME_WINDOW_LABEL])
{
    char date[BRUME_WINDOW_TEXT];
    int64_t hours = 0;
    if (grid->length == BRUME_WINDOW_VALUES) {
        bool other = window < 0 || (uint64_t)window >= grid->value_count;
        snprintf(label, BRUME_WINDOW_LABEL, "%s", other ? OTHER_VALUES : grid->values[window]);
        return label;
    }
    if (grid->length == BRUME_WINDOW_HOUR) {
        hours = window - floor_divide(window, 24) * 24;
        window = floor_divide(window, 24);
    }
    write_date(brume_window_first_day(grid, window), date);
    if (grid->length == BRUME_WINDOW_HOUR)
        snprintf(label, BRUME_WINDOW_LABEL, "%.10sT%02d", date, (int)hours);
    else if (grid->length == BRUME_WINDOW_QUARTER)
        snprintf(label, BRUME_WINDOW_LABEL, "%.4s-Q%d", date,
                 (int)(window - floor_divide(window, 4) * 4) + 1);
    else
        snprintf(label, BRUME_WINDOW_LABEL, "%.*s",
                 grid->length == BRUME_WINDOW_YEAR    ? 4
                 : grid->length == BRUME_WINDOW_MONTH ? 7
                                                      : 10,
                 date);
    return label;
}

/* "2026", "2026-01", "2026-Q1", "2026-01-03T14" and any date, as a day; false: none of them. */
static bool read_label(const brume_window_grid *grid, const char *label, int64_t *day, int *hour)
{
    char date[BRUME_WINDOW_TEXT];
    size_t length = strlen(label);
    *hour = 0;
    if (grid->length == BRUME_WINDOW_HOUR) {
        if (length != 13 || label[10] != 'T' || strspn(label + 11, "0123456789") != 2)
            return false;
        *hour = (label[11] - '0') * 10 + label[12] - '0';
        snprintf(date, sizeof date, "%.10s", label);
        return *hour < 24 && read_date(date, day);
    }
    if (grid->length == BRUME_WINDOW_YEAR && length == 4)
        snprintf(date, sizeof date, "%.4s-01-01", label);
    else if (grid->length == BRUME_WINDOW_MONTH && length == 7)
        snprintf(date, sizeof date, "%.7s-01", label);
    else if (grid->length == BRUME_WINDOW_QUARTER && length == 7 && label[5] == 'Q' &&
             label[6] >= '1' && label[6] <= '4')
        snprintf(date, sizeof date, "%.5s%02d-01", label, (label[6] - '1') * 3 + 1);
    else
        snprintf(date, sizeof date, "%.*s", BRUME_WINDOW_TEXT - 1, label);
    return read_date(date, day);
}

brume_status brume_window_parse(const brume_window_grid *grid, const char *label, int64_t *window,
                                brume_error *error)
{
    if (grid->length == BRUME_WINDOW_VALUES) {
        int64_t found = brume_window_of_value(grid, label);
        if ((size_t)found == grid->value_count && strcmp(label, OTHER_VALUES) != 0)
            return brume_fail(error, BRUME_EARGUMENT,
                              "a value of the declared domain, or '" OTHER_VALUES "'",
                              "no window is called '%.80s'", label);
        *window = found;
        return BRUME_OK;
    }
    int64_t day;
    int hour;
    if (!read_label(grid, label, &day, &hour)) {
        char example[BRUME_WINDOW_LABEL], hint[BRUME_WINDOW_LABEL + 32];
        int64_t new_year = days_of(2026, 1, 1);
        brume_window_label(grid,
                           grid->length == BRUME_WINDOW_HOUR ? new_year * 24 + 14
                                                             : brume_window_of_day(grid, new_year),
                           example);
        snprintf(hint, sizeof hint, "write it like %s", example);
        return brume_fail(error, BRUME_EARGUMENT, hint, "no window is called '%.80s'", label);
    }
    *window = grid->length == BRUME_WINDOW_HOUR ? day * 24 + hour : brume_window_of_day(grid, day);
    return BRUME_OK;
}

/* ---- sets of windows ---- */

/* Put a range behind those that are there: it begins where the last one does, or later. */
static void append(brume_window_range *ranges, size_t *count, brume_window_range range)
{
    brume_window_range *last = *count > 0 ? &ranges[*count - 1] : NULL;
    if (!last || last->last == INT64_MAX || last->last + 1 < range.first) {
        if (!last || last->last < range.first)
            ranges[(*count)++] = range;
    } else if (last->last < range.last)
        last->last = range.last;
}

static brume_status take(brume_window_range *ranges, size_t count, bool undated,
                         brume_window_set *out)
{
    free(out->ranges);
    if (count == 0) {
        free(ranges);
        ranges = NULL;
    }
    *out = (brume_window_set){.ranges = ranges, .count = count, .undated = undated};
    return BRUME_OK;
}

brume_status brume_window_set_union(const brume_window_set *a, const brume_window_set *b,
                                    brume_window_set *out, brume_error *error)
{
    brume_window_range *ranges = malloc((a->count + b->count + 1) * sizeof *ranges);
    if (!ranges)
        return brume_no_memory(error, "windows");
    size_t count = 0, i = 0, j = 0;
    while (i < a->count || j < b->count) {
        bool first = j == b->count || (i < a->count && a->ranges[i].first <= b->ranges[j].first);
        append(ranges, &count, first ? a->ranges[i++] : b->ranges[j++]);
    }
    return take(ranges, count, a->undated || b->undated, out);
}

brume_status brume_window_set_intersect(const brume_window_set *a, const brume_window_set *b,
                                        brume_window_set *out, brume_error *error)
{
    brume_window_range *ranges = malloc((a->count + b->count + 1) * sizeof *ranges);
    if (!ranges)
        return brume_no_memory(error, "windows");
    size_t count = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        const brume_window_range x = a->ranges[i], y = b->ranges[j];
        brume_window_range both = {x.first > y.first ? x.first : y.first,
                                   x.last < y.last ? x.last : y.last};
        if (both.first <= both.last)
            append(ranges, &count, both);
        if (x.last < y.last)
            i++;
        else
            j++;
    }
    return take(ranges, count, a->undated && b->undated, out);
}

brume_status brume_window_set_add(brume_window_set *set, int64_t first, int64_t last,
                                  brume_error *error)
{
    brume_window_range range = {first, last};
    if (last < first)
        return BRUME_OK;
    return brume_window_set_union(set, &(brume_window_set){.ranges = &range, .count = 1}, set,
                                  error);
}

bool brume_window_set_contains(const brume_window_set *set, int64_t window)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->ranges[middle].last < window)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set->count && set->ranges[low].first <= window;
}

bool brume_window_set_is_empty(const brume_window_set *set)
{
    return set->count == 0 && !set->undated;
}

bool brume_window_set_equal(const brume_window_set *a, const brume_window_set *b)
{
    if (a->count != b->count || a->undated != b->undated)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->ranges[i].first != b->ranges[i].first || a->ranges[i].last != b->ranges[i].last)
            return false;
    return true;
}

uint64_t brume_window_set_size(const brume_window_set *set)
{
    uint64_t size = set->undated;
    for (size_t i = 0; i < set->count; i++)
        size += (uint64_t)set->ranges[i].last - (uint64_t)set->ranges[i].first + 1;
    return size;
}

void brume_window_set_free(brume_window_set *set)
{
    free(set->ranges);
    *set = (brume_window_set){0};
}
