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
brume_status brume_unknown_option(const brume_command *command, const char *name, size_t length,
                                  brume_error *error);
BRUME_MUST_USE brume_status brume_call_add(brume_call *call, const brume_option *option,
                                           const char *text, brume_error *error);
BRUME_MUST_USE brume_status brume_call_check(const brume_call *call, brume_error *error);

/* Free what parsing allocated. */
void brume_call_close(brume_call *call);

/* Is `--json` among the words before `--`? Errors of parsing itself must know. */
bool brume_words_ask_json(int count, char **words);

/* --help, or -h, which people type as well. */
bool brume_is_help(const char *word);

#endif
