/* Lines of standard input as they come, in constant memory. */
#ifndef BRUME_CLI_LINE_INPUT_H
#define BRUME_CLI_LINE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <brume/status.h>

enum { BRUME_LINE_MOST = 1 << 16 }; /* bytes of a line */

typedef struct brume_line_input brume_line_input;

BRUME_MUST_USE brume_status brume_line_input_open(int file, brume_line_input **out,
                                                  brume_error *error);
void brume_line_input_close(brume_line_input *lines);

/* Is a whole line here already? If not, the next step may wait. */
bool brume_line_input_ready(const brume_line_input *lines);

/* Wait at most so long for more input; true: there is some, or its end. */
bool brume_line_input_wait(const brume_line_input *lines, int milliseconds);

/* Step to the next line; *any becomes false at the end of input. A line ends at LF, a CR before it
 * is dropped; the last one need not end. *text is followed by a 0 and valid until the next step; it
 * is NULL for a line of more than BRUME_LINE_MOST bytes or with a 0 in it.
 * Errors: BRUME_ESOURCE if reading fails. */
BRUME_MUST_USE brume_status brume_line_input_next(brume_line_input *lines, char **text, bool *any,
                                                  brume_error *error);

#endif
