/* A command run by a child process of the shell. */
#include "cli/shell/child.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/frame/output.h"
#include "cli/frame/run.h"

void brume_words_add(brume_typed_words *words, const char *word)
{
    if (word && words->count < BRUME_WORDS_MOST && (words->words[words->count] = strdup(word)))
        words->count++;
}

void brume_words_free(brume_typed_words *words)
{
    for (int i = 0; i < words->count; i++)
        free(words->words[i]);
    *words = (brume_typed_words){0};
}

/* In the child: what the shell changed in the process is as it was when a command starts. */
static _Noreturn void run_command(const brume_typed_words *words)
{
    setlocale(LC_ALL, "C");
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    _exit(brume_run_words(words->count, (char **)(uintptr_t)words->words, NULL));
}

/* Ctrl-C at the terminal reaches child and shell; while a command runs it is the command's. */
static int wait_for(pid_t child)
{
    int state = 0;
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR)
            return 1;
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

int brume_child_run(const brume_typed_words *words)
{
    fflush(NULL);
    void (*interrupt)(int) = signal(SIGINT, SIG_IGN), (*quit)(int) = signal(SIGQUIT, SIG_IGN);
    pid_t child = fork();
    if (child == 0) {
        brume_output_page_long_answers();
        run_command(words);
    }
    int code = child < 0 ? 1 : wait_for(child);
    signal(SIGINT, interrupt);
    signal(SIGQUIT, quit);
    return code;
}

/* All that can be read from `file`, with a 0 at the end; NULL if memory is short. */
static char *read_all(int file)
{
    char *text = NULL, block[4096];
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    for (ssize_t got; out && (got = read(file, block, sizeof block)) != 0;)
        if (got > 0)
            fwrite(block, 1, (size_t)got, out);
        else if (errno != EINTR)
            break;
    if (!out || fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

int brume_child_capture(const brume_typed_words *words, int quiet, char **answer)
{
    int pipe_ends[2];
    *answer = NULL;
    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        return 1;
    fflush(NULL);
    void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
    pid_t child = fork();
    if (child == 0) {
        dup2(pipe_ends[1], STDOUT_FILENO);
        int nowhere = quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
        if (nowhere >= 0)
            dup2(nowhere, STDERR_FILENO);
        run_command(words);
    }
    close(pipe_ends[1]);
    if (child > 0)
        *answer = read_all(pipe_ends[0]);
    close(pipe_ends[0]);
    int code = child < 0 ? 1 : wait_for(child);
    signal(SIGINT, interrupt);
    return code;
}
