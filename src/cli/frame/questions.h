/* The questions of a stream: lines of standard input. */
#ifndef BRUME_CLI_QUESTIONS_H
#define BRUME_CLI_QUESTIONS_H

#include <stdbool.h>

#include <brume/session.h>

/* Open the stream and read lines until it halts or the input ends; each answer is written out
 * before more input is waited for. A wrong line is reported on standard error with its number. */
BRUME_MUST_USE brume_status brume_questions_from_input(brume_session *session, const char *command,
                                                       const char *options, bool json,
                                                       brume_error *error);

/* A stream that is open, here or on a server. */
typedef struct brume_questions_stream {
    /* As brume_session_stream_ask, _close and _stopping; the answer is freed with brume_free. */
    brume_status (*ask)(void *context, const char *line, char **answer, bool *halted,
                        brume_error *error);
    brume_status (*close)(void *context, brume_error *error);
    bool (*stopping)(void *context); /* NULL: it never does */
    void *context;
} brume_questions_stream;

/* Put the lines of standard input to it until it halts or they end, then close it. `at_once`: each
 * answer is written before the next line is waited for, and was paid for. */
BRUME_MUST_USE brume_status brume_questions_run(const brume_questions_stream *stream,
                                                const char *command, bool at_once, bool json,
                                                brume_error *error);

#endif
