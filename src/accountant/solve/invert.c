/* See the header. The search only proposes; an end is moved only to a point at which a route
 * certified delta. */
#include "accountant/solve/invert.h"

#include <math.h>

#include "accountant/solve/routes.h"

/* delta as a function of epsilon, the last point kept: both sides are asked for at one point. */
typedef struct profile {
    brume_law *laws;
    size_t count;
    double goal;
    double epsilon;
    brume_answer at;
    uint64_t nodes;
    bool failed; /* memory ran out */
} profile;

static double delta_at(void *context, double epsilon, brume_side side)
{
    profile *p = context;
    if (p->epsilon != epsilon && !p->failed) {
        p->failed = !brume_routes_delta(p->laws, p->count, epsilon, p->goal, false, &p->at);
        p->epsilon = epsilon;
        p->nodes += p->at.nodes;
    }
    if (p->failed)
        return side == BRUME_UPPER_SIDE ? 1 : 0; /* always true, and says nothing */
    return side == BRUME_UPPER_SIDE ? p->at.value.upper : p->at.value.lower;
}

bool brume_invert_delta(brume_law *laws, size_t count, double delta, double delta_error,
                        double width_goal, brume_answer *answer)
{
    profile p = {.laws = laws, .count = count, .goal = width_goal, .epsilon = NAN};
    brume_closed closed = {
        .delta = delta_at, .context = &p, .route = "certified deltas, one epsilon after another"};
    double middle = 0.5 * (answer->value.lower + answer->value.upper);
    brume_closed_epsilon(&closed, delta, delta_error, middle, answer);
    if (answer->route == closed.route && p.at.route)
        answer->route = p.at.route;
    answer->balls = false;
    answer->nodes += p.nodes;
    return !p.failed;
}
