/* Searching bytes, 16 at a time. */
#ifndef BRUME_READER_FIND_H
#define BRUME_READER_FIND_H

#include <stdbool.h>
#include <stddef.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* How many bytes behind the one that is sought must be readable. */
enum { BRUME_FIND_PADDING = 16 };

/* The first byte at or behind `at` that is `a` or `b`; there must be one. */
static inline char *brume_find_either(char *at, char a, char b)
{
#ifdef __SSE2__
    const __m128i first = _mm_set1_epi8(a), second = _mm_set1_epi8(b);
    for (;; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        int found = _mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, first), _mm_cmpeq_epi8(bytes, second)));
        if (found)
            return at + __builtin_ctz((unsigned)found);
    }
#else
    while (*at != a && *at != b)
        at++;
    return at;
#endif
}

/* All of these bytes are ASCII and none is NUL: then every piece of them is valid text. */
static inline bool brume_is_plain(const char *bytes, size_t length)
{
    unsigned char high = 0, zero = 0;
    for (size_t i = 0; i < length; i++) {
        high |= (unsigned char)bytes[i];
        zero |= bytes[i] == 0;
    }
    return high < 0x80 && !zero;
}

#endif
