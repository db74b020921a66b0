/* From an object of options to a checked call, and back. */
#ifndef BRUME_COMMAND_CALL_JSON_H
#define BRUME_COMMAND_CALL_JSON_H

#include "command/command.h"

/* Parse a text into an object; NULL and "" are {}. ESYNTAX. */
BRUME_MUST_USE brume_status brume_options_parse(const char *text, json_t **out, brume_error *error);

/* Fill `call` for `command` from an object.
 *
 * A member is an option by its name or an operand by its name in lower case; an underscore stands
 * for a dash. Its value: a text as it would be typed; a number, as the shortest decimal that reads
 * back as it; true for a flag; false or null as if it was not there. Of what may be given several
 * times, an array of these; an object {"a": "1..2"} is an array ["a=1..2"], or, of an option that
 * is given once, the text "a=1..2,b=3". An array in an object is a list: {"a": ["x", "y"]} is
 * "a=x,y".
 * "json" and "format": call->json is true unless "json" is false or "format" is another than
 * "json"; the format "text" is that of the command line without --json.
 *
 * Errors as of the command line; EARGUMENT also for values of another type. The call is to be
 * closed also after a failure. */
BRUME_MUST_USE brume_status brume_call_from_json(const brume_command *command,
                                                 const json_t *options, brume_call *call,
                                                 brume_error *error);

/* The same object, of a call that was parsed: everything as text. NULL: memory is out. */
json_t *brume_call_to_json(const brume_call *call);

#endif
