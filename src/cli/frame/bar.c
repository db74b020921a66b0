/* Progress on standard error. Promises: the header. */
#include "cli/frame/bar.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 30 };

#define ERASE "\r\033[K"

/* The bar of the work that is running. */
static struct {
    pthread_mutex_t lock;
    bool running, terminal;
    atomic_bool shown;
    unsigned second; /* the last that was drawn */
    struct timespec start;
} bar = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double seconds_between(struct timespec from, struct timespec to)
{
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

/* stdio's lock may be held by a thread that hangs. */
static void draw(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* it is only shown */
}

static void wipe(void)
{
    if (atomic_exchange(&bar.shown, false))
        draw(ERASE);
}

static void show(const char *label, uint64_t done, uint64_t total)
{
    struct timespec now;
    char text[256];
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!bar.running) {
        bar.running = true;
        bar.terminal = isatty(STDERR_FILENO);
        bar.start = now;
    }
    if (!bar.terminal || seconds_between(bar.start, now) < 1)
        return;
    if (total == 0) {
        snprintf(text, sizeof text, ERASE "%s: %llu", label, (unsigned long long)done);
    } else {
        double share = (double)done / (double)total;
        int full = (int)(share * BAR);
        snprintf(text, sizeof text, ERASE "%s [%.*s%*s] %3.0f %%", label, full,
                 "##############################", BAR - full, "", 100 * share);
    }
    atomic_store(&bar.shown, true);
    draw(text);
}

void brume_bar_show(void *context, const char *label, uint64_t done, uint64_t total)
{
    (void)context;
    pthread_mutex_lock(&bar.lock);
    if (label) {
        show(label, done, total);
    } else {
        bar.running = false;
        wipe();
    }
    pthread_mutex_unlock(&bar.lock);
}

/* Would a write be taken at once, and by whom this process belongs to? A stopped terminal would
 * hold the thread, and one in the foreground of others would stop the process. */
static bool takes_output(void)
{
    struct pollfd output = {.fd = STDERR_FILENO, .events = POLLOUT};
    return isatty(STDERR_FILENO) && tcgetpgrp(STDERR_FILENO) == getpgrp() &&
           poll(&output, 1, 0) == 1 && (output.revents & POLLOUT);
}

void brume_bar_time(const char *label, double seconds)
{
    char text[128];
    if (seconds < 1 || pthread_mutex_trylock(&bar.lock) != 0)
        return;
    if (!bar.running && bar.second != (unsigned)seconds && takes_output()) {
        bar.second = (unsigned)seconds;
        snprintf(text, sizeof text, ERASE "%s: %u s", label, bar.second);
        atomic_store(&bar.shown, true);
        draw(text);
    }
    pthread_mutex_unlock(&bar.lock);
}

void brume_bar_wipe(void)
{
    pthread_mutex_lock(&bar.lock);
    wipe();
    pthread_mutex_unlock(&bar.lock);
}

const char *brume_bar_eraser(void)
{
    return atomic_load(&bar.shown) ? ERASE : "";
}
