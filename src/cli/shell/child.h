/* A command of the command line, run by a child process of the shell.
 *
 * Whatever becomes of it (an error, a deadline, Ctrl-C, a guard that ends the process), the shell
 * goes on, and a command behaves in it as when it is typed alone. The shell itself opens no ledger
 * and no data. */
#ifndef BRUME_CLI_CHILD_H
#define BRUME_CLI_CHILD_H

#include <stddef.h>

/* The words of a command after "brume"; all are copied. */
enum { BRUME_WORDS_MOST = 64 };
typedef struct brume_typed_words {
    char *words[BRUME_WORDS_MOST + 1]; /* NULL ends */
    int count;
} brume_typed_words;

void brume_words_add(brume_typed_words *words,
                     const char *word); /* more than the most are dropped */
void brume_words_free(brume_typed_words *words);

/* Run it; its answer goes to standard output, through a pager if it is longer than the screen. The
 * exit code, or 128 and the signal that ended it. */
int brume_child_run(const brume_typed_words *words);

/* Run it with its standard output in *answer, which the caller frees (NULL if memory is short), and
 * standard error as it is, or nowhere if `quiet`. The exit code. */
int brume_child_capture(const brume_typed_words *words, int quiet, char **answer);

#endif
