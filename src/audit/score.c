/* From a released table to one number. */
#include "audit/score.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "base/error.h"

/* A feature further than this from its middle, in deviations, counts as this far: a heavy tail or
 * an average of few must not drown the rest. */
static const double FAR = 8;
enum { STEPS = 64, FEATURES = 4096 };

/* A feature: sums over examples [sharp][second]. */
typedef struct feature {
    double sum[2][2], squares[2][2];
    double middle, deviation, weight;
} feature;

struct brume_score {
    json_t *places; /* name of a feature: its place */
    feature *features;
    size_t count;
    double examples[2][2];
};

brume_status brume_score_open(brume_score **out, brume_error *error)
{
    brume_score *score = calloc(1, sizeof *score);
    if (score) {
        score->places = json_object();
        score->features = calloc(FEATURES, sizeof *score->features);
    }
    if (!score || !score->places || !score->features) {
        brume_score_close(score);
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for an audit");
    }
    *out = score;
    return BRUME_OK;
}

void brume_score_close(brume_score *score)
{
    if (!score)
        return;
    json_decref(score->places);
    free(score->features);
    free(score);
}

/* ---- features ---- */

typedef void visit(void *context, const char *name, double value);

/* A value that is no number as part of a name. */
static void write_value(FILE *out, const brume_value *value)
{
    if (value->kind == BRUME_VALUE_TEXT) /* its length keeps the names of different rows apart */
        fprintf(out, "%zu:%.*s", value->length, (int)value->length, value->text);
    else if (value->kind == BRUME_VALUE_BOOLEAN)
        fputs(value->boolean ? "true" : "false", out);
    else
        fputs("null", out);
}

static const brume_value *cell(const brume_query_answer *answer, size_t row, size_t column)
{
    return &answer->values[row * answer->column_count + column];
}

/* The key of a row, then, for a value of it, the number of its column and, unless it is a number,
 * the value: a number is one feature, every other value is one by itself. NULL: out of memory. */
static char *name_of(const brume_query_answer *answer, size_t row, size_t column)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    for (size_t i = 0; i < answer->column_count; i++) {
        const brume_value *key = cell(answer, row, i);
        if (!answer->columns[i].is_key)
            continue;
        fputc('[', out);
        if (key->kind == BRUME_VALUE_NUMBER)
            fprintf(out, "%.17g", key->number);
        else
            write_value(out, key);
    }
    if (column < answer->column_count) {
        fprintf(out, " %zu ", column);
        if (cell(answer, row, column)->kind != BRUME_VALUE_NUMBER)
            write_value(out, cell(answer, row, column));
    }
    bool good = fclose(out) == 0;
    if (!good)
        free(text);
    return good ? text : NULL;
}

static bool visit_one(const brume_query_answer *answer, size_t row, size_t column, double value,
                      visit *each, void *context)
{
    char *name = name_of(answer, row, column);
    if (name)
        each(context, name, value);
    free(name);
    return name != NULL;
}

/* Every feature of a row: that its key is there, then its values. False: out of memory. */
static bool visit_row(const brume_query_answer *answer, size_t row, visit *each, void *context)
{
    bool good = visit_one(answer, row, answer->column_count, 1, each, context);
    for (size_t i = 0; good && i < answer->column_count; i++) {
        const brume_value *value = cell(answer, row, i);
        if (!answer->columns[i].is_key)
            good = visit_one(answer, row, i, value->kind == BRUME_VALUE_NUMBER ? value->number : 1,
                             each, context);
    }
    return good;
}

/* The estimates of bias that are released with the columns. */
static void visit_bias(const brume_query_answer *answer, visit *each, void *context)
{
    static const char *const parts[] = {"units", "cut", "clamped"};
    for (size_t i = 0; i < answer->column_count; i++) {
        const brume_answer_bias *bias = &answer->columns[i].bias;
        const double numbers[] = {bias->units, bias->cut, bias->clamped};
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            char name[40];
            snprintf(name, sizeof name, "bias %zu %s", i, parts[k]);
            if (!isnan(numbers[k]))
                each(context, name, numbers[k]);
        }
    }
}

static bool visit_answer(const brume_query_answer *answer, visit *each, void *context)
{
    bool good = true;
    visit_bias(answer, each, context);
    for (size_t i = 0; good && i < answer->row_count; i++)
        good = visit_row(answer, i, each, context);
    return good;
}

/* ---- learning ---- */

typedef struct example {
    brume_score *score;
    bool sharp, second;
} example;

static void add_feature(void *context, const char *name, double value)
{
    const example *of = context;
    brume_score *score = of->score;
    const json_t *place = json_object_get(score->places, name);
    size_t at = place ? (size_t)json_integer_value(place) : score->count;
    if (!place && (score->count == FEATURES ||
                   json_object_set_new(score->places, name, json_integer((json_int_t)at)) != 0))
        return; /* what is not known is not looked at */
    score->count += !place;
    score->features[at].sum[of->sharp][of->second] += value;
    score->features[at].squares[of->sharp][of->second] += value * value;
}

brume_status brume_score_learn(brume_score *score, const brume_query_answer *answer, bool second,
                               bool sharp, brume_error *error)
{
    example of = {score, sharp, second};
    if (!visit_answer(answer, add_feature, &of))
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for an audit");
    score->examples[sharp][second]++;
    return BRUME_OK;
}

/* Mean and variance of a feature; where an answer does not have it, it is 0. */
static void moments(const brume_score *score, const feature *f, bool sharp, bool second,
                    double *mean, double *variance)
{
    double n = score->examples[sharp][second];
    *mean = f->sum[sharp][second] / n;
    *variance = fmax(f->squares[sharp][second] / n - *mean * *mean, 0);
}

static void weigh(const brume_score *score, feature *f)
{
    double mean[2][2], variance[2][2];
    for (int sharp = 0; sharp < 2; sharp++)
        for (int second = 0; second < 2; second++)
            moments(score, f, sharp != 0, second != 0, &mean[sharp][second],
                    &variance[sharp][second]);
    double difference = mean[1][1] - mean[1][0];
    double doubt =
        sqrt(variance[1][0] / score->examples[1][0] + variance[1][1] / score->examples[1][1]);
    double spread = (variance[0][0] + variance[0][1]) / 2;
    double seen = mean[0][1] - mean[0][0];
    /* Rounding of sums of squares is no variance. */
    double size = fabs(mean[0][0]) + fabs(mean[0][1]);
    f->middle = (mean[0][0] + mean[0][1]) / 2;
    f->weight = 0;
    if (spread <= 1e-12 * size * size) {
        /* Always the same: if it differs, it tells everything. */
        f->deviation = fmax(fabs(seen), 1e-300);
        f->weight = fabs(seen) > 1e-6 * size ? copysign(FAR, seen) : 0;
        return;
    }
    f->deviation = sqrt(spread);
    if (fabs(difference) > 4 * doubt)
        f->weight = fmax(fmin(difference / f->deviation, FAR), -FAR);
}

double brume_score_settle(brume_score *score)
{
    double total = 0;
    for (size_t i = 0; i < score->count; i++) {
        weigh(score, &score->features[i]);
        total += score->features[i].weight * score->features[i].weight;
    }
    for (size_t i = 0; total > 0 && i < score->count; i++)
        score->features[i].weight /= sqrt(total);
    return total;
}

/* ---- scoring ---- */

typedef struct scored {
    const brume_score *score;
    double sum;
} scored;

static double part(const feature *f, double value)
{
    return f->weight * fmax(fmin((value - f->middle) / f->deviation, FAR), -FAR);
}

/* The sum starts with every feature absent: its value is 0 then. */
static void score_feature(void *context, const char *name, double value)
{
    scored *of = context;
    const json_t *place = json_object_get(of->score->places, name);
    if (!place)
        return;
    const feature *f = &of->score->features[json_integer_value(place)];
    if (f->weight != 0)
        of->sum += part(f, value) - part(f, 0);
}

int64_t brume_score_of(const brume_score *score, const brume_query_answer *answer)
{
    scored of = {score, 0};
    for (size_t i = 0; i < score->count; i++)
        if (score->features[i].weight != 0)
            of.sum += part(&score->features[i], 0);
    if (!visit_answer(answer, score_feature, &of))
        return 0; /* any function of the answer will do */
    return (int64_t)llrint(fmax(fmin(of.sum, 1e6), -1e6) * STEPS);
}
