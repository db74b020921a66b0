/* What releases cost together, by the method of your choice.
 *
 * compose.h has the tightest answer; the classical methods are here too, for teaching and for
 * comparison, every one an upper bound rounded up. They are for releases whose costs are fixed in
 * advance; whether one more query fits is a filter's question (filter.h). */
#ifndef BRUME_METHOD_H
#define BRUME_METHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/account/compose.h>
#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum brume_method {
    BRUME_METHOD_AUTO = 0,      /* the tightest sound one that applies */
    BRUME_METHOD_BASIC,         /* epsilons and deltas add */
    BRUME_METHOD_ADVANCED,      /* martingale bound with the exact worst mean; basic if smaller */
    BRUME_METHOD_ADVANCED_HALF, /* the textbooks' forms of it, never smaller: sum eps^2 / 2, */
    BRUME_METHOD_ADVANCED_EXP,  /* ... sum eps (e^eps - 1), */
    BRUME_METHOD_ADVANCED_2,    /* ... 2 sum eps^2 as the mean */
    BRUME_METHOD_OPTIMAL,       /* exact worst case of (epsilon, delta) guarantees, rounded up */
    BRUME_METHOD_ZCDP,          /* rhos add; tight conversion */
    BRUME_METHOD_ZCDP_CLOSED,   /* rhos add; rho + 2 sqrt(rho ln(1/delta)) */
    BRUME_METHOD_RDP,           /* Renyi curves add; tight conversion at the best order */
    BRUME_METHOD_PLD,           /* certified composition of the laws of the privacy loss */
} brume_method;

typedef struct brume_method_card {
    brume_method method;
    const char *name;    /* "basic" */
    const char *summary; /* one line */
    const char *needs;   /* what each release must have: "a pure epsilon" */
} brume_method_card;

/* The methods in the order above without auto; *count of them. */
BRUME_API const brume_method_card *brume_methods(size_t *count);

/* Does the method apply to a release of this cost? Auto: does any? */
BRUME_API bool brume_method_applies(brume_method method, const brume_cost *cost);

typedef struct brume_bound {
    double
        upper; /* epsilon of a delta, or delta of an epsilon; infinite or 1 where there is none */
    double lower; /* meaningful only if has_lower */
    bool has_lower;
    bool infinite;       /* no finite epsilon */
    bool contradictory;  /* as in a composition: two statements contradict each other, a fault */
    brume_method method; /* the one that gave it; never auto */
    const char *route;   /* how, a constant text */
} brume_bound;

/* Bound by one method. Requires 0 <= delta < 1, a finite epsilon >= 0, counts 1 .. 2^63-1.
 * Errors: BRUME_EARGUMENT; BRUME_EUNSUPPORTED if the method does not apply to a term, or cannot be
 * computed for so many; BRUME_EMEMORY. */
BRUME_API BRUME_MUST_USE brume_status brume_account_epsilon(brume_method method,
                                                            const brume_term *terms, size_t count,
                                                            double delta, brume_bound *out,
                                                            brume_error *error);
BRUME_API BRUME_MUST_USE brume_status brume_account_delta(brume_method method,
                                                          const brume_term *terms, size_t count,
                                                          double epsilon, brume_bound *out,
                                                          brume_error *error);

/* The cost for a group of `size` units that change together, in every currency where it is known:
 * laws of shifts shift further, pure epsilon and the tight delta, size^2 rho. BRUME_EUNSUPPORTED if
 * nothing is left. */
BRUME_API BRUME_MUST_USE brume_status brume_cost_group(const brume_cost *cost, uint64_t size,
                                                       brume_cost *out, brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
