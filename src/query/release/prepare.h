/* The first step of every query: parse it, choose its price, plan it and rehearse it. Reads no
 * row that needs protection and spends nothing. */
#ifndef BRUME_QUERY_PREPARE_H
#define BRUME_QUERY_PREPARE_H

#include "query/plan/plan.h"
#include "query/plan/question.h"
#include "query/plan/target.h"

/* The question and its plan, at the price typed or, with a `target` (NULL: none), at the one that
 * the target takes. A question of public tables only has no plan and takes no price: *plan stays as
 * it is. What was made before an error is the caller's to close. */
BRUME_MUST_USE brume_status brume_prepare(brume_ledger *ledger, const char *sql,
                                          const brume_payment *payment, const brume_target *target,
                                          brume_question **question, brume_plan **plan,
                                          brume_error *error);

/* May the user for whom the ledger acts write one more question and answer to it? EPOLICY. */
BRUME_MUST_USE brume_status brume_check_ledger_bytes(brume_ledger *ledger,
                                                     const brume_question *question,
                                                     brume_error *error);

#endif
