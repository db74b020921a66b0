/* From the words of a command line to a checked call. */
#ifndef BRUME_COMMAND_CALL_H
#define BRUME_COMMAND_CALL_H

#include "command/command.h"

/* --json and --help, which every command has. */
extern const brume_option brume_common_options[];
extern const size_t brume_common_option_count;

/* Find the command: one word or two ("ledger verify"); *used is how many of the words it took.
 * BRUME_EUNKNOWN with the nearest name as the hint. */
BRUME_MUST_USE brume_status brume_find_command(int count, char **words,
                                               const brume_command **command, int *used,
                                               brume_error *error);

/* Parse `words` (after the command's name) into `call`, whose output is open, and check them
 * against the description. *help becomes true, and nothing more is checked, where --help is among
 * them. The call is to be closed with brume_call_close also after a failure. */
BRUME_MUST_USE brume_status brume_call_parse(const brume_command *command, int count, char **words,
                                             brume_call *call, bool *help, brume_error *error);

/* For those who make a call of something else than words: the option of that name (NULL: none), the
 * error where there is none; put one more value, checked, into the call, whose text must live as
 * long as it (NULL: of a flag); and, when all are in it, check that nothing is missing. */
const brume_option *brume_find_option(const brume_command *command, const char *name,
                                      size_t length);

/* Free what parsing allocated. */
void brume_call_close(brume_call *call);

/* Is `--json` among the words before `--`? Errors of parsing itself must know. */
bool brume_words_ask_json(int count, char **words);

/* --help, or -h, which people type as well. */
bool brume_is_help(const char *word);

/* From an object of options to a checked call, and back. */

/* Parse a text into an object; NULL and "" are {}. ESYNTAX. */
BRUME_MUST_USE brume_status brume_options_parse(const char *text, json_t **out, brume_error *error);

/* Fill `call` for `command` from an object.
 *
 * A member is an option by its name or an operand by its name in lower case; an underscore stands
 * for a dash. Its value: a text as it would be typed; a number, as the shortest decimal that reads
 * back as it; true for a flag; false or null as if it was not there. An option that may be given
 * several times takes an array of these; an object {"a": "1..2"} is the array ["a=1..2"], or, for
 * an option that is given once, the text "a=1..2,b=3". An array in an object is a list: {"a": ["x",
 * "y"]} is "a=x,y". "json" and "format": call->json is true unless "json" is false or "format" is
 * another than "json"; the format "text" is that of the command line without --json.
 *
 * Errors as of the command line; EARGUMENT also for values of another type. The call is to be
 * closed also after a failure. */
BRUME_MUST_USE brume_status brume_call_from_json(const brume_command *command,
                                                 const json_t *options, brume_call *call,
                                                 brume_error *error);

/* The same object, of a call that was parsed: everything as text. NULL: memory is out. */
json_t *brume_call_to_json(const brume_call *call);

#endif
