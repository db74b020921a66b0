/* What several certified statements say together. Every one of them holds of the same number, so
 * the ends of an answer never cross: not by rounding either, since each end was rounded to its own
 * side of the truth. Where they do cross nevertheless there is a fault of brume or of libm. It must
 * not look like a perfect certificate: the answer then spans both statements, and says so. */
#include "accountant/answer.h"

#include <math.h>

static const char route_contradiction[] =
    "statements that contradict each other: a fault, please report";

bool brume_answer_is_narrow(const brume_answer *answer, double width)
{
    return answer->value.upper < INFINITY &&
           answer->value.upper - answer->value.lower <= width * answer->value.upper;
}

void brume_answer_settle(brume_answer *answer)
{
    brume_interval value = answer->value;
    if (value.lower <= value.upper)
        return;
    answer->value = (brume_interval){value.upper, value.lower};
    answer->route = route_contradiction;
    answer->contradictory = true;
    answer->excess = 0;
}

/* What it took, and whether there was a fault. */
static void add_work(brume_answer *answer, const brume_answer *other)
{
    answer->nodes += other->nodes;
    answer->rounds += other->rounds;
    answer->contradictory |= other->contradictory;
}

void brume_answer_take_lower(brume_answer *answer, const brume_answer *lower)
{
    answer->value.lower = lower->value.lower;
    add_work(answer, lower);
    brume_answer_settle(answer);
}

void brume_answer_take_upper(brume_answer *answer, const brume_answer *upper)
{
    if (upper->value.upper < answer->value.upper) {
        answer->value.upper = upper->value.upper;
        answer->route = upper->route;
        answer->excess = 0;
    }
    add_work(answer, upper);
    brume_answer_settle(answer);
}

void brume_answer_take_larger(brume_answer *answer, const brume_answer *other)
{
    if (!answer->route || other->value.upper > answer->value.upper) {
        answer->route = other->route;
        answer->excess = other->excess;
    }
    answer->value.lower = fmax(answer->value.lower, other->value.lower);
    answer->value.upper = fmax(answer->value.upper, other->value.upper);
    add_work(answer, other);
}
