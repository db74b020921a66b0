/* brume shell: read lines, put statements together, run them one by one. */
#include "cli/shell/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <brume/session.h>

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
            fputs("  here: \\epsilon 0.1 sets a price for each statement\n", stderr);
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

/* Does a semicolon end the statement that is being typed? Not within quotes or a comment, where a
 * line is text whatever it begins with. */
static bool is_between_words(const brume_shell *shell)
{
    char *ended = NULL;
    if (!shell->pending || asprintf(&ended, "%s\n;", shell->pending) < 0)
        return true;
    bool ends = brume_statement_length(ended) > 0;
    free(ended);
    return ends;
}

static void take_line(brume_shell *shell, const char *text)
{
    static const char *const words[] = {"exit", "quit", "help"};
    size_t space = strspn(text, " \t");
    if (text[space] == '\\' && is_between_words(shell)) {
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
    json_decref(shell->commands);
    brume_typed_line_close(shell->line);
}

/* What commands there are: the library knows. */
static brume_status list_commands(json_t **out, brume_error *error)
{
    brume_session *session = NULL;
    char *text = NULL;
    brume_status status = brume_session_open(NULL, NULL, &session, error);
    if (status == BRUME_OK)
        status = brume_session_call(session, "help", NULL, &text, error);
    brume_session_close(session);
    json_t *answer = status == BRUME_OK ? json_loads(text, 0, NULL) : NULL;
    *out = json_incref(json_object_get(answer, "commands"));
    json_decref(answer);
    brume_free(text);
    return status;
}

static void set_from(brume_shell *shell, const json_t *options)
{
    const struct {
        const char *name;
        char **place;
    } texts[] = {{"ledger", &shell->ledger},
                 {"epsilon", &shell->epsilon},
                 {"delta", &shell->delta},
                 {"rho", &shell->rho},
                 {"timeout", &shell->timeout}};
    shell->json = json_is_true(json_object_get(options, "json"));
    shell->ask = !json_is_true(json_object_get(options, "yes"));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        brume_shell_set(texts[i].place, json_string_value(json_object_get(options, texts[i].name)));
}

brume_status brume_shell_run(const char *options, brume_error *error)
{
    brume_shell shell = {0};
    json_t *typed = json_loads(options, 0, NULL);
    set_from(&shell, typed);
    json_decref(typed);
    brume_status status = list_commands(&shell.commands, error);
    char *history = history_file();
    if (status == BRUME_OK)
        status = brume_typed_line_open(history, brume_shell_complete, &shell, &shell.line, error);
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
