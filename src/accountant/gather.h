/* Terms gathered into laws: equal ones merged, Gaussians added up, failures multiplied out. */
#ifndef BRUME_ACCOUNTANT_GATHER_H
#define BRUME_ACCOUNTANT_GATHER_H

#include <brume/compose.h>

#include "accountant/law.h"

typedef struct brume_gathered {
    brume_law *laws;
    size_t law_count;
    double failure;              /* mass at +infinity */
    double failure_error;        /* its relative error; 0: exact */
    brume_interval failure_ends; /* certified */
    bool infinite;               /* a term fails for certain */
    bool symmetric;              /* both orders are the same */
    bool bounded;                /* every finite loss has a largest value */
    bool has_lower;              /* every law is attained */
    size_t curve_count;          /* terms with a Renyi curve or rho only, not in `laws` */
} brume_gathered;

BRUME_MUST_USE brume_status brume_gather(const brume_term *terms, size_t count, bool reversed,
                                         brume_gathered *out, brume_error *error);
void brume_gathered_close(brume_gathered *gathered);

#endif
