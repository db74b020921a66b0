/* Exact privacy profiles. Promises: enclosures: lower ends are never too high, upper ends never too
 * low, whatever the masses were enclosed by. */
#include "audit/exact.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "mechanism/trial.h"
#include "number/rounding.h"

enum { MOST_OUTCOMES = 1 << 22, AT_A_TIME = 256 };

/* An outcome and its masses on the first input and the second. */
typedef struct outcome {
    int64_t value;
    brume_interval mass[2];
} outcome;

struct brume_exact_law {
    outcome *outcomes;
    size_t count;
    double missing[2]; /* at most so much mass is on no outcome here */
};

void brume_exact_close(brume_exact_law *law)
{
    if (law)
        free(law->outcomes);
    free(law);
}

size_t brume_exact_outcomes(const brume_exact_law *law)
{
    return law->count;
}

/* Terms of at most 1 in all are rounded by 2^-52 of themselves, their sum in long double, with a
 * mantissa of 53 bits at least. */
static double rounding(const brume_exact_law *law)
{
    return 0x1p-50 + (double)law->count * (double)__LDBL_EPSILON__;
}

static brume_status check_stopped(const brume_audit_options *options, brume_error *error)
{
    return options ? brume_audit_check_stopped(options, error) : BRUME_OK;
}

static brume_status fill(const brume_subject *subject, const brume_audit_options *options,
                         brume_exact_law *law, int64_t least, brume_error *error)
{
    for (size_t i = 0; i < law->count; i++) {
        outcome *next = &law->outcomes[i];
        if (i % AT_A_TIME == 0)
            BRUME_TRY(check_stopped(options, error));
        next->value = i + 1 == law->count ? BRUME_TRIAL_HIDDEN : least + (int64_t)i;
        for (int second = 0; second < 2; second++)
            BRUME_TRY(
                brume_subject_mass(subject, second != 0, next->value, &next->mass[second], error));
    }
    for (int second = 0; second < 2; second++) {
        long double sum = 0;
        for (size_t i = 0; i < law->count; i++)
            sum += law->outcomes[i].mass[second].lower;
        law->missing[second] = fmax(1 - (double)sum + rounding(law), 0);
    }
    return BRUME_OK;
}

brume_status brume_exact_open(const brume_subject *subject, const brume_audit_options *options,
                              brume_exact_law **out, brume_error *error)
{
    int64_t least, most;
    if (!brume_subject_has_law(subject))
        return brume_fail(error, BRUME_EUNSUPPORTED, "leave '--exact' out: draws will do",
                          "no exact law of these outcomes is known");
    brume_subject_support(subject, &least, &most);
    if (most - least >= MOST_OUTCOMES - 1)
        return brume_fail(error, BRUME_EUNSUPPORTED, "use less noise: privacy scales with it",
                          "the law has %lld outcomes, an exact audit takes at most %d",
                          (long long)(most - least + 1), MOST_OUTCOMES);
    brume_exact_law *law = calloc(1, sizeof *law);
    if (!law)
        return brume_no_memory(error, "an audit");
    law->count = (size_t)(most - least) + 2; /* and "nothing is shown" */
    law->outcomes = calloc(law->count, sizeof *law->outcomes);
    brume_status status = law->outcomes ? fill(subject, options, law, least, error)
                                        : brume_no_memory(error, "an audit");
    if (status != BRUME_OK) {
        brume_exact_close(law);
        return status;
    }
    *out = law;
    return BRUME_OK;
}

brume_interval brume_exact_delta(const brume_exact_law *law, bool reversed, double epsilon)
{
    double up = brume_exp_up(epsilon), down = brume_exp_down(epsilon);
    long double lower = 0, upper = 0;
    for (size_t i = 0; i < law->count; i++) {
        const brume_interval *p = &law->outcomes[i].mass[reversed];
        const brume_interval *q = &law->outcomes[i].mass[!reversed];
        double least = p->lower - up * q->upper, most = p->upper - down * q->lower;
        lower += least > 0 ? least : 0;
        upper += most > 0 ? most : 0;
    }
    double margin = rounding(law) * (1 + (double)upper);
    return (brume_interval){fmax((double)lower - margin, 0),
                            fmin((double)upper + margin + law->missing[reversed], 1)};
}

/* ---- epsilon ---- */

/* The largest loss, from below or above; an outcome without mass on the other side: infinite. */
static double largest_loss(const brume_exact_law *law, bool reversed, bool above)
{
    double largest = 0;
    for (size_t i = 0; i < law->count; i++) {
        const brume_interval *p = &law->outcomes[i].mass[reversed];
        const brume_interval *q = &law->outcomes[i].mass[!reversed];
        double over = above ? p->upper : p->lower, under = above ? q->lower : q->upper;
        if (over > 0)
            largest = fmax(largest, log(over / under));
    }
    return above ? largest * (1 + 1e-14) : largest * (1 - 1e-14);
}

/* The least epsilon at which the lower end of delta, or its upper one, is at most delta. */
static double epsilon_by(const brume_exact_law *law, bool reversed, double delta, bool above)
{
    double low = 0, high = 1;
#define AT(epsilon)                                                                                \
    (above ? brume_exact_delta(law, reversed, epsilon).upper                                       \
           : brume_exact_delta(law, reversed, epsilon).lower)
    if (AT(0) <= delta)
        return 0;
    while (AT(high) > delta) {
        low = high;
        high *= 2;
        if (high > 700)
            return above ? INFINITY : low;
    }
    for (int i = 0; i < 45 && high - low > 1e-12 * high; i++) {
        double middle = (low + high) / 2;
        if (AT(middle) > delta)
            low = middle;
        else
            high = middle;
    }
#undef AT
    return above ? high : low;
}

brume_interval brume_exact_epsilon(const brume_exact_law *law, bool reversed, double delta)
{
    if (delta > 0)
        return (brume_interval){epsilon_by(law, reversed, delta, false),
                                epsilon_by(law, reversed, delta, true)};
    /* mass outside of the support has a loss that is not known here */
    double above = law->missing[reversed] > 1e-9 ? INFINITY : largest_loss(law, reversed, true);
    return (brume_interval){largest_loss(law, reversed, false), above};
}

int64_t brume_exact_witness(const brume_exact_law *law, bool reversed)
{
    size_t best = 0;
    double largest = -INFINITY;
    for (size_t i = 0; i < law->count; i++) {
        const brume_interval *mass = law->outcomes[i].mass;
        double loss = log(mass[reversed].lower / mass[!reversed].upper);
        if (mass[reversed].lower >= 1e-9 && loss > largest) {
            largest = loss;
            best = i;
        }
    }
    return law->outcomes[best].value;
}

/* ---- against a claim ---- */

static int ascending(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* The losses above 0 of outcomes that have some mass, ascending, each once. */
static size_t find_losses(const brume_exact_side *side, double *losses)
{
    size_t found = 0, distinct = 0;
    for (size_t i = 0; i < side->law->count; i++) {
        const brume_interval *mass = side->law->outcomes[i].mass;
        double loss = log(mass[side->reversed].lower / mass[!side->reversed].upper);
        if (mass[side->reversed].lower > 1e-15 && loss > 0 && isfinite(loss))
            losses[found++] = loss;
    }
    qsort(losses, found, sizeof *losses, ascending);
    for (size_t i = 0; i < found; i++)
        if (distinct == 0 || losses[i] > losses[distinct - 1] + 1e-9)
            losses[distinct++] = losses[i];
    return distinct;
}

/* At most `most` losses of all sides, spread over those of each. */
static brume_status spread_losses(const brume_exact_side *sides, size_t count, size_t most,
                                  double *out, size_t *placed, brume_error *error)
{
    size_t each = most / count, all = 0;
    *placed = 0;
    for (size_t i = 0; i < count; i++)
        all = sides[i].law->count > all ? sides[i].law->count : all;
    double *losses = malloc((all + 1) * sizeof *losses);
    if (!losses)
        return brume_no_memory(error, "an audit");
    for (size_t i = 0; i < count; i++) {
        size_t distinct = find_losses(&sides[i], losses);
        size_t take = distinct < each ? distinct : each;
        for (size_t k = 0; k < take; k++) /* the largest always */
            out[(*placed)++] = losses[distinct - 1 - k * distinct / take];
    }
    qsort(out, *placed, sizeof *out, ascending);
    free(losses);
    return BRUME_OK;
}

static int by_epsilon(const void *left, const void *right)
{
    const brume_exact_point *a = left, *b = right;
    return a->epsilon < b->epsilon ? -1 : a->epsilon > b->epsilon;
}

/* 0, the losses, just before them and between, one beyond the largest, and where the claim ends. */
static size_t place_points(const double *losses, size_t count, double certain,
                           brume_exact_point *points)
{
    size_t placed = 0;
    double last = 0;
    points[placed++].epsilon = 0;
    for (size_t i = 0; i < count; i++) {
        points[placed++].epsilon = (last + losses[i]) / 2;
        points[placed++].epsilon = losses[i] * 0.99;
        points[placed++].epsilon = losses[i];
        last = losses[i];
    }
    points[placed++].epsilon = last * 1.25 + 0.01;
    if (isfinite(certain))
        points[placed++].epsilon = certain;
    qsort(points, placed, sizeof *points, by_epsilon);
    return placed;
}

static const double TIGHT = 1e-4, NEGLIGIBLE = 1e-9;

/* How much the point speaks for a violation (above 0), or how far below the claim the law is. */
static double gap(const brume_exact_point *point, bool violated)
{
    return violated ? point->delta.lower - point->claimed : point->claimed - point->delta.lower;
}

/* The largest delta of all sides. */
static void find_delta(const brume_exact_side *sides, size_t count, brume_exact_point *point)
{
    for (size_t i = 0; i < count; i++) {
        brume_interval delta = brume_exact_delta(sides[i].law, sides[i].reversed, point->epsilon);
        if (i == 0 || delta.lower > point->delta.lower) {
            point->delta.lower = delta.lower;
            point->side = i;
        }
        point->delta.upper = fmax(point->delta.upper, delta.upper);
    }
}

brume_status brume_exact_compare(const brume_exact_side *sides, size_t count,
                                 brume_exact_claim *claim, const void *context, double certain,
                                 const brume_audit_options *options, brume_exact_result *out,
                                 brume_error *error)
{
    enum { LOSSES = (BRUME_EXACT_POINTS - 3) / 3 };
    double losses[LOSSES];
    size_t placed;
    brume_exact_result result = {.verdict = BRUME_EXACT_TIGHT};
    BRUME_TRY(spread_losses(sides, count, LOSSES, losses, &placed, error));
    result.count = place_points(losses, placed, certain, result.points);
    for (size_t i = 0; i < result.count; i++) {
        brume_exact_point *point = &result.points[i];
        BRUME_TRY(check_stopped(options, error));
        BRUME_TRY(claim(context, point->epsilon, &point->claimed, error));
        find_delta(sides, count, point);
        if (point->delta.lower > point->claimed)
            result.verdict = BRUME_EXACT_VIOLATION;
        else if (result.verdict == BRUME_EXACT_TIGHT &&
                 gap(point, false) > TIGHT * point->claimed + NEGLIGIBLE)
            result.verdict = BRUME_EXACT_LOOSE;
    }
    bool violated = result.verdict == BRUME_EXACT_VIOLATION;
    for (size_t i = 1; i < result.count; i++)
        if (gap(&result.points[i], violated) > gap(&result.points[result.worst], violated))
            result.worst = i;
    *out = result;
    return BRUME_OK;
}

const char *brume_exact_verdict_name(brume_exact_verdict verdict)
{
    static const char *const names[] = {"tight", "loose", "violation"};
    return names[verdict];
}
