/* Text for a person in lines of at most BRUME_LINE characters. */
#include "command/frame/wrap.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static size_t width_of(const char *text, size_t bytes)
{
    size_t width = 0;
    for (size_t i = 0; i < bytes; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

size_t brume_text_width(const char *text)
{
    return width_of(text, strlen(text));
}

/* Write one piece after what is on the line, on the next line where it does not fit any more. */
typedef struct wrap_writer {
    FILE *out;
    size_t column, indent;
    bool fresh; /* only the indent is on the line so far */
    const char *continued;
} wrap_writer;

static void write_piece(wrap_writer *w, const char *piece, size_t bytes)
{
    size_t width = width_of(piece, bytes), room = brume_text_width(w->continued);
    if (!w->fresh && w->column + 1 + width + room > BRUME_LINE) {
        fprintf(w->out, "%s\n%*s", w->continued, (int)w->indent, "");
        w->column = w->indent;
        w->fresh = true;
    }
    fprintf(w->out, "%s%.*s", w->fresh ? "" : " ", (int)bytes, piece);
    w->column += width + !w->fresh;
    w->fresh = false;
}

void brume_write_wrapped(FILE *out, const char *text, size_t column, size_t indent)
{
    wrap_writer w = {out, column, indent, true, ""};
    while (*text) {
        size_t word = strcspn(text, " \n");
        if (word > 0)
            write_piece(&w, text, word);
        text += word;
        text += strspn(text, " ");
        if (*text == '\n') {
            fputs(text[1] == '\n' ? "\n\n" : "\n", out);
            text += strspn(text, "\n ");
            fprintf(out, "%*s", *text ? (int)indent : 0, "");
            w.column = indent;
            w.fresh = true;
        }
    }
    if (!w.fresh)
        fputc('\n', out);
}

void brume_write_sentence(FILE *out, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length >= 0) {
        brume_write_wrapped(out, text, 0, 2);
        free(text);
        return;
    }
    va_start(arguments, format); /* no memory: in one line, then */
    vfprintf(out, format, arguments);
    va_end(arguments);
    fputc('\n', out);
}

/* Where the piece at `words` ends: at a space outside of quotes and brackets that the value of an
 * option does not follow. */
static size_t piece_length(const char *words)
{
    bool quoted = false, option = words[0] == '-';
    int depth = 0;
    for (size_t i = 0; words[i]; i++) {
        quoted ^= words[i] == '\'';
        if (quoted)
            continue;
        depth += (words[i] == '[' || words[i] == '(') - (words[i] == ']' || words[i] == ')');
        if (words[i] != ' ' || depth > 0)
            continue;
        if (!option || words[i + 1] == '-' || words[i + 1] == '[' || words[i + 1] == '(')
            return i;
        option = false;
    }
    return strlen(words);
}

void brume_write_words(FILE *out, const char *words, size_t column, size_t indent,
                       const char *continued)
{
    wrap_writer w = {out, column, indent, true, continued};
    while (*words) {
        size_t piece = piece_length(words);
        write_piece(&w, words, piece);
        words += piece;
        words += strspn(words, " ");
    }
    fputc('\n', out);
}
