/* brume as a server of forks, for tests that run it thousands of times: the program is loaded once,
 * and each run is a fork of it that does all that main() does.
 *
 * A request on standard input is words that end with a zero byte each: how many words follow the
 * five first, the folder to run in, the files of standard input, output and error, and the words
 * after the program's name. The answer is the exit code in a line, or minus the signal
 * that ended it. */
#include "cli/program.c" /* NOLINT(bugprone-suspicious-include) */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MOST = 100, FIRST = 5 };

static void redirect(const char *path, int flags, int to)
{
    int file = open(path, flags, 0600);
    if (file < 0 || dup2(file, to) < 0)
        _exit(126);
    if (file != to)
        close(file);
}

static int run_fork(int count, char **words)
{
    static char name[] = "brume";
    pid_t child = fork();
    if (child < 0)
        return 125;
    if (child == 0) {
        char *arguments[WORDS_MOST + 2] = {name};
        for (int i = 0; i < count; i++)
            arguments[i + 1] = words[FIRST + i];
        if (chdir(words[1]) != 0)
            _exit(126);
        redirect(words[2], O_RDONLY, 0);
        redirect(words[3], O_WRONLY | O_CREAT | O_TRUNC, 1);
        redirect(words[4], O_WRONLY | O_CREAT | O_TRUNC, 2);
        exit(brume_program(count + 1, arguments));
    }
    int status;
    if (waitpid(child, &status, 0) != child)
        return 125;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int main(void)
{
    for (;;) {
        char *words[FIRST + WORDS_MOST] = {0};
        size_t sizes[FIRST + WORDS_MOST] = {0};
        int count = 0;
        for (int i = 0; i < FIRST + count; i++) {
            if (getdelim(&words[i], &sizes[i], 0, stdin) < 0)
                return i == 0 ? 0 : 1;
            if (i == 0)
                count = atoi(words[0]);
            if (count < 0 || count > WORDS_MOST)
                return 1;
        }
        printf("%d\n", run_fork(count, words));
        fflush(stdout);
        for (int i = 0; i < FIRST + count; i++)
            free(words[i]);
    }
}
