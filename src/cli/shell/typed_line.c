/* Lines of a shell, edited by libedit at a terminal and read as they are elsewhere. */
#include "cli/shell/typed_line.h"

#include <histedit.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

enum { REMEMBERED = 1000 };

struct brume_typed_line {
    EditLine *editor; /* NULL where standard input is no terminal */
    History *history;
    char *history_file;
    const char *prompt;
    brume_completer completer;
    void *state;
    bool dropped;
    char *text; /* the line that was read last */
    size_t capacity;
};

static brume_typed_line *owner_of(EditLine *editor)
{
    void *line = NULL;
    el_get(editor, EL_CLIENTDATA, &line);
    return line;
}

static const char *prompt_of(EditLine *editor)
{
    return owner_of(editor)->prompt;
}

static unsigned char drop_line(EditLine *editor, int key)
{
    (void)key;
    owner_of(editor)->dropped = true;
    fputs("^C", stdout);
    return CC_NEWLINE;
}

/* ---- completion ---- */

static size_t shared_length(char **words)
{
    size_t length = strlen(words[0]);
    for (size_t i = 1; words[i]; i++)
        for (size_t at = 0; at < length; at++)
            if (words[i][at] != words[0][at])
                length = at;
    return length;
}

static bool is_part_of_word(char c)
{
    return c && !strchr(" \t\n,;()=<>+-*/'\"", c);
}

static void list_words(char **words)
{
    fputc('\n', stdout);
    for (size_t i = 0; words[i]; i++)
        fprintf(stdout, "%s%s", i ? "  " : "", words[i]);
    fputc('\n', stdout);
}

static unsigned char complete(EditLine *editor, int key)
{
    (void)key;
    brume_typed_line *line = owner_of(editor);
    const LineInfo *info = el_line(editor);
    size_t cursor = (size_t)(info->cursor - info->buffer), start = cursor;
    while (start > 0 && is_part_of_word(info->buffer[start - 1]))
        start--;
    char *before = strndup(info->buffer, start);
    char *word = strndup(info->buffer + start, cursor - start);
    char **words = before && word ? line->completer(line->state, before, word) : NULL;
    unsigned char result = CC_ERROR;
    if (words && words[0]) {
        size_t typed = strlen(word), shared = shared_length(words);
        char *rest = shared > typed ? strndup(words[0] + typed, shared - typed) : NULL;
        if (rest && el_insertstr(editor, rest) == 0)
            result = CC_REFRESH;
        free(rest);
        if (!words[1] && result == CC_REFRESH) {
            (void)el_insertstr(editor, " ");
        } else if (words[1] && shared <= typed) {
            list_words(words);
            result = CC_REDISPLAY;
        }
    }
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
    free(before);
    free(word);
    return result;
}

/* ---- opening ---- */

static bool open_editor(brume_typed_line *line)
{
    HistEvent event;
    setlocale(LC_CTYPE, ""); /* names and texts may be in UTF-8 */
    signal(SIGINT, SIG_IGN); /* between two lines; child.c gives it back to commands */
    line->editor = el_init("brume", stdin, stdout, stderr);
    line->history = history_init();
    if (!line->editor || !line->history)
        return false;
    el_set(line->editor, EL_CLIENTDATA, line);
    el_set(line->editor, EL_PROMPT, prompt_of);
    el_set(line->editor, EL_EDITOR, "emacs");
    history(line->history, &event, H_SETSIZE, REMEMBERED);
    history(line->history, &event, H_SETUNIQUE, 1);
    el_set(line->editor, EL_HIST, history, line->history);
    el_set(line->editor, EL_ADDFN, "brume-complete", "complete a word", complete);
    el_set(line->editor, EL_BIND, "^I", "brume-complete", NULL);
    /* Ctrl-C is a key while a line is typed: it drops the line, and the shell stays. */
    el_set(line->editor, EL_ADDFN, "brume-drop", "drop the line", drop_line);
    el_set(line->editor, EL_SETTY, "-d", "-isig", NULL);
    el_set(line->editor, EL_BIND, "^C", "brume-drop", NULL);
    el_set(line->editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_source(line->editor, NULL);
    if (line->history_file)
        history(line->history, &event, H_LOAD, line->history_file);
    return true;
}

brume_status brume_typed_line_open(const char *history_file, brume_completer completer, void *state,
                                   brume_typed_line **out, brume_error *error)
{
    brume_typed_line *line = calloc(1, sizeof *line);
    if (line) {
        line->completer = completer;
        line->state = state;
        line->history_file = history_file ? strdup(history_file) : NULL;
    }
    bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (!line || (terminal && !open_editor(line))) {
        brume_typed_line_close(line);
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for a line editor");
    }
    *out = line;
    return BRUME_OK;
}

void brume_typed_line_close(brume_typed_line *line)
{
    if (!line)
        return;
    if (line->history)
        history_end(line->history);
    if (line->editor)
        el_end(line->editor);
    free(line->history_file);
    free(line->text);
    free(line);
}

bool brume_typed_line_at_terminal(const brume_typed_line *line)
{
    return line->editor != NULL;
}

/* ---- reading ---- */

static void cut_newline(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        text[--length] = 0;
}

brume_line_end brume_typed_line_read(brume_typed_line *line, const char *prompt, const char **text)
{
    if (!line->editor) {
        if (getline(&line->text, &line->capacity, stdin) < 0)
            return BRUME_LINE_END;
        cut_newline(line->text);
        *text = line->text;
        return BRUME_LINE_TYPED;
    }
    int count = 0;
    line->prompt = prompt;
    line->dropped = false;
    el_set(line->editor, EL_PREP_TERM, 1); /* before the prompt: Ctrl-C is a key from here on */
    const char *typed = el_gets(line->editor, &count);
    if (line->dropped) {
        fputc('\n', stdout);
        return BRUME_LINE_DROPPED;
    }
    free(line->text);
    line->capacity = 0;
    line->text = typed && count > 0 ? strdup(typed) : NULL;
    if (!line->text)
        return BRUME_LINE_END;
    cut_newline(line->text);
    *text = line->text;
    return BRUME_LINE_TYPED;
}

void brume_typed_line_remember(brume_typed_line *line, const char *text)
{
    HistEvent event;
    if (!line->editor || !*text)
        return;
    history(line->history, &event, H_ENTER, text);
    if (line->history_file) /* written with mode 0600 by libedit */
        history(line->history, &event, H_SAVE, line->history_file);
}

bool brume_typed_line_confirm(brume_typed_line *line, const char *question)
{
    const char *text = NULL;
    if (brume_typed_line_read(line, question, &text) != BRUME_LINE_TYPED)
        return false;
    return text[0] == 'y' || text[0] == 'Y';
}
