/* The first step of every query: parse it, choose its price, plan it and rehearse it. Reads no
 * row that needs protection and spends nothing. */
#ifndef BRUME_QUERY_PREPARE_H
#define BRUME_QUERY_PREPARE_H

#include "query/plan/plan_terms.h"
#include "query/plan/question.h"
#include "query/plan/target.h"

/* The question, its plan, at the price typed or, with a `target` (NULL: none), at the one that the
 * target takes, and its terms, with what the ledger knows of its limits. A question of public
 * tables only has neither plan nor terms and takes no price: both stay as they are. What was made
 * before an error is the caller's to close. */
BRUME_MUST_USE brume_status brume_prepare(brume_ledger *ledger, const char *sql,
                                          const brume_payment *payment, const brume_target *target,
                                          brume_question **question, brume_plan **plan,
                                          brume_terms **terms, brume_error *error);

/* May the user for whom the ledger acts write one more question and answer to it? EPOLICY. */
BRUME_MUST_USE brume_status brume_check_ledger_bytes(brume_ledger *ledger,
                                                     const brume_question *question,
                                                     brume_error *error);

/* Rehearsal: everything that a plan will need, tried before anything is charged.
 *
 * What explain accepts, query answers: what can fail for reasons that are known without a row fails
 * here, so that nothing is charged for it. The statements for the engine are printed, the noise and
 * the selections of the plan are drawn once on one group of nobody's values, and the answer is put
 * together; all of it is thrown away. What is left to fail later is the source, the engine, the
 * disk, memory and a signal.
 *
 * EUNSUPPORTED: more values, columns or numbers than brume or the engine can hold; the others are
 * those of brume_collect_and_draw. */

BRUME_MUST_USE brume_status brume_rehearse(const brume_question *question, const brume_terms *terms,
                                           brume_error *error);

#endif
