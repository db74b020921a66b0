/* A sum of small decision trees over coded features, for what a sum of one weight for each feature
 * cannot say: that two numbers together speak for a database, as the two noisy numbers behind a
 * mean do.
 *
 * An example is a code from 0 to 255 for each feature. Trees are learned one after the other, each
 * against what is left by those before it (gradient boosting of the logistic loss); of every three
 * examples one is kept back, and as many trees are kept as serve those best. Nothing is claimed of
 * what is learned: a poor sum finds less. */
#ifndef BRUME_AUDIT_TREES_H
#define BRUME_AUDIT_TREES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

enum {
    BRUME_TREES = 60,
    BRUME_TREE_DEPTH = 3,
    BRUME_TREE_NODES = (1 << BRUME_TREE_DEPTH) - 1,
    BRUME_TREE_LEAVES = 1 << BRUME_TREE_DEPTH,
    BRUME_TREE_EVERYTHING = 255, /* an `upto` that lets every code through */
};

/* From node i an example goes to node 2i + 1 where its code is at most upto[i], else to 2i + 2;
 * what follows the last nodes are the leaves, in order. */
typedef struct brume_tree {
    uint8_t feature[BRUME_TREE_NODES], upto[BRUME_TREE_NODES];
    double leaf[BRUME_TREE_LEAVES];
} brume_tree;

typedef struct brume_trees {
    size_t count;
    brume_tree of[BRUME_TREES];
} brume_trees;

/* Examples of the two databases in turn, the first of the first one: codes[i * features + f], and
 * what is known of each already, as a logarithm of odds for the second database. At most 255
 * features. BRUME_EMEMORY; *out is untouched then. */
BRUME_MUST_USE brume_status brume_trees_learn(const uint8_t *codes, size_t features,
                                              const double *known, size_t examples,
                                              brume_trees *out, brume_error *error);

/* What they add to the logarithm of the odds. */
double brume_trees_sum(const brume_trees *trees, const uint8_t *codes);

#endif
