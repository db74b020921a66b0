/* brume serve: its description. To listen is the command line's own (src/cli/serve/serve.c): the
 * library never does. */
#include "command/command.h"

static brume_status run(brume_call *call, brume_error *error)
{
    return brume_fail(error, BRUME_EUNSUPPORTED, "start it from a command line",
                      "'%s' is a command of the command line only", call->command->name);
}

static const brume_option options[] = {
    {.name = "listen",
     .type = BRUME_OPTION_TEXT,
     .argument = "ADDRESS:PORT",
     .help = "answer HTTP here; port 0 is any free one"},
    {.name = "pg",
     .type = BRUME_OPTION_TEXT,
     .argument = "ADDRESS:PORT",
     .help = "answer the PostgreSQL protocol here"},
    {.name = "tls-cert",
     .type = BRUME_OPTION_FILE,
     .argument = "FILE",
     .help = "the certificate and its chain, PEM"},
    {.name = "tls-key",
     .type = BRUME_OPTION_FILE,
     .argument = "FILE",
     .help = "the key of the certificate, PEM"},
    {.name = "insecure",
     .type = BRUME_OPTION_FLAG,
     .help = "without TLS also where other machines can connect"},
    {.name = "workers",
     .type = BRUME_OPTION_COUNT,
     .argument = "N",
     .least = 1,
     .most = 64,
     .help = "calls that run at once: so many that spend, so many that are free (4)"},
    {.name = "share",
     .type = BRUME_OPTION_COUNT,
     .argument = "N",
     .least = 1,
     .most = 64,
     .help = "calls of each kind of one user that run at once (half of the workers)"},
    {.name = "memory",
     .type = BRUME_OPTION_COUNT,
     .argument = "MIB",
     .least = 64,
     .most = 1048576,
     .help = "MiB that a call may use which spends nothing (1024)"},
    {.name = "queue",
     .type = BRUME_OPTION_COUNT,
     .argument = "N",
     .least = 1,
     .most = 100000,
     .help = "calls of each kind that may wait; beyond it the answer is 'busy' (256)"},
    BRUME_POSITIVE_OPTION("deadline", "SECONDS", "the longest a call may take (60)"),
    BRUME_POSITIVE_OPTION("quantum", "SECONDS",
                          "answers leave at multiples of this, instead of 1/4, 1/2, 1, 2, 4, ..."),
    {.name = "rate",
     .type = BRUME_OPTION_COUNT,
     .argument = "N",
     .least = 0,
     .most = 1000000,
     .help = "requests a second of each user, twice as many at once; 0: any number (50)"},
    {.name = "connections",
     .type = BRUME_OPTION_COUNT,
     .argument = "N",
     .least = 0,
     .most = 100000,
     .help = "open connections of each user; 0: any number (100)"},
    BRUME_POSITIVE_OPTION("patience", "SECONDS",
                          "how long a request may take to come in, and a connection be idle (60)"),
    {.name = "check",
     .type = BRUME_OPTION_FLAG,
     .help = "only see whether all is there to start: files, addresses, the ledger"},
    {.name = "requests",
     .type = BRUME_OPTION_FILE,
     .argument = "FILE",
     .help = "record each request of a user here, a line of JSON each (LEDGER.requests)"},
    {.name = "quiet",
     .type = BRUME_OPTION_FLAG,
     .help = "no log; requests are recorded all the same"},
    BRUME_LEDGER_OPTION,
};

static const char *const examples[] = {
    "serve --listen 127.0.0.1:0 --check",
    NULL,
};

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
        "SIGTERM or Ctrl-C ends it: running calls may end first. What was paid for stays in the "
        "ledger, and can be read again for free.",
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
