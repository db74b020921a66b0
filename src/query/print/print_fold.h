/* What a group is summarised by in a subquery, and exact sums. */
#ifndef BRUME_QUERY_PRINT_FOLD_H
#define BRUME_QUERY_PRINT_FOLD_H

#include "query/print/print.h"

/* A fold of `argument` (NULL: of rows) in the type of `result`, of a group; with `over`, a window's
 * OVER (...), of its frame. */
const char *brume_print_fold(brume_printer *printer, brume_fold fold,
                             const brume_expression *argument, brume_type result, const char *over);

/* The sum of 64-bit integers in more than 64 bits, 0 where there are none. */
const char *brume_print_exact_sum(brume_printer *printer, const char *of);

#endif
