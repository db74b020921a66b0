/* What learning a score and keeping it share. */
#ifndef BRUME_AUDIT_SCORE_PARTS_H
#define BRUME_AUDIT_SCORE_PARTS_H

#include "audit/query/score.h"
#include "audit/query/trees.h"

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
