/* count, sum, mean, variance and reciprocal of a column, with Laplace noise on exact integers. */
#include "query/statistic/release.h"

#include <stdlib.h>

#include <brume/mechanism/stability.h>
#include <brume/statistic/reciprocal.h>
#include <brume/statistic/tested.h>

#include "number/rounding.h"
#include "query/price/error_bar.h"

__extension__ typedef __int128 wide;

static int64_t clamp_sum(wide sum)
{
    const wide most = (wide)1 << 61;
    return (int64_t)(sum > most ? most : sum < -most ? -most : sum);
}

/* Rows, or rows whose --column is not missing. */
static brume_status count_rows(const brume_release *release, uint64_t *out, brume_error *error)
{
    size_t index = SIZE_MAX, length;
    if (release->words->column)
        BRUME_TRY(brume_release_find(release, NULL, &index, error));
    uint64_t count = 0;
    for (;;) {
        bool more;
        BRUME_TRY(brume_csv_next(release->csv, &more, error));
        if (!more)
            break;
        const char *field = index == SIZE_MAX ? "" : brume_csv_field(release->csv, index, &length);
        count += index == SIZE_MAX || (field && length > 0);
    }
    *out = count;
    return BRUME_OK;
}

brume_status brume_release_count(brume_release *release, brume_error *error)
{
    uint64_t count;
    int64_t noisy;
    BRUME_TRY(brume_release_method(release, NULL, error));
    if (brume_release_is(release, "randomized-response"))
        return brume_release_local(release, error);
    BRUME_TRY(count_rows(release, &count, error));
    BRUME_TRY(brume_release_noisy(release, (int64_t)count, 1, release->epsilon, &noisy,
                                  &release->error_95, error));
    release->value = json_integer(noisy > 0 ? noisy : 0);
    return BRUME_OK;
}

brume_status brume_release_sum(brume_release *release, brume_error *error)
{
    brume_grid_column column;
    BRUME_TRY(brume_release_method(release, NULL, error));
    BRUME_TRY(brume_release_column(release, NULL, 32, true, &column, error));
    wide sum = 0;
    for (size_t i = 0; i < column.count; i++)
        sum += column.values[i];
    brume_release_column_free(&column);
    double magnitude = fmax(fabs((double)column.low), fabs((double)column.high));
    double sensitivity = release->adjacency == BRUME_REPLACE ? (double)(column.high - column.low)
                                                             : magnitude;
    int64_t noisy;
    double width;
    BRUME_TRY(brume_release_noisy(release, clamp_sum(sum), sensitivity, release->epsilon, &noisy,
                                  &width, error));
    release->value = brume_json_real(brume_release_number(&column, (double)noisy));
    release->error_95 = width * column.step;
    return BRUME_OK;
}

/* Centred moments with noise: what mean and variance are made of. */
typedef struct moments {
    brume_noisy_moments noisy;
    double centre, step, anchor;
    bool size_public;
} moments;

double brume_release_moments_share_up(int64_t range, int64_t reach)
{
    double half = brume_divide_up((double)reach, 2 * (double)range);
    double one = brume_add_up(1, half);
    return fmin(2, brume_multiply_up(one, one));
}

static brume_status measure(brume_release *release, bool squares, moments *out, brume_error *error)
{
    brume_grid_column column;
    BRUME_TRY(brume_release_column(release, NULL, squares ? 20 : 32, false, &column, error));
    if (squares && column.high > INT64_C(1) << 31) {
        brume_release_column_free(&column);
        return brume_fail(error, BRUME_EARGUMENT, "use a larger step",
                          "'--step' makes more than 2^31 steps, too many for squares");
    }
    int64_t centre = column.high / 2; /* low is 0 */
    int64_t reach = column.high - centre;
    int64_t half = (int64_t)((wide)reach * reach / 2);
    wide sum = 0, square = 0;
    for (size_t i = 0; i < column.count; i++) {
        int64_t x = column.values[i] - centre;
        sum += x;
        square += (wide)x * x - half;
    }
    uint64_t count = column.count;
    brume_release_column_free(&column);
    bool size_public = release->adjacency == BRUME_REPLACE;
    double parts = size_public ? squares ? brume_release_moments_share_up(column.high, reach) : 1
                   : squares   ? 3
                               : 2;
    double epsilon = brume_release_part(release, parts), width;
    /* Sensitivities: one more or less moves the count by 1, the sum by the reach, the squares less
     * half the largest by half the largest; a change moves the sum by the whole range, the squares
     * by the largest. proofs/query-price.md */
    double sum_change = size_public ? (double)column.high : (double)reach;
    double square_change = size_public ? (double)((wide)reach * reach)
                                       : (double)((wide)reach * reach - half);
    int64_t noisy_count = (int64_t)count, noisy_sum, noisy_square = 0;
    if (!size_public)
        BRUME_TRY(
            brume_release_noisy(release, (int64_t)count, 1, epsilon, &noisy_count, &width, error));
    BRUME_TRY(brume_release_noisy(release, clamp_sum(sum), sum_change, epsilon, &noisy_sum, &width,
                                  error));
    if (squares)
        BRUME_TRY(brume_release_noisy(release, clamp_sum(square), square_change, epsilon,
                                      &noisy_square, &width, error));
    *out = (moments){
        .noisy = {.count = (double)noisy_count,
                  .sum = (double)noisy_sum,
                  .squares = (double)noisy_square,
                  .count_scale = size_public ? 0 : brume_up(brume_divide_up(1, epsilon)),
                  .sum_scale = brume_up(brume_divide_up(sum_change, epsilon)),
                  .squares_scale = brume_up(brume_divide_up(square_change, epsilon)),
                  .low = -(double)centre,
                  .high = (double)reach,
                  .half_square = (double)half},
        .centre = (double)centre,
        .step = column.step,
        .anchor = column.anchor,
        .size_public = size_public,
    };
    return BRUME_OK;
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

brume_status brume_release_mean(brume_release *release, brume_error *error)
{
    moments m;
    BRUME_TRY(brume_release_method(release, NULL, error));
    BRUME_TRY(measure(release, false, &m, error));
    if (m.noisy.count < 1) /* nothing left after noise: no mean */
        return BRUME_OK;
    double mean = clamp(m.noisy.sum / m.noisy.count, m.noisy.low, m.noisy.high);
    release->value = brume_json_real(m.anchor + m.step * (m.centre + mean));
    if (m.size_public) {
        release->error_95 =
            brume_error_width(BRUME_NOISE_DISCRETE_LAPLACE, m.noisy.sum_scale, .05) /
                m.noisy.count * m.step +
            m.step / 2;
    } else {
        brume_interval interval = brume_error_mean(BRUME_NOISE_DISCRETE_LAPLACE, &m.noisy, .05);
        release->error_95 = m.step * (fmax(mean - interval.lower, interval.upper - mean) + .5);
    }
    return BRUME_OK;
}

brume_status brume_release_variance(brume_release *release, brume_error *error)
{
    moments m;
    BRUME_TRY(brume_release_method(release, NULL, error));
    BRUME_TRY(measure(release, true, &m, error));
    if (m.noisy.count < 1)
        return BRUME_OK;
    double range = m.noisy.high - m.noisy.low;
    double mean = clamp(m.noisy.sum / m.noisy.count, m.noisy.low, m.noisy.high);
    double variance = clamp(m.noisy.half_square + m.noisy.squares / m.noisy.count - mean * mean, 0,
                            range * range / 4);
    release->value = brume_json_real(m.step * m.step * variance);
    if (!m.size_public) {
        brume_interval interval = brume_error_variance(BRUME_NOISE_DISCRETE_LAPLACE, &m.noisy, .05);
        release->error_95 =
            m.step * m.step *
            (fmax(variance - interval.lower, interval.upper - variance) + range / 2);
    }
    return BRUME_OK;
}

brume_status brume_release_reciprocal(brume_release *release, brume_error *error)
{
    uint64_t count;
    BRUME_TRY(brume_release_method(release, NULL, error));
    if (brume_release_is(release, "ptr"))
        BRUME_TRY(brume_release_need_delta(release, error));
    BRUME_TRY(count_rows(release, &count, error));
    int64_t noisy;
    double width;
    if (brume_release_is(release, "count")) {
        /* The count with noise, then its reciprocal: post-processing. */
        BRUME_TRY(brume_release_noisy(release, (int64_t)count, 1, release->epsilon, &noisy, &width,
                                      error));
        double answer = 1 / fmax(1, (double)noisy);
        release->value = brume_json_real(answer);
        double low = 1 / fmax(1, (double)noisy + width), high = 1 / fmax(1, (double)noisy - width);
        release->error_95 = fmax(answer - low, high - answer);
        return BRUME_OK;
    }
    double bound = brume_typed_or(release->words->beta, 0);
    if (brume_release_is(release, "global")) {
        uint64_t least = (release->words->least > 0 ? release->words->least : 1);
        double change = brume_divide_up(1, (double)least * (double)(least + 1));
        double step = ldexp(1, ilogb(change) - 20);
        int64_t value = (int64_t)floor(1 / (double)(count > least ? count : least) / step);
        /* Floors of numbers d steps apart differ by at most ceil(d). */
        BRUME_TRY(brume_release_noisy(release, value, ceil(brume_divide_up(change, step)),
                                      release->epsilon, &noisy, &width, error));
        release->value = brume_json_real((double)noisy * step);
        release->error_95 = (width + 1) * step;
        return BRUME_OK;
    }
    if (!(bound >= 1e-12 && bound <= 1))
        return brume_fail(error, BRUME_EARGUMENT, "propose how much one row may change 1/count",
                          "reciprocal by ptr needs '--beta' in [1e-12, 1]");
    brume_tested_count counted = {count, ldexp(1, ilogb(bound) - 20)};
    brume_tested tested = brume_tested_reciprocal(&counted);
    double test = brume_typed_or(release->words->epsilon_test, release->epsilon / 2);
    brume_proposal proposal = {
        .epsilon_test = test,
        .epsilon_release = brume_subtract_down(release->epsilon, test),
        .delta = release->delta,
        .bound = (uint64_t)ceil(bound / counted.step)}; /* the step is a power of two */
    uint64_t threshold = 0;
    BRUME_TRY(brume_stability_threshold(test, release->delta, &threshold, &width, error));
    brume_release_tell(release, "threshold", json_integer((json_int_t)threshold));
    BRUME_TRY(brume_propose_test_release(&proposal, &tested, release->bits, &release->released,
                                         &noisy, error));
    release->cost_delta = release->delta;
    if (release->released) {
        double scale = brume_divide_up((double)proposal.bound, proposal.epsilon_release);
        release->value = brume_json_real((double)noisy * counted.step);
        release->error_95 = counted.step *
                            (1 + brume_error_width(BRUME_NOISE_DISCRETE_LAPLACE, scale, .05));
    }
    return BRUME_OK;
}

/* One row less moves 1/f most; near f = 1 that is unbounded, so that no smooth bound is finite. */
brume_status brume_look_reciprocal(const brume_release *input, brume_look *look, brume_error *error)
{
    uint64_t count;
    if (input->adjacency == BRUME_REPLACE && !input->words->column)
        return brume_fail(error, BRUME_EARGUMENT, "name a column: rows with a value are counted",
                          "under replace the number of rows does not change");
    BRUME_TRY(count_rows(input, &count, error));
    look->found = (brume_instability){.local = count > 1 ? 1 / ((double)count * (double)(count - 1))
                                                         : INFINITY,
                                      .smooth = INFINITY,
                                      .local_exact = true,
                                      .smooth_exact = true};
    look->value = count > 0 ? brume_json_real(1 / (double)count) : NULL;
    if (look->beta > 0)
        BRUME_TRY(brume_reciprocal_distance(count, look->beta, &look->found.distance, error));
    return BRUME_OK;
}
