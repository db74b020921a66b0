/* The path of a release of one statistic: which statistic and method is meant, whether what was
 * typed applies to it, its price, the rows, the answer. Promises: statistic.h; and an option that
 * does not apply is an error that names it and what it applies to. */
#include "query/statistic/release.h"

#include <stdlib.h>
#include <string.h>

#include <brume/account/filter.h>
#include <brume/mechanism/stability.h>
#include <brume/noise/laplace.h>
#include <brume/statistic/reciprocal.h>
#include <brume/statistic/tested.h>

#include "ledger/ledger.h"
#include "number/decimal.h"
#include "number/rounding.h"
#include "query/collect/unit_rows.h"
#include "query/price/error_bar.h"
#include "query/release/charged.h"

/* The input of `brume release`: columns, bounds, grids, methods, and plain noise.
 *
 * Promises: nothing here fails because of a row. What is refused is refused by the words typed and
 * by the names of the columns. */

bool brume_release_is(const brume_release *release, const char *method)
{
    return strcmp(release->method, method) == 0;
}

brume_status brume_release_need_delta(const brume_release *release, brume_error *error)
{
    if (release->delta > 0 && release->delta < .5)
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, "for example --delta 1e-6",
                      "%s by the method '%s' needs '--delta' in (0, 1/2)", release->statistic,
                      release->method);
}

double brume_release_part(const brume_release *release, double n)
{
    return brume_divide_down(release->epsilon, n);
}

brume_status brume_release_find(const brume_release *release, const char *name, size_t *column,
                                brume_error *error)
{
    if (!name)
        name = release->words->column;
    if (!name)
        return brume_fail(error, BRUME_EARGUMENT, "for example --column age", "%s needs '--column'",
                          release->statistic);
    return brume_csv_find(release->csv, name, column, error);
}

/* LO..HI */
static brume_status read_bounds(const char *text, double *lower, double *upper, brume_error *error)
{
    const char *dots = strstr(text, "..");
    char low[64];
    if (!dots || (size_t)(dots - text) >= sizeof low)
        return brume_fail(error, BRUME_EARGUMENT, "for example --bounds 0..100",
                          "'--bounds %s' is not LO..HI", text);
    memcpy(low, text, (size_t)(dots - text));
    low[dots - text] = 0;
    BRUME_TRY(brume_read_real(low, "the lower bound", lower, error));
    BRUME_TRY(brume_read_real(dots + 2, "the upper bound", upper, error));
    if (!(*lower <= *upper))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'--bounds %s': the lower is above the upper", text);
    if (!(fabs(*lower) <= 1e300 && fabs(*upper) <= 1e300))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--bounds %s' is beyond 1e300", text);
    return BRUME_OK;
}

/* How many decimals a number is typed with, up to `end`: 3 for 0.125, 12.500 and 1.5e-2. */
static int decimals_of(const char *text, const char *end)
{
    const char *point = memchr(text, '.', (size_t)(end - text)), *at = point ? point + 1 : end;
    int decimals = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        decimals++;
    for (at = text; at < end && *at != 'e' && *at != 'E'; at++)
        ;
    decimals -= at < end ? atoi(at + 1) : 0;
    return decimals > 0 ? decimals : 0;
}

double brume_release_round(double number, int decimals)
{
    double power = pow(10, decimals);
    /* a double of 2^52 powers or more has no such decimals */
    return decimals < 0 || !(fabs(number) * power < 0x1p52) ? number
                                                            : round(number * power) / power;
}

/* What the owner registered for the column, as LO..HI; false where there is none. */
static bool registered_bounds(const brume_release *release, const char *name, char *text,
                              size_t size)
{
    const json_t *columns = json_object_get(release->policy, "columns");
    for (size_t i = 0; name && i < json_array_size(columns); i++) {
        const json_t *column = json_array_get(columns, i);
        const char *low = json_string_value(json_object_get(column, "low"));
        const char *high = json_string_value(json_object_get(column, "high"));
        if (low && high && strcmp(json_string_value(json_object_get(column, "name")), name) == 0)
            return snprintf(text, size, "%s..%s", low, high) < (int)size;
    }
    return false;
}

brume_status brume_release_bounds(const brume_release *release, const char *name, double *lower,
                                  double *upper, int *decimals, brume_error *error)
{
    const char *typed = NULL;
    size_t length = name ? strlen(name) : 0;
    for (size_t i = 0; i < release->words->bound_count; i++) {
        const char *text = release->words->bounds[i];
        if (name && strncmp(text, name, length) == 0 && text[length] == '=') {
            typed = text + length + 1;
            break;
        }
        if (!strchr(text, '='))
            typed = text;
    }
    char registered[128];
    if (!typed && registered_bounds(release, name, registered, sizeof registered))
        typed = registered;
    if (typed) {
        BRUME_TRY(read_bounds(typed, lower, upper, error));
        const char *dots = strstr(typed, "..");
        int low = decimals_of(typed, dots), high = decimals_of(dots + 2, dots + strlen(dots));
        *decimals = low > high ? low : high;
        if (!release->words->from_file)
            *decimals = -1;
        return BRUME_OK;
    }
    return brume_fail(error, BRUME_EARGUMENT, "bounds must be known without looking at the data",
                      "%s needs '--bounds LO..HI'", release->statistic);
}

/* The grid: a function of the words typed. */
static brume_status make_grid(const brume_release *release, int resolution, bool from_zero,
                              brume_grid_column *column, brume_error *error)
{
    double range = column->upper - column->lower;
    double reach = from_zero ? fmax(fabs(column->lower), fabs(column->upper)) : range;
    double step = brume_typed_or(release->words->step, 0);
    if (step == 0) {
        /* The least power of two with at most 2^resolution steps. */
        int exponent;
        double mantissa = frexp(reach, &exponent);
        step = reach > 0 ? ldexp(1, exponent - resolution - (mantissa == 0.5)) : 1;
        if (step < 1e-300)
            step = 1e-300;
    }
    column->step = step;
    column->anchor = from_zero ? 0 : column->lower;
    double low = floor((column->lower - column->anchor) / step);
    double high = ceil((column->upper - column->anchor) / step);
    if (!(fabs(low) <= 0x1p40 && fabs(high) <= 0x1p40))
        return brume_fail(error, BRUME_EARGUMENT, "use a larger step",
                          "'--step' is %.17g: more than 2^40 steps to the bounds", step);
    column->low = (int64_t)low;
    column->high = (int64_t)high;
    return BRUME_OK;
}

static int64_t to_grid(const brume_grid_column *column, double number)
{
    number = brume_release_round(number, column->decimals);
    number = number < column->lower ? column->lower : number;
    number = number > column->upper ? column->upper : number;
    int64_t steps = (int64_t)llrint((number - column->anchor) / column->step);
    return steps < column->low ? column->low : steps > column->high ? column->high : steps;
}

brume_status brume_release_column(const brume_release *release, const char *name, int resolution,
                                  bool from_zero, brume_grid_column *out, brume_error *error)
{
    size_t index, room = 0;
    brume_grid_column column = {0};
    if (!name)
        name = release->words->column;
    BRUME_TRY(brume_release_find(release, name, &index, error));
    BRUME_TRY(
        brume_release_bounds(release, name, &column.lower, &column.upper, &column.decimals, error));
    BRUME_TRY(make_grid(release, resolution, from_zero, &column, error));
    for (;;) {
        bool more;
        double number = column.lower;
        brume_status status = brume_csv_next(release->csv, &more, error);
        if (status == BRUME_OK && more && column.count == room) {
            room = room ? 2 * room : 4096;
            int64_t *values = realloc(column.values, room * sizeof *values);
            if (values)
                column.values = values;
            else
                status = brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu values", room);
        }
        if (status != BRUME_OK) {
            brume_release_column_free(&column);
            return status;
        }
        if (!more)
            break;
        if (brume_csv_number(release->csv, index, &number) || release->adjacency == BRUME_REPLACE)
            column.values[column.count++] = to_grid(&column, number);
    }
    *out = column;
    return BRUME_OK;
}

void brume_release_column_free(brume_grid_column *column)
{
    if (column->values)
        explicit_bzero(column->values, column->count * sizeof *column->values);
    free(column->values);
    column->values = NULL;
}

double brume_release_number(const brume_grid_column *column, double steps)
{
    return column->anchor + column->step * steps;
}

brume_status brume_release_noisy(brume_release *release, int64_t value, double sensitivity,
                                 double epsilon, int64_t *out, double *width, brume_error *error)
{
    if (sensitivity == 0) { /* the statistic is constant */
        *out = value;
        *width = 0;
        return BRUME_OK;
    }
    double scale;
    BRUME_TRY(brume_laplace_scale(sensitivity, epsilon, &scale, error));
    BRUME_TRY(brume_discrete_laplace_add(release->bits, brume_up(scale), &value, out, 1, error));
    /* Least w with P[|X| > w] = 2 a^(w+1)/(1+a) <= 1/20. */
    double needed = scale * log(40 / (1 + exp(-1 / scale))) - 1;
    *width = needed > 0 ? ceil(needed * (1 + 0x1p-40)) : 0;
    return BRUME_OK;
}

/* count, sum, mean, variance and reciprocal of a column, with Laplace noise on exact integers. */

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

/* The statistics, one group a file. */
static brume_status release_count(brume_release *release, brume_error *error)
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

static brume_status release_sum(brume_release *release, brume_error *error)
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

static brume_status release_mean(brume_release *release, brume_error *error)
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

static brume_status release_variance(brume_release *release, brume_error *error)
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

static brume_status release_reciprocal(brume_release *release, brume_error *error)
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
static brume_status look_reciprocal(const brume_release *input, brume_look *look,
                                    brume_error *error)
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

typedef brume_status (*statistic_run)(brume_release *release, brume_error *error);

static const struct {
    const char *name;
    statistic_run run;
    unsigned adjacencies;
} statistics[] = {
    {"count", release_count, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"sum", release_sum, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"mean", release_mean, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"variance", release_variance, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"quantile", brume_release_quantile, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"median", brume_release_quantile, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"iqr", brume_release_interquartile, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"mode", brume_release_keys, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"histogram", brume_release_keys, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"top-k", brume_release_keys, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"reciprocal", release_reciprocal, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"triangles", brume_release_triangles, BRUME_EDGE},
    {"gram", brume_release_gram, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"covariance", brume_release_covariance, BRUME_ADD_REMOVE | BRUME_REPLACE},
    {"regression", brume_release_regression, BRUME_ADD_REMOVE | BRUME_REPLACE},
};

enum { STATISTICS = sizeof statistics / sizeof *statistics };

static size_t statistic_by_name(const char *name)
{
    size_t which = 0;
    while (which < STATISTICS && strcmp(statistics[which].name, name) != 0)
        which++;
    return which;
}

/* ---- which method, and what applies to it ---- */

static const struct {
    const char *statistic, *method, *options;
} methods[] = {
#define BRUME_RELEASE(statistic, method, options) {statistic, method, options},
#include "query/statistic/methods.def"
#undef BRUME_RELEASE
};

enum { METHODS = sizeof methods / sizeof *methods };

/* Is `word` one of the words of a list with spaces between them? */
static bool lists(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t here = strcspn(at, " ");
        if (here == length && strncmp(at, word, length) == 0)
            return true;
        at += here;
    }
    return false;
}

static size_t method_of(const char *statistic, const char *method)
{
    for (size_t i = 0; i < METHODS; i++)
        if (strcmp(methods[i].statistic, statistic) == 0 &&
            (!method || strcmp(methods[i].method, method) == 0))
            return i;
    return METHODS;
}

static void add_words(char *all, size_t size, const char *separator, const char *words)
{
    size_t used = strlen(all);
    snprintf(all + used, size - used, "%s%s", used ? separator : "", words);
}

/* Where an option applies, statistic by statistic: "median (smooth, ptr); sum". */
static void where_it_applies(const char *option, char *all, size_t size)
{
    all[0] = 0;
    for (size_t i = 0; i < METHODS; i++) {
        bool first = i == 0 || strcmp(methods[i].statistic, methods[i - 1].statistic) != 0;
        char some[100] = "";
        bool every = true;
        for (size_t j = i;
             first && j < METHODS && strcmp(methods[j].statistic, methods[i].statistic) == 0; j++) {
            bool takes = lists(methods[j].options, option);
            every = every && takes;
            if (takes)
                add_words(some, sizeof some, ", ", methods[j].method);
        }
        if (!some[0])
            continue;
        add_words(all, size, "; ", methods[i].statistic);
        if (!every) {
            size_t used = strlen(all);
            snprintf(all + used, size - used, " by %s", some);
        }
    }
}

static brume_status check_options(const brume_release *release, size_t which, brume_error *error)
{
    static const char always[] = "epsilon adjacency method no-ledger ledger windows";
    for (const char *const *given = release->words->given; *given; given++) {
        const char *name = *given;
        if (lists(always, name) || lists(methods[which].options, name))
            continue;
        char applies[sizeof error->hint];
        where_it_applies(name, applies, sizeof applies);
        brume_status status = brume_fail(error, BRUME_EARGUMENT, NULL,
                                         "'--%s' does not apply to %s by the method %s", name,
                                         release->statistic, release->method);
        bool several = lists(methods[which].options, "columns");
        if (error && strcmp(name, several ? "column" : "columns") == 0)
            snprintf(error->hint, sizeof error->hint,
                     several ? "it is of several columns: --columns A,B"
                             : "it is of one column: --column A");
        else if (error)
            snprintf(error->hint, sizeof error->hint, "it applies to: %.*s",
                     (int)sizeof error->hint - 20, applies);
        return status;
    }
    return BRUME_OK;
}

static bool has_smooth(const brume_release *release)
{
    return method_of(release->statistic, "smooth") < METHODS;
}

/* Is it smooth noise of the log-normal family, which is paid in rho? */
static bool release_is_log_normal(const brume_release *release)
{
    const char *noise = release->words->noise;
    const char *method = release->words->method;
    return noise && strcmp(noise, "lln") == 0 && has_smooth(release) &&
           (!method || strcmp(method, "smooth") == 0);
}

brume_status brume_release_method(brume_release *release, const char *standard, brume_error *error)
{
    const char *typed = release->words->method;
    if (release->words->noise && has_smooth(release))
        standard = "smooth"; /* nothing else of these statistics takes a law of noise */
    size_t which = method_of(release->statistic, typed ? typed : standard);
    if (which == METHODS && typed) {
        char all[200] = "";
        for (size_t i = 0; i < METHODS; i++)
            if (strcmp(methods[i].statistic, release->statistic) == 0)
                add_words(all, sizeof all, ", ", methods[i].method);
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "%s has no method '%s'; it has: %s",
                          release->statistic, typed, all);
    }
    if (which == METHODS)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "no method for '%s'", release->statistic);
    release->method = methods[which].method;
    return check_options(release, which, error);
}

/* An option that goes with one --noise only. */
static brume_status goes_with(bool given, const char *option, const char *wanted, const char *noise,
                              brume_error *error)
{
    if (!given || strcmp(noise, wanted) == 0)
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, NULL,
                      "'--%s' does not apply to the noise %s, only to '--noise %s'", option, noise,
                      wanted);
}

brume_status brume_release_noise(const brume_release *release, const char **noise,
                                 brume_error *error)
{
    const char *typed = release->words->noise;
    *noise = typed ? typed : release->delta > 0 ? "laplace" : "cauchy";
    if (strcmp(*noise, "gaussian") == 0)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "the method 'smooth' has no noise '%s'; it has: laplace, cauchy, "
                          "student, lln",
                          *noise);
    BRUME_TRY(goes_with(release->words->delta, "delta", "laplace", *noise, error));
    BRUME_TRY(goes_with(release->words->degrees > 0, "degrees", "student", *noise, error));
    return goes_with(release->words->rho, "rho", "lln", *noise, error);
}

brume_status brume_release_rho(const brume_release_words *words, brume_decimal *price,
                               double *shown, brume_error *error)
{
    const char *epsilon = words->epsilon, *rho = words->rho;
    if (epsilon && rho)
        return brume_fail(error, BRUME_EARGUMENT, "epsilon E stands for rho = E^2/2 here",
                          "'--epsilon' and '--rho' are two prices: give one");
    BRUME_TRY(brume_decimal_parse(rho ? rho : epsilon, price, error));
    if (!rho)
        BRUME_TRY(brume_charge_rho_of_epsilon(price, price, error));
    *shown = brume_decimal_shown_down(price);
    return BRUME_OK;
}

/* ---- opening ---- */

/* The decimal typed for a price, as the largest double that is not above it; 0 if it was not typed.
 * So what is drawn never costs more than what is charged, which is the decimal. */
static brume_status read_price(const char *text, const char *option, double *out,
                               brume_error *error)
{
    brume_decimal typed;
    *out = 0;
    if (!text)
        return BRUME_OK;
    BRUME_TRY(brume_decimal_parse(text, &typed, error));
    *out = brume_decimal_lower(&typed); /* down: what is drawn costs no more than was typed */
    if (*out > 0)
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, NULL, "'--%s' is %s, less than the least double",
                      option, text);
}

brume_status brume_release_open(const brume_release_words *words, brume_release *release,
                                brume_error *error)
{
    size_t which = statistic_by_name(words->statistic);
    if (which == STATISTICS)
        return brume_fail(error, BRUME_EUNKNOWN, NULL, "there is no statistic '%.100s'",
                          words->statistic);
    unsigned adjacencies = statistics[which].adjacencies;
    const char *adjacency = words->adjacency;
    *release = (brume_release){.words = words, .statistic = words->statistic, .released = true};
    release->adjacency = !adjacency ? (adjacencies & BRUME_EDGE ? BRUME_EDGE : BRUME_ADD_REMOVE)
                         : strcmp(adjacency, "replace") == 0 ? BRUME_REPLACE
                         : strcmp(adjacency, "edge") == 0    ? BRUME_EDGE
                                                             : BRUME_ADD_REMOVE;
    if (!(adjacencies & (unsigned)release->adjacency))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "%s is not defined under '--adjacency %s'",
                          release->statistic, adjacency);
    if (!words->epsilon && !words->rho)
        return brume_fail(error, BRUME_EARGUMENT, "there is no default: --epsilon 1",
                          "'--epsilon' is missing");
    BRUME_TRY(read_price(words->epsilon, "epsilon", &release->epsilon, error));
    BRUME_TRY(read_price(words->delta, "delta", &release->delta, error));
    release->cost_epsilon = release->epsilon;
    release->cost_rho = release->error_95 = NAN;
    return BRUME_OK;
}

void brume_release_clear(brume_release *release)
{
    json_decref(release->value);
    json_decref(release->rows);
    json_decref(release->more);
    release->value = release->rows = release->more = NULL;
}

/* ---- without a ledger ---- */

static brume_status run_on_rows(brume_release *release, const char *path,
                                const brume_text_format *format, brume_bits *bits,
                                brume_error *error)
{
    BRUME_TRY(brume_csv_open(path, format, &release->csv, error));
    release->bits = bits;
    brume_status status = statistics[statistic_by_name(release->statistic)].run(release, error);
    brume_csv_close(release->csv);
    release->csv = NULL;
    return status;
}

brume_status brume_release_of_file(brume_release *release, const char *path,
                                   const brume_text_format *format, brume_error *error)
{
    brume_bits *bits = NULL;
    BRUME_TRY(brume_bits_open(&bits, error));
    brume_status status = run_on_rows(release, path, format, bits, error);
    brume_bits_close(bits);
    return status;
}

/* ---- from a registered dataset ---- */

typedef struct charged_draw {
    brume_release *release;
    double rho; /* the price in rho; 0: it is paid in epsilon */
} charged_draw;

static bool is_within_price(const charged_draw *draw)
{
    const brume_release *release = draw->release;
    bool paid = draw->rho > 0 ? isnan(release->cost_epsilon) && release->cost_rho <= draw->rho
                              : release->cost_epsilon <= release->epsilon;
    return paid && release->cost_delta <= release->delta;
}

/* Called when the price is on the ledger. */
static brume_status draw_charged(void *context, const char *path, brume_bits *bits, json_t **answer,
                                 brume_error *error)
{
    charged_draw *draw = context;
    brume_release *release = draw->release;
    brume_release_clear(release); /* of the rehearsal */
    release->released = true;
    release->error_95 = NAN;
    BRUME_TRY(run_on_rows(release, path, &brume_rows_format, bits, error));
    if (!is_within_price(draw))
        return brume_fail(error, BRUME_EINTERNAL, NULL, "the release cost more than its price");
    *answer = brume_release_to_json(release);
    return *answer ? BRUME_OK : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
}

/* Fill in a release from the recorded answer, so that it is written like a fresh one. */
static void recall(brume_release *release, const json_t *answer)
{
    json_t *cost = json_object_get(answer, "cost");
    release->method = json_string_value(json_object_get(answer, "method"));
    release->released = json_is_true(json_object_get(answer, "released"));
    json_decref(release->value);
    json_decref(release->rows);
    release->value = json_incref(json_object_get(answer, "value"));
    release->rows = json_incref(json_object_get(answer, "rows"));
    release->cost_delta = json_number_value(json_object_get(cost, "delta"));
    if (!json_is_number(json_object_get(cost, "epsilon")))
        release->cost_epsilon = NAN;
    if (json_is_number(json_object_get(cost, "rho")))
        release->cost_rho = json_number_value(json_object_get(cost, "rho"));
    static const char *const told[] = {"threshold",
                                       "sensitivity_bound",
                                       "sigma",
                                       "s",
                                       "t",
                                       "scale",
                                       "gap_95",
                                       "debiased",
                                       "interval_95",
                                       "share",
                                       "share_interval_95",
                                       "fallback",
                                       "ridge",
                                       "rows_interval_95"};
    json_decref(release->more);
    release->more = NULL;
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (json_object_get(answer, told[i]))
            brume_release_tell(release, told[i], json_incref(json_object_get(answer, told[i])));
    const json_t *error = json_object_get(answer, "error_95");
    release->error_95 = json_is_number(error) ? json_number_value(error) : NAN;
}

/* Pay for it and draw it; *answer is what was recorded. */
static brume_status charge_and_draw(brume_release *release, brume_ledger *ledger,
                                    const brume_dataset *dataset, const brume_charged *charged,
                                    const brume_watch *watch, json_t **answer, brume_error *error)
{
    brume_bits *bits = NULL;
    if (release_is_log_normal(release) && dataset->filter.rule != BRUME_RULE_CONCENTRATED)
        return brume_fail(error, BRUME_EPOLICY,
                          "take --noise cauchy or student, or laplace with a delta",
                          "log-normal noise is paid in rho, and the budget of '%s' is of the "
                          "rule %s",
                          charged->dataset, brume_rule_word(dataset->filter.rule));
    BRUME_TRY(brume_bits_open(&bits, error));
    release->policy = dataset->policy;
    brume_status status = brume_charged_release(ledger, charged, bits, watch, answer, error);
    release->policy = NULL;
    brume_bits_close(bits);
    release->one_of_unit = json_is_string(json_object_get(dataset->policy, "unit"));
    if (status == BRUME_OK && release->one_of_unit &&
        json_object_set_new(*answer, "rows_per_unit", json_integer(1)) != 0)
        status = brume_no_memory(error, "the answer");
    return status;
}

brume_status brume_release_charged(brume_release *release, brume_ledger *ledger,
                                   const char *dataset, const char *what, const brume_watch *watch,
                                   json_t **answer, brume_error *error)
{
    const brume_release_words *words = release->words;
    char rho[BRUME_DECIMAL_TEXT];
    charged_draw draw = {release, 0};
    brume_dataset *owner = NULL;
    json_t *made = NULL;
    brume_charged charged = {.dataset = dataset,
                             .adjacency = release->adjacency,
                             .epsilon = words->epsilon,
                             .rho = words->rho,
                             .delta = words->delta,
                             .windows = words->windows,
                             .what = what,
                             .draw = draw_charged,
                             .context = &draw};
    if (release_is_log_normal(release)) {
        brume_decimal price;
        BRUME_TRY(brume_release_rho(words, &price, &draw.rho, error));
        brume_decimal_print(&price, rho, sizeof rho);
        charged.epsilon = NULL;
        charged.rho = rho;
    } else if (charged.rho) {
        /* only log-normal noise takes it: say so before the budget is asked */
        BRUME_TRY(brume_release_method(release, NULL, error));
    }
    BRUME_TRY(brume_ledger_dataset(ledger, dataset, &owner, error));
    brume_status status = charge_and_draw(release, ledger, owner, &charged, watch, &made, error);
    brume_dataset_close(owner);
    if (status != BRUME_OK) {
        json_decref(made);
        return status;
    }
    recall(release, made);
    *answer = made;
    return BRUME_OK;
}

/* ---- the answer ---- */

/* A part of the cost as it is shown: all of what was typed is what was typed, although the double
 * that was drawn with may be the one below. */
static double shown(const char *typed, double used, double cost)
{
    return cost == used && typed ? strtod(typed, NULL) : cost;
}

double brume_release_shown_epsilon(const brume_release *release)
{
    return shown(release->words->epsilon, release->epsilon, release->cost_epsilon);
}

double brume_release_shown_delta(const brume_release *release)
{
    return shown(release->words->delta, release->delta, release->cost_delta);
}

static json_t *cost_json(const brume_release *release)
{
    return json_pack("{s:o, s:o, s:o}", "epsilon",
                     brume_json_real(brume_release_shown_epsilon(release)), "delta",
                     brume_json_real(brume_release_shown_delta(release)), "rho",
                     brume_json_real(release->cost_rho));
}

void brume_release_tell(brume_release *release, const char *name, json_t *value)
{
    if (!release->more)
        release->more = json_object();
    json_object_set_new(release->more, name, value);
}

json_t *brume_release_to_json(const brume_release *release)
{
    json_t *answer = json_pack("{s:s, s:b, s:s, s:s, s:o, s:o}", "statistic", release->statistic,
                               "released", release->released, "method", release->method,
                               "adjacency", brume_adjacency_word(release->adjacency), "cost",
                               cost_json(release), "error_95", brume_json_real(release->error_95));
    if (answer && release->rows)
        json_object_set(answer, "rows", release->rows);
    else if (answer)
        json_object_set_new(answer, "value",
                            release->value ? json_incref(release->value) : json_null());
    if (answer && release->more)
        json_object_update(answer, release->more);
    return answer;
}

/* ---- without privacy ---- */

/* `options` are those that only some statistics take. */
static const struct {
    const char *name;
    brume_status (*look)(const brume_release *input, brume_look *look, brume_error *error);
    bool edges;
    const char *options[4];
} looks[] = {
    {"median", brume_look_quantile, false, {"column", "bounds"}},
    {"quantile", brume_look_quantile, false, {"column", "bounds", "q"}},
    {"iqr", brume_look_interquartile, false, {"column", "bounds"}},
    {"mode", brume_look_mode, false, {"column", "domain"}},
    {"reciprocal", look_reciprocal, false, {"column"}},
    {"triangles", brume_look_triangles, true, {"vertices"}},
    {"regression", brume_look_regression, false, {"columns", "bounds", "at"}},
};

enum { LOOKS = sizeof looks / sizeof *looks };

json_t *brume_look_number(double value, double slack)
{
    char text[32];
    if (!isfinite(value))
        return json_null();
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (fabs(strtod(text, NULL) - value) <= slack)
            break;
    }
    return json_real(strtod(text, NULL));
}

static size_t look_by_name(const char *name)
{
    size_t which = 0;
    while (which < LOOKS && strcmp(looks[which].name, name) != 0)
        which++;
    return which;
}

uint64_t brume_look_bound(const brume_look *look)
{
    double steps = floor(look->beta / look->step) + (look->step < 1);
    return steps < 0x1p62 ? (uint64_t)steps : UINT64_C(1) << 62;
}

static bool takes(size_t which, const char *option)
{
    static const char *const all[] = {"adjacency", "smoothness", "beta", "json", NULL};
    bool found = false;
    for (int i = 0; all[i]; i++)
        found |= strcmp(all[i], option) == 0;
    for (int i = 0; i < 4 && looks[which].options[i]; i++)
        found |= strcmp(looks[which].options[i], option) == 0;
    return found;
}

brume_status brume_look_check(const brume_release_words *words, brume_look *look,
                              brume_error *error)
{
    size_t which = look_by_name(words->statistic);
    if (which == LOOKS)
        return brume_fail(error, BRUME_EUNKNOWN, NULL, "there is no look at '%.100s'",
                          words->statistic);
    for (const char *const *given = words->given; *given; given++)
        if (!takes(which, *given))
            return brume_fail(error, BRUME_EARGUMENT, NULL, "%s does not take '--%s'",
                              looks[which].name, *given);
    const char *typed = words->adjacency;
    bool edges = looks[which].edges;
    look->step = 1;
    look->adjacency = !typed                          ? (edges ? BRUME_EDGE : BRUME_ADD_REMOVE)
                      : strcmp(typed, "replace") == 0 ? BRUME_REPLACE
                      : strcmp(typed, "edge") == 0    ? BRUME_EDGE
                                                      : BRUME_ADD_REMOVE;
    if ((look->adjacency == BRUME_EDGE) != edges)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "%s is not defined under '--adjacency %s'",
                          words->statistic, typed);
    return BRUME_OK;
}

brume_status brume_look_at_file(const brume_release_words *words, const char *path,
                                const brume_text_format *format, brume_look *look,
                                brume_error *error)
{
    brume_release input = {
        .words = words, .statistic = words->statistic, .adjacency = look->adjacency};
    size_t which = look_by_name(words->statistic);
    BRUME_TRY(brume_csv_open(path, format, &input.csv, error));
    brume_status status = looks[which].look(&input, look, error);
    brume_csv_close(input.csv);
    return status;
}
