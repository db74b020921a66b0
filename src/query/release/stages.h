/* Queries with scalar subqueries: see stages.c. Everything that is asked or explained comes through
 * here, but for SQL over released tables (released.c), whose inner queries do. */
#ifndef BRUME_QUERY_STAGES_H
#define BRUME_QUERY_STAGES_H

#include "query/release/ask.h"
#include "query/release/explain.h"

BRUME_MUST_USE brume_status brume_stages_explain(brume_ledger *ledger, const char *sql,
                                                 const brume_payment *payment,
                                                 const brume_target *target, json_t **explanation,
                                                 brume_error *error);
BRUME_MUST_USE brume_status brume_stages_ask(brume_ledger *ledger, const char *sql,
                                             const brume_payment *payment,
                                             const brume_target *target, brume_bits *bits,
                                             const brume_watch *watch, brume_query_answer **answer,
                                             brume_error *error);

/* The question itself, with any numbers in the places of its scalar subqueries. Its errors are
 * those of asking it, as far as no price is known. */
BRUME_MUST_USE brume_status brume_stages_open(brume_ledger *ledger, const char *sql,
                                              const brume_public_asker *elsewhere,
                                              brume_question **out, brume_error *error);

/* What an error says of itself, "; nothing was spent", is not true of a statement whose earlier
 * parts were paid for: cut it off the message and the hint. */
void brume_stages_cut_unspent(brume_error *error);

/* EBUDGET, which names the dataset, if it or one of its windows does not carry what the stages take
 * together; `what` they are called in the message. A price in epsilon on a budget in rho, and a
 * stage that has stages itself, are left to the charge. */
BRUME_MUST_USE brume_status brume_stages_check_budget(brume_ledger *ledger,
                                                      const brume_stage_price *list, size_t count,
                                                      const char *what, brume_error *error);

#endif
