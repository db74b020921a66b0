/* The units above a limit: counts of them that are bought, and what they say. */
#include "query/limit/above.h"

#include <math.h>

#include "query/limit/law.h"

#define UPPER 1.6449 /* 95 % of a Gaussian are below, and of a Laplace law too */

brume_limit_above brume_limit_units_above(const brume_limit_histogram *histogram, size_t bin)
{
    double noise = brume_limit_deviation(histogram);
    size_t first = bin + 1;
    brume_limit_above best = {0, noise * sqrt((double)(histogram->bins - first)), false};
    for (size_t i = first; i < histogram->bins; i++)
        best.units += histogram->noisy[i];
    for (size_t i = 0; i < BRUME_LIMIT_COUNTS; i++) {
        const brume_limit_count *count = &histogram->counts[i];
        double own = brume_limit_deviation_of(histogram, count->scale);
        double units = count->noisy, variance = own * own;
        for (size_t j = first; j < count->from && j < histogram->bins; j++) {
            units += histogram->noisy[j];
            variance += noise * noise;
        }
        /* Of bins that it counts and that are not above, those go off that surely have units: then
         * it is rather too large. */
        for (size_t j = count->from; j < first; j++)
            if (histogram->noisy[j] >= 3 * noise) {
                units -= histogram->noisy[j];
                variance += noise * noise;
            }
        if (count->scale > 0 && sqrt(variance) < best.deviation)
            best = (brume_limit_above){units, sqrt(variance), true};
    }
    return best;
}

double brume_limit_cut_units(const brume_limit_histogram *histogram, size_t bin)
{
    brume_limit_above above = brume_limit_units_above(histogram, bin);
    /* From bins it is two deviations and not 1.64: the limit was chosen by the same noise. */
    return fmax(0, above.units + (above.counted ? UPPER : 2) * above.deviation);
}

double brume_limit_expected(const brume_limit_histogram *histogram, const brume_limit_seen *all,
                            size_t bin, bool *lawful)
{
    double units = 0;
    brume_power_law law = {.start = 1};
    for (size_t i = bin + 1; i <= all->top; i++)
        units += fmax(histogram->noisy[i], 0);
    *lawful = brume_limit_find_law(histogram, all, false, &law);
    if (*lawful)
        units += law.units * brume_power_law_above(&law, bin > all->top ? bin : all->top);
    return units;
}

/* By how much the first count is above what is expected; 0: there is none. */
static double first_says(const brume_limit_histogram *histogram, const brume_limit_seen *all)
{
    const brume_limit_count *first = &histogram->counts[BRUME_LIMIT_FIRST];
    bool lawful = false;
    return first->scale > 0
               ? first->noisy - brume_limit_expected(histogram, all, first->from - 1, &lawful)
               : 0;
}

/* ---- a crowd far above ---- */

/* What the first count and a window must say together, in logarithms of chances. */
#define TOGETHER 9.0

/* -log of the chance that noise of this scale is so large, or a little less. */
static double says(const brume_limit_histogram *histogram, double noisy, double scale)
{
    double t = scale > 0 ? fmax(0, noisy / scale) : 0;
    return histogram->gaussian ? t * t / 2 : t;
}

bool brume_limit_suspects_crowd(const brume_limit_histogram *histogram, size_t *from)
{
    brume_limit_seen all = brume_limit_see(histogram);
    brume_limit_crowd crowd;
    if (all.top == BRUME_LIMIT_NO_BIN ||
        !brume_limit_find_crowd(histogram, all.top, BRUME_CROWD_LEAST, &crowd))
        return false;
    double first =
        says(histogram, first_says(histogram, &all), histogram->counts[BRUME_LIMIT_FIRST].scale);
    if (crowd.evidence < BRUME_CROWD_SUSPECTED && !(first > 0 && first + crowd.evidence > TOGETHER))
        return false;
    *from = crowd.from;
    return true;
}

bool brume_limit_sees_crowd(const brume_limit_histogram *histogram)
{
    brume_limit_seen all = brume_limit_see(histogram);
    const brume_limit_count *count = &histogram->counts[BRUME_LIMIT_CROWD];
    brume_limit_crowd crowd;
    if (all.top == BRUME_LIMIT_NO_BIN || !(count->scale > 0) ||
        !brume_limit_find_crowd(histogram, all.top, BRUME_CROWD_LEAST, &crowd))
        return false;
    /* Both together must say that a false alarm has a chance of e^-11 2^(-d/2) at d bins. */
    double need = 11 + BRUME_BIN_COSTS * (double)(crowd.last - all.top) - crowd.evidence;
    return says(histogram, count->noisy, count->scale) >= fmax(4, need);
}

/* ---- the sharper count of the units above the limit ---- */

/* Deviations by which the first count must be above what is expected. Noise alone does it in 9 of
 * 100 draws. */
#define DOUBT 1.2
/* In scales of the first count. */
#define MANY_UNITS 150.0

bool brume_limit_needs_sharp(const brume_limit_histogram *histogram, size_t bin)
{
    brume_limit_seen all = brume_limit_see(histogram);
    const brume_limit_count *first = &histogram->counts[BRUME_LIMIT_FIRST];
    double units = 0;
    if (all.top == BRUME_LIMIT_NO_BIN || !(first->scale > 0))
        return false;
    for (size_t i = 0; i < histogram->bins; i++)
        units += fmax(histogram->noisy[i], 0);
    return bin > histogram->base || units < MANY_UNITS * first->scale ||
           first_says(histogram, &all) > DOUBT * brume_limit_deviation_of(histogram, first->scale);
}
