/* SipHash-2-4 of many short inputs at once: the same values as siphash.h, several lanes at a time
 * where the processor has them. */
#ifndef BRUME_QUERY_SIPHASH_BATCH_H
#define BRUME_QUERY_SIPHASH_BATCH_H

#include "query/collect/siphash.h"

/* hashes[i] = brume_siphash_words(key, &words[i], 1). */
void brume_siphash_batch_one(const brume_hash_key *key, const uint64_t *words, size_t count,
                             uint64_t *hashes);

/* hashes[i] = brume_siphash_words(key, {first[i], second[i]}, 2). */
void brume_siphash_batch_two(const brume_hash_key *key, const uint64_t *first,
                             const uint64_t *second, size_t count, uint64_t *hashes);

#endif
