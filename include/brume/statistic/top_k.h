/* The k keys with the largest counts, and how far the data is from another answer.
 *
 * Keys are given in their public order; of equal counts the earlier key ranks higher. k = 1 is the
 * mode, or the winner of a vote.
 *
 * 1. A unit adds at most 1 to each count; it may count for several keys (votes).
 * 2. *distance is the least number of units whose change gives another answer, less one: what
 *    brume_stable_release asks. It changes by at most 1 between neighbours and is 0 where a
 *    neighbour has another answer. It is that number exactly for one key per unit.
 * 3. Data without a unit has no answer (*winner_count = 0). Under BRUME_REPLACE the number of units
 *    with a key is public: every unit must have one.
 * 4. In an open domain (any key may turn up) unseen keys rival with count 0 and rank first among
 *    equals; fewer than k keys present is no answer.
 * 5. Everything here is a function of the data without noise: secret. */
#ifndef BRUME_TOP_K_H
#define BRUME_TOP_K_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/adjacency.h>
#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brume_top_k_rule {
    size_t k;                  /* >= 1 */
    bool ordered;              /* is the order among the winners part of the answer? */
    bool open_domain;          /* clause 4 */
    brume_adjacency adjacency; /* BRUME_ADD_REMOVE or BRUME_REPLACE */
} brume_top_k_rule;

/* `winners` has room for k; *winner_count becomes k or 0. The winners are in rank order if ordered,
 * else in the order of the keys. `units` is the number of units with at least one key.
 * *distance is UINT64_MAX where no data has another answer.
 * Errors: BRUME_EARGUMENT (k is 0, or above the size of a closed domain), BRUME_EMEMORY. */
BRUME_API BRUME_MUST_USE brume_status brume_top_k(const brume_top_k_rule *rule,
                                                  const uint64_t *counts, size_t keys,
                                                  uint64_t units, size_t *winners,
                                                  size_t *winner_count, uint64_t *distance,
                                                  brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
