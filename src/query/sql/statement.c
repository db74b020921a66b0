/* Where one SQL statement ends: the lexical rules of PostgreSQL for quotes and comments. */
#include "query/sql/statement.h"

#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* Each skip_ function gets a text that begins with what it skips and returns what follows it, or
 * NULL if the text ends before it does. */
static const char *skip_quoted(const char *text, bool escapes)
{
    char quote = *text++;
    for (; *text; text++) {
        if (escapes && *text == '\\' && text[1])
            text++;
        else if (*text == quote && text[1] == quote)
            text++;
        else if (*text == quote)
            return text + 1;
    }
    return NULL;
}

static const char *skip_line_comment(const char *text)
{
    const char *end = strchr(text, '\n');
    return end ? end + 1 : NULL;
}

static const char *skip_block_comment(const char *text)
{
    size_t depth = 0; /* they nest */
    while (*text) {
        bool open = strncmp(text, "/*", 2) == 0, close = strncmp(text, "*/", 2) == 0;
        depth += open;
        depth -= close;
        text += open || close ? 2 : 1;
        if (close && depth == 0)
            return text;
    }
    return NULL;
}

/* $tag$…$tag$; `text` itself is returned where no such quote begins. */
static const char *skip_dollar_quoted(const char *text)
{
    size_t tag = 1;
    while (is_word(text[tag]))
        tag++;
    if (text[tag] != '$' || (text[1] >= '0' && text[1] <= '9'))
        return text;
    tag++;
    for (const char *at = text + tag; (at = strchr(at, '$')); at++)
        if (strncmp(at, text, tag) == 0)
            return at + tag;
    return NULL;
}

/* What follows the token at `text`; NULL if it does not end. `before` is the character before it.
 */
static const char *skip_token(const char *text, char before, bool after_e)
{
    if (*text == '\'')
        return skip_quoted(text, after_e);
    if (*text == '"')
        return skip_quoted(text, false);
    if (strncmp(text, "--", 2) == 0)
        return skip_line_comment(text);
    if (strncmp(text, "/*", 2) == 0)
        return skip_block_comment(text);
    if (*text == '$' && !is_word(before)) {
        const char *after = skip_dollar_quoted(text);
        return after == text ? text + 1 : after;
    }
    return text + 1;
}

size_t brume_statement_length(const char *text)
{
    const char *at = text;
    char before = 0, before_that = 0;
    while (at && *at) {
        if (*at == ';')
            return (size_t)(at - text) + 1;
        bool after_e = (before == 'e' || before == 'E') && !is_word(before_that);
        const char *after = skip_token(at, before, after_e);
        if (after) {
            before_that = after - at == 1 ? before : 0;
            before = after[-1];
        }
        at = after;
    }
    return 0;
}

bool brume_statement_is_blank(const char *text)
{
    while (text && *text) {
        bool comment = strncmp(text, "--", 2) == 0 || strncmp(text, "/*", 2) == 0;
        if (!comment && !is_space(*text) && *text != ';')
            return false;
        if (strncmp(text, "--", 2) == 0 && !strchr(text, '\n'))
            return true;
        text = skip_token(text, 0, false);
    }
    return text != NULL;
}
