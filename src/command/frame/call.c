/* From the words of a command line to a checked call.
 *
 * Options are `--name value`, `--name=value` or `--flag`, anywhere among the operands; `--` ends
 * them. A value may begin with one dash (a negative number), not with two. Whatever is unknown,
 * missing, given twice, of the wrong type or out of range is an error that names it. */
#include "command/frame/call.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/read_number.h"
#include "base/text.h"
#include "command/command.h"

struct brume_typed {
    const brume_option *option;
    const char *text;
    double real;
};

typedef struct brume_call_kept {
    void (*close)(void *);
    void *what;
} brume_call_kept;

const brume_option brume_common_options[] = {
    BRUME_FLAG("json", "one JSON object on standard output instead of text"),
    BRUME_FLAG("help", "what the command does, its options and examples", .letter = 'h'),
};
const size_t brume_common_option_count = sizeof brume_common_options / sizeof *brume_common_options;

bool brume_words_ask_json(int count, char **words)
{
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], "--json") == 0)
            return true;
    return false;
}

bool brume_is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* --- names ------------------------------------------------------------------------------------ */

static brume_status unknown_name(const char *kind, const char *dashes, const char *name,
                                 const char *const *names, size_t count, const char *see,
                                 brume_error *error)
{
    char hint[200];
    const char *nearest = brume_text_nearest(name, names, count);
    if (nearest)
        snprintf(hint, sizeof hint, "did you mean '%s%s'?", dashes, nearest);
    else
        snprintf(hint, sizeof hint, "see '%s'", see);
    return brume_fail(error, BRUME_EUNKNOWN, hint, "unknown %s '%s%.100s'", kind, dashes, name);
}

brume_status brume_find_command(int count, char **words, const brume_command **command, int *used,
                                brume_error *error)
{
    size_t total;
    const brume_command *const *all = brume_commands(&total);
    char two[100] = "";
    if (count > 1)
        snprintf(two, sizeof two, "%.40s %.40s", words[0], words[1]);
    const brume_command *found = brume_command_by_name(two);
    int length = found ? 2 : 1;
    if (!found)
        found = brume_command_by_name(words[0]);
    if (found) {
        *command = found;
        *used = length;
        return BRUME_OK;
    }
    if (words[0][0] == '-')
        return brume_fail(error, BRUME_EUNKNOWN, "see 'brume help'",
                          "unknown option '%.100s' before a command", words[0]);
    const char *names[100];
    size_t named = 0;
    char family[200] = ""; /* "ledger" alone: the first word of commands of two */
    for (size_t i = 0; i < total && named < sizeof names / sizeof *names; i++) {
        names[named++] = all[i]->name;
        size_t used_room = strlen(family);
        if (brume_command_is_of(all[i], words[0]))
            snprintf(family + used_room, sizeof family - used_room, "%s'%s'",
                     *family ? ", " : "one of: ", all[i]->name);
    }
    if (*family && count == 1)
        return brume_fail(error, BRUME_EUNKNOWN, family, "'%.100s' is the first of two words",
                          words[0]);
    return unknown_name("command", "", *family ? two : words[0], names, named, "brume help", error);
}

const brume_option *brume_find_option(const brume_command *command, const char *name, size_t length)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (strlen(command->options[i].name) == length &&
            strncmp(command->options[i].name, name, length) == 0)
            return &command->options[i];
    for (size_t i = 0; i < brume_common_option_count; i++)
        if (strlen(brume_common_options[i].name) == length &&
            strncmp(brume_common_options[i].name, name, length) == 0)
            return &brume_common_options[i];
    return NULL;
}

static brume_status unknown_option(const brume_command *command, const char *name, size_t length,
                                   brume_error *error)
{
    char typed[64];
    snprintf(typed, sizeof typed, "%.*s", length < 60 ? (int)length : 60, name);
    const char *names[64];
    size_t count = 0;
    for (size_t i = 0; i < command->option_count && count < 60; i++)
        names[count++] = command->options[i].name;
    for (size_t i = 0; i < brume_common_option_count; i++)
        names[count++] = brume_common_options[i].name;
    char see[100];
    snprintf(see, sizeof see, "brume help %s", command->name);
    return unknown_name("option", "--", typed, names, count, see, error);
}

/* --- numbers ---------------------------------------------------------------------------------- */

static bool has_range(const brume_option *option)
{
    return option->least != 0 || option->most != 0;
}

static brume_status check_range(const brume_option *option, const char *text, double value,
                                brume_error *error)
{
    if (!has_range(option))
        return BRUME_OK;
    bool low = value < option->least || (option->least_open && value == option->least);
    bool high = value > option->most || (option->most_open && value == option->most);
    if (!low && !high)
        return BRUME_OK;
    const char *kind = option->type == BRUME_OPTION_COUNT ? "a whole number" : "a number";
    if (isinf(option->most))
        return brume_fail(error, BRUME_EARGUMENT, option->help,
                          "'--%s' is '%.100s', must be %s %s %s", option->name, text, kind,
                          option->least_open ? "above" : "of at least",
                          brume_shortest(option->least).text);
    return brume_fail(error, BRUME_EARGUMENT, option->help,
                      "'--%s' is '%.100s', must be %s in %c%s, %s%c", option->name, text, kind,
                      option->least_open ? '(' : '[', brume_shortest(option->least).text,
                      brume_shortest(option->most).text, option->most_open ? ')' : ']');
}

/* --- values ----------------------------------------------------------------------------------- */

static brume_status check_choice(const char *kind, const char *name, const char *text,
                                 const char *const *choices, brume_error *error)
{
    size_t count = 0;
    char list[200] = "";
    for (; choices[count]; count++) {
        if (strcmp(choices[count], text) == 0)
            return BRUME_OK;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", count ? ", " : "", choices[count]);
    }
    char hint[256];
    const char *nearest = brume_text_nearest(text, choices, count);
    snprintf(hint, sizeof hint, nearest ? "did you mean '%s'?" : "one of: %s",
             nearest ? nearest : list);
    return brume_fail(error, BRUME_EARGUMENT, hint, "%s '%s' has no choice '%.100s'", kind, name,
                      text);
}

static brume_status check_value(brume_typed *value, brume_error *error)
{
    const brume_option *option = value->option;
    if (option->type == BRUME_OPTION_FLAG || !value->text)
        return BRUME_OK;
    char what[100];
    snprintf(what, sizeof what, "--%s", option->name);
    if (option->type == BRUME_OPTION_REAL) {
        BRUME_TRY(brume_read_real(value->text, what, &value->real, error));
        return check_range(option, value->text, value->real, error);
    }
    if (option->type == BRUME_OPTION_COUNT) {
        uint64_t count = 0;
        BRUME_TRY(brume_read_count(value->text, what, &count, error));
        value->real = (double)count;
        return check_range(option, value->text, value->real, error);
    }
    if (option->type == BRUME_OPTION_CHOICE)
        return check_choice("option", what, value->text, option->choices, error);
    if (option->type == BRUME_OPTION_FILE && value->text[0] == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--%s' is empty, must be a path",
                          option->name);
    const char *end = strrchr(value->text, '.');
    if (strcmp(option->name, "plot") == 0 && end && strcasestr(".png.jpg.jpeg.pdf.gif.webp", end))
        return brume_fail(error, BRUME_EARGUMENT, "write FILE.svg: browsers show and print it",
                          "'--plot' draws SVG, which '%.100s' would not be", value->text);
    return BRUME_OK;
}

static brume_status call_add(brume_call *call, const brume_option *option, const char *text,
                             brume_error *error)
{
    if (call->value_count == call->value_room) {
        size_t room = 2 * call->value_room + 8;
        brume_typed *grown = realloc(call->values, room * sizeof *grown);
        if (!grown)
            return brume_no_memory(error, NULL);
        call->values = grown;
        call->value_room = room;
    }
    brume_typed *value = &call->values[call->value_count++];
    *value = (brume_typed){.option = option, .text = text};
    return check_value(value, error);
}

/* -f: the option with that letter. */
static brume_status find_letter(const brume_command *command, const char *typed,
                                const brume_option **option, brume_error *error)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (typed[1] == command->options[i].letter && !typed[2]) {
            *option = &command->options[i];
            return BRUME_OK;
        }
    char hint[100] = "options have two dashes and a whole name";
    if (brume_find_option(command, typed + 1, strcspn(typed + 1, "=")))
        snprintf(hint, sizeof hint, "did you mean '-%.60s'?", typed);
    return brume_fail(error, BRUME_EUNKNOWN, hint, "unknown option '%.100s'", typed);
}

/* One option at words[*at]; moves *at past its value. */
static brume_status take_option(brume_call *call, int count, char **words, int *at,
                                brume_error *error)
{
    bool letter = words[*at][1] != '-';
    const char *name = words[*at] + 2;
    const char *equals = letter ? NULL : strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const brume_option *option = letter ? NULL : brume_find_option(call->command, name, length);
    if (letter)
        BRUME_TRY(find_letter(call->command, words[*at], &option, error));
    if (!option)
        return unknown_option(call->command, name, length, error);
    const char *text = equals ? equals + 1 : NULL;
    if (!option->repeated && brume_call_has(call, option->name))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "option '--%s' is given twice",
                          option->name);
    if (option->type == BRUME_OPTION_FLAG && equals)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "option '--%s' takes no value",
                          option->name);
    if (option->type != BRUME_OPTION_FLAG && !equals) {
        if (*at + 1 >= count || strncmp(words[*at + 1], "--", 2) == 0)
            return brume_fail(error, BRUME_EARGUMENT, option->help,
                              "option '--%s' needs a value: --%s %s", option->name, option->name,
                              option->argument);
        text = words[++*at];
    }
    return call_add(call, option, text, error);
}

static brume_status check_operands(const brume_call *call, brume_error *error)
{
    const brume_command *command = call->command;
    char see[100];
    snprintf(see, sizeof see, "see 'brume help %s'", command->name);
    for (size_t i = call->operand_count; i < command->operand_count; i++)
        if (!command->operands[i].optional)
            return brume_fail(error, BRUME_EARGUMENT, see, "%s is missing: %s",
                              command->operands[i].name, command->operands[i].help);
    bool endless = command->operand_count > 0 &&
                   command->operands[command->operand_count - 1].repeated;
    if (call->operand_count > command->operand_count && !endless)
        return brume_fail(error, BRUME_EARGUMENT, see, "unexpected argument '%.100s'",
                          call->operands[command->operand_count]);
    for (size_t i = 0; i < call->operand_count && i < command->operand_count; i++)
        if (command->operands[i].type == BRUME_OPERAND_CHOICE && call->operands[i])
            BRUME_TRY(check_choice("argument", command->operands[i].name, call->operands[i],
                                   command->operands[i].choices, error));
    return BRUME_OK;
}

static brume_status call_check(const brume_call *call, brume_error *error);

brume_status brume_call_parse(const brume_command *command, int count, char **words,
                              brume_call *call, bool *help, brume_error *error)
{
    call->command = command;
    *help = false;
    call->operands = calloc((size_t)count + 1, sizeof *call->operands);
    if (!call->operands)
        return brume_no_memory(error, NULL);
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++)
        *help |= brume_is_help(words[i]);
    if (*help)
        return BRUME_OK;
    bool options = true;
    for (int i = 0; i < count; i++) {
        if (options && strcmp(words[i], "--") == 0)
            options = false;
        else if (options && (strncmp(words[i], "--", 2) == 0 ||
                             (words[i][0] == '-' && isalpha((unsigned char)words[i][1]))))
            BRUME_TRY(take_option(call, count, words, &i, error));
        else
            call->operands[call->operand_count++] = words[i];
    }
    return call_check(call, error);
}

static brume_status call_check(const brume_call *call, brume_error *error)
{
    const brume_command *command = call->command;
    BRUME_TRY(check_operands(call, error));
    for (size_t i = 0; i < command->option_count; i++)
        if (command->options[i].required && !brume_call_has(call, command->options[i].name))
            return brume_fail(error, BRUME_EARGUMENT, command->options[i].help,
                              "option '--%s %s' is missing", command->options[i].name,
                              command->options[i].argument);
    return BRUME_OK;
}

void brume_call_close(brume_call *call)
{
    while (call->kept_count > 0) {
        brume_call_kept last = call->kept[--call->kept_count];
        last.close(last.what);
    }
    free(call->kept);
    free((void *)call->operands);
    free(call->values);
    call->kept = NULL;
    call->operands = NULL;
    call->values = NULL;
    call->operand_count = call->value_count = call->value_room = 0;
}

brume_status brume_call_keep(brume_call *call, void (*close)(void *), void *what,
                             brume_error *error)
{
    brume_call_kept *grown = what ? realloc(call->kept, (call->kept_count + 1) * sizeof *grown)
                                  : NULL;
    if (!grown) {
        if (what)
            close(what);
        return brume_no_memory(error, NULL);
    }
    call->kept = grown;
    grown[call->kept_count++] = (brume_call_kept){close, what};
    return BRUME_OK;
}

static void close_json(void *json)
{
    json_decref(json);
}

brume_status brume_call_keep_json(brume_call *call, json_t *json, brume_error *error)
{
    return brume_call_keep(call, close_json, json, error);
}

/* --- reading ---------------------------------------------------------------------------------- */

static const brume_typed *value_at(const brume_call *call, const char *option, size_t index)
{
    for (size_t i = 0; i < call->value_count; i++)
        if (strcmp(call->values[i].option->name, option) == 0 && index-- == 0)
            return &call->values[i];
    return NULL;
}

size_t brume_call_times(const brume_call *call, const char *option)
{
    size_t times = 0;
    while (value_at(call, option, times))
        times++;
    return times;
}

bool brume_call_has(const brume_call *call, const char *option)
{
    return value_at(call, option, 0) != NULL;
}

const char *brume_call_text_at(const brume_call *call, const char *option, size_t index)
{
    const brume_typed *value = value_at(call, option, index);
    return value ? value->text : NULL;
}

const char *brume_call_text(const brume_call *call, const char *option)
{
    return brume_call_text_at(call, option, 0);
}

static bool is_among(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

const char *brume_call_other_than(const brume_call *call, const char *const *names)
{
    for (size_t i = 0; i < call->command->option_count; i++) {
        const char *name = call->command->options[i].name;
        if (brume_call_has(call, name) && !is_among(name, names))
            return name;
    }
    return NULL;
}

const char *brume_call_any_of(const brume_call *call, const char *const *names)
{
    while (*names && !brume_call_has(call, *names))
        names++;
    return *names;
}

static void write_options(const brume_call *call, FILE *out, const char *const *left_out,
                          bool quoted)
{
    for (size_t i = 0; i < call->command->option_count; i++) {
        const char *name = call->command->options[i].name;
        for (size_t n = 0; !is_among(name, left_out) && n < brume_call_times(call, name); n++) {
            const char *text = brume_call_text_at(call, name, n);
            fprintf(out,
                    quoted          ? " --%s '%s'"
                    : text && *text ? " --%s %s"
                                    : " --%s%s",
                    name, text ? text : "");
        }
    }
}

brume_status brume_call_describe(brume_call *call, const char *first, const char *const *left_out,
                                 bool quoted, const char **what, brume_error *error)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return brume_no_memory(error, NULL);
    fputs(first, out);
    write_options(call, out, left_out, quoted);
    bool failed = fclose(out) != 0;
    BRUME_TRY(brume_call_keep(call, free, text, error));
    *what = text;
    return failed ? brume_no_memory(error, NULL) : BRUME_OK;
}

brume_status brume_call_texts(brume_call *call, const char *option, const char *const **texts,
                              size_t *count, brume_error *error)
{
    *count = brume_call_times(call, option);
    const char **list = calloc(*count + 1, sizeof *list);
    BRUME_TRY(brume_call_keep(call, free, list, error));
    for (size_t i = 0; i < *count; i++)
        list[i] = brume_call_text_at(call, option, i);
    *texts = list;
    return BRUME_OK;
}

double brume_call_real(const brume_call *call, const char *option, double otherwise)
{
    const brume_typed *value = value_at(call, option, 0);
    return value ? value->real : otherwise;
}

uint64_t brume_call_count(const brume_call *call, const char *option, uint64_t otherwise)
{
    const brume_typed *value = value_at(call, option, 0);
    return value ? (uint64_t)value->real : otherwise;
}

const char *brume_call_operand(const brume_call *call, size_t index)
{
    return index < call->operand_count ? call->operands[index] : NULL;
}

brume_status brume_call_one_of(const brume_call *call, const char *first, const char *second,
                               brume_error *error)
{
    bool one = brume_call_has(call, first), two = brume_call_has(call, second);
    if (one && two)
        return brume_fail(error, BRUME_EARGUMENT, "leave one of them out",
                          "'--%s' and '--%s' exclude each other", first, second);
    if (!one && !two)
        return brume_fail(error, BRUME_EARGUMENT, "see the examples of '--help'",
                          "give '--%s' or '--%s'", first, second);
    return BRUME_OK;
}

/* ---- from an object of options to a checked call, and back ---- */

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

/* {"epsilon": 4, "delta": 1e-6} is "epsilon=4,delta=1e-6". */
static bool write_members(FILE *out, const json_t *object)
{
    const char *key;
    json_t *value;
    bool good = true, first = true;
    json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
        fputs(first ? "" : ",", out);
        good = good && write_member(out, key, value);
        first = false;
    }
    return good;
}

/* The text of a value, of a member of one, or (`joined`) of all members of an object; `name` is
 * quoted in errors. */
static brume_status to_text(brume_call *call, const char *name, const char *key,
                            const json_t *value, bool joined, const char **text, brume_error *error)
{
    char *made = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&made, &length);
    if (!out)
        return brume_no_memory(error, NULL);
    bool good = joined ? write_members(out, value) : write_member(out, key, value);
    bool failed = fclose(out) != 0;
    if (!good || failed) {
        free(made);
        return failed ? brume_no_memory(error, NULL)
                      : wrong_type(name, value,
                                   joined ? "an object of texts and numbers" : "a text or a number",
                                   error);
    }
    BRUME_TRY(brume_call_keep(call, free, made, error));
    *text = made;
    return BRUME_OK;
}

/* --- options ---------------------------------------------------------------------------------- */

static brume_status add_flag(brume_call *call, const brume_option *option, const char *name,
                             const json_t *value, brume_error *error)
{
    if (!json_is_boolean(value))
        return wrong_type(name, value, "true or false", error);
    return json_is_true(value) ? call_add(call, option, NULL, error) : BRUME_OK;
}

static brume_status add_one(brume_call *call, const brume_option *option, const char *name,
                            const char *key, const json_t *value, brume_error *error)
{
    const char *text = NULL;
    bool joined = !key && !option->repeated && option->type == BRUME_OPTION_TEXT &&
                  json_is_object(value);
    BRUME_TRY(to_text(call, name, key, value, joined, &text, error));
    return call_add(call, option, text, error);
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
        BRUME_TRY(to_text(call, operand->name, NULL, value, false, &call->operands[at], error));
        call->operand_count = at + 1 > call->operand_count ? at + 1 : call->operand_count;
        return BRUME_OK;
    }
    size_t count = json_array_size(value);
    const char **grown = realloc((void *)call->operands, (at + count + 1) * sizeof *grown);
    if (!grown)
        return brume_no_memory(error, NULL);
    call->operands = grown;
    for (size_t i = 0; i < count; i++)
        BRUME_TRY(to_text(call, operand->name, NULL, json_array_get(value, i), false,
                          &grown[at + i], error));
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
    char *copy = strdup(word);
    BRUME_TRY(brume_call_keep(call, free, copy, error));
    return call_add(call, option, copy, error);
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
        return unknown_option(call->command, name, length, error);
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
    return call_check(call, error);
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
