/* Attacks on noise that is made of doubles. Promises: both are functions of the number alone and of
 * what the attacker knows, so that what is found with them is found by post-processing; a number
 * that is missed only makes an attack weaker. */
#include "audit/floating_point.h"

#include <math.h>

/* Powers of two and a shift: every step is exact. */
int brume_precision_of(double x)
{
    int exponent;
    double fraction = frexp(x, &exponent); /* in [1/2, 1): 53 bits at most */
    if (fraction == 0)
        return BRUME_PRECISION_OF_ZERO;
    long long bits = (long long)ldexp(fabs(fraction), 53);
    return exponent - 53 + __builtin_ctzll((unsigned long long)bits);
}

/* The same operations, in the same order, as a textbook's program. */
static bool is_hit(double x, double truth, double scale, double u)
{
    double noise = scale * log(u);
    return truth + noise == x || truth - noise == x;
}

bool brume_textbook_reaches(double x, double truth, double scale)
{
    enum { MOST = 64 }; /* candidates on each side; rounding leaves a few */
    static const double grid = 0x1p53;
    double centre = rint(exp(-fabs(x - truth) / scale) * grid);
    /* the result was rounded: to the steps of x, of the truth and of the noise between them */
    double rounded = 0x1p-52 * (fabs(x) + fabs(truth) + fabs(x - truth));
    double around = fmin(ceil(rounded / scale * centre) + 2, MOST);
    for (double m = centre - around; m <= centre + around; m++)
        if (m >= 1 && m <= grid && is_hit(x, truth, scale, m / grid))
            return true;
    return false;
}

uint32_t brume_textbook_reached(double x, const brume_truth *truths, size_t count)
{
    uint32_t reached = 0;
    for (size_t i = 0; i < count && i < 32; i++) {
        const brume_truth *of = &truths[i];
        bool is_there = isfinite(of->answer) && isfinite(of->scale) && of->scale > 0;
        if (is_there && brume_textbook_reaches(x, of->answer, of->scale))
            reached |= UINT32_C(1) << i;
    }
    return reached;
}
