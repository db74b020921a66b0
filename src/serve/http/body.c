/* From a request to a call. Promises: body.h. */
#include "serve/http/body.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include <brume/session.h>

#include "base/error.h"

enum { DEEPEST = 32 };

static bool is_too_deep(json_t *value, int depth)
{
    size_t index;
    const char *key;
    json_t *part;
    if (depth > DEEPEST)
        return true;
    json_array_foreach (value, index, part)
        if (is_too_deep(part, depth + 1))
            return true;
    json_object_foreach (value, key, part)
        if (is_too_deep(part, depth + 1))
            return true;
    return false;
}

static brume_status parse(const char *body, size_t length, json_t **out, brume_error *error)
{
    json_error_t fault;
    json_t *object = length > 0 ? json_loadb(body, length, JSON_REJECT_DUPLICATES, &fault)
                                : json_object();
    if (!object && length == 0)
        return brume_no_memory(error, "the request");
    if (!object)
        return brume_fail(error, BRUME_ESYNTAX, "send one JSON object",
                          "the body is not JSON: line %d, column %d", fault.line, fault.column);
    bool is_object = json_is_object(object), is_deep = is_too_deep(object, 0);
    if (is_object && !is_deep) {
        *out = object;
        return BRUME_OK;
    }
    json_decref(object);
    return brume_fail(error, BRUME_EARGUMENT, "send one JSON object with the options by name",
                      is_deep ? "the body is nested too deeply" : "the body is not a JSON object");
}

static brume_status refuse_ledger(const json_t *object, brume_error *error)
{
    if (json_object_get(object, "ledger"))
        return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                          "'ledger' cannot be chosen here: the server has its own");
    return BRUME_OK;
}

/* /v1/query answers with one JSON object: several statements would be several, all charged. The
 * command line, which shows them one after the other, says "json" or "format". */
static brume_status refuse_script(const brume_http_route *route, const json_t *object,
                                  brume_error *error)
{
    const char *sql = json_string_value(json_object_get(object, "sql"));
    if (!sql || !route->command || strcmp(route->command, "query") != 0 ||
        json_object_get(object, "json") || json_object_get(object, "format"))
        return BRUME_OK;
    size_t first = brume_statement_length(sql);
    if (first == 0 || brume_statement_is_blank(sql + first))
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, "send each in a request of its own",
                      "several statements in one request");
}

static brume_status set_operand(json_t *object, const char *name, const char *value,
                                brume_error *error)
{
    if (!name)
        return BRUME_OK;
    if (json_object_get(object, name))
        return brume_fail(error, BRUME_EARGUMENT, "leave it out of the body",
                          "'%s' is in the path already", name);
    if (json_object_set_new(object, name, json_string(value)) != 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "the path is not UTF-8");
    return BRUME_OK;
}

/* ---- a policy's text ---- */

static brume_status write_policy(const char *text, size_t length, char **out, brume_error *error)
{
    char path[] = ".brume-policy-XXXXXX.yaml";
    int file = mkstemps(path, 5);
    bool good = file >= 0 && write(file, text, length) == (ssize_t)length;
    int fault = errno;
    if (file >= 0)
        good = close(file) == 0 && good;
    *out = good ? strdup(path) : NULL;
    if (*out)
        return BRUME_OK;
    if (file >= 0)
        unlink(path);
    return brume_fail(error, BRUME_EDISK, strerror(fault),
                      "cannot write the policy into the working folder of the server");
}

/* "policy" is a text here, and the name of a file for the command. */
static brume_status place_policy(const brume_http_route *route, json_t *object, char **file,
                                 brume_error *error)
{
    const json_t *text = json_object_get(object, "policy");
    if (!text || !route->command || strcmp(route->command, "register") != 0)
        return BRUME_OK;
    if (!json_is_string(text))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'policy' must be a text");
    BRUME_TRY(write_policy(json_string_value(text), json_string_length(text), file, error));
    if (json_object_set_new(object, "policy", json_string(*file)) != 0)
        return brume_no_memory(error, "the request");
    return BRUME_OK;
}

/* ---- the call ---- */

static char *command_of(const brume_http_route *route, const char *rest)
{
    char *command = strdup(route->command ? route->command : rest);
    for (char *c = route->command ? NULL : command; c && *c; c++)
        if (*c == '/')
            *c = ' ';
    return command;
}

brume_status brume_http_read_call(const brume_http_route *route, const char *rest, const char *body,
                                  size_t length, brume_http_call *out, brume_error *error)
{
    json_t *object = NULL;
    brume_http_call call = {0};
    BRUME_TRY(parse(body, length, &object, error));
    brume_status status = refuse_ledger(object, error);
    if (status == BRUME_OK)
        status = refuse_script(route, object, error);
    if (status == BRUME_OK)
        status = set_operand(object, route->operand, rest, error);
    if (status == BRUME_OK)
        status = place_policy(route, object, &call.policy_file, error);
    if (status == BRUME_OK) {
        call.command = command_of(route, rest);
        call.options = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
        if (!call.command || !call.options)
            status = brume_no_memory(error, "the request");
    }
    json_decref(object);
    if (status != BRUME_OK)
        brume_http_call_clear(&call);
    else
        *out = call;
    return status;
}

void brume_http_call_clear(brume_http_call *call)
{
    if (call->policy_file)
        unlink(call->policy_file);
    free(call->policy_file);
    free(call->command);
    free(call->options);
    *call = (brume_http_call){0};
}
