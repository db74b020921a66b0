/* The levels of a column. Promises: tree_levels.h. */
#include "synthetic/tree_levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* ---- counts of fine columns ---- */

size_t brume_tree_halvings(const brume_tree_column *column)
{
    enum { COARSEST = 64 };
    size_t levels = 1;
    while (column->ordered && column->values > BRUME_TREE_MODEL_VALUES &&
           brume_tree_halved(column->values, levels - 1) > COARSEST)
        levels++;
    return levels;
}

/* What is thought of a bin: its count with the variance of that, or its part of one that was not
 * split. */
typedef struct bin_count {
    double count, variance;
    bool whole;
} bin_count;

/* The two halves of a bin (or one, at the end) from what is thought of it and their noisy counts:
 * the fit of least squares to all three. */
static void split_bin(const bin_count *one, const int64_t *noisy, size_t halves, double sigma,
                      const double *parts, bin_count *out)
{
    double noise = sigma * sigma, sum = 0;
    for (size_t i = 0; i < halves; i++)
        sum += (double)noisy[i];
    double of_sum = noise * (double)halves;
    double total = (one->count * of_sum + sum * one->variance) / (of_sum + one->variance);
    double variance = one->variance * of_sum / (one->variance + of_sum);
    for (size_t i = 0; i < halves; i++) {
        if (one->whole || one->count <= 4 * sqrt(one->variance))
            out[i] = (bin_count){one->count * parts[i], one->variance, true};
        else
            out[i] = (bin_count){
                (double)noisy[i] + (total - sum) / (double)halves,
                noise * (1 - 1 / (double)halves) + variance / (double)(halves * halves), false};
    }
}

brume_status brume_tree_split(uint32_t values, int64_t *const *noisy, size_t levels, double sigma,
                              int64_t *out, brume_error *error)
{
    bin_count *above = calloc(values, sizeof *above), *below = calloc(values, sizeof *below);
    if (!above || !below) {
        free(above);
        free(below);
        return brume_no_memory(error, "a column");
    }
    for (uint32_t b = 0; b < brume_tree_halved(values, levels - 1); b++)
        above[b] = (bin_count){(double)noisy[levels - 1][b], sigma * sigma, false};
    for (size_t level = levels - 1; level > 0; level--) {
        uint32_t bins = brume_tree_halved(values, level - 1);
        for (uint32_t b = 0; b < bins; b += 2) {
            size_t halves = b + 1 < bins ? 2 : 1;
            /* values below each half: the last bin may have fewer */
            double first = ldexp(1, (int)level - 1),
                   end = fmin(values, ldexp(b + 2, (int)level - 1));
            double whole = end - ldexp(b, (int)level - 1);
            double parts[] = {halves == 2 ? first / whole : 1, 1 - first / whole};
            split_bin(&above[b / 2], &noisy[level - 1][b], halves, sigma, parts, &below[b]);
        }
        bin_count *kept = above;
        above = below;
        below = kept;
    }
    double sum = 0, given = 0;
    for (uint32_t v = 0; v < values; v++) { /* whole numbers that add up as the counts do */
        sum += above[v].count;
        out[v] = (int64_t)(rint(sum) - given);
        given = rint(sum);
    }
    free(above);
    free(below);
    return BRUME_OK;
}

/* ---- levels: functions of noisy counts ---- */

typedef struct weighted {
    double weight;
    uint32_t value;
} weighted;

static int by_weight(const void *a, const void *b)
{
    const weighted *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->value < y->value ? -1 : x->value > y->value; /* the same order everywhere */
}

/* A map of `values` values to at most `bins` bins; returned is how many it has, 0: no memory.
 * Ordered: neighbours, of about equal weight, from the left. Labels: the heaviest by themselves,
 * and one bin for the rest. */
static uint32_t make_level(bool ordered, const double *weight, uint32_t values, uint32_t bins,
                           uint16_t *map)
{
    if (ordered) {
        double left = 0, here = 0;
        uint32_t bin = 0;
        for (uint32_t v = 0; v < values; v++)
            left += weight[v];
        for (uint32_t v = 0; v < values; v++) {
            map[v] = (uint16_t)bin;
            here += weight[v];
            /* with as many values left as bins each gets one: no level is coarser than it says */
            bool full = here >= left / (bins - bin) || values - v - 1 <= bins - bin - 1;
            if (v + 1 < values && bin + 1 < bins && full) {
                left -= here;
                here = 0;
                bin++;
            }
        }
        return bin + 1;
    }
    weighted *sorted = malloc(values * sizeof *sorted);
    if (!sorted)
        return 0;
    for (uint32_t v = 0; v < values; v++) {
        sorted[v] = (weighted){weight[v], v};
        map[v] = (uint16_t)(bins - 1);
    }
    qsort(sorted, values, sizeof *sorted, by_weight);
    for (uint32_t i = 0; i + 1 < bins; i++)
        map[sorted[i].value] = (uint16_t)i;
    free(sorted);
    return bins;
}

/* The levels of a column from its noisy counts; for a column that is too fine, the model's values
 * first. counts: of the model's values, made from the noisy ones. */
brume_status brume_tree_make_levels(brume_tree_levels *out, const brume_tree_column *column,
                                    const int64_t *noisy, int64_t *counts, brume_error *error)
{
    static const uint32_t sizes[] = {48, 32, 24, 16, 12, 8, 6, 4, 3, 2};
    uint32_t values = column->values;
    double *weight = malloc(values * sizeof *weight);
    if (!weight)
        return brume_no_memory(error, "levels");
    for (uint32_t v = 0; v < values; v++) {
        weight[v] = noisy[v] > 0 ? (double)noisy[v] : 0;
        counts[v] = noisy[v];
    }
    out->values = values;
    if (values > BRUME_TREE_MODEL_VALUES) {
        out->of_value = malloc(values * sizeof *out->of_value);
        out->weight = malloc(values * sizeof *out->weight);
        if (out->of_value)
            out->values =
                make_level(column->ordered, weight, values, BRUME_TREE_MODEL_VALUES, out->of_value);
        if (!out->of_value || !out->weight || out->values == 0) {
            free(weight);
            return brume_no_memory(error, "levels");
        }
        memcpy(out->weight, weight, values * sizeof *weight);
        memset(counts, 0, out->values * sizeof *counts);
        for (uint32_t v = 0; v < values; v++)
            counts[out->of_value[v]] += noisy[v];
        for (uint32_t v = 0; v < out->values; v++)
            weight[v] = counts[v] > 0 ? (double)counts[v] : 0;
    }
    out->bins[0] = out->values;
    out->count = 1;
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i] >= out->values)
            continue;
        uint16_t *map = malloc(out->values * sizeof *map);
        uint32_t bins = map ? make_level(column->ordered, weight, out->values, sizes[i], map) : 0;
        if (bins < 2 || bins == out->bins[out->count - 1]) {
            if (bins == 0)
                status = brume_no_memory(error, "levels");
            free(map);
            continue;
        }
        out->map[out->count] = map;
        out->bins[out->count++] = bins;
    }
    free(weight);
    return status;
}

/* A value within its bin for each row: systematic rounding again, in a random order of rows. */
brume_status brume_tree_fill_values(const brume_tree_levels *levels, uint32_t values, uint16_t *row,
                                    uint64_t rows, brume_words *words, brume_error *error)
{
    uint32_t *order = malloc(rows * sizeof *order);
    double *sum = calloc(levels->values, sizeof *sum),
           *reached = calloc(levels->values, sizeof *sum);
    double *size = calloc(levels->values, sizeof *size), *members = calloc(levels->values, 8);
    uint32_t *next = calloc(levels->values, sizeof *next);
    double *share = malloc(values * sizeof *share);
    bool good = order && sum && reached && size && members && next && share;
    brume_status status = good ? BRUME_OK : brume_no_memory(error, "rows");
    for (uint32_t v = 0; good && v < values; v++) {
        sum[levels->of_value[v]] += levels->weight[v];
        members[levels->of_value[v]]++;
    }
    for (uint32_t v = 0; good && v < values; v++) {
        uint16_t bin = levels->of_value[v];
        share[v] = sum[bin] > 0 ? levels->weight[v] / sum[bin] : 1 / members[bin];
    }
    for (uint64_t r = 0; good && r < rows; r++) {
        order[r] = (uint32_t)r;
        size[row[r]]++;
    }
    for (uint64_t i = rows; status == BRUME_OK && i > 1; i--) {
        uint64_t other;
        status = brume_words_below(words, i, &other, error);
        uint32_t kept = order[i - 1];
        if (status == BRUME_OK) {
            order[i - 1] = order[other];
            order[other] = kept;
        }
    }
    for (uint32_t b = 0; status == BRUME_OK && b < levels->values; b++) {
        uint64_t place = 0;
        status = brume_words_below(words, UINT64_C(1) << 53, &place, error);
        sum[b] = (double)place * 0x1p-53; /* now: the offset; `members`: rows given so far */
        members[b] = 0;
        next[b] = values;
        for (uint32_t v = values; v-- > 0;)
            next[b] = levels->of_value[v] == b ? v : next[b];
    }
    for (uint64_t i = 0; status == BRUME_OK && i < rows; i++) {
        uint64_t r = order[i];
        uint16_t bin = row[r];
        /* the value whose cumulated share of the bin's rows passes this one's number */
        for (;;) {
            uint32_t v = next[bin], later = v + 1;
            double upto = floor(reached[bin] + share[v] * size[bin] + sum[bin]);
            while (later < values && levels->of_value[later] != bin)
                later++;
            if (members[bin] < upto || later == values)
                break;
            reached[bin] += share[v] * size[bin];
            next[bin] = later;
        }
        members[bin]++;
        row[r] = (uint16_t)next[bin];
    }
    free(order);
    free(sum);
    free(reached);
    free(size);
    free(members);
    free(next);
    free(share);
    return status;
}
