/* A progress bar on standard error, for work over a second and only on a terminal. */
#ifndef BRUME_CLI_PROGRESS_H
#define BRUME_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

typedef struct brume_progress {
    const char *label;
    uint64_t total; /* 0: unknown, a counter without a bar */
    bool terminal, shown;
    struct timespec start, last;
} brume_progress;

void brume_progress_start(brume_progress *progress, const char *label, uint64_t total);

/* Cheap enough for every few thousand items. */
void brume_progress_update(brume_progress *progress, uint64_t done);

/* Wipe the bar. */
void brume_progress_end(brume_progress *progress);

#endif
