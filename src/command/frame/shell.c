/* brume shell: its description. A prompt is the command line's own (src/cli/shell/), and nobody
 * else's. */
#include "command/frame/watch.h"
#include "command/query/ask.h"

static brume_status run(brume_call *call, brume_error *error)
{
    return brume_fail(error, BRUME_EUNSUPPORTED, "call 'query' and the other commands instead",
                      "'%s' is a command of the command line only", call->command->name);
}

const brume_command brume_command_shell = {
    .name = "shell",
    .summary = "ask one question after another at a prompt",
    .description =
        "A prompt for SQL: a statement ends with a semicolon and may go over several lines. At a "
        "terminal it shows the price and the error bars of a statement and asks before it spends; "
        "lines are edited, remembered in ~/.brume_history ($BRUME_HISTORY; empty: not at all) and "
        "completed with the tab key, with the names of tables and columns; long answers go through "
        "$PAGER. Ctrl-C drops a line, or ends the statement that runs.\n\n"
        "Lines that begin with a backslash are settings and commands: \\epsilon 0.1, \\explain, "
        "\\budget, \\history, \\d visits; \\? lists them. They work within a statement too: \\explain "
        "explains what is typed so far, \\reset drops it. 'brume' alone on a terminal starts it "
        "too. From a pipe or a file it runs statement by statement, asks nothing, and ends at the "
        "first error with its exit code.",
    .usage = "[--epsilon E [--delta D] | --rho R] [OPTION...]",
    BRUME_OPTIONS(BRUME_PAYMENT_OPTIONS,
                  BRUME_FLAG("yes", "do not ask before a statement spends something"),
                  BRUME_TIMEOUT_OPTION, BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("shell --epsilon 0.1 < questions.sql"),
    .run = run,
};
