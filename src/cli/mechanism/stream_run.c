/* The loop of a stream. Promises: stream.h. */
#include "cli/mechanism/stream.h"

#include <inttypes.h>
#include <unistd.h>

#include "cli/frame/line_input.h"

bool brume_stream_goes_on(brume_status status)
{
    return status == BRUME_EARGUMENT || status == BRUME_ESYNTAX || status == BRUME_EUNKNOWN ||
           status == BRUME_EUNSUPPORTED || status == BRUME_EOVERFLOW;
}

static void write_answer(const brume_call *call, uint64_t index, const brume_stream_answer *answer)
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

static brume_status answer_line(brume_call *call, const char *line, uint64_t index,
                                brume_stream_ask ask, void *context, bool *halted,
                                brume_error *error)
{
    brume_stream_answer answer = {0};
    brume_error wrong = {0};
    brume_status status = line ? ask(context, line, &answer, &wrong)
                               : brume_fail(&wrong, BRUME_EARGUMENT, NULL,
                                            "more than %d bytes, or a byte that is 0",
                                            (int)BRUME_LINE_MOST);
    if (status == BRUME_OK) {
        write_answer(call, index, &answer);
        *halted = answer.halted;
        return BRUME_OK;
    }
    if (brume_stream_goes_on(status))
        return report(call, index, &wrong, error);
    if (error)
        *error = wrong;
    return status;
}

brume_status brume_stream_run(brume_call *call, brume_stream_ask ask, void *context,
                              brume_error *error)
{
    brume_line_input *lines = NULL;
    BRUME_TRY(brume_line_input_open(STDIN_FILENO, &lines, error));
    brume_status status = BRUME_OK;
    bool halted = false, any = true;
    for (uint64_t index = 1; status == BRUME_OK && any && !halted; index++) {
        char *line = NULL;
        if (!brume_line_input_ready(lines))
            status = brume_call_flush(call, error);
        if (status == BRUME_OK)
            status = brume_line_input_next(lines, &line, &any, error);
        if (status == BRUME_OK && any)
            status = answer_line(call, line, index, ask, context, &halted, error);
    }
    brume_line_input_close(lines);
    return status == BRUME_OK ? brume_call_flush(call, error) : status;
}
