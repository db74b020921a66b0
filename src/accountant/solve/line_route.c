/* The contour integral as a route: a line, laid again with a narrower band until it is sharp. */
#include <math.h>
#include <stdlib.h>

#include "accountant/solve/route.h"
#include "accountant/solve/routes.h"

static const double pattern_nodes = 8e3; /* of a line that is as expensive as patterns */

/* A line that is kept open. */
static double kept_line_delta(void *context, double epsilon, brume_side side)
{
    double lower = 0, upper = 1;
    brume_line_certify(context, epsilon, side == BRUME_LOWER_SIDE ? &lower : NULL,
                       side == BRUME_UPPER_SIDE ? &upper : NULL);
    return side == BRUME_UPPER_SIDE ? fmin(upper, 1) : fmax(lower, 0);
}

static void close_kept_line(void *context)
{
    brume_line_close(context);
    free(context);
}

/* Close the line, unless it can be kept. */
static void keep_line(brume_line *line, bool kept, brume_closed *keep)
{
    brume_line *own = kept && keep && !keep->delta ? malloc(sizeof *own) : NULL;
    if (!own) {
        brume_line_close(line);
        return;
    }
    *own = *line;
    *keep = (brume_closed){.delta = kept_line_delta,
                           .context = own,
                           .route = brume_route_name(line),
                           .slope = line->saddle > 0 ? line->saddle : line->c,
                           .close = close_kept_line};
}

/* Take what the laid line certifies; returns what its band leaves open, an estimate. */
static double take_line(brume_question *q)
{
    double lower, upper;
    brume_answer *answer = &q->answer;
    brume_line_certify(&q->line, q->epsilon, &lower, &upper);
    answer->rounds++;
    answer->nodes += q->line.count;
    answer->route = brume_route_name(&q->line);
    answer->value.lower = lower > answer->value.lower ? lower : answer->value.lower;
    /* few atoms make kinks, where the estimate fails */
    bool many = q->line_width > 0 && q->line.law_count >= 8;
    double band = q->line_width > 0 ? brume_route_band_part(&q->line, q->epsilon) : 0;
    if (upper < answer->value.upper) {
        answer->value.upper = upper;
        answer->excess = many ? BRUME_BAND_SHARE * band : 0;
    }
    return band;
}

/* How narrow, relative, a line has to be; a banded one: what that amounts to in epsilon. */
static double width_to_reach(const brume_question *q)
{
    if (q->upper_end || !(q->line_width > 0))
        return q->width;
    double in_delta = fmin(fmax(0.7 * q->line.saddle * q->epsilon, 1), 60);
    return fmax(q->width, BRUME_BAND_WIDTH * in_delta);
}

typedef enum next_step { STOP, AGAIN, NO_MEMORY } next_step;

/* After a line: patterns in its place, a narrower band, or nothing more. `before`: how wide the
 * answer was. */
static next_step narrow_further(brume_question *q, double band, double before)
{
    brume_answer *answer = &q->answer;
    double gap = answer->value.upper - answer->value.lower, goal = width_to_reach(q);
    bool banded = q->line_width > 0;
    bool rounded = band < 0.2 * gap; /* mostly rounding, which no band narrows */
    if (q->upper_end && banded)
        gap = fmin(gap, answer->excess > 0 ? answer->excess : gap);
    /* an estimate a little above the goal is not worth another round */
    bool wide = gap > (q->upper_end ? 1.15 : 1) * fmax(goal, q->own) * answer->value.upper;
    if (!banded && wide && q->line.tolerance > 0) { /* delta is smaller than the line's size */
        q->line.tolerance = 0;
        return brume_route_aim(&q->line, q->epsilon, INFINITY, &q->line_size, &q->line_width)
                   ? AGAIN
                   : NO_MEMORY;
    }
    if (!banded && wide)
        brume_ask_patterns(q, BRUME_PATTERN_EFFORT);
    if (!banded || !wide || q->line.cut || (answer->rounds > 3 && gap > 0.8 * before) ||
        (rounded && !q->upper_end))
        return STOP;
    double next = brume_route_next_width(&q->line, gap, goal * answer->value.upper,
                                         gap < 1e-2 * answer->value.upper, q->upper_end);
    /* patterns are exact, and cheaper than a line of many nodes */
    double nodes = next > 0 ? (double)q->line.count * q->line.width / next : INFINITY;
    if (!q->patterns_tried && nodes > pattern_nodes) {
        q->patterns_tried = true;
        if (brume_ask_patterns(q, BRUME_PATTERN_EFFORT) &&
            brume_answer_is_narrow(answer, fmax(goal, q->own)))
            return STOP;
    }
    if (!(next > 0))
        return STOP;
    q->line_width = next;
    return AGAIN;
}

brume_outcome brume_contour_ask(brume_question *q)
{
    next_step next = AGAIN;
    while (next == AGAIN) {
        q->line.width = q->line_width;
        double before = q->answer.value.upper - q->answer.value.lower;
        next = brume_line_lay(&q->line, q->epsilon, q->line_size)
                   ? narrow_further(q, take_line(q), before)
                   : NO_MEMORY;
    }
    keep_line(&q->line, next == STOP && q->line.count > 0 && !q->line.cut, q->keep);
    return next == STOP ? BRUME_ROUTE_PASSED : BRUME_ROUTE_FAILED;
}
