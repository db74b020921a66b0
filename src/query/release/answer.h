/* The answer of a query: a released table with what is said of each column, and what it cost.
 *
 * It is made from drawn numbers (present.h) or from the ledger's record of an earlier one. Text,
 * CSV and HTML are written from it; answer.c alone turns it into JSON and back.
 *
 * One more thing to say of a column is one more member here, filled in by present_columns.c; where
 * it is a number, one more row of the table in answer.c. */
#ifndef BRUME_QUERY_ANSWER_H
#define BRUME_QUERY_ANSWER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

#include "ledger/ledger.h"
#include "query/plan/words.h"
#include "query/sql/formula.h"

/* A number that is NaN is not there, an integer that is negative neither. */

/* Estimates of how many units limits and bounds concern. */
typedef struct brume_answer_bias {
    double units;        /* of about so many units; NaN: no estimate at all */
    double cut, clamped; /* so many have a value that is clamped; cut by limits: only in answers
                            that were recorded before limits had their own count */
    double error_95;     /* the noise of each of the three */
} brume_answer_bias;

/* What a limit is a number of, where it comes from, and where the true number is if limits cut
 * something: for the notes (notes.c). Recorded as words, the first of each as nothing. */
typedef enum brume_answer_counts {
    BRUME_COUNTS_UNKNOWN,
    BRUME_COUNTS_ROWS,
    BRUME_COUNTS_SUM,
    BRUME_COUNTS_GROUPS,
    BRUME_COUNTS_VALUES, /* different ones */
    BRUME_COUNTS_VOTES,
} brume_answer_counts;

typedef enum brume_answer_origin {
    BRUME_ORIGIN_CHOSEN,
    BRUME_ORIGIN_TYPED,
    BRUME_ORIGIN_OWNER, /* a ceiling of the policy */
} brume_answer_origin;

typedef enum brume_answer_side {
    BRUME_SIDE_EITHER,
    BRUME_SIDE_HIGHER,
    BRUME_SIDE_LOWER,
} brume_answer_side;

typedef struct brume_answer_column {
    char *name;
    bool is_key;
    char *period; /* of a key that is date_trunc: "month"; NULL: of another one */
    double limit; /* on what one unit adds, in the units of the column; of a private key, in how
                     many groups a unit counts for whether they are shown */
    /* For values, not for keys: */
    char *mechanism;      /* NULL: no single one */
    double error_95;      /* the largest of the rows */
    double cut_units;     /* hardly more units than this are above it */
    double cut_allowance; /* estimate of what they have beyond it, the largest of the rows */
    double cut_hidden;    /* so many units may be far above it, unseen, that the bar is not of the
                             whole; NaN: too few to matter, or cut_allowance is not known */
    double reach; /* cut_allowance holds if nobody has more than this; NaN: whoever has what */
    brume_answer_counts counts;
    brume_answer_origin origin;
    brume_answer_side side;
    bool clamps;                  /* values may be moved to bounds: of a column, */
    double clamp_low, clamp_high; /* to these; NaN: of something that is computed */
    bool is_limited;              /* it has limit, cut_units, cut_allowance; NaN: not known, or of
                                     arithmetic: several limits */
    bool limit_not_found;         /* too few units for the price */
    bool adds_up;                 /* of joint sets: every total is the sum of its parts */
    bool cut_not_known;           /* so many may be cut that no estimate is given: it has no bar */
    bool cut_in_bar; /* of a mean, a quantile or a mode: its bar allows for what limits cut */
    bool biased;     /* limits or bounds may move it */
    double rank_error_95, count_error_95, gap_95; /* of quantiles and modes, in place of error_95 */
    double quantile;   /* of MIN and MAX: the quantile that is shown in their place */
    int64_t threshold; /* of a mode of undeclared values */
    char *bar_why;     /* why none of its rows has a bar, where SQL over released tables made it */
    brume_answer_bias bias;
} brume_answer_column;

/* A price, or what is left of a budget. */
typedef struct brume_answer_price {
    bool concentrated; /* the amount is rho, and not epsilon */
    double amount, delta;
} brume_answer_price;

typedef struct brume_query_answer {
    brume_answer_column *columns;
    size_t column_count;
    brume_value *values; /* values[row * column_count + column]; their texts are the answer's own */
    double *errors;      /* of the same shape: half-widths at 95 % */
    double *cuts; /* NULL, or of the same shape: what limits may have cut there, where rows differ;
                     NaN: what the column says */
    brume_value (*intervals)[2]; /* ... of quantiles, at 95 %; NULL where there is none, and as a
                                    whole where no column has any */
    bool *totals;  /* NULL, or of the same shape: a key that is NULL because the row is of a
                      grouping set without it, a margin */
    bool *too_few; /* ... a value that is NULL because it would be noise alone, or a count, a sum or
                      a share that is no larger than its bar */
    bool *near;    /* NULL, or which rows had hardly enough units to be shown */
    size_t row_count;
    bool errors_vary;    /* some column's error is not the same in all rows */
    bool joint_sets;     /* of grouping sets that are fitted to each other: */
    double joint_factor; /* errors depend on each other, and together are no more than if they were
                            independent and so many times as large; 1 of others */
    bool is_public;      /* of public tables only: exact, and free of charge */
    bool post_processed; /* SQL over released tables made it: `stages` are what was released */
    bool is_dummy;       /* of a made table: says nothing of the data, and is free of charge */
    /* The cost. */
    brume_answer_price cost;
    bool delta_by_default; /* nobody typed a delta */
    int64_t threshold;     /* a private key with fewer units is hardly ever shown */
    char *limits_chosen;   /* where the limits come from: brume_plan_limits_word */
    double limits_share;   /* of the price, for choosing them */
    json_t *events;        /* the plan, as the ledger records it (show_plan.h) */
    json_t *windows;       /* those that were read, and their price (window_price.h); NULL: none */
    char *data_version;    /* the owner's labels of the data that was read; NULL: none */
    /* Not recorded, because it may be another one at the next reading. */
    brume_answer_price remaining;
    bool cached;                /* read again, for free */
    char read[BRUME_WHEN_TEXT]; /* when its price was reserved, and its data read; "": no data were
                                 */
    brume_words words;          /* what its notes call units and rows */
    json_t *stages;             /* scalar subqueries that were asked first (stages.c), or NULL */
    json_t *warnings;           /* sentences about the query (domain_warnings.h), or NULL */
} brume_query_answer;

/* A column of which nothing is said. */
brume_answer_column brume_answer_column_empty(void);

/* Room for a table of this shape, in which nothing is said of any column and every value is NULL.
 */
BRUME_MUST_USE brume_status brume_query_answer_open(size_t column_count, size_t row_count,
                                                    brume_query_answer **out, brume_error *error);
void brume_query_answer_close(brume_query_answer *answer);

/* The bar that a reader is shown: the error at 95 % and, where units may have been cut, the
 * allowance for what they had beyond the limit; NaN: none, or that is not known. */
double brume_query_answer_bar(const brume_query_answer *answer, size_t cell);

/* "as of 2026-03-04 09:12 UTC, 12 days ago": of a time as the ledger writes it; "" if it is none.
 * It depends on the clock and the time of asking alone, never on the data. */
typedef struct brume_as_of_text {
    char text[64];
} brume_as_of_text;
brume_as_of_text brume_as_of(const char *read);

/* {"read","data_version"} and, of `windows` (NULL: none), {"windows","open"}; or null where no data
 * were read; NULL: no memory. */
json_t *brume_as_of_json(const char *read, const char *data_version, const json_t *windows);

/* "31 days, 2026-01-01..2026-01-31": what `windows` says was read; "" where there is nothing. */
typedef struct brume_windows_text {
    char text[400];
} brume_windows_text;
brume_windows_text brume_windows_words(const json_t *windows, bool counted);

/* How many seconds ago that was; 0: there is no time, or it is to come. */
double brume_age_of(const char *read);

/* What is to be kept in mind of the answer, apart from its price: a JSON array of sentences for a
 * person, in words of the data, each said once (docs/reading-an-answer.md has them all). Every door
 * shows these. NULL: no memory. */
json_t *brume_query_answer_notes(const brume_query_answer *answer);

/* Set a flag of a cell, in an array that is made with the first. */
BRUME_MUST_USE brume_status brume_query_answer_flag(const brume_query_answer *answer, bool **flags,
                                                    size_t row, size_t column, brume_error *error);

/* Put a copy of a value into the table; a time as its text. */
BRUME_MUST_USE brume_status brume_query_answer_set(brume_query_answer *answer, size_t row,
                                                   size_t column, const brume_value *value,
                                                   brume_error *error);

/* Put copies of both ends of a quantile's interval into the table. */
BRUME_MUST_USE brume_status brume_query_answer_set_interval(brume_query_answer *answer, size_t row,
                                                            size_t column,
                                                            const brume_value ends[2],
                                                            brume_error *error);

/* The interval of a cell; NULL: it has none. */
const brume_value *brume_query_answer_interval(const brume_query_answer *answer, size_t cell);

/* What the ledger records: everything but `remaining` and `cached`. */
BRUME_MUST_USE brume_status brume_query_answer_record(const brume_query_answer *answer,
                                                      json_t **out, brume_error *error);

/* The answer that was recorded. BRUME_EDAMAGED: it is none. */
BRUME_MUST_USE brume_status brume_query_answer_recorded(const json_t *record,
                                                        brume_query_answer **out,
                                                        brume_error *error);

/* {"columns","rows","row_error_95","cost","remaining","events","cached", ...}. */
BRUME_MUST_USE brume_status brume_query_answer_to_json(const brume_query_answer *answer,
                                                       json_t **out, brume_error *error);

/* The answer of a stage (stages.c), one value, in the answer of the query that uses it: {"sql",
 * "value","error_95","cost","cached", ...}. NULL: no memory. */
json_t *brume_query_answer_stage(const brume_query_answer *answer, const char *sql);

#endif
