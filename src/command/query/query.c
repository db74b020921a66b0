/* brume query: ask in SQL, pay from the ledger. brume limits: pay for the choice of limits alone.
 *
 * Promises: nothing is printed that was not charged first; Ctrl-C ends it at any time, and says
 * whether the price is spent. */
#include "command/query/ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/frame/watch.h"
#include "command/host.h"
#include "command/ledger/open_ledger.h"
#include "command/query/each.h"
#include "command/query/plot_answer.h"
#include "command/query/write_answer.h"
#include "query/release/explain.h"
#include "query/sql/parse.h"

/* ---- the statements ---- */

enum { MOST_BYTES = 16 * 1024 * 1024 };

static brume_status read_all(FILE *file, const char *name, char **text, brume_error *error)
{
    size_t size = 0;
    errno = 0;
    ssize_t length = getdelim(text, &size, '\0', file);
    if (length < 0 && ferror(file))
        return brume_fail(error, BRUME_ESOURCE, NULL, "cannot read \'%.200s\': %s", name,
                          strerror(errno));
    if (length > MOST_BYTES)
        return brume_fail(error, BRUME_EARGUMENT, "cut it into several files",
                          "'%.200s' has more than 16 MiB", name);
    if (length > 0 && memchr(*text, '\0', (size_t)length))
        return brume_fail(error, BRUME_ESYNTAX, NULL, "'%.200s' has a NUL in it", name);
    if (length < 0) {
        free(*text);
        *text = strdup("");
    }
    return *text ? BRUME_OK : brume_no_memory(error, NULL);
}

static brume_status read_text(const brume_call *call, char **text, brume_error *error)
{
    const char *path = brume_call_text(call, "file");
    const char *sql = call->operand_count ? brume_call_operand(call, 0) : NULL;
    if (!path == !sql)
        return brume_fail(error, BRUME_EARGUMENT, "write query 'SELECT ...', -f FILE or -",
                          path ? "SQL is given twice: as an argument and by --file"
                               : "SQL is missing");
    if (sql && strcmp(sql, "-") != 0) {
        *text = strdup(sql);
        return *text ? BRUME_OK : brume_no_memory(error, NULL);
    }
    if ((sql || strcmp(path, "-") == 0) && !(call->host && call->host->reads_input))
        return brume_fail(error, BRUME_EARGUMENT, "give the SQL itself",
                          "standard input is read by the command line only");
    if (sql || strcmp(path, "-") == 0)
        return read_all(stdin, "standard input", text, error);
    FILE *file = fopen(path, "re");
    if (!file)
        return brume_fail(error, BRUME_ESOURCE, NULL, "cannot read \'%.200s\': %s", path,
                          strerror(errno));
    brume_status status = read_all(file, path, text, error);
    fclose(file);
    return status;
}

brume_status brume_script_open(const brume_call *call, brume_script *out, brume_error *error)
{
    char *text = NULL;
    *out = (brume_script){0};
    brume_status status = read_text(call, &text, error);
    if (status == BRUME_OK)
        status = brume_sql_split(text, &out->statements, &out->count, error);
    free(text);
    return status == BRUME_OK && out->count == 0
               ? brume_fail(error, BRUME_ESYNTAX, NULL, "the query is empty")
               : status;
}

brume_status brume_script_failed(const brume_script *all, size_t statement, size_t answered,
                                 brume_status status, brume_error *error)
{
    if (status == BRUME_OK || all->count < 2)
        return status;
    brume_error inner = *error;
    char before[100] = "";
    if (answered > 0)
        snprintf(before, sizeof before, "; before it %zu %s answered, whose prices stay spent",
                 answered, answered == 1 ? "was" : "were");
    return brume_fail(error, status, *inner.hint ? inner.hint : NULL, "statement %zu: %.400s%s",
                      statement + 1, inner.message, before);
}

/* ---- asking ---- */

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
static brume_status check_all(const brume_call *call, const asking *with, const brume_script *all,
                              brume_error *error)
{
    if (all->count < 2)
        return BRUME_OK;
    if (brume_call_has(call, "plot"))
        return brume_fail(error, BRUME_EARGUMENT, "ask one statement at a time",
                          "'--plot' draws the answer of one statement");
    json_t *list = json_array();
    brume_status status = list ? BRUME_OK : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; status == BRUME_OK && i < all->count; i++) {
        json_t *explanation = NULL;
        status = brume_explain(with->ledger, all->statements[i], &with->payment, with->target,
                               &explanation, error);
        if (status != BRUME_OK)
            status = brume_script_failed(all, i, 0, status, error);
        else if (json_array_append_new(list, explanation) != 0)
            status = brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
        else if (with->watch && with->watch->stopped(with->watch->context))
            status = brume_fail(error, BRUME_ECANCELLED, NULL, "%s; nothing was spent",
                                with->watch->stopped(with->watch->context));
    }
    if (status == BRUME_OK)
        status = brume_check_budget(with->ledger, all->statements, list, error);
    json_decref(list);
    return status;
}

/* One after the other; what was answered is out before the next is charged. */
static brume_status ask_all(brume_call *call, asking *with, const brume_script *all,
                            brume_error *error)
{
    BRUME_TRY(check_all(call, with, all, error));
    for (size_t i = 0; i < all->count; i++) {
        brume_status status = ask_and_write(call, with, all->statements[i], error);
        if (status != BRUME_OK)
            return brume_script_failed(all, i, i, status, error);
        if (i + 1 == all->count)
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
static brume_status ask_script(brume_call *call, asking *with, const brume_script *all,
                               brume_query_answer **only, brume_error *error)
{
    if (brume_call_has(call, "each") && (only || all->count != 1 || brume_call_has(call, "plot")))
        return brume_fail(error, BRUME_EARGUMENT, "ask one statement, without '--plot'",
                          "'--each' is of one statement, and its answers are several");
    if (brume_call_has(call, "each"))
        return brume_ask_each(call, with->ledger, all->statements[0], &with->payment, with->target,
                              with->bits, with->watch, error);
    if (!only)
        return ask_all(call, with, all, error);
    if (all->count != 1)
        return brume_fail(error, BRUME_EARGUMENT, "ask one after the other",
                          "there are %zu statements, must be one", all->count);
    return ask_one(with, all->statements[0], only, error);
}

static brume_status run_for(brume_call *call, brume_query_answer **only, brume_error *error)
{
    brume_script all;
    brume_target target;
    asking with = {.payment = brume_call_payment(call)};
    with.target = brume_call_target(call, &target) ? &target : NULL;
    BRUME_TRY(brume_call_check_price(call, error));
    BRUME_TRY(brume_call_watch(call, &with.watch, error));
    brume_status status = brume_script_open(call, &all, error);
    if (status == BRUME_OK)
        status = brume_plot_open(call, &with.plot, error);
    if (status == BRUME_OK)
        status = brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &with.ledger, error);
    if (status == BRUME_OK)
        status = brume_call_open_bits(call, &with.bits, error);
    if (status == BRUME_OK)
        status = ask_script(call, &with, &all, only, error);
    brume_plot_close(&with.plot);
    brume_sql_split_free(all.statements, all.count);
    return status;
}

static brume_status run_query(brume_call *call, brume_error *error)
{
    return run_for(call, NULL, error);
}

brume_status brume_query_call_answer(brume_call *call, brume_query_answer **answer,
                                     brume_error *error)
{
    return run_for(call, answer, error);
}

const brume_command brume_command_query = {
    .name = "query",
    .summary = "ask in SQL; the answer is private and paid for",
    .description =
        "Answers one SELECT of aggregates over registered datasets, with noise, and an error bar "
        "beside each value: the noiseless value on the bounded data is within it with a "
        "probability of 95 %. The price is on the ledger before the answer exists, and stays "
        "spent. The same question at the same price is read again for free, and says how old it is; "
        "--fresh and --max-age pay for a new answer. Ctrl-C ends it and says "
        "whether the price was spent; it has two seconds to stop in order, a second one does not wait. "
        "The deadline of --timeout, or of the owner, ends it in the same way.\n\n"
        "A query that names public tables only is answered exactly, for nothing, and needs no "
        "price.\n\n"
        "Several statements end with ; and are asked one after the other, each at the price that "
        "is typed. All are checked before the first is charged, and the budgets must carry them "
        "together; the first error ends it, names the "
        "statement, and leaves what was answered before it. With --json each answer is one line.",
    .usage = "(SQL | -f FILE | -) [--epsilon E [--delta D] | --rho R | --within A] [OPTION...]",
    BRUME_OPERANDS(BRUME_OPERAND(
        TEXT, "SQL",
        "SELECT ... over registered datasets; several are parted by ;. With - they come from "
        "standard input",
        .optional = true)),
    BRUME_OPTIONS(
        BRUME_OPTION(FILE, "file", "FILE", "read the SQL from a file", .letter = 'f'),
        BRUME_PAYMENT_OPTIONS, BRUME_AGE_OPTIONS, BRUME_WINDOWS_OPTION,
        BRUME_FLAG("each", "ask it of each window by itself: every one pays the price, and a whole "
                           "history pays it for each of them"),
        BRUME_TARGET_OPTIONS, BRUME_LIMIT_OPTION, BRUME_WHERE_OPTION, BRUME_FORMAT_OPTION,
        BRUME_OPTION(FILE, "plot", "FILE.svg", "also draw the answer: bars with whiskers"),
        BRUME_TIMEOUT_OPTION, BRUME_PROJECT_OPTION, BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES(
        "query 'SELECT ward, COUNT(*), AVG(age) FROM visits GROUP BY ward' --epsilon 0.5",
        "query 'SELECT COUNT(DISTINCT patient) FROM visits' --within 20 --format csv",
        "query 'SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward' --epsilon 0.5 --plot wards.svg"),
    .run = run_query,
};

/* ---- limits ---- */

static brume_status run_limits(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_bits *bits = NULL;
    brume_query_answer *answer = NULL;
    brume_payment payment = brume_call_payment(call);
    payment.limits_only = true;
    const brume_watch *watch = NULL;
    BRUME_TRY(brume_call_one_of(call, "epsilon", "rho", error));
    BRUME_TRY(brume_call_watch(call, &watch, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    BRUME_TRY(brume_call_open_bits(call, &bits, error));
    BRUME_TRY(brume_ask(ledger, brume_call_operand(call, 0), &payment, NULL, bits, watch, &answer,
                        error));
    brume_status status = brume_write_answer(call, answer, error);
    brume_query_answer_close(answer);
    return status;
}

const brume_command brume_command_limits = {
    .name = "limits",
    .summary = "buy the choice of a query's limits, and nothing else",
    .description =
        "Chooses privately how much one unit may add to each count and sum of a query, as 'query' "
        "does for a share of its price, and leaves the choice in the ledger: every later query "
        "with the same rows, groups and statistic uses it for free. Prints each limit and about "
        "how many units are above it at most.",
    .usage = "SQL (--epsilon E [--delta D] | --rho R) [OPTION...]",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "SQL", "one SELECT over registered datasets")),
    BRUME_OPTIONS(BRUME_PAYMENT_OPTIONS, BRUME_WHERE_OPTION, BRUME_FORMAT_OPTION,
                  BRUME_TIMEOUT_OPTION, BRUME_PROJECT_OPTION, BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("limits 'SELECT ward, SUM(age) FROM visits GROUP BY ward' --epsilon 0.1"),
    .run = run_limits,
};
