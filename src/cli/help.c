/* brume help: the overview, the help of one command, and with --man or --completion the files that
 * packages install. */
#include "cli/help.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "cli/call.h"
#include "cli/table.h"

enum { WIDTH = 96, USAGE = 1000 };

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

void brume_option_help(const brume_option *option, char *out, size_t room)
{
    snprintf(out, room, "%s", option->help);
    if (option->type == BRUME_OPTION_CHOICE)
        for (size_t i = 0; option->choices[i]; i++)
            append(out, room, i ? "|" : " (", option->choices[i],
                   option->choices[i + 1] ? "" : ")");
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

/* `text` in lines of at most WIDTH characters, each after `indent` spaces. */
static void write_wrapped(FILE *out, const char *text, int indent)
{
    int column = 0;
    while (*text) {
        size_t word = strcspn(text, " \n");
        if (column > 0 && column + 1 + (int)word > WIDTH - indent) {
            fputc('\n', out);
            column = 0;
        }
        if (column == 0)
            fprintf(out, "%*s", indent, "");
        else if (word > 0)
            fputc(' ', out), column++;
        fprintf(out, "%.*s", (int)word, text);
        column += (int)word;
        text += word;
        while (*text == ' ')
            text++;
        if (*text == '\n') {
            fputc('\n', out);
            column = 0;
            if (text[1] == '\n')
                fputc('\n', out);
            text += strspn(text, "\n ");
        }
    }
    if (column > 0)
        fputc('\n', out);
}

static void write_heading(const brume_call *call, const char *text)
{
    fprintf(call->out, "\n%s%s%s\n", brume_bold(call), text, brume_plain(call));
}

/* --- the two texts ---------------------------------------------------------------------------- */

brume_status brume_write_overview(brume_call *call, brume_error *error)
{
    static const char *const columns[] = {"", "", NULL};
    fprintf(call->out,
            "%sbrume%s: differential privacy with exact noise and certified accounting\n",
            brume_bold(call), brume_plain(call));
    write_heading(call, "Usage");
    fputs("  brume COMMAND [ARGUMENT]... [--OPTION [VALUE]]...\n"
          "  brume help COMMAND\n"
          "  brume --version\n",
          call->out);
    write_heading(call, "Commands");
    size_t count;
    const brume_command *const *commands = brume_commands(&count);
    brume_table *table = NULL;
    BRUME_TRY(brume_table_open(columns, &table, error));
    for (size_t i = 0; i < count; i++) {
        brume_table_cell(table, "  %s", commands[i]->name);
        brume_table_cell(table, "%s", commands[i]->summary);
    }
    brume_status status = brume_table_write(table, call, error);
    brume_table_close(table);
    BRUME_TRY(status);
    write_heading(call, "Exit codes");
    fputs("  0 done   2 bad arguments, syntax or names   3 refused by a budget or a policy\n"
          "  4 not supported   5 system: randomness, memory, disk, closed output\n"
          "  6 unreadable source, failing engine, damaged ledger   70 internal\n",
          call->out);
    return BRUME_OK;
}

static void option_rows(brume_table *table, const brume_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char help[400];
        brume_option_help(&options[i], help, sizeof help);
        brume_table_cell(table, "  --%s%s%s", options[i].name, options[i].argument ? " " : "",
                         options[i].argument ? options[i].argument : "");
        brume_table_cell(table, "%s", help);
    }
}

brume_status brume_write_help(brume_call *call, const brume_command *command, brume_error *error)
{
    static const char *const columns[] = {"", "", NULL};
    char usage[USAGE];
    brume_usage(command, usage, sizeof usage);
    fprintf(call->out, "%sbrume %s%s: %s\n", brume_bold(call), command->name, brume_plain(call),
            command->summary);
    write_heading(call, "Usage");
    fprintf(call->out, "  brume %s%s%s\n", command->name, *usage ? " " : "", usage);
    if (command->description) {
        fputc('\n', call->out);
        write_wrapped(call->out, command->description, 0);
    }
    brume_table *table = NULL;
    BRUME_TRY(brume_table_open(columns, &table, error));
    for (size_t i = 0; i < command->operand_count; i++) {
        brume_table_cell(table, "  %s", command->operands[i].name);
        brume_table_cell(table, "%s", command->operands[i].help);
    }
    option_rows(table, command->options, command->option_count);
    option_rows(table, brume_common_options, brume_common_option_count);
    write_heading(call, "Arguments and options");
    brume_status status = brume_table_write(table, call, error);
    brume_table_close(table);
    BRUME_TRY(status);
    if (command->examples && command->examples[0])
        write_heading(call, "Examples");
    for (size_t i = 0; command->examples && command->examples[i]; i++)
        fprintf(call->out, "  brume %s\n", command->examples[i]);
    return BRUME_OK;
}

/* --- the command ------------------------------------------------------------------------------ */

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

static brume_status write_json(brume_call *call, const brume_command *only, brume_error *error)
{
    size_t count;
    const brume_command *const *commands = brume_commands(&count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (!only || only == commands[i])
            json_array_append_new(list, command_json(commands[i]));
    return brume_call_write_json(call, json_pack("{s:o}", "commands", list), error);
}

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
    if (call->json)
        return write_json(call, command, error);
    return command ? brume_write_help(call, command, error) : brume_write_overview(call, error);
}

static const brume_operand operands[] = {
    {.name = "COMMAND",
     .type = BRUME_OPERAND_COMMAND,
     .help = "show the help of this command",
     .optional = true,
     .repeated = true},
};
static const char *const shells[] = {"bash", "zsh", "fish", NULL};
static const brume_option options[] = {
    {.name = "man", .help = "write the man page, in roff"},
    {.name = "completion",
     .type = BRUME_OPTION_CHOICE,
     .argument = "SHELL",
     .choices = shells,
     .help = "write the completion script of a shell"},
};
static const char *const examples[] = {"help", "help mechanisms", "help --completion bash", NULL};

const brume_command brume_command_help = {
    .name = "help",
    .summary = "explain brume or one of its commands",
    .usage = "[COMMAND] [--man | --completion SHELL]",
    .description = "The commands and the exit codes, or one command with its options and examples. "
                   "The man page and the completions of bash, zsh and fish are made from the same "
                   "tables.",
    .operands = BRUME_LIST(operands),
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
