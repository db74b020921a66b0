/* The worst error of a synthetic histogram, measured privately. */
#include "synthetic/worst_error.h"

#include <math.h>
#include <stdlib.h>

#include <brume/mechanism/mechanism.h>
#include <brume/noise/noise.h>

#include "base/error.h"
#include "number/rounding.h"
#include "synthetic/exact.h"
#include "synthetic/number_event.h"

static double price_of(const brume_synthetic_options *options)
{
    return fmax(options->epsilon, options->rho);
}

/* Down: what both parts cost together is at most the price. */
static double share_of(const brume_synthetic_options *options)
{
    return brume_multiply_down(price_of(options), options->error_share);
}

brume_status brume_worst_error_rest(const brume_synthetic_options *options,
                                    brume_synthetic_options *rest, brume_error *error)
{
    if (!(options->error_share >= 0 && options->error_share <= 0.5))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'error_share' is %g, must be from 0 to 0.5", options->error_share);
    brume_synthetic_options made = *options;
    if (options->error_share > 0) {
        double left = brume_subtract_down(price_of(options), share_of(options));
        made.epsilon = options->rho > 0 ? options->epsilon : left;
        made.rho = options->rho > 0 ? left : options->rho;
        made.beta = options->beta / 2;
        made.error_share = 0;
    }
    *rest = made;
    return BRUME_OK;
}

brume_status brume_worst_error_event(const brume_synthetic_options *options, brume_event *event,
                                     brume_error *error)
{
    return brume_synthetic_number_event(options, share_of(options), event, error);
}

brume_status brume_worst_error_exact(const brume_workload *workload, const double *counts,
                                     const double *weights, int64_t *out, brume_error *error)
{
    size_t queries = brume_workload_size(workload);
    double *truth = malloc(queries * sizeof *truth), *made = malloc(queries * sizeof *made);
    brume_status status = truth && made ? brume_exact_answers(workload, counts, truth, error)
                                        : brume_no_memory(error, "the answers of a workload");
    if (status == BRUME_OK)
        status = brume_workload_answer(workload, weights, made, error);
    double worst = 0; /* whole numbers below 2^34: exact */
    for (size_t i = 0; status == BRUME_OK && i < queries; i++)
        worst = fmax(worst, fabs(truth[i] - rint(made[i])));
    free(truth);
    free(made);
    BRUME_TRY(status);
    *out = (int64_t)worst;
    return BRUME_OK;
}

brume_status brume_worst_error(const brume_workload *workload,
                               const brume_synthetic_options *options, const double *counts,
                               const double *weights, brume_bits *bits, double *bound,
                               brume_error *error)
{
    brume_event event;
    brume_noise *noise = NULL;
    int64_t worst = 0;
    double off;
    BRUME_TRY(brume_worst_error_event(options, &event, error));
    /* The noise has one law on both sides: P[noise <= -w] = P[|noise| >= w]/2. */
    BRUME_TRY(brume_event_alpha(&event, options->beta, &off, error));
    BRUME_TRY(brume_worst_error_exact(workload, counts, weights, &worst, error));
    if (options->rho > 0)
        BRUME_TRY(brume_noise_open_discrete_gaussian(event.parameter[0], &noise, error));
    else
        BRUME_TRY(brume_noise_open_discrete_laplace(event.parameter[0], &noise, error));
    brume_status status = brume_noise_add(noise, bits, &worst, &worst, 1, error);
    brume_noise_close(noise);
    BRUME_TRY(status);
    /* A floor hides less than 1, rounding at most 1/2; the answers of the weights are sums of
     * doubles, less than 2^-20 of the records off, which are less than 2^33. */
    double total = 0;
    for (uint64_t i = 0; i < brume_workload_universe(workload)->cells; i++)
        total += weights[i];
    *bound = brume_add_up(brume_add_up(fmax((double)worst, 0), off), 1.5 + total * 0x1p-20);
    return BRUME_OK;
}
