/* brume audit --query: the whole path of a SQL query on two neighbouring tables.
 *
 * Promises: the ledger is only read, and no source of a dataset; an interruption leaves no files.
 * The claim is the charge that the ledger would take. */
#include "cli/audit/audit.h"

#include <brume/mechanism/mechanism.h>

#include "audit/query_subject.h"
#include "cli/query/ask.h"
#include "cli/frame/interrupt.h"
#include "cli/ledger/open_ledger.h"
#include "query/plan/make_plan.h"

/* Under the rule concentrated: the delta at which the claim is read. */
static const double CONCENTRATED_DELTA = 0.01;

/* Neighbours are made of one table, so that there are none yet of tables that are linked. */
static brume_status check_unlinked(const brume_question *question, brume_error *error)
{
    for (size_t i = 0; i < question->table_count; i++)
        if (question->policies[i]->link_column)
            return brume_fail(error, BRUME_EUNSUPPORTED,
                              "audit a query on a table that has a unit column",
                              "linked tables are not audited");
    return BRUME_OK;
}

/* Where no price is typed: the whole budget, of the dataset that has least. It is not spent. */
static brume_status pay_all(const brume_question *question, char whole[BRUME_DECIMAL_TEXT],
                            brume_payment *payment, brume_error *error)
{
    const brume_filter *least = NULL;
    for (size_t i = 0; i < question->table_count; i++) {
        const brume_filter *filter = &question->datasets[i]->filter;
        if (!question->policies[i]->is_public &&
            (!least || brume_decimal_upper(&filter->limit) < brume_decimal_upper(&least->limit)))
            least = filter;
    }
    if (!least)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "no dataset of the query is private: there is nothing to audit");
    brume_decimal_print(&least->limit, whole, BRUME_DECIMAL_TEXT);
    if (least->rule == BRUME_RULE_CONCENTRATED)
        payment->rho = whole;
    else
        payment->epsilon = whole;
    return BRUME_OK;
}

/* What the charge promises: epsilon, rounded up, at delta. */
static brume_status read_claim(brume_plan *plan, brume_audited *a, brume_error *error)
{
    a->delta = brume_decimal_upper(&plan->charge.delta);
    if (plan->rule != BRUME_RULE_CONCENTRATED) {
        a->claimed = brume_decimal_upper(&plan->charge.amount);
        return BRUME_OK;
    }
    brume_event event = {.mechanism = brume_card_by_name("zcdp")->id,
                         .adjacency = plan->adjacency,
                         .sensitivity = 1,
                         .parameter = {brume_decimal_upper(&plan->charge.amount)},
                         .count = 1};
    BRUME_TRY(brume_audit_claim(&event, CONCENTRATED_DELTA, &a->claimed, error));
    a->delta += CONCENTRATED_DELTA; /* the failure's and the conversion's add */
    return BRUME_OK;
}

/* The same question at a price that leaves hardly any noise. */
static brume_status plan_sharply(const brume_question *question, brume_plan *plan, brume_plan **out,
                                 brume_error *error)
{
    bool concentrated = plan->rule == BRUME_RULE_CONCENTRATED;
    brume_payment high = {.epsilon = concentrated ? NULL : "200",
                          .delta = plan->delta[0] ? plan->delta : NULL,
                          .rho = concentrated ? "5000" : NULL};
    return brume_query_plan_make(question->query, question->tables, &high, out, error);
}

static brume_status audit(brume_call *call, const brume_question *question, brume_plan *plan,
                          const char *sql, brume_audited *a, brume_error *error)
{
    brume_bits *bits = NULL;
    brume_plan *sharp = NULL;
    brume_query_subject *subject = NULL;
    const brume_watch *watch = NULL;
    a->samples = brume_call_count(call, "samples", BRUME_QUERY_SUBJECT_SAMPLES);
    a->step = 1;
    a->outcome = brume_query_subject_outcome();
    brume_status status = brume_bits_open(&bits, error);
    if (status == BRUME_OK)
        status = plan_sharply(question, plan, &sharp, error);
    if (status == BRUME_OK)
        status = brume_interrupt_note(call, &watch, error);
    if (status == BRUME_OK)
        status = brume_query_subject_open(question, plan, sharp, sql, bits, watch, &subject, error);
    if (status == BRUME_OK)
        status = brume_audited_draw(a, brume_query_subject_draw, subject, bits, error);
    if (status == BRUME_OK) {
        a->neighbours = brume_query_subject_neighbours(subject);
        status = brume_audited_write(call, a, error);
    }
    brume_query_subject_close(subject);
    brume_query_plan_close(sharp);
    brume_bits_close(bits);
    return status;
}

brume_status brume_audit_query(brume_call *call, brume_audited *a, brume_error *error)
{
    const char *sql = brume_call_text(call, "query");
    brume_payment payment = brume_call_payment(call);
    brume_ledger *ledger = NULL;
    brume_question *question = NULL;
    brume_plan *plan = NULL;
    char whole[BRUME_DECIMAL_TEXT];
    brume_status status = brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error);
    if (status == BRUME_OK)
        status = brume_question_open(ledger, sql, &question, error);
    if (status == BRUME_OK)
        status = check_unlinked(question, error);
    brume_ledger_close(ledger);
    if (status == BRUME_OK && !payment.epsilon && !payment.rho)
        status = pay_all(question, whole, &payment, error);
    if (status == BRUME_OK)
        status = brume_query_plan_make(question->query, question->tables, &payment, &plan, error);
    if (status == BRUME_OK)
        status = read_claim(plan, a, error);
    if (status == BRUME_OK)
        status = audit(call, question, plan, sql, a, error);
    brume_query_plan_close(plan);
    brume_question_close(question);
    return status;
}
