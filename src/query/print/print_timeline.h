/* Functions of one unit's rows in an order. */
#ifndef BRUME_QUERY_PRINT_TIMELINE_H
#define BRUME_QUERY_PRINT_TIMELINE_H

#include "query/print/print.h"

/* Function `i` of a relation of the kind TIMELINE. */
const char *brume_print_timeline(brume_printer *printer, const brume_relation *relation, size_t i);

#endif
