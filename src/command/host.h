/* What a command needs from whoever runs it: the command line, or a session of the library.
 *
 * A command itself prints nothing, reads no standard input, handles no signal and ends no process.
 * Every function may be NULL: then nobody listens, or what needs it is refused. */
#ifndef BRUME_COMMAND_HOST_H
#define BRUME_COMMAND_HOST_H

#include "command/command.h"
#include "query/release/spend.h"

struct brume_public_asker;
struct brume_stream_source;

struct brume_host {
    bool reads_input;   /* standard input is the command's: what is called - */
    const char *ledger; /* where a call names none; NULL: $BRUME_LEDGER, else ./brume.db */
    const char *user;   /* for whom it runs; NULL: the owner at the shell */
    uint64_t issued;    /* the row of the user's token; 0: any (ledger/user.h) */
    /* A part of a long answer, before the command has ended. NULL: answers are kept whole. */
    brume_status (*write)(void *context, const char *text, size_t length, brume_error *error);
    /* A line for a person beside the answer, which may be a file's. */
    void (*note)(void *context, const char *line);
    /* So much of `total` is done (0: nobody knows of how much); at most ten times a second. A label
     * that is NULL: this work is over. */
    void (*progress)(void *context, const char *label, uint64_t done, uint64_t total);
    /* The watch of a call that is about to spend, or, if `only_noted`, that has files to remove
     * after a wish to stop. It lives as long as the call. */
    brume_status (*watch)(void *context, const brume_call *call, bool only_noted,
                          const brume_watch **watch, brume_error *error);
    /* Put questions to a stream until it halts or they end. One that has a `close` may be kept for
     * later, and is closed in any case. */
    brume_status (*questions)(void *context, brume_call *call,
                              const struct brume_stream_source *source, brume_error *error);
    /* Who asks queries of public tables; NULL: the call. */
    const struct brume_public_asker *elsewhere;
    void *context;
};

#endif
