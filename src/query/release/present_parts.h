/* The parts that an answer is made of: values of aggregates, and keys. */
#ifndef BRUME_QUERY_PRESENT_PARTS_H
#define BRUME_QUERY_PRESENT_PARTS_H

#include <brume/interval.h>

#include "query/release/present.h"
#include "query/sql/formula.h"

/* What values are shown from. */
typedef struct brume_present_source {
    const brume_terms *terms;
    const brume_drawn *drawn;
    const brume_value *modes; /* of undeclared values: modes[measurement * count + group] */
} brume_present_source;

/* What is shown of an aggregate, rounded and clamped to what is possible, and computed with; and an
 * interval that holds the noiseless value with probability 1 - beta. */
typedef struct brume_shown {
    brume_value value;
    brume_interval interval;
    bool has_interval;
    bool too_few; /* values for a mean, a spread or a quantile: it is NULL */
} brume_shown;

brume_shown brume_present_show(const brume_present_source *source, size_t aggregate, size_t group,
                               double beta);

/* Where the value of a window is, and where it is without what its own row adds. The lower end of
 * an interval is NaN where there is none. */
typedef struct brume_window_bounds {
    brume_interval whole, rest;
} brume_window_bounds;

/* The rows of an answer, and what they are computed from. */
typedef struct brume_answer_row {
    brume_value *keys, *values; /* values: of aggregates, then of windows */
    brume_value *outputs;
    double *errors; /* NaN: none */
    double *cuts;  /* of arithmetic, what limits may have cut; NaN: none, or the same in all rows */
    bool *too_few; /* outputs that are NULL because they would be noise alone */
    brume_window_bounds *bounds; /* of windows, as brume_present_bound_windows has left them */
    size_t group;                /* of drawn->groups */
    bool near;                   /* its units were hardly enough to be shown */
    char (*texts)[BRUME_KEY_TEXT];
} brume_answer_row;

typedef struct brume_answer_table {
    const brume_plan *plan;
    const brume_terms *terms;
    const brume_drawn *drawn;
    brume_value *modes;
    char (*mode_texts)[BRUME_KEY_TEXT];
    brume_answer_row *rows; /* those that are shown */
    size_t count;
    brume_answer_row *whole; /* those that HAVING keeps, before LIMIT: windows are of them */
    size_t whole_count;
} brume_answer_table;

/* What limits may have cut of an aggregate in a row, by estimate: it may truly be so much less, or
 * more. */
typedef struct brume_cut {
    double less, more;
} brume_cut;

/* Where the numbers of a row are, each with the chance `beta` of being outside its interval. */
typedef struct brume_interval_source {
    const brume_answer_table *all;
    const brume_answer_row *row;
    double beta;
    const brume_cut *cut; /* for each aggregate, by which its interval is wider; NULL: by nothing */
} brume_interval_source;

/* Interval arithmetic over the tree; false where there is no finite interval. */
bool brume_present_interval(const brume_formula *formula, const brume_interval_source *from,
                            brume_interval *out);

/* Is the formula the share of a count, or of a sum of what is never negative, in a window that adds
 * it up? Then it is between 0 and `whole`, whatever the noise. */
bool brume_present_is_share(const brume_formula *formula, const brume_plan *plan, double *whole);

/* Is it that, or a count of some rows over the count of all of them, so that it is within [0,
 * whole]? */
bool brume_present_is_fraction(const brume_formula *formula, const brume_plan *plan, double *whole);

/* Half-width at 95 % of an output in a row, around the value that is shown there; NaN: none. `cut`
 * is for the half-width of noise and cut together; NULL: of the noise alone. The windows of the
 * output must have been bounded with the same `cut`. */
double brume_present_error(const brume_answer_table *all, const brume_answer_row *row,
                           size_t output, const brume_cut *cut);

/* The values of the window functions of all rows. */
BRUME_MUST_USE brume_status brume_present_windows(brume_answer_table *all, brume_error *error);

/* The intervals of the windows that an output reads, in all rows; their lower end is NaN where
 * there is none. */
BRUME_MUST_USE brume_status brume_present_bound_windows(const brume_answer_table *all,
                                                        size_t output, const brume_cut *cut,
                                                        brume_error *error);

/* Does the half-width differ from row to row? Counts and sums have one for all. */
bool brume_error_varies(const brume_plan *plan, const brume_formula *formula);

/* A private key is shown because its noisy count was large: near the threshold, more often too
 * large than too small. */
bool brume_flags_near(const brume_plan *plan);

/* What an answer with these rows says of each of its columns. */
BRUME_MUST_USE brume_status brume_present_columns(const brume_answer_table *all,
                                                  brume_query_answer *answer, brume_error *error);

#endif
