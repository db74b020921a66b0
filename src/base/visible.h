/* Text as a terminal may show it: nothing in it moves the cursor, changes colours or the direction
 * of reading, or is obeyed in another way. Names and keys of data are anybody's. */
#ifndef BRUME_BASE_VISIBLE_H
#define BRUME_BASE_VISIBLE_H

#include <stddef.h>

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
