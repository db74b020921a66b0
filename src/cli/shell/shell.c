/* brume shell: read lines, put statements together, run them one by one. */
#include "cli/shell/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/query/ask.h"
#include "cli/frame/interrupt.h"
#include "query/sql/statement.h"

/* $BRUME_HISTORY, else ~/.brume_history; NULL: nothing is remembered. The caller frees it. */
static char *history_file(void)
{
    const char *named = getenv("BRUME_HISTORY"), *home = getenv("HOME");
    char *path = NULL;
    if (named)
        return *named ? strdup(named) : NULL;
    return home && *home && asprintf(&path, "%s/.brume_history", home) > 0 ? path : NULL;
}

/* Add a line to the statement that is being typed. */
static void add_line(brume_shell *shell, const char *text)
{
    const char *before = shell->pending ? shell->pending : "";
    char *joined = NULL;
    if (asprintf(&joined, "%s%s%s", before, *before ? "\n" : "", text) < 0)
        return;
    free(shell->pending);
    shell->pending = joined;
}

/* A script ends at its first error; a person goes on. */
static bool goes_on(const brume_shell *shell)
{
    return !shell->over && (shell->code == 0 || brume_typed_line_at_terminal(shell->line));
}

static void run_one(brume_shell *shell, const char *sql)
{
    brume_shell_set(&shell->last, sql);
    brume_typed_line_remember(shell->line, sql);
    if (!shell->epsilon && !shell->rho) {
        /* a query on public tables alone needs no price: the command says which this one is */
        brume_shell_statement(shell, sql);
        if (shell->code != 0)
            fputs("  hint: \\epsilon 0.1 sets a price for each statement\n", stderr);
        return;
    }
    brume_shell_statement(shell, sql);
}

/* Run the statements that have ended; what follows them stays. */
static void run_ended(brume_shell *shell)
{
    size_t length = 0;
    while (shell->pending && goes_on(shell) && (length = brume_statement_length(shell->pending))) {
        char *sql = strndup(shell->pending, length - 1); /* without the semicolon */
        char *rest = strdup(shell->pending + length + strspn(shell->pending + length, " \t\n"));
        brume_shell_set(&shell->pending, rest);
        free(rest);
        if (sql && !brume_statement_is_blank(sql))
            run_one(shell, sql);
        free(sql);
    }
    if (shell->pending && brume_statement_is_blank(shell->pending))
        brume_shell_set(&shell->pending, NULL);
}

static void take_line(brume_shell *shell, const char *text)
{
    static const char *const words[] = {"exit", "quit", "help"};
    size_t space = strspn(text, " \t");
    if (!shell->pending && text[space] == '\\') {
        brume_typed_line_remember(shell->line, text + space);
        brume_shell_backslash(shell, text + space);
        return;
    }
    for (size_t i = 0; !shell->pending && i < sizeof words / sizeof *words; i++)
        if (strcmp(text + space, words[i]) == 0) {
            brume_shell_backslash(shell, i < 2 ? "\\q" : "\\?");
            return;
        }
    add_line(shell, text);
    run_ended(shell);
}

static void greet(const brume_shell *shell)
{
    if (!brume_typed_line_at_terminal(shell->line))
        return;
    fputs("SQL ends with a semicolon; \\? lists the rest, \\q leaves.\n", stdout);
    if (!shell->epsilon && !shell->rho)
        fputs("No price is set yet: \\epsilon 0.1 sets one for each statement.\n", stdout);
}

static void read_lines(brume_shell *shell)
{
    const char *text = NULL;
    while (goes_on(shell)) {
        fflush(stdout);
        switch (brume_typed_line_read(shell->line, shell->pending ? "    -> " : "brume> ", &text)) {
        case BRUME_LINE_DROPPED:
            brume_shell_set(&shell->pending, NULL);
            continue;
        case BRUME_LINE_END:
            shell->over = true;
            break;
        case BRUME_LINE_TYPED:
            take_line(shell, text);
        }
    }
    /* the last statement of a script need not end with a semicolon */
    if (shell->pending && !brume_typed_line_at_terminal(shell->line) && shell->code == 0)
        run_one(shell, shell->pending);
    if (brume_typed_line_at_terminal(shell->line))
        fputc('\n', stdout);
}

static void close_shell(brume_shell *shell)
{
    char **texts[] = {&shell->ledger, &shell->epsilon, &shell->delta,   &shell->rho,
                      &shell->format, &shell->timeout, &shell->pending, &shell->last};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        brume_shell_set(texts[i], NULL);
    brume_typed_line_close(shell->line);
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_shell shell = {.json = call->json, .ask = !brume_call_has(call, "yes")};
    brume_shell_set(&shell.ledger, brume_call_text(call, "ledger"));
    brume_shell_set(&shell.epsilon, brume_call_text(call, "epsilon"));
    brume_shell_set(&shell.delta, brume_call_text(call, "delta"));
    brume_shell_set(&shell.rho, brume_call_text(call, "rho"));
    brume_shell_set(&shell.timeout, brume_call_text(call, "timeout"));
    char *history = history_file();
    brume_status status =
        brume_typed_line_open(history, brume_shell_complete, &shell, &shell.line, error);
    free(history);
    if (status == BRUME_OK) {
        greet(&shell);
        read_lines(&shell);
        fflush(stdout);
        /* the error of a script was written by its command: only its exit code is left to give */
        if (shell.code != 0 && !brume_typed_line_at_terminal(shell.line)) {
            int code = shell.code;
            close_shell(&shell);
            exit(code);
        }
    }
    close_shell(&shell);
    return status;
}

static const brume_option options[] = {
    BRUME_PAYMENT_OPTIONS,
    {.name = "yes",
     .type = BRUME_OPTION_FLAG,
     .help = "do not ask before a statement spends something"},
    BRUME_TIMEOUT_OPTION,
    BRUME_LEDGER_OPTION,
};

static const char *const examples[] = {
    "shell --epsilon 0.1 < questions.sql",
    NULL,
};

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
        "\\budget, \\history, \\d visits; \\? lists them. 'brume' alone on a terminal starts it "
        "too. From a pipe or a file it runs statement by statement, asks nothing, and ends at the "
        "first error with its exit code.",
    .usage = "[--epsilon E [--delta D] | --rho R] [OPTION...]",
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
