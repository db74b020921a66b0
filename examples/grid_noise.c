/* Grid noise: a real number with real noise, rounded once to a grid that does not depend on data.
 */
#include <inttypes.h>
#include <math.h>

#include <brume/noise/grid_noise.h>

#include "must.h"

int main(void)
{
    static const struct {
        const char *name;
        brume_grid_law law;
        double shape;
    } laws[] = {
        {"Laplace", BRUME_GRID_LAPLACE, 0},
        {"Gaussian", BRUME_GRID_GAUSSIAN, 0},
        {"Cauchy", BRUME_GRID_CAUCHY, 0},
        {"Student, 3 degrees", BRUME_GRID_STUDENT, 3},
        {"Laplace-log-normal", BRUME_GRID_LAPLACE_LOG_NORMAL, 0.5},
    };
    const int exponent = -10; /* answers are multiples of 2^-10 */
    brume_error error;
    brume_bits *bits = NULL;
    must(brume_bits_open(&bits, &error), &error);
    printf("36.6 with noise of scale 0.5, on the grid 2^-10:\n");
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        int64_t steps;
        must(
            brume_grid_noise(bits, laws[i].law, laws[i].shape, 36.6, 0.5, exponent, &steps, &error),
            &error);
        printf("%-20s %10.4f = %" PRId64 " steps\n", laws[i].name, ldexp((double)steps, exponent),
               steps);
    }
    brume_bits_close(bits);
    return 0;
}
