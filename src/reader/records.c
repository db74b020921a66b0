/* Records over several lines: see the header. */
#include "reader/records.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "reader/find.h"

enum { LONGEST = 1 << 28 };

struct brume_records {
    brume_lines *lines;
    brume_text_format format;
    char *at, *end; /* lines that were not yet given */
    char *bytes;
    size_t used, room;
};

brume_status brume_records_open(brume_lines *lines, const brume_text_format *format,
                                brume_records **out, brume_error *error)
{
    brume_records *records = calloc(1, sizeof *records);
    if (!records) {
        brume_lines_close(lines);
        return brume_no_memory(error, NULL);
    }
    records->lines = lines;
    records->format = *format;
    *out = records;
    return BRUME_OK;
}

void brume_records_close(brume_records *records)
{
    if (!records)
        return;
    brume_lines_close(records->lines);
    free(records->bytes);
    free(records);
}

void brume_records_forget(brume_records *records)
{
    records->used = 0;
}

static brume_status append(brume_records *records, const char *line, size_t length,
                           brume_error *error)
{
    if (records->used + length + BRUME_FIND_PADDING > records->room) {
        size_t room = 2 * (records->used + length) + 1024;
        char *grown = realloc(records->bytes, room);
        if (!grown)
            return brume_no_memory(error, NULL);
        records->bytes = grown;
        records->room = room;
    }
    memcpy(records->bytes + records->used, line, length);
    records->used += length;
    return BRUME_OK;
}

/* Behind a line: is a quoted field still open? `open`: one was before it. */
static bool is_open(const brume_text_format *format, bool open, char *at)
{
    if (!open && !format->header)
        at = brume_row_begin(at);
    for (;;) {
        if (!open && *at == format->quote) {
            open = true;
            at++;
        }
        if (open) {
            at = brume_find_either(at, format->quote, '\n');
            if (*at == '\n')
                return true;
            open = false;
            if (at[1] == format->quote) {
                open = true;
                at += 2;
                continue;
            }
            at++;
        }
        at = brume_find_either(at, format->delimiter, '\n');
        if (*at == '\n')
            return false;
        at++;
    }
}

/* One more line: *line and *length without end; *more is false if there is none. */
static brume_status next_line(brume_records *records, char **line, size_t *length, bool *more,
                              bool *too_long, brume_error *error)
{
    *more = true;
    *too_long = false;
    if (records->at == records->end) {
        brume_line_block block = {0};
        BRUME_TRY(brume_lines_next(records->lines, &block, more, error));
        *too_long = *more && block.too_long;
        records->at = records->end = NULL;
        if (!*more || *too_long)
            return BRUME_OK;
        records->at = block.begin;
        records->end = block.end;
    }
    *line = records->at;
    *length = (size_t)((char *)rawmemchr(records->at, '\n') + 1 - records->at);
    records->at += *length;
    return BRUME_OK;
}

brume_status brume_records_next(brume_records *records, char **bytes, size_t *at, size_t *length,
                                bool *more, brume_error *error)
{
    size_t begin = records->used, lines = 0;
    bool open = false, readable = true;
    do {
        char *line = NULL;
        size_t line_length = 0;
        bool any = true, too_long = false;
        BRUME_TRY(next_line(records, &line, &line_length, &any, &too_long, error));
        if (!any)
            break;
        lines++;
        if (too_long)
            open = false; /* what its quotes were is not known */
        else
            open = records->format.multiline && is_open(&records->format, open, line);
        readable = readable && !too_long && records->used - begin + line_length <= LONGEST;
        if (readable)
            BRUME_TRY(append(records, line, line_length, error));
    } while (open);
    if (!readable)
        records->used = begin;
    *bytes = records->bytes;
    *at = begin;
    *length = records->used - begin;
    *more = lines > 0;
    return BRUME_OK;
}
