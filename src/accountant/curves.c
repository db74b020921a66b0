/* Composing terms of which some are known by their moments only. See the header. */
#include "accountant/curves.h"

#include <math.h>

#include "accountant/renyi.h"
#include "accountant/start.h"
#include "base/error.h"

static const char route_moments[] = "moments of all terms (a term has no loss law)";
static const char route_pairs[] = "exact composition with pairs that dominate the moments";

static double moments_epsilon(const brume_term *terms, size_t count, double delta)
{
    brume_term_list list = {terms, count};
    brume_curve curve = brume_renyi_total(&list);
    return brume_renyi_epsilon_upper(&curve, delta);
}

static double moments_delta(const brume_term *terms, size_t count, double epsilon)
{
    brume_term_list list = {terms, count};
    brume_curve curve = brume_renyi_total(&list);
    return brume_renyi_delta_upper(&curve, epsilon);
}

/* Is there a loss law beside the curves? If not, pairs are not tried: one release by its pair is
 * what its moments say, and many lose by it what the sum of their curves knows. */
static bool has_laws(const brume_term *terms, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (terms[i].cost.loss != BRUME_ABSENT || terms[i].cost.pure != BRUME_ABSENT)
            return true;
    return false;
}

/* Gather, and append a pair for every term that has only a curve. */
static brume_status gather_with_pairs(const brume_term *terms, size_t count, bool reversed,
                                      double smallest, brume_gathered *out, brume_error *error)
{
    brume_gathered gathered;
    BRUME_TRY(brume_gather(terms, count, reversed, &gathered, error));
    long double survival = log1pl(-(long double)gathered.failure);
    for (size_t i = 0; i < count; i++) {
        const brume_cost *cost = &terms[i].cost;
        if (cost->loss != BRUME_ABSENT || cost->pure != BRUME_ABSENT || !brume_renyi_known(cost))
            continue;
        double failure, draws = (double)terms[i].count;
        brume_status status = brume_curve_pair(cost, draws, smallest,
                                               &gathered.laws[gathered.law_count], &failure, error);
        if (status != BRUME_OK) {
            brume_gathered_close(&gathered);
            return status;
        }
        gathered.law_count++;
        survival += draws * log1pl(-(long double)fmin(failure, 1));
    }
    /* up, by the error of the gathered failure and of this sum */
    gathered.failure = fmin(1, (double)-expm1l(survival) * (1 + 32 * BRUME_UNIT));
    *out = gathered;
    return BRUME_OK;
}

/* Failure and finite delta of the terms themselves; *finite is rounded down, 0 if there is none. */
static brume_status look(const brume_term *terms, size_t count, double delta, double *finite,
                         brume_composition *out, brume_error *error)
{
    brume_gathered gathered;
    BRUME_TRY(brume_gather(terms, count, false, &gathered, error));
    brume_gathered_close(&gathered);
    *out = (brume_composition){.failure = gathered.failure_ends, .route = route_moments};
    double excess = delta - gathered.failure_ends.upper;
    *finite = excess > 0 ? excess / (1 - gathered.failure_ends.lower) * (1 - 8 * BRUME_UNIT) : 0;
    out->infinite = gathered.infinite || delta <= gathered.failure_ends.lower;
    return BRUME_OK;
}

brume_status brume_curves_epsilon(const brume_term *terms, size_t count, double delta, double width,
                                  brume_composition *out, brume_error *error)
{
    brume_composition result;
    double finite, pairs = 0;
    BRUME_TRY(look(terms, count, delta, &finite, &result, error));
    if (result.infinite) {
        result.value = (brume_interval){INFINITY, INFINITY};
        result.route = "delta is not above the probability of failure";
        *out = result;
        return BRUME_OK;
    }
    result.value = (brume_interval){0, moments_epsilon(terms, count, finite)};
    if (!has_laws(terms, count)) {
        *out = result;
        return BRUME_OK;
    }
    for (int order = 0; order < 2; order++) {
        brume_gathered gathered;
        BRUME_TRY(gather_with_pairs(terms, count, order == 1, finite, &gathered, error));
        double rest = delta - gathered.failure;
        brume_answer answer = {.value = {0, INFINITY}};
        bool alive = true;
        bool eaten = !(rest > 0.01 * delta); /* the delta, by the hull */
        rest = rest / (1 - gathered.failure) * (1 - 1e-13);
        if (order == 1 && !eaten && pairs > 0 && pairs < INFINITY &&
            brume_moments_below(gathered.laws, gathered.law_count, pairs, rest * (1 - 1e-12))) {
            answer.value.upper = pairs; /* the first order's counts */
        } else if (!eaten) {
            alive = brume_solve_epsilon(gathered.laws, gathered.law_count, rest, 1e-13,
                                        fmax(width, 1e-3), &answer);
        }
        result.nodes += answer.nodes;
        result.rounds += answer.rounds;
        result.contradictory |= answer.contradictory;
        pairs = fmax(pairs, answer.value.upper);
        bool symmetric = gathered.symmetric;
        brume_gathered_close(&gathered);
        if (!alive)
            return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory while composing");
        if (symmetric)
            break;
    }
    if (pairs < result.value.upper) {
        result.value.upper = pairs;
        result.route = route_pairs;
    }
    *out = result;
    return BRUME_OK;
}

brume_status brume_curves_delta(const brume_term *terms, size_t count, double epsilon, double width,
                                brume_composition *out, brume_error *error)
{
    brume_composition result;
    double finite, pairs = 0;
    BRUME_TRY(look(terms, count, 1, &finite, &result, error));
    result.infinite = false;
    double moments = moments_delta(terms, count, epsilon), failed = result.failure.upper;
    /* failure + (1 - failure) delta, up */
    result.value =
        (brume_interval){result.failure.lower, fmin(1, (failed + moments) * (1 + 4 * BRUME_UNIT))};
    if (!has_laws(terms, count)) {
        *out = result;
        return BRUME_OK;
    }
    for (int order = 0; order < 2 && result.value.upper > 0; order++) {
        brume_gathered gathered;
        double smallest = fmax(1e-3 * result.value.upper, 1e-300);
        BRUME_TRY(gather_with_pairs(terms, count, order == 1, smallest, &gathered, error));
        brume_answer answer = {.value = {0, 1}};
        double room = (pairs - gathered.failure) * (1 - 1e-9);
        bool alive = true;
        if (order == 1 && room > 0 &&
            brume_moments_below(gathered.laws, gathered.law_count, epsilon, room))
            answer.value.upper = 0; /* not above the first order's upper end */
        else
            alive = brume_solve_delta(gathered.laws, gathered.law_count, epsilon, fmax(width, 1e-3),
                                      &answer);
        result.nodes += answer.nodes;
        result.rounds += answer.rounds;
        result.contradictory |= answer.contradictory;
        double total = gathered.failure + (1 - gathered.failure) * answer.value.upper;
        pairs = fmax(pairs, total * (1 + 1e-13));
        bool symmetric = gathered.symmetric;
        brume_gathered_close(&gathered);
        if (!alive)
            return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory while composing");
        if (symmetric)
            break;
    }
    if (pairs < result.value.upper) {
        result.value.upper = pairs;
        result.route = route_pairs;
    }
    *out = result;
    return BRUME_OK;
}
