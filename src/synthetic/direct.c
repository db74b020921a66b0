/* Many queries answered directly.
 *
 * Promises: one unit changes at most `count` of the noised whole numbers, each by at most 1; each
 * gets independent noise of the event's exact parameter; so the release costs at most the event
 * `count` times. */
#include <brume/synthetic/direct.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/mechanism/mechanism.h>
#include <brume/noise/noise.h>

#include "base/error.h"
#include "number/rounding.h"
#include "synthetic/exact.h"
#include "synthetic/workload.h"

enum { CHUNK = 4096 };

brume_status brume_direct_event(const brume_workload *workload, const brume_direct_options *options,
                                brume_event *event, brume_error *error)
{
    BRUME_TRY(brume_exact_price("a direct release", options->adjacency, options->epsilon,
                                options->rho, error));
    size_t queries = brume_workload_size(workload);
    uint64_t cells = brume_workload_universe(workload)->cells;
    bool histogram = options->way == BRUME_DIRECT_HISTOGRAM;
    if (!histogram && options->way != BRUME_DIRECT_QUERIES)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no such 'way' of a direct release");
    if (queries == 0)
        return brume_fail(error, BRUME_EARGUMENT, "add queries first", "an empty workload");
    /* Replacing a record takes one from a cell and adds one to another. */
    size_t moved = histogram ? (options->adjacency == BRUME_REPLACE ? 2 : 1)
                             : brume_workload_moved(workload, options->adjacency);
    if (moved == 0)
        moved = 1; /* only totals, public under replace: noised all the same */
    double times = (double)moved, numbers = histogram ? (double)cells : (double)queries;
    brume_event made = {.adjacency = options->adjacency, .sensitivity = 1, .count = moved};
    made.parameter[1] = numbers;
    if (options->rho == 0) {
        made.mechanism = brume_card_by_name("discrete_laplace")->id;
        /* up: moved / scale <= epsilon */
        made.parameter[0] = brume_divide_up(times, options->epsilon);
    } else {
        made.mechanism = brume_card_by_name("discrete_gaussian")->id;
        /* up: moved / (2 sigma^2) <= rho */
        made.parameter[0] = brume_sqrt_up(brume_divide_up(times, 2 * options->rho));
    }
    BRUME_TRY(brume_event_check(&made, error));
    *event = made;
    return BRUME_OK;
}

static brume_status open_noise(const brume_direct_options *options, const brume_event *event,
                               brume_noise **noise, brume_error *error)
{
    if (options->rho == 0)
        return brume_noise_open_discrete_laplace(event->parameter[0], noise, error);
    return brume_noise_open_discrete_gaussian(event->parameter[0], noise, error);
}

/* out[i] = values[i] + noise; values are whole and at most 2^33. */
static brume_status add_noise(const brume_noise *noise, brume_bits *bits, const double *values,
                              double *out, uint64_t n, brume_error *error)
{
    int64_t chunk[CHUNK];
    brume_status status = BRUME_OK;
    for (uint64_t first = 0; first < n && status == BRUME_OK; first += CHUNK) {
        size_t length = n - first < CHUNK ? (size_t)(n - first) : CHUNK;
        for (size_t i = 0; i < length; i++)
            chunk[i] = (int64_t)values[first + i];
        status = brume_noise_add(noise, bits, chunk, chunk, length, error);
        for (size_t i = 0; i < length && status == BRUME_OK; i++)
            out[first + i] = (double)chunk[i]; /* rounding after the noise: post-processing */
    }
    memset(chunk, 0, sizeof chunk);
    return status;
}

brume_status brume_direct_release(const brume_workload *workload,
                                  const brume_direct_options *options, const double *counts,
                                  brume_bits *bits, double *answers, double *histogram,
                                  brume_error *error)
{
    const brume_universe *universe = brume_workload_universe(workload);
    size_t queries = brume_workload_size(workload);
    bool by_cells = options->way == BRUME_DIRECT_HISTOGRAM;
    brume_noise *noise = NULL;
    brume_event event;
    double records;
    memset(answers, 0, queries * sizeof *answers);
    if (by_cells && !histogram)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no room for the noisy histogram");
    if (by_cells)
        memset(histogram, 0, universe->cells * sizeof *histogram);
    BRUME_TRY(brume_direct_event(workload, options, &event, error));
    BRUME_TRY(brume_exact_records(universe, counts, &records, error));
    BRUME_TRY(open_noise(options, &event, &noise, error));
    brume_status status;
    if (by_cells) {
        status = add_noise(noise, bits, counts, histogram, universe->cells, error);
        if (status == BRUME_OK)
            status = brume_workload_answer(workload, histogram, answers, error);
    } else {
        status = brume_exact_answers(workload, counts, answers, error);
        if (status == BRUME_OK)
            status = add_noise(noise, bits, answers, answers, queries, error);
    }
    brume_noise_close(noise);
    if (status != BRUME_OK) {
        memset(answers, 0, queries * sizeof *answers);
        if (by_cells)
            memset(histogram, 0, universe->cells * sizeof *histogram);
    }
    return status;
}

/* What a sum of n Laplace noises of scale 1 exceeds with a chance of e^-logarithm at most: by
 * Chernoff's bound (logarithm - n ln(1 - u^2))/u for every u in (0, 1), rounded up. */
static double laplace_sum_at(double n, double logarithm, double u)
{
    /* up: 1 - u^2 is rounded down */
    double moment = brume_divide_up(1, brume_subtract_down(1, brume_multiply_up(u, u)));
    return brume_divide_up(brume_add_up(logarithm, brume_multiply_up(n, brume_log_up(moment))), u);
}

/* The best u: the bound has one minimum, because -ln(1 - u^2) is convex. Any u is valid. */
static double laplace_sum_upper(double n, double logarithm)
{
    double low = 0x1p-30, high = 1 - 0x1p-30;
    for (int i = 0; i < 100; i++) {
        double left = low + (high - low) / 3, right = high - (high - low) / 3;
        if (laplace_sum_at(n, logarithm, left) <= laplace_sum_at(n, logarithm, right))
            high = right;
        else
            low = left;
    }
    return laplace_sum_at(n, logarithm, low + (high - low) / 2);
}

brume_status brume_direct_alpha(const brume_workload *workload, const brume_direct_options *options,
                                double beta, double *alpha, brume_error *error)
{
    brume_event event;
    BRUME_TRY(brume_direct_event(workload, options, &event, error));
    if (!(beta > 0 && beta < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'beta' is %g, must be in (0, 1)", beta);
    if (options->way == BRUME_DIRECT_QUERIES) {
        double noise;
        BRUME_TRY(brume_event_alpha(&event, beta, &noise, error));
        /* the floor of a dense query's sum is less than 1 below it */
        *alpha = brume_workload_whole(workload) ? noise : brume_add_up(noise, 1);
        return BRUME_OK;
    }
    /* A sum of at most `widest` noises with weights in [0, 1]; both tails of every query: beta */
    double widest = (double)brume_workload_widest(workload), spread = event.parameter[0];
    double queries = (double)brume_workload_size(workload);
    double logarithm = brume_log_up(brume_divide_up(2 * queries, beta));
    double bound, cell;
    if (options->rho > 0) /* sub-Gaussian with sigma each: sigma sqrt(2 w L) */
        bound = brume_sqrt_up(brume_multiply_up(2 * widest, logarithm));
    else
        bound = laplace_sum_upper(widest, logarithm);
    bound = brume_multiply_up(spread, bound);
    /* or: no cell is further off than this, and a query is off by that of its cells */
    BRUME_TRY(brume_event_alpha(&event, beta, &cell, error));
    bound = fmin(bound, brume_multiply_up(widest, cell));
    /* answers are sums of doubles: less than 2^-20 of the largest number that occurs */
    *alpha = brume_multiply_up(bound, 1 + 0x1p-20);
    return BRUME_OK;
}
