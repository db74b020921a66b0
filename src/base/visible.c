/* Text as a terminal may show it. */
#include "base/visible.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* Is it obeyed, or not to be seen, instead of shown? The joiners U+200C and U+200D belong to the
 * spelling of some languages, and stay. */
static bool is_obeyed(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } obeyed[] = {
        {0x00, 0x1f},                       /* C0: line ends, escape */
        {0x7f, 0x9f},                       /* delete, C1: U+009B begins a sequence as ESC [ does */
        {0x61c, 0x61c},                     /* marks of direction */
        {0x200b, 0x200b},                   /* a space of no width */
        {0x200e, 0x200f}, {0x2028, 0x202e}, /* directions, ends of lines and paragraphs */
        {0x2060, 0x206f},                   /* directions and isolates, further invisible ones */
        {0xfeff, 0xfeff},
    };
    for (size_t i = 0; i < sizeof obeyed / sizeof *obeyed; i++)
        if (code >= obeyed[i].first && code <= obeyed[i].last)
            return true;
    return false;
}

size_t brume_visible_character(const char *at, size_t left, char shown[BRUME_VISIBLE_MOST],
                               size_t *length)
{
    size_t step = *at ? brume_utf8_character(at, left) : 1; /* a key may have a NUL in it */
    uint32_t code = step ? brume_utf8_code_point(at, step) : 0;
    const char *word = code == '\n' ? "\\n" : code == '\t' ? "\\t" : code == '\r' ? "\\r" : NULL;
    if (step == 0) {
        *length = (size_t)snprintf(shown, BRUME_VISIBLE_MOST, "\\x%02x", (unsigned char)*at);
        return 1;
    }
    if (word)
        *length = (size_t)snprintf(shown, BRUME_VISIBLE_MOST, "%s", word);
    else if (is_obeyed(code))
        *length = (size_t)snprintf(shown, BRUME_VISIBLE_MOST, "\\u%04x", (unsigned)code);
    else
        memcpy(shown, at, *length = step);
    return step;
}

char *brume_visible_text(const char *text, const char *kept)
{
    size_t left = strlen(text), used = 0, length = 0;
    char *out = malloc(left * (BRUME_VISIBLE_MOST - 2) + 1); /* \u001b is six bytes for one */
    if (!out)
        return NULL;
    while (left > 0) {
        char shown[BRUME_VISIBLE_MOST];
        size_t step = brume_visible_character(text, left, shown, &length);
        bool keeps = strchr(kept, *text) != NULL;
        memcpy(out + used, keeps ? text : shown, length = keeps ? step : length);
        used += length;
        text += step;
        left -= step;
    }
    out[used] = 0;
    return out;
}
