/* What a terminal gets: colour where it is wanted, and no character that it would obey. */
#ifndef BRUME_CLI_TERMINAL_H
#define BRUME_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Is colour wanted: standard output is a terminal, NO_COLOR is not set and TERM is not dumb. */
bool brume_terminal_wants_colour(void);

/* The next piece of a text as a terminal gets it: its bytes, at most BRUME_TERMINAL_PIECE. Steps
 * over what it took. */
enum { BRUME_TERMINAL_PIECE = 4096 };
size_t brume_terminal_piece(const char **text, size_t *length, char piece[BRUME_TERMINAL_PIECE]);

#endif
