/* Moving parameters. See the header; proofs/accountant/law.md, section law.5. */
#include "accountant/law/shift_parameters.h"

#include <math.h>
#include <stdlib.h>

static bool needs(const brume_law *law)
{
    return law->source.kind == BRUME_LOSS_POISSON_PURE ||
           law->source.kind == BRUME_LOSS_POISSON_LAPLACE ||
           law->source.kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE;
}

bool brume_shifted_needed(const brume_law *laws, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (needs(&laws[i]))
            return true;
    return false;
}

typedef enum way { DOWN = -1, WORST = 0, UP = 1 } way;

static brume_status open_one(const brume_law *law, way direction, brume_law *out)
{
    if (law->source.kind == BRUME_LOSS_NONE)
        return brume_law_open_table(law->points.loss, law->points.log_mass, law->points.count,
                                    law->points.mass_error, law->count, out, NULL);
    brume_loss loss = law->source;
    if (direction == WORST) {
        if (loss.kind == BRUME_LOSS_POISSON_LAPLACE)
            loss.kind = BRUME_LOSS_POISSON_PURE;
    } else if (needs(law)) { /* a larger epsilon and a larger rate cost more */
        loss.a = brume_parameter_moved(loss.a, (int)direction);
        loss.rate = fmin(1, brume_parameter_moved(loss.rate, (int)direction));
    }
    return brume_law_open(&loss, law->count, law->reversed, out, NULL);
}

void brume_shifted_close(brume_law *laws, size_t count)
{
    for (size_t i = 0; laws && i < count; i++)
        brume_law_close(&laws[i]);
    free(laws);
}

static brume_law *open_all(const brume_law *laws, size_t count, way direction)
{
    brume_law *out = calloc(count, sizeof *out);
    for (size_t i = 0; out && i < count; i++)
        if (open_one(&laws[i], direction, &out[i]) != BRUME_OK) {
            brume_shifted_close(out, i);
            return NULL;
        }
    return out;
}

bool brume_shifted_open(const brume_law *laws, size_t count, bool only_upper, brume_joined *out)
{
    brume_joined joined = {.count = count, .upper = open_all(laws, count, UP)};
    joined.lower = only_upper ? joined.upper : open_all(laws, count, DOWN);
    if (!joined.upper || !joined.lower) {
        brume_joined_close(&joined);
        return false;
    }
    *out = joined;
    return true;
}

brume_law *brume_shifted_worst(const brume_law *laws, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (laws[i].kind == BRUME_LAW_SAMPLED_LAPLACE)
            return open_all(laws, count, WORST);
    return NULL;
}

bool brume_shifted_top(const brume_law *laws, size_t count, brume_interval *top)
{
    double low, high, mass, slack = (20 + 2 * (double)count) * BRUME_UNIT;
    if (!brume_top_atom(laws, count, &low, &mass))
        return false;
    high = low;
    if (brume_shifted_needed(laws, count)) {
        brume_joined joined;
        if (!brume_shifted_open(laws, count, false, &joined))
            return false;
        brume_top_atom(joined.upper, count, &high, &mass);
        brume_top_atom(joined.lower, count, &low, &mass);
        brume_joined_close(&joined);
    }
    *top = (brume_interval){low * (1 - slack), high * (1 + slack)};
    return true;
}
