/* Help texts, the man page and the completions, all made from the tables of commands and cards. */
#ifndef BRUME_COMMAND_HELP_H
#define BRUME_COMMAND_HELP_H

#include "command/command.h"

/* `brume help` and `brume help COMMAND`, as text or JSON. */
BRUME_MUST_USE brume_status brume_write_overview(brume_call *call, brume_error *error);
BRUME_MUST_USE brume_status brume_write_help(brume_call *call, const brume_command *command,
                                             brume_error *error);

/* `brume help ledger`: the commands whose first word of two it is. False where there are none; else
 * *status is set. */
bool brume_write_family_help(brume_call *call, const char *family, brume_status *status,
                             brume_error *error);

/* What follows the name of a command in its usage line: "EXPR --count N [--json]". */
void brume_usage(const brume_command *command, char *out, size_t room);

/* The one line of an operand or an option: its help, its range or its choices. */
void brume_operand_help(const brume_operand *operand, char *out, size_t room);
void brume_option_help(const brume_option *option, char *out, size_t room);

/* The man page brume(1), in roff's man macros. */
void brume_write_manual(FILE *out);

/* A completion script: "bash", "zsh" or "fish". */
void brume_write_completion(FILE *out, const char *shell);

#endif
