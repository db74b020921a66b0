/* What the folders of the accountant hand to each other: an answer, and the result of an audit. */
#ifndef BRUME_ACCOUNTANT_ANSWER_H
#define BRUME_ACCOUNTANT_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/interval.h>

typedef struct brume_answer {
    brume_interval value;
    uint64_t nodes;
    unsigned rounds;
    const char *route;
    bool balls;         /* the upper end comes from ball arithmetic already */
    double excess;      /* of a delta: the band's part of the upper end, an estimate */
    bool contradictory; /* certified statements contradicted each other: a fault */
} brume_answer;

/* What came out when a sum was done again in ball arithmetic. */
typedef struct brume_audit {
    bool agrees;  /* |double sum - ball| <= claimed error, for certain */
    double ratio; /* a bound of |double sum - ball| / claimed error */
    size_t nodes; /* recomputed */
} brume_audit;

#endif
