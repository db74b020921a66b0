/* The tail: the units above a limit, counted in parts.
 *
 * Whether a part has units is a test of its number against noise, as in choose.c: the further above
 * the last part that passed, the more it must show, because a limit that is too high by a factor of
 * 4 costs four times the noise. Two neighbouring parts may pass together. */
#include "query/limit/tail.h"

#include <math.h>

#define ROOT_2 1.4142135623730951
#define LOG_4  1.3862943611198906
#define UPPER  1.6449 /* 95 % of a Gaussian are below, and of a Laplace law too */

size_t brume_limit_part_from(size_t from, size_t part, size_t bins)
{
    static const size_t starts[BRUME_LIMIT_PARTS] = {0, 4, 8, 12, 20}; /* two bins to an octave */
    size_t at = part < BRUME_LIMIT_PARTS ? from + starts[part] : bins;
    return at < bins ? at : bins;
}

/* Where a part ends, in factors of 4; the last one is open. */
static const double heights[BRUME_LIMIT_PARTS] = {1, 2, 3, 5, 7};

/* -log P[noise of this scale, in so many numbers together, says so much], or a little less, and
 * without the factor of one half for its sign. */
static double evidence(const brume_limit_histogram *histogram, double sum, double scale,
                       int numbers)
{
    double t = sum / scale;
    if (!(t > 0))
        return 0;
    if (histogram->gaussian)
        return t * t / 2 / numbers;
    if (numbers == 1)
        return t;
    return numbers == 2 ? t - brume_limit_rough_log((2 + t) / 2)
                        : t - brume_limit_rough_log((48 + 33 * t + 9 * t * t + t * t * t) / 48);
}

/* ---- the first count ---- */

/* Noise alone says more in 11 of 100 draws. A count that is noisier than this would
 * miss a hundred units: it says nothing. */
#define QUIET      1.5
#define MOST_NOISE 60.0

static double first_says(const brume_limit_histogram *histogram)
{
    const brume_limit_count *first = &histogram->first;
    return first->scale > 0 ? evidence(histogram, first->noisy, first->scale, 1) : 0;
}

bool brume_limit_is_quiet(const brume_limit_histogram *histogram)
{
    return histogram->first.scale <= MOST_NOISE && first_says(histogram) < QUIET;
}

/* ---- the parts ---- */

/* Both kinds of noise: what is paid is in proportion to 1/scale, or to 1/sigma^2. */
void brume_limit_look_again(brume_limit_histogram *histogram, const double noisy[BRUME_LIMIT_PARTS],
                            double scale)
{
    brume_limit_tail *tail = &histogram->tail;
    bool gaussian = histogram->gaussian;
    double first = gaussian ? 1 / (tail->scale * tail->scale) : 1 / tail->scale;
    double second = gaussian ? 1 / (scale * scale) : 1 / scale;
    for (size_t i = 0; i < BRUME_LIMIT_PARTS; i++)
        tail->noisy[i] = (first * tail->noisy[i] + second * noisy[i]) / (first + second);
    tail->scale = gaussian ? sqrt(1 / (first + second)) : 1 / (first + second);
    tail->looks = 2;
}

/* Of two Laplaces each has a part of the mean that is 1/scale of its own: twice the variance. */
double brume_limit_tail_deviation(const brume_limit_histogram *histogram)
{
    const brume_limit_tail *tail = &histogram->tail;
    if (histogram->gaussian)
        return tail->scale;
    return (tail->looks == 2 ? 2 : ROOT_2) * tail->scale;
}

/* What a part must show, in logarithms of chances: that much, and so much for each factor of 4
 * since the last one that passed. To raise a limit noise alone passes in less than 1 of 100 draws;
 * for doubt in some 15. */
#define CERTAIN      4.0
#define IN_DOUBT     0.2
#define DOUBT_GROWTH 0.9

size_t brume_limit_parts_seen(const brume_limit_histogram *histogram,
                              const double expected[BRUME_LIMIT_PARTS], bool certain)
{
    const brume_limit_tail *tail = &histogram->tail;
    double last = 0, before = 0, growth = certain ? LOG_4 : DOUBT_GROWTH;
    size_t seen = 0;
    /* what the first count says beyond the least that bought all this, where nothing above one row
     * was seen since */
    double known =
        tail->from <= histogram->base + 1 ? fmin(6, fmax(0, first_says(histogram) - QUIET)) : 0;
    for (size_t i = 0; tail->scale > 0 && i < BRUME_LIMIT_PARTS; i++) {
        double more = tail->noisy[i] - (expected ? expected[i] : 0);
        double need = (certain ? CERTAIN : IN_DOUBT) + growth * (heights[i] - last) -
                      (seen == 0 ? known : 0);
        bool passes = evidence(histogram, more, tail->scale, tail->looks) >= need;
        if (!passes && i > 0 && seen < i && more > tail->scale)
            passes = evidence(histogram, more + before, tail->scale, 2 * tail->looks) >= need;
        if (passes) {
            seen = i + 1;
            last = heights[i];
        }
        before = more;
    }
    return seen;
}

/* ---- a higher limit ---- */

void brume_limit_spread_part(const brume_limit_histogram *histogram, size_t part, double units,
                             double slack, double in[BRUME_LIMIT_BINS])
{
    enum { WIDEST = 8 }; /* of the last part, which is open */
    size_t first = brume_limit_part_from(histogram->tail.from, part, histogram->bins);
    size_t end = brume_limit_part_from(histogram->tail.from, part + 1, histogram->bins);
    end = end > first + WIDEST ? first + WIDEST : end;
    double clear = 2 * brume_limit_deviation(histogram), shown = 0, rest = units;
    for (size_t i = first; i < end; i++)
        shown += histogram->noisy[i] >= clear ? histogram->noisy[i] : 0;
    if (shown > 0)
        rest = fmin(units, fmax(0, units - shown - slack * brume_limit_tail_deviation(histogram)));
    for (size_t i = first; i < end; i++) {
        in[i] = rest / (double)(end - first);
        if (histogram->noisy[i] >= clear)
            in[i] += (units - rest) * histogram->noisy[i] / shown;
    }
}

static double edge(size_t bin)
{
    return (double)brume_limit_edge(bin);
}

/* The limit with the least error, noise and what is cut, if the parts that are certain are as they
 * seem; half a scale is taken off for those that noise made larger. */
size_t brume_limit_raise(const brume_limit_histogram *histogram, size_t bin, double noise)
{
    const brume_limit_tail *tail = &histogram->tail;
    double in[BRUME_LIMIT_BINS] = {0}, best = INFINITY;
    size_t parts = brume_limit_parts_seen(histogram, NULL, true);
    if (parts == 0)
        return bin;
    size_t end = brume_limit_part_from(tail->from, parts, histogram->bins);
    size_t first = bin > tail->from - 1 ? bin : tail->from - 1, chosen = first;
    double off = brume_limit_tail_deviation(histogram) / ROOT_2 / 2;
    for (size_t i = 0; i < parts; i++)
        if (tail->noisy[i] > off)
            brume_limit_spread_part(histogram, i, tail->noisy[i] - off, 0, in);
    for (size_t i = first; i < end; i++) {
        double loss = noise * edge(i);
        for (size_t j = i + 1; j < end; j++)
            loss += in[j] * ((edge(j - 1) + edge(j)) / 2 - edge(i));
        if (loss < best) {
            best = loss;
            chosen = i;
        }
    }
    return chosen > first ? chosen : bin;
}

/* ---- how many are above ---- */

/* A part that is partly above counts as a whole: then it is rather too large. */
static double in_parts(const brume_limit_histogram *histogram, size_t bin)
{
    const brume_limit_tail *tail = &histogram->tail;
    double units = 0, parts = 0, noise = brume_limit_deviation(histogram), bins = 0;
    for (size_t i = bin + 1; i < tail->from; i++, bins++)
        units += histogram->noisy[i];
    for (size_t i = 0; i < BRUME_LIMIT_PARTS; i++)
        if (brume_limit_part_from(tail->from, i + 1, histogram->bins) > bin + 1 &&
            brume_limit_part_from(tail->from, i, histogram->bins) < histogram->bins) {
            units += tail->noisy[i];
            parts++;
        }
    double own = brume_limit_tail_deviation(histogram);
    /* where the limit was raised it was chosen by the same noise: two deviations, and not 1.64 */
    return units + (bin >= tail->from ? 2 : UPPER) * sqrt(parts * own * own + bins * noise * noise);
}

double brume_limit_cut_units(const brume_limit_histogram *histogram, size_t bin)
{
    const brume_limit_count *first = &histogram->first;
    double noise = brume_limit_deviation(histogram), least = INFINITY;
    if (histogram->tail.scale > 0)
        least = in_parts(histogram, bin);
    else if (first->scale > 0 && first->from <= bin + 1)
        least = first->noisy + UPPER * brume_limit_deviation_of(histogram, first->scale);
    if (!isfinite(least)) { /* from the bins alone, by whose noise the limit was chosen */
        least = 2 * noise * sqrt((double)(histogram->bins - bin - 1));
        for (size_t i = bin + 1; i < histogram->bins; i++)
            least += histogram->noisy[i];
    }
    return fmax(0, least);
}
