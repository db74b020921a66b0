/* A statement of push-down that is being printed, and what the statements of all dialects share. */
#ifndef BRUME_QUERY_PUSHED_STATEMENT_H
#define BRUME_QUERY_PUSHED_STATEMENT_H

#include <stdio.h>

#include "query/collect/totals.h"
#include "query/plan/collection.h"

/* What is wanted of each value: its number, its sum, its squares. */
typedef struct brume_push_wanted {
    bool count, sum, squares;
} brume_push_wanted;

/* It stays where it was begun: `out` writes into it. */
typedef struct brume_push_statement {
    FILE *out;
    const brume_collection *collection;
    brume_push_wanted *wanted; /* of each value; nothing at first */
    size_t keys, values;
    int p; /* the norm of limits */
    char *text;
    size_t length;
} brume_push_statement;

/* Begin a statement; end it: *sql is the caller's, to free. EMEMORY. */
BRUME_MUST_USE brume_status brume_push_begin(brume_push_statement *to,
                                             const brume_collection *collection, int p,
                                             brume_error *error);
BRUME_MUST_USE brume_status brume_push_end(brume_push_statement *to, char **sql,
                                           brume_error *error);

/* "r1", "r2", ...: the first `count` keys or all of them, after `before`; nothing where there are
 * none. */
void brume_push_put_first_keys(const brume_push_statement *to, size_t count, const char *before);
void brume_push_put_keys(const brume_push_statement *to, const char *before);

/* A dialect's condition that key k is one of these values; print with it that the keys are those of
 * a declared group, in any of the grouping sets. */
typedef void (*brume_push_among)(FILE *out, size_t k, const brume_key_value *values, size_t count);
void brume_push_put_sets(FILE *out, const brume_collection *collection, brume_push_among put_among);

/* Note what totals a limit needs, and what sums under limits need. */
void brume_push_want(const brume_push_statement *to, const brume_total *of);
void brume_push_want_sums(const brume_push_statement *to, const brume_total_limit *limits,
                          size_t limit_count, const brume_limited_sum *sums, size_t sum_count);

/* Is the sum one of distances from the centre, or of their squares? Then it is cut by the factor of
 * its limit, which is on another total. */
bool brume_push_follows(brume_measure_kind kind);

/* The middle of the bounds of value i. */
int64_t brume_push_centre(const brume_push_statement *to, size_t i);

/* The largest norm that is not cut; its square for p = 2. */
brume_u128 brume_push_uncut(const brume_push_statement *to, const brume_total_limit *limit);

/* Is the norm the total over all groups? */
bool brume_push_adds_up(const brume_push_statement *to, const brume_total *of);

/* May a unit be in more groups than stay? Public: declared groups are counted, not rows. */
bool brume_push_cuts_groups(const brume_collection *collection);

/* As brume_push_obstacle, where a statement names at most so many declared values; `more` is said
 * of more. */
const char *brume_push_shared_obstacle(const brume_collection *collection, size_t most,
                                       const char *more);

#endif
