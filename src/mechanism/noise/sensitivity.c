/* Global sensitivities. Promises: for the stated adjacency no pair of neighbours is further apart
 * than the numbers say, and the documented ones are attained up to the last rounding, which goes
 * up. proofs/sensitivity.md. */
#include <brume/mechanism/sensitivity.h>

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "number/rounding.h"

static brume_status check_adjacency(brume_adjacency adjacency, const char *query,
                                    brume_error *error)
{
    if (adjacency == BRUME_ADD_REMOVE || adjacency == BRUME_REPLACE)
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, "use add-remove or replace",
                      "the %s is not defined under this adjacency", query);
}

static brume_status check_bounds(double lower, double upper, brume_error *error)
{
    if (isfinite(lower) && isfinite(upper) && lower <= upper)
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, "clamp the values to finite bounds first",
                      "the bounds are %.17g and %.17g, must be finite and in order", lower, upper);
}

static brume_status check_rows(double length, uint64_t dimension, brume_error *error)
{
    if (!(length > 0) || isinf(length))
        return brume_fail(error, BRUME_EARGUMENT, "shrink longer rows first",
                          "'length' is %.17g, must be a finite number above 0", length);
    if (dimension < 1 || dimension > (uint64_t)1 << 53)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'dimension' must be in [1, 2^53]");
    return BRUME_OK;
}

/* A number that moves by `change`: both norms are its size. */
static void scalar(double change, brume_sensitivity *out)
{
    *out = (brume_sensitivity){change, change};
}

brume_status brume_sensitivity_histogram(brume_adjacency adjacency, brume_sensitivity *out,
                                         brume_error *error)
{
    BRUME_TRY(check_adjacency(adjacency, "histogram", error));
    if (adjacency == BRUME_ADD_REMOVE)
        scalar(1, out);
    else
        *out = (brume_sensitivity){2, brume_sqrt_up(2)}; /* one cell loses, another gains */
    return BRUME_OK;
}

brume_status brume_sensitivity_votes(brume_adjacency adjacency, brume_ballot ballot,
                                     uint64_t candidates, uint64_t votes, brume_sensitivity *out,
                                     brume_error *error)
{
    BRUME_TRY(check_adjacency(adjacency, "vote", error));
    const uint64_t most = (uint64_t)1 << 51; /* doubles of it stay exact */
    bool stacked = ballot == BRUME_BALLOT_STACKED;
    if (!stacked && ballot != BRUME_BALLOT_AT_MOST && ballot != BRUME_BALLOT_EXACTLY)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no such kind of ballot");
    if (votes < 1 || candidates < 1 || votes > most || candidates > most ||
        (!stacked && votes > candidates))
        return brume_fail(error, BRUME_EARGUMENT,
                          "at least one vote, and no more different ones than candidates",
                          "the numbers of votes and candidates do not fit together");
    double k = (double)votes, m = (double)candidates;
    if (stacked && adjacency == BRUME_REPLACE && candidates == 1) {
        scalar(0, out); /* all votes go to the only candidate, before and after */
        return BRUME_OK;
    }
    if (stacked) {
        *out = adjacency == BRUME_ADD_REMOVE
                   ? (brume_sensitivity){k, k}
                   : (brume_sensitivity){2 * k, brume_multiply_up(k, brume_sqrt_up(2))};
        return BRUME_OK;
    }
    /* so many candidates change by one vote each */
    double changes = k;
    if (adjacency == BRUME_REPLACE && ballot == BRUME_BALLOT_AT_MOST)
        changes = fmin(2 * k, m);
    if (adjacency == BRUME_REPLACE && ballot == BRUME_BALLOT_EXACTLY)
        changes = 2 * fmin(k, m - k);
    *out = (brume_sensitivity){changes, brume_sqrt_up(changes)};
    return BRUME_OK;
}

brume_status brume_sensitivity_sum(brume_adjacency adjacency, double lower, double upper,
                                   brume_sensitivity *out, brume_error *error)
{
    BRUME_TRY(check_adjacency(adjacency, "sum", error));
    BRUME_TRY(check_bounds(lower, upper, error));
    if (adjacency == BRUME_ADD_REMOVE)
        scalar(fmax(fabs(lower), fabs(upper)), out);
    else
        scalar(brume_subtract_up(upper, lower), out);
    return BRUME_OK;
}

brume_status brume_sensitivity_mean(brume_adjacency adjacency, double lower, double upper,
                                    uint64_t n, brume_sensitivity *out, brume_error *error)
{
    if (adjacency != BRUME_REPLACE)
        return brume_fail(error, BRUME_EARGUMENT,
                          "release a noisy sum and a noisy count instead, or state that the number "
                          "of records is public (replace)",
                          "the mean is not defined under this adjacency");
    BRUME_TRY(check_bounds(lower, upper, error));
    if (n < 1 || n > (uint64_t)1 << 53)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'n' must be in [1, 2^53]");
    scalar(brume_divide_up(brume_subtract_up(upper, lower), (double)n), out);
    return BRUME_OK;
}

brume_status brume_sensitivity_quantile(brume_adjacency adjacency, double lower, double upper,
                                        brume_sensitivity *out, brume_error *error)
{
    BRUME_TRY(check_adjacency(adjacency, "quantile", error));
    BRUME_TRY(check_bounds(lower, upper, error));
    scalar(brume_subtract_up(upper, lower), out);
    return BRUME_OK;
}

brume_status brume_sensitivity_gram(brume_adjacency adjacency, double length, uint64_t dimension,
                                    brume_sensitivity *out, brume_error *error)
{
    BRUME_TRY(check_adjacency(adjacency, "Gram matrix", error));
    BRUME_TRY(check_rows(length, dimension, error));
    double square = brume_multiply_up(length, length);
    /* sum |x_i x_j| = (sum |x_i|)^2 <= d B^2 */
    double sum = brume_multiply_up((double)dimension, square);
    if (adjacency == BRUME_ADD_REMOVE || dimension == 1)
        *out = (brume_sensitivity){sum, square};
    else /* |xx'-yy'|^2 = |x|^4 + |y|^4 - 2 (x.y)^2 <= 2 B^4 */
        *out = (brume_sensitivity){2 * sum, brume_multiply_up(brume_sqrt_up(2), square)};
    return BRUME_OK;
}

brume_status brume_sensitivity_gram_triangle(brume_adjacency adjacency, double length,
                                             uint64_t dimension, brume_sensitivity *out,
                                             brume_error *error)
{
    BRUME_TRY(check_adjacency(adjacency, "Gram matrix", error));
    BRUME_TRY(check_rows(length, dimension, error));
    double square = brume_multiply_up(length, length);
    /* sum over i <= j of |x_i x_j| = (|x|_2^2 + |x|_1^2)/2 <= (d+1) B^2/2 */
    double sum = brume_multiply_up(brume_add_up((double)dimension, 1) / 2, square);
    if (adjacency == BRUME_ADD_REMOVE || dimension == 1)
        *out = (brume_sensitivity){sum, square};
    else /* no more than the whole matrix */
        *out = (brume_sensitivity){2 * sum, brume_multiply_up(brume_sqrt_up(2), square)};
    return BRUME_OK;
}

brume_status brume_sensitivity_scatter(brume_adjacency adjacency, double length, uint64_t dimension,
                                       uint64_t n, brume_sensitivity *out, brume_error *error)
{
    BRUME_TRY(check_adjacency(adjacency, "scatter matrix", error));
    BRUME_TRY(check_rows(length, dimension, error));
    double frobenius = 4 * brume_multiply_up(length, length);
    if (adjacency == BRUME_REPLACE) {
        if (n < 1 || n > (uint64_t)1 << 53)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "'n' must be in [1, 2^53]");
        frobenius = brume_multiply_up(frobenius, brume_divide_up((double)(n - 1), (double)n));
    }
    /* d^2 entries: the sum of sizes is at most d times the Frobenius norm */
    *out = (brume_sensitivity){brume_multiply_up((double)dimension, frobenius), frobenius};
    return BRUME_OK;
}

brume_status brume_sensitivity_triangles(brume_adjacency adjacency, uint64_t vertices,
                                         brume_sensitivity *out, brume_error *error)
{
    if (adjacency != BRUME_EDGE)
        return brume_fail(error, BRUME_EARGUMENT, "use edge",
                          "the number of triangles is not defined under this adjacency");
    if (vertices < 2 || vertices > (uint64_t)1 << 53)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'vertices' must be in [2, 2^53]");
    scalar((double)(vertices - 2), out);
    return BRUME_OK;
}
