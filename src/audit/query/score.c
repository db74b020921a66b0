/* From what was released to one number. */
#include "audit/query/score.h"

#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "audit/query/trees.h"
#include "base/error.h"

enum {
    STEPS = 64,
    FEATURES = 2048,
    BINS = 32,
    FINE = 64,
    LEAST_IN_BIN = 40,
    LEAST_IN_TREE = 20,
    ENOUGH_FOR_HALVES = 80
};

/* Trees look at so many features, and are grown from so many examples of each database on. */
enum { TREE_FEATURES = 24, LEAST_FOR_TREES = 200 };

/* A feature: its value in each example [second][example], NaN where it is not there; then bins. */
typedef struct feature {
    double *values[2];
    double edges[BINS - 1]; /* bin i has the values below edges[i] and not below the one before */
    size_t bins;
    double weight[BINS], absent; /* logarithms of quotients */
    double fine[FINE - 1];       /* edges of the bins that trees look at */
    size_t fine_bins;
    double apart; /* how much they tell apart: the difference of their means */
    size_t place; /* among those that trees look at, from 1 on; 0: it is not */
} feature;

struct brume_score {
    json_t *places; /* name of a feature: its place */
    feature *features;
    size_t count, most;
    size_t examples[2];
    double base;  /* the sum where no feature is there */
    double scale; /* what the sum is multiplied by */
    size_t tree_features;
    brume_trees trees;
};

brume_status brume_score_open(size_t examples, brume_score **out, brume_error *error)
{
    brume_score *score = calloc(1, sizeof *score);
    if (score) {
        score->most = examples;
        score->places = json_object();
        score->features = calloc(FEATURES, sizeof *score->features);
    }
    if (!score || !score->places || !score->features) {
        brume_score_close(score);
        return brume_no_memory(error, "an audit");
    }
    *out = score;
    return BRUME_OK;
}

static void forget(brume_score *score)
{
    for (size_t i = 0; score->features && i < score->count; i++)
        for (int second = 0; second < 2; second++) {
            free(score->features[i].values[second]);
            score->features[i].values[second] = NULL;
        }
}

void brume_score_close(brume_score *score)
{
    if (!score)
        return;
    forget(score);
    json_decref(score->places);
    free(score->features);
    free(score);
}

/* ---- learning ---- */

typedef struct example {
    brume_score *score;
    bool second, failed;
} example;

/* A new feature, not there in any example so far. */
static feature *add_feature(brume_score *score, const char *name)
{
    if (score->count == FEATURES ||
        json_object_set_new(score->places, name, json_integer((json_int_t)score->count)) != 0)
        return NULL;
    feature *f = &score->features[score->count++];
    for (int second = 0; second < 2; second++) {
        f->values[second] = malloc((score->most + 1) * sizeof(double));
        for (size_t i = 0; f->values[second] && i < score->most; i++)
            f->values[second][i] = NAN;
    }
    return f->values[0] && f->values[1] ? f : NULL;
}

static void learn_feature(void *context, const char *name, double value)
{
    example *of = context;
    brume_score *score = of->score;
    const json_t *place = json_object_get(score->places, name);
    feature *f = place ? &score->features[json_integer_value(place)] : add_feature(score, name);
    size_t at = score->examples[of->second];
    if (f && f->values[0] && f->values[1] && at < score->most) /* what is not known is not seen */
        f->values[of->second][at] = isnan(value) ? INFINITY : value;
}

brume_status brume_score_learn(brume_score *score, brume_seen *seen, const void *outcome,
                               bool second, brume_error *error)
{
    example of = {score, second, false};
    if (!seen(outcome, learn_feature, &of))
        return brume_no_memory(error, "an audit");
    score->examples[second]++;
    return BRUME_OK;
}

/* ---- weights ---- */

static int ascending(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* The values that are there, of both databases, in order; how many. */
static size_t sort_values(const brume_score *score, const feature *f, double *all)
{
    size_t n = 0;
    for (int second = 0; second < 2; second++)
        for (size_t i = 0; i < score->examples[second] && i < score->most; i++)
            if (!isnan(f->values[second][i]))
                all[n++] = f->values[second][i];
    qsort(all, n, sizeof *all, ascending);
    return n;
}

/* Cut them into so many parts of about equal size; returns how many there are. */
static size_t cut(const double *all, size_t n, size_t parts, double *edges)
{
    size_t bins = 1;
    for (size_t i = 1; n > 0 && i < parts; i++) {
        double edge = all[i * n / parts];
        if (edge > all[0] && (bins == 1 || edge > edges[bins - 2]))
            edges[bins++ - 1] = edge;
    }
    return bins;
}

static size_t bin_among(const double *edges, size_t bins, double value)
{
    size_t bin = 0;
    while (bin + 1 < bins && value >= edges[bin])
        bin++;
    return bin;
}

static size_t bin_of(const feature *f, double value)
{
    return bin_among(f->edges, f->bins, value);
}

/* The logarithm of a quotient of two frequencies, less what luck may have added. */
static double weight_of(double first, double second, const double n[2])
{
    double quotient = log((second + .5) / (n[1] + 1)) - log((first + .5) / (n[0] + 1));
    double luck = 1.5 * sqrt(1 / (first + .5) + 1 / (second + .5));
    return fabs(quotient) <= luck ? 0 : quotient - copysign(luck / 2, quotient);
}

/* How often each bin came, of the examples with even numbers and of the others. */
typedef struct bin_hits {
    double in[2][2][BINS], missing[2][2], all[2][2]; /* [half][second] */
} bin_hits;

static void count_bins(const brume_score *score, const feature *f, bin_hits *hits)
{
    *hits = (bin_hits){0};
    for (int second = 0; second < 2; second++)
        for (size_t i = 0; i < score->examples[second]; i++) {
            double value = f->values[second][i];
            hits->all[i % 2][second]++;
            if (isnan(value))
                hits->missing[i % 2][second]++;
            else
                hits->in[i % 2][second][bin_of(f, value)]++;
        }
}

/* Weights that one half gives, and by how much they differ on the other half's two databases. */
static double judge_bins(const feature *f, const bin_hits *hits, int half)
{
    const double *n = hits->all[half], *m = hits->all[!half];
    const double *missing = hits->missing[!half];
    if (n[0] == 0 || n[1] == 0 || m[0] == 0 || m[1] == 0)
        return 0;
    double apart = weight_of(hits->missing[half][0], hits->missing[half][1], n) *
                   (missing[1] / m[1] - missing[0] / m[0]);
    for (size_t i = 0; i < f->bins; i++)
        apart += weight_of(hits->in[half][0][i], hits->in[half][1][i], n) *
                 (hits->in[!half][1][i] / m[1] - hits->in[!half][0][i] / m[0]);
    return apart;
}

/* Weights of the bins that there are, and how much they tell apart. */
static void weigh_bins(feature *f, const bin_hits *hits)
{
    double n[2] = {hits->all[0][0] + hits->all[1][0], hits->all[0][1] + hits->all[1][1]};
    double missing[2] = {hits->missing[0][0] + hits->missing[1][0],
                         hits->missing[0][1] + hits->missing[1][1]};
    f->absent = weight_of(missing[0], missing[1], n);
    f->apart = f->absent * (missing[1] / n[1] - missing[0] / n[0]);
    for (size_t i = 0; i < f->bins; i++) {
        double in[2] = {hits->in[0][0][i] + hits->in[1][0][i],
                        hits->in[0][1][i] + hits->in[1][1][i]};
        f->weight[i] = weight_of(in[0], in[1], n);
        f->apart += f->weight[i] * (in[1] / n[1] - in[0] / n[0]);
    }
    if (n[0] >= ENOUGH_FOR_HALVES && n[1] >= ENOUGH_FOR_HALVES)
        f->apart = (judge_bins(f, hits, 0) + judge_bins(f, hits, 1)) / 2;
}

/* As many bins as tell most: few where the difference is small, since what a bin with few values
 * says is mostly luck. Each half of the examples judges what the other one says, where there are
 * enough of them. */
static void weigh(const brume_score *score, feature *f, double *room)
{
    size_t n = sort_values(score, f, room);
    feature best = {.bins = 0};
    for (size_t parts = 2; parts <= BINS; parts *= 2) {
        bin_hits hits;
        if (parts > 2 && n / parts < LEAST_IN_BIN)
            break;
        f->bins = cut(room, n, parts, f->edges);
        count_bins(score, f, &hits);
        weigh_bins(f, &hits);
        if (best.bins == 0 || f->apart > best.apart)
            best = *f;
    }
    *f = best;
    f->fine_bins = cut(room, n, n / LEAST_IN_TREE > FINE ? FINE : n / LEAST_IN_TREE, f->fine);
}

/* ---- features together ---- */

/* 0 where the feature is absent, else its bin, from 1 on. */
static uint8_t code_of(const feature *f, double value)
{
    return isnan(value) ? 0 : (uint8_t)(1 + bin_among(f->fine, f->fine_bins, value));
}

/* The features that trees look at: those that differ from answer to answer and tell most. */
static void choose_features(brume_score *score)
{
    score->tree_features = 0;
    while (score->tree_features < TREE_FEATURES) {
        feature *best = NULL;
        for (size_t i = 0; i < score->count; i++) {
            feature *f = &score->features[i];
            bool varies = f->fine_bins > 1 || f->absent != 0;
            if (f->place == 0 && varies && (!best || f->apart > best->apart))
                best = f;
        }
        if (!best)
            return;
        best->place = ++score->tree_features;
    }
}

/* The factor of the sums that gives the examples the largest likelihood, by Newton's method. */
static double best_scale(const double *sums, size_t count)
{
    double scale = 1;
    for (int round = 0; round < 20; round++) {
        double slope = 0, weight = 1e-3;
        for (size_t i = 0; i < count; i++) {
            double chance = 1 / (1 + exp(-scale * sums[i]));
            slope += ((i % 2 != 0) - chance) * sums[i];
            weight += chance * (1 - chance) * sums[i] * sums[i];
        }
        scale = fmin(fmax(scale + slope / weight, .05), 1);
    }
    return scale;
}

/* Codes and sums of weights of all examples, of the two databases in turn. */
static void read_examples(const brume_score *score, size_t count, uint8_t *codes, double *sums)
{
    for (size_t i = 0; i < count; i++) {
        sums[i] = score->base;
        for (size_t k = 0; k < score->count; k++) {
            const feature *f = &score->features[k];
            if (!f->values[0] || !f->values[1])
                continue;
            double value = f->values[i % 2][i / 2];
            if (!isnan(value))
                sums[i] += f->weight[bin_of(f, value)] - f->absent;
            if (f->place > 0)
                codes[i * score->tree_features + f->place - 1] = code_of(f, value);
        }
    }
}

/* Without memory there are no trees: the score is a poorer one. */
static void grow_trees(brume_score *score)
{
    size_t each = score->examples[0] < score->examples[1] ? score->examples[0] : score->examples[1];
    if (each < LEAST_FOR_TREES)
        return;
    choose_features(score);
    uint8_t *codes = calloc(2 * each * (score->tree_features + 1), 1);
    double *sums = malloc(2 * each * sizeof *sums);
    if (codes && sums) {
        read_examples(score, 2 * each, codes, sums);
        score->scale = best_scale(sums, 2 * each);
        for (size_t i = 0; i < 2 * each; i++)
            sums[i] *= score->scale;
        if (brume_trees_learn(codes, score->tree_features, sums, 2 * each, &score->trees, NULL) !=
            BRUME_OK)
            score->trees.count = 0;
    }
    free(sums);
    free(codes);
}

double brume_score_settle(brume_score *score)
{
    double total = 0;
    double *room = malloc((2 * score->most + 1) * sizeof *room);
    score->base = 0;
    score->scale = 1;
    for (size_t i = 0; room && i < score->count; i++) {
        feature *f = &score->features[i];
        if (!f->values[0] || !f->values[1])
            continue;
        weigh(score, f, room);
        total += f->apart;
        score->base += f->absent;
    }
    if (room)
        grow_trees(score);
    free(room);
    forget(score);
    return total;
}

/* ---- scoring ---- */

typedef struct scored {
    const brume_score *score;
    double sum;
    uint8_t codes[TREE_FEATURES];
} scored;

/* The sum starts with every feature absent. */
static void score_feature(void *context, const char *name, double value)
{
    scored *of = context;
    const json_t *place = json_object_get(of->score->places, name);
    if (!place)
        return;
    const feature *f = &of->score->features[json_integer_value(place)];
    double known = isnan(value) ? INFINITY : value;
    if (f->bins > 0)
        of->sum += f->weight[bin_of(f, known)] - f->absent;
    if (f->place > 0)
        of->codes[f->place - 1] = code_of(f, known);
}

int64_t brume_score_of(const brume_score *score, brume_seen *seen, const void *outcome)
{
    scored of = {score, score->base, {0}};
    if (!seen(outcome, score_feature, &of))
        return 0; /* any function of the outcome will do */
    double odds = score->scale * of.sum + brume_trees_sum(&score->trees, of.codes);
    return (int64_t)llrint(fmax(fmin(odds, 1e6), -1e6) * STEPS);
}

/* ---- keeping it ---- */

static json_t *numbers(const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, isfinite(values[i]) ? json_real(values[i]) : json_null());
    return list;
}

/* The feature that has this place among those that trees look at, and its name. */
static const feature *feature_at(const brume_score *score, size_t at, const char **name)
{
    json_t *place;
    json_object_foreach (score->places, *name, place) {
        const feature *f = &score->features[json_integer_value(place)];
        if (f->place == at + 1)
            return f;
    }
    return NULL;
}

static json_t *json_node(const brume_score *score, const brume_tree *tree, size_t node)
{
    const char *name = "";
    if (node >= BRUME_TREE_NODES)
        return json_real(tree->leaf[node - BRUME_TREE_NODES]);
    if (tree->upto[node] == BRUME_TREE_EVERYTHING)
        return json_node(score, tree, 2 * node + 1);
    const feature *f = feature_at(score, tree->feature[node], &name);
    /* codes up to 0 are "absent", up to i the bins below edge i - 1 */
    size_t upto = tree->upto[node];
    json_t *below = upto == 0 || !f        ? json_string("absent")
                    : upto >= f->fine_bins ? json_null()
                                           : json_real(f->fine[upto - 1]);
    return json_pack("{s:s, s:o, s:o, s:o}", "feature", name, "below", below, "then",
                     json_node(score, tree, 2 * node + 1), "else",
                     json_node(score, tree, 2 * node + 2));
}

json_t *brume_score_to_json(const brume_score *score)
{
    json_t *list = json_array(), *trees = json_array(), *place;
    const char *name;
    json_object_foreach (score->places, name, place) {
        const feature *f = &score->features[json_integer_value(place)];
        bool used = f->absent != 0;
        for (size_t i = 0; i < f->bins; i++)
            used = used || f->weight[i] != 0;
        if (used) /* the others add nothing */
            json_array_append_new(list,
                                  json_pack("{s:s, s:o, s:o, s:f}", "name", name, "edges",
                                            numbers(f->edges, f->bins - 1), "weights",
                                            numbers(f->weight, f->bins), "absent", f->absent));
    }
    for (size_t i = 0; i < score->trees.count; i++)
        json_array_append_new(trees, json_node(score, &score->trees.of[i], 0));
    return json_pack("{s:f, s:f, s:i, s:o, s:o}", "base", score->base, "scale", score->scale,
                     "steps", STEPS, "features", list, "trees", trees);
}
