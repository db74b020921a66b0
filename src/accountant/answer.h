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

/* Is the interval as narrow as asked, relative to its upper end? */
bool brume_answer_is_narrow(const brume_answer *answer, double width);

/* The ends of an answer whose statements were all taken: where they cross, the larger is the upper
 * one and the answer is contradictory. Every answer passes here before it is used. */
void brume_answer_settle(brume_answer *answer);

/* Take the lower end of laws that the laws of `answer` dominate, in place of its own; take the
 * upper end of laws that dominate those of `answer`, if it is below. Both settle it. */
void brume_answer_take_lower(brume_answer *answer, const brume_answer *lower);
void brume_answer_take_upper(brume_answer *answer, const brume_answer *upper);

/* The larger of two numbers: both ends take the larger. */
void brume_answer_take_larger(brume_answer *answer, const brume_answer *other);

/* What came out when a sum was done again in ball arithmetic. */
typedef struct brume_audit {
    bool agrees;  /* |double sum - ball| <= claimed error, for certain */
    double ratio; /* a bound of |double sum - ball| / claimed error */
    size_t nodes; /* recomputed */
} brume_audit;

#endif
