/* A progress bar on standard error, for work over a second and only on a terminal. */
#ifndef BRUME_CLI_BAR_H
#define BRUME_CLI_BAR_H

#include <stdint.h>

/* So much of `total` is done (0: a counter without a bar); a label that is NULL: it is over, and
 * the bar is wiped. `context` is not used. */
void brume_bar_show(void *context, const char *label, uint64_t done, uint64_t total);

#endif
