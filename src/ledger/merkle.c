/* The journal as a Merkle tree: a short proof that a row is in it, which shows no other row. */
#include "ledger/merkle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/error.h"

struct brume_merkle {
    size_t levels, count[BRUME_MERKLE_LEVELS];
    brume_merkle_hash *level[BRUME_MERKLE_LEVELS]; /* the leaves, ..., the root */
};

enum { LEAF = 0, NODE = 1 }; /* so that no leaf can be taken for a node */

/* out = SHA-256(kind | first | second); a leaf has no second. */
static brume_status hash_of(uint8_t kind, const brume_merkle_hash *first,
                            const brume_merkle_hash *second, brume_merkle_hash *out,
                            brume_error *error)
{
    uint8_t text[1 + 2 * BRUME_MERKLE_BYTES] = {kind};
    memcpy(text + 1, first->bytes, BRUME_MERKLE_BYTES);
    if (second)
        memcpy(text + 1 + BRUME_MERKLE_BYTES, second->bytes, BRUME_MERKLE_BYTES);
    size_t length = 1 + (size_t)(second ? 2 : 1) * BRUME_MERKLE_BYTES;
    if (EVP_Digest(text, length, out->bytes, NULL, EVP_sha256(), NULL) != 1)
        return brume_fail(error, BRUME_EMEMORY, NULL, "libcrypto could not compute a SHA-256");
    return BRUME_OK;
}

/* The level above one of `count` nodes. */
static brume_status pair_up(const brume_merkle_hash *below, size_t count, brume_merkle_hash *above,
                            brume_error *error)
{
    for (size_t i = 0; i < count; i += 2) {
        if (i + 1 == count)
            above[i / 2] = below[i]; /* the last of an odd number goes up as it is */
        else
            BRUME_TRY(hash_of(NODE, &below[i], &below[i + 1], &above[i / 2], error));
    }
    return BRUME_OK;
}

brume_status brume_merkle_open(const brume_merkle_hash *data, size_t count, brume_merkle **out,
                               brume_error *error)
{
    brume_merkle *tree = count ? calloc(1, sizeof *tree) : NULL;
    if (!tree)
        return brume_no_memory(error, "the journal's tree");
    brume_status status = BRUME_OK;
    for (size_t n = count; status == BRUME_OK; n = (n + 1) / 2) {
        size_t at = tree->levels++;
        tree->count[at] = n;
        tree->level[at] = malloc(n * sizeof *tree->level[at]);
        if (!tree->level[at])
            status = brume_no_memory(error, "the journal's tree");
        for (size_t i = 0; at == 0 && status == BRUME_OK && i < n; i++)
            status = hash_of(LEAF, &data[i], NULL, &tree->level[0][i], error);
        if (at > 0 && status == BRUME_OK)
            status = pair_up(tree->level[at - 1], tree->count[at - 1], tree->level[at], error);
        if (n == 1)
            break;
    }
    if (status == BRUME_OK)
        *out = tree;
    else
        brume_merkle_close(tree);
    return status;
}

void brume_merkle_close(brume_merkle *tree)
{
    for (size_t i = 0; tree && i < tree->levels; i++)
        free(tree->level[i]);
    free(tree);
}

brume_merkle_hash brume_merkle_root(const brume_merkle *tree)
{
    return tree->level[tree->levels - 1][0];
}

size_t brume_merkle_path(const brume_merkle *tree, size_t index,
                         brume_merkle_hash path[BRUME_MERKLE_LEVELS])
{
    size_t length = 0;
    for (size_t at = 0; at + 1 < tree->levels; at++, index /= 2)
        if ((index ^ 1) < tree->count[at])
            path[length++] = tree->level[at][index ^ 1];
    return length;
}

brume_status brume_merkle_follow(const brume_merkle_hash *data, size_t index, size_t count,
                                 const brume_merkle_hash *path, size_t length,
                                 brume_merkle_hash *root, brume_error *error)
{
    brume_merkle_hash node;
    size_t used = 0;
    BRUME_TRY(hash_of(LEAF, data, NULL, &node, error));
    bool fits = index < count;
    for (; fits && count > 1; index /= 2, count = (count + 1) / 2) {
        if ((index ^ 1) >= count)
            continue;
        if (!(fits = used < length))
            break;
        const brume_merkle_hash sibling = path[used++], below = node;
        BRUME_TRY(index & 1 ? hash_of(NODE, &sibling, &below, &node, error)
                            : hash_of(NODE, &below, &sibling, &node, error));
    }
    if (!fits || used != length)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "the path is not one of this row");
    *root = node;
    return BRUME_OK;
}
