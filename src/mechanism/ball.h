/* Certified evaluation by ball arithmetic: Arb keeps the exact value inside its ball, and only the
 * last step, ball to double, rounds, in the direction the name says. */
#ifndef BRUME_MECHANISM_BALL_H
#define BRUME_MECHANISM_BALL_H

#if __has_include(<flint/arb.h>)
#include <flint/arb.h>
#include <flint/arb_hypgeom.h>
#else
#include <arb.h>
#include <arb_hypgeom.h>
#endif

#include <math.h>

#include <brume/interval.h>

enum { BRUME_BALL_BITS = 160 };

/* The least double not below, the greatest not above, the ball. Indeterminate balls give
 * +infinity and -infinity. */
static inline double brume_ball_upper(const arb_t ball)
{
    if (!arb_is_finite(ball))
        return INFINITY;
    arf_t end;
    arf_init(end);
    arb_get_ubound_arf(end, ball, BRUME_BALL_BITS); /* rounds up */
    double result = arf_get_d(end, ARF_RND_CEIL);   /* rounds up */
    arf_clear(end);
    return result;
}

static inline double brume_ball_lower(const arb_t ball)
{
    if (!arb_is_finite(ball))
        return -INFINITY;
    arf_t end;
    arf_init(end);
    arb_get_lbound_arf(end, ball, BRUME_BALL_BITS); /* rounds down */
    double result = arf_get_d(end, ARF_RND_FLOOR);  /* rounds down */
    arf_clear(end);
    return result;
}

static inline brume_interval brume_ball_interval(const arb_t ball)
{
    return (brume_interval){brume_ball_lower(ball), brume_ball_upper(ball)};
}

/* The same for a probability: cut to [0, 1], where it is known to lie. */
static inline brume_interval brume_ball_probability(const arb_t ball)
{
    return (brume_interval){fmax(brume_ball_lower(ball), 0), fmin(brume_ball_upper(ball), 1)};
}

#endif
