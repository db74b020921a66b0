/* Where one SQL statement ends and the next begins, in text that a person is still typing. */
#ifndef BRUME_QUERY_SQL_STATEMENT_H
#define BRUME_QUERY_SQL_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>

/* The number of bytes of the first statement of `text`, with its semicolon; 0 if it has not ended
 * yet. A semicolon inside quotes ('…', E'…', "…", $tag$…$tag$) or a comment ends nothing. */
size_t brume_statement_length(const char *text);

/* Is there nothing in `text` but spaces, semicolons and comments that are closed? */
bool brume_statement_is_blank(const char *text);

#endif
