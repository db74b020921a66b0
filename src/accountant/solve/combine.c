/* What several certified statements say together. Every one of them holds of the same number, so
 * the ends of an answer never cross: not by rounding either, since each end was rounded to its own
 * side of the truth. Where they do cross nevertheless there is a fault of brume or of libm. It must
 * not look like a perfect certificate: the answer then spans both statements, and says so. */
#include "accountant/solve/solve.h"

static const char route_contradiction[] =
    "statements that contradict each other: a fault, please report";

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

void brume_answer_take_lower(brume_answer *answer, const brume_answer *lower)
{
    answer->value.lower = lower->value.lower;
    answer->nodes += lower->nodes;
    answer->rounds += lower->rounds;
    answer->contradictory |= lower->contradictory;
    brume_answer_settle(answer);
}

void brume_answer_take_upper(brume_answer *answer, const brume_answer *upper)
{
    answer->contradictory |= upper->contradictory;
    if (upper->value.upper < answer->value.upper) {
        answer->value.upper = upper->value.upper;
        answer->route = upper->route;
        answer->excess = 0;
    }
    answer->nodes += upper->nodes;
    answer->rounds += upper->rounds;
    brume_answer_settle(answer);
}
