/* Gaussian: noise for many counts at once. A voter may tick up to thirty of a hundred boxes; in the
 * L2 norm that is a change of sqrt(30), not 30, which is what Gaussian noise is for. */
#include <inttypes.h>

#include <brume/noise/gaussian.h>
#include <brume/noise/laplace.h>
#include <brume/mechanism/sensitivity.h>

#include "must.h"

enum { BOXES = 100, TICKS = 30 };

int main(void)
{
    int64_t counts[BOXES], released[BOXES];
    for (int i = 0; i < BOXES; i++)
        counts[i] = 5000 - 37 * i;
    const double epsilon = 1, delta = 1e-6;
    brume_error error;
    brume_bits *bits = NULL;
    brume_sensitivity change;
    double sigma, scale;
    must(brume_bits_open(&bits, &error), &error);
    must(brume_sensitivity_votes(BRUME_ADD_REMOVE, BRUME_BALLOT_AT_MOST, BOXES, TICKS, &change,
                                 &error),
         &error);
    must(brume_gaussian_sigma(epsilon, delta, change.l2, &sigma, &error), &error);
    must(brume_laplace_scale(change.l1, epsilon, &scale, &error), &error);
    must(brume_gaussian_add(bits, sigma, counts, released, BOXES, &error), &error);
    printf("L1 sensitivity %g, L2 sensitivity %g\n", change.l1, change.l2);
    printf("(%g, %g): Gaussian noise of deviation %.4g; Laplace would need %.4g for %g alone\n",
           epsilon, delta, sigma, 1.4142135623730951 * scale, epsilon);
    for (int i = 0; i < 3; i++)
        printf("box %d: %" PRId64 "\n", i + 1, released[i]);
    brume_bits_close(bits);
    return 0;
}
