/* The terms of a sum over atoms and Laplace draws: inner atoms, those of the law with the most of
 * them, and outer terms, an atom of each other lattice law and a shift of the Laplaces, which has
 * an order. proofs/accountant.md, section 22. */
#ifndef BRUME_ACCOUNTANT_ONCE_TERMS_H
#define BRUME_ACCOUNTANT_ONCE_TERMS_H

#include "accountant/law.h"

enum { BRUME_ONCE_LANES = 8 }; /* so many zeros follow the weights */

/* One outer term. */
typedef struct brume_outer {
    double place;       /* l_o */
    double weight;      /* c_o; negative ones come from the Laplaces' integrals */
    double size;        /* at least its modulus: what its relative error is of */
    double tilt;        /* e^{-l_o/2}, from the middle on */
    double bound;       /* its pairs with inner atoms of mass p count at most bound p in delta */
    size_t order;       /* k */
    size_t first, last; /* its inner atoms that count */
} brume_outer;

typedef struct brume_once_terms {
    brume_outer *outers;
    size_t outer_count;
    double *weight;             /* inner: p e^{-a/2}, a from its middle on */
    bool none;                  /* there is no sampled draw; then for j = 0, 1 .. count: */
    long double *upper, *lower; /* the sums of p and of p e^{-a} over the inner atoms before j */
    size_t inner_count;
    double top, step;    /* inner losses are top - step j */
    double missed;       /* what was left out counts at most that, in delta */
    double weight_error; /* relative, of every product of weights */
    double place_error;  /* of every place */
    double reach;        /* of the largest place */
    double middle;       /* weights carry e^{-(place - middle)/2}: the sum of the laws' middles */
    double inner_middle; /* the inner law's part of it */
    double spread;       /* how far from there places are at most */
    double tilt_error;   /* relative, of every product of tilts, squared */
    double per_step;     /* 1/step */
    double pairs;
} brume_once_terms;

/* All draws of `laws`, for deltas of the size of `delta` or more; `none`: without a sampled draw,
 * whose terms of order 0 cost next to nothing. False if a law is of another kind, if there are more
 * than `most_pairs` terms, or if memory ran out; close it in any case. */
BRUME_MUST_USE bool brume_once_terms_open(const brume_law *laws, size_t count, double delta,
                                          double most_pairs, bool none, brume_once_terms *out);
void brume_once_terms_close(brume_once_terms *terms);

#endif
