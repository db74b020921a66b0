/* Moments of the loss. See the header.
 *
 * With K(0) = 0 the values at h, 2h, 3h and 4h give K'(0) and K''(0) up to h^4 and h^3 of the next
 * derivatives. Cumulants are relative to their own size where they are small, so a small h loses
 * little. Promise: the interval contains the divergence for every parameter within its 8 units; on
 * a Poisson sample, for the parameters as given. */
#include "accountant/law/moments.h"

static const double unit = BRUME_UNIT;

/* A step at which one draw's cumulant is nearly a parabola: small beside the inverse of the loss's
 * size, of which log E e^L is about a half of the square, or, if it is large, the loss itself. */
static double step_of(brume_law *law)
{
    double size = (double)brume_law_cumulant(law, 1, NULL, NULL);
    return 0x1p-9 / fmax(size, sqrt(2 * fmax(size, 0)));
}

bool brume_loss_moments(brume_law *laws, size_t count, double *mean, double *variance)
{
    double first = 0, second = 0;
    for (size_t i = 0; i < count; i++) {
        double h = step_of(&laws[i]), error;
        if (!(h > 0))
            return false;
        long double k[5] = {0};
        for (int j = 1; j <= 4; j++)
            k[j] = brume_law_cumulant(&laws[i], j * h, NULL, &error);
        long double slope = (48 * k[1] - 36 * k[2] + 16 * k[3] - 3 * k[4]) / (12 * h);
        long double bend = (-104 * k[1] + 114 * k[2] - 56 * k[3] + 11 * k[4]) / (12 * h * h);
        first += laws[i].count * (double)slope;
        second += laws[i].count * (double)bend;
    }
    if (!isfinite(first) || !isfinite(second))
        return false;
    *mean = first;
    *variance = second;
    return true;
}

brume_interval brume_loss_renyi(brume_law *laws, size_t count, double c)
{
    long double sum = 0;
    double off = 0;
    for (size_t i = 0; i < count; i++) {
        double error;
        long double value = brume_law_cumulant(&laws[i], c, NULL, &error);
        sum += laws[i].count * value;
        /* the count above 2^53, the product and the sum by one unit each */
        off += laws[i].count * (error + 4 * unit * (double)fabsl(value));
    }
    double value = (double)sum / c, slack = (off / c + 4 * unit * fabs(value)) * (1 + 1e-9);
    if (!(slack < INFINITY) || !isfinite(value))
        return (brume_interval){0, INFINITY};
    return (brume_interval){fmax(0, value - slack), value + slack};
}
