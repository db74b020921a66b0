/* UTF-8: characters, texts, and texts that were cut. */
#include "base/utf8.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many bytes a character has that begins with this one; 0: none does. */
static size_t length_of(unsigned first)
{
    if (first == 0 || first > 0xf4)
        return 0;
    return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* The length of the character at `at`, of which `left` > 0 bytes are there; 0: it is none (NUL,
 * surrogates, what is overlong or above U+10FFFF, and what is not all there). */
static size_t utf8_character(const char *text, size_t left)
{
    const uint8_t *at = (const uint8_t *)text;
    unsigned first = at[0];
    size_t length = length_of(first);
    if (length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    bool bad = (first == 0xe0 && at[1] < 0xa0) || (first == 0xed && at[1] > 0x9f) ||
               (first == 0xf0 && at[1] < 0x90) || (first == 0xf4 && at[1] > 0x8f);
    return bad ? 0 : length;
}

/* Eight bytes of ASCII, none of them NUL? */
static bool eight_plain(const uint8_t *at)
{
    const uint64_t high = 0x8080808080808080u, ones = 0x0101010101010101u;
    uint64_t word;
    memcpy(&word, at, 8);
    return ((word | (word - ones)) & high) == 0;
}

bool brume_utf8_is_text(const char *bytes, size_t length)
{
    const uint8_t *at = (const uint8_t *)bytes, *end = at + length;
    while (at < end) {
        if (end - at >= 8 && eight_plain(at)) {
            at += 8;
            continue;
        }
        size_t step = utf8_character((const char *)at, (size_t)(end - at));
        if (step == 0)
            return false;
        at += step;
    }
    return true;
}

/* The number of a character of that length. */
static uint32_t utf8_code_point(const char *at, size_t length)
{
    static const uint8_t first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = (uint8_t)at[0] & first_bits[length];
    for (size_t i = 1; i < length; i++)
        code = code << 6 | ((uint8_t)at[i] & 0x3f);
    return code;
}

void brume_utf8_mend(char *text)
{
    size_t left = strlen(text);
    char *to = text;
    while (left > 0) {
        size_t length = length_of((uint8_t)*text), step = utf8_character(text, left);
        if (step > 0) {
            memmove(to, text, step);
            to += step;
        } else {
            /* a first byte and those of its bytes that follow it are one fault */
            for (step = 1; step < length && step < left && ((uint8_t)text[step] & 0xc0) == 0x80;)
                step++;
            if (step < left || length <= step)
                *to++ = '?';
        }
        text += step;
        left -= step;
    }
    *to = 0;
}

size_t brume_utf8_cut(const char *text, size_t most)
{
    size_t length = strnlen(text, most + 1);
    if (length <= most)
        return length;
    while (most > 0 && ((uint8_t)text[most] & 0xc0) == 0x80)
        most--;
    return most;
}

/* ---- text as a terminal may show it ---- */

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
    size_t step = *at ? utf8_character(at, left) : 1; /* a key may have a NUL in it */
    uint32_t code = step ? utf8_code_point(at, step) : 0;
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
