/* Find the command, run it in a session, write the answer or the error. */
#include "cli/frame/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <brume/version.h>

#include "cli/client/remote.h"
#include "cli/frame/bar.h"
#include "base/error.h"
#include "cli/frame/interrupt.h"
#include "cli/frame/output.h"
#include "cli/frame/terminal.h"
#include "cli/frame/questions.h"

typedef struct words {
    int count;
    char **word;
    bool json; /* --json is among them, before -- */
    char *command, *options;
    const brume_own_command *own;
    brume_remote remote; /* a server, if one was named */
} words;

static bool ask_json(int count, char **word)
{
    for (int i = 0; i < count && strcmp(word[i], "--") != 0; i++)
        if (strcmp(word[i], "--json") == 0)
            return true;
    return false;
}

static brume_status write_version(bool json, brume_error *error)
{
    char text[100];
    snprintf(text, sizeof text, json ? "{\"version\": \"%s\"}\n" : "brume %s\n", BRUME_VERSION);
    return brume_output_commit(text, strlen(text), error);
}

/* In a session that nobody else uses. */
static brume_status run_in(brume_session *session, const words *all, brume_error *error)
{
    char *answer = NULL;
    size_t length = 0;
    if (strncmp(all->command, "stream ", 7) == 0 && all->options)
        return brume_questions_from_input(session, all->command, all->options, all->json, error);
    brume_status status = brume_session_run(session, all->count, (const char *const *)all->word,
                                            &answer, &length, error);
    if (status == BRUME_OK)
        status = brume_output_commit(answer, length, error);
    brume_free(answer);
    return status;
}

static void write_note(void *context, const char *line)
{
    (void)context;
    brume_output_say(stderr, line);
    fputc('\n', stderr);
}

static brume_status run_command(const words *all, brume_error *error)
{
    brume_session *session = NULL;
    brume_status status = brume_session_open(
        NULL,
        brume_terminal_wants_colour() ? "{\"input\": true, \"colour\": true}" : "{\"input\": true}",
        &session, error);
    if (status != BRUME_OK)
        return status;
    brume_session_on_progress(session, brume_bar_show, NULL);
    brume_session_on_text(session, brume_output_write, NULL);
    brume_session_on_note(session, write_note, NULL);
    status = brume_interrupt_watch(session, all->command, all->json, error);
    if (status == BRUME_OK)
        status = run_in(session, all, error);
    brume_interrupt_end();
    brume_session_close(session);
    return status;
}

static const brume_own_command *find_own(const words *all)
{
    const brume_own_command *own = all->own;
    while (own && own->name && strcmp(own->name, all->command) != 0)
        own++;
    return own && own->name ? own : NULL;
}

static brume_status run_remote(const words *all, brume_error *error)
{
    char *answer = NULL;
    size_t length = 0;
    brume_status status = brume_remote_run(&all->remote, all->command, all->options, all->json,
                                           &answer, &length, error);
    if (status == BRUME_OK) {
        status = brume_output_commit(answer, length, error);
    } else if (answer) { /* of a script that ended midway: it is paid for */
        brume_error lost;
        if (brume_output_write(NULL, answer, length, &lost) != BRUME_OK)
            status = lost.status, *error = lost;
    }
    free(answer);
    return status;
}

/* The server of the shell, for the commands that it starts: its children have it too. */
static brume_remote of_the_shell;

/* Options of brume itself, which stand before the command. */
static brume_status take_server(words *all, brume_error *error)
{
    int used = 0;
    brume_status status = brume_remote_read(all->count, all->word, &all->remote, &used, error);
    all->count -= used;
    all->word += used;
    if (!all->remote.url)
        all->remote = of_the_shell;
    return status;
}

/* Run what the words say. */
static brume_status run_words(words *all, brume_error *error)
{
    brume_status read = take_server(all, error);
    if (read != BRUME_OK)
        return read;
    static char shell_word[] = "shell", *shell[] = {shell_word};
    if (all->count == 0 && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
        all->count = 1; /* "brume" alone on a terminal */
        all->word = shell;
    }
    if (all->count > 0 &&
        (strcmp(all->word[0], "--version") == 0 || strcmp(all->word[0], "-V") == 0))
        return write_version(all->json, error);
    brume_status status = brume_session_words(all->count, (const char *const *)all->word,
                                              &all->command, &all->options, error);
    if (!all->command)
        return status;
    bool is_remote = false;
    if (all->remote.url && status == BRUME_OK)
        status = brume_remote_takes(all->command, &is_remote, error);
    if (all->remote.url && status != BRUME_OK)
        return status; /* nothing runs here that was meant for there */
    bool is_stream = strncmp(all->command, "stream ", 7) == 0;
    if (is_remote && is_stream && strstr(all->options, "\"no-ledger\""))
        is_remote = false; /* it has no dataset, and runs here */
    if (is_remote && is_stream)
        return brume_remote_stream(&all->remote, all->command, all->options, all->json, error);
    if (is_remote)
        return run_remote(all, error);
    of_the_shell = all->remote;
    const brume_own_command *own = find_own(all);
    if (own && status != BRUME_OK)
        return status;
    /* JSON cannot say all that words can: what is wrong with others the command itself tells */
    return own ? own->run(all->options, error) : run_command(all, error);
}

int brume_run_words(int count, char **word, const brume_own_command *own)
{
    words all = {.count = count, .word = word, .json = ask_json(count, word), .own = own};
    brume_error error = {0};
    brume_status status = brume_output_ready(&error);
    if (status == BRUME_OK)
        status = run_words(&all, &error);
    int code = status == BRUME_OK ? 0 : brume_output_error(all.command, all.json, 0, &error);
    brume_free(all.command);
    brume_free(all.options);
    return code;
}
