/* brume history: what was asked, what it cost, and whether it was answered; what was amended. */
#include "command/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "command/frame/table.h"
#include "command/ledger/open_ledger.h"
#include "command/query/ask.h"
#include "command/query/write_answer.h"
#include "query/release/ask.h"

/* A text as one line: SQL is anybody's, and may hold line ends. The caller frees it. */
static char *one_line(const char *text)
{
    char *line = strdup(text), *to = line;
    for (const char *c = text; line && *c; c++) {
        bool blank = (unsigned char)*c <= ' ' || *c == 0x7f;
        if (!blank)
            *to++ = *c;
        else if (to > line && to[-1] != ' ')
            *to++ = ' ';
    }
    if (line)
        *to = 0;
    return line;
}

/* "amended: budget, bounds" */
static char *list_changes(const json_t *event)
{
    const json_t *changes = json_object_get(event, "changes");
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (size_t i = 0; i < json_array_size(changes); i++)
        fprintf(out, "%s%s", i ? ", " : "", json_string_value(json_array_get(changes, i)));
    return fclose(out) == 0 ? text : NULL;
}

/* What was asked, in the last column; in full with `verbose`, cut to a line without. */
static void write_asked(brume_table *table, const json_t *event, bool verbose)
{
    const char *sql = json_string_value(json_object_get(event, "sql"));
    const char *normal = json_string_value(json_object_get(event, "normal"));
    const char *state = json_string_value(json_object_get(event, "state"));
    char *line = sql ? one_line(sql)
                 : strcmp(state, "amended") == 0
                     ? list_changes(event)
                     : strdup("a registration: the name or the source is registered");
    char far[64] = "";
    const json_t *progress = json_object_get(event, "progress");
    long long asked = json_integer_value(json_object_get(progress, "asked"));
    long long hits = json_integer_value(json_object_get(progress, "hits"));
    if (progress)
        snprintf(far, sizeof far, " (%lld asked, %lld hit%s)", asked, hits, hits == 1 ? "" : "s");
    if (verbose && normal)
        brume_table_cell(table, "%s => %s", line ? line : "", normal);
    else if (verbose)
        brume_table_cell(table, "%s%s", line ? line : "", far);
    else
        brume_table_cell(table, "%.*s%s%s", line ? (int)brume_utf8_cut(line, 73) : 0,
                         line ? line : "", line && strlen(line) > 73 ? "..." : "", far);
    free(line);
}

/* Does any of them say this? */
static bool any_has(const json_t *events, const char *key)
{
    size_t i = 0;
    json_t *event = NULL;
    json_array_foreach (events, i, event)
        if (json_object_get(event, key))
            return true;
    return false;
}

/* "2026-01-01..2026-01-31", and how many ranges more; "undated". */
static void write_touched(brume_table *table, const json_t *windows)
{
    const json_t *ranges = json_object_get(windows, "ranges"), *range = json_array_get(ranges, 0);
    const char *first = json_string_value(json_array_get(range, 0));
    const char *last = json_string_value(json_array_get(range, 1));
    size_t more = json_array_size(ranges) - (range != NULL);
    more += range && json_is_true(json_object_get(windows, "undated"));
    bool one = range && strcmp(first, last) == 0;
    bool always = range && strncmp(first, "0001", 4) == 0; /* from the calendar's first day on */
    char rest[32] = "";
    if (more)
        snprintf(rest, sizeof rest, " and %zu more", more);
    if (range)
        brume_table_cell(table, "%s%s%s%s", always ? "up to " : first, one || always ? "" : "..",
                         one && !always ? "" : last, rest);
    else
        brume_table_cell(table, "%s",
                         json_is_true(json_object_get(windows, "undated")) ? "undated" : "");
}

/* "epsilon 0.1, delta 2.5e-08", the delta rounded up; nothing where nothing was charged. JSON has
 * the price as it was charged. */
static void write_cost(brume_table *table, const json_t *cost)
{
    const json_t *rho = json_object_get(cost, "rho"), *epsilon = json_object_get(cost, "epsilon");
    bool concentrated = json_is_number(rho);
    double delta = json_number_value(json_object_get(cost, "delta"));
    if (!concentrated && !json_is_number(epsilon))
        brume_table_cell(table, "%s", "");
    else
        brume_table_cell(table, "%s %s%s%s", concentrated ? "rho" : "epsilon",
                         brume_shortest(json_number_value(concentrated ? rho : epsilon)).text,
                         delta > 0 ? ", delta " : "",
                         delta > 0 ? brume_rounded_up(delta).text : "");
}

static brume_status write_table(brume_call *call, const json_t *events, brume_error *error)
{
    bool users = any_has(events, "user"), windows = any_has(events, "windows");
    const char *columns[9] = {">id", "time", "dataset"};
    size_t count = 3;
    if (users)
        columns[count++] = "user";
    columns[count++] = "state";
    columns[count++] = "cost";
    if (windows)
        columns[count++] = "windows";
    columns[count] = "~sql";
    if (json_array_size(events) == 0) {
        fprintf(call->out, "nothing was asked yet\n");
        return BRUME_OK;
    }
    brume_table *table = brume_table_open(columns);
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        const char *time = json_string_value(json_object_get(event, "time"));
        brume_table_cell(table, "%lld",
                         (long long)json_integer_value(json_object_get(event, "id")));
        brume_table_cell(table, "%.19s", time ? time : "");
        brume_table_cell(table, "%s", json_string_value(json_object_get(event, "dataset")));
        const char *user = json_string_value(json_object_get(event, "user"));
        if (users)
            brume_table_cell(table, "%s", user ? user : "");
        brume_table_cell(table, "%s", json_string_value(json_object_get(event, "state")));
        write_cost(table, json_object_get(event, "cost"));
        if (windows)
            write_touched(table, json_object_get(event, "windows"));
        write_asked(table, event, brume_call_has(call, "verbose"));
    }
    return brume_table_write(table, call, error);
}

/* Without --verbose the events say nothing of what brume made of the SQL. */
static void hide_normal(const json_t *events)
{
    for (size_t i = 0; i < json_array_size(events); i++)
        json_object_del(json_array_get(events, i), "normal");
}

/* --answer: the recorded answer of one charge. */
static brume_status write_recorded(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_query_answer *answer = NULL;
    if (brume_call_operand(call, 0) || brume_call_has(call, "verbose") ||
        brume_call_has(call, "limit") || brume_call_has(call, "before"))
        return brume_fail(error, BRUME_EARGUMENT, "the number of a charge says which it is",
                          "'--answer' takes neither a dataset nor another option");
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    BRUME_TRY(brume_recall(ledger, brume_call_count(call, "answer", 0), &answer, error));
    brume_status status = brume_write_answer(call, answer, error);
    brume_query_answer_close(answer);
    return status;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_dataset *dataset = NULL;
    json_t *history = NULL;
    const char *name = brume_call_operand(call, 0);
    const brume_history_page page = {
        .before = brume_call_count(call, "before", 0),
        .most = (size_t)brume_call_count(call, "limit", BRUME_HISTORY_EVENTS)};
    if (brume_call_has(call, "answer"))
        return write_recorded(call, error);
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    if (name) /* is there one? */
        BRUME_TRY(brume_call_open_dataset(call, ledger, name, &dataset, error));
    BRUME_TRY(brume_ledger_history(ledger, name, &page, &history, error));
    BRUME_TRY(brume_call_keep_json(call, history, error));
    if (!brume_call_has(call, "verbose"))
        hide_normal(json_object_get(history, "events"));
    if (call->json)
        return brume_call_write_json(call, json_incref(history), error);
    BRUME_TRY(write_table(call, json_object_get(history, "events"), error));
    const json_t *before = json_object_get(history, "before");
    if (json_is_integer(before))
        fprintf(call->out, "older ones: brume history%s%s --before %lld\n", name ? " " : "",
                name ? name : "", (long long)json_integer_value(before));
    return BRUME_OK;
}

const brume_command brume_command_history = {
    .name = "history",
    .summary = "list what was asked and what it cost",
    .description =
        "The newest charges, the last one at the end, with the SQL as it was typed; --before goes on "
        "to older ones, and in JSON \"before\" says where. A query that failed or was "
        "interrupted stays charged: whether its answer was seen cannot be known. Free re-reads are "
        "not charges. A stream of questions shows how far it came. The list also has what the owner "
        "amended, and attempts to register a name or a source that is registered already.\n\n"
        "With --answer the answer that was given for one of these charges, as it was recorded: "
        "nothing is asked, and nothing can be spent.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "NAME", "a registered dataset; all of them without it",
                                 .optional = true)),
    BRUME_OPTIONS(
        BRUME_FLAG("verbose", "also what brume understood, which free re-reads are found by"),
        BRUME_OPTION(COUNT, "answer", "ID",
                     "the recorded answer of the query with this id, again and for nothing",
                     BRUME_FROM_TO(1, 1e15)),
        BRUME_OPTION(COUNT, "limit", "N", "so many events, the newest ones (100)",
                     BRUME_FROM_TO(1, 100000)),
        BRUME_OPTION(COUNT, "before", "ID", "only events from before this one: the next page",
                     BRUME_FROM_TO(1, 1e15)),
        BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("history visits"),
    .run = run,
};
