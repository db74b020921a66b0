/* The median with noise scaled to its local sensitivity, on two neighbours: not private, and what
 * shows it. proofs/local_sensitivity.md. */
#ifndef BRUME_AUDIT_BROKEN_MEDIAN_H
#define BRUME_AUDIT_BROKEN_MEDIAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/adjacency.h>
#include <brume/bits.h>

/* n outcomes on the first data (six zeros of ten numbers under replace, of eleven under add-remove;
 * the others are 1000000) or on the second (with one zero replaced, or removed).
 * Errors: BRUME_EARGUMENT for a tiny epsilon or another adjacency, BRUME_ERANDOM, BRUME_EMEMORY. */
BRUME_MUST_USE brume_status brume_broken_median_draw(double epsilon, brume_adjacency adjacency,
                                                     bool second, brume_bits *bits, int64_t *out,
                                                     size_t n, brume_error *error);

#endif
