/* SQL's LIKE in time linear in the text, whatever the text and the pattern hold.
 *
 * In a pattern % stands for any text, _ for one character of UTF-8, a backslash makes the character
 * after it stand for itself, and everything else stands for itself. The texts are valid UTF-8.
 *
 * A pattern of m bytes is an automaton of m + 1 states at most, and all the states that a text can
 * be in are followed at once, as the bits of words (Shift-And). Each byte of a text costs one step
 * for every 64 states, and nothing is ever tried twice. */
#ifndef BRUME_ENGINE_LIKE_H
#define BRUME_ENGINE_LIKE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct brume_like brume_like;

enum { BRUME_LIKE_MOST = 255 }; /* bytes of a pattern */

/* Read a pattern of at most BRUME_LIKE_MOST bytes; with `folds` ASCII letters match in either case.
 * A backslash at the very end stands for itself. NULL: out of memory, or the pattern is too long.
 */
brume_like *brume_like_open(const char *pattern, size_t length, bool folds);
void brume_like_close(brume_like *like);

/* Whether the whole text matches. Any thread. */
bool brume_like_match(const brume_like *like, const char *text, size_t length);

#endif
