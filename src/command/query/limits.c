/* brume limits: buy the choice of a query's limits, and leave it in the ledger. */
#include "command/query/ask.h"

#include "command/frame/watch.h"
#include "command/ledger/open_ledger.h"
#include "command/query/write_answer.h"

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_bits *bits = NULL;
    brume_query_answer *answer = NULL;
    brume_payment payment = brume_call_payment(call);
    payment.limits_only = true;
    const brume_watch *watch = NULL;
    BRUME_TRY(brume_call_one_of(call, "epsilon", "rho", error));
    BRUME_TRY(brume_call_watch(call, &watch, error));
    brume_status status = brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error);
    if (status == BRUME_OK)
        status = brume_bits_open(&bits, error);
    if (status == BRUME_OK)
        status = brume_ask(ledger, brume_call_operand(call, 0), &payment, NULL, bits, watch,
                           &answer, error);
    if (status == BRUME_OK)
        status = brume_write_answer(call, answer, error);
    brume_query_answer_close(answer);
    brume_bits_close(bits);
    brume_ledger_close(ledger);
    return status;
}

static const brume_operand operands[] = {
    {.name = "SQL", .help = "one SELECT over registered datasets"}};
static const brume_option options[] = {
    BRUME_PAYMENT_OPTIONS, BRUME_WHERE_OPTION,  BRUME_FORMAT_OPTION,
    BRUME_TIMEOUT_OPTION,  BRUME_LEDGER_OPTION,
};

static const char *const examples[] = {
    "limits 'SELECT ward, SUM(age) FROM visits GROUP BY ward' --epsilon 0.1",
    NULL,
};

const brume_command brume_command_limits = {
    .name = "limits",
    .summary = "buy the choice of a query's limits, and nothing else",
    .description =
        "Chooses privately how much one unit may add to each count and sum of a query, as 'query' "
        "does for a share of its price, and leaves the choice in the ledger: every later query "
        "with the same rows, groups and statistic uses it for free. Prints each limit and about "
        "how many units are above it at most.",
    .usage = "SQL (--epsilon E [--delta D] | --rho R) [OPTION...]",
    .operands = BRUME_LIST(operands),
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
