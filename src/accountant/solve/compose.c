/* The public composition: terms in, merged laws, both orders, the atom at infinity, intervals out.
 */
#include "accountant/solve/compose.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/contour/line.h"
#include "accountant/exact/one_sampled.h"
#include "accountant/law/shift_parameters.h"
#include "accountant/ray/solve.h"
#include "accountant/solve/curves.h"
#include "accountant/solve/merge_terms.h"
#include "base/error.h"
#include "number/rounding.h"

static const double standard_width = 1e-10;

/* What is asked of both orders of the neighbours, and the larger of their intervals so far. */
typedef struct both_orders {
    brume_asked asked;
    brume_certified certified;
    brume_composition result;
} both_orders;

static brume_status no_memory(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory while composing");
}

/* delta without the atom at infinity: (delta - failure)/(1 - failure), and its relative error. */
static double finite_delta(const brume_merged *merged, double delta, double *error)
{
    double failure = merged->failure;
    if (failure == 0) {
        *error = BRUME_UNIT;
        return delta;
    }
    double excess = delta - failure;
    *error = 16 * BRUME_UNIT * (1 + (failure + delta) / fabs(excess));
    return excess / (1 - failure);
}

/* --- the second order, where the first one's interval is certainly the larger --- */

/* If the second order's interval is not above this, it need not be computed: the first order's
 * upper end, if that is nearly the truth; else its lower end, because the second order may have a
 * better lower end. */
static double end_to_beat(const brume_certified *first)
{
    return brume_certified_is_narrow(first, 1e-6) ? first->value.upper : first->value.lower;
}

/* Is the second order's delta(epsilon) certainly at most `delta`? By what is cheap for its laws. */
static bool certainly_below(brume_merged *merged, double epsilon, double delta)
{
    bool sampled = brume_rays_apply(merged->laws, merged->law_count);
    return (sampled ? brume_rays_below : brume_moments_below)(merged->laws, merged->law_count,
                                                              epsilon, delta);
}

/* An end of the first order's interval that the second order's is certainly not above: then the
 * second order need not be computed. NAN if there is none. `finite` is the delta that is asked for,
 * without failures, rounded down. */
static double not_above(brume_merged *merged, const both_orders *both, double finite)
{
    const brume_certified *first = &both->certified;
    double end = end_to_beat(first), upper = first->value.upper, at = both->asked.at;
    /* shifted laws have a poor lower end, which is not waited for */
    double room = brume_shifted_needed(merged->laws, merged->law_count) ? upper : end;
    bool rays = brume_rays_apply(merged->laws, merged->law_count);
    if (both->asked.of_delta) {
        if (upper == 0 && rays)
            return 0; /* delta(0) is the total variation of both */
        if (end > 0 && certainly_below(merged, end, finite))
            return end;
        return room > 0 && brume_solve_below(merged->laws, merged->law_count, room, finite) ? room
                                                                                            : NAN;
    }
    double failure = merged->failure_ends.upper;
    double sure = (end - failure) * (1 - 1e-9);
    room = (room - failure) * (1 - 1e-9);
    bool below = (at == 0 && rays) || (sure > 0 && certainly_below(merged, at, sure)) ||
                 (room > 0 && brume_solve_below(merged->laws, merged->law_count, at, room));
    return below ? 0 : NAN;
}

/* --- one order --- */

static brume_status solve_order(brume_merged *merged, const brume_asked *asked,
                                brume_certified *out, brume_error *error)
{
    *out = (brume_certified){.value = {0, 0}, .route = "nothing but failure"};
    if (merged->law_count > 0 && !brume_solve(merged->laws, merged->law_count, asked, out))
        return no_memory(error);
    return BRUME_OK;
}

/* Has no epsilon this delta? Then *out says why. */
static bool is_infinite(const brume_merged *merged, double delta, bool at_failure,
                        brume_certified *out)
{
    if (!merged->infinite && (delta > merged->failure_ends.lower || at_failure) &&
        !(at_failure && !merged->bounded))
        return false;
    bool unbounded = !(merged->failure_ends.lower > 0) && !merged->infinite;
    *out = (brume_certified){.value = {INFINITY, INFINITY},
                             .route = unbounded ? "the loss is unbounded and delta is 0"
                                                : "delta is not above the probability of failure"};
    return true;
}

static brume_status epsilon_of_order(both_orders *both, bool second, brume_merged *merged,
                                     brume_certified *out, brume_error *error)
{
    brume_asked asked = both->asked;
    double delta = asked.at;
    bool at_failure = merged->failure_error == 0 && delta == merged->failure;
    if (is_infinite(merged, delta, at_failure, out)) {
        both->result.infinite = true;
        return BRUME_OK;
    }
    if (at_failure) { /* nothing may be left to the finite losses: all must be below epsilon */
        *out = (brume_certified){.route = "largest possible loss"};
        return brume_shifted_top(merged->laws, merged->law_count, &out->value) ? BRUME_OK
                                                                               : no_memory(error);
    }
    asked.at = finite_delta(merged, delta, &asked.delta_error);
    if (!(asked.at > 0) || !(asked.delta_error < 0.5)) {
        *out = (brume_certified){.value = {0, INFINITY},
                                 .route = "delta is at the probability of failure"};
        brume_interval top;
        if (merged->failure_ends.upper <= delta &&
            brume_shifted_top(merged->laws, merged->law_count, &top))
            out->value.upper = top.upper;
        return BRUME_OK;
    }
    double end = second ? not_above(merged, both, asked.at * (1 - 2 * asked.delta_error)) : NAN;
    if (isnan(end))
        return solve_order(merged, &asked, out, error);
    *out = (brume_certified){.value = {0, end}};
    return BRUME_OK;
}

static brume_status delta_of_order(both_orders *both, bool second, brume_merged *merged,
                                   brume_certified *out, brume_error *error)
{
    *out = (brume_certified){.value = {0, 0}};
    double failure = merged->failure;
    brume_asked asked = both->asked;
    asked.sought = fmax(asked.sought - failure, 0) / (1 - failure);
    if (!second || isnan(not_above(merged, both, 0)))
        BRUME_TRY(solve_order(merged, &asked, out, error));
    if (failure > 0) { /* dinf + (1 - dinf) delta, 16 units each way */
        out->value.lower = (failure + (1 - failure) * out->value.lower) * (1 - 16 * BRUME_UNIT);
        out->value.upper = (failure + (1 - failure) * out->value.upper) * (1 + 16 * BRUME_UNIT);
        out->excess *= 1 - failure;
    }
    out->value.upper = fmin(out->value.upper, 1);
    return BRUME_OK;
}

static brume_status visit_order(void *context, bool again, brume_merged *merged, bool *done,
                                brume_error *error)
{
    both_orders *both = context;
    brume_certified one;
    BRUME_TRY((both->asked.of_delta ? epsilon_of_order : delta_of_order)(both, again, merged, &one,
                                                                         error));
    brume_certified_take_larger(&both->certified, &one);
    *done = both->result.infinite;
    both->result.value = both->certified.value;
    both->result.has_lower = merged->has_lower;
    both->result.failure = merged->failure_ends;
    both->result.route = both->certified.route;
    both->result.contradictory = both->certified.contradictory;
    return BRUME_OK;
}

/* --- all terms --- */

/* Pure terms with a small rho may be known by it: then the laws are composed only if they may say
 * more. The lower end would be that of the stated epsilons. */
brume_status brume_compose(const brume_term *terms, size_t count, const brume_asked *asked,
                           brume_composition *out, brume_diagnostics *diagnostics,
                           brume_error *error)
{
    brume_asked q = {.of_delta = asked->of_delta, .at = asked->at};
    brume_composition curves = {.value = {0, INFINITY}};
    brume_diagnostics work = {0};
    bool only = brume_curves_needed(terms, count);
    bool helped = only || (brume_curves_help(terms, count) && (!q.of_delta || q.at > 0));
    if (helped)
        BRUME_TRY(brume_curves_compose(terms, count, q, &curves, &work, error));
    if (!only && !(helped && brume_curves_suffice(terms, count, q, curves.value.upper))) {
        both_orders both = {.asked = *asked};
        if (!(both.asked.width > 0))
            both.asked.width = standard_width;
        BRUME_TRY(brume_each_order(terms, count, visit_order, &both, error));
        bool better = helped && !both.result.infinite &&
                      curves.value.upper < both.result.value.upper;
        if (!better) {
            curves = both.result;
            work = (brume_diagnostics){both.certified.nodes, both.certified.rounds,
                                       both.certified.excess};
        }
    }
    *out = curves;
    if (diagnostics)
        *diagnostics = work;
    return BRUME_OK;
}

static brume_status with_options(const brume_term *terms, size_t count, bool of_delta, double at,
                                 const brume_compose_options *options, brume_composition *out,
                                 brume_error *error)
{
    brume_asked asked = {.of_delta = of_delta, .at = at, .width = options ? options->tolerance : 0};
    return brume_compose(terms, count, &asked, out, options ? options->diagnostics : NULL, error);
}

brume_status brume_compose_epsilon(const brume_term *terms, size_t count, double delta,
                                   const brume_compose_options *options, brume_composition *out,
                                   brume_error *error)
{
    if (!(delta >= 0 && delta < 1))
        return brume_fail(error, BRUME_EARGUMENT, "a probability of failure, such as 1e-6",
                          "'delta' is %.17g, must be in [0, 1)", delta);
    return with_options(terms, count, true, delta, options, out, error);
}

brume_status brume_compose_delta(const brume_term *terms, size_t count, double epsilon,
                                 const brume_compose_options *options, brume_composition *out,
                                 brume_error *error)
{
    if (!(epsilon >= 0 && epsilon < INFINITY))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'epsilon' is %.17g, must be a finite number not below 0", epsilon);
    return with_options(terms, count, false, epsilon, options, out, error);
}

/* About delta of the finite losses: by a closed form where there is one that takes no time. */
static double guess_delta(brume_law *laws, size_t count, double epsilon)
{
    if (!brume_rays_apply(laws, count))
        return brume_saddle_delta(laws, count, epsilon);
    if (count > 1 || laws[0].count > 1)
        return brume_rays_guess_delta(laws, count, epsilon);
    brume_delta_bounds one = brume_sampled_doubles_bounds(laws);
    return one.delta(one.context, epsilon, BRUME_UPPER_SIDE);
}

bool brume_compose_guess(const brume_term *terms, size_t count, double epsilon, double *delta)
{
    /* the order of a record removed, which is nearly always the larger */
    brume_merged merged;
    if (brume_merge_terms(terms, count, false, &merged, NULL) != BRUME_OK)
        return false;
    bool known = merged.curve_count == 0;
    double finite = 0, failure = merged.failure;
    if (known && merged.law_count > 0)
        finite = guess_delta(merged.laws, merged.law_count, epsilon);
    known = known && isfinite(finite);
    brume_merged_close(&merged);
    if (known)
        *delta = failure + (1 - failure) * finite;
    return known;
}

/* --- bounded terms apart from the rest ---
 *
 * Where a loss is A + B and B is never above t,
 *
 *   E(1 - e^{eps - A - B})_+ <= E(1 - e^{(eps - t) - A})_+ ,
 *
 * in either order of the neighbours, so delta(eps) <= delta_A(eps - t), and epsilon is at most t
 * plus that of the rest. It is the sharper bound where nearly all of the loss is in A and no line
 * follows the mixture down to a tiny delta. */

/* A term whose loss is never above its epsilon. */
static bool is_bounded(const brume_term *term)
{
    return term->cost.pure != BRUME_ABSENT && isfinite(term->cost.epsilon) &&
           term->cost.delta_failure == 0;
}

/* delta falls with epsilon. Far beyond the epsilons of any delta of use a line says little of so
 * small a delta; but if a tiny one is certified at a smaller epsilon, it is certified here. */
static brume_status by_tiny_delta(const brume_term *terms, size_t count, double epsilon,
                                  double *upper, brume_error *error)
{
    const double tiny = 1e-32; /* not a delta that is asked for: there a search would stop short */
    for (size_t i = 0; i < count; i++)
        if (terms[i].cost.loss == BRUME_ABSENT || terms[i].cost.delta_failure >= tiny)
            return BRUME_OK;
    brume_asked asked = {.of_delta = true, .at = tiny, .width = 1e-6};
    brume_composition composition;
    if (!(*upper > tiny))
        return BRUME_OK;
    BRUME_TRY(brume_compose(terms, count, &asked, &composition, NULL, error));
    if (!composition.infinite && composition.value.upper <= epsilon)
        *upper = tiny;
    return BRUME_OK;
}

static brume_status of_rest(const brume_term *rest, size_t count, bool of_delta, bool composed,
                            double at, double *upper, brume_error *error)
{
    brume_composition composition = {.value = {0, 1}};
    brume_asked asked = {.of_delta = of_delta, .at = at, .width = 1e-6, .upper_end = !of_delta};
    if (of_delta || !composed)
        BRUME_TRY(brume_compose(rest, count, &asked, &composition, NULL, error));
    *upper = composition.value.upper;
    bool rough = !of_delta && composition.value.lower < 0.125 * composition.value.upper;
    return rough ? by_tiny_delta(rest, count, at, upper, error) : BRUME_OK;
}

brume_status brume_split_bounded_terms(const brume_term *terms, size_t count, bool of_delta,
                                       double at, bool rough, double *upper, brume_error *error)
{
    double most = 0; /* the largest loss of the bounded terms, up */
    size_t rest_count = 0;
    brume_term *rest = malloc(count * sizeof *rest);
    if (!rest)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < count; i++) {
        if (is_bounded(&terms[i]))
            most = brume_add_up(
                most, brume_multiply_up(brume_count_up(terms[i].count), terms[i].cost.epsilon));
        else
            rest[rest_count++] = terms[i];
    }
    *upper = of_delta ? INFINITY : 1;
    bool whole = rest_count == count;                            /* nothing is taken apart */
    double left = of_delta ? at : brume_subtract_down(at, most); /* down: delta falls with it */
    double found = *upper;
    brume_status status = BRUME_OK;
    if (rest_count > 0 && left >= 0 && (!whole || (rough && !of_delta)))
        status = of_rest(rest, rest_count, of_delta, whole, left, &found, error);
    free(rest);
    BRUME_TRY(status);
    *upper = of_delta ? brume_add_up(found, most) : found;
    return BRUME_OK;
}
