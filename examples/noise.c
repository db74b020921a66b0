/* Noise: prepare a law once, then draw from it one by one or in batches. Noise is on integers; its
 * law is exact for the parameter as given. */
#include <inttypes.h>

#include <brume/noise/noise.h>

#include "must.h"

enum { DRAWS = 100000, WIDEST = 6 };

int main(void)
{
    brume_error error;
    brume_bits *bits = NULL;
    brume_noise *noise = NULL;
    static int64_t draws[DRAWS];
    must(brume_bits_open(&bits, &error), &error);
    must(brume_noise_open_discrete_laplace(2, &noise, &error), &error);

    int64_t one;
    must(brume_noise_draw(noise, bits, &one, &error), &error);
    printf("one draw: %" PRId64 "\n", one);

    must(brume_noise_fill(noise, bits, draws, DRAWS, &error), &error);
    int counts[2 * WIDEST + 1] = {0};
    for (int i = 0; i < DRAWS; i++)
        if (draws[i] >= -WIDEST && draws[i] <= WIDEST)
            counts[draws[i] + WIDEST]++;
    printf("a batch of %d, discrete Laplace of scale 2:\n", DRAWS);
    for (int k = -WIDEST; k <= WIDEST; k++)
        printf("%4d %6.2f %% %.*s\n", k, 100. * counts[k + WIDEST] / DRAWS,
               counts[k + WIDEST] * 150 / DRAWS,
               "##################################################");
    brume_noise_close(noise);
    brume_bits_close(bits);
    return 0;
}
