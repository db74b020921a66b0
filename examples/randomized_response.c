/* Randomized response: a survey with four answers in which nobody's own answer can be known. */
#include <string.h>

#include <brume/noise/primitive.h>
#include <brume/noise/randomized_response.h>

#include "must.h"

enum { PEOPLE = 50000, ANSWERS = 4 };

int main(void)
{
    static const char *const names[ANSWERS] = {"never", "rarely", "weekly", "daily"};
    const double epsilon = 2, beta = 0.05;
    static uint8_t truth[PEOPLE], answers[PEOPLE];
    brume_error error;
    brume_bits *bits = NULL;
    must(brume_bits_open(&bits, &error), &error);

    uint64_t true_count[ANSWERS] = {0}, count[ANSWERS] = {0};
    for (int i = 0; i < PEOPLE; i++) { /* 40, 30, 20 and 10 per cent */
        uint64_t tenth;
        must(brume_sample_below(bits, 10, &tenth, &error), &error);
        truth[i] = (uint8_t)(tenth < 4 ? 0 : tenth < 7 ? 1 : tenth < 9 ? 2 : 3);
        true_count[truth[i]]++;
    }
    must(brume_randomized_response(bits, epsilon, ANSWERS, truth, answers, PEOPLE, &error), &error);
    for (int i = 0; i < PEOPLE; i++)
        count[answers[i]]++;
    printf("%-8s %9s %9s %10s   %s\n", "", "truth", "answered", "estimate", "all four at 95 %");
    for (int k = 0; k < ANSWERS; k++) {
        brume_share share;
        must(brume_randomized_response_estimate(epsilon, ANSWERS, count[k], PEOPLE, beta, ANSWERS,
                                                &share, &error),
             &error);
        printf("%-8s %7.2f %% %7.2f %% %8.2f %%   [%.2f %%, %.2f %%]\n", names[k],
               100. * (double)true_count[k] / PEOPLE, 100. * (double)count[k] / PEOPLE,
               100 * share.estimate, 100 * share.lower, 100 * share.upper);
    }
    brume_bits_close(bits);
    return 0;
}
