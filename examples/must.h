/* For short examples: a failed call ends the program with its message and exit code. */
#ifndef BRUME_EXAMPLES_MUST_H
#define BRUME_EXAMPLES_MUST_H

#include <stdio.h>
#include <stdlib.h>

#include <brume/status.h>

static inline void must(brume_status status, const brume_error *error)
{
    if (status == BRUME_OK)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(brume_status_exit_code(status));
}

#endif
