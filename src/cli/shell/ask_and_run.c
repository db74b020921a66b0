/* One statement of the shell: say what it would cost, ask, run it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/frame/output.h"
#include "cli/shell/number.h"
#include "cli/shell/shell.h"

void brume_shell_set(char **place, const char *text)
{
    free(*place);
    *place = text && *text ? strdup(text) : NULL;
}

static void add_option(brume_typed_words *words, const char *option, const char *value)
{
    if (value) {
        brume_words_add(words, option);
        brume_words_add(words, value);
    }
}

brume_typed_words brume_shell_words(const brume_shell *shell, const char *command, bool priced)
{
    brume_typed_words words = {0};
    brume_words_add(&words, command);
    add_option(&words, "--ledger", shell->ledger);
    if (priced) {
        add_option(&words, "--epsilon", shell->epsilon);
        add_option(&words, "--rho", shell->rho);
        add_option(&words, "--delta", shell->delta);
    }
    return words;
}

/* SQL comes last, so that it is never taken for an option. */
static void add_sql(brume_typed_words *words, const char *sql)
{
    brume_words_add(words, "--");
    brume_words_add(words, sql);
}

void brume_shell_explain(brume_shell *shell, const char *sql)
{
    brume_typed_words words = brume_shell_words(shell, "explain", true);
    if (shell->json)
        brume_words_add(&words, "--json");
    add_sql(&words, sql);
    shell->code = brume_child_run(&words);
    brume_words_free(&words);
}

/* What a price is called in the JSON of a cost: rho where there is one. */
static const char *currency(const json_t *cost)
{
    return json_is_number(json_object_get(cost, "rho")) ? "rho" : "epsilon";
}

/* "this costs epsilon 0.1 and gives n ± 37, mean ± 1.2. Spend it? [y/N] ". */
static char *question_of(const json_t *explanation)
{
    char *text = NULL;
    size_t length = 0;
    const json_t *cost = json_object_get(explanation, "cost"), *measure = NULL;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    const char *unit = currency(cost);
    fprintf(out, "this costs %s %s", unit,
            brume_shell_shortest(json_number_value(json_object_get(cost, unit))).text);
    double delta = json_number_value(json_object_get(cost, "delta"));
    if (delta > 0)
        fprintf(out, ", delta %s", brume_shell_rounded_up(delta).text);
    size_t at = 0, shown = 0;
    json_array_foreach (json_object_get(explanation, "plan"), at, measure) {
        const json_t *width = json_object_get(measure, "error_95"),
                     *columns = json_object_get(measure, "columns");
        const char *name = json_string_value(json_array_get(columns, 0));
        if (json_is_number(width) && name && shown < 4)
            fprintf(out, "%s%s ± %s", shown++ ? ", " : "; noise at 95 %: ", name,
                    brume_shell_rounded_up(json_number_value(width)).text);
    }
    fprintf(out, "\nspend it? [y/N] ");
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* May the statement run? Free ones may; for others a person is asked. What explain refuses, the
 * query would refuse: its error is shown, and nothing is asked. */
static bool may_run(brume_shell *shell, const char *sql)
{
    if (!shell->ask || !brume_typed_line_at_terminal(shell->line))
        return true;
    brume_typed_words words = brume_shell_words(shell, "explain", true);
    brume_words_add(&words, "--json");
    add_sql(&words, sql);
    char *answer = NULL;
    int code = brume_child_capture(&words, 1, &answer);
    brume_words_free(&words);
    if (code != 0)
        free(answer);
    if (code >= 5) { /* it could not be asked, and might be next time: then nobody was asked */
        brume_shell_explain(shell, sql);
        return false;
    }
    if (code != 0)
        return true; /* the query says what is wrong, before it is charged */
    json_t *explanation = answer ? json_loads(answer, 0, NULL) : NULL;
    free(answer);
    const json_t *cost = json_object_get(explanation, "cost");
    bool spends = json_number_value(json_object_get(cost, currency(cost))) > 0;
    char *question = question_of(explanation);
    char *last_line = question ? strrchr(question, '\n') : NULL;
    bool yes = !spends;
    if (spends && last_line) {
        *last_line = 0;
        brume_output_say(stdout, question);
        fputc('\n', stdout);
        yes = brume_typed_line_confirm(shell->line, last_line + 1);
        if (!yes)
            fputs("nothing was spent\n", stdout);
    }
    free(question);
    json_decref(explanation);
    return yes;
}

/* Say by which name the answer is a table. The newest charge is this statement's if it has its
 * text: others may ask meanwhile, and what is made of answers has no charge. */
static void name_answer(const brume_shell *shell, const char *sql)
{
    if (shell->json || !shell->ask || !brume_typed_line_at_terminal(shell->line))
        return;
    brume_typed_words words = brume_shell_words(shell, "history", false);
    brume_words_add(&words, "--limit");
    brume_words_add(&words, "1");
    brume_words_add(&words, "--json");
    char *text = NULL;
    int code = brume_child_capture(&words, 1, &text);
    brume_words_free(&words);
    json_t *history = code == 0 && text ? json_loads(text, 0, NULL) : NULL;
    const json_t *last = json_array_get(json_object_get(history, "events"), 0);
    const char *asked = json_string_value(json_object_get(last, "sql"));
    if (asked && strcmp(asked, sql) == 0 && json_is_integer(json_object_get(last, "id")))
        printf("(answer_%lld in SQL: SELECT ... FROM answer_%lld is free)\n",
               (long long)json_integer_value(json_object_get(last, "id")),
               (long long)json_integer_value(json_object_get(last, "id")));
    json_decref(history);
    free(text);
}

void brume_shell_statement(brume_shell *shell, const char *sql)
{
    if (!may_run(shell, sql))
        return;
    brume_typed_words words = brume_shell_words(shell, "query", true);
    add_option(&words, "--timeout", shell->timeout);
    if (shell->json)
        brume_words_add(&words, "--json");
    else
        add_option(&words, "--format", shell->format);
    add_sql(&words, sql);
    shell->code = brume_child_run(&words);
    brume_words_free(&words);
    if (shell->code == 0)
        name_answer(shell, sql);
}
