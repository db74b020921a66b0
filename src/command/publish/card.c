/* brume card: what a dataset promises as it is registered, and what is left to its owner, by the
 * points at which a guarantee can fail [NIST226]. docs/nist.md says more of each. */
#include "command/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/frame/output.h"
#include "command/ledger/open_ledger.h"
#include "command/publish/guarantee.h"
#include "command/publish/release.h"

typedef struct hazard {
    const char *name;
    const char *done;  /* what brume does about it */
    const char *owner; /* what is left to the owner; NULL: nothing */
} hazard;

/* In the order of docs/nist.md, from the top of the pyramid to its base. */
static const hazard hazards[] = {
    {"epsilon and delta",
     "The price of each answer is charged to the budget before rows are read; what all answers cost "
     "together is a certified bound.",
     "The budget is the owner's choice, and so is what it protects against (docs/choosing.md)."},
    {"unit of privacy",
     "A unit is all rows of one value of the unit's column, in all tables that are linked; limits "
     "hold however many rows it has.",
     "Whether that value is a person: an account, a card or a household protects less."},
    {"algorithms and their correctness",
     "Noise is exact, on integers; each mechanism has a proof note and tests that reject broken twins; "
     "'brume audit' attacks the program itself.",
     NULL},
    {"accuracy and bias",
     "Each value has an error bar; limits, bounds and too small groups are said below an answer, with "
     "their direction where it is known.",
     "Small groups have more noise for their size: publish what can be used, and say what cannot."},
    {"composition",
     "One filter for each dataset, whoever asks; the same question again is free, so that noise cannot be "
     "averaged away.",
     "Other copies of the same data, and releases without brume, are not counted."},
    {"trust and collusion",
     "The central model: the owner's program sees rows, analysts and readers see answers; all analysts "
     "together are one adversary.",
     "Who runs the program, the engine and its server sees the data."},
    {"side channels",
     "No error, no message and no price depends on rows; a server's answers leave at quantised times.",
     "A shell on the machine shows how long a query takes: give analysts the server."},
    {"access and storage",
     "Users have roles and allotments; the ledger is append-only and hash-chained.",
     "The files themselves, their backups and the ledger's: 'ledger verify --against' an export kept "
     "elsewhere."},
    {"collection of data", "Nothing: differential privacy begins when the data is there.",
     "Collect what is needed, and delete what is not."},
};

/* ---- what is public by declaration ---- */

static void write_column(FILE *out, const json_t *column)
{
    const json_t *domain = json_object_get(column, "domain"), *low = json_object_get(column, "low");
    fprintf(out, "    %s %s", json_string_value(json_object_get(column, "name")),
            json_string_value(json_object_get(column, "type")));
    if (json_is_string(low))
        fprintf(out, ", %s to %s", json_string_value(low),
                json_string_value(json_object_get(column, "high")));
    if (json_is_array(domain))
        fprintf(out, ", %zu declared values", json_array_size(domain));
    fputc('\n', out);
}

static void write_public(FILE *out, const json_t *tables)
{
    fputs("\npublic by declaration\n", out);
    for (size_t i = 0; i < json_array_size(tables); i++) {
        const json_t *table = json_array_get(tables, i), *column = NULL;
        size_t j = 0;
        fprintf(out, "  table %s%s\n", json_string_value(json_object_get(table, "name")),
                json_is_true(json_object_get(table, "public")) ? ": not protected" : "");
        json_array_foreach (json_object_get(table, "columns"), j, column)
            write_column(out, column);
    }
}

/* ---- what is promised ---- */

static double member(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* Sentences that are written by `write`, broken into lines. */
static void write_sentences(FILE *out, void (*write)(FILE *, const json_t *), const json_t *dataset)
{
    char *text = NULL;
    size_t length = 0;
    FILE *room = open_memstream(&text, &length);
    if (!room)
        return;
    write(room, dataset);
    if (fclose(room) == 0 && length > 0) {
        while (length > 0 && text[length - 1] == '\n')
            text[--length] = '\0';
        brume_write_wrapped(out, text, 0, 0);
    }
    free(text);
}

static void write_guarantees(FILE *out, const json_t *dataset)
{
    const json_t *guarantees = json_object_get(dataset, "guarantees");
    if (json_array_size(guarantees) == 0)
        fputs("No question has been answered yet.\n", out);
    for (size_t i = 0; i < json_array_size(guarantees); i++) {
        const json_t *one = json_array_get(guarantees, i);
        double epsilon = member(one, "epsilon_upper"), delta = member(one, "delta");
        fprintf(out, "all answers together: epsilon %s", brume_digits_up(epsilon, 6).text);
        if (delta > 0)
            fprintf(out, " at delta %s", brume_digits_up(delta, 3).text);
        fputc('\n', out);
    }
    write_sentences(out, brume_published_belief, dataset);
}

/* What each window of a growing table has. */
static void write_windows(FILE *out, const json_t *dataset)
{
    const json_t *windows = json_object_get(dataset, "windows");
    if (!windows)
        return;
    fprintf(out, "\nEach window of the data has a budget of its own: epsilon %s.\n",
            brume_shortest(member(json_object_get(windows, "budget"), "epsilon")).text);
    if (json_is_false(json_object_get(dataset, "whole_histories")))
        fputs("There is none for whole histories: whoever has rows in several windows is promised\n"
              "the sum of what was spent in them, and nothing more.\n",
              out);
}

static void write_budget(FILE *out, const json_t *dataset)
{
    const json_t *budget = json_object_get(dataset, "budget");
    fprintf(out, "\nrule %s, budget epsilon %s",
            json_string_value(json_object_get(dataset, "rule")),
            brume_shortest(member(budget, "epsilon")).text);
    if (member(budget, "delta") > 0)
        fprintf(out, ", delta %s", brume_shortest(member(budget, "delta")).text);
    fputs("\n", out);
    write_guarantees(out, dataset);
}

static void write_text(const brume_call *call, const json_t *dataset)
{
    fprintf(call->out, "%s%s%s\n", brume_bold(call),
            json_string_value(json_object_get(dataset, "name")), brume_plain(call));
    write_sentences(call->out, brume_published_neighbours, dataset);
    if (!json_is_false(json_object_get(dataset, "whole_histories")))
        write_budget(call->out, dataset);
    write_windows(call->out, dataset);
    write_public(call->out, json_object_get(dataset, "tables"));
    for (size_t i = 0; i < sizeof hazards / sizeof *hazards; i++) {
        fprintf(call->out, "\n%s%s%s\n", brume_bold(call), hazards[i].name, brume_plain(call));
        fputs("  ", call->out);
        brume_write_wrapped(call->out, hazards[i].done, 2, 2);
        if (hazards[i].owner) {
            fputs("  yours: ", call->out);
            brume_write_wrapped(call->out, hazards[i].owner, 9, 9);
        }
    }
}

static json_t *hazards_json(void)
{
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof hazards / sizeof *hazards; i++)
        json_array_append_new(list, json_pack("{s:s,s:s,s:s?}", "hazard", hazards[i].name, "done",
                                              hazards[i].done, "owner", hazards[i].owner));
    return list;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_dataset *dataset = NULL;
    json_t *described = NULL;
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    BRUME_TRY(brume_call_open_dataset(call, ledger, brume_call_operand(call, 0), &dataset, error));
    if (json_is_true(json_object_get(dataset->policy, "public")))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' is public and promises nothing",
                          dataset->name);
    BRUME_TRY(brume_published_dataset(dataset, &described, error));
    BRUME_TRY(brume_call_keep_json(call, described, error));
    if (call->json)
        return brume_call_write_json(
            call, json_pack("{s:O,s:o}", "dataset", described, "hazards", hazards_json()), error);
    write_text(call, described);
    return BRUME_OK;
}

const brume_command brume_command_card = {
    .name = "card",
    .summary = "say what a dataset promises, and what is left to its owner",
    .description =
        "Prints the unit, the adjacency, the budget and what all answers cost together; what is public by "
        "declaration; and, point by point, where a guarantee of differential privacy can fail, what "
        "brume does there and what is the owner's (docs/nist.md). It reads no row and costs nothing.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "NAME", "a dataset")),
    BRUME_OPTIONS(BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("card visits"),
    .run = run,
};
