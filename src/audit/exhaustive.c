/* The exponential adversary. Promises: see exhaustive.h; nothing here knows the secret but the
 * function that counts survivors.
 *
 * max over S of answers[S] - |S and D| is a product of 2 by 2 matrices over (max, +): for person i
 * the pair of "i not in S" and "i in S" becomes that of "D has no i", max(out, in), and "D has i",
 * max(out, in - 1). The other sign likewise with -answers and in + 1. */
#include "audit/exhaustive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

brume_status brume_exhaustive_check(uint64_t people, brume_error *error)
{
    if (people == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "there must be at least one person");
    if (people > BRUME_EXHAUSTIVE_PEOPLE)
        return brume_fail(error, BRUME_EOVERFLOW, "the polynomial adversary takes thousands",
                          "%llu people are 2^%llu = %.4g candidates, at most 2^%d can be tried",
                          (unsigned long long)people, (unsigned long long)people,
                          exp2((double)people), BRUME_EXHAUSTIVE_PEOPLE);
    return BRUME_OK;
}

static void transform(double *numbers, size_t size, double ones)
{
    for (size_t half = 1; half < size; half *= 2)
        for (size_t block = 0; block < size; block += 2 * half)
            for (size_t i = block; i < block + half; i++) {
                double out = numbers[i], in = numbers[i + half], with = in + ones;
                numbers[i] = out > in ? out : in;
                numbers[i + half] = out > with ? out : with;
            }
}

brume_status brume_exhaustive(double *numbers, unsigned people, brume_error *error)
{
    BRUME_TRY(brume_exhaustive_check(people, error));
    size_t size = (size_t)1 << people;
    for (size_t i = 0; i < size; i++)
        if (!isfinite(numbers[i]))
            return brume_fail(error, BRUME_EARGUMENT, NULL, "answer %zu is not a finite number", i);
    double *below = malloc(size * sizeof *below);
    if (!below)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for 2^%u candidates", people);
    for (size_t i = 0; i < size; i++)
        below[i] = -numbers[i];
    transform(numbers, size, -1);
    transform(below, size, 1);
    for (size_t i = 0; i < size; i++)
        numbers[i] = numbers[i] > below[i] ? numbers[i] : below[i];
    free(below);
    return BRUME_OK;
}

uint32_t brume_exhaustive_guess(const double *residuals, unsigned people)
{
    size_t best = 0;
    for (size_t i = 1; i < (size_t)1 << people; i++)
        if (residuals[i] < residuals[best])
            best = i;
    return (uint32_t)best;
}

brume_survivors brume_exhaustive_survivors(const double *residuals, unsigned people, double bound,
                                           uint32_t truth)
{
    brume_survivors survivors = {.least = INFINITY};
    for (size_t i = 0; i < (size_t)1 << people; i++) {
        if (residuals[i] < survivors.least)
            survivors.least = residuals[i];
        if (!(residuals[i] <= bound))
            continue;
        unsigned wrong = (unsigned)__builtin_popcount((uint32_t)i ^ truth);
        survivors.count++;
        survivors.farthest = wrong > survivors.farthest ? wrong : survivors.farthest;
    }
    return survivors;
}

unsigned brume_exhaustive_hidden(double bound, unsigned people)
{
    double hidden = 2 * floor(2 * bound);
    return hidden < people ? (unsigned)hidden : people;
}
