/* Draws of both neighbours, counted by bins or kept, on several threads. */
#ifndef BRUME_AUDIT_COUNT_DRAWS_H
#define BRUME_AUDIT_COUNT_DRAWS_H

#include "audit/draw.h"
#include "audit/partition.h"

/* `draws` on each neighbour, added to the counts. With several threads each but the first
 * has bits of its own from the kernel. Errors: those of `draw`; BRUME_ECANCELLED where
 * options->stopped says so; BRUME_EMEMORY, BRUME_ESYSTEM. */
BRUME_MUST_USE brume_status brume_count_draws(brume_audit_draw *draw, const void *context,
                                              const brume_audit_options *options, uint64_t draws,
                                              const brume_partition *bins, brume_bits *bits,
                                              brume_bin_counts *counts, brume_error *error);

/* `draws` on each neighbour, kept: those of the first, then those of the second. The same errors.
 */
BRUME_MUST_USE brume_status brume_keep_draws(brume_audit_draw *draw, const void *context,
                                             const brume_audit_options *options, size_t draws,
                                             brume_bits *bits, int64_t *outcomes,
                                             brume_error *error);

#endif
