/* brume mechanisms: every card, or one of them in full. */
#include "command/command.h"

#include <string.h>

#include "base/text.h"
#include "command/frame/output.h"
#include "command/frame/table.h"
#include "mechanism/card.h"
#include "mechanism/trial.h"

static const char *type_name(brume_parameter_type type)
{
    switch (type) {
    case BRUME_PARAMETER_REAL:
        return "real";
    case BRUME_PARAMETER_INTEGER:
        return "integer";
    case BRUME_PARAMETER_FLAG:
        return "flag";
    case BRUME_PARAMETER_MECHANISM:
        return "mechanism";
    }
    return "unknown";
}

static const struct {
    brume_adjacency adjacency;
    const char *name;
} adjacency_names[] = {
    {BRUME_ADD_REMOVE, "add-remove"}, {BRUME_REPLACE, "replace"}, {BRUME_EDGE, "edge"}};
enum { ADJACENCIES = sizeof adjacency_names / sizeof *adjacency_names };

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *parameter_json(const brume_parameter *parameter)
{
    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:b, s:b}", "name",
                               parameter->name, "type", type_name(parameter->type), "help",
                               parameter->help, "unit", parameter->unit, "required",
                               !parameter->optional, "least", brume_json_real(parameter->least),
                               "most", brume_json_real(parameter->most), "least_open",
                               parameter->least_open, "most_open", parameter->most_open);
    if (object && parameter->optional)
        json_object_set_new(object, "default", brume_json_real(parameter->standard));
    return object;
}

static json_t *card_json(const brume_card *card)
{
    json_t *parameters = json_array(), *adjacencies = json_array(), *examples = json_array();
    for (size_t i = 0; i < card->parameter_count; i++)
        json_array_append_new(parameters, parameter_json(&card->parameters[i]));
    for (size_t i = 0; i < ADJACENCIES; i++)
        if (card->adjacencies & (unsigned)adjacency_names[i].adjacency)
            json_array_append_new(adjacencies, json_string(adjacency_names[i].name));
    for (size_t i = 0; card->examples && card->examples[i]; i++)
        json_array_append_new(examples, json_sprintf("brume %s", card->examples[i]));
    json_t *broken = card->broken ? json_string(card->broken) : json_false();
    return json_pack("{s:i, s:s, s:s, s:o, s:s, s:o, s:s, s:s?, s:b, s:s?, s:o, s:o, s:b}", "id",
                     (int)card->id, "name", card->name, "summary", card->summary, "parameters",
                     parameters, "guarantee", card->guarantee, "adjacencies", adjacencies,
                     "sensitivity", card->sensitivity, "accuracy", card->accuracy, "noise",
                     card->noise != NULL, "proof", card->proof, "examples", examples, "broken",
                     broken, "audit", card->trial != NULL);
}

static brume_status write_json(brume_call *call, const brume_card *only, brume_error *error)
{
    size_t count;
    const brume_card *const *cards = brume_cards(&count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (!only || only == cards[i])
            json_array_append_new(list, card_json(cards[i]));
    return brume_call_write_json(call, json_pack("{s:o}", "mechanisms", list), error);
}

/* --- text ------------------------------------------------------------------------------------- */

/* "laplace(scale=)"; with `optional` also what may be left out, in brackets. */
static void expression_form(const brume_card *card, bool optional, char *out, size_t room)
{
    size_t written = 0;
    snprintf(out, room, "%s(", card->name);
    for (size_t i = 0; i < card->parameter_count; i++) {
        const brume_parameter *parameter = &card->parameters[i];
        if (parameter->optional && !optional)
            continue;
        size_t used = strlen(out);
        const char *comma = written++ ? ", " : "";
        if (parameter->type == BRUME_PARAMETER_MECHANISM)
            snprintf(out + used, room - used, "%smechanism(...)", comma);
        else
            snprintf(out + used, room - used, parameter->optional ? "[%s%s=]" : "%s%s=", comma,
                     parameter->name);
    }
    size_t used = strlen(out);
    snprintf(out + used, room - used, ")");
}

static void write_list(brume_call *call)
{
    size_t count;
    const brume_card *const *cards = brume_cards(&count);
    for (size_t i = 0; i < count; i++) {
        char form[200];
        expression_form(cards[i], false, form, sizeof form);
        fprintf(call->out, "%s%s%s\n    ", brume_bold(call), form, brume_plain(call));
        brume_write_wrapped(call->out, cards[i]->summary, 4, 4);
        fprintf(call->out, "    %s", brume_dim(call));
        brume_write_wrapped(call->out, cards[i]->guarantee, 4, 4);
        fputs(brume_plain(call), call->out);
    }
    fprintf(call->out, "\n'brume mechanisms NAME' shows one in full.\n");
}

static void write_field(const brume_call *call, const char *name, const char *text)
{
    if (!text || !*text)
        return;
    fprintf(call->out, "  %s%-12s%s ", brume_dim(call), name, brume_plain(call));
    brume_write_wrapped(call->out, text, 15, 15);
}

/* A bound of a range: large powers of two as such. */
static void write_bound(double bound, char *out, size_t room)
{
    int exponent = 0;
    if (isfinite(bound) && frexp(bound, &exponent) == 0.5 && exponent > 20)
        snprintf(out, room, "2^%d", exponent - 1);
    else
        snprintf(out, room, "%s", brume_shortest(bound).text);
}

static void write_range(const brume_parameter *parameter, char *out, size_t room)
{
    char least[32], most[32];
    write_bound(parameter->least, least, sizeof least);
    write_bound(parameter->most, most, sizeof most);
    const char *type = type_name(parameter->type);
    if (parameter->type == BRUME_PARAMETER_FLAG)
        snprintf(out, room, "true or false");
    else if (parameter->type == BRUME_PARAMETER_MECHANISM)
        snprintf(out, room, "a mechanism");
    else if (isinf(parameter->most))
        snprintf(out, room, "%s %s %s", type, parameter->least_open ? "above" : "of at least",
                 least);
    else
        snprintf(out, room, "%s in %c%s, %s%c", type, parameter->least_open ? '(' : '[', least,
                 most, parameter->most_open ? ')' : ']');
}

static brume_status write_parameters(brume_call *call, const brume_card *card, brume_error *error)
{
    static const char *const columns[] = {"", "", "", "~", NULL};
    brume_table *table = brume_table_open(columns);
    for (size_t i = 0; i < card->parameter_count; i++) {
        const brume_parameter *parameter = &card->parameters[i];
        brume_table_cell(table, "  %s", parameter->name);
        char range[80];
        write_range(parameter, range, sizeof range);
        brume_table_cell(table, "%s", range);
        if (parameter->optional)
            brume_table_cell(table, "default %s",
                             parameter->type == BRUME_PARAMETER_FLAG
                                 ? (parameter->standard != 0 ? "true" : "false")
                                 : brume_shortest(parameter->standard).text);
        else
            brume_table_cell(table, "required");
        bool unit = parameter->unit && *parameter->unit;
        brume_table_cell(table, "%s%s%s%s", parameter->help, unit ? " (" : "",
                         unit ? parameter->unit : "", unit ? ")" : "");
    }
    return brume_table_write(table, call, error);
}

static brume_status write_card(brume_call *call, const brume_card *card, brume_error *error)
{
    char form[200], adjacencies[60] = "";
    expression_form(card, true, form, sizeof form);
    for (size_t i = 0; i < ADJACENCIES; i++)
        if (card->adjacencies & (unsigned)adjacency_names[i].adjacency) {
            size_t used = strlen(adjacencies);
            snprintf(adjacencies + used, sizeof adjacencies - used, "%s%s", used ? ", " : "",
                     adjacency_names[i].name);
        }
    fprintf(call->out, "%s%s%s\n", brume_bold(call), form, brume_plain(call));
    brume_write_wrapped(call->out, card->summary, 0, 0);
    fputc('\n', call->out);
    write_field(call, "guarantee", card->guarantee);
    write_field(call, "adjacency", adjacencies);
    write_field(call, "sensitivity", card->sensitivity);
    write_field(call, "accuracy", card->accuracy);
    write_field(call, "audited on", card->trial ? card->trial->neighbours : NULL);
    write_field(call, "proof", card->proof);
    fprintf(call->out, "\n%sParameters%s\n", brume_bold(call), brume_plain(call));
    BRUME_TRY(write_parameters(call, card, error));
    if (card->examples && card->examples[0])
        fprintf(call->out, "\n%sExamples%s\n", brume_bold(call), brume_plain(call));
    for (size_t i = 0; card->examples && card->examples[i]; i++) {
        fputs("  brume ", call->out);
        brume_write_words(call->out, card->examples[i], 8, 4, " \\");
    }
    return BRUME_OK;
}

static brume_status find_card(const char *name, const brume_card **card, brume_error *error)
{
    *card = brume_card_by_name(name);
    if (*card)
        return BRUME_OK;
    size_t count;
    const brume_card *const *cards = brume_cards(&count);
    const char *names[200];
    for (size_t i = 0; i < count && i < 200; i++)
        names[i] = cards[i]->name;
    const char *nearest = brume_text_nearest(name, names, count < 200 ? count : 200);
    char hint[120];
    snprintf(hint, sizeof hint, nearest ? "did you mean '%s'?" : "see '%s'",
             nearest ? nearest : "brume mechanisms");
    return brume_fail(error, BRUME_EUNKNOWN, hint, "unknown mechanism '%.100s'", name);
}

static brume_status run(brume_call *call, brume_error *error)
{
    const char *name = brume_call_operand(call, 0);
    const brume_card *card = NULL;
    if (name)
        BRUME_TRY(find_card(name, &card, error));
    if (call->json)
        return write_json(call, card, error);
    if (card)
        return write_card(call, card, error);
    write_list(call);
    return BRUME_OK;
}

const brume_command brume_command_mechanisms = {
    .name = "mechanisms",
    .summary = "list the mechanisms and what each guarantees",
    .description =
        "Every mechanism brume knows, with its parameters as they are written in expressions, its "
        "privacy guarantee and the adjacency it is proven for. With NAME, one of them in full: "
        "ranges, accuracy statement, proof note and examples.",
    BRUME_OPERANDS(BRUME_OPERAND(MECHANISM, "NAME", "show this one in full", .optional = true)),
    BRUME_EXAMPLES("mechanisms", "mechanisms --json"),
    .run = run,
};
