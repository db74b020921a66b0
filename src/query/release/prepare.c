/* The first step of every query: parse it, choose its price, plan it and rehearse it. */
#include "query/release/prepare.h"

#include "base/error.h"
#include "query/plan/make_plan.h"
#include "query/release/rehearse.h"

brume_status brume_prepare(brume_ledger *ledger, const char *sql, const brume_payment *payment,
                           const brume_target *target, brume_question **question, brume_plan **plan,
                           brume_error *error)
{
    char epsilon[BRUME_PRICE_TEXT];
    brume_payment chosen = *payment;
    BRUME_TRY(brume_question_open_any(ledger, sql, question, error));
    if ((*question)->open_query)
        return BRUME_OK;
    if (!target && !payment->epsilon && !payment->rho)
        return brume_fail(error, BRUME_EARGUMENT,
                          "give --epsilon E (or --rho R), or --within A; there is no default",
                          "neither a price nor an accuracy is given");
    if (target) {
        BRUME_TRY(brume_target_price(*question, target, payment->delta, epsilon, error));
        chosen = (brume_payment){epsilon, payment->delta, NULL};
    }
    BRUME_TRY(brume_query_plan_make((*question)->query, (*question)->tables, &chosen, plan, error));
    return brume_rehearse(*question, *plan, error);
}
