/* Filling the error record of the command line's own errors. */
#ifndef BRUME_CLI_FAIL_H
#define BRUME_CLI_FAIL_H

#include <stdarg.h>
#include <stdio.h>

#include <brume/status.h>

/* Write status, message and hint (NULL: none) into `error` and return `status`. */
BRUME_PRINTF(4, 5)
static inline brume_status brume_cli_fail(brume_error *error, brume_status status, const char *hint,
                                          const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error->status = status;
    vsnprintf(error->message, sizeof error->message, format, arguments);
    snprintf(error->hint, sizeof error->hint, "%s", hint ? hint : "");
    va_end(arguments);
    return status;
}

#endif
