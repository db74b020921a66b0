/* What is printed for Spark in another way than for DuckDB. Everything else is printed alike.
 *
 * ANSI mode is off (engine/adbc/spark.c): a cast that does not fit gives NULL, or wraps where it is
 * one of integers, so that no form can make a query fail. The same values as elsewhere come from
 * the same guards. Conversions are in print_expression.c. What cannot be made to agree to the last
 * bit is refused by name. */
#ifndef BRUME_QUERY_PRINT_SPARK_H
#define BRUME_QUERY_PRINT_SPARK_H

#include "query/print/print.h"

/* False: the form is that of DuckDB. */
bool brume_print_spark(brume_printer *printer, const brume_expression *node, brume_piece *piece);

#endif
