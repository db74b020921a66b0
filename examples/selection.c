/* Selection: the most common answer, and only that. Three exact mechanisms of the same epsilon. */
#include <string.h>

#include <brume/noise/select.h>

#include "must.h"

enum { CANDIDATES = 4, TRIALS = 20000 };

int main(void)
{
    static const char *const names[CANDIDATES] = {"north", "east", "south", "west"};
    const double votes[CANDIDATES] = {31, 35, 20, 33};
    /* A replaced vote moves two scores by 1 each, in opposite directions: epsilon/2 per vote. */
    const double epsilon = 0.5, coefficient = epsilon / 2;
    static const struct {
        brume_select_noise noise;
        const char *name;
    } ways[] = {{BRUME_SELECT_GUMBEL, "exponential mechanism"},
                {BRUME_SELECT_EXPONENTIAL, "permute-and-flip"},
                {BRUME_SELECT_LAPLACE, "noisy max, Laplace"}};
    brume_error error;
    brume_bits *bits = NULL;
    must(brume_bits_open(&bits, &error), &error);

    printf("votes: ");
    for (int i = 0; i < CANDIDATES; i++)
        printf("%s %g%s", names[i], votes[i], i + 1 < CANDIDATES ? ", " : "\n");
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        int won[CANDIDATES] = {0};
        for (int i = 0; i < TRIALS; i++) { /* each trial would be charged epsilon */
            size_t winner;
            must(brume_select_noisy_max(bits, ways[w].noise, coefficient, votes, CANDIDATES,
                                        &winner, &error),
                 &error);
            won[winner]++;
        }
        printf("%-22s", ways[w].name);
        for (int i = 0; i < CANDIDATES; i++)
            printf("  %s %4.1f %%", names[i], 100. * won[i] / TRIALS);
        printf("\n");
    }
    brume_bits_close(bits);
    return 0;
}
