/* The answer of a command, in memory until it has succeeded. */
#ifndef BRUME_COMMAND_OUTPUT_H
#define BRUME_COMMAND_OUTPUT_H

#include "command/command.h"

/* Give the call its buffer; close it also after a failure. */
BRUME_MUST_USE brume_status brume_call_open_output(brume_call *call, brume_error *error);
void brume_call_close_output(brume_call *call);

/* What was written is in call->buffer, call->buffer_length bytes and a 0. */
BRUME_MUST_USE brume_status brume_call_output(brume_call *call, brume_error *error);

#endif
