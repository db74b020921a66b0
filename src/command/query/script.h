/* The statements that `query` is given: as an argument, from a file, or from standard input. */
#ifndef BRUME_COMMAND_SCRIPT_H
#define BRUME_COMMAND_SCRIPT_H

#include "command/command.h"

typedef struct brume_script {
    char **statements;
    size_t count;
} brume_script;

/* The argument SQL, where it is not -; --file FILE; or standard input. EARGUMENT: none of them, or
 * two; ESOURCE: the file cannot be read; ESYNTAX: there is no statement in it. */
BRUME_MUST_USE brume_status brume_script_open(const brume_call *call, brume_script *out,
                                              brume_error *error);
void brume_script_close(brume_script *script);

/* The same error, which also says of which statement (from 0) it is, where there are several, and
 * how many before it were answered. */
brume_status brume_script_failed(const brume_script *script, size_t statement, size_t answered,
                                 brume_status status, brume_error *error);

#endif
