/* The whole of a command: words in, answer on standard output or error on standard error out. */
#ifndef BRUME_CLI_RUN_H
#define BRUME_CLI_RUN_H

#include <stdbool.h>

#include <brume/session.h>

/* A command that the library only describes, and the command line runs, with its options as a JSON
 * object. */
typedef struct brume_own_command {
    const char *name;
    brume_status (*run)(const char *options, brume_error *error);
} brume_own_command;

/* The words after "brume"; returns the exit code. `own` ends with a name that is NULL; NULL: there
 * are none. Once a process. */
int brume_run_words(int count, char **words, const brume_own_command *own);

#endif
