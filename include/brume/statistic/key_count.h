/* Counting keys of any length in a stream: what a stable histogram starts from.
 *
 * A key is any string of bytes. Memory is linear in the distinct keys and their bytes. The order of
 * arrival leaves no trace: keys come out in the order of their bytes. */
#ifndef BRUME_KEY_COUNT_H
#define BRUME_KEY_COUNT_H

#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brume_key_count brume_key_count;

/* Errors: BRUME_EMEMORY, BRUME_ERANDOM (the hash is keyed, so that keys cannot be chosen to
 * collide). */
BRUME_API BRUME_MUST_USE brume_status brume_key_count_open(brume_key_count **out,
                                                           brume_error *error);
BRUME_API void brume_key_count_close(brume_key_count *keys);

/* Count `amount` more for a key (saturating at 2^63 - 1). After sorting no more can be added:
 * BRUME_EARGUMENT.  Errors: BRUME_EMEMORY, BRUME_EOVERFLOW for a key over 2^31 bytes or more than
 * 2^31 keys. */
BRUME_API BRUME_MUST_USE brume_status brume_key_count_add(brume_key_count *keys, const void *key,
                                                          size_t length, uint64_t amount,
                                                          brume_error *error);

/* Replace the counts, in the order of brume_key_count_at: counts with noise, before sorting.
 * Negative ones become 0. */
BRUME_API void brume_key_count_put(brume_key_count *keys, const int64_t *counts);

BRUME_API size_t brume_key_count_size(const brume_key_count *keys);

/* Keep only the keys i for which keep[i] is not 0, i in the order of brume_key_count_at, then sort
 * them by their bytes. keep = NULL keeps all.  Errors: BRUME_EMEMORY. */
BRUME_API BRUME_MUST_USE brume_status brume_key_count_sort(brume_key_count *keys,
                                                           const unsigned char *keep,
                                                           brume_error *error);

/* Key and count number i: in the order of first arrival before sorting (secret), by bytes after.
 * The bytes belong to the handle and are not terminated. */
BRUME_API uint64_t brume_key_count_at(const brume_key_count *keys, size_t i, const char **key,
                                      size_t *length);

#ifdef __cplusplus
}
#endif

#endif
