/* A pager for answers that are longer than the terminal. */
#ifndef BRUME_CLI_PAGER_H
#define BRUME_CLI_PAGER_H

#include <stdbool.h>
#include <stddef.h>

/* Show the text by $PAGER (else less) if standard output is a terminal with fewer lines than it
 * has, and wait until it was left; false if there is no terminal, no need or no pager, and nothing
 * was shown. */
bool brume_page(const char *text, size_t length);

#endif
