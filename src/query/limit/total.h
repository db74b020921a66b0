/* What is limited: a statistic of one unit, a vector over the groups. */
#ifndef BRUME_QUERY_LIMIT_TOTAL_H
#define BRUME_QUERY_LIMIT_TOTAL_H

#include <stddef.h>
#include <stdint.h>

typedef enum brume_total_kind {
    BRUME_TOTAL_PRESENCE, /* 1 in each group that the unit has a row in */
    BRUME_TOTAL_ROWS,
    BRUME_TOTAL_VALUES, /* rows in which the value is not NULL */
    BRUME_TOTAL_SUM,    /* sum of the value less `centre` */
} brume_total_kind;

typedef struct brume_total {
    brume_total_kind kind;
    size_t value;   /* which, for VALUES and SUM */
    int64_t centre; /* of SUM, on the grid; 0: of the values themselves */
    /* A SUM of the squares of another value less the centre, which is on that one's grid: */
    size_t root;  /* 1 + which; 0: of no squares, or of squares about 0 alone */
    double steps; /* a squared step of that one in steps of this one */
} brume_total;

#endif
