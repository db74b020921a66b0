/* Lines of standard input. Promises: line_input.h. */
#include "cli/frame/line_input.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

enum { ROOM = BRUME_LINE_MOST + 3 }; /* CR, LF and the 0 */

struct brume_line_input {
    int file;
    size_t start, end; /* what was read and not used yet */
    bool over;         /* the end of input was seen */
    char buffer[ROOM];
};

brume_status brume_line_input_open(int file, brume_line_input **out, brume_error *error)
{
    brume_line_input *lines = malloc(sizeof *lines);
    if (!lines)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for reading");
    lines->file = file;
    lines->start = lines->end = 0;
    lines->over = false;
    *out = lines;
    return BRUME_OK;
}

void brume_line_input_close(brume_line_input *lines)
{
    free(lines);
}

bool brume_line_input_ready(const brume_line_input *lines)
{
    return memchr(lines->buffer + lines->start, '\n', lines->end - lines->start) != NULL;
}

bool brume_line_input_wait(const brume_line_input *lines, int milliseconds)
{
    struct pollfd input = {.fd = lines->file, .events = POLLIN};
    if (brume_line_input_ready(lines) || lines->over)
        return true;
    int found = poll(&input, 1, milliseconds);
    return found > 0 || (found < 0 && errno != EINTR);
}

/* Read more behind what is there. There must be room. */
static brume_status fill(brume_line_input *lines, brume_error *error)
{
    ssize_t got;
    do
        got = read(lines->file, lines->buffer + lines->end, ROOM - 1 - lines->end);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return brume_fail(error, BRUME_ESOURCE, NULL, "cannot read standard input: %s",
                          strerror(errno));
    lines->over = got == 0;
    lines->end += (size_t)got;
    return BRUME_OK;
}

/* Cut the line of `length` bytes at the start, followed by `after` bytes of line end. */
static char *cut(brume_line_input *lines, size_t length, size_t after)
{
    char *text = lines->buffer + lines->start;
    lines->start += length + after;
    if (length > 0 && text[length - 1] == '\r')
        length--;
    text[length] = 0; /* over the line end, or in the room kept for it */
    return length <= BRUME_LINE_MOST && strlen(text) == length ? text : NULL;
}

brume_status brume_line_input_next(brume_line_input *lines, char **text, bool *any,
                                   brume_error *error)
{
    bool too_long = false;
    for (;;) {
        size_t length = lines->end - lines->start;
        char *from = lines->buffer + lines->start, *end = memchr(from, '\n', length);
        if (end || (lines->over && (length > 0 || too_long))) {
            char *line = cut(lines, end ? (size_t)(end - from) : length, end ? 1 : 0);
            *text = too_long ? NULL : line;
            *any = true;
            return BRUME_OK;
        }
        if (lines->over) {
            *any = false;
            return BRUME_OK;
        }
        too_long |= length == ROOM - 1;
        if (too_long)
            lines->end = lines->start; /* the rest of it goes the same way */
        else
            memmove(lines->buffer, from, length);
        lines->end -= lines->start;
        lines->start = 0;
        brume_status status = fill(lines, error);
        if (status != BRUME_OK)
            return status;
    }
}
