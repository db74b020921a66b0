/* UTF-8: characters, texts, and texts that were cut. */
#ifndef BRUME_BASE_UTF8_H
#define BRUME_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the character at `at`, of which `left` > 0 bytes are there; 0: it is none (NUL,
 * surrogates, what is overlong or above U+10FFFF, and what is not all there). */
size_t brume_utf8_character(const char *at, size_t left);

/* The number of a character of that length. */
uint32_t brume_utf8_code_point(const char *at, size_t length);

/* Are these bytes valid UTF-8 without a NUL? */
bool brume_utf8_is_text(const char *bytes, size_t length);

/* Make a text valid UTF-8 in place, never longer: a character whose end was cut off at the end of
 * the text goes, and whatever else is no character becomes a question mark. */
void brume_utf8_mend(char *text);

/* The most bytes, at most `most`, at the start of a valid text that end where a character ends. */
size_t brume_utf8_cut(const char *text, size_t most);

#endif
