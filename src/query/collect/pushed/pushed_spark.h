/* The statements of push-down for Spark: those of brume_push_dialect (pushed.h). */
#ifndef BRUME_QUERY_PUSHED_SPARK_H
#define BRUME_QUERY_PUSHED_SPARK_H

#include "query/collect/pushed/pushed.h"

const char *brume_push_spark_obstacle(const brume_collection *collection);

/* A literal of 64 bits. */
void brume_push_spark_put_big(FILE *out, int64_t value);

/* As brume_push_put_domain, but the condition on collection->only is a join that comes before
 * WHERE. */
void brume_push_spark_put_domain(FILE *out, const brume_collection *collection);

BRUME_MUST_USE brume_status brume_push_spark_histogram(const brume_collection *collection,
                                                       const char *rows, const brume_total *of,
                                                       int p, size_t bins, char **sql,
                                                       brume_error *error);
BRUME_MUST_USE brume_status brume_push_spark_sums(const brume_collection *collection,
                                                  const char *rows, const brume_total_limit *limits,
                                                  size_t limit_count, int p,
                                                  const brume_limited_sum *sums, size_t sum_count,
                                                  char **sql, brume_error *error);

BRUME_MUST_USE brume_status brume_push_spark_kept(const brume_collection *collection,
                                                  const char *rows, uint64_t key, char **sql,
                                                  brume_error *error);
BRUME_MUST_USE brume_status brume_push_spark_distinct(const brume_collection *collection,
                                                      const char *rows, uint64_t key,
                                                      uint64_t limit, char **sql,
                                                      brume_error *error);
BRUME_MUST_USE brume_status brume_push_spark_bounded(const brume_collection *collection,
                                                     const char *rows, uint64_t key, char **sql,
                                                     brume_error *error);

/* ---- between the files of Spark's statements ---- */

#define BRUME_SPARK_WIDE "DECIMAL(38,0)"
#define BRUME_SPARK_ROWS (INT64_C(1) << 39) /* of a pair: more may make a total of 64 bits wrap */

/* What is wanted of each value: its number, its sum, its squares. */
typedef struct brume_spark_wanted {
    bool count, sum, squares;
} brume_spark_wanted;

/* A statement that is being printed. */
typedef struct brume_spark_push {
    FILE *out;
    const brume_collection *collection;
    brume_spark_wanted *all;
    size_t keys, values;
    int p;
} brume_spark_push;

/* Begin a statement, whose text is then in *text; end it: *sql is the caller's, to free. */
BRUME_MUST_USE brume_status brume_spark_open_push(brume_spark_push *to,
                                                  const brume_collection *collection, int p,
                                                  char **text, size_t *length, brume_error *error);
BRUME_MUST_USE brume_status brume_spark_close_push(brume_spark_push *to, char **text, char **sql,
                                                   brume_error *error);

/* Literals, and the keys' names after `before`. */
void brume_spark_put_wide(const brume_spark_push *to, brume_u128 value);
void brume_spark_put_big(const brume_spark_push *to, int64_t value);
void brume_spark_put_keys(const brume_spark_push *to, const char *before);

long long brume_spark_centre_of(const brume_spark_push *to, size_t i);

/* Are totals of value i, and of its distances from the centre, or of their squares, integers of 64
 * bits? Is what a limit is on, or its norm (for p = 2 the square of it)? */
bool brume_spark_has_small_sum(const brume_spark_push *to, size_t i);
bool brume_spark_has_small_squares(const brume_spark_push *to, size_t i);
bool brume_spark_is_small(const brume_spark_push *to, const brume_total *of);
bool brume_spark_has_small_norm(const brume_spark_push *to, const brume_total *of);

/* Note what totals a limit needs; print the totals of each pair of a unit and a group, or with
 * `whole` of each unit in all groups together; what a limit is on; what "e<i>" adds to a norm. */
void brume_spark_want(const brume_spark_push *to, const brume_total *of);
void brume_spark_put_totals(const brume_spark_push *to, const char *rows, bool whole);
void brume_spark_put_entry(const brume_spark_push *to, const brume_total *of, bool whole);
void brume_spark_put_part(const brume_spark_push *to, const brume_total *of, size_t i);

#endif
