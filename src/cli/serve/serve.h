/* brume serve, as a command of the command line. */
#ifndef BRUME_CLI_SERVE_SERVE_H
#define BRUME_CLI_SERVE_SERVE_H

#include <brume/status.h>

/* Serve until a signal ends it. `options`: a JSON object, checked already. */
BRUME_MUST_USE brume_status brume_serve_run(const char *options, brume_error *error);

#endif
