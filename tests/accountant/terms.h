/* Short ways to write terms in the tests of the accountant. */
#ifndef BRUME_TESTS_TERMS_H
#define BRUME_TESTS_TERMS_H

#include <brume/account/compose.h>

static inline brume_term term_of(brume_loss_kind kind, double a, double rate, uint64_t shift,
                                 uint64_t count)
{
    brume_term term = {.count = count};
    term.cost.loss = BRUME_EXACT;
    term.cost.law = (brume_loss){.kind = kind, .a = a, .rate = rate, .shift = shift};
    return term;
}

static inline brume_term gaussian(double sigma, uint64_t count)
{
    return term_of(BRUME_LOSS_GAUSSIAN, 1 / sigma, 0, 0, count);
}

static inline brume_term laplace(double epsilon, uint64_t count)
{
    return term_of(BRUME_LOSS_LAPLACE, epsilon, 0, 0, count);
}

static inline brume_term pure(double epsilon, uint64_t count)
{
    return term_of(BRUME_LOSS_PURE, epsilon, 0, 0, count);
}

static inline brume_term kary(double epsilon, uint64_t k, uint64_t count)
{
    return term_of(BRUME_LOSS_KARY, epsilon, 0, k, count);
}

static inline brume_term discrete_laplace(double a, uint64_t shift, uint64_t count)
{
    return term_of(BRUME_LOSS_DISCRETE_LAPLACE, a, 0, shift, count);
}

static inline brume_term discrete_gaussian(double sigma, uint64_t shift, uint64_t count)
{
    return term_of(BRUME_LOSS_DISCRETE_GAUSSIAN, sigma, 0, shift, count);
}

static inline brume_term poisson_gaussian(double rate, double sigma, uint64_t count)
{
    return term_of(BRUME_LOSS_POISSON_GAUSSIAN, sigma, rate, 0, count);
}

static inline brume_term approximate(double epsilon, double delta, uint64_t count)
{
    brume_term term = {.count = count};
    term.cost.pure = BRUME_EXACT;
    term.cost.epsilon = epsilon;
    term.cost.delta_failure = delta;
    return term;
}

static inline brume_term concentrated(double rho, uint64_t count)
{
    brume_term term = {.count = count};
    term.cost.concentrated = BRUME_EXACT;
    term.cost.rho = rho;
    return term;
}

#endif
