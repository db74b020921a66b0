/* Queries of public tables only: read by the engine, exact and free. Nothing is charged, and
 * nothing is recorded. */
#ifndef BRUME_QUERY_ASK_PUBLIC_H
#define BRUME_QUERY_ASK_PUBLIC_H

#include "query/plan/question.h"
#include "query/release/answer.h"
#include "query/release/spend.h"

/* The engine over all tables of a question. */
BRUME_MUST_USE brume_status brume_question_engine(const brume_question *question,
                                                  brume_engine **out, brume_error *error);

/* Answer a question that has an `open_query`, here or `elsewhere`. EPOLICY: a source of it has
 * become another dataset's; EENGINE: the engine cannot run it. */
BRUME_MUST_USE brume_status brume_ask_public(brume_ledger *ledger, const brume_question *question,
                                             const brume_public_asker *elsewhere,
                                             const brume_watch *watch, brume_query_answer **answer,
                                             brume_error *error);

#endif
