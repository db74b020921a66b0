/* A source of secure random bits, explicit in every call that draws.
 *
 * Keyed by the kernel, expanded by AES-256 in counter mode with fast key erasure: words handed out
 * are wiped, the key that made them is gone, a fork gets fresh bits, and the key is refreshed from
 * the kernel every 4 MiB. There is no global source and no seed: bits cannot be replayed.
 *
 * Two streams: `main` gives each attempt of a sampler its fixed number of words, `more` gives what
 * is needed to refine one. So n single draws, one batch of n and any vector width give the same
 * values from the same bits.
 *
 * Threads: one source per thread; never share one. */
#ifndef BRUME_BITS_H
#define BRUME_BITS_H

#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brume_bits brume_bits;

/* Open a source; close it with brume_bits_close.
 * Errors: BRUME_ERANDOM if the kernel or libcrypto fails, BRUME_EMEMORY. *out is untouched then. */
BRUME_API BRUME_MUST_USE brume_status brume_bits_open(brume_bits **out, brume_error *error);

/* Wipe and free; NULL is allowed. */
BRUME_API void brume_bits_close(brume_bits *bits);

/* Mix fresh kernel randomness into the key now: for hooks that run when a machine is resumed from a
 * snapshot, the one way two processes can come to share a key. */
BRUME_API BRUME_MUST_USE brume_status brume_bits_reseed(brume_bits *bits, brume_error *error);

/* n uniform words from the main stream. On error none of `out` is meaningful: it is wiped. */
BRUME_API BRUME_MUST_USE brume_status brume_bits_words(brume_bits *bits, uint64_t *out, size_t n,
                                                       brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
