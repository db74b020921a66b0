/* Standard output and standard error of the command line.
 *
 * Promises: standard output gets a command's answer whole or, if the command failed, not at all
 * (only brume_call_flush streams); an error goes to standard error alone; a standard output that is
 * closed or full is an error with exit code 5, never silence and never a signal. */
#include "cli/frame/output.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/frame/pager.h"

brume_status brume_output_ready(brume_error *error)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a full disk: an error, not a death */
    bool closed = fcntl(STDOUT_FILENO, F_GETFD) == -1 && errno == EBADF;
    for (int number = 0; number <= 2; number++)
        if (fcntl(number, F_GETFD) == -1 && errno == EBADF && open("/dev/null", O_RDWR) != number)
            return brume_fail(error, BRUME_EDISK, NULL, "cannot open /dev/null");
    if (closed)
        return brume_fail(error, BRUME_EDISK, "nothing was computed and nothing was spent",
                          "standard output is closed");
    return BRUME_OK;
}

static bool wants_colour(void)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(none && *none) && terminal && strcmp(terminal, "dumb") != 0;
}

brume_status brume_output_open(brume_call *call, brume_error *error)
{
    call->colour = wants_colour();
    call->out = open_memstream(&call->buffer, &call->buffer_length);
    if (!call->out)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    return BRUME_OK;
}

static brume_status write_all(const char *text, size_t length, brume_error *error)
{
    while (length > 0) {
        ssize_t written = write(STDOUT_FILENO, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return brume_fail(error, BRUME_EDISK,
                              errno == EPIPE ? "its reader closed it before the end" : NULL,
                              "cannot write to standard output: %s", strerror(errno));
        text += written;
        length -= (size_t)written;
    }
    return BRUME_OK;
}

brume_status brume_call_flush(brume_call *call, brume_error *error)
{
    if (fflush(call->out) != 0 || ferror(call->out))
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for the answer");
    brume_status status = write_all(call->buffer, call->buffer_length, error);
    rewind(call->out); /* a memory stream starts over */
    return status;
}

static bool paged;

void brume_output_page_long_answers(void)
{
    paged = true;
}

brume_status brume_output_commit(brume_call *call, brume_error *error)
{
    if (paged && fflush(call->out) == 0 && brume_page(call->buffer, call->buffer_length))
        return BRUME_OK;
    return brume_call_flush(call, error);
}

void brume_output_close(brume_call *call)
{
    if (call->out)
        fclose(call->out);
    free(call->buffer);
    call->out = NULL;
    call->buffer = NULL;
}

int brume_output_error(const char *command, bool json, const brume_error *error)
{
    int exit_code = brume_status_exit_code(error->status);
    json_t *object = json ? json_pack("{s:{s:s, s:s, s:s}}", "error", "code",
                                      brume_status_word(error->status), "message", error->message,
                                      "hint", error->hint)
                          : NULL;
    if (object) {
        json_dumpf(object, stderr, JSON_COMPACT);
        fputc('\n', stderr);
        json_decref(object);
        return exit_code;
    }
    fprintf(stderr, "brume%s%s: %s\n", command ? " " : "", command ? command : "", error->message);
    if (error->hint[0])
        fprintf(stderr, "  hint: %s\n", error->hint);
    return exit_code;
}

brume_status brume_call_write_json(brume_call *call, json_t *object, brume_error *error)
{
    if (!object)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for the answer");
    int failed = json_dumpf(object, call->out, JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY);
    json_decref(object);
    if (failed || fputc('\n', call->out) == EOF)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for the answer");
    return BRUME_OK;
}

json_t *brume_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
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
