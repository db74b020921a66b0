/* When a private key may be shown: thresholds of the noisy number of units in it. */
#include "query/price/key_threshold.h"

#include <math.h>

#include "accountant/exact/delta_bounds.h"
#include "base/error.h"
#include "number/rounding.h"
#include "query/price/noise_tail.h"

static const uint64_t largest_m = UINT64_C(1) << 61;

/* A double not above m: beyond 2^53 not every integer is one. */
static double count_down(uint64_t m)
{
    return m > UINT64_C(1) << 53 ? brume_down((double)m) : (double)m;
}

/* 1 - (1-p)^n, rounded up. */
static double any_of_upper(double p_upper, double n)
{
    if (p_upper >= 1)
        return 1;
    return -brume_expm1_down(brume_multiply_down(n, brume_log1p_down(-p_upper)));
}

static brume_status no_threshold(brume_error *error)
{
    return brume_fail(error, BRUME_EOVERFLOW, "pay more, or allow a larger delta",
                      "no threshold of at most 2^61 units keeps private keys private");
}

/* Least m >= 1 for which any_of(tail(m), groups) <= delta: tails fall, so bisection finds it; what
 * is returned was evaluated. */
static brume_status least_threshold(brume_noise_tail_upper tail, double scale, uint64_t groups,
                                    double delta, uint64_t *m, double *delta_upper,
                                    brume_error *error)
{
    double n = (double)groups; /* at most 2^32: exact */
    uint64_t high = 1;
    while (high < largest_m && any_of_upper(tail(scale, count_down(high)), n) > delta)
        high *= 2;
    uint64_t low = high / 2; /* fails, or is 0 */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (any_of_upper(tail(scale, count_down(middle)), n) <= delta)
            high = middle;
        else
            low = middle;
    }
    double used = any_of_upper(tail(scale, count_down(high)), n);
    if (!(used <= delta))
        return no_threshold(error);
    *m = high;
    *delta_upper = used;
    return BRUME_OK;
}

double brume_key_shown_upper(brume_noise_tail_upper tail, double scale, uint64_t groups,
                             uint64_t threshold)
{
    if (threshold < 2)
        return 1; /* never made: m is at least 1 */
    return any_of_upper(tail(scale, count_down(threshold - 1)), (double)groups);
}

brume_status brume_key_threshold_laplace(double scale, uint64_t groups, double delta, uint64_t *m,
                                         double *delta_upper, brume_error *error)
{
    return least_threshold(brume_noise_tail_laplace_upper, scale, groups, delta, m, delta_upper,
                           error);
}

brume_status brume_key_threshold_discrete_gaussian(double sigma, uint64_t groups, double delta,
                                                   uint64_t *m, double *delta_upper,
                                                   brume_error *error)
{
    return least_threshold(brume_noise_tail_discrete_gaussian_upper, sigma, groups, delta, m,
                           delta_upper, error);
}

/* ---- rounded Gaussian ---- */

typedef struct gaussian_query {
    double groups, cell, stay, epsilon;
    int replace;
    double all_hidden_log; /* ln p rounded down: log of P[a new key stays hidden] */
} gaussian_query;

static double profile_upper(const gaussian_query *query, double squared_up, double shown)
{
    double mu = squared_up > 0 ? brume_sqrt_up(squared_up) : 0;
    /* the other side may have `shown` more keys of its own to hide: epsilon + shown ln p */
    double epsilon =
        brume_add_down(query->epsilon, brume_multiply_down(shown, query->all_hidden_log));
    return brume_profile_gaussian(mu, epsilon).upper;
}

/* P[one of j new keys shows], rounded up. */
static double shown_upper(const gaussian_query *query, double j)
{
    return -brume_expm1_down(brume_multiply_down(j, query->all_hidden_log));
}

/* Enough for every case: all that may go wrong, added up. */
static double coarse_upper(const gaussian_query *query)
{
    double cells = query->replace ? 2 * query->groups : query->groups;
    double squared = brume_multiply_up(cells, query->cell);
    if (query->replace) /* b stayed, 2(G-b) moved: linear in b, so its ends are the worst */
        squared = fmax(squared, brume_multiply_up(query->groups, query->stay));
    return brume_add_up(shown_upper(query, query->groups),
                        profile_upper(query, squared, query->groups));
}

static double add_remove_upper(const gaussian_query *query)
{
    double most = 0;
    for (double j = 0; j <= query->groups; j++) {
        double squared = brume_multiply_up(query->groups - j, query->cell);
        /* j new keys on this side (p^j <= 1, and epsilon - j ln p >= epsilon) */
        most = fmax(most, brume_add_up(shown_upper(query, j), profile_upper(query, squared, 0)));
        most = fmax(most, profile_upper(query, squared, j)); /* or on the other */
    }
    return most;
}

static double replace_upper(const gaussian_query *query)
{
    double most = 0;
    for (double b = 0; b <= query->groups; b++)
        for (double j = 0; j <= query->groups - b; j++)
            for (double k = 0; k <= query->groups - b; k++) {
                double moved = 2 * (query->groups - b) - j - k;
                double squared = brume_add_up(brume_multiply_up(moved, query->cell),
                                              brume_multiply_up(b, query->stay));
                double delta = brume_add_up(shown_upper(query, j),
                                            profile_upper(query, squared, fmax(0, k - j)));
                most = fmax(most, delta);
            }
    return most;
}

static double whole_query_upper(gaussian_query *query, double sigma, uint64_t m)
{
    enum { ADD_REMOVE_EXACT = 256, REPLACE_EXACT = 8 }; /* more cells: the coarse bound is close */
    /* m is at least 1, so that a tail is half at most */
    query->all_hidden_log =
        brume_log1p_down(-brume_noise_tail_rounded_gaussian_upper(sigma, count_down(m)));
    if (query->groups > (query->replace ? REPLACE_EXACT : ADD_REMOVE_EXACT))
        return coarse_upper(query);
    return query->replace ? replace_upper(query) : add_remove_upper(query);
}

brume_status brume_key_threshold_gaussian(double sigma, uint64_t groups, double cell, double stay,
                                          int replace, double epsilon, double delta, uint64_t *m,
                                          double *delta_upper, brume_error *error)
{
    gaussian_query query = {(double)groups, cell, stay, epsilon, replace, 0};
    uint64_t high = 1;
    while (high < largest_m && whole_query_upper(&query, sigma, high) > delta)
        high *= 2;
    uint64_t low = high / 2;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (whole_query_upper(&query, sigma, middle) <= delta)
            high = middle;
        else
            low = middle;
    }
    double used = whole_query_upper(&query, sigma, high);
    if (!(used <= delta))
        return no_threshold(error);
    *m = high;
    *delta_upper = used;
    return BRUME_OK;
}
