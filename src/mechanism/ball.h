/* Balls as the mechanisms use them: one precision that is ample for all their formulas. */
#ifndef BRUME_MECHANISM_BALL_H
#define BRUME_MECHANISM_BALL_H

#include <math.h>

#include "number/ball.h"

enum { BRUME_BALL_BITS = 160 };

/* The ends of a probability, cut to [0, 1], where it is known to lie. */
static inline brume_interval brume_ball_probability(const arb_t ball)
{
    return brume_ball_interval(ball, 0, 1);
}

#endif
