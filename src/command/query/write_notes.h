/* The notes below the table of an answer. */
#ifndef BRUME_COMMAND_WRITE_NOTES_H
#define BRUME_COMMAND_WRITE_NOTES_H

#include "command/command.h"
#include "query/release/answer.h"

/* What it cost and what is to be kept in mind, to call->out: a line each, wrapped. */
BRUME_MUST_USE brume_status brume_write_notes(const brume_call *call,
                                              const brume_query_answer *answer, brume_error *error);

#endif
