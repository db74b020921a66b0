/* The exponential adversary: every database against the answers to every subset.
 *
 * n people with a secret bit each; answers[S] is what was answered for the number of ones in the
 * subset S, a mask of n bits.   [DN03, Thm 2]   Proof: proofs/reconstruction.md.
 *
 * 1. If every answer is within E of the truth, the truth is among the candidates that are within E
 *    of all answers, and each of these has at most floor(2E) ones too few and as many too many:
 *    at most 2 floor(2E) wrong bits. There are answers for which it has that many, where n allows.
 * 2. n 2^n steps and 2^n doubles, where comparing each candidate with each subset takes 4^n: the
 *    largest difference over all subsets is found one person at a time. */
#ifndef BRUME_AUDIT_EXHAUSTIVE_H
#define BRUME_AUDIT_EXHAUSTIVE_H

#include <stdint.h>

#include <brume/status.h>

enum { BRUME_EXHAUSTIVE_PEOPLE = 24 };

/* Turn answers into residuals, in place: 2^people numbers; on return numbers[D] is the largest
 * |answers[S] - ones of D in S| over all S. Exact where the answers are multiples of 2^-20 below
 * 2^32.
 * Errors: BRUME_EOVERFLOW beyond BRUME_EXHAUSTIVE_PEOPLE, with the number of candidates;
 * BRUME_EARGUMENT for no people and for an answer that is not finite; BRUME_EMEMORY. The numbers
 * are untouched then. */
BRUME_MUST_USE brume_status brume_exhaustive(double *numbers, unsigned people, brume_error *error);

/* The refusal of the above alone. */
BRUME_MUST_USE brume_status brume_exhaustive_check(uint64_t people, brume_error *error);

/* The candidate of the least residual; the lowest mask of several. */
uint32_t brume_exhaustive_guess(const double *residuals, unsigned people);

typedef struct brume_survivors {
    uint64_t count;    /* candidates with a residual of at most E */
    unsigned farthest; /* the most wrong bits of one of them */
    double least;      /* the least residual of all candidates */
} brume_survivors;

brume_survivors brume_exhaustive_survivors(const double *residuals, unsigned people, double bound,
                                           uint32_t truth);

/* 2 floor(2E), at most `people`: the wrong bits that E can hide. */
unsigned brume_exhaustive_hidden(double bound, unsigned people);

#endif
