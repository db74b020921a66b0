/* Releases that are NOT private, for teaching: they are what an audit convicts, and nothing else
 * may call them. Their cards have no cost, so that they cannot be charged. */
#ifndef BRUME_MECHANISM_BROKEN_H
#define BRUME_MECHANISM_BROKEN_H

#include <brume/bits.h>

/* BROKEN: out[i] = value + discrete Laplace noise of scale local/epsilon, n draws, where `local` is
 * the local sensitivity of the data. The scale tells: 0 gives the value itself.
 * Requires: epsilon > 0, local/epsilon <= 2^40; else BRUME_EARGUMENT. */
BRUME_MUST_USE brume_status brume_broken_local_release(brume_bits *bits, double epsilon,
                                                       double local, int64_t value, int64_t *out,
                                                       size_t n, brume_error *error);

#endif
