/* The public composition: terms in, merged laws, both orders, the atom at infinity, answers out. */
#include <brume/compose.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/check/audit.h"
#include "accountant/exact/closed_form.h"
#include "accountant/solve/curves.h"
#include "accountant/solve/merge_terms.h"
#include "accountant/ray/solve.h"
#include "accountant/law/shift_parameters.h"
#include "accountant/search.h"
#include "accountant/solve/solve.h"
#include "accountant/contour/saddle.h"
#include "base/error.h"

static const double standard_width = 1e-10;

static double width_of(const brume_compose_options *options)
{
    return options && options->tolerance > 0 ? options->tolerance : standard_width;
}

static brume_status no_memory(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory while composing");
}

/* Redo the sum behind an answer in balls. A disagreement would be a fault of brume or of libm: the
 * answer is withheld. */
static brume_status audit_answer(brume_merged *merged, const brume_answer *answer, double epsilon,
                                 brume_error *error)
{
    if (answer->contradictory)
        return brume_fail(error, BRUME_EINTERNAL, "please report this, with the terms",
                          "two certified bounds contradict each other");
    if (answer->balls || merged->law_count == 0 || !(epsilon < INFINITY) || answer->nodes == 0)
        return BRUME_OK;
    brume_audit audit;
    bool rays = brume_rays_suit(merged->laws, merged->law_count) || brume_rays_answered(answer);
    if (brume_sampled_once_answered(answer))
        brume_sampled_once_audit(merged->laws, epsilon, &audit);
    else if (!(rays && brume_rays_audit(merged->laws, merged->law_count, epsilon, &audit)) &&
             !brume_audit_delta(merged->laws, merged->law_count, epsilon, &audit))
        return no_memory(error);
    if (!audit.agrees)
        return brume_fail(error, BRUME_EINTERNAL, "please report this, with the terms",
                          "ball arithmetic contradicts the double sum (%.3g of its bound)",
                          audit.ratio);
    return BRUME_OK;
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

static brume_status epsilon_of_order(brume_merged *merged, double delta, double delta_error,
                                     double width, brume_answer *answer, brume_error *error)
{
    if (merged->law_count == 0) {
        *answer = (brume_answer){.value = {0, 0}, .route = "nothing but failure"};
        return BRUME_OK;
    }
    if (!brume_solve_epsilon(merged->laws, merged->law_count, delta, delta_error, width, answer))
        return no_memory(error);
    return BRUME_OK;
}

/* The larger of the two orders: both ends take the larger. */
static void take_larger(brume_answer *answer, const brume_answer *other)
{
    if (!answer->route || other->value.upper > answer->value.upper) {
        answer->route = other->route;
        answer->excess = other->excess;
    }
    answer->value.lower = fmax(answer->value.lower, other->value.lower);
    answer->value.upper = fmax(answer->value.upper, other->value.upper);
    answer->nodes += other->nodes;
    answer->rounds += other->rounds;
    answer->contradictory |= other->contradictory;
}

/* What the second order must stay below to be passed over: the first's upper end, if that is nearly
 * known, else its lower one, as the second's lower end may still be of use. */
static double end_to_beat(const brume_answer *answer)
{
    bool known = answer->value.upper - answer->value.lower <= 1e-6 * answer->value.upper;
    return known ? answer->value.upper : answer->value.lower;
}

/* Is the second order's delta(epsilon) certainly at most `delta`? By what is cheap for its laws. */
static bool certainly_below(brume_merged *merged, double epsilon, double delta)
{
    bool sampled = brume_rays_apply(merged->laws, merged->law_count);
    return (sampled ? brume_rays_below : brume_moments_below)(merged->laws, merged->law_count,
                                                              epsilon, delta);
}

static void fill(const brume_merged *merged, const brume_answer *answer, brume_composition *out)
{
    out->value = answer->value;
    out->has_lower = merged->has_lower;
    out->failure = merged->failure_ends;
    out->route = answer->route;
    out->nodes = answer->nodes;
    out->rounds = answer->rounds;
    out->excess = answer->excess;
    out->contradictory = answer->contradictory;
}

static brume_status epsilon_of_delta(const brume_term *terms, size_t count, double delta,
                                     double width, bool audit, brume_composition *out,
                                     brume_error *error)
{
    brume_composition result = {0};
    brume_answer answer = {.value = {0, 0}};
    for (int order = 0; order < 2; order++) {
        brume_merged merged;
        BRUME_TRY(brume_merge_terms(terms, count, order == 1, &merged, error));
        if (merged.curve_count > 0) {
            brume_merged_close(&merged);
            return brume_curves_epsilon(terms, count, delta, out, error);
        }
        bool at_failure = merged.failure_error == 0 && delta == merged.failure;
        if (merged.infinite || (delta <= merged.failure_ends.lower && !at_failure) ||
            (at_failure && !merged.bounded)) {
            result.infinite = true;
            answer = (brume_answer){.value = {INFINITY, INFINITY},
                                    .route = "delta is not above the probability of failure"};
            if (!(merged.failure_ends.lower > 0) && !merged.infinite)
                answer.route = "the loss is unbounded and delta is 0";
            fill(&merged, &answer, &result);
            brume_merged_close(&merged);
            break;
        }
        brume_answer one;
        brume_status status = BRUME_OK;
        double delta_error, finite = finite_delta(&merged, delta, &delta_error);
        if (at_failure) { /* nothing may be left to the finite losses: all must be below epsilon */
            one = (brume_answer){.route = "largest possible loss"};
            if (!brume_shifted_top(merged.laws, merged.law_count, &one.value))
                status = no_memory(error);
        } else if (!(finite > 0) || !(delta_error < 0.5)) {
            one = (brume_answer){.value = {0, INFINITY},
                                 .route = "delta is at the probability of failure"};
            brume_interval top;
            if (merged.failure_ends.upper <= delta &&
                brume_shifted_top(merged.laws, merged.law_count, &top))
                one.value.upper = top.upper;
        } else if (order == 1 && answer.value.upper == 0 &&
                   brume_rays_apply(merged.laws, merged.law_count)) {
            one = (brume_answer){.value = {0, 0}}; /* delta(0) is the total variation of both */
        } else if (order == 1 && end_to_beat(&answer) > 0 &&
                   certainly_below(&merged, end_to_beat(&answer), finite * (1 - 2 * delta_error))) {
            one = (brume_answer){.value = {0, end_to_beat(&answer)}}; /* the first's counts */
        } else if (order == 1 && answer.value.upper > 0 &&
                   brume_solve_below(merged.laws, merged.law_count, answer.value.upper,
                                     finite * (1 - 2 * delta_error))) {
            one = (brume_answer){.value = {0, answer.value.upper}};
        } else {
            status = epsilon_of_order(&merged, finite, delta_error, width, &one, error);
            if (audit && status == BRUME_OK)
                status = audit_answer(&merged, &one, one.value.upper, error);
        }
        if (status == BRUME_OK) {
            take_larger(&answer, &one);
            fill(&merged, &answer, &result);
        }
        bool symmetric = merged.symmetric;
        brume_merged_close(&merged);
        BRUME_TRY(status);
        if (symmetric)
            break;
    }
    *out = result;
    return BRUME_OK;
}

static brume_status delta_of_epsilon(const brume_term *terms, size_t count, double epsilon,
                                     const brume_compose_options *options, brume_composition *out,
                                     brume_error *error)
{
    double width = width_of(options);
    bool audit = options && options->audit, upper_end = options && options->upper_end;
    brume_composition result = {0};
    brume_answer answer = {.value = {0, 0}};
    for (int order = 0; order < 2; order++) {
        brume_merged merged;
        BRUME_TRY(brume_merge_terms(terms, count, order == 1, &merged, error));
        if (merged.curve_count > 0) {
            brume_merged_close(&merged);
            return brume_curves_delta(terms, count, epsilon, out, error);
        }
        brume_answer one = {.value = {0, 0}, .route = "nothing but failure"};
        brume_status status = BRUME_OK;
        double room = (answer.value.upper - merged.failure_ends.upper) * (1 - 1e-9);
        double sure = (end_to_beat(&answer) - merged.failure_ends.upper) * (1 - 1e-9);
        if (order == 1 && epsilon == 0 && brume_rays_apply(merged.laws, merged.law_count))
            one.value.upper = 0; /* delta(0) is the total variation of both */
        else if (order == 1 && sure > 0 && certainly_below(&merged, epsilon, sure))
            one.value.upper = 0; /* not above the first order's end */
        else if (order == 1 && room > 0 &&
                 brume_solve_below(merged.laws, merged.law_count, epsilon, room))
            one.value.upper = 0; /* not above the first order's upper end */
        else if (merged.law_count > 0 && !(upper_end ? brume_solve_delta_upper : brume_solve_delta)(
                                             merged.laws, merged.law_count, epsilon, width, &one))
            status = no_memory(error);
        if (audit && status == BRUME_OK)
            status = audit_answer(&merged, &one, epsilon, error);
        double failure = merged.failure;
        if (failure > 0) { /* dinf + (1 - dinf) delta, 16 units each way */
            one.value.lower = (failure + (1 - failure) * one.value.lower) * (1 - 16 * BRUME_UNIT);
            one.value.upper = (failure + (1 - failure) * one.value.upper) * (1 + 16 * BRUME_UNIT);
            one.excess *= 1 - failure;
        }
        one.value.upper = fmin(one.value.upper, 1);
        if (status == BRUME_OK) {
            take_larger(&answer, &one);
            fill(&merged, &answer, &result);
        }
        bool symmetric = merged.symmetric;
        brume_merged_close(&merged);
        BRUME_TRY(status);
        if (symmetric)
            break;
    }
    *out = result;
    return BRUME_OK;
}

/* Pure terms with a small rho may be known by it: then the laws are composed only if they may say
 * more. The lower end would be that of the stated epsilons. */
static brume_status with_curves(const brume_term *terms, size_t count, brume_curve_question q,
                                const brume_compose_options *options, brume_composition *out,
                                brume_error *error)
{
    brume_composition curves = {.value = {0, INFINITY}}, laws;
    bool helped = brume_curves_help(terms, count) && (!q.of_delta || q.at > 0);
    if (helped)
        BRUME_TRY(q.of_delta ? brume_curves_epsilon(terms, count, q.at, &curves, error)
                             : brume_curves_delta(terms, count, q.at, &curves, error));
    if (helped && brume_curves_suffice(terms, count, q, curves.value.upper)) {
        *out = curves;
        return BRUME_OK;
    }
    BRUME_TRY(q.of_delta ? epsilon_of_delta(terms, count, q.at, width_of(options),
                                            options && options->audit, &laws, error)
                         : delta_of_epsilon(terms, count, q.at, options, &laws, error));
    bool better = helped && !laws.infinite && curves.value.upper < laws.value.upper;
    *out = better ? curves : laws;
    return BRUME_OK;
}

brume_status brume_compose_epsilon(const brume_term *terms, size_t count, double delta,
                                   const brume_compose_options *options, brume_composition *out,
                                   brume_error *error)
{
    if (!(delta >= 0 && delta < 1))
        return brume_fail(error, BRUME_EARGUMENT, "a probability of failure, such as 1e-6",
                          "'delta' is %.17g, must be in [0, 1)", delta);
    return with_curves(terms, count, (brume_curve_question){true, delta}, options, out, error);
}

brume_status brume_compose_delta(const brume_term *terms, size_t count, double epsilon,
                                 const brume_compose_options *options, brume_composition *out,
                                 brume_error *error)
{
    if (!(epsilon >= 0 && epsilon < INFINITY))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'epsilon' is %.17g, must be a finite number not below 0", epsilon);
    return with_curves(terms, count, (brume_curve_question){false, epsilon}, options, out, error);
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
        finite = brume_saddle_delta(merged.laws, merged.law_count, epsilon);
    known = known && isfinite(finite);
    brume_merged_close(&merged);
    if (known)
        *delta = failure + (1 - failure) * finite;
    return known;
}
