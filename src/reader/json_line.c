/* One JSON object a line: see the header. The line ends with an LF, at which every loop stops. */
#include "reader/json_line.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "reader/find.h"

enum { DEEPEST = 1024 };

/* ---- strings ---- */

/* The first byte that is a quote, a backslash or a control character (which LF is). */
static char *find_special(char *at)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), back = _mm_set1_epi8('\\'),
                  control = _mm_set1_epi8(0x1f);
    for (;; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes);
        int found = _mm_movemask_epi8(_mm_or_si128(
            low, _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, back))));
        if (found)
            return at + __builtin_ctz((unsigned)found);
    }
#else
    while (*at != '"' && *at != '\\' && (unsigned char)*at >= 0x20)
        at++;
    return at;
#endif
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hexadecimal digits; -1 if they are not. */
static int hex_unit(const char *at)
{
    int unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0)
            return -1;
        unit = 16 * unit + digit;
    }
    return unit;
}

/* From behind the opening quote to the closing one; NULL if the string is broken. */
static char *skip_string(char *at, bool *escaped)
{
    *escaped = false;
    for (;;) {
        at = find_special(at);
        if (*at == '"')
            return at;
        if (*at != '\\')
            return NULL;
        *escaped = true;
        if (at[1] == 'u') {
            if (hex_unit(at + 2) < 0)
                return NULL;
            at += 6;
        } else if (at[1] && strchr("\"\\/bfnrt", at[1])) {
            at += 2;
        } else {
            return NULL;
        }
    }
}

static char *put_utf8(char *to, uint32_t point)
{
    if (point < 0x80) {
        *to++ = (char)point;
    } else if (point < 0x800) {
        *to++ = (char)(0xC0 | point >> 6);
        *to++ = (char)(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        *to++ = (char)(0xE0 | point >> 12);
        *to++ = (char)(0x80 | (point >> 6 & 0x3F));
        *to++ = (char)(0x80 | (point & 0x3F));
    } else {
        *to++ = (char)(0xF0 | point >> 18);
        *to++ = (char)(0x80 | (point >> 12 & 0x3F));
        *to++ = (char)(0x80 | (point >> 6 & 0x3F));
        *to++ = (char)(0x80 | (point & 0x3F));
    }
    return to;
}

/* The character of \uXXXX at *at, which steps behind it; false for NUL and half a pair. */
static bool take_point(const char **at, uint32_t *point)
{
    uint32_t unit = (uint32_t)hex_unit(*at + 2);
    *at += 6;
    *point = unit;
    if (unit < 0xD800 || unit > 0xDFFF)
        return unit != 0;
    if (unit > 0xDBFF || (*at)[0] != '\\' || (*at)[1] != 'u')
        return false;
    uint32_t low = (uint32_t)hex_unit(*at + 2);
    if (low < 0xDC00 || low > 0xDFFF)
        return false;
    *at += 6;
    *point = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    return true;
}

/* Decode a sound string in place; without data if it has no text. */
static brume_text decode(char *begin, const char *end)
{
    static const char from[] = "\"\\/bfnrt", to_byte[] = "\"\\/\b\f\n\r\t";
    char *to = begin;
    for (const char *at = begin; at < end;) {
        if (*at != '\\') {
            *to++ = *at++;
        } else if (at[1] == 'u') {
            uint32_t point;
            if (!take_point(&at, &point))
                return (brume_text){NULL, 0};
            to = put_utf8(to, point);
        } else {
            *to++ = to_byte[strchr(from, at[1]) - from];
            at += 2;
        }
    }
    return (brume_text){begin, (size_t)(to - begin)};
}

/* ---- scalars ---- */

static char *skip_space(char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r')
        at++;
    return at;
}

static char *skip_digits(char *at)
{
    while (*at >= '0' && *at <= '9')
        at++;
    return at;
}

/* NULL if no number begins here. */
static char *skip_number(char *at)
{
    at += *at == '-';
    char *digits = at;
    at = skip_digits(at);
    if (at == digits || (*digits == '0' && at > digits + 1))
        return NULL;
    if (*at == '.') {
        digits = at + 1;
        at = skip_digits(digits);
        if (at == digits)
            return NULL;
    }
    if (*at == 'e' || *at == 'E') {
        digits = at + 1 + (at[1] == '+' || at[1] == '-');
        at = skip_digits(digits);
        if (at == digits)
            return NULL;
    }
    return at;
}

/* A string, number, true, false or null; NULL if it is none. */
static char *take_scalar(char *at, bool wanted, brume_text *out)
{
    *out = (brume_text){NULL, 0};
    if (*at == '"') {
        bool escaped;
        char *end = skip_string(at + 1, &escaped);
        if (end && wanted)
            *out = escaped ? decode(at + 1, end) : (brume_text){at + 1, (size_t)(end - at - 1)};
        return end ? end + 1 : NULL;
    }
    if (strncmp(at, "null", 4) == 0)
        return at + 4;
    size_t word = strncmp(at, "true", 4) == 0 ? 4 : strncmp(at, "false", 5) == 0 ? 5 : 0;
    char *end = word > 0 ? at + word : skip_number(at);
    if (end)
        *out = (brume_text){at, (size_t)(end - at)};
    return end;
}

/* ---- the object ---- */

typedef struct parser {
    const brume_json_splitter *splitter;
    size_t row;
    size_t hint;                    /* the field that is expected next */
    brume_text *target;             /* where the value goes; NULL: nowhere */
    uint64_t objects[DEEPEST / 64]; /* bit d: the container at depth d + 1 is an object */
    size_t depth;
} parser;

static bool in_object(const parser *all)
{
    size_t top = all->depth - 1;
    return all->objects[top / 64] >> (top % 64) & 1;
}

static bool enter(parser *all, bool object)
{
    if (all->depth == DEEPEST)
        return false;
    uint64_t bit = (uint64_t)1 << (all->depth % 64), *word = &all->objects[all->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    all->depth++;
    return true;
}

static bool is_named(const parser *all, size_t index, brume_text name)
{
    brume_text wanted = all->splitter->names[index];
    return wanted.length == name.length && memcmp(wanted.data, name.data, name.length) == 0;
}

static void find_target(parser *all, brume_text name)
{
    size_t count = all->splitter->count, found = all->hint;
    all->target = NULL;
    if (!name.data || count == 0)
        return;
    if (found >= count || !is_named(all, found, name))
        for (found = 0; found < count && !is_named(all, found, name); found++)
            continue;
    if (found == count)
        return;
    all->hint = found + 1;
    all->target = &all->splitter->targets[found][all->row];
}

/* A name with its colon; NULL if there is none. */
static char *take_name(parser *all, char *at)
{
    brume_text name;
    if (*at != '"')
        return NULL;
    at = take_scalar(at, all->depth == 1, &name);
    if (!at)
        return NULL;
    if (all->depth == 1)
        find_target(all, name);
    at = skip_space(at);
    return *at == ':' ? skip_space(at + 1) : NULL;
}

/* Behind a value: commas and ends, up to where the next value begins or the object has ended. */
static char *take_ends(parser *all, char *at)
{
    for (;;) {
        at = skip_space(at);
        bool object = in_object(all);
        if (*at == ',') {
            at = skip_space(at + 1);
            return object ? take_name(all, at) : at;
        }
        if (*at != (object ? '}' : ']'))
            return NULL;
        at++;
        if (--all->depth == 0)
            return at;
    }
}

/* What begins a container: its first name or value, or its end at once. */
static char *take_begin(parser *all, char *at)
{
    bool object = *at == '{';
    if (all->depth == 1 && all->target)
        *all->target = (brume_text){NULL, 0};
    if (!enter(all, object))
        return NULL;
    at = skip_space(at + 1);
    if (*at == (object ? '}' : ']'))
        return take_ends(all, at);
    return object ? take_name(all, at) : at;
}

/* The byte behind the object; NULL if it is none. */
static char *take_object(parser *all, char *at)
{
    at = *at == '{' ? take_begin(all, at) : NULL;
    while (at && all->depth > 0) {
        if (*at == '{' || *at == '[') {
            at = take_begin(all, at);
            continue;
        }
        brume_text value;
        bool wanted = all->depth == 1 && all->target;
        at = take_scalar(at, wanted, &value);
        if (at && wanted)
            *all->target = value;
        if (at)
            at = take_ends(all, at);
    }
    return at;
}

char *brume_json_split(const brume_json_splitter *splitter, char *line, size_t row)
{
    parser all = {.splitter = splitter, .row = row};
    for (size_t i = 0; i < splitter->count; i++)
        splitter->targets[i][row] = (brume_text){NULL, 0};
    char *end = rawmemchr(line, '\n'); /* found first: a decoded string may hold another one */
    char *at = take_object(&all, skip_space(line));
    if (!at || skip_space(at) != end)
        for (size_t i = 0; i < splitter->count; i++)
            splitter->targets[i][row] = (brume_text){NULL, 0};
    return end + 1;
}
