/* Text for a person in lines of at most BRUME_LINE characters (of UTF-8). */
#ifndef BRUME_COMMAND_WRAP_H
#define BRUME_COMMAND_WRAP_H

#include <stddef.h>
#include <stdio.h>

#include "command/command.h"

enum { BRUME_LINE = 80 };

/* Characters, not bytes: continuation bytes of UTF-8 do not count. */
size_t brume_text_width(const char *text);

/* Words, broken at spaces; '\n' ends a line, and an empty line stays one. The first line begins
 * where the cursor is, in `column`; the others after `indent` spaces. Ends with a newline. */
void brume_write_wrapped(FILE *out, const char *text, size_t column, size_t indent);

/* A sentence, formatted as printf does, from the start of a line; its further lines are indented by
 * two. */
void brume_write_sentence(FILE *out, const char *format, ...) BRUME_PRINTF(2, 3);

/* Words that are typed at a shell: they are broken before an option or an operand only, never
 * within quotes or brackets or between an option and its value; `continued` ends a broken line. */
void brume_write_words(FILE *out, const char *words, size_t column, size_t indent,
                       const char *continued);

#endif
