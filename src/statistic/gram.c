/* The Gram matrix: exact integer sums of products of clipped rows, and its least eigenvalue by
 * Jacobi's rotations in extended precision. */
#include "statistic/gram.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "number/rounding.h"

_Static_assert(LDBL_MANT_DIG >= 64, "the stated error of the eigenvalue needs 64 bits");

brume_status brume_gram_open(size_t columns, int64_t norm, brume_gram **out, brume_error *error)
{
    if (columns == 0 || columns > BRUME_GRAM_MOST_COLUMNS)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "%zu columns, must be in [1, %d]", columns,
                          BRUME_GRAM_MOST_COLUMNS);
    if (norm < 1 || norm > INT64_C(1) << 24)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'norm' must be in [1, 2^24] grid steps");
    brume_gram *gram = calloc(1, sizeof *gram);
    if (!gram)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory");
    gram->columns = columns;
    gram->norm = norm;
    *out = gram;
    return BRUME_OK;
}

/* The largest u with columns u^2 <= norm^2. */
static int64_t value_of_ones(size_t columns, int64_t norm)
{
    int64_t n = (int64_t)columns, u = (int64_t)((double)norm / sqrt((double)columns));
    while (n * u * u > norm * norm)
        u--;
    while (n * (u + 1) * (u + 1) <= norm * norm)
        u++;
    return u;
}

brume_status brume_gram_open_with_ones(size_t columns, int64_t norm, brume_gram **out,
                                       brume_error *error)
{
    brume_gram *gram = NULL;
    BRUME_TRY(brume_gram_open(columns, norm, &gram, error));
    gram->ones = value_of_ones(columns, norm);
    if (columns < 2 || gram->ones < 1) {
        brume_gram_close(gram);
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "a column of ones needs another beside it, and 'norm' at least the root "
                          "of their number");
    }
    *out = gram;
    return BRUME_OK;
}

void brume_gram_close(brume_gram *gram)
{
    if (gram)
        explicit_bzero(gram, sizeof *gram);
    free(gram);
}

static uint64_t square_norm(const int64_t *row, size_t columns)
{
    uint64_t sum = 0; /* 64 squares of at most 2^60 could overflow: rows are within 2^28 here */
    for (size_t i = 0; i < columns; i++)
        sum += (uint64_t)(row[i] * row[i]);
    return sum;
}

/* Into the ball of radius `norm`. Rounding towards zero shortens, so one scaling nearly always is
 * enough; shrinking by a factor again is the way out where the double was rounded up. */
static void clip(int64_t *row, size_t columns, int64_t norm)
{
    /* Into the box first: a vector longer than its box is scaled by less than the box needs. */
    int64_t largest = 0;
    for (size_t i = 0; i < columns; i++) {
        int64_t limit = INT64_C(1) << 30;
        row[i] = row[i] > limit ? limit : row[i] < -limit ? -limit : row[i];
        int64_t magnitude = row[i] < 0 ? -row[i] : row[i];
        largest = magnitude > largest ? magnitude : largest;
    }
    for (; largest > INT64_C(1) << 28; largest /= 8)
        for (size_t i = 0; i < columns; i++)
            row[i] /= 8; /* the direction stays, up to rounding; the norm is still 2^25 or more */
    uint64_t most = (uint64_t)norm * (uint64_t)norm;
    uint64_t square = square_norm(row, columns);
    double shrink = 1;
    while (square > most) {
        double factor = (double)norm / sqrt((double)square) * shrink;
        for (size_t i = 0; i < columns; i++)
            row[i] = (int64_t)((double)row[i] * factor);
        square = square_norm(row, columns);
        shrink = 1 - 0x1p-20;
    }
}

void brume_gram_add(brume_gram *gram, const int64_t *row)
{
    int64_t clipped[BRUME_GRAM_MOST_COLUMNS];
    size_t typed = gram->columns - (gram->ones > 0);
    memcpy(clipped, row, typed * sizeof *row);
    for (size_t i = 0; gram->ones > 0 && i < typed; i++)
        clipped[i] = row[i] > gram->ones ? gram->ones : row[i] < -gram->ones ? -gram->ones : row[i];
    if (gram->ones > 0) /* then it is in the ball: the sensitivities hold for such rows alone */
        clipped[typed] = gram->ones;
    clip(clipped, gram->columns, gram->norm);
    size_t entry = 0;
    for (size_t i = 0; i < gram->columns; i++)
        for (size_t j = i; j < gram->columns; j++)
            gram->entry[entry++] += clipped[i] * clipped[j]; /* magnitude <= norm^2 <= 2^48 */
}

size_t brume_gram_size(const brume_gram *gram)
{
    return gram->columns * (gram->columns + 1) / 2;
}

int64_t brume_gram_entry(const brume_gram *gram, size_t i)
{
    const gram_sum most = (gram_sum)1 << 62;
    gram_sum entry = gram->entry[i];
    return (int64_t)(entry > most ? most : entry < -most ? -most : entry);
}

static brume_status check_adjacency(brume_adjacency adjacency, brume_error *error)
{
    if (adjacency == BRUME_ADD_REMOVE || adjacency == BRUME_REPLACE)
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, "use add-remove or replace",
                      "a Gram matrix is not defined under this 'adjacency'");
}

brume_status brume_gram_sensitivity_l1_upper(const brume_gram *gram, brume_adjacency adjacency,
                                             double *out, brume_error *error)
{
    BRUME_TRY(check_adjacency(adjacency, error));
    double square = (double)(gram->norm * gram->norm); /* <= 2^48: exact, and so is all below */
    double one = square * (double)(gram->columns + 1) / 2;
    if (adjacency == BRUME_REPLACE && gram->ones > 0) {
        /* c (c+2)^2 u^2 / (2 (c+1)); up, the whole part of it and one more (below 2^60) */
        gram_sum u = gram->ones, c = (gram_sum)gram->columns - 1;
        *out = brume_up((double)(int64_t)(u * u * c * (c + 2) * (c + 2) / (2 * (c + 1)) + 1));
        return BRUME_OK;
    }
    *out = adjacency == BRUME_REPLACE && gram->columns > 1 ? 2 * one : one;
    return BRUME_OK;
}

brume_status brume_gram_sensitivity_l2_upper(const brume_gram *gram, brume_adjacency adjacency,
                                             double *out, brume_error *error)
{
    BRUME_TRY(check_adjacency(adjacency, error));
    double square = (double)(gram->norm * gram->norm);
    /* The factor is above sqrt(2) = 1.41421356237309504..., and the product rounds to nearest. */
    const double root_two_upper = 0x1.6a09e667f3bcep+0;
    if (adjacency == BRUME_REPLACE && gram->ones > 0) {
        *out = (double)((int64_t)gram->columns * gram->ones * gram->ones); /* <= norm^2: exact */
        return BRUME_OK;
    }
    *out = adjacency == BRUME_REPLACE && gram->columns > 1 ? square * root_two_upper : square;
    return BRUME_OK;
}

void brume_gram_matrix(const brume_gram *gram, long double *matrix)
{
    size_t d = gram->columns, entry = 0;
    long double unit = (long double)gram->norm * (long double)gram->norm;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++, entry++)
            matrix[i * d + j] = matrix[j * d + i] = (long double)gram->entry[entry] / unit;
}

/* One rotation that zeroes matrix[p][q]. */
static void rotate(long double *matrix, size_t d, size_t p, size_t q)
{
    long double off = matrix[p * d + q];
    if (off == 0)
        return;
    long double theta = (matrix[q * d + q] - matrix[p * d + p]) / (2 * off);
    long double tangent = (theta < 0 ? -1 : 1) / (fabsl(theta) + sqrtl(theta * theta + 1));
    long double cosine = 1 / sqrtl(tangent * tangent + 1), sine = tangent * cosine;
    for (size_t k = 0; k < d; k++) {
        long double a = matrix[k * d + p], b = matrix[k * d + q];
        matrix[k * d + p] = cosine * a - sine * b;
        matrix[k * d + q] = sine * a + cosine * b;
    }
    for (size_t k = 0; k < d; k++) {
        long double a = matrix[p * d + k], b = matrix[q * d + k];
        matrix[p * d + k] = cosine * a - sine * b;
        matrix[q * d + k] = sine * a + cosine * b;
    }
}

brume_status brume_gram_least_eigenvalue(const brume_gram *gram, double *out, brume_error *error)
{
    size_t d = gram->columns;
    long double *matrix = calloc(d * d, sizeof *matrix);
    if (!matrix)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory");
    brume_gram_matrix(gram, matrix);
    /* A fixed number of sweeps: Jacobi's method converges quadratically, and its backward error is
     * a small multiple of 2^-64 times the norm, at most the number of rows; after 30 sweeps nothing
     * is left off the diagonal but that. */
    for (int sweep = 0; sweep < 30; sweep++)
        for (size_t p = 0; p + 1 < d; p++)
            for (size_t q = p + 1; q < d; q++)
                rotate(matrix, d, p, q);
    long double least = matrix[0];
    for (size_t i = 1; i < d; i++)
        least = matrix[i * d + i] < least ? matrix[i * d + i] : least;
    free(matrix);
    *out = (double)least;
    return BRUME_OK;
}
