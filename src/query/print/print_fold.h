/* What a group is summarised by in a subquery, and exact sums. */
#ifndef BRUME_QUERY_PRINT_FOLD_H
#define BRUME_QUERY_PRINT_FOLD_H

#include "query/print/print.h"

/* Column `i` of a relation of groups, which is none of its keys. */
const char *brume_print_fold(brume_printer *printer, const brume_relation *relation, size_t i);

/* The sum of 64-bit integers in more than 64 bits, 0 where there are none. */
const char *brume_print_exact_sum(brume_printer *printer, const char *of);

#endif
