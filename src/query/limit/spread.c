/* What was cut, from the histogram that the limit was chosen from and the counts bought with it. */
#include "query/limit/spread.h"

#include <math.h>

#include "query/limit/above.h"
#include "query/limit/law.h"

#define UPPER 1.6449 /* 95 % of a Gaussian are below */

/* Deviations by which a count may be above what the histogram expects, before nothing is known:
 * where there is a law (and 0.3 of what it expects, because no data follows it exactly), where the
 * tail ends with what is seen, and where nothing above one row is. Noise alone exceeds them in 4.5,
 * 1.5 and 6 of 100 draws; but the last only where a sharper count was in doubt, or units are few.
 */
#define MORE_THAN_LAW 1.7
#define MORE_THAN_END 2.5
#define MORE_THAN_ONE 1.5

/* ---- what is cut ---- */

typedef struct cut {
    double mean, variance; /* of what the units have beyond the limit */
} cut;

/* So many units in a bin, which are known to this variance. They have the middle of the bin. */
static void add_bin(cut *all, size_t bin, double limit, double units, double variance)
{
    double low = bin ? (double)brume_limit_edge(bin - 1) : 1;
    double beyond = fmax(0, (low + (double)brume_limit_edge(bin)) / 2 - limit);
    all->mean += units * beyond;
    all->variance += variance * beyond * beyond;
}

typedef struct tail {
    cut beyond;
    double total;    /* what all units have that are seen */
    double units;    /* expected above the limit */
    double farthest; /* beyond the limit, which one unit in twenty draws exceeds */
    bool lawful;
} tail;

static tail tail_beyond(const brume_limit_histogram *histogram, const brume_limit_seen *all,
                        size_t bin, double limit)
{
    double noise = brume_limit_deviation(histogram);
    tail out = {0};
    brume_power_law law = {.start = 1};
    for (size_t i = 0; i <= all->top; i++) {
        double units = fmax(histogram->noisy[i], 0);
        add_bin(&out.beyond, i, limit, units, noise * noise + units);
        out.total += units * (double)brume_limit_edge(i);
        out.units += i > bin ? units : 0;
    }
    out.lawful = brume_limit_find_law(histogram, all, true, &law);
    if (!out.lawful)
        return out;
    double left = law.units * brume_power_law_above(&law, all->top);
    out.units += bin > all->top ? law.units * brume_power_law_above(&law, bin) : left;
    /* less than one in twenty draws has a unit above the last of these bins */
    for (size_t i = all->top + 1; i < histogram->bins && left >= 0.05; i++) {
        double above = law.units * brume_power_law_above(&law, i);
        add_bin(&out.beyond, i, limit, left - above, left - above);
        left = above;
        out.farthest = (double)brume_limit_edge(i) - limit;
    }
    return out;
}

/* Does the count say that there are units above which nothing in the histogram tells of? */
static bool has_hidden_units(const brume_limit_histogram *histogram, const brume_limit_seen *all,
                             size_t bin, const brume_limit_above *above)
{
    bool lawful = false;
    double expected = brume_limit_expected(histogram, all, bin, &lawful);
    double most = lawful ? MORE_THAN_LAW : bin <= histogram->base ? MORE_THAN_ONE : MORE_THAN_END;
    return above->counted && above->units - 1.3 * expected > most * above->deviation;
}

double brume_limit_cut_allowance(const brume_limit_histogram *histogram, double limit)
{
    brume_limit_seen all = brume_limit_see(histogram);
    if (all.top == BRUME_LIMIT_NO_BIN)
        return NAN;
    size_t bin = brume_limit_bin((brume_u128)limit, 1, histogram->bins);
    brume_limit_above above = brume_limit_units_above(histogram, bin);
    if (has_hidden_units(histogram, &all, bin, &above))
        return NAN;
    tail found = tail_beyond(histogram, &all, bin, limit);
    double mean = found.beyond.mean, upper = fmax(0, above.units + UPPER * above.deviation);
    /* in a heavy tail the largest unit is more than deviations tell */
    double margin = fmax(found.farthest, UPPER * sqrt(found.beyond.variance));
    if (above.counted && found.lawful && found.units > 0) {
        /* how many they are the count says better than the law, which says what each has */
        mean *= upper / found.units;
        margin *= sqrt(fmin(1, upper / found.units));
    } else if (above.counted && bin > histogram->base) {
        mean += fmax(0, above.units) * limit / 4; /* just above, since they were not seen */
    }
    return mean <= found.total ? mean + margin : NAN;
}
