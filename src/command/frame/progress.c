/* How far long work has come: told to the host at most ten times a second. */
#include "command/frame/progress.h"

#include "command/host.h"

static double seconds_since(struct timespec from, struct timespec to)
{
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

void brume_progress_start(brume_progress *progress, const brume_call *call, const char *label,
                          uint64_t total)
{
    *progress = (brume_progress){.call = call, .label = label, .total = total};
    if (!call || !call->host || !call->host->progress)
        return;
    progress->host = call->host;
    clock_gettime(CLOCK_MONOTONIC, &progress->last);
    progress->host->progress(progress->host->context, label, 0, total);
}

void brume_progress_update(brume_progress *progress, uint64_t done)
{
    if (!progress->host)
        return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (seconds_since(progress->last, now) < 0.1)
        return;
    progress->last = now;
    progress->host->progress(progress->host->context, progress->label, done, progress->total);
}

void brume_progress_end(brume_progress *progress)
{
    if (progress->host)
        progress->host->progress(progress->host->context, NULL, progress->total, progress->total);
    progress->host = NULL;
}
