/* The input of `brume release`: columns, bounds, grids, methods, and plain noise.
 *
 * Promises: nothing here fails because of a row. What is refused is refused by the words typed and
 * by the names of the columns. */
#include "query/statistic/release.h"

#include <stdlib.h>
#include <string.h>

#include <brume/noise/laplace.h>

#include "number/rounding.h"

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
