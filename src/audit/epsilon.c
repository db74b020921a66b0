/* The lower confidence bound of epsilon. Promises: the halves are never mixed: the event is a
 * function of the first, the bound of the second given the event. */
#include "audit/epsilon.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/proportion.h"
#include "base/error.h"

/* An outcome is frequent from so many hits, and this share of all draws. */
enum { FREQUENT = 100 };
static const double FREQUENT_SHARE = 0.005;

typedef struct search {
    double n, delta;
    double caution; /* deviations that the bounds of the second half will be off by, about */
    double best;
    brume_audit_event event;
} search;

/* How good an event looks on the first half: about what the second will make of it, so that rare
 * events are not chosen by luck. Any guess will do: nothing is claimed of it. */
static double promise(const search *s, double p, double q)
{
    double margin = s->caution * s->caution / (2 * s->n); /* of an event that never came */
    double cautious = p - s->caution * sqrt(p * (1 - p) / s->n) - s->delta;
    if (!(cautious > 0))
        return -INFINITY;
    return log(cautious / (q + s->caution * sqrt(q * (1 - q) / s->n) + margin));
}

static int ascending(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* An outcome of the first half and how often it came. */
typedef struct outcome {
    int64_t value;
    double hits[2];
    double quotient; /* of the two, smoothed */
} outcome;

static void consider(search *s, brume_audit_kind kind, int64_t threshold, const double hits[2])
{
    for (int second = 0; second < 2; second++) {
        double found = promise(s, hits[second] / s->n, hits[!second] / s->n);
        if (found <= s->best)
            continue;
        s->best = found;
        s->event = (brume_audit_event){.kind = kind, .threshold = threshold, .second = second != 0};
    }
}

/* The distinct outcomes of both sides, ascending. */
static size_t merge(const int64_t *first, const int64_t *second, size_t n, outcome *out)
{
    size_t count = 0, i = 0, j = 0;
    while (i < n || j < n) {
        int64_t value = j == n || (i < n && first[i] < second[j]) ? first[i] : second[j];
        outcome *next = &out[count++];
        *next = (outcome){.value = value};
        for (; i < n && first[i] == value; i++)
            next->hits[0]++;
        for (; j < n && second[j] == value; j++)
            next->hits[1]++;
    }
    return count;
}

static int by_quotient(const void *left, const void *right)
{
    const outcome *a = left, *b = right;
    return a->quotient > b->quotient ? -1 : a->quotient < b->quotient;
}

/* The few outcomes that speak most for one side, of those that came often: among many rare ones
 * some always seem to. */
static void consider_sets(search *s, outcome *outcomes, size_t count)
{
    size_t frequent = 0;
    for (size_t i = 0; i < count; i++)
        if (outcomes[i].hits[0] + outcomes[i].hits[1] >= fmax(FREQUENT, FREQUENT_SHARE * s->n))
            outcomes[frequent++] = outcomes[i];
    count = frequent;
    for (int second = 0; second < 2; second++) {
        for (size_t i = 0; i < count; i++)
            outcomes[i].quotient = (outcomes[i].hits[second] + 1) / (outcomes[i].hits[!second] + 1);
        qsort(outcomes, count, sizeof *outcomes, by_quotient);
        double hits[2] = {0, 0};
        for (size_t i = 0; i < count && i < BRUME_AUDIT_OUTCOMES; i++) {
            hits[0] += outcomes[i].hits[0];
            hits[1] += outcomes[i].hits[1];
            double found = promise(s, hits[second] / s->n, hits[!second] / s->n);
            if (found <= s->best)
                continue;
            s->best = found;
            s->event = (brume_audit_event){
                .kind = BRUME_AUDIT_ONE_OF, .count = i + 1, .second = second != 0};
            for (size_t k = 0; k <= i; k++)
                s->event.outcomes[k] = outcomes[k].value;
            qsort(s->event.outcomes, i + 1, sizeof(int64_t), ascending);
        }
    }
}

static brume_status choose(int64_t *first, int64_t *second, size_t n,
                           const brume_audit_options *options, brume_audit_event *event,
                           brume_error *error)
{
    outcome *outcomes = malloc(2 * n * sizeof *outcomes);
    if (!outcomes)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu outcomes", 2 * n);
    qsort(first, n, sizeof *first, ascending);
    qsort(second, n, sizeof *second, ascending);
    size_t count = merge(first, second, n, outcomes);
    search s = {.n = (double)n,
                .delta = options->delta,
                .caution = fmax(sqrt(-2 * log1p(-options->confidence)), 1),
                .best = -INFINITY};
    s.event = (brume_audit_event){.kind = BRUME_AUDIT_AT_LEAST, .threshold = outcomes[0].value};
    double below[2] = {0, 0};
    for (size_t i = 0; i < count; i++) {
        double above[2] = {s.n - below[0], s.n - below[1]};
        consider(&s, BRUME_AUDIT_AT_LEAST, outcomes[i].value, above);
        below[0] += outcomes[i].hits[0];
        below[1] += outcomes[i].hits[1];
        consider(&s, BRUME_AUDIT_AT_MOST, outcomes[i].value, below);
    }
    consider_sets(&s, outcomes, count);
    *event = s.event;
    free(outcomes);
    return BRUME_OK;
}

static bool happens(const brume_audit_event *event, int64_t drawn)
{
    if (event->kind == BRUME_AUDIT_AT_LEAST)
        return drawn >= event->threshold;
    if (event->kind == BRUME_AUDIT_AT_MOST)
        return drawn <= event->threshold;
    return bsearch(&drawn, event->outcomes, event->count, sizeof drawn, ascending) != NULL;
}

brume_status brume_audit_epsilon(brume_audit_draw *draw, const void *context,
                                 const brume_audit_options *options, brume_bits *bits,
                                 brume_audit_result *out, brume_error *error)
{
    size_t all = options->samples, half = all / 2;
    if (all < 100 || all > (size_t)1 << 28)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "there are %zu samples, must be 100 to 2^28", all);
    if (!(options->confidence > 0 && options->confidence < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "the confidence is %g, must be in (0, 1)",
                          options->confidence);
    if (!(options->delta >= 0 && options->delta < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "delta is %g, must be in [0, 1)",
                          options->delta);
    int64_t *outcomes = malloc(2 * all * sizeof *outcomes);
    if (!outcomes)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu samples", all);
    int64_t *second = outcomes + all;
    brume_audit_result result = {.draws = all - half};
    brume_status status = draw(context, false, bits, outcomes, all, error);
    if (status == BRUME_OK)
        status = draw(context, true, bits, second, all, error);
    if (status == BRUME_OK)
        status = choose(outcomes, second, half, options, &result.event, error);
    for (size_t i = half; status == BRUME_OK && i < all; i++) {
        result.hits[0] += happens(&result.event, outcomes[i]);
        result.hits[1] += happens(&result.event, second[i]);
    }
    free(outcomes);
    if (status != BRUME_OK)
        return status;
    /* Half of the alarm for each of the two bounds. */
    double alarm = (1 - options->confidence) / 2;
    double p = brume_proportion_lower(result.draws, result.hits[result.event.second], alarm);
    double q = brume_proportion_upper(result.draws, result.hits[!result.event.second], alarm);
    /* Rounded down: three operations, each off by a relative 2^-52. */
    double lower = p > options->delta ? log((p - options->delta) / q) : 0;
    result.epsilon_lower = fmax(lower - 1e-12 * (1 + fabs(lower)), 0);
    *out = result;
    return BRUME_OK;
}
