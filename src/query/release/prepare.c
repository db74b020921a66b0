/* The first step of every query: parse it, choose its price, plan it and rehearse it. */
#include "query/release/prepare.h"

#include "base/error.h"
#include "ledger/user.h"
#include "query/plan/make_plan.h"
#include "query/release/choice.h"
#include "query/collect/place.h"
#include "query/release/public_keys.h"
#include "query/release/rehearse.h"

typedef struct recalling {
    brume_ledger *ledger;
    const brume_question *question;
} recalling;

static brume_status recall(void *context, const brume_plan *plan, brume_terms **out,
                           brume_error *error)
{
    const recalling *from = context;
    return brume_choice_recall(from->ledger, from->question, true, plan, out, error);
}

/* Of groups that are known before rows are read; others are as many as units can be in. */
static brume_status check_user_limits(brume_ledger *ledger, const brume_question *question,
                                      const brume_plan *plan, brume_error *error)
{
    double outputs = (double)(plan->query->output_count + plan->query->window_count);
    double numbers = outputs + (double)(plan->measure_count + plan->value_count);
    double groups = (double)plan->shape.cells;
    for (size_t i = 0; brume_ledger_acts_for(ledger) && i < question->table_count; i++)
        if (!question->policies[i]->is_public)
            BRUME_TRY(brume_user_limits_check(&question->policies[i]->per_user,
                                              question->datasets[i]->name, groups * outputs,
                                              groups * numbers, error));
    return BRUME_OK;
}

brume_status brume_check_ledger_bytes(brume_ledger *ledger, const brume_question *question,
                                      brume_error *error)
{
    uint64_t bytes = 0;
    if (!brume_ledger_acts_for(ledger))
        return BRUME_OK;
    BRUME_TRY(brume_ledger_bytes(ledger, &bytes, error));
    for (size_t i = 0; i < question->table_count; i++) {
        brume_user_limits all = brume_user_limits_in_force(&question->policies[i]->per_user);
        if (!question->policies[i]->is_public && bytes >= all.ledger_bytes)
            return brume_fail(error, BRUME_EPOLICY,
                              "ask the owner; what was answered is read again",
                              "your questions and answers take %llu bytes of the ledger, at most "
                              "%llu are for a user of '%s'; nothing was spent",
                              (unsigned long long)bytes, (unsigned long long)all.ledger_bytes,
                              question->datasets[i]->name);
    }
    return BRUME_OK;
}

brume_status brume_prepare(brume_ledger *ledger, const char *sql, const brume_payment *payment,
                           const brume_target *target, brume_question **question, brume_plan **plan,
                           brume_terms **terms, brume_error *error)
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
    /* A price that was searched is for the limits that the ledger has, however noisy they are. */
    BRUME_TRY(payment->limits_only
                  ? brume_terms_make(*plan, NULL, 0, terms, error)
                  : brume_choice_recall(ledger, *question, target, *plan, terms, error));
    BRUME_TRY(check_user_limits(ledger, *question, *plan, error));
    BRUME_TRY(brume_place(*question, *plan, payment->where, error));
    return brume_rehearse(*question, *terms, error);
}
