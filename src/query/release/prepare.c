/* The first step of every query: parse it, choose its price, plan it and rehearse it. */
#include "query/release/prepare.h"

#include "base/error.h"
#include "query/plan/make_plan.h"
#include "query/release/choice.h"
#include "query/collect/place.h"
#include "query/release/public_keys.h"
#include "query/release/rehearse.h"

typedef struct recalling {
    brume_ledger *ledger;
    const brume_question *question;
} recalling;

static brume_status recall(void *context, brume_plan *plan, brume_error *error)
{
    const recalling *from = context;
    return brume_choice_recall(from->ledger, from->question, true, plan, error);
}

/* The price was searched under the limits that the ledger has, however noisy they are; those must
 * be the ones that are used at this price. */
static brume_status check_recalled(const brume_plan *plan, const char *epsilon, brume_error *error)
{
    if (!brume_plan_chooses(plan))
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT,
                      "type --limit, or buy a sharper choice first: brume limits \"SQL\" "
                      "--epsilon E",
                      "that accuracy takes epsilon %s, and the choice of the limit in the ledger "
                      "is too noisy for that price",
                      epsilon);
}

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
    BRUME_TRY(brume_read_public_keys(ledger, *question, error));
    if (target) {
        recalling from = {ledger, *question};
        const brume_plan_hook hook = {recall, &from};
        BRUME_TRY(brume_target_price(*question, target, payment, &hook, epsilon, error));
        chosen.epsilon = epsilon;
        chosen.rho = NULL;
    }
    BRUME_TRY(brume_query_plan_make((*question)->query, (*question)->tables, &chosen, plan, error));
    if (!payment->limits_only)
        BRUME_TRY(brume_choice_recall(ledger, *question, false, *plan, error));
    if (target)
        BRUME_TRY(check_recalled(*plan, epsilon, error));
    BRUME_TRY(brume_place(*question, *plan, payment->where, error));
    return brume_rehearse(*question, *plan, error);
}
