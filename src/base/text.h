/* Small helpers for names and messages. */
#ifndef BRUME_BASE_TEXT_H
#define BRUME_BASE_TEXT_H

#include <stddef.h>

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

#endif
