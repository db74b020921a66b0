/* Small helpers around Arb's balls: a ball encloses the exact value through every operation, and
 * its ends come out as doubles on the safe side. */
#ifndef BRUME_NUMBER_BALL_H
#define BRUME_NUMBER_BALL_H

#include <brume/interval.h>

#include "number/flint.h"

/* Least double not below the ball, greatest not above it; infinite where the ball is unbounded or
 * not a number, so that a failed evaluation is a useless bound and never a wrong one. */
double brume_ball_upper(const arb_t x);
double brume_ball_lower(const arb_t x);

/* Both ends, cut to [least, most] where the value is known to lie there. */
brume_interval brume_ball_interval(const arb_t x, double least, double most);

/* Evaluate at 64, 128, ... 4096 bits until `function`'s ball is known to 53 relative bits, then
 * give its ends, cut to [least, most]. Less sharp than that only where the value is 0 or hopeless.
 */
typedef void brume_ball_function(arb_t out, const void *context, slong precision);
brume_interval brume_ball_evaluate(brume_ball_function *function, const void *context, double least,
                                   double most);

/* out = P[N(0,1) <= x]. */
void brume_ball_normal_cdf(arb_t out, const arb_t x, slong precision);

/* Is the ball known to `bits` relative bits (or is it a point)? */
int brume_ball_is_sharp(const arb_t x, slong bits);

void brume_thread_caches_free_at_end(void);

#endif
