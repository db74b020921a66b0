/* Statistics for propose-test-release: each is two small functions over what the statistic's own
 * file computes. */
#include <brume/statistic/tested.h>

#include <math.h>

#include <brume/statistic/reciprocal.h>

#include "base/error.h"
#include "number/rounding.h"
#include "statistic/readable.h"

__extension__ typedef unsigned __int128 wide_word;

static brume_status quantile_distance(void *context, uint64_t bound, uint64_t *out,
                                      brume_error *error)
{
    (void)error;
    *out = brume_quantile_distance(context, bound);
    return BRUME_OK;
}

static brume_status quantile_value(void *context, int64_t *out, brume_error *error)
{
    (void)error;
    *out = brume_quantile_value(context);
    return BRUME_OK;
}

brume_tested brume_tested_quantile(const brume_quantile *quantile)
{
    return (brume_tested){brume_readable(quantile), quantile_distance, quantile_value};
}

static brume_status range_distance(void *context, uint64_t bound, uint64_t *out, brume_error *error)
{
    (void)error;
    *out = brume_interquartile_distance(context, bound);
    return BRUME_OK;
}

static brume_status range_value(void *context, int64_t *out, brume_error *error)
{
    (void)error;
    *out = (int64_t)brume_interquartile_value(context); /* at most 2^62 */
    return BRUME_OK;
}

brume_tested brume_tested_interquartile(const brume_interquartile *range)
{
    return (brume_tested){brume_readable(range), range_distance, range_value};
}

static brume_status triangle_distance(void *context, uint64_t bound, uint64_t *out,
                                      brume_error *error)
{
    return brume_triangle_distance(context, bound, out, error);
}

static brume_status triangle_value(void *context, int64_t *out, brume_error *error)
{
    uint64_t count;
    BRUME_TRY(brume_triangle_count(context, &count, error));
    *out = count < INT64_MAX ? (int64_t)count : INT64_MAX;
    return BRUME_OK;
}

brume_tested brume_tested_triangles(const brume_graph *graph)
{
    return (brume_tested){brume_readable(graph), triangle_distance, triangle_value};
}

static brume_status check_step(double step, brume_error *error)
{
    if (step > 0 && isfinite(step))
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, NULL, "the 'step' is %.17g, must be above 0", step);
}

static brume_status reciprocal_distance(void *context, uint64_t bound, uint64_t *out,
                                        brume_error *error)
{
    const brume_tested_count *count = context;
    BRUME_TRY(check_step(count->step, error));
    if (bound < 1)
        return brume_fail(error, BRUME_EARGUMENT, "use a smaller step",
                          "the proposed bound is less than a step");
    /* Down, twice: a smaller bound has a smaller distance. */
    double steps = bound > UINT64_C(1) << 53 ? brume_down((double)bound) : (double)bound;
    return brume_reciprocal_distance(count->count, brume_multiply_down(steps, count->step), out,
                                     error);
}

/* min(floor(1/(count step)), 2^62), exactly. The step is m 2^-shift with m < 2^53, so that it is
 * 2^shift divided by the integer count m, below 2^117. */
static int64_t reciprocal_steps(uint64_t count, double step)
{
    const wide_word most = (wide_word)1 << 62;
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(step, &exponent), 53);
    int shift = 53 - exponent;
    wide_word divisor = (wide_word)(count > 0 ? count : 1) * mantissa;
    if (shift < 0) /* the step is above 1 */
        return 0;
    int first = shift < 126 ? shift : 126;
    wide_word quotient = ((wide_word)1 << first) / divisor;
    wide_word rest = ((wide_word)1 << first) % divisor;
    for (int i = first; i < shift && quotient < most;
         i++) { /* one more bit each, by long division */
        rest *= 2;
        quotient = 2 * quotient + (rest >= divisor);
        rest -= rest >= divisor ? divisor : 0;
    }
    return (int64_t)(quotient < most ? quotient : most);
}

static brume_status reciprocal_value(void *context, int64_t *out, brume_error *error)
{
    const brume_tested_count *count = context;
    BRUME_TRY(check_step(count->step, error));
    /* Floors of numbers at most b apart, an integer, are at most b apart. */
    *out = reciprocal_steps(count->count, count->step);
    return BRUME_OK;
}

brume_tested brume_tested_reciprocal(brume_tested_count *count)
{
    return (brume_tested){count, reciprocal_distance, reciprocal_value};
}

static brume_status regression_distance(void *context, uint64_t bound, uint64_t *out,
                                        brume_error *error)
{
    const brume_tested_prediction *prediction = context;
    if (bound < 3)
        return brume_fail(error, BRUME_EARGUMENT, "use a smaller step",
                          "the proposed bound is less than three steps");
    return brume_regression_distance(prediction->gram, (double)(bound - 2) * prediction->step, out,
                                     error);
}

static brume_status regression_value(void *context, int64_t *out, brume_error *error)
{
    const brume_tested_prediction *prediction = context;
    return brume_regression_log(prediction->gram, prediction->point, prediction->step, out, error);
}

brume_tested brume_tested_regression(brume_tested_prediction *prediction)
{
    return (brume_tested){prediction, regression_distance, regression_value};
}
