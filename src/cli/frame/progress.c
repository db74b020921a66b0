/* A progress bar on standard error: silent for a second, then redrawn ten times a second, wiped at
 * the end. Nothing is written where standard error is not a terminal. */
#include "cli/frame/progress.h"

#include <stdio.h>
#include <unistd.h>

enum { BAR = 30 };

static double seconds_between(struct timespec from, struct timespec to)
{
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

void brume_progress_start(brume_progress *progress, const char *label, uint64_t total)
{
    *progress = (brume_progress){.label = label, .total = total};
    progress->terminal = isatty(STDERR_FILENO);
    clock_gettime(CLOCK_MONOTONIC, &progress->start);
    progress->last = progress->start;
}

void brume_progress_update(brume_progress *progress, uint64_t done)
{
    if (!progress->terminal)
        return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (seconds_between(progress->start, now) < 1 || seconds_between(progress->last, now) < 0.1)
        return;
    progress->last = now;
    progress->shown = true;
    if (progress->total == 0) {
        fprintf(stderr, "\r\033[K%s: %llu", progress->label, (unsigned long long)done);
    } else {
        double share = (double)done / (double)progress->total;
        int full = (int)(share * BAR);
        fprintf(stderr, "\r\033[K%s [%.*s%*s] %3.0f %%", progress->label, full,
                "##############################", BAR - full, "", 100 * share);
    }
    fflush(stderr);
}

void brume_progress_end(brume_progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
