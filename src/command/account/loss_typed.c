/* The loss variable of two distributions: typed, or of Laplace-log-normal noise on two neighbours.
 *
 * Promises: sums of finitely many terms, right to some twelve digits. An integral over a line is a
 * sum over the points of a quadrature, whose ends must not count. */
#include "command/account/loss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "command/frame/call.h"
#include "mechanism/smooth/smooth_lln.h"

/* The finite part of ln(p/q) under p, and the mass where q is 0. */
static brume_status typed_moments(const brume_loss_source *source, bool reversed, double *mean,
                                  double *variance, brume_error *error)
{
    const double *p = reversed ? source->q : source->p, *q = reversed ? source->p : source->q;
    double first = 0, second = 0;
    (void)error;
    for (size_t i = 0; i < source->count; i++)
        if (p[i] > 0 && q[i] > 0) {
            double loss = log(p[i]) - log(q[i]);
            first += p[i] * loss;
            second += p[i] * loss * loss;
        } else if (p[i] > 0) {
            first = second = INFINITY;
        }
    *mean = first;
    *variance = isfinite(first) ? fmax(second - first * first, 0) : INFINITY;
    return BRUME_OK;
}

static brume_status typed_tail(const brume_loss_source *source, bool reversed, double epsilon,
                               double goal, brume_interval *out, brume_error *error)
{
    const double *p = reversed ? source->q : source->p, *q = reversed ? source->p : source->q;
    double sum = 0;
    (void)goal;
    (void)error;
    for (size_t i = 0; i < source->count; i++) /* an atom at epsilon itself is not above it */
        if (p[i] > 0 && (!(q[i] > 0) || log(p[i]) - log(q[i]) > epsilon + 1e-12))
            sum += p[i];
    sum = fmin(sum, 1);
    *out = (brume_interval){fmax(sum * (1 - 1e-12), 0), fmin(sum * (1 + 1e-12), 1)};
    return BRUME_OK;
}

/* The logarithm of a term of the divergence's sum; -INFINITY where there is no mass. */
static double log_term(double p, double q, double order)
{
    if (!(p > 0))
        return -INFINITY;
    if (!(q > 0))
        return order > 1 ? INFINITY : -INFINITY;
    return order * log(p) + (1 - order) * log(q);
}

static brume_status typed_renyi(const brume_loss_source *source, bool reversed, double order,
                                double *out, brume_error *error)
{
    const double *p = reversed ? source->q : source->p, *q = reversed ? source->p : source->q;
    double sum = 0, most = -INFINITY, mean, variance;
    size_t last = source->count - 1;
    if (isinf(order) && !source->quadrature) { /* the largest loss */
        *out = 0;
        for (size_t i = 0; i <= last; i++)
            *out = p[i] > 0 ? fmax(*out, q[i] > 0 ? log(p[i]) - log(q[i]) : INFINITY) : *out;
        return BRUME_OK;
    }
    if (isinf(order))
        return brume_fail(error, BRUME_EUNSUPPORTED, "use a finite order",
                          "of '--lln' the largest loss is not computed");
    if (order == 1) {
        BRUME_TRY(typed_moments(source, reversed, &mean, &variance, error));
        *out = mean;
        return BRUME_OK;
    }
    for (size_t i = 0; i <= last; i++)
        most = fmax(most, log_term(p[i], q[i], order));
    if (!isfinite(most)) { /* p has mass where q has none, or nothing is in common */
        *out = INFINITY;
        return BRUME_OK;
    }
    for (size_t i = 0; i <= last; i++)
        sum += exp(log_term(p[i], q[i], order) - most);
    double first_end = log_term(p[0], q[0], order), last_end = log_term(p[last], q[last], order);
    if (source->quadrature && fmax(first_end, last_end) - most > log(1e-13))
        return brume_fail(error, BRUME_EUNSUPPORTED, "use a smaller order or stretch",
                          "the divergence of order %g lies in tails that are not computed", order);
    *out = fmax((most + log(sum)) / (order - 1), 0);
    return BRUME_OK;
}

static brume_status read_distribution(const brume_call *call, const char *option, double **out,
                                      size_t *count, brume_error *error)
{
    char *copy = strdup(brume_call_text(call, option)), *rest = copy, *word;
    size_t room = 1, used = 0;
    for (const char *c = copy; c && *c; c++)
        room += *c == ',';
    double *values = calloc(room, sizeof *values), sum = 0;
    brume_status status = copy && values ? BRUME_OK : brume_no_memory(error, "a distribution");
    while (status == BRUME_OK && (word = strsep(&rest, ","))) {
        status = brume_read_real(word, "a probability", &values[used], error);
        if (status == BRUME_OK && !(values[used] >= 0 && values[used] <= 1))
            status = brume_fail(error, BRUME_EARGUMENT, NULL,
                                "'--%s' has %s, which is no probability", option, word);
        sum += values[used++];
    }
    if (status == BRUME_OK && !(fabs(sum - 1) <= 1e-6))
        status = brume_fail(error, BRUME_EARGUMENT, "write them with enough digits",
                            "the probabilities of '--%s' sum to %.9g, not to 1", option, sum);
    for (size_t i = 0; status == BRUME_OK && i < used; i++)
        values[i] /= sum;
    free(copy);
    if (status != BRUME_OK) {
        free(values);
        return status;
    }
    *out = values;
    *count = used;
    return BRUME_OK;
}

/* delta at epsilon: the mass of p above e^epsilon q. */
static double typed_delta(const brume_loss_source *source, bool reversed, double epsilon)
{
    const double *p = reversed ? source->q : source->p, *q = reversed ? source->p : source->q;
    double sum = 0;
    for (size_t i = 0; i < source->count; i++)
        sum += fmax(p[i] - exp(epsilon) * q[i], 0);
    return fmin(sum, 1);
}

/* What both kinds have once p, q and count are there. */
static void complete(brume_loss_source *source)
{
    source->moments = typed_moments;
    source->tail = typed_tail;
    source->renyi = typed_renyi;
    for (size_t i = 0; i < source->count; i++) {
        source->infinite_mass[0] += source->q[i] > 0 ? 0 : source->p[i];
        source->infinite_mass[1] += source->p[i] > 0 ? 0 : source->q[i];
        source->differ |= source->p[i] != source->q[i];
    }
}

static brume_status open_noise(const brume_call *call, brume_loss_source *source,
                               brume_error *error)
{
    if (brume_call_has(call, "epsilon"))
        return brume_fail(error, BRUME_EARGUMENT,
                          "leave '--epsilon' out, or ask 'brume account' for a mechanism's delta",
                          "of '--lln' moments and divergences are computed, not the tail");
    BRUME_TRY(brume_log_normal_pair(
        brume_call_real(call, "lln", 0), brume_call_real(call, "shift", 0),
        brume_call_real(call, "stretch", 0), &source->p, &source->q, &source->count, error));
    source->quadrature = true;
    complete(source);
    return BRUME_OK;
}

brume_status brume_loss_open_typed(const brume_call *call, brume_loss_source *source,
                                   brume_error *error)
{
    size_t others = 0;
    bool noise = brume_call_has(call, "lln"), typed = brume_call_has(call, "p");
    if (brume_call_operand(call, 0) || typed != brume_call_has(call, "q") || typed == noise)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "give an expression, or both '--p' and '--q', or '--lln'");
    if (!noise && (brume_call_has(call, "shift") || brume_call_has(call, "stretch")))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'--shift' and '--stretch' are for '--lln' only");
    if (noise)
        return open_noise(call, source, error);
    BRUME_TRY(read_distribution(call, "p", &source->p, &source->count, error));
    BRUME_TRY(read_distribution(call, "q", &source->q, &others, error));
    if (others != source->count)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--p' has %zu values, '--q' has %zu",
                          source->count, others);
    source->delta = typed_delta;
    complete(source);
    return BRUME_OK;
}
