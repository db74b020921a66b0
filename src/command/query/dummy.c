/* brume dummy: the answer of a query on a made table, for trying it out. Spends nothing.
 *
 * Promises: the ledger is only read, and no protected source is opened. The table follows from the
 * policy and the query's text alone (audit/query/neighbours.h), so that the answer, and how long it
 * takes, says nothing of the data; its noise is what the price buys. */
#include "command/query/ask.h"

#include "audit/query/neighbours.h"
#include "base/error.h"
#include "command/ledger/open_ledger.h"
#include "command/query/write_answer.h"
#include "query/release/prepare.h"

enum { DEFAULT_UNITS = 1000, MOST_UNITS = 20000 };

static brume_status draw(brume_call *call, const brume_question *question, const brume_terms *terms,
                         brume_released *released, brume_error *error)
{
    brume_neighbours *made = NULL;
    brume_engine *engine = NULL;
    brume_bits *bits = NULL;
    BRUME_TRY(brume_call_open_bits(call, &bits, error));
    BRUME_TRY(brume_neighbours_open_one(question, brume_call_operand(call, 0),
                                        brume_call_count(call, "units", DEFAULT_UNITS), &made,
                                        error));
    brume_status status = brume_neighbours_engine(made, 0, false, &engine, error);
    if (status == BRUME_OK)
        status = brume_draw_answer(question, terms, engine, bits, NULL, released, error);
    brume_neighbours_close(made);
    return status;
}

static brume_status answer_dummy(brume_call *call, const brume_question *question,
                                 const brume_terms *terms, brume_error *error)
{
    brume_released released = {0};
    if (question->open_query)
        return brume_fail(error, BRUME_EARGUMENT, "ask it with 'query'",
                          "the query has public tables only: it is exact, and free of charge");
    BRUME_TRY(draw(call, question, terms, &released, error));
    released.answer->is_dummy = true;
    if (terms->plan->shape.private_keys)
        released.answer->threshold = (int64_t)terms->price.threshold;
    brume_status status = brume_write_answer(call, released.answer, error);
    brume_released_close(&released);
    return status;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_question *question = NULL;
    brume_plan *plan = NULL;
    brume_terms *terms = NULL;
    brume_payment payment = brume_call_payment(call);
    brume_target target;
    const brume_target *asked = brume_call_target(call, &target) ? &target : NULL;
    BRUME_TRY(brume_call_check_price(call, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    brume_status status = brume_prepare(ledger, brume_call_operand(call, 0), &payment, asked,
                                        &question, &plan, &terms, error);
    if (status == BRUME_OK)
        status = answer_dummy(call, question, terms, error);
    brume_terms_close(terms);
    brume_query_plan_close(plan);
    brume_question_close(question);
    return status;
}

const brume_command brume_command_dummy = {
    .name = "dummy",
    .summary = "try a query on a made table, for free",
    .description =
        "Plans and prices a query as 'query' would, and answers it on a table that is made from "
        "the policy: values from declared bounds and domains, from the query's own text, and a few "
        "of each type. The form of the answer, its noise and its error bars are those of the real "
        "query; its numbers have nothing to do with the data. Reads no protected row and spends "
        "nothing.",
    .usage = "SQL [--epsilon E [--delta D] | --rho R | --within A] [OPTION...]",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "SQL", "one SELECT over registered datasets")),
    BRUME_OPTIONS(BRUME_PAYMENT_OPTIONS, BRUME_TARGET_OPTIONS, BRUME_LIMIT_OPTION,
                  BRUME_OPTION(COUNT, "units", "N",
                               "how many units the made table has, one row each (1000)",
                               BRUME_FROM_TO(1, MOST_UNITS)),
                  BRUME_FORMAT_OPTION, BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("dummy 'SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward' --epsilon 0.5"),
    .run = run,
};
