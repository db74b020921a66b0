/* From a request to a call: which command runs, with which options. */
#ifndef BRUME_SERVE_HTTP_BODY_H
#define BRUME_SERVE_HTTP_BODY_H

#include <stddef.h>

#include <brume/status.h>

#include "serve/http/route.h"

/* A call; brume_http_call_clear frees what it has. */
typedef struct brume_http_call {
    char *command, *options;
    char *policy_file; /* a file with the policy text, removed by clear; NULL: there is none */
} brume_http_call;

/* Read a request: its route, what stands for the braces in it (already unescaped) and its body, of
 * `length` bytes. Rules:
 *  1. An empty body is an empty object; any other must be one JSON object, of UTF-8, without a name
 *     twice, nested at most 32 deep.
 *  2. "ledger" is refused: the server has one.
 *  3. A name in the path that is also in the body is refused.
 *  4. "policy" of POST /v1/datasets is the text of a policy file; sources in it are taken from the
 *     working folder of the server.
 *  5. In /v1/call/{command} words of the command are parted by a space or '/'.
 *  6. Several statements in "sql" of POST /v1/query are refused, unless "json" or "format" says how
 *     several answers are to be written.
 * Errors: ESYNTAX, EARGUMENT, EMEMORY, EDISK. On an error `out` is untouched. */
BRUME_MUST_USE brume_status brume_http_read_call(const brume_http_route *route, const char *rest,
                                                 const char *body, size_t length,
                                                 brume_http_call *out, brume_error *error);
void brume_http_call_clear(brume_http_call *call);

#endif
