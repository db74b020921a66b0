/* What one release costs, in every currency its mechanism can pay in.
 *
 * Each entry is exact (the worst neighbours attain it), an upper bound, or absent. Absent means
 * "cannot be said", never "zero". All numbers are rounded up. The accountant composes costs; it
 * knows nothing of mechanisms. */
#ifndef BRUME_COST_H
#define BRUME_COST_H

#include <stdbool.h>
#include <stdint.h>

#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum brume_quality { BRUME_ABSENT = 0, BRUME_UPPER = 1, BRUME_EXACT = 2 } brume_quality;

/* The law of the privacy loss of the dominating pair, where it is known in closed form. */
typedef enum brume_loss_kind {
    BRUME_LOSS_NONE = 0,
    BRUME_LOSS_GAUSSIAN,          /* a = mu = L2 sensitivity / sigma */
    BRUME_LOSS_LAPLACE,           /* a = epsilon0 = L1 sensitivity / scale */
    BRUME_LOSS_PURE,              /* a = epsilon0: binary randomized response, the worst pure law */
    BRUME_LOSS_KARY,              /* a = epsilon0, shift = k: k-ary randomized response */
    BRUME_LOSS_DISCRETE_LAPLACE,  /* a = 1/scale, shift = integer sensitivity */
    BRUME_LOSS_DISCRETE_GAUSSIAN, /* a = sigma, shift = integer sensitivity */
    BRUME_LOSS_POISSON_GAUSSIAN,  /* a = sigma/sensitivity, rate = sampling rate; add-remove only */
    BRUME_LOSS_POISSON_PURE,      /* a = epsilon0, rate: the worst pure law on a Poisson sample;
                                     add-remove only, and so are the next */
    BRUME_LOSS_POISSON_LAPLACE,   /* a = epsilon0 = L1 sensitivity / scale, at most 16; rate */
    BRUME_LOSS_POISSON_DISCRETE_LAPLACE, /* a = 1/scale, shift = integer sensitivity, rate */
    BRUME_LOSS_POISSON_GAUSSIAN_GROUP,   /* a and rate of one record, shift = how many records, of
                                            which any may come while the others leave */
} brume_loss_kind;

typedef struct brume_loss {
    brume_loss_kind kind;
    double a;       /* see the kind */
    double rate;    /* see the kind */
    uint64_t shift; /* see the kind */
} brume_loss;

typedef struct brume_cost {
    brume_quality pure; /* epsilon, with failure probability delta_failure */
    double epsilon;
    bool epsilon_is_decimal; /* it is exactly the shortest decimal that reads as this double: as it
                                was typed; else an upper bound as it is */
    brume_quality concentrated; /* rho-zCDP, given no failure */
    double rho;
    brume_quality renyi; /* Renyi curve, given no failure; BRUME_ABSENT or renyi_upper != NULL */
    double (*renyi_upper)(const struct brume_cost *cost, double alpha);
    brume_quality loss; /* dominating pair, given no failure */
    brume_loss law;
    double delta_failure; /* probability of an unbounded loss: an atom at +infinity */
} brume_cost;

#ifdef __cplusplus
}
#endif

#endif
