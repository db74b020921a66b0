/* brume serve: its description. To listen is the command line's own (src/cli/serve/serve.c): the
 * library never does. */
#include "command/command.h"

static brume_status run(brume_call *call, brume_error *error)
{
    return brume_fail(error, BRUME_EUNSUPPORTED, "start it from a command line",
                      "'%s' is a command of the command line only", call->command->name);
}

const brume_command brume_command_serve = {
    .name = "serve",
    .summary = "let users ask over the network, with budgets of their own",
    .description =
        "A server that keeps data, passwords and the ledger to itself: analysts have a token "
        "('brume user add') and ask over HTTP (--listen), on the page that it shows to browsers, "
        "or with any PostgreSQL client (--pg). Every call runs as its user, with the user's role "
        "and allotments.\n\n"
        "Answers that touch data leave at quantised times, whether good or bad, so that how long "
        "one took says next to nothing about rows; --quantum S is coarser and says less. Queries "
        "of one dataset run in the order in which they came. Where others can connect, TLS is "
        "required. One line of JSON for each request goes to standard error, with user, route "
        "and code; never a token, a question or an answer. Those of users are also added to a file "
        "(--requests); where that cannot be written, no request runs.\n\n"
        "Windows of series are published when they close, as by 'brume series update'.\n\n"
        "SIGTERM or Ctrl-C ends it: running calls may end first. What was paid for stays in the "
        "ledger, and can be read again for free.",
    BRUME_OPTIONS(
        BRUME_OPTION(TEXT, "listen", "ADDRESS:PORT", "answer HTTP here; port 0 is any free one"),
        BRUME_OPTION(TEXT, "pg", "ADDRESS:PORT", "answer the PostgreSQL protocol here"),
        BRUME_OPTION(FILE, "tls-cert", "FILE", "the certificate and its chain, PEM"),
        BRUME_OPTION(FILE, "tls-key", "FILE", "the key of the certificate, PEM"),
        BRUME_FLAG("insecure", "without TLS also where other machines can connect"),
        BRUME_OPTION(COUNT, "workers", "N",
                     "calls that run at once: so many that spend, so many that are free (4)",
                     BRUME_FROM_TO(1, 64)),
        BRUME_OPTION(COUNT, "share", "N",
                     "calls of each kind of one user that run at once (half of the workers)",
                     BRUME_FROM_TO(1, 64)),
        BRUME_OPTION(COUNT, "memory", "MIB", "MiB that a call may use which spends nothing (1024)",
                     BRUME_FROM_TO(64, 1048576)),
        BRUME_OPTION(COUNT, "queue", "N",
                     "calls of each kind that may wait; beyond it the answer is 'busy' (256)",
                     BRUME_FROM_TO(1, 100000)),
        BRUME_POSITIVE_OPTION("deadline", "SECONDS", "the longest a call may take (60)"),
        BRUME_POSITIVE_OPTION(
            "quantum", "SECONDS",
            "answers leave at multiples of this, instead of 1/4, 1/2, 1, 2, 4, ..."),
        BRUME_OPTION(COUNT, "rate", "N",
                     "requests a second of each user, twice as many at once; 0: any number (50)",
                     BRUME_FROM_TO(0, 1000000)),
        BRUME_OPTION(COUNT, "connections", "N",
                     "open connections of each user; 0: any number (100)",
                     BRUME_FROM_TO(0, 100000)),
        BRUME_POSITIVE_OPTION(
            "patience", "SECONDS",
            "how long a request may take to come in, and a connection be idle (60)"),
        BRUME_FLAG("check", "only see whether all is there to start: files, addresses, the ledger"),
        BRUME_OPTION(FILE, "requests", "FILE",
                     "record each request of a user here, a line of JSON each (LEDGER.requests)"),
        BRUME_FLAG("quiet", "no log; requests are recorded all the same"), BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("serve --listen 127.0.0.1:0 --check"),
    .run = run,
};
