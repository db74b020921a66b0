/* The statements of push-down for Spark: those of brume_push_dialect (pushed.h). */
#ifndef BRUME_QUERY_PUSHED_SPARK_H
#define BRUME_QUERY_PUSHED_SPARK_H

#include "query/collect/pushed/pushed.h"

const char *brume_push_spark_obstacle(const brume_collection *collection);
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

#endif
