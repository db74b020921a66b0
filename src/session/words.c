/* The words of a command line: which command and which options they say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "command/frame/call.h"
#include "command/frame/help.h"
#include "command/frame/output.h"
#include "session/state.h"

/* What is made of the words, both of the caller's once they are there. */
typedef struct said {
    char *command, *options;
} said;

static brume_status put(said *out, const char *command, json_t *options, brume_error *error)
{
    free(out->command);
    out->command = strdup(command);
    out->options = options ? json_dumps(options, JSON_COMPACT) : NULL;
    json_decref(options);
    return out->command && out->options ? BRUME_OK : brume_no_memory(error, NULL);
}

/* The command "help" of `name`, which may be of two words, or of none. */
static brume_status put_help(said *out, const char *name, bool json, brume_error *error)
{
    json_t *list = json_array();
    const char *space = name ? strchr(name, ' ') : NULL;
    bool good = list != NULL;
    if (name && space)
        good = good &&
               json_array_append_new(list, json_stringn(name, (size_t)(space - name))) == 0 &&
               json_array_append_new(list, json_string(space + 1)) == 0;
    else if (name)
        good = good && json_array_append_new(list, json_string(name)) == 0;
    if (!good) {
        json_decref(list);
        return brume_no_memory(error, NULL);
    }
    return put(out, "help", json_pack("{s:b,s:o}", "json", json, "command", list), error);
}

static bool is_family(const char *word)
{
    size_t count;
    const brume_command *const *commands = brume_commands(&count);
    for (size_t i = 0; i < count; i++)
        if (brume_command_is_of(commands[i], word))
            return true;
    return false;
}

static brume_status missing(brume_error *error)
{
    return brume_fail(error, BRUME_EARGUMENT, "see 'brume help'", "a command is missing");
}

static bool is_utf8(int count, char **words)
{
    for (int i = 0; i < count; i++)
        if (!brume_utf8_is_text(words[i], strlen(words[i])))
            return false;
    return true;
}

static brume_status read_words(int count, char **words, said *out, brume_error *error)
{
    int at = 0, used = 0;
    bool json = brume_words_ask_json(count, words), help = false;
    while (at < count && strcmp(words[at], "--json") == 0)
        at++; /* `brume --json noise ...` is what people type too */
    if (at == count)
        return missing(error);
    if (brume_is_help(words[at]))
        return put_help(out, NULL, json, error);
    if (count - at >= 2 && brume_is_help(words[at + 1]) && is_family(words[at]))
        return put_help(out, words[at], json, error);
    const brume_command *found = NULL;
    brume_call call = {.json = json};
    BRUME_TRY(brume_find_command(count - at, words + at, &found, &used, error));
    out->command = strdup(found->name);
    if (!out->command)
        return brume_no_memory(error, NULL);
    brume_status status =
        brume_call_parse(found, count - at - used, words + at + used, &call, &help, error);
    if (status == BRUME_OK && !help && !is_utf8(count, words))
        status = brume_fail(error, BRUME_EARGUMENT, NULL, "a word is not valid UTF-8");
    else if (status == BRUME_OK)
        status = help ? put_help(out, found->name, json, error)
                      : put(out, found->name, brume_call_to_json(&call), error);
    brume_call_close(&call);
    return status;
}

brume_status brume_session_words(int count, const char *const *words, char **command,
                                 char **options, brume_error *error)
{
    said made = {0};
    brume_status status = read_words(count, (char **)(uintptr_t)words, &made, error);
    if (made.command)
        *command = made.command;
    if (status == BRUME_OK)
        *options = made.options;
    else
        free(made.options);
    return status;
}

/* ---- running them ---- */

/* Help, or the call that the words make; its output is open. */
static brume_status run_call(const brume_session *session, int count, char **words,
                             brume_call *call, char **answer, brume_error *error)
{
    int at = 0, used = 0;
    bool help = false;
    while (at < count && strcmp(words[at], "--json") == 0)
        at++;
    if (at == count)
        return missing(error);
    const brume_command *found = NULL;
    brume_status status = BRUME_OK;
    if (brume_is_help(words[at])) {
        status = brume_write_overview(call, error);
    } else if (!(count - at >= 2 && brume_is_help(words[at + 1]) &&
                 brume_write_family_help(call, words[at], &status, error))) {
        BRUME_TRY(brume_find_command(count - at, words + at, &found, &used, error));
        BRUME_TRY(
            brume_call_parse(found, count - at - used, words + at + used, call, &help, error));
        if (!help) {
            BRUME_TRY(brume_session_admit(session, call, error));
            return brume_session_call_run(call, answer, error);
        }
        status = brume_write_help(call, found, error);
    }
    return status == BRUME_OK ? brume_session_call_answer(call, answer, error) : status;
}

brume_status brume_session_run(brume_session *session, int count, const char *const *words,
                               char **answer, size_t *length, brume_error *error)
{
    char *text = NULL, **all = (char **)(uintptr_t)words;
    BRUME_TRY(brume_session_begin(session, false, error));
    brume_call call = {.host = &session->host,
                       .colour = session->colour,
                       .json = brume_words_ask_json(count, all)};
    brume_status status = brume_call_open_output(&call, error);
    if (status == BRUME_OK)
        status = run_call(session, count, all, &call, &text, error);
    if (status == BRUME_OK && length)
        *length = call.buffer_length;
    brume_session_call_close(&call);
    brume_session_end(session);
    if (status == BRUME_OK && answer)
        *answer = text;
    else
        free(text);
    return status;
}
