/* The questions of a stream: lines of standard input. */
#include "cli/frame/questions.h"

#include <string.h>
#include <unistd.h>

#include "cli/frame/line_input.h"
#include "cli/frame/output.h"

typedef struct questions {
    const brume_questions_stream *stream;
    const char *command;
    bool json;
    uint64_t index;     /* of the newest line, from 1, wrong ones too */
    bool at_once;       /* a question of data takes its time: nobody is to wait for the next */
    char text[1 << 13]; /* answers that are still to be written */
    size_t length;
} questions;

/* A wrong line costs nothing, and the stream goes on. */
static bool goes_on(brume_status status)
{
    int code = brume_status_exit_code(status);
    return code == 2 || code == 4;
}

static brume_status flush(questions *all, brume_error *error)
{
    size_t length = all->length;
    all->length = 0;
    return brume_output_write(NULL, all->text, length, error);
}

static brume_status add(questions *all, const char *answer, brume_error *error)
{
    size_t length = strlen(answer);
    brume_status status = all->length + length > sizeof all->text ? flush(all, error) : BRUME_OK;
    if (status == BRUME_OK && length > sizeof all->text)
        return brume_output_write(NULL, answer, length, error);
    if (status == BRUME_OK) {
        memcpy(all->text + all->length, answer, length);
        all->length += length;
    }
    return status == BRUME_OK && all->at_once ? flush(all, error) : status;
}

static void say_spent(brume_error *error)
{
    size_t used = strlen(error->message);
    if (!strstr(error->message, "the price stays spent"))
        snprintf(error->message + used, sizeof error->message - used, "; the price stays spent");
}

static brume_status answer_line(questions *all, const char *line, bool *halted, brume_error *error)
{
    brume_error wrong = {0};
    char *answer = NULL;
    all->index++;
    brume_status status = all->stream->ask(all->stream->context, line, &answer, halted, &wrong);
    if (status == BRUME_OK) {
        status = add(all, answer, error);
        brume_free(answer);
        return status;
    }
    if (goes_on(status)) {
        status = flush(all, error); /* what comes before it comes first */
        (void)brume_output_error(all->command, all->json, all->index, &wrong);
        return status;
    }
    *error = wrong;
    return status;
}

static bool is_stopping(const questions *all)
{
    return all->stream->stopping && all->stream->stopping(all->stream->context);
}

static brume_status answer_lines(questions *all, brume_line_input *lines, brume_error *error)
{
    brume_status status = BRUME_OK;
    bool any = true, halted = false;
    while (status == BRUME_OK && any && !halted) {
        char *line = NULL;
        if (!brume_line_input_ready(lines))
            status = flush(all, error);
        /* a stream that is to stop need not wait for its next line */
        while (status == BRUME_OK && !brume_line_input_wait(lines, 100) && !is_stopping(all))
            ;
        if (is_stopping(all))
            break;
        if (status == BRUME_OK)
            status = brume_line_input_next(lines, &line, &any, error);
        if (status == BRUME_OK && any)
            status = answer_line(all, line, &halted, error);
    }
    return status;
}

brume_status brume_questions_run(const brume_questions_stream *stream, const char *command,
                                 bool at_once, bool json, brume_error *error)
{
    questions all = {.stream = stream, .command = command, .at_once = at_once, .json = json};
    brume_line_input *lines = NULL;
    brume_error end = {0};
    brume_status status = brume_line_input_open(STDIN_FILENO, &lines, error);
    if (status == BRUME_OK)
        status = answer_lines(&all, lines, error);
    if (status == BRUME_OK)
        status = flush(&all, error);
    brume_line_input_close(lines);
    if ((status == BRUME_EDISK || status == BRUME_ESOURCE) && all.at_once)
        say_spent(error); /* an error of ours: those of the session say it themselves */
    brume_status closed = stream->close(stream->context, &end);
    if (closed != BRUME_OK && (status == BRUME_OK || closed == status))
        *error = end; /* it also says what became of the price */
    return status != BRUME_OK ? status : closed;
}

/* ---- of a session ---- */

static brume_status ask_session(void *session, const char *line, char **answer, bool *halted,
                                brume_error *error)
{
    return brume_session_stream_ask(session, line, answer, halted, error);
}

static brume_status close_session(void *session, brume_error *error)
{
    return brume_session_stream_close(session, error);
}

static bool session_stops(void *session)
{
    return brume_session_stopping(session) != NULL;
}

brume_status brume_questions_from_input(brume_session *session, const char *command,
                                        const char *options, bool json, brume_error *error)
{
    const brume_questions_stream stream = {
        .ask = ask_session, .close = close_session, .stopping = session_stops, .context = session};
    brume_status status = brume_session_stream_open(session, command, options, error);
    if (status != BRUME_OK)
        return status;
    return brume_questions_run(&stream, command, strstr(options, "\"no-ledger\"") == NULL, json,
                               error);
}
