/* Progress on standard error, for work over a second and only on a terminal: a bar where somebody
 * knows how much there is to do, else the time that has passed. What is shown follows from the
 * clock, from the phase of the call and from numbers that commands choose to tell. */
#ifndef BRUME_CLI_BAR_H
#define BRUME_CLI_BAR_H

#include <stdint.h>

/* So much of `total` is done (0: a counter without a bar); a label that is NULL: it is over, and
 * the bar is wiped. `context` is not used. */
void brume_bar_show(void *context, const char *label, uint64_t done, uint64_t total);

/* So many seconds have passed. From another thread, often: it is drawn once a second, and not while
 * there is a bar. Waits for nothing, neither a lock nor the terminal. */
void brume_bar_time(const char *label, double seconds);

/* Before anything else is written to the terminal. */
void brume_bar_wipe(void);

/* What wipes it, "" if nothing is shown: for a process that is about to end. */
const char *brume_bar_eraser(void);

#endif
