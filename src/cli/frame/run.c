/* Find the command, check the words, run it, write the answer or the error. */
#include "cli/frame/run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <brume/version.h>

#include "cli/frame/call.h"
#include "cli/frame/help.h"
#include "cli/frame/output.h"

static brume_status write_version(brume_call *call, brume_error *error)
{
    if (call->json)
        return brume_call_write_json(call, json_pack("{s:s}", "version", BRUME_VERSION), error);
    fprintf(call->out, "brume %s\n", BRUME_VERSION);
    return BRUME_OK;
}

/* Run what the words say; *command is set as soon as it is known, for the error text. */
static brume_status run_words(int count, char **words, brume_call *call, const char **command,
                              brume_error *error)
{
    static char shell_word[] = "shell", *shell[] = {shell_word};
    if (count == 0 && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
        count = 1; /* "brume" alone on a terminal */
        words = shell;
    }
    if (count == 0)
        return brume_fail(error, BRUME_EARGUMENT, "see 'brume help'", "a command is missing");
    call->json = brume_words_ask_json(count, words);
    if (strcmp(words[0], "--version") == 0)
        return write_version(call, error);
    if (strcmp(words[0], "--help") == 0)
        return brume_write_overview(call, error);
    int at = 0;
    while (at < count && strcmp(words[at], "--json") == 0)
        at++; /* `brume --json noise ...` is what people type too */
    if (at == count)
        return brume_fail(error, BRUME_EARGUMENT, "see 'brume help'", "a command is missing");
    const brume_command *found = NULL;
    int used = 0;
    brume_status status;
    if (count - at >= 2 && strcmp(words[at + 1], "--help") == 0 &&
        brume_write_family_help(call, words[at], &status, error))
        return status;
    BRUME_TRY(brume_find_command(count - at, words + at, &found, &used, error));
    *command = found->name;
    bool help = false;
    BRUME_TRY(brume_call_parse(found, count - at - used, words + at + used, call, &help, error));
    if (help)
        return brume_write_help(call, found, error);
    return found->run(call, error);
}

int brume_run_words(int count, char **words)
{
    brume_call call = {0};
    brume_error error = {0};
    const char *command = NULL;
    brume_status status = brume_output_ready(&error);
    if (status == BRUME_OK)
        status = brume_output_open(&call, &error);
    if (status == BRUME_OK)
        status = run_words(count, words, &call, &command, &error);
    if (status == BRUME_OK)
        status = brume_output_commit(&call, &error);
    brume_call_close(&call);
    brume_output_close(&call);
    if (status == BRUME_OK)
        return 0;
    return brume_output_error(command, brume_words_ask_json(count, words), &error);
}
