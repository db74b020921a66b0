/* The release path: the one place that puts ledger, engine and noise together.
 *
 *   plan -> recall? -> reserve (durable) -> collect -> draw -> post-process -> commit -> answer
 *
 * An identical question at the same payment, policy and data version is answered from the record,
 * for nothing; every other one is paid for as spend.h says. */
#ifndef BRUME_QUERY_ASK_H
#define BRUME_QUERY_ASK_H

#include <brume/bits.h>

#include "query/plan/question.h"
#include "query/plan/target.h"
#include "query/plan/window_price.h"
#include "query/release/answer.h"
#include "query/release/collect_and_draw.h"
#include "query/release/spend.h"

/* Ask. With a `target` (NULL: none) the price is chosen from it, and payment->epsilon is not read.
 * Scalar subqueries are asked first (stages.c), and so are queries with SQL around them
 * (released.c). */
BRUME_MUST_USE brume_status brume_ask(brume_ledger *ledger, const char *sql,
                                      const brume_payment *payment, const brume_target *target,
                                      brume_bits *bits, const brume_watch *watch,
                                      brume_query_answer **answer, brume_error *error);

/* A query without them. */
BRUME_MUST_USE brume_status brume_ask_whole(brume_ledger *ledger, const char *sql,
                                            const brume_payment *payment,
                                            const brume_target *target, brume_bits *bits,
                                            const brume_watch *watch, brume_query_answer **answer,
                                            brume_error *error);

/* The recorded answer that a payment takes for the question with this key, and when its data were
 * read; NULL in *record: there is none, or the payment asks anew (*anew: there is one). */
BRUME_MUST_USE brume_status brume_recall_question(brume_ledger *ledger, const char *key,
                                                  const brume_payment *payment, json_t **record,
                                                  char read[BRUME_WHEN_TEXT], bool *anew,
                                                  brume_error *error);

/* The answer of a query that was paid for, by the number of its charge, as it was given; `cached`
 * is true and `remaining` is what is left now. Spends nothing and cannot: there is no price in it,
 * and no source is opened. EUNKNOWN: no such charge, or it has no answer; EUNSUPPORTED: it is of
 * no query. */
BRUME_MUST_USE brume_status brume_recall(brume_ledger *ledger, uint64_t charge,
                                         brume_query_answer **answer, brume_error *error);

/* The part of it between reserving and recording: read, limit, draw, present. `keeper` may be NULL.
 * The answer has no cost. Nothing is charged: for the path above, and for audits on tables that
 * belong to nobody. */
BRUME_MUST_USE brume_status brume_draw_answer(const brume_question *question,
                                              const brume_terms *terms, brume_engine *engine,
                                              brume_bits *bits, const brume_choice_keeper *keeper,
                                              brume_released *out, brume_error *error);

/* What a question reads: the datasets to be charged, each once at `price` for all its tables, then
 * the public tables (no price), with the marks of what the engine will read of them. Windows are
 * charged at `window`, where a dataset has them. Clear also after a failure. */
typedef struct brume_readings {
    brume_marks *marks;
    brume_ledger_charge *charges;
    size_t count, charge_count;
    brume_window_price window; /* what each touched window of any dataset pays */
} brume_readings;

BRUME_MUST_USE brume_status brume_readings_find(const brume_question *question,
                                                const brume_charge *price, brume_engine *engine,
                                                brume_readings *all, brume_error *error);
void brume_readings_clear(brume_readings *all);

/* Do the budgets, and the allotments of the user, carry all stages of a query? Asked before the
 * first is charged, because otherwise the first would be paid for nothing. Whoever spends meanwhile
 * may still prevent a later one.
 *
 * A stage takes its price once from every dataset that it reads, so datasets that only one stage
 * reads have to carry the price of that one alone. */

/* A stage that is going to be charged. */
typedef struct brume_stage_price {
    const char *sql;
    const brume_payment *payment;
    const json_t *windows; /* as brume_explain says them; NULL: not looked at */
} brume_stage_price;

/* The same for several statements, of each of which `explained` has what brume_explain said. A
 * statement with scalar subqueries is left to its charges beyond its stages. */
BRUME_MUST_USE brume_status brume_check_budget(brume_ledger *ledger, char *const *statements,
                                               const json_t *explained, brume_error *error);

/* Queries of public tables only: read by the engine, exact and free. Nothing is charged, and
 * nothing is recorded. */

/* The engine over all tables of a question. */
BRUME_MUST_USE brume_status brume_question_engine(const brume_question *question,
                                                  brume_engine **out, brume_error *error);

/* A value from its text and the engine's name of its type. A text of it is a copy, which is freed.
 */
BRUME_MUST_USE brume_status brume_public_cell(const brume_text *text, const brume_text *type,
                                              brume_value *value, brume_error *error);

#endif
