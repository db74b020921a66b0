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
#ifndef BRUME_QUERY_REHEARSE_H
#define BRUME_QUERY_REHEARSE_H

#include "query/plan/question.h"
#include "query/plan/plan_terms.h"

BRUME_MUST_USE brume_status brume_rehearse(const brume_question *question, const brume_terms *terms,
                                           brume_error *error);

#endif
