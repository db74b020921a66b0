/* The answer of a command, in memory until it has succeeded. */
#ifndef BRUME_COMMAND_OUTPUT_H
#define BRUME_COMMAND_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "command/command.h"

/* Give the call its buffer; close it also after a failure. */
BRUME_MUST_USE brume_status brume_call_open_output(brume_call *call, brume_error *error);
void brume_call_close_output(brume_call *call);

/* What was written is in call->buffer, call->buffer_length bytes and a 0. */
BRUME_MUST_USE brume_status brume_call_output(brume_call *call, brume_error *error);

typedef struct brume_readable {
    brume_number_text value, error;
} brume_readable;

/* The error has two significant digits, or is a whole number from 10 on, rounded up; the value has
 * the same decimals, rounded to nearest. `whole`: the value is an integer, and both have none.
 * Requires a finite value and an error >= 0; an error of 0 says nothing about decimals, and the
 * value then has six significant digits. */
brume_readable brume_value_and_error(double value, double error, bool whole);

typedef struct brume_progress {
    const brume_call *call;
    const brume_host *host; /* NULL: nobody looks, or it has not started */
    const char *label;
    uint64_t total; /* 0: unknown */
    struct timespec last;
} brume_progress;

/* `call` may be NULL. */
void brume_progress_start(brume_progress *progress, const brume_call *call, const char *label,
                          uint64_t total);

/* Cheap enough for every few thousand items. */
void brume_progress_update(brume_progress *progress, uint64_t done);

void brume_progress_end(brume_progress *progress);

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

/* A text as HTML or SVG shows it: <, >, & and " by their names. */
void brume_write_escaped(FILE *out, const char *text);

/* Any value on one line, as {"name": 1.5, "list": [1, 2]}. A real is the shortest decimal that
 * reads back as the same double, with a point or an exponent: 1.0, 0.05, 1e-6. (The ledger keeps
 * the text it wrote, of 17 digits; it is never printed but as a string.)   Returns 0, or -1 if
 * writing failed. */
int brume_json_write(const json_t *value, FILE *out);

/* The same for a file that people read too: a line for each member. */
int brume_json_write_lines(const json_t *value, FILE *out);

#endif
