/* Regular expressions in time linear in the text, whatever the text and the pattern hold: whether a
 * text matches, and nothing else.
 *
 * A pattern is a regular expression as PostgreSQL and RE2 both read it:
 *   abc  .  [a-z_]  [^/]  [[:digit:]]  \d \w \s  \D \W \S  \.  \n \t \r \f \v  \u00e9
 *   x* x+ x? x{2} x{2,} x{2,5}, also with a ? after it;  (x)  (?:x)  x|y
 *   ^ first and $ last in the pattern, or in an alternative of it
 * A dot is any character, a line end too. Classes by name and by \d \w \s are of ASCII, and so is
 * the folding of cases. What else a backslash, a bracket or a (? may begin is refused: back
 * references, word boundaries, conditions on what comes before or after, collating elements.
 *
 * A pattern is an automaton with one state for every character that stands in it (Glushkov's), at
 * most BRUME_REGULAR_PLACES where repetitions are written out. All states that a text can be in are
 * followed at once, as the bits of a word; a character costs eight look-ups whatever they are. */
#ifndef BRUME_BASE_REGULAR_H
#define BRUME_BASE_REGULAR_H

#include <stdbool.h>
#include <stddef.h>

typedef struct brume_regular brume_regular;

/* Read a pattern. With `folds` ASCII letters match in either case; with `whole` the text must match
 * from its beginning to its end, as if ^(?: and )$ stood around the pattern. NULL: it is refused,
 * and *why says what of it is, in words that may be shown; or memory is out, and *why is NULL. */
brume_regular *brume_regular_open(const char *text, bool folds, bool whole, const char **why);
void brume_regular_close(brume_regular *pattern);

/* Whether the text, valid UTF-8, matches. Any thread. */
bool brume_regular_match(const brume_regular *pattern, const char *text, size_t length);

/* The pattern in a form that means the same to PostgreSQL's operator ~ under the collation "C", and
 * to brume_regular_open without folding: ASCII alone, every class written out. The caller frees
 * it. NULL: memory is out. */
char *brume_regular_print(const brume_regular *pattern);

#endif
