/* The tail of the privacy loss from its profile. Promises: loss.h. */
#include "accountant/solve/loss.h"

#include <math.h>

#include "accountant/solve/merge_terms.h"
#include "accountant/solve/solve.h"
#include "base/error.h"
#include "number/rounding.h"

static brume_status merge(const brume_term *terms, size_t count, bool reversed,
                          brume_merged *merged, brume_error *error)
{
    BRUME_TRY(brume_merge_terms(terms, count, reversed, merged, error));
    if (merged->curve_count == 0 && !merged->infinite)
        return BRUME_OK;
    bool certain = merged->infinite;
    brume_merged_close(merged);
    return certain ? brume_fail(error, BRUME_EUNSUPPORTED, NULL, "a release fails for certain")
                   : brume_fail(error, BRUME_EUNSUPPORTED, "bound it: brume account --method rdp",
                                "a release is known by a rho or a Renyi curve alone: it has no law "
                                "of its privacy loss");
}

brume_status brume_loss_look(const brume_term *terms, size_t count, bool *differ,
                             double *infinite_mass, brume_error *error)
{
    brume_merged merged;
    BRUME_TRY(merge(terms, count, false, &merged, error));
    *differ = !merged.symmetric;
    *infinite_mass = merged.failure;
    brume_merged_close(&merged);
    return BRUME_OK;
}

/* ---- finite losses ---- */

/* e^-x delta(x), relative to e^-epsilon: certified. */
static bool scaled_delta(brume_merged *merged, double x, double epsilon, double width,
                         brume_interval *out)
{
    brume_answer answer;
    brume_asked asked = {.at = x, .width = width};
    if (!brume_solve(merged->laws, merged->law_count, &asked, &answer))
        return false;
    double factor = exp(epsilon - x); /* within 2 units of the last place, and the difference is */
    out->lower = answer.value.lower * factor * (1 - 0x1p-48);
    out->upper = answer.value.upper * factor * (1 + 0x1p-48);
    return true;
}

/* The place to look at for P[L > epsilon]: epsilon, or the middle between it and the next atom
 * where it is one. *room: no atom lies nearer than that. */
static double place_of(const brume_merged *merged, double epsilon, double *room)
{
    double unit = merged->law_count == 1 ? merged->laws[0].unit : 0;
    double half = merged->law_count == 1 && merged->laws[0].half ? .5 : 0;
    *room = INFINITY;
    if (!(unit > 0) || !(fabs(epsilon) < 0x1p50 * unit))
        return epsilon;
    /* draws of half-odd losses: an odd number of them lies at half-odd places */
    double draws = merged->laws[0].count;
    double shift = half * fmod(draws, 2) + draws * (double)merged->laws[0].centre / unit;
    double where = epsilon / unit - shift;
    double below = floor(where + 1e-9), from = (below + shift) * unit, to = from + unit;
    if (fabs(where - rint(where)) < 1e-9) {
        from = (rint(where) + shift) * unit;
        to = from + unit;
        *room = unit / 2;
        return from + unit / 2;
    }
    *room = fmin(epsilon - from, to - epsilon);
    return epsilon;
}

/* The secants on both sides of x, at several distances; the slope lies between them. */
static bool secants(brume_merged *merged, double x, double room, double goal, brume_interval *out)
{
    double far = fmin(room, 1) * (1 - 0x1p-20);
    brume_interval here;
    *out = (brume_interval){0, 1};
    if (!scaled_delta(merged, x, x, 1e-13, &here))
        return false;
    for (double h = far; h > 1e-9 * (1 + fabs(x)); h /= 8) {
        brume_interval left, right;
        if (!scaled_delta(merged, x - h, x, 1e-13, &left) ||
            !scaled_delta(merged, x + h, x, 1e-13, &right))
            return false;
        /* convex: (g(x-h) - g(x))/h >= -g'(x) >= (g(x) - g(x+h))/h; rounded outwards */
        double high = brume_divide_up(brume_subtract_up(left.upper, here.lower), h);
        double low = brume_divide_down(brume_subtract_down(here.lower, right.upper), h);
        double before = out->upper - out->lower;
        out->upper = fmin(out->upper, high * (1 + 0x1p-48));
        out->lower = fmax(out->lower, low * (1 - 0x1p-48));
        double now = out->upper - out->lower;
        if (now <= goal * out->upper || (before < .5 && now > .9 * before))
            break; /* rounding of delta is all that is left */
    }
    if (out->lower > out->upper) /* cannot be, but for a fault elsewhere: claim the wider */
        *out = (brume_interval){out->upper, out->lower};
    return true;
}

static bool finite_tail(brume_merged *merged, double epsilon, double goal, brume_interval *out)
{
    double room;
    if (merged->law_count == 0) {
        *out = (brume_interval){epsilon < 0, epsilon < 0}; /* the loss is 0 */
        return true;
    }
    const brume_law *law = &merged->laws[0];
    if (merged->law_count == 1 && brume_law_is_gaussian(law)) {
        /* N(n mu^2/2, n mu^2): P = erfc((epsilon - mean)/sqrt(2 n mu^2))/2 */
        double variance = law->count * law->a * law->a;
        double t = (epsilon - variance / 2) / sqrt(2 * variance), p = erfc(t) / 2;
        /* parameters are known to 8 units: the exponent t^2 moves by some 2^-49 t (t + |mean|) */
        double slack = 0x1p-46 * (1 + t * t + fabs(t) * sqrt(variance));
        *out = (brume_interval){p * (1 - slack), fmin(p * (1 + slack), 1)};
        return true;
    }
    double top = 0;
    for (size_t i = 0; i < merged->law_count; i++)
        top += merged->laws[i].bounded ? merged->laws[i].count * merged->laws[i].top : INFINITY;
    if (epsilon >= top * (1 - 0x1p-44)) { /* no loss is larger */
        *out = (brume_interval){0, 0};
        return true;
    }
    double x = place_of(merged, epsilon, &room);
    return secants(merged, x, room, goal, out);
}

brume_status brume_loss_tail(const brume_term *terms, size_t count, bool reversed, double epsilon,
                             double goal, brume_interval *out, brume_error *error)
{
    brume_merged merged;
    brume_interval finite = {0, 0};
    if (!isfinite(epsilon))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'epsilon' must be a finite number");
    BRUME_TRY(merge(terms, count, reversed, &merged, error));
    bool done = finite_tail(&merged, epsilon, goal, &finite);
    brume_interval failure = merged.failure_ends;
    brume_merged_close(&merged);
    if (!done)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory while composing");
    /* f + (1 - f) p, which grows with both */
    out->lower = (failure.lower + (1 - failure.lower) * finite.lower) * (1 - 0x1p-48);
    out->upper = fmin((failure.upper + (1 - failure.upper) * finite.upper) * (1 + 0x1p-48), 1);
    return BRUME_OK;
}
