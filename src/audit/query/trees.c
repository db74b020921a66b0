/* A sum of small decision trees. */
#include "audit/query/trees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* How much of what a tree finds counts; what stands against few examples; what an end of a
 * tree has at least (an example that is not decided weighs a quarter). */
static const double COUNTED = .2, CAUTION = 5, LEAST_WEIGHT = 4;

enum { CODES = 256, KEPT_BACK = 3 };

/* What learning works on. */
typedef struct learner {
    const uint8_t *codes;
    size_t features, examples;
    double *odds;   /* of each example, as logarithms */
    uint8_t *place; /* the node that it has come to, counted from the first of its level */
    double (*sums)[CODES][2]; /* of one node: slopes and weights by feature and code */
} learner;

/* Examples come in turns of two, one of each database. */
static bool is_second(size_t example)
{
    return example % 2 != 0;
}

static bool is_kept_back(size_t example)
{
    return example / 2 % KEPT_BACK == 0;
}

static double chance_of(double odds)
{
    return 1 / (1 + exp(-odds));
}

static double benefit(double slope, double weight)
{
    return slope * slope / (weight + CAUTION);
}

/* Slopes and weights of the loss at one node. */
static void add_up(const learner *of, size_t node)
{
    memset(of->sums, 0, of->features * sizeof *of->sums);
    for (size_t i = 0; i < of->examples; i++) {
        if (of->place[i] != node || is_kept_back(i))
            continue;
        double chance = chance_of(of->odds[i]);
        double slope = is_second(i) - chance, weight = chance * (1 - chance);
        const uint8_t *codes = of->codes + i * of->features;
        for (size_t f = 0; f < of->features; f++) {
            of->sums[f][codes[f]][0] += slope;
            of->sums[f][codes[f]][1] += weight;
        }
    }
}

/* The cut that serves one node best; none: everything goes to its first child. */
static void cut_node(const learner *of, uint8_t *feature, uint8_t *upto)
{
    double whole[2] = {0, 0}, best = 0;
    *feature = 0;
    *upto = BRUME_TREE_EVERYTHING;
    for (size_t code = 0; code < CODES; code++)
        for (int k = 0; k < 2; k++)
            whole[k] += of->sums[0][code][k];
    double before = benefit(whole[0], whole[1]);
    for (size_t f = 0; f < of->features; f++) {
        double left[2] = {0, 0};
        for (size_t code = 0; code + 1 < CODES; code++) {
            left[0] += of->sums[f][code][0];
            left[1] += of->sums[f][code][1];
            double right = whole[1] - left[1];
            if (left[1] < LEAST_WEIGHT || right < LEAST_WEIGHT)
                continue;
            double gain = benefit(left[0], left[1]) + benefit(whole[0] - left[0], right) - before;
            if (gain > best) {
                best = gain;
                *feature = (uint8_t)f;
                *upto = (uint8_t)code;
            }
        }
    }
}

static size_t step(const brume_tree *tree, size_t node, const uint8_t *codes)
{
    return 2 * node + (codes[tree->feature[node]] <= tree->upto[node] ? 1 : 2);
}

static size_t leaf_of(const brume_tree *tree, const uint8_t *codes)
{
    size_t node = 0;
    while (node < BRUME_TREE_NODES)
        node = step(tree, node, codes);
    return node - BRUME_TREE_NODES;
}

static void fill_leaves(const learner *of, brume_tree *tree)
{
    double sums[BRUME_TREE_LEAVES][2] = {{0}};
    for (size_t i = 0; i < of->examples; i++) {
        double chance = chance_of(of->odds[i]);
        if (is_kept_back(i))
            continue;
        sums[of->place[i]][0] += is_second(i) - chance;
        sums[of->place[i]][1] += chance * (1 - chance);
    }
    for (size_t i = 0; i < BRUME_TREE_LEAVES; i++)
        tree->leaf[i] = COUNTED * sums[i][0] / (sums[i][1] + CAUTION);
}

static void grow(const learner *of, brume_tree *tree)
{
    memset(of->place, 0, of->examples);
    for (size_t level = 0; level < BRUME_TREE_DEPTH; level++) {
        size_t first = ((size_t)1 << level) - 1, count = (size_t)1 << level;
        for (size_t node = 0; node < count; node++) {
            add_up(of, node);
            cut_node(of, &tree->feature[first + node], &tree->upto[first + node]);
        }
        for (size_t i = 0; i < of->examples; i++)
            of->place[i] =
                (uint8_t)(step(tree, first + of->place[i], of->codes + i * of->features) -
                          (2 * first + 1));
    }
    fill_leaves(of, tree);
}

/* The loss on the examples that are kept back. */
static double loss(const learner *of)
{
    double sum = 0;
    for (size_t i = 0; i < of->examples; i++)
        if (is_kept_back(i))
            sum += log1p(exp(is_second(i) ? -of->odds[i] : of->odds[i]));
    return sum;
}

static void learn(const learner *of, brume_trees *out)
{
    double least = loss(of);
    size_t best = 0;
    for (out->count = 0; out->count < BRUME_TREES; out->count++) {
        brume_tree *tree = &out->of[out->count];
        grow(of, tree);
        for (size_t i = 0; i < of->examples; i++)
            of->odds[i] += tree->leaf[of->place[i]];
        double now = loss(of);
        if (now < least) {
            least = now;
            best = out->count + 1;
        }
    }
    out->count = best;
}

brume_status brume_trees_learn(const uint8_t *codes, size_t features, const double *known,
                               size_t examples, brume_trees *out, brume_error *error)
{
    learner of = {.codes = codes, .features = features, .examples = examples};
    out->count = 0;
    if (features == 0 || examples == 0)
        return BRUME_OK;
    of.odds = malloc(examples * sizeof *of.odds);
    of.place = malloc(examples);
    of.sums = malloc(features * sizeof *of.sums);
    bool good = of.odds && of.place && of.sums;
    if (good) {
        memcpy(of.odds, known, examples * sizeof *known);
        learn(&of, out);
    }
    free(of.sums);
    free(of.place);
    free(of.odds);
    return good ? BRUME_OK : brume_no_memory(error, "an audit");
}

double brume_trees_sum(const brume_trees *trees, const uint8_t *codes)
{
    double sum = 0;
    for (size_t i = 0; i < trees->count; i++)
        sum += trees->of[i].leaf[leaf_of(&trees->of[i], codes)];
    return sum;
}
