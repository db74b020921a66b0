/* The types of a query's outputs, known without a row: for explain, and for protocols that must
 * describe an answer before it is asked for. */
#ifndef BRUME_QUERY_OUTPUT_TYPE_H
#define BRUME_QUERY_OUTPUT_TYPE_H

#include "query/expression/query.h"

/* BOOLEAN, BIGINT (counts, ranks and whole keys), DOUBLE, TEXT, DATE or TIMESTAMP. Every value that
 * the output can have is of this type or NULL. */
brume_type_kind brume_output_type(const brume_query *query, const brume_query_output *output);

#endif
