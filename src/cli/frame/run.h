/* The whole of a command: words in, answer on standard output or error on standard error out. */
#ifndef BRUME_CLI_RUN_H
#define BRUME_CLI_RUN_H

#include <brume/session.h>

/* The words after "brume"; returns the exit code. `shell` runs the command of that name with its
 * options, a JSON object; NULL: there is none. Once a process. */
int brume_run_words(int count, char **words,
                    brume_status (*shell)(const char *options, brume_error *error));

#endif
