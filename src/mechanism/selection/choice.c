/* Choosing privately. Promises: brume/mechanism/selection.h; the scores' coefficient is at most
 * epsilon/(2 sensitivity), or epsilon/sensitivity for monotone scores, so the guarantee holds for
 * the number that is used. */
#include <brume/mechanism/selection.h>

#include <math.h>

#include <brume/mechanism/mechanism.h>

#include "base/error.h"
#include "mechanism/selection/selection.h"
#include "number/rounding.h"

brume_event brume_selection_event(brume_select_noise noise, const brume_selection *options)
{
    uint32_t id = noise == BRUME_SELECT_GUMBEL ? 6 : noise == BRUME_SELECT_EXPONENTIAL ? 8 : 7;
    brume_event event = {.mechanism = id,
                         .adjacency = options->adjacency,
                         .sensitivity = options->sensitivity,
                         .count = 1};
    event.parameter[BRUME_SELECTION_EPSILON] = options->epsilon;
    event.parameter[BRUME_SELECTION_MONOTONE] = options->monotone;
    return event;
}

double brume_selection_coefficient_lower(const brume_selection *options)
{
    /* down: a smaller coefficient is more noise */
    double coefficient = brume_divide_down(options->epsilon, options->sensitivity);
    return options->monotone ? coefficient : brume_multiply_down(coefficient, 0.5);
}

brume_status brume_noisy_max_choose(brume_bits *bits, brume_select_noise noise,
                                    const brume_selection *options, const double *scores, size_t n,
                                    size_t *index, brume_error *error)
{
    brume_event event = brume_selection_event(noise, options);
    BRUME_TRY(brume_event_check(&event, error));
    if (noise != BRUME_SELECT_GUMBEL && noise != BRUME_SELECT_EXPONENTIAL &&
        noise != BRUME_SELECT_LAPLACE)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no such kind of noise");
    bool finite = true;
    for (size_t i = 0; i < n; i++)
        finite &= isfinite(scores[i]) != 0;
    if (!finite)
        return brume_fail(error, BRUME_EARGUMENT, "clamp the scores", "a score is not finite");
    return brume_select_noisy_max(bits, noise, brume_selection_coefficient_lower(options), scores,
                                  n, index, error);
}

brume_status brume_exponential_choose(brume_bits *bits, const brume_selection *options,
                                      const double *scores, size_t n, size_t *index,
                                      brume_error *error)
{
    return brume_noisy_max_choose(bits, BRUME_SELECT_GUMBEL, options, scores, n, index, error);
}

brume_status brume_permute_and_flip_choose(brume_bits *bits, const brume_selection *options,
                                           const double *scores, size_t n, size_t *index,
                                           brume_error *error)
{
    return brume_noisy_max_choose(bits, BRUME_SELECT_EXPONENTIAL, options, scores, n, index, error);
}
