/* From laws to answers: laws put on one lattice or moved to either side, then the routes. */
#include "accountant/solve/solve.h"

#include <math.h>

#include "accountant/law/shift_parameters.h"
#include "accountant/solve/invert.h"
#include "accountant/solve/routes.h"

static const double worst_width = 1e-4; /* where this wide, a dominating law may be lower */

static bool delta_of(brume_law *laws, size_t count, double epsilon, double width_goal,
                     bool upper_end, brume_answer *out)
{
    if (!brume_routes_delta(laws, count, epsilon, width_goal, upper_end, out, NULL))
        return false;
    brume_answer_settle(out);
    return true;
}

static bool epsilon_of(brume_law *laws, size_t count, double delta, double delta_error,
                       double width_goal, brume_answer *out)
{
    if (!brume_invert_delta(laws, count, delta, delta_error, width_goal, out))
        return false;
    brume_answer_settle(out);
    return true;
}

static bool solve_delta(brume_law *laws, size_t count, double epsilon, double goal, bool upper_end,
                        brume_answer *out)
{
    brume_joined joined;
    if (brume_shifted_needed(laws, count)) {
        if (!brume_shifted_open(laws, count, upper_end, &joined))
            return false;
    } else if (!brume_lattice_join(laws, count, &joined)) {
        return delta_of(laws, count, epsilon, goal, upper_end, out);
    }
    brume_answer upper, lower;
    bool alive = delta_of(joined.upper, count, epsilon, goal, upper_end, &upper);
    brume_law *worst = alive && !brume_answer_is_narrow(&upper, worst_width)
                           ? brume_shifted_worst(joined.upper, count)
                           : NULL;
    if (worst && delta_of(worst, count, epsilon, goal, upper_end, &lower))
        brume_answer_take_upper(&upper, &lower);
    brume_shifted_close(worst, count);
    if (alive && upper_end && brume_shifted_needed(laws, count))
        upper.value.lower = 0; /* for the shifted laws only: it does not hold for the originals */
    if (alive && joined.lower != joined.upper) {
        alive = delta_of(joined.lower, count, epsilon, goal, upper_end, &lower);
        if (alive)
            brume_answer_take_lower(&upper, &lower);
    }
    brume_joined_close(&joined);
    if (alive)
        *out = upper;
    return alive;
}

bool brume_solve_delta(brume_law *laws, size_t count, double epsilon, double width_goal,
                       brume_answer *out)
{
    return solve_delta(laws, count, epsilon, width_goal, false, out);
}

bool brume_solve_delta_upper(brume_law *laws, size_t count, double epsilon, double goal,
                             brume_answer *out)
{
    return solve_delta(laws, count, epsilon, goal, true, out);
}

bool brume_solve_below(brume_law *laws, size_t count, double epsilon, double target)
{
    brume_answer answer;
    return brume_shifted_needed(laws, count) &&
           solve_delta(laws, count, epsilon, 0.03, true, &answer) && answer.value.upper <= target;
}

bool brume_solve_epsilon(brume_law *laws, size_t count, double delta, double delta_error,
                         double width_goal, brume_answer *out)
{
    brume_joined joined;
    if (brume_shifted_needed(laws, count)) {
        if (!brume_shifted_open(laws, count, false, &joined))
            return false;
    } else if (!brume_lattice_join(laws, count, &joined)) {
        return epsilon_of(laws, count, delta, delta_error, width_goal, out);
    }
    brume_answer upper, lower;
    bool alive = epsilon_of(joined.upper, count, delta, delta_error, width_goal, &upper);
    brume_law *worst = alive && !brume_answer_is_narrow(&upper, worst_width)
                           ? brume_shifted_worst(joined.upper, count)
                           : NULL;
    if (worst && epsilon_of(worst, count, delta, delta_error, width_goal, &lower))
        brume_answer_take_upper(&upper, &lower);
    brume_shifted_close(worst, count);
    if (alive && joined.lower != joined.upper) {
        alive = epsilon_of(joined.lower, count, delta, delta_error, width_goal, &lower);
        if (alive)
            brume_answer_take_lower(&upper, &lower);
    }
    brume_joined_close(&joined);
    if (alive)
        *out = upper;
    return alive;
}
