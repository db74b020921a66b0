/* Windows: the public partition of rows by which a growing table has a budget for each piece.
 *
 * A grid says how instants, or the values of a column, are numbered. It is public and has no end: a
 * window need not be made. A number is the floor of a division, also before 1970, so that windows
 * of one length never overlap. A date counts in days since 1970-01-01, an instant in microseconds
 * since 1970-01-01 00:00:00 UTC. A row whose value is NULL is in the window `undated`, which has no
 * number.
 *
 * This file knows no queries and no budgets: query/ says what a question touches in sets of
 * windows, and the ledger charges each window of a set. */
#ifndef BRUME_LEDGER_WINDOW_H
#define BRUME_LEDGER_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

typedef enum brume_window_length {
    BRUME_WINDOW_HOUR,
    BRUME_WINDOW_DAY,
    BRUME_WINDOW_WEEK, /* from Monday */
    BRUME_WINDOW_MONTH,
    BRUME_WINDOW_QUARTER,
    BRUME_WINDOW_YEAR,
    BRUME_WINDOW_DAYS,   /* `days` days each; window 0 begins on the day `origin` */
    BRUME_WINDOW_VALUES, /* each of `values` is one, and one more are all other values */
} brume_window_length;

typedef struct brume_window_grid {
    brume_window_length length;
    int64_t days, origin;      /* DAYS */
    int64_t offset;            /* seconds: a day begins that much before midnight UTC. Only
                                  timestamps have zones: it moves no date. */
    size_t value_count;        /* VALUES; their order is that of the numbers, for ever */
    const char *const *values; /* distinct; the caller's */
} brume_window_grid;

/* What the calendar has of time: 0001-01-01 00:00:00 to 9999-12-31 23:59:59.999999. */
#define BRUME_WINDOW_MICROSECONDS INT64_C(86400000000) /* in a day */
#define BRUME_WINDOW_FIRST_DAY    INT64_C(-719162)
#define BRUME_WINDOW_LAST_DAY     INT64_C(2932896)

/* "hour", "day", "week", "month", "quarter", "year", "14d from 2026-01-01" or "values" into *grid,
 * and "+02:00" (NULL or "": none; at most 18 hours) into its offset. Its values are not touched.
 * EARGUMENT with the list of lengths; a zone by name is refused. */
BRUME_MUST_USE brume_status brume_window_grid_parse(const char *length, const char *offset,
                                                    brume_window_grid *grid, brume_error *error);

/* The inverse, in canonical form. */
enum { BRUME_WINDOW_TEXT = 48 };
const char *brume_window_length_text(const brume_window_grid *grid, char text[BRUME_WINDOW_TEXT]);
const char *brume_window_offset_text(const brume_window_grid *grid, char text[BRUME_WINDOW_TEXT]);

/* ---- one window ---- */

/* The number of the window of a date, of an instant. A day that is outside of the calendar counts
 * as its first or last. Not for VALUES; dates not for HOUR. */
int64_t brume_window_of_day(const brume_window_grid *grid, int64_t day);
int64_t brume_window_of_instant(const brume_window_grid *grid, int64_t instant);

/* VALUES: of a value, by bytes. value_count: it is none of those declared. */
int64_t brume_window_of_value(const brume_window_grid *grid, const char *value);

/* The first day (not for HOUR) and the first instant of a window; its end is the start of the next.
 * Not for VALUES. */
int64_t brume_window_first_day(const brume_window_grid *grid, int64_t window);
int64_t brume_window_first_instant(const brume_window_grid *grid, int64_t window);

/* The least and the greatest number that a row can have. */
int64_t brume_window_least(const brume_window_grid *grid);
int64_t brume_window_greatest(const brume_window_grid *grid);

/* What people call a window: 2026-01-03T14, 2026-01-03 (also a week and Nd, by their first day),
 * 2026-01, 2026-Q1, 2026; a value as it is, and "all other values". Cut to the room of `label`. */
enum { BRUME_WINDOW_LABEL = 128 };
const char *brume_window_label(const brume_window_grid *grid, int64_t window,
                               char label[BRUME_WINDOW_LABEL]);

/* The inverse. For every length of time but hours any date YYYY-MM-DD does, for the window that has
 * it. EARGUMENT, with an example of what would do. */
BRUME_MUST_USE brume_status brume_window_parse(const brume_window_grid *grid, const char *label,
                                               int64_t *window, brume_error *error);

/* ---- sets of windows ---- */

typedef struct brume_window_range {
    int64_t first, last; /* both are in it */
} brume_window_range;

/* Ranges in ascending order, with a window between each two that is in neither. All zero is the
 * empty set; free what was added to with brume_window_set_free. */
typedef struct brume_window_set {
    brume_window_range *ranges;
    size_t count;
    bool undated; /* the window of rows without a date */
} brume_window_set;

/* Add the windows first..last, in any order and over what is there; none if last < first. On
 * failure (EMEMORY) the set is as it was. */
BRUME_MUST_USE brume_status brume_window_set_add(brume_window_set *set, int64_t first, int64_t last,
                                                 brume_error *error);

/* *out, which may be one of the two, becomes what is in either, or in both. */
BRUME_MUST_USE brume_status brume_window_set_union(const brume_window_set *a,
                                                   const brume_window_set *b, brume_window_set *out,
                                                   brume_error *error);
BRUME_MUST_USE brume_status brume_window_set_intersect(const brume_window_set *a,
                                                       const brume_window_set *b,
                                                       brume_window_set *out, brume_error *error);

bool brume_window_set_contains(const brume_window_set *set, int64_t window);
bool brume_window_set_is_empty(const brume_window_set *set);
bool brume_window_set_equal(const brume_window_set *a, const brume_window_set *b);

/* How many windows: each number is one, and `undated` is one. */
uint64_t brume_window_set_size(const brume_window_set *set);

void brume_window_set_free(brume_window_set *set);

#endif
