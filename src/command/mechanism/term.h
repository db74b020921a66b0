/* An operand that is one term of an expression, such as laplace(scale=10). */
#ifndef BRUME_COMMAND_TERM_H
#define BRUME_COMMAND_TERM_H

#include <brume/mechanism/event.h>

#include "command/command.h"

/* Read the first operand as one release of one mechanism, for commands that do not depend on the
 * adjacency. BRUME_EUNSUPPORTED for sums and for counts above 1, BRUME_EARGUMENT for a `?`. */
BRUME_MUST_USE brume_status brume_call_term(const brume_call *call, brume_event *event,
                                            brume_error *error);

/* The same of any text. */
BRUME_MUST_USE brume_status brume_read_term(const brume_call *call, const char *text,
                                            brume_event *event, brume_error *error);

#endif
