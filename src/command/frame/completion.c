/* Completion scripts for bash, zsh and fish, made from the tables of commands and cards. */
#include "command/frame/help.h"

#include <string.h>

#include "command/frame/call.h"
#include "mechanism/card.h"

/* --- pieces ----------------------------------------------------------------------------------- */

/* Inside single quotes of a shell: ' becomes '\''. With `brackets` also escape what zsh's
 * _arguments reads as syntax. */
static void write_quoted(FILE *out, const char *text, bool brackets)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (brackets && strchr("[]:\\", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

static void write_words(FILE *out, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", words[i]);
}

static void write_card_names(FILE *out)
{
    size_t count;
    const brume_card *const *cards = brume_cards(&count);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s", i ? " " : "", cards[i]->name);
}

/* The first words of all commands, each once. */
static void write_first_words(FILE *out)
{
    size_t count;
    const brume_command *const *commands = brume_commands(&count);
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(commands[i]->name, " ");
        bool seen = false;
        for (size_t j = 0; j < i; j++)
            seen |= strcspn(commands[j]->name, " ") == length &&
                    strncmp(commands[j]->name, commands[i]->name, length) == 0;
        if (!seen)
            fprintf(out, "%s%.*s", i ? " " : "", (int)length, commands[i]->name);
    }
}

/* What an operand completes to: words, or nothing. Files are the shell's own business. */
static void write_operand_words(FILE *out, const brume_operand *operand)
{
    if (operand->type == BRUME_OPERAND_MECHANISM || operand->type == BRUME_OPERAND_EXPRESSION)
        write_card_names(out);
    else if (operand->type == BRUME_OPERAND_COMMAND)
        write_first_words(out);
    else if (operand->type == BRUME_OPERAND_CHOICE)
        write_words(out, operand->choices);
}

static bool takes_files(const brume_command *command)
{
    for (size_t i = 0; i < command->operand_count; i++)
        if (command->operands[i].type == BRUME_OPERAND_FILE)
            return true;
    return false;
}

/* --- bash ------------------------------------------------------------------------------------- */

static void bash_option_values(FILE *out, const brume_command *command)
{
    for (size_t i = 0; i < command->option_count; i++) {
        const brume_option *option = &command->options[i];
        if (option->type == BRUME_OPTION_FLAG)
            continue;
        fprintf(out, "        '%s --%s') ", command->name, option->name);
        if (option->type == BRUME_OPTION_CHOICE) {
            fputs("COMPREPLY=($(compgen -W '", out);
            write_words(out, option->choices);
            fputs("' -- \"$current\")); ", out);
        } else if (option->type == BRUME_OPTION_FILE) {
            fputs("COMPREPLY=($(compgen -f -- \"$current\")); ", out);
        }
        fputs("return ;;\n", out);
    }
}

static void bash_command(FILE *out, const brume_command *command)
{
    fprintf(out, "        '%s') words='", command->name);
    for (size_t i = 0; i < command->option_count; i++)
        fprintf(out, "--%s ", command->options[i].name);
    for (size_t i = 0; i < brume_common_option_count; i++)
        fprintf(out, "--%s ", brume_common_options[i].name);
    for (size_t i = 0; i < command->operand_count; i++) {
        write_operand_words(out, &command->operands[i]);
        fputc(' ', out);
    }
    fprintf(out, "'%s ;;\n", takes_files(command) ? "; files=yes" : "");
}

static void write_bash(FILE *out, const brume_command *const *commands, size_t count)
{
    fputs(
        "# bash completion of brume, made by 'brume help --completion bash'\n"
        "_brume() {\n"
        "    local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
        "    local command='' word words='' files=''\n"
        "    COMPREPLY=()\n"
        "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
        "        [[ $word == -* ]] && continue\n"
        "        if [[ -z $command ]]; then command=$word; continue; fi\n"
        "        case \"$command $word\" in\n",
        out);
    for (size_t i = 0; i < count; i++)
        if (strchr(commands[i]->name, ' '))
            fprintf(out, "            '%s') command=\"$command $word\" ;;\n", commands[i]->name);
    fputs("            *) ;;\n"
          "        esac\n"
          "        break\n"
          "    done\n"
          "    if [[ -z $command ]]; then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    write_first_words(out);
    fputs(" --help --server --server-ca --version' -- \"$current\"))\n"
          "        return\n"
          "    fi\n"
          "    case \"$command $previous\" in\n",
          out);
    for (size_t i = 0; i < count; i++)
        bash_option_values(out, commands[i]);
    fputs("        *) ;;\n"
          "    esac\n"
          "    case \"$command\" in\n",
          out);
    for (size_t i = 0; i < count; i++)
        bash_command(out, commands[i]);
    /* "ledger" alone: the second words of its commands. */
    for (size_t i = 0; i < count; i++) {
        const char *space = strchr(commands[i]->name, ' ');
        if (space)
            fprintf(out, "        '%.*s') ;;\n", (int)(space - commands[i]->name),
                    commands[i]->name);
    }
    fputs("        *) ;;\n"
          "    esac\n",
          out);
    for (size_t i = 0; i < count; i++) {
        const char *space = strchr(commands[i]->name, ' ');
        if (space)
            fprintf(out, "    [[ $command == '%.*s' ]] && words=\"$words %s\"\n",
                    (int)(space - commands[i]->name), commands[i]->name, space + 1);
    }
    fputs("    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
          "    [[ -n $files ]] && COMPREPLY+=($(compgen -f -- \"$current\"))\n"
          "    return 0\n"
          "}\n"
          "complete -F _brume brume\n",
          out);
}

/* --- zsh -------------------------------------------------------------------------------------- */

static void zsh_option(FILE *out, const brume_option *option)
{
    char help[400];
    brume_option_help(option, help, sizeof help);
    fprintf(out, " \\\n            '%s--%s[", option->repeated ? "*" : "", option->name);
    write_quoted(out, help, true);
    fputc(']', out);
    if (option->type != BRUME_OPTION_FLAG) {
        fputc(':', out);
        write_quoted(out, option->argument, true);
        fputc(':', out);
    }
    if (option->type == BRUME_OPTION_CHOICE) {
        fputc('(', out);
        write_words(out, option->choices);
        fputc(')', out);
    } else if (option->type == BRUME_OPTION_FILE) {
        fputs("_files", out);
    }
    fputc('\'', out);
}

static void zsh_command(FILE *out, const brume_command *command)
{
    const char *space = strchr(command->name, ' ');
    fprintf(out, "        '%s')\n%s            _arguments", command->name,
            space ? "            shift words; (( CURRENT-- ))\n" : "");
    for (size_t i = 0; i < command->option_count; i++)
        zsh_option(out, &command->options[i]);
    for (size_t i = 0; i < brume_common_option_count; i++)
        zsh_option(out, &brume_common_options[i]);
    for (size_t i = 0; i < command->operand_count; i++) {
        const brume_operand *operand = &command->operands[i];
        fprintf(out, " \\\n            '%s:",
                operand->repeated   ? "*"
                : operand->optional ? ":"
                                    : "");
        write_quoted(out, operand->name, true);
        fputc(':', out);
        if (operand->type == BRUME_OPERAND_FILE) {
            fputs("_files", out);
        } else {
            fputc('(', out);
            write_operand_words(out, operand);
            fputc(')', out);
        }
        fputc('\'', out);
    }
    fputs(" ;;\n", out);
}

static void write_zsh(FILE *out, const brume_command *const *commands, size_t count)
{
    fputs("#compdef brume\n# zsh completion of brume, made by 'brume help --completion zsh'\n"
          "_brume() {\n"
          "    local -a commands=(\n",
          out);
    for (size_t i = 0; i < count; i++) {
        fputs("        '", out);
        write_quoted(out, commands[i]->name, true);
        fputc(':', out);
        write_quoted(out, commands[i]->summary, false);
        fputs("'\n", out);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe 'command' commands\n"
          "        return\n"
          "    fi\n"
          "    local name=\"$words[2]\"\n"
          "    [[ -n ${commands[(r)$words[2] $words[3]:*]} ]] && name=\"$words[2] $words[3]\"\n"
          "    shift words; (( CURRENT-- ))\n"
          "    case \"$name\" in\n",
          out);
    for (size_t i = 0; i < count; i++)
        zsh_command(out, commands[i]);
    fputs("    esac\n"
          "}\n"
          "compdef _brume brume\n",
          out);
}

/* --- fish ------------------------------------------------------------------------------------- */

static void fish_condition(FILE *out, const brume_command *command)
{
    const char *space = strchr(command->name, ' ');
    fputs("complete -c brume -n '", out);
    if (space)
        fprintf(out, "__fish_seen_subcommand_from %.*s; and __fish_seen_subcommand_from %s",
                (int)(space - command->name), command->name, space + 1);
    else
        fprintf(out, "__fish_seen_subcommand_from %s", command->name);
    fputc('\'', out);
}

static void fish_options(FILE *out, const brume_command *command, const brume_option *options,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char help[400];
        brume_option_help(&options[i], help, sizeof help);
        fish_condition(out, command);
        fprintf(out, " -l %s", options[i].name);
        if (options[i].type == BRUME_OPTION_FILE)
            fputs(" -r -F", out);
        else if (options[i].type != BRUME_OPTION_FLAG)
            fputs(" -x", out);
        if (options[i].type == BRUME_OPTION_CHOICE) {
            fputs(" -a '", out);
            write_words(out, options[i].choices);
            fputc('\'', out);
        }
        fputs(" -d '", out);
        write_quoted(out, help, false);
        fputs("'\n", out);
    }
}

static void write_fish(FILE *out, const brume_command *const *commands, size_t count)
{
    fputs("# fish completion of brume, made by 'brume help --completion fish'\n"
          "complete -c brume -f\n"
          "complete -c brume -n __fish_use_subcommand -l version -d 'the version'\n"
          "complete -c brume -n __fish_use_subcommand -l server -x -d 'the server that runs it'\n"
          "complete -c brume -n __fish_use_subcommand -l server-ca -r -F -d 'who is trusted'\n",
          out);
    for (size_t i = 0; i < count; i++) {
        const brume_command *command = commands[i];
        const char *space = strchr(command->name, ' ');
        if (space)
            fprintf(out,
                    "complete -c brume -n __fish_use_subcommand -a %.*s\n"
                    "complete -c brume -n '__fish_seen_subcommand_from %.*s' -a %s -d '",
                    (int)(space - command->name), command->name, (int)(space - command->name),
                    command->name, space + 1);
        else
            fprintf(out, "complete -c brume -n __fish_use_subcommand -a %s -d '", command->name);
        write_quoted(out, command->summary, false);
        fputs("'\n", out);
        fish_options(out, command, command->options, command->option_count);
        fish_options(out, command, brume_common_options, brume_common_option_count);
        for (size_t j = 0; j < command->operand_count; j++) {
            fish_condition(out, command);
            if (command->operands[j].type == BRUME_OPERAND_FILE) {
                fputs(" -F\n", out);
                continue;
            }
            fputs(" -a '", out);
            write_operand_words(out, &command->operands[j]);
            fputs("'\n", out);
        }
    }
}

void brume_write_completion(FILE *out, const char *shell)
{
    size_t count;
    const brume_command *const *commands = brume_commands(&count);
    if (strcmp(shell, "bash") == 0)
        write_bash(out, commands, count);
    else if (strcmp(shell, "zsh") == 0)
        write_zsh(out, commands, count);
    else
        write_fish(out, commands, count);
}
