/* Commands that a server runs. Promises: remote.h. */
#include "cli/client/remote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/client/http.h"
#include "cli/client/stop.h"
#include "base/error.h"

static brume_status out_of_memory(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
}

/* ---- the words before the command ---- */

/* The value of `name` at word i, as the next word or behind "="; NULL: another word. */
static const char *value_of(int count, char **words, int i, const char *name, int *used)
{
    size_t length = strlen(name);
    if (!words[i] || strncmp(words[i], name, length) != 0)
        return NULL;
    if (words[i][length] == '=') {
        *used = 1;
        return words[i] + length + 1;
    }
    if (words[i][length])
        return NULL;
    *used = 2;
    return i + 1 < count ? words[i + 1] : "";
}

brume_status brume_remote_read(int count, char **words, brume_remote *out, int *used,
                               brume_error *error)
{
    int i = 0, taken = 0;
    *out = (brume_remote){0};
    for (; i < count; i += taken) {
        const char *url = value_of(count, words, i, "--server", &taken);
        const char *ca = url ? NULL : value_of(count, words, i, "--server-ca", &taken);
        if (!url && !ca)
            break;
        if (!*(url ? url : ca))
            return brume_fail(error, BRUME_EARGUMENT, "for example --server https://HOST:8443",
                              "'%s' has no value", url ? "--server" : "--server-ca");
        if (url)
            out->url = url;
        else
            out->ca = ca;
    }
    if (out->ca && !out->url)
        return brume_fail(error, BRUME_EARGUMENT, "name it with --server URL",
                          "'--server-ca' is of no use without a server");
    *used = i;
    return BRUME_OK;
}

/* ---- where a command runs ---- */

/* Has the command an option of this name? As its help says. */
static brume_status has_option(const char *command, const char *name, bool *has, brume_error *error)
{
    brume_session *session = NULL;
    char *text = NULL, *second = NULL, *words = strdup(command);
    if (!words)
        return out_of_memory(error);
    if ((second = strchr(words, ' ')))
        *second++ = 0;
    json_t *list = second ? json_pack("[s,s]", words, second) : json_pack("[s]", words);
    json_t *object = json_pack("{s:o}", "command", list);
    char *options = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    free(words);
    brume_status status = options ? brume_session_open(NULL, NULL, &session, error)
                                  : out_of_memory(error);
    if (status == BRUME_OK)
        status = brume_session_call(session, "help", options, &text, error);
    free(options);
    brume_session_close(session);
    if (status != BRUME_OK)
        return status;
    json_t *help = json_loads(text, 0, NULL), *option = NULL;
    size_t i = 0;
    *has = false;
    json_array_foreach (
        json_object_get(json_array_get(json_object_get(help, "commands"), 0), "options"), i, option)
        *has = *has || strcmp(json_string_value(json_object_get(option, "name")), name) == 0;
    json_decref(help);
    brume_free(text);
    return BRUME_OK;
}

brume_status brume_remote_takes(const char *command, bool *takes, brume_error *error)
{
    if (strcmp(command, "serve") == 0)
        return brume_fail(error, BRUME_EUNSUPPORTED, "run it where the ledger is",
                          "'serve' does not run on a server");
    if (strcmp(command, "shell") == 0) { /* it runs here, and what it starts runs there */
        *takes = false;
        return BRUME_OK;
    }
    return has_option(command, "ledger", takes, error);
}

/* ---- files of this machine ---- */

/* The whole of a file, or of standard input for "-"; NULL: errno says why. */
static char *read_all(const char *path)
{
    enum { MOST = 1 << 20 };
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    char *text = file ? malloc(MOST + 1) : NULL;
    size_t length = text ? fread(text, 1, MOST, file) : 0;
    bool good = text && !ferror(file) && feof(file);
    if (text && !good)
        errno = ferror(file) ? EIO : EFBIG;
    if (file && file != stdin)
        fclose(file);
    if (!good) {
        free(text);
        return NULL;
    }
    text[length] = 0;
    return text;
}

/* Put the text of the file that `from` names, if it is given, under `to`. */
static brume_status send_text(json_t *options, const char *from, const char *to, brume_error *error)
{
    const char *path = json_string_value(json_object_get(options, from));
    if (!path)
        return BRUME_OK;
    char *text = read_all(path);
    if (!text)
        return brume_fail(error, BRUME_ESOURCE, NULL, "cannot read '%.200s': %s", path,
                          strerror(errno));
    json_t *value = json_string(text);
    free(text);
    if (!value)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'%.200s' is not UTF-8", path);
    json_object_del(options, from);
    return json_object_set_new(options, to, value) == 0 ? BRUME_OK : out_of_memory(error);
}

static brume_status refuse(const json_t *options, const char *name, brume_error *error)
{
    if (!json_object_get(options, name))
        return BRUME_OK;
    return brume_fail(error, BRUME_EUNSUPPORTED, "leave it out",
                      "'--%s' is not to be had from a server", name);
}

static brume_status place_files(const char *command, json_t *options, const char **path,
                                brume_error *error)
{
    static const char *const refused[] = {"ledger", "plot", "against"};
    const char *sql = json_string_value(json_object_get(options, "sql"));
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < sizeof refused / sizeof *refused; i++)
        status = refuse(options, refused[i], error);
    bool is_query = strcmp(command, "query") == 0;
    if (status == BRUME_OK && is_query)
        status = send_text(options, "file", "sql", error);
    if (status == BRUME_OK && is_query && sql && strcmp(sql, "-") == 0)
        status = send_text(options, "sql", "sql", error);
    if (status == BRUME_OK && strcmp(command, "register") == 0 &&
        json_object_get(options, "policy")) {
        status = send_text(options, "policy", "policy", error);
        *path = "/v1/datasets"; /* which takes the text of a policy */
    } else if (status == BRUME_OK && strcmp(command, "amend") == 0) {
        status = refuse(options, "policy", error);
    }
    return status;
}

/* ---- the call ---- */

/* "/v1/call/ledger/verify" */
static char *path_of(const char *command)
{
    char *path = NULL;
    if (asprintf(&path, "/v1/call/%s", command) < 0)
        return NULL;
    for (char *c = path; *c; c++)
        if (*c == ' ')
            *c = '/';
    return path;
}

static brume_status status_of(const char *word)
{
    for (int i = BRUME_EARGUMENT; word && i <= BRUME_EINTERNAL; i++)
        if (strcmp(brume_status_word((brume_status)i), word) == 0)
            return (brume_status)i;
    return BRUME_ESOURCE;
}

/* What the server says is wrong; *before becomes what a script had answered, if anything. */
static brume_status told(const brume_http_answer *answer, char **before, brume_error *error)
{
    json_t *body = json_loads(answer->body, 0, NULL);
    const json_t *fault = json_object_get(body, "error");
    const char *message = json_string_value(json_object_get(fault, "message"));
    const char *hint = json_string_value(json_object_get(fault, "hint"));
    const char *answers = json_string_value(json_object_get(body, "answers"));
    brume_status status = status_of(json_string_value(json_object_get(fault, "code")));
    if (message)
        status = brume_fail(error, status, hint, "%s", message);
    else
        status = brume_fail(error, BRUME_ESOURCE, "is it a brume server?",
                            "the server answers with HTTP %d and no reason", answer->code);
    *before = answers ? strdup(answers) : NULL;
    json_decref(body);
    return status;
}

static brume_http_place place_of(const brume_remote *remote, const char *ticket)
{
    return (brume_http_place){remote->url, remote->ca, getenv("BRUME_TOKEN"), ticket};
}

brume_status brume_remote_post(const brume_remote *remote, const char *path, const char *body,
                               const char *ticket, char **answer, size_t *length,
                               brume_error *error)
{
    brume_http_answer got = {0};
    const brume_http_place place = place_of(remote, ticket);
    brume_status status = brume_http_post(&place, path, body, &got, error);
    if (status != BRUME_OK)
        return status;
    if (got.code != 200) {
        status = told(&got, answer, error);
        *length = *answer ? strlen(*answer) : 0;
        free(got.body);
        return status;
    }
    *answer = got.body;
    *length = got.length;
    return BRUME_OK;
}

static brume_status exchange(const brume_remote *remote, const char *path, const json_t *options,
                             const char *ticket, char **answer, size_t *length, brume_error *error)
{
    char *body = json_dumps(options, JSON_COMPACT);
    if (!body)
        return out_of_memory(error);
    brume_status status = brume_remote_post(remote, path, body, ticket, answer, length, error);
    free(body);
    return status;
}

brume_status brume_remote_run(const brume_remote *remote, const char *command, const char *options,
                              bool json, char **answer, size_t *length, brume_error *error)
{
    char ticket[BRUME_TICKET];
    const brume_http_place place = place_of(remote, NULL);
    json_t *object = json_loads(options, 0, NULL);
    char *path = path_of(command);
    const char *other = NULL;
    brume_status status = object && path ? place_files(command, object, &other, error)
                                         : out_of_memory(error);
    if (status == BRUME_OK) /* until here nothing was sent, and a signal ends the process */
        status = brume_stop_watch(&place, command, json, ticket, error);
    if (status == BRUME_OK)
        status = exchange(remote, other ? other : path, object, ticket, answer, length, error);
    free(path);
    json_decref(object);
    return status;
}
