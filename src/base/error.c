/* Filling an error record. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

#undef brume_fail
brume_status brume_fail(brume_error *error, brume_status status, const char *hint,
                        const char *format, ...)
{
    if (!error)
        return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    snprintf(error->hint, sizeof error->hint, "%s", hint ? hint : "");
    /* what was cut, here or before, and what was never UTF-8: JSON has no place for it */
    brume_utf8_mend(error->message);
    brume_utf8_mend(error->hint);
    error->status = status;
    return status;
}
