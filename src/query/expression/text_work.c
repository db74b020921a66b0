/* How long the texts of one row can keep an engine busy: see the header. */
#include "query/expression/text_work.h"

#include <stdlib.h>
#include <string.h>

enum { CHARACTER_MOST = 4 }; /* bytes of a character of UTF-8 */

/* ---- work ---- */

static size_t less(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A constant integer that is not negative, in characters, as bytes. */
static bool constant_bytes(const brume_expression *node, size_t *bytes)
{
    if (node->operation != BRUME_OPERATION_LITERAL || !node->text || *node->text == '-')
        return false;
    *bytes = CHARACTER_MOST * (size_t)strtoul(node->text, NULL, 10);
    return true;
}

size_t brume_text_part(brume_operation operation, const brume_expression *const *arguments,
                       size_t count)
{
    size_t whole = arguments[0]->max_length, most = 0;
    bool known = operation == BRUME_OPERATION_SUBSTRING
                     ? count == 3 && constant_bytes(arguments[2], &most)
                     : constant_bytes(arguments[1], &most);
    return known ? less(whole, most) : whole;
}

size_t brume_text_work(brume_operation operation, const brume_expression *const *arguments,
                       size_t count)
{
    size_t all = 0, first = count ? arguments[0]->max_length : 0, to = 0;
    switch (operation) {
    case BRUME_OPERATION_LEFT:
        return brume_text_part(operation, arguments, count);
    case BRUME_OPERATION_SUBSTRING: /* what comes before it is counted through */
        if (count == 3 && constant_bytes(arguments[1], &to))
            return less(first, to + brume_text_part(operation, arguments, count));
        return first;
    case BRUME_OPERATION_EQUAL: /* a comparison ends with the shorter one */
    case BRUME_OPERATION_NOT_EQUAL:
    case BRUME_OPERATION_LESS:
    case BRUME_OPERATION_LESS_EQUAL:
    case BRUME_OPERATION_GREATER:
    case BRUME_OPERATION_GREATER_EQUAL:
    case BRUME_OPERATION_DISTINCT:
    case BRUME_OPERATION_NOT_DISTINCT:
    case BRUME_OPERATION_BETWEEN:
    case BRUME_OPERATION_NOT_BETWEEN:
    case BRUME_OPERATION_IN:
    case BRUME_OPERATION_NOT_IN:
    case BRUME_OPERATION_NULLIF:
    case BRUME_OPERATION_STARTS_WITH:
        for (size_t i = 1; i < count; i++)
            all += less(first, arguments[i]->max_length);
        return all;
    case BRUME_OPERATION_IS_NULL:
    case BRUME_OPERATION_IS_NOT_NULL:
        return 0;
    default:
        for (size_t i = 0; i < count; i++)
            all += arguments[i]->max_length;
        return all;
    }
}

/* ---- repeats ---- */

/* The text as it is compared: forwards or backwards. */
static char at(const char *text, size_t length, size_t place, bool backwards)
{
    return text[backwards ? length - 1 - place : place];
}

/* A byte is looked at once for each beginning of the text that ends at it. Those that end with a
 * given beginning are its borders, which are nested: how many there are is one more than for the
 * longest. */
static size_t repeats(const char *text, size_t length, bool backwards)
{
    size_t *border = calloc(length + 1, sizeof *border), *depth = calloc(length + 1, sizeof *depth);
    size_t most = length ? 1 : 0, k = 0;
    if (!border || !depth) {
        most = length; /* never below the truth */
        length = 0;
    } else if (length) {
        depth[1] = 1;
    }
    for (size_t i = 1; i < length; i++) {
        while (k && at(text, length, k, backwards) != at(text, length, i, backwards))
            k = border[k];
        k += at(text, length, k, backwards) == at(text, length, i, backwards);
        border[i + 1] = k;
        depth[i + 1] = depth[k] + 1;
        most = depth[i + 1] > most ? depth[i + 1] : most;
    }
    free(border);
    free(depth);
    return most;
}

size_t brume_text_repeats(const char *text)
{
    size_t length = strlen(text);
    size_t forwards = repeats(text, length, false), backwards = repeats(text, length, true);
    return forwards > backwards ? forwards : backwards;
}

size_t brume_pattern_repeats(const char *pattern)
{
    char *part = malloc(strlen(pattern) + 1);
    if (!part)
        return strlen(pattern);
    size_t most = 0;
    for (const char *from = pattern; *from; from += *from == '%') {
        size_t length = 0;
        bool blurred = false; /* with _, whose borders need not be nested: as often as it is long */
        for (; *from && *from != '%'; from++) {
            blurred = blurred || *from == '_';
            if (*from == '\\' && from[1])
                from++;
            part[length++] = *from;
        }
        size_t each = blurred ? length : repeats(part, length, false);
        most = each > most ? each : most;
    }
    free(part);
    return most;
}
