/* The options of brume serve become those of the server. */
#include "cli/serve/serve.h"

#include <stdlib.h>
#include <unistd.h>

#include <jansson.h>

#include "serve/serve.h"

static const char *text_of(const json_t *options, const char *name)
{
    return json_string_value(json_object_get(options, name));
}

static bool is_given(const json_t *options, const char *flag)
{
    return json_is_true(json_object_get(options, flag));
}

/* Numbers are texts, as typed. */
static double number_of(const json_t *options, const char *name, double otherwise)
{
    const char *text = text_of(options, name);
    return text ? strtod(text, NULL) : otherwise;
}

brume_status brume_serve_run(const char *text, brume_error *error)
{
    json_t *options = json_loads(text, 0, NULL);
    const brume_serve_options serve = {
        .ledger = text_of(options, "ledger"),
        .listen = text_of(options, "listen"),
        .pg = text_of(options, "pg"),
        .tls_cert = text_of(options, "tls-cert"),
        .tls_key = text_of(options, "tls-key"),
        .insecure = is_given(options, "insecure"),
        .check = is_given(options, "check"),
        .workers = (size_t)number_of(options, "workers", 4),
        .queue = (size_t)number_of(options, "queue", 256),
        .share = (size_t)number_of(options, "share", 0),
        .memory = (uint64_t)number_of(options, "memory", 1024) << 20,
        .deadline = number_of(options, "deadline", 60),
        .quantum = number_of(options, "quantum", 0),
        .rate = number_of(options, "rate", 50),
        .connections = (size_t)number_of(options, "connections", 100),
        .requests = text_of(options, "requests"),
        .patience = number_of(options, "patience", 60),
        .log = is_given(options, "quiet") || is_given(options, "check") ? NULL : stderr,
        .greeting = stdout,
    };
    brume_status status = brume_serve(&serve, error);
    json_decref(options);
    /* Threads that were given up may still run, and others end just now. Exit handlers of libraries
     * would free what these use (OpenSSL its locks), so the process ends without them. */
    if (status == BRUME_OK && !serve.check)
        _exit(EXIT_SUCCESS);
    return status;
}
