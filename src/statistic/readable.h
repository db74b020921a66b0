/* A context for functions that only read it: their shared type is not const for those that write.
 */
#ifndef BRUME_STATISTIC_READABLE_H
#define BRUME_STATISTIC_READABLE_H

static inline void *brume_readable(const void *handle)
{
    union {
        const void *in;
        void *out;
    } pointer = {handle};
    return pointer.out;
}

#endif
