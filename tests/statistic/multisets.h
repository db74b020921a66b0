/* All multisets over a small domain, for exhaustive tests. */
#ifndef BRUME_TESTS_MULTISETS_H
#define BRUME_TESTS_MULTISETS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MULTISET_MOST = 9 };

typedef struct multiset {
    int64_t value[MULTISET_MOST]; /* ascending */
    int size;
} multiset;

/* Every multiset of `size` values of 0 .. domain-1, appended to `all` from `count` on; the new
 * count. `all` may be NULL to count only. */
static inline int multisets_of_size(int size, int domain, multiset *all, int count)
{
    int64_t value[MULTISET_MOST] = {0};
    for (;;) {
        if (all) {
            memcpy(all[count].value, value, sizeof value);
            all[count].size = size;
        }
        count++;
        int i = size - 1;
        while (i >= 0 && value[i] == domain - 1)
            i--;
        if (i < 0)
            return count;
        int64_t next = value[i] + 1;
        for (; i < size; i++)
            value[i] = next;
    }
}

/* How many values of b are not in a: what must be added to get from a to b. */
static inline int multiset_missing(const multiset *a, const multiset *b)
{
    int i = 0, missing = 0;
    for (int j = 0; j < b->size; j++) {
        while (i < a->size && a->value[i] < b->value[j])
            i++;
        if (i < a->size && a->value[i] == b->value[j])
            i++;
        else
            missing++;
    }
    return missing;
}

/* Additions and removals that turn a into b; for equal sizes half of it are replacements. */
static inline int multiset_distance(const multiset *a, const multiset *b)
{
    return multiset_missing(a, b) + multiset_missing(b, a);
}

#endif
