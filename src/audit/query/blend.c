/* How much each of several estimates of the same odds counts. */
#include "audit/query/blend.h"

#include <math.h>
#include <string.h>

enum { SWEEPS = 40 };

/* What stands against a factor: half of this times its square, in units of log-likelihood. */
static const double PENALTY = 1;

/* The sweeps end where no factor moves by more; and by more than this none moves at once, since far
 * from where one stands the likelihood is no parabola. */
static const double STILL = 1e-3, FARTHEST = 1;

/* Newton's step for one factor: the others stay. */
static double step(const double *columns, size_t count, size_t examples, size_t which,
                   double factor, const double *sums)
{
    double slope = -PENALTY * factor, weight = PENALTY;
    for (size_t i = 0; i < examples; i++) {
        double said = columns[i * count + which];
        if (said == 0)
            continue;
        double chance = 1 / (1 + exp(-sums[i]));
        slope += ((i % 2 != 0) - chance) * said;
        weight += chance * (1 - chance) * said * said;
    }
    double by = fmax(fmin(slope / weight, FARTHEST), -FARTHEST);
    return fmax(by, -factor); /* never below 0 */
}

/* One factor after the other, again and again: with the penalty the likelihood has one maximum.
 */
void brume_blend_learn(const double *columns, size_t count, size_t examples, double *factors,
                       double *sums)
{
    memset(factors, 0, count * sizeof *factors);
    memset(sums, 0, examples * sizeof *sums);
    double moved = 1;
    for (int sweep = 0; sweep < SWEEPS && moved > STILL; sweep++) {
        moved = 0;
        for (size_t k = 0; k < count; k++) {
            double by = step(columns, count, examples, k, factors[k], sums);
            factors[k] += by;
            moved = fmax(moved, fabs(by));
            for (size_t i = 0; by != 0 && i < examples; i++)
                sums[i] += by * columns[i * count + k];
        }
    }
}
