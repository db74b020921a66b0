/* delta of a subsampled Gaussian by rays alone, in one order. */
#ifndef BRUME_TESTS_SOLVED_H
#define BRUME_TESTS_SOLVED_H

#include "accountant/ray/solve.h"
#include "check.h"

static inline brume_interval solved(double rate, double sigma, double count, bool reversed,
                                    double epsilon)
{
    brume_loss loss = {.kind = BRUME_LOSS_POISSON_GAUSSIAN, .a = sigma, .rate = rate};
    brume_law law;
    brume_error error;
    assert_ok(brume_law_open(&loss, count, reversed, &law, &error));
    brume_certified certified = {.value = {0, 1}};
    brume_rays_delta(&law, 1, epsilon, 1e-10, 1e-8, &certified, NULL);
    brume_law_close(&law);
    return certified.value;
}

#endif
