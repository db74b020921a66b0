/* Noise scaled to a smooth bound on the local sensitivity instead of the global sensitivity.
 *
 * value + (S/s) Z, rounded to an integer number of steps, where S = S(x) is at least the local
 * sensitivity of the data and t-smooth: S(x) <= exp(t) S(x') for neighbours (what brume_quantile_
 * smooth and its kin compute). s and t belong together and to the law of Z; a plan holds them.
 *
 * 1. s and t depend on public numbers only. So do the grid and every error bar: S is secret, and
 *    nothing but the released value may depend on it.
 * 2. Rounding is post-processing of the real-valued mechanism: the grid is the statistic's own.
 * 3. t = 0 in a call below asks for the standard choice; another t must suit the law.
 * 4. Every s is rounded down, and the plan's guarantee is checked with certified arithmetic for the
 *    s and t in it. */
#ifndef BRUME_SMOOTH_H
#define BRUME_SMOOTH_H

#include <stdint.h>

#include <brume/bits.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum brume_smooth_law {
    BRUME_SMOOTH_LAPLACE = 1, /* (epsilon, delta) */
    BRUME_SMOOTH_CAUCHY,      /* pure epsilon; no mean, no variance */
    BRUME_SMOOTH_STUDENT,     /* pure epsilon; moments below the degrees of freedom */
    BRUME_SMOOTH_LOG_NORMAL,  /* rho: Laplace times an independent log-normal; all moments */
} brume_smooth_law;

typedef struct brume_smooth_plan {
    brume_smooth_law law;
    double s, t;
    double shape;               /* Student: degrees of freedom; log-normal: sigma; else 0 */
    double epsilon, delta, rho; /* what it costs; the currencies the law does not pay in are 0 */
} brume_smooth_plan;

/* Z Laplace of scale 1: (epsilon, delta)-DP. The standard t is x = epsilon/(2 ln(2/delta)), or
 * ln(1 + x) where x > 1; s is the largest for which the exact delta of the worst neighbours is at
 * most `delta`.                                                               [NRS07, Sec. 2]
 * Requires: epsilon > 0, 0 < delta < 1/2, t < epsilon; BRUME_EARGUMENT else, and where no s > 0
 * does for this t. */
BRUME_API BRUME_MUST_USE brume_status brume_smooth_plan_laplace(double epsilon, double delta,
                                                                double t, brume_smooth_plan *out,
                                                                brume_error *error);

/* The exact delta for given s < epsilon and t, rounded up; 1 where t + s exp(-t) > epsilon. */
BRUME_API double brume_smooth_laplace_delta_upper(double epsilon, double s, double t);

/* Z Cauchy: pure epsilon = max(2 asinh(s/2), acosh(cosh t + s^2 exp(-t)/2)), exactly. The standard
 * t is ln(2 cosh epsilon - 1), the largest that costs nothing: s = 2 sinh(epsilon/2). Requires:
 * epsilon > 0, t < epsilon; else BRUME_EARGUMENT. */
BRUME_API BRUME_MUST_USE brume_status brume_smooth_plan_cauchy(double epsilon, double t,
                                                               brume_smooth_plan *out,
                                                               brume_error *error);

/* That epsilon for given s and t, rounded up. */
BRUME_API double brume_smooth_cauchy_epsilon_upper(double s, double t);

/* Z Student with d degrees of freedom: pure epsilon = d t + s (d+1)/(2 sqrt(d)). Standard t:
 * epsilon/(2d).   Requires: epsilon > 0, 1 <= degrees <= 1000, d t < epsilon. */
BRUME_API BRUME_MUST_USE brume_status brume_smooth_plan_student(double epsilon, uint64_t degrees,
                                                                double t, brume_smooth_plan *out,
                                                                brume_error *error);

/* Z = Laplace exp(sigma N): rho = (t/sigma + exp(3 sigma^2/2) s)^2 / 2; sigma minimises the
 * standard deviation for this t. [BS19, Sec. 3] Standard t: sqrt(2 rho)/10.   Requires: rho > 0. */
BRUME_API BRUME_MUST_USE brume_status brume_smooth_plan_log_normal(double rho, double t,
                                                                   brume_smooth_plan *out,
                                                                   brume_error *error);

/* Draw: *out = value + (smooth/s) Z, rounded; value and sum are clamped to +-2^61, so that the
 * draw's own limit of +-2^62 cannot show.
 * `smooth` is the secret bound in steps (0 releases the value itself), `most` a public bound on it:
 * whether the noise can be drawn is decided by `most` alone, never by the data.
 * Requires: 0 <= smooth, most/s <= 2^49; else BRUME_EARGUMENT.
 * Errors: BRUME_ERANDOM, BRUME_EMEMORY. */
BRUME_API BRUME_MUST_USE brume_status brume_smooth_release(const brume_smooth_plan *plan,
                                                           brume_bits *bits, int64_t value,
                                                           double smooth, double most, int64_t *out,
                                                           brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
