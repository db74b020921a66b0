/* Sorting integers. */
#ifndef BRUME_BASE_SORT_H
#define BRUME_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

/* Sort `values` in ascending order, in O(n) passes over the data with one scratch copy of it.
 * Errors: BRUME_EMEMORY; the values are then unchanged. */
BRUME_MUST_USE brume_status brume_sort_integers(int64_t *values, size_t n, brume_error *error);

/* The same for unsigned words. */
BRUME_MUST_USE brume_status brume_sort_words(uint64_t *values, size_t n, brume_error *error);

/* The same as brume_sort_integers, and each value takes its companion along; those of equal values
 * keep their order. NULL: they have none. */
BRUME_MUST_USE brume_status brume_sort_with(int64_t *values, uint32_t *companions, size_t n,
                                            brume_error *error);

#endif
