/* brume help: the overview, the help of one command, and with --man or --completion the files that
 * packages install. */
#include "command/frame/help.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "command/frame/call.h"
#include "command/frame/output.h"
#include "command/frame/table.h"

enum { USAGE = 1000 };

/* --- pieces ----------------------------------------------------------------------------------- */

static void append(char *out, size_t room, const char *before, const char *text, const char *after)
{
    size_t used = strlen(out);
    snprintf(out + used, room - used, "%s%s%s", before, text, after);
}

void brume_usage(const brume_command *command, char *out, size_t room)
{
    out[0] = 0;
    if (command->usage) {
        snprintf(out, room, "%s", command->usage);
        return;
    }
    for (size_t i = 0; i < command->operand_count; i++) {
        const brume_operand *operand = &command->operands[i];
        append(out, room, *out ? " " : "", operand->optional ? "[" : "", operand->name);
        append(out, room, operand->optional ? "]" : "", operand->repeated ? "..." : "", "");
    }
    for (size_t i = 0; i < command->option_count; i++) {
        const brume_option *option = &command->options[i];
        append(out, room, *out ? " " : "", option->required ? "--" : "[--", option->name);
        append(out, room, option->argument ? " " : "", option->argument ? option->argument : "",
               option->required ? "" : "]");
        append(out, room, option->repeated ? "..." : "", "", "");
    }
}

/* Are the choices short enough to stand on one line of help, beside the options' names? */
static bool fit_a_line(const char *const *choices)
{
    size_t length = 0;
    for (size_t i = 0; choices[i]; i++)
        length += strlen(choices[i]) + 1;
    return length <= 50;
}

/* " (one|other)"; the spaces of `between` are where a long list may be broken. */
static void append_choices(char *out, size_t room, const char *const *choices, const char *between)
{
    for (size_t i = 0; choices[i]; i++)
        append(out, room, i ? between : " (", choices[i], choices[i + 1] ? "" : ")");
}

void brume_operand_help(const brume_operand *operand, char *out, size_t room)
{
    snprintf(out, room, "%s", operand->help);
    if (operand->type == BRUME_OPERAND_CHOICE)
        append_choices(out, room, operand->choices, ", ");
}

void brume_option_help(const brume_option *option, char *out, size_t room)
{
    snprintf(out, room, "%s", option->help);
    if (option->type == BRUME_OPTION_CHOICE)
        append_choices(out, room, option->choices, fit_a_line(option->choices) ? "|" : ", ");
    else if ((option->least != 0 || option->most != 0) && !isinf(option->most)) {
        append(out, room, option->least_open ? " (above " : " (",
               brume_shortest(option->least).text,
               option->most_open    ? ", below "
               : option->least_open ? ", at most "
                                    : " to ");
        append(out, room, brume_shortest(option->most).text, ")", "");
    } else if (option->least != 0 || option->most != 0)
        append(out, room, option->least_open ? " (above " : " (at least ",
               brume_shortest(option->least).text, ")");
}

static void write_heading(const brume_call *call, const char *text)
{
    fprintf(call->out, "\n%s%s%s\n", brume_bold(call), text, brume_plain(call));
}

/* --- JSON --------------------------------------------------------------------------------------
 */

static json_t *command_json(const brume_command *command)
{
    char usage[USAGE];
    brume_usage(command, usage, sizeof usage);
    json_t *options = json_array();
    for (size_t i = 0; i < command->option_count; i++)
        json_array_append_new(
            options, json_pack("{s:s, s:s?, s:s, s:b}", "name", command->options[i].name,
                               "argument", command->options[i].argument, "help",
                               command->options[i].help, "required", command->options[i].required));
    json_t *examples = json_array();
    for (size_t i = 0; command->examples && command->examples[i]; i++)
        json_array_append_new(examples, json_sprintf("brume %s", command->examples[i]));
    return json_pack("{s:s, s:s, s:s, s:o, s:o}", "name", command->name, "summary",
                     command->summary, "usage", usage, "options", options, "examples", examples);
}

/* All commands, one, or those of a family. */
static brume_status write_json(brume_call *call, const brume_command *only, const char *family,
                               brume_error *error)
{
    size_t count;
    const brume_command *const *commands = brume_commands(&count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (only ? only == commands[i] : !family || brume_command_is_of(commands[i], family))
            json_array_append_new(list, command_json(commands[i]));
    return brume_call_write_json(call, json_pack("{s:o}", "commands", list), error);
}

/* --- the two texts ---------------------------------------------------------------------------- */

brume_status brume_write_overview(brume_call *call, brume_error *error)
{
    static const char *const columns[] = {"", "~", NULL};
    if (call->json)
        return write_json(call, NULL, NULL, error);
    fprintf(call->out,
            "%sbrume%s: differential privacy with exact noise and certified accounting\n",
            brume_bold(call), brume_plain(call));
    write_heading(call, "Usage");
    fputs("  brume COMMAND [ARGUMENT]... [--OPTION [VALUE]]...\n"
          "  brume help COMMAND\n"
          "  brume --server URL [--server-ca FILE] COMMAND ...\n"
          "  brume --version\n",
          call->out);
    write_heading(call, "Commands");
    size_t count;
    const brume_command *const *commands = brume_commands(&count);
    brume_table *table = brume_table_open(columns);
    for (size_t i = 0; i < count; i++) {
        brume_table_cell(table, "  %s", commands[i]->name);
        brume_table_cell(table, "%s", commands[i]->summary);
    }
    BRUME_TRY(brume_table_write(table, call, error));
    write_heading(call, "Exit codes");
    fputs("  0 done   2 bad arguments, syntax or names   3 refused by a budget or a policy\n"
          "  4 not supported   5 system: randomness, memory, disk, closed output\n"
          "  6 unreadable source, failing engine, damaged ledger   70 internal\n",
          call->out);
    return BRUME_OK;
}

/* Terms and what they mean, side by side; a long term has a line of its own. */
enum { TERM = 24 };

static void write_entry(FILE *out, const char *term, size_t column, const char *help)
{
    size_t width = 2 + brume_text_width(term);
    fprintf(out, "  %s", term);
    if (width + 2 > column) {
        fputc('\n', out);
        width = 0;
    }
    fprintf(out, "%*s", (int)(column - width), "");
    brume_write_wrapped(out, help, column, column);
}

static void option_term(const brume_option *option, char *out, size_t room)
{
    char letter[8] = "";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(out, room, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
}

static size_t widest_option(const brume_option *options, size_t count, size_t widest)
{
    for (size_t i = 0; i < count; i++) {
        char term[100];
        option_term(&options[i], term, sizeof term);
        size_t width = brume_text_width(term);
        if (width > widest && width <= TERM)
            widest = width;
    }
    return widest;
}

static void write_options(FILE *out, const brume_option *options, size_t count, size_t column)
{
    for (size_t i = 0; i < count; i++) {
        char term[100], help[400];
        option_term(&options[i], term, sizeof term);
        brume_option_help(&options[i], help, sizeof help);
        write_entry(out, term, column, help);
    }
}

static void write_text(const brume_call *call, const brume_command *command)
{
    char usage[USAGE], before[100];
    brume_usage(command, usage, sizeof usage);
    fprintf(call->out, "%sbrume %s%s: ", brume_bold(call), command->name, brume_plain(call));
    brume_write_wrapped(call->out, command->summary, strlen("brume : ") + strlen(command->name), 2);
    write_heading(call, "Usage");
    snprintf(before, sizeof before, "  brume %s%s", command->name, *usage ? " " : "");
    char *rest = usage; /* one line of it for each way to call the command */
    for (char *way; (way = strsep(&rest, "\n"));) {
        fputs(before, call->out);
        brume_write_words(call->out, way, strlen(before), 6, "");
    }
    if (command->description) {
        fputc('\n', call->out);
        brume_write_wrapped(call->out, command->description, 0, 0);
    }
    write_heading(call, "Arguments and options");
    size_t widest = widest_option(command->options, command->option_count, 0);
    widest = widest_option(brume_common_options, brume_common_option_count, widest);
    for (size_t i = 0; i < command->operand_count; i++) {
        char help[400];
        brume_operand_help(&command->operands[i], help, sizeof help);
        write_entry(call->out, command->operands[i].name, widest + 4, help);
    }
    write_options(call->out, command->options, command->option_count, widest + 4);
    write_options(call->out, brume_common_options, brume_common_option_count, widest + 4);
    if (command->examples && command->examples[0])
        write_heading(call, "Examples");
    for (size_t i = 0; command->examples && command->examples[i]; i++) {
        fputs("  brume ", call->out);
        brume_write_words(call->out, command->examples[i], 8, 4, " \\");
    }
}

brume_status brume_write_help(brume_call *call, const brume_command *command, brume_error *error)
{
    if (call->json)
        return write_json(call, command, NULL, error);
    write_text(call, command);
    return BRUME_OK;
}

bool brume_write_family_help(brume_call *call, const char *family, brume_status *status,
                             brume_error *error)
{
    size_t count, members = 0;
    const brume_command *const *commands = brume_commands(&count);
    const brume_command *last = NULL;
    for (size_t i = 0; i < count; i++)
        if (brume_command_is_of(commands[i], family)) {
            last = commands[i];
            members++;
        }
    if (members == 0)
        return false;
    *status = BRUME_OK;
    if (call->json)
        *status = write_json(call, NULL, family, error);
    else if (members == 1)
        write_text(call, last);
    if (call->json || members == 1)
        return true;
    fprintf(call->out, "%sbrume %s%s: one of these\n\n", brume_bold(call), family,
            brume_plain(call));
    for (size_t i = 0; i < count; i++)
        if (brume_command_is_of(commands[i], family))
            write_entry(call->out, commands[i]->name, TERM, commands[i]->summary);
    fprintf(call->out, "\n'brume help %s' explains one of them\n", last->name);
    return true;
}

/* --- the command ------------------------------------------------------------------------------ */

static brume_status run(brume_call *call, brume_error *error)
{
    if (brume_call_has(call, "man")) {
        brume_write_manual(call->out);
        return BRUME_OK;
    }
    if (brume_call_has(call, "completion")) {
        brume_write_completion(call->out, brume_call_text(call, "completion"));
        return BRUME_OK;
    }
    const brume_command *command = NULL;
    brume_status status;
    if (call->operand_count == 1 &&
        brume_write_family_help(call, call->operands[0], &status, error))
        return status;
    if (call->operand_count > 0) {
        int used = 0;
        char *words[2] = {(char *)call->operands[0], NULL};
        if (call->operand_count > 1)
            words[1] = (char *)call->operands[1];
        BRUME_TRY(brume_find_command((int)(call->operand_count > 2 ? 2 : call->operand_count),
                                     words, &command, &used, error));
        if ((size_t)used < call->operand_count)
            return brume_fail(error, BRUME_EARGUMENT, "see 'brume help'",
                              "unexpected argument '%.100s'", call->operands[used]);
    }
    return command ? brume_write_help(call, command, error) : brume_write_overview(call, error);
}

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

const brume_command brume_command_help = {
    .name = "help",
    .summary = "explain brume or one of its commands",
    .usage = "[COMMAND] [--man | --completion SHELL]",
    .description = "The commands and the exit codes, or one command with its options and examples. "
                   "The man page and the completions of bash, zsh and fish are made from the same "
                   "tables.",
    BRUME_OPERANDS(BRUME_OPERAND(COMMAND, "COMMAND", "show the help of this command",
                                 .optional = true, .repeated = true)),
    BRUME_OPTIONS(BRUME_FLAG("man", "write the man page, in roff"),
                  BRUME_OPTION(CHOICE, "completion", "SHELL",
                               "write the completion script of a shell", .choices = shells)),
    BRUME_EXAMPLES("help", "help mechanisms", "help --completion bash"),
    .run = run,
};
