/* Commands that a server runs, for `brume --server URL COMMAND ...`.
 *
 * The words mean what they mean without a server: they become the same command with the same
 * options, and the answer is the server's, letter by letter. What needs no ledger (accounts, noise,
 * help) runs here; so does the shell, whose commands run there. Files that are named are files of
 * this machine: SQL and policies are read here and sent; an option that would write or read another
 * file is refused. */
#ifndef BRUME_CLI_REMOTE_H
#define BRUME_CLI_REMOTE_H

#include <stdbool.h>

#include <brume/session.h>

typedef struct brume_remote {
    const char *url, *ca; /* --server and --server-ca; NULL: no server; the system's trust */
} brume_remote;

/* Take --server and --server-ca from the front of the words: how many words they were. EARGUMENT:
 * one without its value. */
BRUME_MUST_USE brume_status brume_remote_read(int count, char **words, brume_remote *out, int *used,
                                              brume_error *error);

/* Is it a command for the server? Else it runs here. EUNSUPPORTED: neither can be. */
BRUME_MUST_USE brume_status brume_remote_takes(const char *command, bool *takes,
                                               brume_error *error);

/* Run the command there, once a process; a signal meanwhile ends it there (stop.h; `json`: how that
 * is told). *answer is its output, which the caller frees. On an error too: of a
 * script what was answered, and paid for, before it; NULL where nothing was. Errors are those of
 * the command, as the server tells them, or of reaching it (client/http.h). */
BRUME_MUST_USE brume_status brume_remote_run(const brume_remote *remote, const char *command,
                                             const char *options, bool json, char **answer,
                                             size_t *length, brume_error *error);

/* The same for any path and body, under a ticket (NULL: none): the answer of a server that says
 * 200.
 */
BRUME_MUST_USE brume_status brume_remote_post(const brume_remote *remote, const char *path,
                                              const char *body, const char *ticket, char **answer,
                                              size_t *length, brume_error *error);

/* Open a stream there and put the lines of standard input to it (stream.c), as on a ledger. */
BRUME_MUST_USE brume_status brume_remote_stream(const brume_remote *remote, const char *command,
                                                const char *options, bool json, brume_error *error);

#endif
