/* A stream of questions on a server: one request for each line. Promises: remote.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/client/remote.h"
#include "base/error.h"
#include "cli/frame/questions.h"

typedef struct remote_stream {
    const brume_remote *remote;
    char path[64]; /* "/v1/streams/ID" */
    bool is_over;  /* the server has ended it */
} remote_stream;

/* One request; *answer is an object of the caller's. */
static brume_status send_object(const brume_remote *remote, const char *path, json_t *body,
                                json_t **answer, brume_error *error)
{
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL, *got = NULL;
    size_t length = 0;
    if (!text)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "the question is not UTF-8");
    brume_status status = brume_remote_post(remote, path, text, NULL, &got, &length, error);
    free(text);
    *answer = status == BRUME_OK ? json_loadb(got, length, 0, NULL) : NULL;
    free(got);
    if (status == BRUME_OK && !*answer)
        status = brume_fail(error, BRUME_ESOURCE, "is it a brume server?",
                            "the server's answer is not JSON");
    return status;
}

static brume_status ask(void *context, const char *line, char **answer, bool *halted,
                        brume_error *error)
{
    remote_stream *stream = context;
    json_t *got = NULL;
    if (!line) /* one that cannot be read; there it has the same words */
        return brume_fail(error, BRUME_EARGUMENT, NULL, "more than %d bytes, or a byte that is 0",
                          1 << 16);
    json_t *body = json_pack("{s:s}", "question", line);
    brume_status status = send_object(stream->remote, stream->path, body, &got, error);
    json_decref(body);
    int code = brume_status_exit_code(status);
    if (status != BRUME_OK) {
        stream->is_over = code != 2 && code != 4;
        return status;
    }
    const char *text = json_string_value(json_object_get(got, "answer"));
    *answer = text ? strdup(text) : NULL;
    *halted = stream->is_over = json_is_true(json_object_get(got, "halted"));
    json_decref(got);
    return *answer ? BRUME_OK : brume_fail(error, BRUME_ESOURCE, NULL, "the server gave no answer");
}

static brume_status end(void *context, brume_error *error)
{
    const remote_stream *stream = context;
    char *answer = NULL, body[64];
    size_t length = 0;
    if (stream->is_over)
        return BRUME_OK;
    snprintf(body, sizeof body, "{\"stream\":\"%s\"}", strrchr(stream->path, '/') + 1);
    brume_status status = brume_remote_post(stream->remote, "/v1/call/stream/close", body, NULL,
                                            &answer, &length, error);
    free(answer);
    return status;
}

brume_status brume_remote_stream(const brume_remote *remote, const char *command,
                                 const char *options, bool json, brume_error *error)
{
    remote_stream all = {.remote = remote};
    const brume_questions_stream stream = {.ask = ask, .close = end, .context = &all};
    json_t *body = json_loads(options, 0, NULL), *got = NULL;
    if (json_object_get(body, "ledger")) {
        json_decref(body);
        return brume_fail(error, BRUME_EUNSUPPORTED, "leave it out",
                          "'--ledger' is not to be had from a server");
    }
    if (!body || json_object_set_new(body, "command", json_string(command)) != 0) {
        json_decref(body);
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    }
    brume_status status = send_object(remote, "/v1/streams", body, &got, error);
    json_decref(body);
    if (status != BRUME_OK)
        return status;
    const char *id = json_string_value(json_object_get(got, "stream"));
    bool good = id && strlen(id) < 40;
    if (good)
        snprintf(all.path, sizeof all.path, "/v1/streams/%s", id);
    json_decref(got);
    if (!good)
        return brume_fail(error, BRUME_ESOURCE, "is it a brume server?",
                          "the server opened no stream");
    return brume_questions_run(&stream, command, true, json, error);
}
