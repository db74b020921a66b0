/* brume query: ask in SQL, pay from the ledger.
 *
 * Promises: nothing is printed that was not charged first; Ctrl-C ends it at any time, and says
 * whether the price is spent. */
#include "cli/query/ask.h"

#include "cli/frame/interrupt.h"
#include "cli/ledger/open_ledger.h"
#include "cli/query/plot_answer.h"
#include "cli/query/write_answer.h"

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_bits *bits = NULL;
    brume_query_answer *answer = NULL;
    brume_payment payment = brume_call_payment(call);
    brume_target target;
    const brume_target *asked = brume_call_target(call, &target) ? &target : NULL;
    BRUME_TRY(brume_call_check_price(call, error));
    const brume_watch *watch = NULL;
    BRUME_TRY(brume_interrupt_watch(call, &watch, error));
    brume_plot_file plot;
    BRUME_TRY(brume_plot_open(call, &plot, error));
    brume_status status = brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error);
    if (status == BRUME_OK)
        status = brume_bits_open(&bits, error);
    if (status == BRUME_OK)
        status = brume_ask(ledger, brume_call_operand(call, 0), &payment, asked, bits, watch,
                           &answer, error);
    if (status == BRUME_OK)
        status = brume_plot_answer(&plot, answer, error);
    if (status == BRUME_OK)
        status = brume_write_answer(call, answer, error);
    brume_plot_close(&plot);
    brume_query_answer_close(answer);
    brume_bits_close(bits);
    brume_ledger_close(ledger);
    return status;
}

static const char *const formats[] = {"table", "markdown", "csv", "json", "html", NULL};
static const brume_operand operands[] = {
    {.name = "SQL", .help = "one SELECT over registered datasets"}};
static const brume_option options[] = {
    BRUME_PAYMENT_OPTIONS,
    BRUME_TARGET_OPTIONS,
    BRUME_LIMIT_OPTION,
    {.name = "format",
     .type = BRUME_OPTION_CHOICE,
     .argument = "FORMAT",
     .choices = formats,
     .help = "table (unless said), markdown, csv, json or html"},
    {.name = "plot",
     .type = BRUME_OPTION_FILE,
     .argument = "FILE.svg",
     .help = "also draw the answer: bars with whiskers"},
    BRUME_TIMEOUT_OPTION,
    BRUME_LEDGER_OPTION,
};

static const char *const examples[] = {
    "query 'SELECT ward, COUNT(*), AVG(age) FROM visits GROUP BY ward' --epsilon 0.5",
    "query 'SELECT COUNT(DISTINCT patient) FROM visits' --within 20 --format csv",
    "query 'SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward' --epsilon 0.5 --plot wards.svg",
    NULL,
};

const brume_command brume_command_query = {
    .name = "query",
    .summary = "ask in SQL; the answer is private and paid for",
    .description =
        "Answers one SELECT of aggregates over registered datasets, with noise, and an error bar "
        "beside each value: the noiseless value on the bounded data is within it with a "
        "probability of 95 %. The price is on the ledger before the answer exists, and stays "
        "spent. The same question at the same price is read again for free. Ctrl-C ends it and says "
        "whether the price was spent; it has two seconds to stop in order, a second one does not wait. "
        "The deadline of --timeout, or of the owner, ends it in the same way.",
    .usage = "SQL (--epsilon E [--delta D] | --rho R | --within A) [OPTION...]",
    .operands = BRUME_LIST(operands),
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
