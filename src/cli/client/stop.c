/* Ctrl-C while a server works. Promises: stop.h. */
#include "cli/client/stop.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

/* The first request to end it may reach the server before the call does. */
enum { TRIES = 3 };

static struct {
    brume_http_place place;
    const char *command;
    bool json;
    char body[64]; /* of the request to end the call */
    sigset_t signals;
} watched;

/* Nothing but writing: stdio's own locks may be held by the thread that waits for the answer. */
static void end_process(const char *why)
{
    static const char hint[] = "'history' and 'budget' say what became of it";
    char text[512];
    if (watched.json)
        snprintf(text, sizeof text,
                 "{\"error\":{\"code\":\"%s\",\"message\":\"%s; the price may be spent\","
                 "\"hint\":\"%s\"}}\n",
                 brume_status_word(BRUME_ECANCELLED), why, hint);
    else
        snprintf(text, sizeof text, "brume %s: %s; the price may be spent\n  hint: %s\n",
                 watched.command, why, hint);
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    _exit(written < 0 ? 1 : brume_status_exit_code(BRUME_ECANCELLED));
}

static void *ask_to_end(void *unused)
{
    (void)unused;
    for (int i = 0; i < TRIES; i++) {
        brume_http_answer answer = {0};
        brume_error error = {0};
        brume_status status =
            brume_http_post(&watched.place, "/v1/cancel", watched.body, &answer, &error);
        free(answer.body);
        if (status != BRUME_OK || answer.code != 200)
            end_process("interrupted, and the server could not be told");
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    }
    return NULL;
}

static void say_it_waits(void)
{
    static const char text[] =
        "the server was asked to stop; its answer says what was spent (Ctrl-C: do not wait)\n";
    if (!watched.json && isatty(STDERR_FILENO) && write(STDERR_FILENO, text, sizeof text - 1) < 0)
        return; /* it is only a courtesy */
}

static void *guard(void *unused)
{
    int number = 0;
    pthread_t thread;
    (void)unused;
    sigwait(&watched.signals, &number);
    if (pthread_create(&thread, NULL, ask_to_end, NULL) != 0)
        end_process("interrupted, and the server could not be told");
    pthread_detach(thread);
    say_it_waits();
    sigwait(&watched.signals, &number);
    end_process("interrupted");
    return NULL;
}

static brume_status make_ticket(char ticket[BRUME_TICKET], brume_error *error)
{
    uint8_t bytes[(BRUME_TICKET - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return brume_fail(error, BRUME_ERANDOM, NULL, "the kernel gives no random bytes");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(ticket + 2 * i, 3, "%02x", bytes[i]);
    return BRUME_OK;
}

brume_status brume_stop_watch(const brume_http_place *place, const char *command, bool json,
                              char ticket[BRUME_TICKET], brume_error *error)
{
    brume_status status = make_ticket(ticket, error);
    if (status != BRUME_OK)
        return status;
    watched.place = *place;
    watched.command = command;
    watched.json = json;
    snprintf(watched.body, sizeof watched.body, "{\"ticket\":\"%s\"}", ticket);
    sigemptyset(&watched.signals);
    sigaddset(&watched.signals, SIGINT);
    sigaddset(&watched.signals, SIGTERM);
    pthread_t thread;
    if (pthread_sigmask(SIG_BLOCK, &watched.signals, NULL) != 0 ||
        pthread_create(&thread, NULL, guard, NULL) != 0)
        return brume_fail(error, BRUME_EMEMORY, NULL,
                          "out of memory for the thread that waits for signals");
    pthread_detach(thread);
    return BRUME_OK;
}
