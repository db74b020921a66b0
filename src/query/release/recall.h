/* A recorded answer, read again by the number of its charge. */
#ifndef BRUME_QUERY_RECALL_H
#define BRUME_QUERY_RECALL_H

#include "ledger/ledger.h"
#include "query/release/answer.h"

/* The answer of a query that was paid for, as it was given; `cached` is true and `remaining` is
 * what is left now. Spends nothing and cannot: there is no price in it, and no source is opened.
 * EUNKNOWN: no such charge, or it has no answer; EUNSUPPORTED: it is of no query. */
BRUME_MUST_USE brume_status brume_recall(brume_ledger *ledger, uint64_t charge,
                                         brume_query_answer **answer, brume_error *error);

#endif
