/* What streams share: a question a line in, an answer a line out. */
#ifndef BRUME_CLI_STREAM_H
#define BRUME_CLI_STREAM_H

#include "cli/command.h"

typedef struct brume_stream_answer {
    bool above, has_value, halted;
    double value;
    uint64_t hits_left;
} brume_stream_answer;

/* Answer one line. A line that is wrong is one of the errors of brume_stream_goes_on, and nothing
 * was drawn for it; any other error ends the stream. */
typedef brume_status (*brume_stream_ask)(void *context, const char *line,
                                         brume_stream_answer *answer, brume_error *error);

/* The statuses of a wrong line: syntax, unknown names, bad arguments, what is not supported. */
bool brume_stream_goes_on(brume_status status);

/* Read lines until the stream halts or the input ends; each answer is written out before more input
 * is waited for. A wrong line is reported on standard error with its number. */
BRUME_MUST_USE brume_status brume_stream_run(brume_call *call, brume_stream_ask ask, void *context,
                                             brume_error *error);

#endif
