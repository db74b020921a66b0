/* Asking in SQL: explain and query. Promises: <brume/session.h>. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "command/query/ask.h"
#include "session/arrow_stream.h"
#include "session/state.h"

/* A call of `explain` or `query` whose answer is JSON; SQL is an argument of its own. */
static brume_status open_call(brume_session *session, const char *name, const char *sql,
                              const char *options, brume_call *call, brume_error *error)
{
    const brume_command *command = NULL;
    BRUME_TRY(brume_session_command(name, &command, error));
    BRUME_TRY(brume_session_call_open(session, command, options, "sql", sql, call, error));
    if (!call->json)
        return brume_fail(error, BRUME_EARGUMENT, "call the command 'query' by its name for a text",
                          "this answer is JSON, and has no other format");
    return BRUME_OK;
}

static brume_status explain(brume_session *session, const char *sql, const char *options,
                            char **json, brume_error *error)
{
    brume_call call = {0};
    brume_status status = open_call(session, "explain", sql, options, &call, error);
    if (status == BRUME_OK)
        status = call.command->run(&call, error);
    if (status == BRUME_OK)
        status = brume_session_call_answer(&call, json, error);
    brume_session_call_close(&call);
    return status;
}

brume_status brume_session_explain(brume_session *session, const char *sql, const char *options,
                                   char **json, brume_error *error)
{
    char *text = NULL;
    BRUME_TRY(brume_session_begin(session, false, error));
    brume_status status = explain(session, sql, options, &text, error);
    brume_session_end(session);
    if (status == BRUME_OK && json)
        *json = text;
    else
        free(text);
    return status;
}

/* What is wanted of an answer; both, or nothing. */
static brume_status give(brume_call *call, const brume_query_answer *answer,
                         struct ArrowArrayStream *rows, char **json, brume_error *error)
{
    json_t *object = NULL;
    char *text = NULL;
    if (json) {
        BRUME_TRY(brume_query_answer_to_json(answer, &object, error));
        BRUME_TRY(brume_call_write_json(call, object, error));
        BRUME_TRY(brume_session_call_answer(call, &text, error));
    }
    brume_status status = rows ? brume_arrow_stream(answer, rows, error) : BRUME_OK;
    if (status != BRUME_OK)
        free(text);
    else if (json)
        *json = text;
    return status;
}

static brume_status query(brume_session *session, const char *sql, const char *options,
                          struct ArrowArrayStream *rows, char **json, brume_error *error)
{
    brume_call call = {0};
    brume_query_answer *answer = NULL;
    brume_status status = open_call(session, "query", sql, options, &call, error);
    if (status == BRUME_OK)
        status = brume_query_call_answer(&call, &answer, error);
    if (status == BRUME_OK)
        status = give(&call, answer, rows, json, error);
    brume_query_answer_close(answer);
    brume_session_call_close(&call);
    return status;
}

brume_status brume_session_query(brume_session *session, const char *sql, const char *options,
                                 struct ArrowArrayStream *rows, char **json, brume_error *error)
{
    BRUME_TRY(brume_session_begin(session, false, error));
    brume_status status = query(session, sql, options, rows, json, error);
    brume_session_end(session);
    return status;
}
