/* Statistics for propose-test-release: each is two small functions over what the statistic's own
 * file computes. */
#include <brume/tested.h>

#include <math.h>

#include <brume/reciprocal.h>

#include "base/error.h"
#include "number/rounding.h"

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

/* The functions only read their context; the shared type is not const for those that write. */
static void *readable(const void *handle)
{
    union {
        const void *in;
        void *out;
    } pointer = {handle};
    return pointer.out;
}

brume_tested brume_tested_quantile(const brume_quantile *quantile)
{
    return (brume_tested){readable(quantile), quantile_distance, quantile_value};
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
    return (brume_tested){readable(range), range_distance, range_value};
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
    return (brume_tested){readable(graph), triangle_distance, triangle_value};
}

static brume_status reciprocal_distance(void *context, uint64_t bound, uint64_t *out,
                                        brume_error *error)
{
    const brume_tested_count *count = context;
    if (bound < 2 || !(count->step > 0))
        return brume_fail(error, BRUME_EARGUMENT, "use a smaller step",
                          "the proposed bound is less than two steps");
    /* Down: a smaller bound has a smaller distance. */
    double real = brume_multiply_down((double)(bound - 1), count->step) * (1 - 0x1p-50);
    return brume_reciprocal_distance(count->count, real, out, error);
}

static brume_status reciprocal_value(void *context, int64_t *out, brume_error *error)
{
    (void)error;
    const brume_tested_count *count = context;
    /* Floors of numbers at most (b-1) apart (up to rounding, for which the distance has taken a
     * little off) are at most b apart. */
    double steps = floor(1 / (double)(count->count > 0 ? count->count : 1) / count->step);
    *out = steps < 0x1p62 ? (int64_t)steps : INT64_C(1) << 62;
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
