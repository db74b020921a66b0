/* Where the rows of a query are bounded: in brume, to which they are streamed, or where they lie,
 * by the server that has them (collect/pushed/). Nothing else depends on it: not the price, nor
 * the noise, nor the law of the answer, so that an answer that is in the ledger is read again
 * either way. Decided by what was typed, the policies and the plan, all of them public. */
#ifndef BRUME_QUERY_PLACE_H
#define BRUME_QUERY_PLACE_H

#include "query/plan/question.h"

/* Decide, and write it into the plan. With BRUME_WHERE_AUTO rows are streamed, which takes less
 * processor time (docs/scale.md), unless the owner of a dataset of the query says that they stay,
 * or how many they are is declared and they may need more memory here than half of what the machine
 * has. The size of a table, which the server would tell, has no part in it: where a query runs
 * shows in what `explain` says and in its time, and a size is data. EUNSUPPORTED: they must stay,
 * or are to stay, and the query needs them outside; the message says what for. EPOLICY: they are
 * asked to leave, and must stay. */
BRUME_MUST_USE brume_status brume_place(const brume_question *question, brume_plan *plan,
                                        brume_where asked, brume_error *error);

/* For all sources together. EUNSUPPORTED where they are of different kinds. */
BRUME_MUST_USE brume_status brume_place_dialect(const brume_question *question,
                                                brume_dialect *dialect, brume_error *error);

#endif
