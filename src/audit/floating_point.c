/* Attacks on noise that is made of doubles. */
#include "audit/floating_point.h"

#include <math.h>

int brume_precision_of(double x)
{
    int exponent;
    double fraction = frexp(x, &exponent); /* in [1/2, 1): 53 bits at most */
    if (fraction == 0)
        return BRUME_PRECISION_OF_ZERO;
    long long bits = (long long)ldexp(fabs(fraction), 53);
    return exponent - 53 + __builtin_ctzll((unsigned long long)bits);
}

static bool is_hit(double x, double truth, double scale, double u)
{
    double noise = scale * log(u);
    return truth + noise == x || truth - noise == x;
}

bool brume_textbook_reaches(double x, double truth, double scale)
{
    enum { MOST = 64 };
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
