/* The choice of limits: looks at the units of each limit that nobody knows yet (limit/looks.h), and
 * the rule that makes a limit of them (limit/bar.h). A look is a release like any other: it is paid
 * for, recorded before anything else of the query is drawn, and read again for free by queries with
 * the same rows, groups and statistic. proofs/limits.md.
 *
 * Looks are pooled: each query decides by all that were ever bought, for its own price. A query
 * buys looks of its own where there are none that find a limit, where another could make its bar
 * clearly shorter (brume_terms_look_pays), or where those that are recorded were bought for an
 * eighth of its price or less. `limits` buys more, unless the recorded ones have at most 0.6 of the
 * variance that its price would buy: two looks of one price are enough. Counts of values go by that
 * alone. All of this is a function of the ledger and the price, both public, so `explain` knows it
 * too, and the bar of a query that buys no look is the one that was announced. */
#ifndef BRUME_QUERY_CHOICE_H
#define BRUME_QUERY_CHOICE_H

#include "query/plan/question.h"
#include "query/release/answer.h"
#include "query/release/draw.h"

/* What is done with a choice before anything else is drawn: it is recorded. */
typedef struct brume_choice_keeper {
    brume_status (*keep)(void *context, const brume_terms *terms, brume_error *error);
    void *context;
} brume_choice_keeper;

/* Look for the limits that the terms do not know, over the groups that are drawn, make new terms of
 * what was found, and tell the keeper (NULL: nobody). Nothing is drawn where all limits are known.
 * `collected` is one for each measurement. */
BRUME_MUST_USE brume_status brume_choose_all_limits(const brume_terms *terms,
                                                    brume_collected *const *collected,
                                                    const brume_drawn *drawn, brume_bits *bits,
                                                    const brume_choice_keeper *keeper,
                                                    brume_terms **chosen, brume_error *error);

/* Sum up what is left of the units' totals in the drawn groups under the limits of the terms. */
BRUME_MUST_USE brume_status brume_sum_under_limits(const brume_terms *terms,
                                                   brume_collected *collected,
                                                   const brume_drawn *drawn, brume_error *error);

/* Record what was drawn for the limits that were chosen, under keys of their own. */
BRUME_MUST_USE brume_status brume_choice_record(brume_ledger *ledger, uint64_t reservation,
                                                const brume_question *question,
                                                const brume_terms *terms, brume_error *error);

/* The terms of a plan with the limits whose recorded choices may be used; of the others it is noted
 * what the ledger has of them. `noisy_too`: however noisy they are. */
BRUME_MUST_USE brume_status brume_choice_recall(brume_ledger *ledger,
                                                const brume_question *question, bool noisy_too,
                                                const brume_plan *plan, brume_terms **out,
                                                brume_error *error);

/* Before buying a choice alone: BRUME_EARGUMENT if all of it is recorded already, and may be used.
 */
BRUME_MUST_USE brume_status brume_choice_check_new(brume_ledger *ledger,
                                                   const brume_question *question,
                                                   const brume_terms *terms, brume_error *error);

/* The limits as an answer: one row for each, with the columns "statistic", "limit", "cut_units".
 * One that was not found is NULL: nobody will use it. */
BRUME_MUST_USE brume_status brume_present_limits(const brume_terms *terms,
                                                 brume_query_answer **answer, brume_error *error);

/* A sentence for each limit of such an answer that was not found. */
BRUME_MUST_USE brume_status brume_warn_of_missing_limits(const brume_query_answer *limits,
                                                         json_t *warnings, brume_error *error);

#endif
