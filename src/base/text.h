/* Small helpers for names and messages. */
#ifndef BRUME_BASE_TEXT_H
#define BRUME_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that somebody else owns. */
typedef struct brume_text {
    const char *data; /* not terminated */
    size_t length;
} brume_text;

/* Number of single-character insertions, deletions, replacements and swaps of neighbours that turn
 * `a` into `b`; case is ignored. Texts over 63 bytes count as far apart (SIZE_MAX). */
size_t brume_text_distance(const char *a, const char *b);

/* The candidate nearest to `name`, for "did you mean": NULL unless one is within a third of the
 * name's length (at least 1, at most 4 edits) or begins with the name. Ties: the first candidate.
 */
const char *brume_text_nearest(const char *name, const char *const *candidates, size_t count);

/* A hint on a column that is none of `names`: another delimiter where all names are in one, the
 * nearest name, or those that there are. */
enum { BRUME_COLUMN_HINT = 160 };
void brume_text_column_hint(const char *name, const char *const *names, size_t count,
                            char hint[BRUME_COLUMN_HINT]);

/* A number in digits with a comma before each three of its whole part: 1234567.25 becomes
 * 1,234,567.25. What follows the first point or sign that is no digit stays as it is. */
void brume_text_group(const char *number, char *out, size_t size);

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
