/* The whole of a command: words in, answer on standard output or error on standard error out. */
#ifndef BRUME_CLI_RUN_H
#define BRUME_CLI_RUN_H

/* The words after "brume"; returns the exit code. Once a process. */
int brume_run_words(int count, char **words);

#endif
