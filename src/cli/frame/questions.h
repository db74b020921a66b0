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

#endif
