/* The journal as a Merkle tree: a short proof that a row is in it, which shows no other row.
 *
 * The tree is that of [RFC9162, Sec. 2.1] with SHA-256. Leaf i (from 0) is the row with id i + 1;
 * its data are the 32 bytes of the row's hash, which covers the hash of the row before it, so that
 * the root of n leaves says the same as the hash of row n: the tree adds short proofs to the chain.
 *
 *   leaf = SHA-256(0x00 | data)    node = SHA-256(0x01 | left | right)
 *
 * Nodes are paired level by level from the left; the last of an odd number goes up as it is, which
 * gives the tree of the RFC. The path of a leaf has one sibling for each level where it has one. */
#ifndef BRUME_LEDGER_MERKLE_H
#define BRUME_LEDGER_MERKLE_H

#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

enum { BRUME_MERKLE_BYTES = 32, BRUME_MERKLE_LEVELS = 64 };

typedef struct brume_merkle_hash {
    uint8_t bytes[BRUME_MERKLE_BYTES];
} brume_merkle_hash;

typedef struct brume_merkle brume_merkle;

/* The tree of these data, at least one. EMEMORY. */
BRUME_MUST_USE brume_status brume_merkle_open(const brume_merkle_hash *data, size_t count,
                                              brume_merkle **out, brume_error *error);
void brume_merkle_close(brume_merkle *tree);

brume_merkle_hash brume_merkle_root(const brume_merkle *tree);

/* The siblings from leaf `index` up to the root; how many. */
size_t brume_merkle_path(const brume_merkle *tree, size_t index,
                         brume_merkle_hash path[BRUME_MERKLE_LEVELS]);

/* The root that follows from a leaf's data and its path; EARGUMENT: the path is not one of leaf
 * `index` of `count`. */
BRUME_MUST_USE brume_status brume_merkle_follow(const brume_merkle_hash *data, size_t index,
                                                size_t count, const brume_merkle_hash *path,
                                                size_t length, brume_merkle_hash *root,
                                                brume_error *error);

#endif
