/* From laws to answers: laws put on one lattice or moved to either side, then the routes. */
#include "accountant/solve/solve.h"

#include <math.h>

#include "accountant/law/shift_parameters.h"
#include "accountant/solve/route.h"

static const double worst_width = 1e-4; /* where this wide, a dominating law may be lower */

/* Of laws as they are. */
static bool solve_plain(brume_law *laws, size_t count, const brume_asked *asked, brume_answer *out)
{
    if (asked->of_delta) {
        if (!brume_invert_delta(laws, count, asked, out))
            return false;
    } else {
        brume_task task = {.laws = laws,
                           .count = count,
                           .epsilon = asked->at,
                           .width = asked->width,
                           .upper_end = asked->upper_end,
                           .sought = asked->sought};
        if (!brume_task_ask(&task))
            return false;
        *out = task.answer;
    }
    brume_answer_settle(out);
    return true;
}

bool brume_solve(brume_law *laws, size_t count, const brume_asked *asked, brume_answer *out)
{
    brume_joined joined;
    bool shifted = brume_shifted_needed(laws, count);
    if (shifted) {
        if (!brume_shifted_open(laws, count, asked->upper_end, &joined))
            return false;
    } else if (!brume_lattice_join(laws, count, &joined)) {
        return solve_plain(laws, count, asked, out);
    }
    brume_answer answer, other;
    bool alive = solve_plain(joined.upper, count, asked, &answer);
    brume_law *worst = alive && !brume_answer_is_narrow(&answer, worst_width)
                           ? brume_shifted_worst(joined.upper, count)
                           : NULL;
    if (worst && solve_plain(worst, count, asked, &other))
        brume_answer_take_upper(&answer, &other);
    brume_shifted_close(worst, count);
    if (alive && asked->upper_end && shifted)
        answer.value.lower = 0; /* for the shifted laws only: it does not hold for the originals */
    if (alive && joined.lower != joined.upper) {
        alive = solve_plain(joined.lower, count, asked, &other);
        if (alive)
            brume_answer_take_lower(&answer, &other);
    }
    brume_joined_close(&joined);
    if (alive)
        *out = answer;
    return alive;
}

bool brume_solve_below(brume_law *laws, size_t count, double epsilon, double target)
{
    brume_asked coarse = {.at = epsilon, .width = 0.03, .upper_end = true};
    brume_answer answer;
    return brume_solve(laws, count, &coarse, &answer) && answer.value.upper <= target;
}
