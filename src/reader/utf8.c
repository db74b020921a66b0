/* Is it text? See the header. */
#include "reader/utf8.h"

#include <stdint.h>
#include <string.h>

/* The length of the character at `at`, of which `left` bytes are there; 0 if it is none. */
static size_t character(const uint8_t *at, size_t left)
{
    unsigned first = at[0];
    size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (first == 0 || first > 0xf4 || length > left)
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
        size_t step = character(at, (size_t)(end - at));
        if (step == 0)
            return false;
        at += step;
    }
    return true;
}
