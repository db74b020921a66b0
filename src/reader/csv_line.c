/* Splitting a line of a CSV into fields: see the header. */
#include "reader/csv_line.h"

#include <string.h>

#include "reader/find.h"

/* Undouble the quotes in place; the new length. */
static size_t undouble(char *begin, const char *end, char quote)
{
    char *to = begin;
    for (const char *from = begin; from < end; from++) {
        *to++ = *from;
        from += *from == quote;
    }
    return (size_t)(to - begin);
}

/* A field from its opening quote on. */
static char *take_quoted(const brume_text_format *format, char *at, const char *last,
                         brume_text *field)
{
    const char quote = format->quote;
    char *begin = at + 1, *end = begin;
    bool doubled = false;
    for (;; end++) {
        end = brume_find_either(end, quote, '\n');
        if (*end == '\n') {
            if (!last || end == last)
                return NULL;
        } else if (end[1] == quote) {
            doubled = true;
            end++;
        } else {
            break;
        }
    }
    size_t length = doubled ? undouble(begin, end, quote) : (size_t)(end - begin);
    *field = (brume_text){begin, length};
    end++;
    if (*end == '\r' && end[1] == '\n')
        end++;
    return *end == format->delimiter || *end == '\n' ? end : NULL;
}

static inline char *take_field(const brume_text_format *format, char *at, const char *last,
                               brume_text *field)
{
    if (*at == format->quote && format->quote)
        return take_quoted(format, at, last, field);
    char *end = brume_find_either(at, format->delimiter, '\n');
    size_t length = (size_t)(end - at);
    if (*end == '\n' && length > 0 && end[-1] == '\r')
        length--;
    *field = (brume_text){length > 0 ? at : NULL, length};
    return end;
}

char *brume_csv_take_field(const brume_text_format *format, char *at, const char *last,
                           brume_text *field, bool *quoted)
{
    *quoted = *at == format->quote && format->quote;
    return take_field(format, at, last, field);
}

static void set_null(const brume_csv_splitter *splitter, size_t from, size_t row)
{
    for (size_t i = from; i < splitter->width; i++)
        if (splitter->targets[i])
            splitter->targets[i][row] = (brume_text){NULL, 0};
}

static char *unreadable(const brume_csv_splitter *splitter, char *at, const char *last, size_t row)
{
    set_null(splitter, 0, row);
    return last ? at + (last - at) + 1 : (char *)rawmemchr(at, '\n') + 1;
}

char *brume_csv_split(const brume_csv_splitter *splitter, char *line, const char *last, size_t row)
{
    const brume_text_format format = splitter->format;
    const size_t width = splitter->width;
    char *at = line;
    bool looked = false; /* whether a quote follows */
    for (size_t column = 0;; column++) {
        if (column >= width && !looked) {
            char *next = brume_find_either(at, format.quote ? format.quote : '\n', '\n');
            if (*next == '\n')
                return next + 1;
            looked = true;
        }
        brume_text field;
        char *end = take_field(&format, at, last, &field);
        if (!end)
            return unreadable(splitter, at, last, row);
        if (column < width && splitter->targets[column])
            splitter->targets[column][row] = field;
        if (*end == '\n') {
            set_null(splitter, column + 1, row);
            return end + 1;
        }
        at = end + 1;
    }
}
