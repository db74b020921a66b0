/* Lines of the shell that begin with a backslash: settings, and every command of brume. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brume/decimal.h>

#include "cli/shell/shell.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* The next word of a line, with '…' and "…" taken off; NULL at the end. The caller frees it. */
static char *next_word(const char **at)
{
    while (is_space(**at))
        (*at)++;
    if (!**at)
        return NULL;
    char *word = malloc(strlen(*at) + 1);
    size_t length = 0;
    char quote = 0;
    for (; word && **at && (quote || !is_space(**at)); (*at)++) {
        if (quote ? **at == quote : (**at == '\'' || **at == '"'))
            quote = quote ? 0 : **at;
        else
            word[length++] = **at;
    }
    if (word)
        word[length] = 0;
    return word;
}

static void trim(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && (is_space(text[length - 1]) || text[length - 1] == ';'))
        text[--length] = 0;
}

/* ---- what they do: `rest` is the line after the name ---- */

typedef void (*action)(brume_shell *shell, const char *rest);

static void say_price(const brume_shell *shell)
{
    const char *unit = shell->rho ? "rho" : "epsilon",
               *price = shell->rho ? shell->rho : shell->epsilon;
    if (!price)
        fputs("no price is set; \\epsilon 0.1 sets one for each statement\n", stdout);
    else
        fprintf(stdout, "each statement costs %s %s%s%s\n", unit, price,
                shell->delta ? ", delta " : "", shell->delta ? shell->delta : "");
}

/* A price is checked when it is set, not when the statement is typed in full. */
static bool is_price(const char *text)
{
    brume_decimal price;
    bool good = brume_decimal_parse(text, &price, NULL) == BRUME_OK &&
                brume_decimal_upper(&price) > 0;
    if (!good)
        fprintf(stderr, "brume shell: '%s' is no number above 0\n", text);
    return good;
}

/* Set a price from the line, or only say what it is; was it set? */
static bool set_price(brume_shell *shell, char **place, const char *rest)
{
    char *word = next_word(&rest);
    bool set = word && is_price(word);
    if (set)
        brume_shell_set(place, word);
    else if (word)
        shell->code = brume_status_exit_code(BRUME_EARGUMENT);
    free(word);
    return set;
}

static void set_epsilon(brume_shell *shell, const char *rest)
{
    if (set_price(shell, &shell->epsilon, rest))
        brume_shell_set(&shell->rho, NULL);
    say_price(shell);
}

static void set_rho(brume_shell *shell, const char *rest)
{
    if (set_price(shell, &shell->rho, rest))
        brume_shell_set(&shell->epsilon, NULL);
    say_price(shell);
}

static void set_delta(brume_shell *shell, const char *rest)
{
    (void)set_price(shell, &shell->delta, rest);
    say_price(shell);
}

static void set_format(brume_shell *shell, const char *rest)
{
    char *word = next_word(&rest);
    if (word)
        brume_shell_set(&shell->format, word);
    free(word);
    fprintf(stdout, "answers are shown as %s\n", shell->format ? shell->format : "table");
}

static void set_timeout(brume_shell *shell, const char *rest)
{
    char *word = next_word(&rest);
    if (word && strcmp(word, "off") == 0)
        brume_shell_set(&shell->timeout, NULL);
    else if (word && is_price(word))
        brume_shell_set(&shell->timeout, word);
    free(word);
    fprintf(stdout, "deadline of a statement: %s%s\n",
            shell->timeout ? shell->timeout : "that of the owner",
            shell->timeout ? " seconds" : "");
}

static void set_ask(brume_shell *shell, const char *rest)
{
    char *word = next_word(&rest);
    if (word)
        shell->ask = strcmp(word, "off") != 0;
    free(word);
    fprintf(stdout, "you are %s before a statement spends something\n",
            shell->ask ? "asked" : "not asked");
}

static void explain(brume_shell *shell, const char *rest)
{
    while (is_space(*rest))
        rest++;
    if (*rest)
        brume_shell_explain(shell, rest);
    else if (shell->pending)
        brume_shell_explain(shell, shell->pending);
    else if (shell->last)
        brume_shell_explain(shell, shell->last);
    else
        fputs("there is no statement yet; \\explain SELECT ... explains one\n", stdout);
}

static void run_with_ledger(brume_shell *shell, const char *command, const char *rest)
{
    brume_typed_words words = brume_shell_words(shell, command, false);
    for (char *word; (word = next_word(&rest)); free(word))
        brume_words_add(&words, word);
    shell->code = brume_child_run(&words);
    brume_words_free(&words);
}

static void describe(brume_shell *shell, const char *rest)
{
    while (is_space(*rest))
        rest++;
    run_with_ledger(shell, *rest ? "show" : "datasets", rest);
}

static void leave(brume_shell *shell, const char *rest)
{
    (void)rest;
    shell->over = true;
}

static void drop(brume_shell *shell, const char *rest)
{
    (void)rest;
    brume_shell_set(&shell->pending, NULL);
    fputs("what was typed so far is dropped\n", stdout);
}

static void list(brume_shell *shell, const char *rest);

static const struct {
    const char *name, *argument, *help;
    action run;
} actions[] = {
    {"epsilon", "E", "the price of each statement; there is no default", set_epsilon},
    {"delta", "D", "its delta, where one is needed or useful", set_delta},
    {"rho", "R", "the price under the rule concentrated", set_rho},
    {"explain", "[SQL]",
     "what a statement would cost and how exact it would be; free. Without SQL: of "
     "the statement that is being typed, else of the one before",
     explain},
    {"d", "[NAME]", "the datasets, or one of them", describe},
    {"format", "FORMAT", "how answers are shown, as --format of query", set_format},
    {"timeout", "SECONDS|off", "the deadline of a statement", set_timeout},
    {"ask", "on|off", "whether to ask before a statement spends something", set_ask},
    {"reset", "", "drop what was typed so far", drop},
    {"?", "", "this list", list},
    {"q", "", "leave; so does Ctrl-D", leave},
};

static void list(brume_shell *shell, const char *rest)
{
    (void)shell;
    (void)rest;
    fputs("SQL ends with a semicolon and may go over several lines.\n\n", stdout);
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        char left[40];
        snprintf(left, sizeof left, "\\%s %s", actions[i].name, actions[i].argument);
        fprintf(stdout, "  %-22s%s\n", left, actions[i].help);
    }
    fprintf(stdout, "  %-22s%s\n", "\\COMMAND WORDS",
            "any command of brume: \\budget, \\history, \\help register");
}

/* ---- every command of brume ---- */

static bool takes_ledger(const json_t *command)
{
    size_t at = 0;
    const json_t *option = NULL;
    json_array_foreach (json_object_get(command, "options"), at, option)
        if (strcmp(json_string_value(json_object_get(option, "name")), "ledger") == 0)
            return true;
    return false;
}

/* Is `name` a command, or the first word of some ("ledger")? */
static bool is_command(const brume_shell *shell, const char *name, bool *ledger)
{
    size_t at = 0, length = strlen(name);
    const json_t *command = NULL;
    json_array_foreach (shell->commands, at, command) {
        const char *whole = json_string_value(json_object_get(command, "name"));
        if (strncmp(whole, name, length) == 0 && (!whole[length] || whole[length] == ' ')) {
            *ledger = takes_ledger(command);
            return strcmp(name, "shell") != 0 && strcmp(name, "serve") != 0;
        }
    }
    return false;
}

static void run_command(brume_shell *shell, const char *name, const char *rest, bool ledger)
{
    brume_typed_words words = {0};
    brume_words_add(&words, name);
    for (char *word; (word = next_word(&rest)); free(word))
        brume_words_add(&words, word);
    if (ledger && shell->ledger) {
        brume_words_add(&words, "--ledger");
        brume_words_add(&words, shell->ledger);
    }
    shell->code = brume_child_run(&words);
    brume_words_free(&words);
}

void brume_shell_backslash(brume_shell *shell, const char *text)
{
    char *line = strdup(text + 1);
    if (!line)
        return;
    trim(line);
    const char *rest = line;
    char *name = next_word(&rest);
    bool ledger = false;
    shell->code = 0;
    size_t at = 0, count = sizeof actions / sizeof *actions;
    while (name && at < count && strcmp(actions[at].name, name) != 0)
        at++;
    if (!name)
        list(shell, "");
    else if (at < count)
        actions[at].run(shell, rest);
    else if (is_command(shell, name, &ledger))
        run_command(shell, name, rest, ledger);
    else {
        fprintf(stderr, "brume shell: there is no '\\%s'\n  hint: \\? lists what there is\n", name);
        shell->code = brume_status_exit_code(BRUME_EUNKNOWN);
    }
    free(name);
    free(line);
}

const char *brume_shell_action(size_t index)
{
    return index < sizeof actions / sizeof *actions ? actions[index].name : NULL;
}
