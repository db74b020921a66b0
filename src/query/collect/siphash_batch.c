/* SipHash-2-4 of many short inputs at once: plain loops without branches, which the compiler turns
 * into vector code for each instruction set. The values are those of siphash.h on all of them. */
#include "query/collect/siphash_batch.h"

#include "sample/clones.h"

BRUME_CLONES
void brume_siphash_batch_one(const brume_hash_key *key, const uint64_t *words, size_t count,
                             uint64_t *hashes)
{
    const brume_siphash begin = brume_siphash_begin(key);
    for (size_t i = 0; i < count; i++) {
        brume_siphash s = begin;
        brume_siphash_add(&s, words[i]);
        hashes[i] = brume_siphash_end(&s, UINT64_C(8) << 56);
    }
}

BRUME_CLONES
void brume_siphash_batch_two(const brume_hash_key *key, const uint64_t *first,
                             const uint64_t *second, size_t count, uint64_t *hashes)
{
    const brume_siphash begin = brume_siphash_begin(key);
    for (size_t i = 0; i < count; i++) {
        brume_siphash s = begin;
        brume_siphash_add(&s, first[i]);
        brume_siphash_add(&s, second[i]);
        hashes[i] = brume_siphash_end(&s, UINT64_C(16) << 56);
    }
}
