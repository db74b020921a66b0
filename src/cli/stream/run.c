/* The loop of a stream. Promises: stream.h. */
#include "cli/stream/stream.h"

#include <inttypes.h>
#include <unistd.h>

#include "cli/frame/line_input.h"

bool brume_stream_goes_on(brume_status status)
{
    return status == BRUME_EARGUMENT || status == BRUME_ESYNTAX || status == BRUME_EUNKNOWN ||
           status == BRUME_EUNSUPPORTED || status == BRUME_EOVERFLOW;
}

void brume_stream_write_hit(const brume_call *call, uint64_t index,
                            const brume_stream_answer *answer)
{
    if (call->json)
        fprintf(call->out, "{\"index\": %" PRIu64 ", \"above\": %s, \"value\": ", index,
                answer->above ? "true" : "false");
    else
        fputs(answer->above ? "above" : "below", call->out);
    if (call->json && answer->has_value)
        fprintf(call->out, "%.17g", answer->value);
    else if (call->json)
        fputs("null", call->out);
    else if (answer->has_value)
        fprintf(call->out, " %.10g", answer->value);
    if (call->json)
        fprintf(call->out, ", \"hits_left\": %" PRIu64 ", \"halted\": %s}", answer->hits_left,
                answer->halted ? "true" : "false");
    fputc('\n', call->out);
}

static brume_status report(brume_call *call, uint64_t index, const brume_error *wrong,
                           brume_error *error)
{
    BRUME_TRY(brume_call_flush(call, error)); /* what comes before it comes first */
    if (!call->json) {
        fprintf(stderr, "brume %s: line %" PRIu64 ": %s\n", call->command->name, index,
                wrong->message);
        return BRUME_OK;
    }
    json_t *object = json_pack("{s:{s:s, s:s, s:s}, s:I}", "error", "code",
                               brume_status_word(wrong->status), "message", wrong->message, "hint",
                               wrong->hint, "index", (json_int_t)index);
    if (!object)
        return brume_no_memory(error, "an error");
    json_dumpf(object, stderr, JSON_COMPACT);
    fputc('\n', stderr);
    json_decref(object);
    return BRUME_OK;
}

typedef struct run_state {
    uint64_t asked, hits;
    bool halted;
} run_state;

static brume_status pause_stream(const brume_stream_source *source, const run_state *state,
                                 brume_error *error)
{
    return source->pause ? source->pause(source->context, state->asked, state->hits, error)
                         : BRUME_OK;
}

static brume_status answer_line(brume_call *call, const char *line, uint64_t index,
                                const brume_stream_source *source, run_state *state,
                                brume_error *error)
{
    brume_stream_answer answer = {0};
    brume_error wrong = {0};
    brume_status status = line ? source->ask(source->context, line, &answer, &wrong)
                               : brume_fail(&wrong, BRUME_EARGUMENT, NULL,
                                            "more than %d bytes, or a byte that is 0",
                                            (int)BRUME_LINE_MOST);
    if (status == BRUME_OK) {
        source->write(call, index, &answer);
        state->asked++;
        state->hits += answer.above;
        state->halted = answer.halted;
        if (source->pause) /* a question of data takes its time: nobody is to wait for the next */
            BRUME_TRY(brume_call_flush(call, error));
        return pause_stream(source, state, error);
    }
    if (brume_stream_goes_on(status))
        return report(call, index, &wrong, error);
    if (error)
        *error = wrong;
    return status;
}

/* Write out what there is and wait for a line. */
static brume_status wait_for_line(brume_call *call, const brume_line_input *lines,
                                  const brume_stream_source *source, const run_state *state,
                                  brume_error *error)
{
    enum { MILLISECONDS = 200 };
    if (brume_line_input_ready(lines))
        return BRUME_OK;
    BRUME_TRY(brume_call_flush(call, error));
    while (source->pause && !brume_line_input_wait(lines, MILLISECONDS))
        BRUME_TRY(pause_stream(source, state, error));
    return BRUME_OK;
}

brume_status brume_stream_run(brume_call *call, const brume_stream_source *source,
                              brume_error *error)
{
    brume_line_input *lines = NULL;
    BRUME_TRY(brume_line_input_open(STDIN_FILENO, &lines, error));
    brume_status status = BRUME_OK;
    run_state state = {0};
    bool any = true;
    for (uint64_t index = 1; status == BRUME_OK && any && !state.halted; index++) {
        char *line = NULL;
        status = wait_for_line(call, lines, source, &state, error);
        if (status == BRUME_OK)
            status = brume_line_input_next(lines, &line, &any, error);
        if (status == BRUME_OK && any)
            status = answer_line(call, line, index, source, &state, error);
    }
    brume_line_input_close(lines);
    return status == BRUME_OK ? brume_call_flush(call, error) : status;
}
