/* Which two databases count as neighbours. It is part of every guarantee and never has a default.
 */
#ifndef BRUME_ADJACENCY_H
#define BRUME_ADJACENCY_H

typedef enum brume_adjacency {
    BRUME_ADD_REMOVE = 1, /* one record more or less; the number of records is private */
    BRUME_REPLACE = 2,    /* one record changed; the number of records is public */
    BRUME_EDGE = 4,       /* one edge more or less on a fixed, public set of vertices */
} brume_adjacency;

#endif
