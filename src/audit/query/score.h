/* From what was released to one number: which of two databases does it speak for?
 *
 * What is released is seen as features, names with numbers (answer_features.h of a table). From
 * examples of both databases each feature's values are cut into bins, and every bin gets the
 * logarithm of the quotient of its two frequencies, shrunk where that may be luck. The score is
 * their sum; from many examples each feature counts as much as fits them best,
 * and small trees add what only several features together say. It is post-processing of what an
 * analyst sees, with weights that are fixed before the draws that count, so that every bound made
 * with it holds; a poor score only finds less. */
#ifndef BRUME_AUDIT_SCORE_H
#define BRUME_AUDIT_SCORE_H

#include <stdbool.h>
#include <stdint.h>
#include <jansson.h>
#include <brume/status.h>

/* A feature of an outcome; and what visits all of them (false: out of memory). */
typedef void brume_feature_visit(void *context, const char *name, double value);
typedef bool brume_seen(const void *outcome, brume_feature_visit *each, void *context);

typedef struct brume_score brume_score;

/* For so many examples of each database. */
BRUME_MUST_USE brume_status brume_score_open(size_t examples, brume_score **out,
                                             brume_error *error);
void brume_score_close(brume_score *score);

/* An example of the first database or the second. */
BRUME_MUST_USE brume_status brume_score_learn(brume_score *score, brume_seen *seen,
                                              const void *outcome, bool second, brume_error *error);

/* Fix the weights, when there are some of each; how well they should tell the databases apart: the
 * difference of the mean scores. */
double brume_score_settle(brume_score *score);

/* The score of an outcome, in steps of 1/64. Threads may share a settled score. */
int64_t brume_score_of(const brume_score *score, brume_seen *seen, const void *outcome);

/* A settled score as JSON: {"base", "steps", "features": [{"name", "edges", "weights", "absent"}],
 * "trees": [TREE]}. The score is the sum of base, for each feature that an answer has the weight of
 * its value's bin less absent, and what each tree says; times steps, rounded. A TREE is a number or
 * {"feature", "below", "then", "else"}: `then` where the answer does not have the feature, or has a
 * value below `below` ("absent": none, null: any). NULL: out of memory. The caller owns it. */
json_t *brume_score_to_json(const brume_score *score);

/* A sum of small decision trees over coded features, for what a sum of one weight for each feature
 * cannot say: that two numbers together speak for a database, as the two noisy numbers behind a
 * mean do.
 *
 * An example is a code from 0 to 255 for each feature. Trees are learned one after the other, each
 * against what is left by those before it (gradient boosting of the logistic loss); of every three
 * examples one is kept back, and as many trees are kept as serve those best. Nothing is claimed of
 * what is learned: a poor sum finds less. */

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

/* How much each of several estimates of the same odds counts.
 *
 * Features of one answer often are the same drawn number again: a mean, its error, the one over the
 * other. Each has weights of its own, as if it were the only one, and their sum would count a
 * number as often as it is shown. Factors of at least 0 are found that give the examples the
 * largest likelihood (logistic regression; a factor needs evidence against a penalty). Nothing is
 * claimed of them: poor ones find less. */

/* columns[i * count + k]: what estimate k says of example i, as a logarithm of odds for the second
 * database; examples of the two databases in turn, the first of the first one. Fills factors[k],
 * and sums[i] with what all of them then say of example i. */
void brume_blend_learn(const double *columns, size_t count, size_t examples, double *factors,
                       double *sums);

/* What learning a score and keeping it share. */

enum {
    BRUME_SCORE_STEPS = 64, /* of a score, in 1 */
    BRUME_SCORE_FEATURES = 2048,
    BRUME_SCORE_BINS = 32,
    BRUME_SCORE_FINE = 64,
    BRUME_SCORE_TOGETHER = 24, /* features that are looked at together */
};

/* A feature: its value in each example [second][example], NaN where it is not there; then bins. */
typedef struct brume_score_feature {
    double *values[2];
    /* bin i has the values below edges[i] and not below the one before */
    double edges[BRUME_SCORE_BINS - 1];
    size_t bins;
    double weight[BRUME_SCORE_BINS], absent; /* logarithms of quotients, times a factor */
    double fine[BRUME_SCORE_FINE - 1];       /* edges of the bins that trees look at */
    size_t fine_bins;
    double apart; /* how much they tell apart: the difference of their means */
    size_t place; /* among those that are looked at together, from 1 on; 0: it is not */
} brume_score_feature;

struct brume_score {
    json_t *places; /* name of a feature: its place */
    brume_score_feature *features;
    size_t count, most;
    size_t examples[2];
    double base; /* the sum where no feature is there */
    size_t together;
    brume_trees trees;
};

#endif
