/* The statements of push-down for Spark: those of brume_push_dialect (pushed.h). */
#ifndef BRUME_QUERY_PUSHED_SPARK_H
#define BRUME_QUERY_PUSHED_SPARK_H

#include "query/collect/pushed/pushed.h"

const char *brume_push_spark_obstacle(const brume_collection *collection);

/* As brume_push_postgresql_domain, but the condition on collection->only is a join that comes
 * before WHERE. */
void brume_push_spark_domain(FILE *out, const brume_collection *collection);

BRUME_MUST_USE brume_status brume_push_spark_histogram(const brume_collection *collection,
                                                       const char *rows, const brume_total *of,
                                                       int p, size_t bins, char **sql,
                                                       brume_error *error);
BRUME_MUST_USE brume_status brume_push_spark_sums(const brume_collection *collection,
                                                  const char *rows, const brume_total_limit *limits,
                                                  size_t limit_count, int p,
                                                  const brume_limited_sum *sums, size_t sum_count,
                                                  char **sql, brume_error *error);

void brume_push_spark_integer(FILE *out, int64_t value);
void brume_push_spark_rank(const brume_push_statement *to, uint64_t key);
void brume_push_spark_totals(const brume_push_statement *to, const char *rows, bool whole);

/* ---- between the files of Spark's statements ---- */

#define BRUME_SPARK_WIDE "DECIMAL(38,0)"
#define BRUME_SPARK_ROWS (INT64_C(1) << 39) /* of a pair: more may make a total of 64 bits wrap */

void brume_spark_put_wide(const brume_push_statement *to, brume_u128 value); /* a literal */

/* Are totals of value i, and of its distances from the centre, or of their squares, integers of 64
 * bits? Is what a limit is on, or its norm (for p = 2 the square of it)? */
bool brume_spark_has_small_sum(const brume_push_statement *to, size_t i);
bool brume_spark_has_small_squares(const brume_push_statement *to, size_t i);
bool brume_spark_is_small(const brume_push_statement *to, const brume_total *of);
bool brume_spark_has_small_norm(const brume_push_statement *to, const brume_total *of);

/* Print what a limit is on, and what "e<i>" adds to a norm. */
void brume_spark_put_entry(const brume_push_statement *to, const brume_total *of, bool whole);
void brume_spark_put_part(const brume_push_statement *to, const brume_total *of, size_t i);

#endif
