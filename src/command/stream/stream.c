/* What streams share. Promises: stream.h. */
#include "command/stream/stream.h"

#include <inttypes.h>
#include <string.h>

#include "command/host.h"

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
        fputs(brume_shortest(answer->value).text, call->out);
    else if (call->json)
        fputs("null", call->out);
    else if (answer->has_value)
        fprintf(call->out, " %.10g", answer->value);
    if (call->json)
        fprintf(call->out, ", \"hits_left\": %" PRIu64 ", \"halted\": %s}", answer->hits_left,
                answer->halted ? "true" : "false");
    fputc('\n', call->out);
}

brume_status brume_stream_run(brume_call *call, const brume_stream_source *source,
                              brume_error *error)
{
    const brume_host *host = call->host;
    if (host && host->questions)
        return host->questions(host->context, call, source, error);
    if (source->close)
        source->close(source->context);
    return brume_fail(error, BRUME_EUNSUPPORTED, "open it as a stream, then ask",
                      "'%s' answers questions one by one, not in one call", call->command->name);
}

/* ---- how far a stream has come ---- */

brume_status brume_stream_pause(const brume_stream_source *source,
                                const brume_stream_progress *progress, brume_error *error)
{
    return source->pause ? source->pause(source->context, progress->asked, progress->hits, error)
                         : BRUME_OK;
}

brume_status brume_stream_answer_line(brume_call *call, const brume_stream_source *source,
                                      const char *line, brume_stream_progress *progress,
                                      brume_error *error)
{
    brume_stream_answer answer = {0};
    progress->index++;
    if (!line || strlen(line) > BRUME_STREAM_LINE_MOST)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "more than %d bytes, or a byte that is 0",
                          (int)BRUME_STREAM_LINE_MOST);
    BRUME_TRY(source->ask(source->context, line, &answer, error));
    source->write(call, progress->index, &answer);
    progress->asked++;
    progress->hits += answer.above;
    progress->halted = answer.halted;
    return BRUME_OK;
}
