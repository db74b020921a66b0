/* Reconstruction: what an adversary who may ask for counts over subsets learns of secret bits. */
#ifndef BRUME_AUDIT_RECONSTRUCT_H
#define BRUME_AUDIT_RECONSTRUCT_H

#include <stddef.h>
#include <stdint.h>

#include "audit/curator.h"

typedef enum brume_adversary {
    BRUME_ADVERSARY_EXPONENTIAL = 1, /* all subsets, all candidates: exhaustive.h */
    BRUME_ADVERSARY_POLYNOMIAL = 2,  /* random subsets, least squares in a box: least_squares.h */
} brume_adversary;

typedef struct brume_attack brume_attack;

/* An attack on `people` secret bits (0 or 1, copied). `queries` random subsets, those of `number`,
 * for the polynomial adversary; the exponential one asks all 2^people and takes 0.
 * Errors: BRUME_EARGUMENT for nobody, no queries or something that is no bit; BRUME_EOVERFLOW for
 * too many, with how many; BRUME_EMEMORY. Close with brume_attack_close, which wipes. */
BRUME_MUST_USE brume_status brume_attack_open(brume_adversary adversary, const uint8_t *secret,
                                              size_t people, size_t queries, uint64_t number,
                                              brume_attack **out, brume_error *error);
void brume_attack_close(brume_attack *attack);

/* How many queries there are, and how many answers one person's bit can move. */
size_t brume_attack_queries(const brume_attack *attack);
size_t brume_attack_moved(const brume_attack *attack);

typedef struct brume_recovery {
    size_t recovered;    /* bits that the guess has right */
    double square_error; /* root of the mean square of answer - truth */
    double residual;     /* exponential: of the guess */
    uint64_t survivors; /* exponential, bounded noise: candidates within the bound of all answers */
    size_t farthest;    /* and the most wrong bits of one of them */
    double gap;         /* polynomial: how far from the least squares it stopped, at most */
} brume_recovery;

/* One run: the curator answers, the adversary guesses. */
BRUME_MUST_USE brume_status brume_attack_run(brume_attack *attack, const brume_curator *curator,
                                             brume_bits *bits, brume_recovery *out,
                                             brume_error *error);

#endif
