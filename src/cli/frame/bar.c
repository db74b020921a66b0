/* A progress bar on standard error: silent for a second, then redrawn as often as it is told of
 * progress, wiped at the end. Nothing is written where standard error is not a terminal. */
#include "cli/frame/bar.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 30 };

/* Of the work that is running. */
static struct {
    bool running, terminal, shown;
    struct timespec start;
} bar;

static double seconds_between(struct timespec from, struct timespec to)
{
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

static void wipe(void)
{
    if (bar.shown)
        fputs("\r\033[K", stderr);
    bar.shown = bar.running = false;
}

void brume_bar_show(void *context, const char *label, uint64_t done, uint64_t total)
{
    (void)context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!label) {
        wipe();
        return;
    }
    if (!bar.running) {
        bar.running = true;
        bar.terminal = isatty(STDERR_FILENO);
        bar.start = now;
    }
    if (!bar.terminal || seconds_between(bar.start, now) < 1)
        return;
    bar.shown = true;
    if (total == 0) {
        fprintf(stderr, "\r\033[K%s: %llu", label, (unsigned long long)done);
    } else {
        double share = (double)done / (double)total;
        int full = (int)(share * BAR);
        fprintf(stderr, "\r\033[K%s [%.*s%*s] %3.0f %%", label, full,
                "##############################", BAR - full, "", 100 * share);
    }
    fflush(stderr);
}
