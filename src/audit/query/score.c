/* From what was released to one number. */
#include "audit/query/score.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <brume/status.h>
#include <jansson.h>

#include "base/error.h"

/* ---- a sum of small decision trees ---- */

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

/* What they add to the logarithm of the odds. */
static double trees_sum(const brume_trees *trees, const uint8_t *codes)
{
    double sum = 0;
    for (size_t i = 0; i < trees->count; i++)
        sum += trees->of[i].leaf[leaf_of(&trees->of[i], codes)];
    return sum;
}

/* ---- how much each of several estimates of the same odds counts ---- */

enum { SWEEPS = 40 };

/* What stands against a factor: half of this times its square, in units of log-likelihood. */
static const double PENALTY = 1;

/* The sweeps end where no factor moves by more; and by more than this none moves at once, since far
 * from where one stands the likelihood is no parabola. */
static const double STILL = 1e-3, FARTHEST = 1;

/* Newton's blend_step for one factor: the others stay. */
static double blend_step(const double *columns, size_t count, size_t examples, size_t which,
                         double factor, const double *sums)
{
    double slope = -PENALTY * factor, weight = PENALTY;
    for (size_t i = 0; i < examples; i++) {
        double said = columns[i * count + which];
        if (said == 0)
            continue;
        double chance = 1 / (1 + exp(-sums[i]));
        slope += ((i % 2 != 0) - chance) * said;
        weight += chance * (1 - chance) * said * said;
    }
    double by = fmax(fmin(slope / weight, FARTHEST), -FARTHEST);
    return fmax(by, -factor); /* never below 0 */
}

/* One factor after the other, again and again: with the penalty the likelihood has one maximum.
 */
void brume_blend_learn(const double *columns, size_t count, size_t examples, double *factors,
                       double *sums)
{
    memset(factors, 0, count * sizeof *factors);
    memset(sums, 0, examples * sizeof *sums);
    double moved = 1;
    for (int sweep = 0; sweep < SWEEPS && moved > STILL; sweep++) {
        moved = 0;
        for (size_t k = 0; k < count; k++) {
            double by = blend_step(columns, count, examples, k, factors[k], sums);
            factors[k] += by;
            moved = fmax(moved, fabs(by));
            for (size_t i = 0; by != 0 && i < examples; i++)
                sums[i] += by * columns[i * count + k];
        }
    }
}

/* ---- a settled score as JSON: score.h says how to read it ---- */

static json_t *numbers(const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, isfinite(values[i]) ? json_real(values[i]) : json_null());
    return list;
}

/* The feature that has this place among those that are looked at together, and its name. */
static const brume_score_feature *feature_at(const brume_score *score, size_t at, const char **name)
{
    json_t *place;
    json_object_foreach (score->places, *name, place) {
        const brume_score_feature *f = &score->features[json_integer_value(place)];
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
    const brume_score_feature *f = feature_at(score, tree->feature[node], &name);
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
        const brume_score_feature *f = &score->features[json_integer_value(place)];
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
    return json_pack("{s:f, s:i, s:o, s:o}", "base", score->base, "steps", BRUME_SCORE_STEPS,
                     "features", list, "trees", trees);
}

enum { LEAST_IN_BIN = 40, LEAST_IN_TREE = 20, ENOUGH_FOR_HALVES = 80 };

/* What is seen together is learned from so many examples of each database on. */
enum { LEAST_FOR_TREES = 200 };

typedef brume_score_feature feature;
enum { BINS = BRUME_SCORE_BINS, FINE = BRUME_SCORE_FINE, FEATURES = BRUME_SCORE_FEATURES };
enum { TOGETHER = BRUME_SCORE_TOGETHER };

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

/* The features that are looked at together: those that differ from answer to answer and tell most.
 */
static void choose_features(brume_score *score)
{
    score->together = 0;
    while (score->together < TOGETHER) {
        feature *best = NULL;
        for (size_t i = 0; i < score->count; i++) {
            feature *f = &score->features[i];
            bool varies = f->fine_bins > 1 || f->absent != 0;
            if (f->place == 0 && varies && (!best || f->apart > best->apart))
                best = f;
        }
        if (!best)
            return;
        best->place = ++score->together;
    }
}

/* What a feature says of an example. */
static double said(const feature *f, size_t number)
{
    double value = f->values[number % 2][number / 2];
    return isnan(value) ? f->absent : f->weight[bin_of(f, value)];
}

/* What each of the features that are looked at together says of every example, and in the last
 * column what all the others say; the codes of the former. */
static void read_examples(const brume_score *score, size_t count, double *columns, uint8_t *codes)
{
    size_t together = score->together;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < score->count; k++) {
            const feature *f = &score->features[k];
            if (!f->values[0] || !f->values[1])
                continue;
            size_t column = f->place > 0 ? f->place - 1 : together;
            columns[i * (together + 1) + column] += said(f, i);
            if (f->place > 0)
                codes[i * together + column] = code_of(f, f->values[i % 2][i / 2]);
        }
}

/* Several features may be functions of one number: each counts as much as lets the sum of all fit
 * the examples best. */
static void apply_factors(brume_score *score, const double *factors)
{
    score->base = 0;
    for (size_t i = 0; i < score->count; i++) {
        feature *f = &score->features[i];
        double factor = factors[f->place > 0 ? f->place - 1 : score->together];
        for (size_t bin = 0; bin < f->bins; bin++)
            f->weight[bin] *= factor;
        f->absent *= factor;
        score->base += f->absent;
    }
}

/* Without memory the features stay as they are: the score is a poorer one. */
static void learn_together(brume_score *score)
{
    size_t each = score->examples[0] < score->examples[1] ? score->examples[0] : score->examples[1];
    if (each < LEAST_FOR_TREES)
        return;
    choose_features(score);
    size_t count = 2 * each, wide = score->together + 1;
    double *columns = calloc(count * wide, sizeof *columns), factors[TOGETHER + 1];
    double *sums = malloc(count * sizeof *sums);
    uint8_t *codes = calloc(count * wide, 1);
    if (columns && sums && codes) {
        read_examples(score, count, columns, codes);
        brume_blend_learn(columns, wide, count, factors, sums);
        apply_factors(score, factors);
        if (brume_trees_learn(codes, score->together, sums, count, &score->trees, NULL) != BRUME_OK)
            score->trees.count = 0;
    }
    free(codes);
    free(sums);
    free(columns);
}

double brume_score_settle(brume_score *score)
{
    double total = 0;
    double *room = malloc((2 * score->most + 1) * sizeof *room);
    score->base = 0;
    for (size_t i = 0; room && i < score->count; i++) {
        feature *f = &score->features[i];
        if (!f->values[0] || !f->values[1])
            continue;
        weigh(score, f, room);
        total += f->apart;
        score->base += f->absent;
    }
    if (room)
        learn_together(score);
    free(room);
    forget(score);
    return total;
}

/* ---- scoring ---- */

typedef struct scored {
    const brume_score *score;
    double sum;
    uint8_t codes[TOGETHER];
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
    double odds = of.sum + trees_sum(&score->trees, of.codes);
    return (int64_t)llrint(fmax(fmin(odds, 1e6), -1e6) * BRUME_SCORE_STEPS);
}
