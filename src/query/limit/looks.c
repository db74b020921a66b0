/* Looks: noisy counts of units by how much they have.
 *
 * Promise: post-processing. What is computed here is a function of noisy numbers and public ones.
 */
#include "query/limit/looks.h"

#include <math.h>
#include <string.h>

void brume_noisy_pool(brume_noisy *number, double value, double deviation)
{
    double new = 1 / (deviation * deviation), old = 0;
    if (number->deviation > 0)
        old = 1 / (number->deviation * number->deviation);
    number->value = (old * number->value + new *value) / (old + new);
    number->deviation = 1 / sqrt(old + new);
}

static void pool(brume_noisy *to, const brume_noisy *more)
{
    if (more->deviation > 0)
        brume_noisy_pool(to, more->value, more->deviation);
}

void brume_looks_pool(brume_looks *to, const brume_looks *more)
{
    if (to->first.deviation <= 0 && !brume_looks_histogram(to))
        to->gaussian = more->gaussian;
    else if (more->first.deviation > 0 || brume_looks_histogram(more))
        to->gaussian = to->gaussian && more->gaussian;
    pool(&to->first, &more->first);
    for (size_t i = 0; i < BRUME_LIMIT_BINS; i++)
        pool(&to->bin[i], &more->bin[i]);
    if (more->tail == 0)
        return;
    if (to->tail != more->tail)
        memset(to->part, 0, sizeof to->part);
    to->tail = more->tail;
    for (size_t p = 0; p < BRUME_LIMIT_PARTS; p++)
        pool(&to->part[p], &more->part[p]);
}

size_t brume_looks_part(size_t tail, size_t part)
{
    static const size_t starts[BRUME_LIMIT_PARTS] = {0, 2, 6, 12}; /* two bins to an octave */
    size_t at = part < BRUME_LIMIT_PARTS ? tail + starts[part] : BRUME_LIMIT_BINS;
    return at < BRUME_LIMIT_BINS ? at : BRUME_LIMIT_BINS;
}

/* Tails of sums of one, two and four Laplace noises; of more as of four with the same variance,
 * which are heavier. Means of several Laplace noises have lighter tails than one with their
 * variance. */
double brume_noise_evidence(bool gaussian, double sum, double deviation, int count)
{
    if (!(sum > 0))
        return 0;
    if (gaussian) {
        double t = sum / deviation / sqrt(count);
        return t < 1 ? M_LN2 + t / 2 : t * t / 2 + log(t * 2.5066);
    }
    double t = sum / deviation * M_SQRT2;
    if (count == 1)
        return t + M_LN2;
    if (count == 2)
        return t - log((2 + t) / 4);
    t *= count > 4 ? 2 / sqrt(count) : 1;
    return t - log((48 + 33 * t + 9 * t * t + t * t * t) / 96);
}

/* Noise alone says more in one of ten draws. A count with more noise than this would miss hundreds
 * of units: it says nothing. */
#define QUIET      2.3
#define MOST_NOISE 120

bool brume_looks_are_quiet(const brume_looks *looks)
{
    const brume_noisy *first = &looks->first;
    return first->deviation > 0 && first->deviation <= MOST_NOISE &&
           brume_noise_evidence(looks->gaussian, first->value, first->deviation, 1) < QUIET;
}

/* What a bin must show, `gap` bins above the last one that passed: half of the chance for each.
 * Before any passed, eight times less. */
static double need(size_t gap, bool first)
{
    double one = fmin(log(200) + M_LN2 * (double)gap, 9.5 + 0.15 * (double)gap);
    return one + (first ? log(8) : 0);
}

static const int windows[] = {1, 2, 4, 8}; /* bins that may pass together */

/* Does a window of bins pass that ends at bin `i` and starts at `from` or above? */
static bool passes(const brume_looks *looks, size_t i, size_t from, double least)
{
    double sum = 0, variance = 0;
    int count = 0;
    if (!(looks->bin[i].value > looks->bin[i].deviation / 2))
        return false; /* its end is not the last one */
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
        for (; count < windows[w]; count++) {
            if (i < from + (size_t)count)
                return false;
            const brume_noisy *bin = &looks->bin[i - (size_t)count];
            sum += bin->value;
            variance += bin->deviation * bin->deviation;
        }
        if (brume_noise_evidence(looks->gaussian, sum, sqrt(variance / count), count) >=
            least + (count > 1 ? 1.5 : 0))
            return true;
    }
    return false;
}

size_t brume_looks_top(const brume_looks *looks)
{
    size_t top = BRUME_LIMIT_NO_BIN;
    for (size_t i = 0; i < BRUME_LIMIT_BINS; i++) {
        bool first = top == BRUME_LIMIT_NO_BIN;
        size_t below = first || top < looks->base ? looks->base : top + 1;
        if (passes(looks, i, first ? 0 : top + 1, need(i > below ? i - below : 0, first)))
            top = i;
    }
    return top;
}

size_t brume_looks_next_tail(const brume_looks *looks)
{
    size_t top = brume_looks_top(looks),
           at = top < BRUME_LIMIT_BINS - 1 ? top + 1 : BRUME_LIMIT_BINS - 1;
    bool near = looks->tail > 0 && at <= looks->tail + 2 && looks->tail <= at + 2;
    return near ? looks->tail : at;
}

double brume_looks_hidden(const brume_looks *looks, size_t bin)
{
    double units = 0, variance = 0;
    int count = 0;
    if (!brume_looks_histogram(looks)) {
        if (!(looks->first.deviation > 0) || bin > 0)
            return looks->first.deviation > 0 ? 0 : NAN;
        double most = looks->gaussian ? 1.96 : 2.1183; /* ln 20 / sqrt 2 */
        return fmax(0, looks->first.value + most * looks->first.deviation);
    }
    if (looks->tail == 0)
        return NAN;
    for (size_t i = bin + 1; i < looks->tail;
         i++, count++) { /* above the limit and below the parts */
        units += looks->bin[i].value;
        variance += looks->bin[i].deviation * looks->bin[i].deviation;
    }
    for (size_t p = 0; p < BRUME_LIMIT_PARTS; p++)
        if (brume_looks_part(looks->tail, p + 1) > bin + 1 &&
            brume_looks_part(looks->tail, p) < BRUME_LIMIT_BINS) {
            units += looks->part[p].value;
            variance += looks->part[p].deviation * looks->part[p].deviation;
            count++;
        }
    /* sums of Laplace noises: 97.5 % are below 2.15 deviations, for one and for many */
    return fmax(0, units + (looks->gaussian ? 1.96 : 2.15) * sqrt(variance));
}

double brume_looks_units(const brume_looks *looks)
{
    double units = 0;
    size_t top = brume_looks_histogram(looks) ? brume_looks_top(looks) : BRUME_LIMIT_NO_BIN;
    if (top == BRUME_LIMIT_NO_BIN)
        return NAN;
    for (size_t i = 0; i <= top; i++)
        units += looks->bin[i].value;
    return fmax(0, units);
}

double brume_looks_sum(const brume_looks *looks)
{
    double sum = 0;
    size_t top = brume_looks_histogram(looks) ? brume_looks_top(looks) : BRUME_LIMIT_NO_BIN;
    if (top == BRUME_LIMIT_NO_BIN)
        return NAN;
    for (size_t i = 0; i <= top; i++) {
        double low = i > 0 ? (double)brume_limit_edge(i - 1) + 1 : 1;
        sum += looks->bin[i].value * (low + (double)brume_limit_edge(i)) / 2;
    }
    return fmax(0, sum);
}
