/* From a released table to one number. */
#include "audit/score.h"

#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "audit/answer_features.h"
#include "base/error.h"

enum { STEPS = 64, FEATURES = 2048, BINS = 16, LEAST_IN_BIN = 40 };

/* A feature: its value in each example [second][example], NaN where it is not there; then bins. */
typedef struct feature {
    double *values[2];
    double edges[BINS - 1]; /* bin i has the values below edges[i] and not below the one before */
    size_t bins;
    double weight[BINS], absent; /* logarithms of quotients */
} feature;

struct brume_score {
    json_t *places; /* name of a feature: its place */
    feature *features;
    size_t count, most;
    size_t examples[2];
    double base; /* the score where no feature is there */
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

brume_status brume_score_learn(brume_score *score, const brume_query_answer *answer,
                               const brume_error *refused, bool second, brume_error *error)
{
    example of = {score, second, false};
    if (!brume_features_visit(answer, refused, learn_feature, &of))
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

/* Cut the values that are there, of both databases, into parts of about equal size: fewer parts
 * where there are few values, since a part with two or three is taken for luck. */
static void cut(const brume_score *score, feature *f, double *all)
{
    size_t n = 0;
    for (int second = 0; second < 2; second++)
        for (size_t i = 0; i < score->examples[second] && i < score->most; i++)
            if (!isnan(f->values[second][i]))
                all[n++] = f->values[second][i];
    qsort(all, n, sizeof *all, ascending);
    size_t parts = n / LEAST_IN_BIN < 2 ? 2 : n / LEAST_IN_BIN > BINS ? BINS : n / LEAST_IN_BIN;
    f->bins = 1;
    for (size_t i = 1; n > 0 && i < parts; i++) {
        double edge = all[i * n / parts];
        if (edge > all[0] && (f->bins == 1 || edge > f->edges[f->bins - 2]))
            f->edges[f->bins++ - 1] = edge;
    }
}

static size_t bin_of(const feature *f, double value)
{
    size_t bin = 0;
    while (bin + 1 < f->bins && value >= f->edges[bin])
        bin++;
    return bin;
}

/* The logarithm of a quotient of two frequencies, less what luck may have added. */
static double weight_of(double first, double second, double n[2])
{
    double quotient = log((second + .5) / (n[1] + 1)) - log((first + .5) / (n[0] + 1));
    double luck = 1.5 * sqrt(1 / (first + .5) + 1 / (second + .5));
    return fabs(quotient) <= luck ? 0 : quotient - copysign(luck / 2, quotient);
}

/* Weights, and how much they tell apart: the difference of their means. */
static double weigh(const brume_score *score, feature *f, double *room)
{
    double hits[2][BINS] = {{0}}, missing[2] = {0, 0}, n[2], apart = 0;
    cut(score, f, room);
    for (int second = 0; second < 2; second++) {
        n[second] = (double)score->examples[second];
        for (size_t i = 0; i < score->examples[second]; i++) {
            double value = f->values[second][i];
            if (isnan(value))
                missing[second]++;
            else
                hits[second][bin_of(f, value)]++;
        }
    }
    f->absent = weight_of(missing[0], missing[1], n);
    apart += f->absent * (missing[1] / n[1] - missing[0] / n[0]);
    for (size_t i = 0; i < f->bins; i++) {
        f->weight[i] = weight_of(hits[0][i], hits[1][i], n);
        apart += f->weight[i] * (hits[1][i] / n[1] - hits[0][i] / n[0]);
    }
    return apart;
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
        total += weigh(score, f, room);
        score->base += f->absent;
    }
    free(room);
    forget(score);
    return total;
}

/* ---- scoring ---- */

typedef struct scored {
    const brume_score *score;
    double sum;
} scored;

/* The sum starts with every feature absent. */
static void score_feature(void *context, const char *name, double value)
{
    scored *of = context;
    const json_t *place = json_object_get(of->score->places, name);
    if (!place)
        return;
    const feature *f = &of->score->features[json_integer_value(place)];
    if (f->bins > 0)
        of->sum += f->weight[bin_of(f, isnan(value) ? INFINITY : value)] - f->absent;
}

int64_t brume_score_of(const brume_score *score, const brume_query_answer *answer,
                       const brume_error *refused)
{
    scored of = {score, score->base};
    if (!brume_features_visit(answer, refused, score_feature, &of))
        return 0; /* any function of the answer will do */
    return (int64_t)llrint(fmax(fmin(of.sum, 1e6), -1e6) * STEPS);
}

/* ---- keeping it ---- */

static json_t *numbers(const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, isfinite(values[i]) ? json_real(values[i]) : json_null());
    return list;
}

json_t *brume_score_to_json(const brume_score *score)
{
    json_t *list = json_array(), *place;
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
    return json_pack("{s:f, s:i, s:o}", "base", score->base, "steps", STEPS, "features", list);
}
