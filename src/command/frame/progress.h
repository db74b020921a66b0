/* How far long work has come, for whoever runs the command. */
#ifndef BRUME_COMMAND_PROGRESS_H
#define BRUME_COMMAND_PROGRESS_H

#include <time.h>

#include "command/command.h"

typedef struct brume_progress {
    const brume_call *call;
    const brume_host *host; /* NULL: nobody looks, or it has not started */
    const char *label;
    uint64_t total; /* 0: unknown */
    struct timespec last;
} brume_progress;

/* `call` may be NULL. */
void brume_progress_start(brume_progress *progress, const brume_call *call, const char *label,
                          uint64_t total);

/* Cheap enough for every few thousand items. */
void brume_progress_update(brume_progress *progress, uint64_t done);

void brume_progress_end(brume_progress *progress);

#endif
