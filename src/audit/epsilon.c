/* Lower confidence bounds. Promises: draws are never used twice: bins and events are functions of
 * the first part, the bounds of the second part given them. */
#include "audit/epsilon.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/count_draws.h"
#include "audit/proportion.h"
#include "base/error.h"

/* The part that events are chosen on: half of few draws, a quarter of more, of very many so many,
 * which take 128 MiB. */
enum { ENOUGH = 1000, MOST_LEARNED = 1 << 23 };

/* The caution (below) with which few draws choose an event that others judge. */
static const double BOLD = 2;

static size_t learned(size_t samples)
{
    size_t part = samples / 4 > ENOUGH ? samples / 4 : samples / 2 < ENOUGH ? samples / 2 : ENOUGH;
    return part < MOST_LEARNED ? part : MOST_LEARNED;
}

/* ---- choosing ---- */

/* What the choice is for. */
typedef struct aim {
    double draws; /* that will count, or what can be foreseen of them */
    double delta, epsilon;
    bool ordered;
    double caution; /* deviations that each bound will be off by, about */
    double never;   /* what is added to the hits of an event, for those that never came */
} aim;

/* About what the bounds of the draws that count will be, were these the true probabilities. */
static void foresee(const aim *of, double *p, double *q)
{
    double n = of->draws;
    double margin = of->never / n;
    *p -= of->caution * sqrt(*p * (1 - *p) / n);
    *q += of->caution * sqrt(*q * (1 - *q) / n) + margin;
}

static double promise_epsilon(const void *context, double p, double q)
{
    const aim *of = context;
    foresee(of, &p, &q);
    return p > of->delta ? log((p - of->delta) / q) : -INFINITY;
}

static double promise_delta(const void *context, double p, double q)
{
    const aim *of = context;
    foresee(of, &p, &q);
    return p - exp(of->epsilon) * q;
}

/* `first` draws choose. They are taken to foresee what 1.75 times as many will see; were it many
 * more, an event that never came on the other neighbour by luck would look better than any other.
 */
static aim aim_of(const brume_audit_options *options, size_t first, size_t draws)
{
    double alarm = -log1p(-options->confidence);
    return (aim){.draws = fmin(1.75 * (double)first, (double)draws),
                 .delta = options->delta,
                 .epsilon = options->epsilon,
                 .ordered = options->ordered,
                 .caution = fmax(sqrt(2 * alarm), 1),
                 .never = fmax(alarm, .5)};
}

/* Bins from n draws on each neighbour, and how many of these are in each: counts[0] of their first
 * half, counts[1] of the other. */
static brume_status learn(brume_audit_draw *draw, const void *context,
                          const brume_audit_options *options, size_t n, brume_bits *bits,
                          brume_partition *bins, brume_bin_counts counts[2], brume_error *error)
{
    int64_t *outcomes = malloc(2 * n * sizeof *outcomes);
    if (!outcomes)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu samples", n);
    brume_audit_options silent = *options;
    silent.progress = NULL;
    brume_status status = brume_keep_draws(draw, context, &silent, n, bits, outcomes, error);
    if (status == BRUME_OK)
        status = brume_partition_learn(outcomes, outcomes + n, n, bins, error);
    memset(counts, 0, 2 * sizeof *counts);
    for (size_t second = 0; status == BRUME_OK && second < 2; second++) {
        const int64_t *of = outcomes + second * n;
        brume_partition_count(bins, of, n / 2, second != 0, &counts[0]);
        brume_partition_count(bins, of + n / 2, n - n / 2, second != 0, &counts[1]);
    }
    free(outcomes);
    return status;
}

static void choose(const aim *of, const brume_bin_counts counts[2], brume_audit_result *out)
{
    /* false alarms of a test, from rare to even */
    static const double shares[BRUME_AUDIT_CURVE] = {.001, .003, .01, .03, .1, .2, .35, .5};
    brume_partition_choose(&out->bins, counts, of->ordered, promise_epsilon, of, &out->event.of);
    brume_partition_choose(&out->bins, counts, of->ordered, promise_delta, of,
                           &out->delta_event.of);
    for (size_t i = 0; i < BRUME_AUDIT_CURVE; i++)
        brume_partition_nested(&out->bins, counts, shares[i], &out->curve[i].of);
}

static void add_counts(brume_bin_counts *to, const brume_bin_counts *more)
{
    for (int second = 0; second < 2; second++)
        for (size_t i = 0; i < BRUME_BINS; i++)
            to->of[second][i] += more->of[second][i];
}

/* ---- bounding ---- */

static void count_hits(const brume_partition *bins, const brume_bin_counts *counts,
                       brume_audit_event *event)
{
    event->hits[0] = event->hits[1] = 0;
    for (size_t i = 0; i < bins->count; i++)
        for (int second = 0; event->of.in[i] && second < 2; second++)
            event->hits[second] += counts->of[second][i];
}

/* Each of the event's probabilities by itself. */
static void bound(const brume_partition *bins, const brume_bin_counts *counts, uint64_t draws,
                  double alarm, brume_audit_event *event)
{
    count_hits(bins, counts, event);
    event->p_lower = brume_proportion_lower(draws, event->hits[event->of.second], alarm / 2);
    event->q_upper = brume_proportion_upper(draws, event->hits[!event->of.second], alarm / 2);
}

/* Rounded down: three operations, each off by a relative 2^-52. */
static double epsilon_of(const void *context, double p, double q)
{
    double delta = ((const brume_audit_options *)context)->delta;
    double lower = p > delta ? log((p - delta) / q) : 0;
    return fmax(lower - 1e-12 * (1 + fabs(lower)), 0);
}

static double delta_of(const void *context, double p, double q)
{
    double epsilon = ((const brume_audit_options *)context)->epsilon;
    return fmax(p - exp(epsilon) * q * (1 + 1e-12) - 1e-15, 0);
}

/* D_a(p || q)/a is at most rho for every a > 1; the best of some. */
static double rho_of(const void *context, double p, double q)
{
    (void)context;
    double best = 0;
    if (!(p > q && q > 0))
        return 0;
    for (double order = 1.001; order < 1000; order *= 1.1) {
        double first = order * log(p) + (1 - order) * log(q);
        double second = p < 1 ? order * log1p(-p) + (1 - order) * log1p(-q) : -INFINITY;
        double most = fmax(first, second);
        double sum = most + log(exp(first - most) + exp(second - most));
        best = fmax(best, sum / (order - 1) / order);
    }
    return fmax(best * (1 - 1e-9) - 1e-12, 0);
}

/* Of an event's two probabilities together; each function of one event is of the same region. */
static double bound_both(const brume_audit_options *options, const brume_audit_result *result,
                         const brume_audit_event *event, double alarm, brume_of_two *of)
{
    return brume_two_proportions_lower(result->draws, event->hits[event->of.second],
                                       event->hits[!event->of.second], alarm, of, options);
}

static void conclude(const brume_audit_options *options, const brume_bin_counts *counts,
                     brume_audit_result *out)
{
    double alarm = 1 - options->confidence;
    count_hits(&out->bins, counts, &out->event);
    count_hits(&out->bins, counts, &out->delta_event);
    out->epsilon_lower = bound_both(options, out, &out->event, alarm / 2, epsilon_of);
    out->delta_lower = bound_both(options, out, &out->delta_event, alarm / 4, delta_of);
    out->rho_lower = fmax(bound_both(options, out, &out->event, alarm / 2, rho_of),
                          bound_both(options, out, &out->delta_event, alarm / 4, rho_of));
    /* Where delta at the claimed epsilon is above the claim, epsilon at the claimed delta is, too:
     * by the same event, of whose region both are functions. */
    double by_delta = bound_both(options, out, &out->delta_event, alarm / 4, epsilon_of);
    if (by_delta > out->epsilon_lower) {
        out->epsilon_lower = by_delta;
        out->event = out->delta_event;
    }
    for (size_t i = 0; i < BRUME_AUDIT_CURVE; i++) {
        brume_audit_event *point = &out->curve[i];
        bound(&out->bins, counts, out->draws, alarm / 4 / BRUME_AUDIT_CURVE, point);
        out->rho_lower = fmax(out->rho_lower, rho_of(NULL, point->p_lower, point->q_upper));
    }
}

/* ---- all of it ---- */

static brume_status check(const brume_audit_options *options, brume_error *error)
{
    size_t all = options->samples;
    if (all < 100 || all > (size_t)1 << 31)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "there are %zu samples, must be 100 to 2^31", all);
    if (!(options->confidence > 0 && options->confidence < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "the confidence is %g, must be in (0, 1)",
                          options->confidence);
    if (!(options->delta >= 0 && options->delta < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "delta is %g, must be in [0, 1)",
                          options->delta);
    if (!(options->epsilon >= 0))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "epsilon is %g, must be at least 0",
                          options->epsilon);
    return BRUME_OK;
}

brume_status brume_audit_epsilon(brume_audit_draw *draw, const void *context,
                                 const brume_audit_options *options, brume_bits *bits,
                                 brume_audit_result *out, brume_error *error)
{
    BRUME_TRY(check(options, error));
    size_t first = learned(options->samples);
    brume_bin_counts *counts = calloc(2, sizeof *counts);
    brume_audit_result *result = calloc(1, sizeof *result);
    brume_status status = counts && result ? BRUME_OK : brume_no_memory(error, "an audit");
    if (status == BRUME_OK)
        status = learn(draw, context, options, first, bits, &result->bins, counts, error);
    if (status == BRUME_OK) {
        aim of = aim_of(options, first, options->samples - first);
        if (options->ordered) /* nothing is ranked: all of them choose */
            add_counts(&counts[1], &counts[0]);
        choose(&of, counts, result);
        result->draws = options->samples - first;
        memset(counts, 0, sizeof *counts);
        status = brume_count_draws(draw, context, options, result->draws, &result->bins, bits,
                                   counts, error);
    }
    if (status == BRUME_OK) {
        conclude(options, counts, result);
        *out = *result;
    }
    free(result);
    free(counts);
    return status;
}

/* ---- foreseeing ---- */

/* What an event chosen on each half of the draws does on the other half, and what bounds so many
 * draws would then give: chosen and judged on the same draws, luck would look best. */
static double judged(const brume_partition *bins, const brume_bin_counts counts[2],
                     brume_promise *promise, const aim *choosing, const aim *audit)
{
    double p = 0, q = 0, n = 0;
    for (int half = 0; half < 2; half++) {
        brume_bin_event event;
        const brume_bin_counts same[2] = {counts[half], counts[half]};
        brume_partition_choose(bins, same, true, promise, choosing, &event);
        for (size_t i = 0; i < bins->count; i++) {
            n += (double)counts[!half].of[0][i];
            p += event.in[i] ? (double)counts[!half].of[event.second][i] : 0;
            q += event.in[i] ? (double)counts[!half].of[!event.second][i] : 0;
        }
    }
    return n > 0 ? promise(audit, p / n, q / n) : -INFINITY;
}

/* Of outcomes in no order: what the best event promises. */
static double promised(const brume_partition *bins, const brume_bin_counts counts[2],
                       brume_promise *promise, const aim *of)
{
    brume_bin_event event;
    return brume_partition_choose(bins, counts, false, promise, of, &event);
}

brume_status brume_audit_guess(brume_audit_draw *draw, const void *context,
                               const brume_audit_options *options, size_t few, brume_bits *bits,
                               double *epsilon, double *delta, brume_error *error)
{
    brume_bin_counts *counts = calloc(2, sizeof *counts);
    brume_partition *bins = calloc(1, sizeof *bins);
    brume_status status = counts && bins ? BRUME_OK : brume_no_memory(error, "an audit");
    if (status == BRUME_OK)
        status = learn(draw, context, options, few, bits, bins, counts, error);
    if (status == BRUME_OK && options->ordered) {
        size_t counted = options->samples - learned(options->samples);
        aim audit = aim_of(options, counted, counted), half = aim_of(options, few / 2, counted);
        /* the bound of both probabilities together is off by less than two would be; a choice that
         * is not judged by others needs more caution than that */
        audit.caution /= sqrt(2);
        half.caution = BOLD;
        half.never = BOLD * BOLD;
        *epsilon = judged(bins, counts, promise_epsilon, &half, &audit);
        /* Delta may be as small as one of these draws: it is what these few are sure of. */
        audit.draws = (double)few;
        audit.caution = audit.never = 1;
        *delta = judged(bins, counts, promise_delta, &half, &audit);
    } else if (status == BRUME_OK) {
        aim of = aim_of(options, few, options->samples);
        *epsilon = promised(bins, counts, promise_epsilon, &of);
        *delta = promised(bins, counts, promise_delta, &of);
    }
    free(bins);
    free(counts);
    return status;
}
