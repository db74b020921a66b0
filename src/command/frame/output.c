/* The answer of a command, in memory until it has succeeded.
 *
 * Promises: whoever runs the command gets its answer whole or, if it failed, not at all; only
 * brume_call_flush lets parts of it go before, where the host takes them. */
#include "command/frame/output.h"

#include <stdarg.h>
#include <stdlib.h>

#include "command/frame/json_text.h"
#include "command/frame/watch.h"
#include "command/host.h"

brume_status brume_call_open_output(brume_call *call, brume_error *error)
{
    call->out = open_memstream(&call->buffer, &call->buffer_length);
    return call->out ? BRUME_OK : brume_no_memory(error, NULL);
}

brume_status brume_call_output(brume_call *call, brume_error *error)
{
    if (fflush(call->out) != 0 || ferror(call->out))
        return brume_no_memory(error, "the answer");
    return BRUME_OK;
}

void brume_call_close_output(brume_call *call)
{
    if (call->out)
        fclose(call->out);
    free(call->buffer);
    call->out = NULL;
    call->buffer = NULL;
}

void brume_call_note(const brume_call *call, const char *format, ...)
{
    char *line = NULL;
    if (!call->host || !call->host->note)
        return;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&line, format, arguments) >= 0)
        call->host->note(call->host->context, line);
    va_end(arguments);
    free(line);
}

brume_status brume_call_flush(brume_call *call, brume_error *error)
{
    BRUME_TRY(brume_call_output(call, error));
    if (!call->host || !call->host->write)
        return BRUME_OK;
    brume_status status =
        call->host->write(call->host->context, call->buffer, call->buffer_length, error);
    rewind(call->out); /* a memory stream starts over */
    return status;
}

brume_status brume_call_write_json(brume_call *call, json_t *object, brume_error *error)
{
    if (!object)
        return brume_no_memory(error, "the answer");
    int failed = brume_json_write(object, call->out);
    json_decref(object);
    if (failed || fputc('\n', call->out) == EOF)
        return brume_no_memory(error, "the answer");
    return BRUME_OK;
}

const char *brume_bold(const brume_call *call)
{
    return call->colour ? "\033[1m" : "";
}

const char *brume_dim(const brume_call *call)
{
    return call->colour ? "\033[2m" : "";
}

const char *brume_plain(const brume_call *call)
{
    return call->colour ? "\033[0m" : "";
}

/* ---- the host's watch ---- */

static brume_status watch(const brume_call *call, bool only_noted, const brume_watch **out,
                          brume_error *error)
{
    const brume_host *host = call->host;
    return host && host->watch ? host->watch(host->context, call, only_noted, out, error)
                               : BRUME_OK;
}

brume_status brume_call_watch(const brume_call *call, const brume_watch **out, brume_error *error)
{
    return watch(call, false, out, error);
}

brume_status brume_call_watch_noted(const brume_call *call, const brume_watch **out,
                                    brume_error *error)
{
    return watch(call, true, out, error);
}

brume_status brume_call_check_timeout(const brume_call *call, brume_error *error)
{
    if (!brume_call_has(call, "no-ledger") || !brume_call_has(call, "timeout"))
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, "leave it out: Ctrl-C ends it, and nothing is spent",
                      "'--timeout' is for registered datasets");
}
