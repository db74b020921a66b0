/* The man page brume(1), made from the tables of commands and cards. */
#include "command/frame/help.h"

#include <string.h>

#include <brume/version.h>

#include "command/frame/call.h"
#include "mechanism/card.h"

/* Text for roff: backslashes, dashes and quotes literal, no line that begins as a request, and a
 * paragraph break for an empty line. */
static void write_roff(FILE *out, const char *text)
{
    bool at_start = true;
    for (; *text; text++) {
        if (at_start && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        at_start = false;
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else if (*text == '\'')
            fputs("\\(aq", out);
        else if (*text == '^')
            fputs("\\(ha", out);
        else if (*text == '~')
            fputs("\\(ti", out);
        else if (*text == '\n' && text[1] == '\n') {
            fputs("\n.PP\n", out);
            text++;
            at_start = true;
        } else
            fputc(*text, out);
    }
}

static void write_line(FILE *out, const char *before, const char *text)
{
    fputs(before, out);
    write_roff(out, text);
    fputc('\n', out);
}

static void write_options(FILE *out, const brume_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char help[400];
        brume_option_help(&options[i], help, sizeof help);
        fputs(".TP\n\\fB\\-\\-", out);
        write_roff(out, options[i].name);
        fputs("\\fR", out);
        if (options[i].argument) {
            fputs(" \\fI", out);
            write_roff(out, options[i].argument);
            fputs("\\fR", out);
        }
        fputc('\n', out);
        write_line(out, "", help);
    }
}

static void write_command(FILE *out, const brume_command *command)
{
    char usage[1000];
    brume_usage(command, usage, sizeof usage);
    fputs(".SS \"brume ", out);
    write_roff(out, command->name);
    fputs("\"\n", out);
    char *rest = usage; /* one line of it for each way to call the command */
    for (char *way; (way = strsep(&rest, "\n"));) {
        fputs(".PP\n\\fBbrume ", out);
        write_roff(out, command->name);
        fputs("\\fR ", out);
        write_line(out, "", way);
    }
    write_line(out, ".PP\n", command->description ? command->description : command->summary);
    for (size_t i = 0; i < command->operand_count; i++) {
        write_line(out, ".TP\n\\fI", command->operands[i].name);
        char help[400];
        brume_operand_help(&command->operands[i], help, sizeof help);
        write_line(out, "\\fR", help);
    }
    write_options(out, command->options, command->option_count);
    if (command->examples && command->examples[0])
        fputs(".PP\nExamples:\n.PP\n.EX\n", out);
    for (size_t i = 0; command->examples && command->examples[i]; i++)
        write_line(out, "    brume ", command->examples[i]);
    if (command->examples && command->examples[0])
        fputs(".EE\n", out);
}

static void write_cards(FILE *out)
{
    size_t count;
    const brume_card *const *cards = brume_cards(&count);
    for (size_t i = 0; i < count; i++) {
        const brume_card *card = cards[i];
        fputs(".TP\n\\fB", out);
        write_roff(out, card->name);
        fputs("\\fR(", out);
        for (size_t j = 0; j < card->parameter_count; j++) {
            fputs(j ? ", \\fI" : "\\fI", out);
            write_roff(out, card->parameters[j].name);
            fputs("\\fR", out);
        }
        fputs(")\n", out);
        write_roff(out, card->summary);
        fputs(". ", out);
        write_line(out, "", card->guarantee);
    }
}

void brume_write_manual(FILE *out)
{
    fprintf(out,
            ".\\\" Made by 'brume help --man' from the tables of commands and cards.\n"
            ".TH BRUME 1 \"\" \"brume %s\" \"User Commands\"\n",
            BRUME_VERSION);
    fputs(".SH NAME\nbrume \\- differential privacy with exact noise and certified accounting\n"
          ".SH SYNOPSIS\n.B brume\n.I COMMAND\n[\\fIARGUMENT\\fR]... "
          "[\\fB\\-\\-\\fIOPTION\\fR [\\fIVALUE\\fR]]...\n.br\n.B brume help\n[\\fICOMMAND\\fR]\n"
          ".br\n.B brume \\-\\-server\n.I URL\n[\\fB\\-\\-server\\-ca\\fR \\fIFILE\\fR] "
          "\\fICOMMAND\\fR ...\n.br\n.B brume \\-\\-version\n",
          out);
    fputs(
        ".SH DESCRIPTION\n"
        "Mechanisms are written as expressions: terms joined by \\fB+\\fR, each a mechanism with\n"
        "its parameters, repeated by \\fB*\\fR \\fICOUNT\\fR, such as\n.PP\n.EX\n"
        "    laplace(scale=10)*5 + gaussian(sigma=2, sensitivity=1)*100\n.EE\n"
        ".PP\nErrors go to standard error and never to standard output.\n"
        ".PP\nWith \\fB\\-\\-server\\fR the command runs on a server (\\fBbrume serve\\fR), for the "
        "user whose\ntoken is in \\fB$BRUME_TOKEN\\fR. Its certificate must be signed by who is "
        "trusted:\nthe system's authorities, or those in \\fB\\-\\-server\\-ca\\fR \\fIFILE\\fR.\n"
        ".SH COMMON OPTIONS\n",
        out);
    write_options(out, brume_common_options, brume_common_option_count);
    fputs(".SH COMMANDS\n", out);
    size_t count;
    const brume_command *const *commands = brume_commands(&count);
    for (size_t i = 0; i < count; i++)
        write_command(out, commands[i]);
    fputs(".SH MECHANISMS\n", out);
    write_cards(out);
    fputs(".SH EXIT STATUS\n"
          ".TP\n0\ndone\n.TP\n2\nsyntax, unknown names, missing or bad arguments\n"
          ".TP\n3\nrefused by a budget, a cap or a policy\n.TP\n4\nnot supported\n"
          ".TP\n5\nsystem: randomness, memory, a full or read\\-only disk, closed output\n"
          ".TP\n6\nan unreadable source, a failing engine, a damaged ledger\n"
          ".TP\n70\ninternal error\n"
          ".SH ENVIRONMENT\n.TP\n.B BRUME_LEDGER\nthe ledger's file where \\fB\\-\\-ledger\\fR is "
          "not given\n.TP\n.B NO_COLOR\nno colour, also on a terminal\n",
          out);
}
