/* The command line: what main does, with all libraries. */
#ifndef BRUME_CLI_PROGRAM_H
#define BRUME_CLI_PROGRAM_H

#include <brume/status.h>

/* Returns the exit code. Once a process. */
BRUME_API int brume_program(int argc, char **argv);

#endif
