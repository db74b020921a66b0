/* Sorting integers. */
#ifndef BRUME_BASE_SORT_H
#define BRUME_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

/* Sort `values`, all of which are within low .. high, in ascending order, with one scratch copy of
 * them. The bounds must be public: they decide how many passes are made over the values, which is
 * seen in the time that takes. More than a few values take the same passes wherever they lie.
 * Errors: BRUME_EMEMORY; the values are then unchanged. */
BRUME_MUST_USE brume_status brume_sort_integers(int64_t *values, size_t n, int64_t low,
                                                int64_t high, brume_error *error);

/* The same for unsigned words, all of which are at most `high`. */
BRUME_MUST_USE brume_status brume_sort_words(uint64_t *values, size_t n, uint64_t high,
                                             brume_error *error);

/* The same as brume_sort_integers, and each value takes its companion along; those of equal values
 * keep their order. NULL: they have none. */
BRUME_MUST_USE brume_status brume_sort_with(int64_t *values, uint32_t *companions, size_t n,
                                            int64_t low, int64_t high, brume_error *error);

#endif
