/* Directed arithmetic in doubles: *_up is the least double not below the exact result, *_down the
 * greatest not above it, for the operands as they are. Near underflow an *_up or *_down may be one
 * step further out than need be, never on the wrong side.
 *
 * The four operations and the root round to nearest first; the sign of the exact remainder, which
 * a fused multiply-add or a two-sum gives without error, says whether a step is due. So exact
 * results stay exact: 0.5 + 0.25 is 0.75 in both directions. The functions are MPFR's, correctly
 * rounded in the named direction, about a microsecond each.
 *
 * Requires the round-to-nearest mode and no -ffast-math. NaN in, NaN out. */
#ifndef BRUME_NUMBER_ROUNDING_H
#define BRUME_NUMBER_ROUNDING_H

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* The next double above x; infinity stays. */
static inline double brume_up(double x)
{
    return nextafter(x, INFINITY);
}

/* The next double below x; minus infinity stays; infinity becomes DBL_MAX. */
static inline double brume_down(double x)
{
    return nextafter(x, -INFINITY);
}

/* Below this a remainder may itself be lost to underflow: then always take the step. */
#define BRUME_ROUNDING_SMALL 0x1p-960

/* Sign of (exact a + b) - (a + b), for a finite sum.                     [Knu98, 4.2.2, Thm B] */
static inline double brume_add_remainder_(double a, double b, double sum)
{
    double b_part = sum - a, a_part = sum - b_part;
    return (a - a_part) + (b - b_part);
}

static inline double brume_add_up(double a, double b)
{
    double sum = a + b;
    if (!isfinite(sum)) /* overflow: +inf is above; -inf of finite operands is not */
        return sum < 0 && isfinite(a) && isfinite(b) ? -DBL_MAX : sum;
    return brume_add_remainder_(a, b, sum) > 0 ? brume_up(sum) : sum;
}

static inline double brume_add_down(double a, double b)
{
    return -brume_add_up(-a, -b);
}

static inline double brume_subtract_up(double a, double b)
{
    return brume_add_up(a, -b);
}

static inline double brume_subtract_down(double a, double b)
{
    return brume_add_down(a, -b);
}

static inline double brume_multiply_up(double a, double b)
{
    double product = a * b;
    if (a == 0 || b == 0 || !isfinite(a) || !isfinite(b))
        return product;
    if (!isfinite(product))
        return product < 0 ? -DBL_MAX : product;
    if (fabs(product) < BRUME_ROUNDING_SMALL)
        return brume_up(product);
    return fma(a, b, -product) > 0 ? brume_up(product) : product;
}

static inline double brume_multiply_down(double a, double b)
{
    return -brume_multiply_up(-a, b);
}

static inline double brume_divide_up(double a, double b)
{
    double quotient = a / b;
    if (a == 0 || b == 0 || !isfinite(a) || !isfinite(b))
        return quotient;
    if (!isfinite(quotient))
        return quotient < 0 ? -DBL_MAX : quotient;
    if (fabs(quotient) < BRUME_ROUNDING_SMALL || fabs(a) < BRUME_ROUNDING_SMALL)
        return brume_up(quotient);
    /* quotient < a/b  iff  quotient*b - a has the sign of -b */
    double remainder = fma(quotient, b, -a);
    return (b > 0 ? remainder < 0 : remainder > 0) ? brume_up(quotient) : quotient;
}

static inline double brume_divide_down(double a, double b)
{
    return -brume_divide_up(-a, b);
}

static inline double brume_sqrt_up(double x)
{
    double root = sqrt(x);
    if (!(x > 0) || !isfinite(x))
        return root;
    if (x < BRUME_ROUNDING_SMALL)
        return brume_up(root);
    return fma(root, root, -x) < 0 ? brume_up(root) : root;
}

static inline double brume_sqrt_down(double x)
{
    double root = sqrt(x);
    if (!(x > 0) || !isfinite(x))
        return root;
    if (x < BRUME_ROUNDING_SMALL)
        return brume_down(root);
    return fma(root, root, -x) > 0 ? brume_down(root) : root;
}

/* Correctly rounded in the named direction. */
double brume_exp_up(double x);
double brume_exp_down(double x);
double brume_expm1_up(double x);
double brume_expm1_down(double x);
double brume_log_up(double x);
double brume_log_down(double x);
double brume_log1p_up(double x);
double brume_log1p_down(double x);
double brume_tanh_up(double x);
double brume_tanh_down(double x);
double brume_erfc_up(double x);
double brume_erfc_down(double x);

/* A non-negative integer as a double, rounded up. */
double brume_count_up(unsigned long long count);

#endif
