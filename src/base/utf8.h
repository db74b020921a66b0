/* UTF-8: characters, texts, and texts that were cut. */
#ifndef BRUME_BASE_UTF8_H
#define BRUME_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Are these bytes valid UTF-8 without a NUL? */
bool brume_utf8_is_text(const char *bytes, size_t length);

/* Make a text valid UTF-8 in place, never longer: a character whose end was cut off at the end of
 * the text goes, and whatever else is no character becomes a question mark. */
void brume_utf8_mend(char *text);

/* The most bytes, at most `most`, at the start of a valid text that end where a character ends. */
size_t brume_utf8_cut(const char *text, size_t most);

/* Text as a terminal may show it: nothing in it moves the cursor, changes colours or the direction
 * of reading, or is obeyed in another way. Names and keys of data are anybody's. */

enum { BRUME_VISIBLE_MOST = 8 }; /* bytes of what one character becomes */

/* How the character at `at` is shown, of which `left` > 0 bytes are there: itself, or \n, \t, \r,
 * \u001b, or \xff for a byte that is no UTF-8. Writes it and its length, and returns how many bytes
 * it took. The escapes are those of JSON, so that a JSON text stays the same value. */
size_t brume_visible_character(const char *at, size_t left, char shown[BRUME_VISIBLE_MOST],
                               size_t *length);

/* A whole text, for the caller to free; the characters of `kept` stay as they are. NULL: memory is
 * out. */
char *brume_visible_text(const char *text, const char *kept);

#endif
