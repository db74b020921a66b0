/* brume query: ask in SQL, pay from the ledger.
 *
 * Promises: nothing is printed that was not charged first; Ctrl-C ends it at any time, and says
 * whether the price is spent. */
#include "command/query/ask.h"

#include "command/frame/watch.h"
#include "command/ledger/open_ledger.h"
#include "command/query/plot_answer.h"
#include "command/query/script.h"
#include "command/query/write_answer.h"
#include "query/release/explain.h"

typedef struct asking {
    brume_ledger *ledger;
    brume_bits *bits;
    brume_payment payment;
    const brume_target *target;
    const brume_watch *watch;
    brume_plot_file plot;
} asking;

static brume_status ask_one(asking *with, const char *sql, brume_query_answer **out,
                            brume_error *error)
{
    brume_query_answer *answer = NULL;
    brume_status status = brume_ask(with->ledger, sql, &with->payment, with->target, with->bits,
                                    with->watch, &answer, error);
    if (status == BRUME_OK)
        status = brume_plot_answer(&with->plot, answer, sql, error);
    if (status == BRUME_OK)
        *out = answer;
    else
        brume_query_answer_close(answer);
    return status;
}

static brume_status ask_and_write(brume_call *call, asking *with, const char *sql,
                                  brume_error *error)
{
    brume_query_answer *answer = NULL;
    BRUME_TRY(ask_one(with, sql, &answer, error));
    brume_status status = brume_write_answer(call, answer, error);
    brume_query_answer_close(answer);
    return status;
}

/* Whatever can be found wrong with a statement of several is found before the first is charged. */
static brume_status check_all(const brume_call *call, const asking *with,
                              const brume_script *script, brume_error *error)
{
    if (script->count < 2)
        return BRUME_OK;
    if (brume_call_has(call, "plot"))
        return brume_fail(error, BRUME_EARGUMENT, "ask one statement at a time",
                          "'--plot' draws the answer of one statement");
    for (size_t i = 0; i < script->count; i++) {
        json_t *explanation = NULL;
        brume_status status = brume_explain(with->ledger, script->statements[i], &with->payment,
                                            with->target, &explanation, error);
        json_decref(explanation);
        if (status != BRUME_OK)
            return brume_script_failed(script, i, 0, status, error);
        if (with->watch && with->watch->stopped(with->watch->context))
            return brume_fail(error, BRUME_ECANCELLED, NULL, "%s; nothing was spent",
                              with->watch->stopped(with->watch->context));
    }
    return BRUME_OK;
}

/* One after the other; what was answered is out before the next is charged. */
static brume_status ask_all(brume_call *call, asking *with, const brume_script *script,
                            brume_error *error)
{
    BRUME_TRY(check_all(call, with, script, error));
    for (size_t i = 0; i < script->count; i++) {
        brume_status status = ask_and_write(call, with, script->statements[i], error);
        if (status != BRUME_OK)
            return brume_script_failed(script, i, i, status, error);
        if (i + 1 == script->count)
            return BRUME_OK;
        if (!call->json)
            fputc('\n', call->out);
        BRUME_TRY(brume_call_flush(call, error));
        if (with->watch)
            with->watch->enter(with->watch->context, BRUME_PHASE_FREE, NULL);
    }
    return BRUME_OK;
}

/* Write the answers, or give back the one there is. */
static brume_status ask_script(brume_call *call, asking *with, const brume_script *script,
                               brume_query_answer **only, brume_error *error)
{
    if (!only)
        return ask_all(call, with, script, error);
    if (script->count != 1)
        return brume_fail(error, BRUME_EARGUMENT, "ask one after the other",
                          "there are %zu statements, must be one", script->count);
    return ask_one(with, script->statements[0], only, error);
}

static brume_status run_for(brume_call *call, brume_query_answer **only, brume_error *error)
{
    brume_script script;
    brume_target target;
    asking with = {.payment = brume_call_payment(call)};
    with.target = brume_call_target(call, &target) ? &target : NULL;
    BRUME_TRY(brume_call_check_price(call, error));
    BRUME_TRY(brume_call_watch(call, &with.watch, error));
    BRUME_TRY(brume_script_open(call, &script, error));
    brume_status status = brume_plot_open(call, &with.plot, error);
    if (status == BRUME_OK)
        status = brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &with.ledger, error);
    if (status == BRUME_OK)
        status = brume_bits_open(&with.bits, error);
    if (status == BRUME_OK)
        status = ask_script(call, &with, &script, only, error);
    brume_plot_close(&with.plot);
    brume_bits_close(with.bits);
    brume_ledger_close(with.ledger);
    brume_script_close(&script);
    return status;
}

static brume_status run(brume_call *call, brume_error *error)
{
    return run_for(call, NULL, error);
}

brume_status brume_query_call_answer(brume_call *call, brume_query_answer **answer,
                                     brume_error *error)
{
    return run_for(call, answer, error);
}

static const brume_operand operands[] = {
    {.name = "SQL",
     .help = "SELECT ... over registered datasets; several are parted by ;. With - they come from "
             "standard input",
     .optional = true}};
static const brume_option options[] = {
    {.name = "file",
     .letter = 'f',
     .type = BRUME_OPTION_FILE,
     .argument = "FILE",
     .help = "read the SQL from a file"},
    BRUME_PAYMENT_OPTIONS,
    BRUME_TARGET_OPTIONS,
    BRUME_LIMIT_OPTION,
    BRUME_WHERE_OPTION,
    BRUME_FORMAT_OPTION,
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
        "The deadline of --timeout, or of the owner, ends it in the same way.\n\n"
        "A query that names public tables only is answered exactly, for nothing, and needs no "
        "price.\n\n"
        "Several statements end with ; and are asked one after the other, each at the price that "
        "is typed. All are checked before the first is charged; the first error ends it, names the "
        "statement, and leaves what was answered before it. With --json each answer is one line.",
    .usage = "(SQL | -f FILE | -) [--epsilon E [--delta D] | --rho R | --within A] [OPTION...]",
    .operands = BRUME_LIST(operands),
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
