/* Poisson sampling: the card.
 *
 * Promises: each record enters a secret sample with probability `rate`, independently, and the
 * inner mechanism sees the sample alone. Defined under add-remove only: replacing a record is
 * another pair of laws. The loss law on the sample follows from a dominating pair of the inner
 * mechanism, in both orders: exact for Gaussian, Laplace, discrete Laplace and pure ones, the worst
 * pure law for the others; its largest loss is ln(1 + rate (e^eps - 1)). Integer Gaussian noise has
 * the Renyi curve of a sampled Gaussian. Failure shrinks by `rate`.
 * proofs/poisson.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"

#include <string.h>

#include "base/error.h"

enum { RATE };

static const brume_parameter parameters[] = {
    {.name = "rate",
     .type = BRUME_PARAMETER_REAL,
     .least = 0,
     .least_open = true,
     .most = 1,
     .direction = BRUME_LESS_NOISE,
     .unit = "",
     .help = "probability that a record enters the sample, each by its own secret draw, afresh for "
             "each release"},
    {.name = "mechanism",
     .type = BRUME_PARAMETER_MECHANISM,
     .direction = BRUME_NOT_MONOTONE,
     .unit = "",
     .help = "what runs on the sample, e.g. gaussian(sigma=1)"},
};

static const char *const examples[] = {
    "account 'poisson(rate=0.01, gaussian(sigma=1))*1000' --delta 1e-6",
    "account 'poisson(rate=0.1, exponential(epsilon=1))*100' --delta 1e-6",
    NULL,
};

/* The event of the inner mechanism by itself. */
static brume_event inner(const brume_event *event)
{
    brume_event base = *event;
    base.mechanism = event->base;
    base.base = 0;
    size_t left = BRUME_EVENT_PARAMETERS - 1;
    memmove(base.parameter, event->parameter + 1, left * sizeof *base.parameter);
    base.parameter[left] = 0;
    return base;
}

/* The law of the inner pair on the sample, where it is known; of a mechanism known by its pure
 * epsilon alone, or with a law too wide for a table, that of the worst one, which dominates it. The
 * inner pair that attains its law attains this one too; with a failure beside it the split into
 * failure and law is an upper bound. */
static void sample_law(const brume_cost *base, double rate, brume_cost *cost)
{
    enum { MOST_SHIFT = 64, MOST_LAPLACE = 16 };
    if (!isfinite(base->epsilon) || !(base->epsilon > 0))
        return;
    brume_quality quality = BRUME_UPPER;
    brume_loss law = {.kind = BRUME_LOSS_POISSON_PURE, .a = base->epsilon, .rate = rate};
    if (base->loss != BRUME_ABSENT && base->law.kind == BRUME_LOSS_PURE) {
        law.a = base->law.a;
        quality = base->loss;
    }
    if (base->loss != BRUME_ABSENT && base->law.kind == BRUME_LOSS_DISCRETE_LAPLACE &&
        base->law.shift <= MOST_SHIFT) {
        law.a = base->law.a;
        quality = base->loss;
        law.shift = base->law.shift;
        law.kind = law.shift == 1 ? BRUME_LOSS_POISSON_PURE : BRUME_LOSS_POISSON_DISCRETE_LAPLACE;
    }
    if (base->loss != BRUME_ABSENT && base->law.kind == BRUME_LOSS_LAPLACE &&
        base->law.a <= MOST_LAPLACE) {
        law.a = base->law.a;
        quality = base->loss;
        law.kind = BRUME_LOSS_POISSON_LAPLACE;
    }
    cost->loss = base->delta_failure > 0 ? BRUME_UPPER : quality;
    cost->law = law;
    cost->pure = base->delta_failure > 0 ? BRUME_UPPER : base->pure;
}

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    double rate = event->parameter[RATE];
    brume_cost base;
    const brume_card *card = brume_card_by_id(event->base);
    if (card->not_sampled)
        return brume_fail(error, BRUME_EUNSUPPORTED, "sample around a mechanism of the whole data",
                          "%s inside poisson is not supported", card->name);
    brume_event alone = inner(event);
    BRUME_TRY(brume_event_cost(&alone, &base, error));
    if (rate == 1) { /* everybody is in the sample */
        *cost = base;
        return BRUME_OK;
    }
    /* rate * delta <= its product rounded up */
    cost->delta_failure = brume_multiply_up(rate, base.delta_failure);
    if (base.loss != BRUME_ABSENT && base.law.kind == BRUME_LOSS_GAUSSIAN) {
        cost->loss = BRUME_EXACT;
        cost->law = (brume_loss){
            .kind = BRUME_LOSS_POISSON_GAUSSIAN,
            .a = brume_divide_down(alone.parameter[0], event->sensitivity), /* less noise: down */
            .rate = rate};
        if (cost->law.a == 0)
            *cost = (brume_cost){0};
    }
    if (base.pure != BRUME_ABSENT) {
        double epsilon = brume_sampled_epsilon_upper(base.epsilon, rate);
        double delta = cost->delta_failure;
        brume_cost_of_pure(epsilon, BRUME_UPPER, cost);
        cost->delta_failure = delta;
        sample_law(&base, rate, cost);
    }
    /* divergences are jointly quasi-convex: a mixture costs no more than what it mixes; but a rho
     * together with a failure probability is not one divergence */
    if (base.concentrated != BRUME_ABSENT && base.delta_failure == 0 &&
        (cost->concentrated == BRUME_ABSENT || base.rho < cost->rho)) {
        cost->concentrated = BRUME_UPPER;
        cost->rho = base.rho;
        if (cost->renyi == BRUME_ABSENT) {
            cost->renyi = BRUME_UPPER;
            cost->renyi_upper = brume_renyi_rho_upper;
        }
    }
    if (strcmp(card->name, "discrete_gaussian") == 0) {
        /* the curve of a Gaussian of that rho, 1/(2 a^2): less noise, a rounded down by 4 units */
        double a = 1 / sqrt(2 * base.rho) * (1 - 0x1p-51);
        cost->law = (brume_loss){.kind = BRUME_LOSS_POISSON_GAUSSIAN, .a = a, .rate = rate};
        cost->renyi_upper = brume_renyi_sampled_gaussian_upper;
    }
    if (cost->pure == BRUME_ABSENT && cost->concentrated == BRUME_ABSENT &&
        cost->loss == BRUME_ABSENT)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "%s inside poisson has no stated cost",
                          card->name);
    return BRUME_OK;
}

const brume_card brume_card_poisson = {
    .id = 11,
    .name = "poisson",
    .summary = "run a mechanism on a secret sample of the records",
    .guarantee = "less than the inner mechanism's: pure epsilon becomes ln(1 + rate (e^epsilon - "
                 "1)), and less in composition; exact loss laws for gaussian, laplace (epsilon up "
                 "to 16), discrete_laplace (changes up to 64) and pure, for others that of the "
                 "worst pure mechanism; discrete_gaussian by the Renyi curve of the gaussian",
    .adjacencies = BRUME_ADD_REMOVE,
    .sensitivity = "base",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "poisson.md",
    .examples = examples,
    .cost = cost,
};
