/* brume shell: a prompt for SQL and for commands.
 *
 * The shell keeps what the next statement is to cost and reads lines. Everything else is done by
 * the commands of the command line in a child process (child.h), so that a statement costs, says
 * and records what it does when it is typed at a terminal. */
#ifndef BRUME_CLI_SHELL_H
#define BRUME_CLI_SHELL_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "cli/shell/child.h"
#include "cli/shell/typed_line.h"

/* What `\epsilon` and its like have set; NULL is not set. All texts belong to the shell. */
typedef struct brume_shell {
    char *ledger, *epsilon, *delta, *rho, *format, *timeout;
    bool json;        /* --json for every statement */
    bool ask;         /* ask before a statement spends something */
    char *pending;    /* the SQL typed so far */
    char *last;       /* the statement before */
    json_t *commands; /* of brume, as 'help --json' lists them */
    brume_typed_line *line;
    int code; /* the exit code of the last command; of a script, of the one that ended it */
    bool over;
} brume_shell;

/* Read and run lines until they end: what 'brume shell' does with these options, a JSON object. */
BRUME_MUST_USE brume_status brume_shell_run(const char *options, brume_error *error);

/* Set a text of the shell; NULL unsets it. */
void brume_shell_set(char **place, const char *text);

/* The words of `command` for this shell's ledger, and with its price if `priced`. */
brume_typed_words brume_shell_words(const brume_shell *shell, const char *command, bool priced);

/* Run one statement, after asking if it is to be asked (ask_and_run.c). */
void brume_shell_statement(brume_shell *shell, const char *sql);
/* What it would cost, with `\explain`. */
void brume_shell_explain(brume_shell *shell, const char *sql);

/* Run a line that begins with a backslash (backslash.c). */
void brume_shell_backslash(brume_shell *shell, const char *text);
/* The name of the index-th setting or action after a backslash; NULL behind the last. */
const char *brume_shell_action(size_t index);

/* Completions of a word: a brume_completer whose state is a shell (completions.c). */
char **brume_shell_complete(void *shell, const char *before, const char *word);

#endif
