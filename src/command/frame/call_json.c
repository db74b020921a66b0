/* From an object of options to a checked call, and back. Promises: call_json.h. */
#include "command/frame/call_json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "command/frame/call.h"

enum { NAME = 64 };

brume_status brume_options_parse(const char *text, json_t **out, brume_error *error)
{
    json_error_t fault;
    json_t *made = json_loads(text && *text ? text : "{}", JSON_REJECT_DUPLICATES, &fault);
    if (!made && json_error_code(&fault) == json_error_out_of_memory)
        return brume_no_memory(error, "the options");
    if (!made)
        return brume_fail(error, BRUME_ESYNTAX, "options are one JSON object: {\"epsilon\": 0.1}",
                          "the options are no JSON: %.200s at byte %d", fault.text, fault.position);
    if (!json_is_object(made)) {
        json_decref(made);
        return brume_fail(error, BRUME_EARGUMENT, "options are one JSON object: {\"epsilon\": 0.1}",
                          "the options are not an object");
    }
    *out = made;
    return BRUME_OK;
}

static const char *type_word(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a text";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        break;
    }
    return "null";
}

static brume_status wrong_type(const char *name, const json_t *value, const char *must,
                               brume_error *error)
{
    return brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' is %s, must be %s", name,
                      type_word(value), must);
}

/* --- values as text --------------------------------------------------------------------------- */

/* Let the call own a text; NULL, also where it is NULL: memory is out. */
static const char *keep(brume_call *call, char *text)
{
    char **grown = text ? realloc((void *)call->owned, (call->owned_count + 1) * sizeof *grown)
                        : NULL;
    if (!grown) {
        free(text);
        return NULL;
    }
    call->owned = grown;
    return grown[call->owned_count++] = text;
}

/* A scalar as it would be typed; false: it is none. */
static bool write_scalar(FILE *out, const json_t *value)
{
    if (json_is_string(value))
        fputs(json_string_value(value), out);
    else if (json_is_integer(value))
        fprintf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        fputs(brume_shortest(json_real_value(value)).text, out);
    else
        return false;
    return true;
}

/* A scalar, or a list of them with commas between. */
static bool write_list(FILE *out, const json_t *value)
{
    if (!json_is_array(value))
        return write_scalar(out, value);
    for (size_t i = 0; i < json_array_size(value); i++) {
        if (i)
            fputc(',', out);
        if (!write_scalar(out, json_array_get(value, i)))
            return false;
    }
    return json_array_size(value) > 0;
}

/* "key=value"; without a key the value alone. */
static bool write_member(FILE *out, const char *key, const json_t *value)
{
    if (!key)
        return write_scalar(out, value);
    fprintf(out, "%s=", key);
    return write_list(out, value);
}

/* The text of a value, or of a member of one; `name` is quoted in errors. */
static brume_status to_text(brume_call *call, const char *name, const char *key,
                            const json_t *value, const char **text, brume_error *error)
{
    char *made = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&made, &length);
    if (!out)
        return brume_no_memory(error, NULL);
    bool good = write_member(out, key, value);
    bool failed = fclose(out) != 0;
    if (!good) {
        free(made);
        return wrong_type(name, value, "a text or a number", error);
    }
    if (failed)
        free(made);
    *text = failed ? NULL : keep(call, made);
    return *text ? BRUME_OK : brume_no_memory(error, NULL);
}

/* {"epsilon": 4, "delta": 1e-6} is "epsilon=4,delta=1e-6". */
static brume_status join_object(brume_call *call, const char *name, const json_t *object,
                                const char **text, brume_error *error)
{
    char *made = NULL;
    size_t length = 0, count = 0;
    FILE *out = open_memstream(&made, &length);
    if (!out)
        return brume_no_memory(error, NULL);
    const char *key;
    json_t *value;
    bool good = true;
    json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
        if (count++)
            fputc(',', out);
        good = good && write_member(out, key, value);
    }
    bool failed = fclose(out) != 0;
    if (!good) {
        free(made);
        return wrong_type(name, object, "an object of texts and numbers", error);
    }
    if (failed)
        free(made);
    *text = failed ? NULL : keep(call, made);
    return *text ? BRUME_OK : brume_no_memory(error, NULL);
}

/* --- options ---------------------------------------------------------------------------------- */

static brume_status add_flag(brume_call *call, const brume_option *option, const char *name,
                             const json_t *value, brume_error *error)
{
    if (!json_is_boolean(value))
        return wrong_type(name, value, "true or false", error);
    return json_is_true(value) ? brume_call_add(call, option, NULL, error) : BRUME_OK;
}

static brume_status add_one(brume_call *call, const brume_option *option, const char *name,
                            const char *key, const json_t *value, brume_error *error)
{
    const char *text = NULL;
    BRUME_TRY(to_text(call, name, key, value, &text, error));
    return brume_call_add(call, option, text, error);
}

static brume_status add_several(brume_call *call, const brume_option *option, const char *name,
                                const json_t *value, brume_error *error)
{
    for (size_t i = 0; json_is_array(value) && i < json_array_size(value); i++)
        BRUME_TRY(add_one(call, option, name, NULL, json_array_get(value, i), error));
    const char *key;
    json_t *member;
    if (json_is_object(value))
        json_object_foreach ((json_t *)(uintptr_t)value, key, member)
            BRUME_TRY(add_one(call, option, name, key, member, error));
    return BRUME_OK;
}

static brume_status add_option(brume_call *call, const brume_option *option, const json_t *value,
                               brume_error *error)
{
    char name[NAME + 2];
    snprintf(name, sizeof name, "--%s", option->name);
    if (option->type == BRUME_OPTION_FLAG)
        return add_flag(call, option, name, value, error);
    if (option->repeated && (json_is_array(value) || json_is_object(value)))
        return add_several(call, option, name, value, error);
    if (json_is_object(value) && option->type == BRUME_OPTION_TEXT) {
        const char *text = NULL;
        BRUME_TRY(join_object(call, name, value, &text, error));
        return brume_call_add(call, option, text, error);
    }
    return add_one(call, option, name, NULL, value, error);
}

/* --- operands --------------------------------------------------------------------------------- */

/* The operand with that name in lower case; operand_count: there is none. */
static size_t find_operand(const brume_command *command, const char *name)
{
    size_t at = 0;
    while (at < command->operand_count && strcasecmp(command->operands[at].name, name) != 0)
        at++;
    return at;
}

static brume_status add_operand(brume_call *call, size_t at, const json_t *value,
                                brume_error *error)
{
    const brume_operand *operand = &call->command->operands[at];
    if (call->operands[at]) /* names are told apart by their letters, not by their case */
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' is given twice", operand->name);
    if (!operand->repeated || !json_is_array(value)) {
        BRUME_TRY(to_text(call, operand->name, NULL, value, &call->operands[at], error));
        call->operand_count = at + 1 > call->operand_count ? at + 1 : call->operand_count;
        return BRUME_OK;
    }
    size_t count = json_array_size(value);
    const char **grown = realloc((void *)call->operands, (at + count + 1) * sizeof *grown);
    if (!grown)
        return brume_no_memory(error, NULL);
    call->operands = grown;
    for (size_t i = 0; i < count; i++)
        BRUME_TRY(
            to_text(call, operand->name, NULL, json_array_get(value, i), &grown[at + i], error));
    call->operand_count = at + count;
    return BRUME_OK;
}

/* A gap in the operands is one that is missing. */
static void end_at_gap(brume_call *call)
{
    for (size_t i = 0; i < call->operand_count; i++)
        if (!call->operands[i])
            call->operand_count = i;
}

/* --- the object ------------------------------------------------------------------------------- */

/* Both "json" and "format" say which kind of answer is wanted. */
static brume_status read_format(const brume_command *command, const json_t *options,
                                brume_call *call, brume_error *error)
{
    const json_t *json = json_object_get(options, "json"),
                 *format = json_object_get(options, "format");
    const brume_option *option = brume_find_option(command, "format", strlen("format"));
    if (json && !json_is_boolean(json) && !json_is_null(json))
        return wrong_type("--json", json, "true or false", error);
    call->json = !json_is_false(json);
    if (!format || json_is_null(format))
        return BRUME_OK;
    if (!json_is_string(format))
        return wrong_type("--format", format, "a text", error);
    const char *word = json_string_value(format);
    bool is_json = strcmp(word, "json") == 0, is_text = strcmp(word, "text") == 0;
    if (json_is_boolean(json) && json_is_true(json) != is_json)
        return brume_fail(error, BRUME_EARGUMENT, "leave one of them out",
                          "'json' and 'format' contradict each other");
    call->json = is_json;
    if (is_json || is_text)
        return BRUME_OK;
    if (!option)
        return brume_fail(error, BRUME_EARGUMENT, "one of: json, text",
                          "option '--format' has no choice '%.100s'", word);
    word = keep(call, strdup(word));
    return word ? brume_call_add(call, option, word, error) : brume_no_memory(error, NULL);
}

static brume_status add_member(brume_call *call, const char *key, const json_t *value,
                               brume_error *error)
{
    char name[NAME];
    size_t length = 0;
    for (; key[length] && length + 1 < sizeof name; length++)
        name[length] = key[length] == '_' ? '-' : key[length];
    name[length] = 0;
    size_t at = find_operand(call->command, name);
    const brume_option *option = brume_find_option(call->command, name, length);
    if ((at == call->command->operand_count && !option) || strcmp(name, "help") == 0)
        return brume_unknown_option(call->command, name, length, error);
    if (json_is_null(value))
        return BRUME_OK;
    if (at < call->command->operand_count)
        return add_operand(call, at, value, error);
    if (!option->repeated && brume_call_has(call, option->name))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "option '--%s' is given twice",
                          option->name);
    return add_option(call, option, value, error);
}

brume_status brume_call_from_json(const brume_command *command, const json_t *options,
                                  brume_call *call, brume_error *error)
{
    call->command = command;
    call->operands = calloc(command->operand_count + 1, sizeof *call->operands);
    if (!call->operands)
        return brume_no_memory(error, NULL);
    BRUME_TRY(read_format(command, options, call, error));
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)options, key, value)
        if (strcmp(key, "json") != 0 && strcmp(key, "format") != 0)
            BRUME_TRY(add_member(call, key, value, error));
    end_at_gap(call);
    return brume_call_check(call, error);
}

/* --- and back --------------------------------------------------------------------------------- */

static bool set_option(const brume_call *call, const brume_option *option, json_t *out)
{
    if (call->json && strcmp(option->name, "format") == 0)
        return true; /* --json is the stronger one */
    size_t times = brume_call_times(call, option->name);
    if (times == 0)
        return true;
    if (option->type == BRUME_OPTION_FLAG)
        return json_object_set_new(out, option->name, json_true()) == 0;
    if (!option->repeated)
        return json_object_set_new(out, option->name,
                                   json_string(brume_call_text(call, option->name))) == 0;
    json_t *list = json_array();
    bool good = list != NULL;
    for (size_t i = 0; good && i < times; i++)
        good = json_array_append_new(list,
                                     json_string(brume_call_text_at(call, option->name, i))) == 0;
    return json_object_set_new(out, option->name, list) == 0 && good;
}

static bool set_operands(const brume_call *call, json_t *out)
{
    const brume_command *command = call->command;
    for (size_t i = 0; i < command->operand_count && i < call->operand_count; i++) {
        char name[NAME];
        snprintf(name, sizeof name, "%s", command->operands[i].name);
        for (char *at = name; *at; at++)
            *at = (char)tolower((unsigned char)*at);
        json_t *value = json_string(call->operands[i]);
        if (command->operands[i].repeated) {
            value = json_pack("[o]", value);
            for (size_t more = i + 1; value && more < call->operand_count; more++)
                if (json_array_append_new(value, json_string(call->operands[more])) != 0)
                    return false;
        }
        if (json_object_set_new(out, name, value) != 0)
            return false;
    }
    return true;
}

json_t *brume_call_to_json(const brume_call *call)
{
    json_t *out = json_object();
    bool good = out && set_operands(call, out);
    if (good && (call->json || !brume_call_has(call, "format")))
        good = json_object_set_new(out, "json", json_boolean(call->json)) == 0;
    for (size_t i = 0; good && i < call->command->option_count; i++)
        good = set_option(call, &call->command->options[i], out);
    if (good)
        return out;
    json_decref(out);
    return NULL;
}
