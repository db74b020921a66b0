/* An answer on the terminal or in a file: a table with notes below it, Markdown,
 * CSV, HTML, JSON. */
#ifndef BRUME_COMMAND_WRITE_ANSWER_H
#define BRUME_COMMAND_WRITE_ANSWER_H

#include "command/command.h"
#include "query/release/answer.h"

/* In the format that --format or --json names, to call->out. */
BRUME_MUST_USE brume_status brume_write_answer(brume_call *call, const brume_query_answer *answer,
                                               brume_error *error);

/* A value as text, a number with six digits or, `exactly`, with all of them; the caller frees it.
 */
char *brume_value_text(const brume_value *value, const char *null, bool exactly);

#endif
