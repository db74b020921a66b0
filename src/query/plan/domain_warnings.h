/* Conditions that no row can satisfy if the data is as the owner declared it. */
#ifndef BRUME_QUERY_DOMAIN_WARNINGS_H
#define BRUME_QUERY_DOMAIN_WARNINGS_H

#include <jansson.h>

#include "query/plan/plan.h"

/* Sentences about conditions of the query that compare a column that has a declared domain with a
 * value outside of it, with the nearest value. A JSON array; NULL if memory is out. */
json_t *brume_domain_warnings(const brume_query *query, const brume_plan_table *tables);

#endif
