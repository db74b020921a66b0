/* Small helpers for names and messages. */
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 63 };

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

size_t brume_text_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return SIZE_MAX;
    size_t row[3][LONGEST + 1];
    size_t *before = row[0], *above = row[1], *here = row[2];
    for (size_t j = 0; j <= m; j++)
        above[j] = j;
    for (size_t i = 1; i <= n; i++) {
        here[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = above[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (here[j - 1] + 1 < best)
                best = here[j - 1] + 1;
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]) && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            here[j] = best;
        }
        size_t *oldest = before;
        before = above;
        above = here;
        here = oldest;
    }
    return above[m];
}

const char *brume_text_nearest(const char *name, const char *const *candidates, size_t count)
{
    size_t length = strlen(name);
    size_t allowed = length / 3 < 1 ? 1 : length / 3 > 4 ? 4 : length / 3;
    size_t best = allowed + 1, nearest = count;
    for (size_t i = 0; i < count; i++) {
        size_t distance = brume_text_distance(name, candidates[i]);
        if (distance < best) {
            best = distance;
            nearest = i;
        }
    }
    for (size_t i = 0; i < count && nearest == count && length > 0; i++)
        if (strncasecmp(name, candidates[i], length) == 0)
            nearest = i;
    return nearest < count ? candidates[nearest] : NULL;
}

/* "there are a, b, c", or as many of them as there is room for. */
static void list_names(const char *const *names, size_t count, char hint[BRUME_COLUMN_HINT])
{
    size_t used = 0;
    for (size_t i = 0; i < count && names[i]; i++) {
        const char *before = i == 0 ? "there are " : ", ";
        if (used + strlen(before) + strlen(names[i]) + sizeof ", ..." > BRUME_COLUMN_HINT) {
            snprintf(hint + used, BRUME_COLUMN_HINT - used, "%s", i == 0 ? "" : ", ...");
            return;
        }
        used += (size_t)snprintf(hint + used, BRUME_COLUMN_HINT - used, "%s%s", before, names[i]);
    }
}

void brume_text_column_hint(const char *name, const char *const *names, size_t count,
                            char hint[BRUME_COLUMN_HINT])
{
    const char *other = count == 1 ? strpbrk(names[0], ";|\t,") : NULL;
    const char *nearest = other ? NULL : brume_text_nearest(name, names, count);
    hint[0] = '\0';
    if (other && *other == '\t')
        snprintf(hint, BRUME_COLUMN_HINT, "all names are in one column: --delimiter tab?");
    else if (other)
        snprintf(hint, BRUME_COLUMN_HINT, "all names are in one column: --delimiter '%c'?", *other);
    else if (nearest)
        snprintf(hint, BRUME_COLUMN_HINT, "did you mean '%.100s'?", nearest);
    else
        list_names(names, count, hint);
}

void brume_text_group(const char *number, char *out, size_t size)
{
    size_t sign = *number == '-', whole = strspn(number + sign, "0123456789"), used = 0;
    for (size_t i = 0; number[i] && used + 2 < size; i++) {
        bool inside = i > sign && i < sign + whole;
        if (inside && (sign + whole - i) % 3 == 0)
            out[used++] = ',';
        out[used++] = number[i];
    }
    out[used] = '\0';
}

/* UTF-8: characters, texts, and texts that were cut.
 *
 * UTF-8: characters, texts, and texts that were cut. */

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
