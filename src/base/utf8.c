/* UTF-8: characters, texts, and texts that were cut. */
#include "base/utf8.h"

#include <string.h>

/* How many bytes a character has that begins with this one; 0: none does. */
static size_t length_of(unsigned first)
{
    if (first == 0 || first > 0xf4)
        return 0;
    return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

size_t brume_utf8_character(const char *text, size_t left)
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
        size_t step = brume_utf8_character((const char *)at, (size_t)(end - at));
        if (step == 0)
            return false;
        at += step;
    }
    return true;
}

uint32_t brume_utf8_code_point(const char *at, size_t length)
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
        size_t length = length_of((uint8_t)*text), step = brume_utf8_character(text, left);
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
