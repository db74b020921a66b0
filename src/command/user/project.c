/* brume project open, amend, close, list: users with a purpose and a budget in common; and brume
 * review list, show, approve, reject: answers that are held until others approve them. */
#include "ledger/review.h"

#include <stdlib.h>
#include <string.h>

#include "command/frame/table.h"
#include "command/frame/output.h"
#include "command/ledger/open_ledger.h"
#include "command/query/write_answer.h"
#include "command/user/user.h"
#include "query/release/answer.h"
#include "query/release/spend.h"

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* ---- projects ---- */

static brume_status read_change(brume_call *call, brume_project_change *out,
                                brume_typed_allotments *allotments, brume_error *error)
{
    const char *shows = brume_call_text(call, "show-answers");
    *out = (brume_project_change){.name = brume_call_operand(call, 0),
                                  .purpose = brume_call_text(call, "purpose"),
                                  .approvals = brume_call_has(call, "approvals")
                                                   ? (int)brume_call_count(call, "approvals", 0)
                                                   : -1,
                                  .shows_answers = shows ? strcmp(shows, "true") == 0 : -1};
    if (brume_call_has(call, "member"))
        BRUME_TRY(brume_call_texts(call, "member", &out->members, &out->member_count, error));
    BRUME_TRY(brume_read_allotments(call, allotments, error));
    out->allotments = allotments->list;
    out->allotment_count = allotments->count;
    return BRUME_OK;
}

/* Who is in it: "kim, lee". */
static void write_members(brume_table *table, const json_t *members)
{
    char text[200] = "";
    size_t i = 0;
    json_t *member = NULL;
    json_array_foreach (members, i, member) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%.70s", i ? ", " : "",
                 json_string_value(member));
    }
    brume_table_cell(table, "%s", text);
}

static brume_status write_projects(brume_call *call, json_t *projects, brume_error *error)
{
    static const char *const columns[] = {"name",        "state",    "approvals", "~members",
                                          "~allotments", "~purpose", NULL};
    size_t i = 0;
    json_t *project = NULL;
    BRUME_TRY(brume_expand_allotments(projects, error));
    if (call->json)
        return brume_call_write_json(call, json_pack("{s:O}", "projects", projects), error);
    if (json_array_size(projects) == 0) {
        fprintf(call->out, "no projects; 'brume help project open' says how to open one\n");
        return BRUME_OK;
    }
    brume_table *table = brume_table_open(columns);
    json_array_foreach (projects, i, project) {
        brume_table_cell(table, "%s", text_of(project, "name"));
        brume_table_cell(table, "%s", text_of(project, "state"));
        brume_table_cell(table, "%lld",
                         (long long)json_integer_value(json_object_get(project, "approvals")));
        write_members(table, json_object_get(project, "members"));
        brume_write_allotments(table, json_object_get(project, "allotments"));
        brume_table_cell(table, "%s", text_of(project, "purpose"));
    }
    return brume_table_write(table, call, error);
}

/* The one of this name, or (NULL) all. */
static brume_status show_projects(brume_call *call, brume_ledger *ledger, const char *name,
                                  brume_error *error)
{
    json_t *projects = NULL;
    BRUME_TRY(brume_ledger_projects(ledger, &projects, error));
    BRUME_TRY(brume_call_keep_json(call, projects, error));
    for (size_t i = json_array_size(projects); name && i-- > 0;)
        if (strcmp(text_of(json_array_get(projects, i), "name"), name) != 0)
            json_array_remove(projects, i);
    return write_projects(call, projects, error);
}

static brume_status run_open(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_project_change change;
    brume_typed_allotments allotments = {0};
    BRUME_TRY(read_change(call, &change, &allotments, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    BRUME_TRY(brume_ledger_open_project(ledger, &change, error));
    return show_projects(call, ledger, change.name, error);
}

static brume_status run_amend(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_project_change change;
    brume_typed_allotments allotments = {0};
    BRUME_TRY(read_change(call, &change, &allotments, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    BRUME_TRY(brume_ledger_amend_project(ledger, &change, error));
    return show_projects(call, ledger, change.name, error);
}

static brume_status run_close(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    BRUME_TRY(brume_ledger_close_project(ledger, brume_call_operand(call, 0), error));
    return show_projects(call, ledger, brume_call_operand(call, 0), error);
}

static brume_status run_list(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    return show_projects(call, ledger, NULL, error);
}

#define PROJECT_OPTIONS                                                                            \
    BRUME_OPTION(TEXT, "member", "USER", "who asks in it; again for another one",                  \
                 .repeated = true),                                                                \
        BRUME_OPTION(TEXT, "allot", "DATASET=epsilon=E[,delta=D]",                                 \
                     "what its members together may take of a dataset's budget",                   \
                     .repeated = true),                                                            \
        BRUME_OPTION(COUNT, "approvals", "N",                                                      \
                     "hold each answer until so many others approve it; 0 unless said",            \
                     BRUME_FROM_TO(0, 9)),                                                         \
        BRUME_OPTION(CHOICE, "show-answers", "true|false",                                         \
                     "whether reviewers see the noisy answer; false unless said",                  \
                     .choices = (const char *const[]){"true", "false", NULL}),                     \
        BRUME_LEDGER_OPTION

const brume_command brume_command_project_open = {
    .name = "project open",
    .summary = "give several users a purpose and a budget in common",
    .description =
        "A project asks in the name of its members: every question of theirs is charged to its "
        "allotment, and to the dataset's budget as always. Its answers are for its members and for "
        "owners. A user who is in one project asks in it; one who is in several names one with "
        "--project; nobody who is in one asks past it.\n\n"
        "With --approvals N answers are held: a question is charged and answered, and the answer is "
        "recorded and shown to nobody until N reviewers or owners, of whom none asked it, have "
        "approved it with 'review approve'. Purpose and reasons stay in the journal: name nobody.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "NAME", "1 to 50 letters, digits and . _ - @")),
    BRUME_OPTIONS(BRUME_OPTION(TEXT, "purpose", "TEXT", "what it is for", .required = true),
                  PROJECT_OPTIONS),
    BRUME_EXAMPLES("project open flu --purpose 'the winter of 2026' --allot visits=epsilon=0.1 "
                   "--approvals 1"),
    .run = run_open,
};

const brume_command brume_command_project_amend = {
    .name = "project amend",
    .summary = "change a project",
    .description =
        "What is not named stays; --member names all members anew. Answers that are held need as "
        "many approvals as when they were asked.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "NAME", "a project")),
    BRUME_OPTIONS(BRUME_OPTION(TEXT, "purpose", "TEXT", "what it is for"), PROJECT_OPTIONS),
    BRUME_EXAMPLES("project amend flu --approvals 2"),
    .run = run_amend,
};

const brume_command brume_command_project_close = {
    .name = "project close",
    .summary = "let nothing be asked in a project any more",
    .description = "Its answers stay, and those that are held can still be reviewed.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "NAME", "a project")),
    BRUME_OPTIONS(BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("project close flu"),
    .run = run_close,
};

const brume_command brume_command_project_list = {
    .name = "project list",
    .summary = "list projects, their members and what they have left",
    BRUME_OPTIONS(BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("project list"),
    .run = run_list,
};

/* ---- reviews ---- */

/* "cost" in place of the exact texts of the charges, and numbers in place of filters. */
static brume_status shape_reviews(json_t *reviews, brume_error *error)
{
    size_t i = 0, j = 0;
    json_t *one = NULL, *entry = NULL;
    json_array_foreach (reviews, i, one) {
        json_t *cost = json_array();
        json_array_foreach (json_object_get(one, "charges"), j, entry) {
            brume_charge price;
            if (brume_charge_parse(text_of(entry, "price"), &price, error) != BRUME_OK) {
                json_decref(cost);
                return BRUME_EDAMAGED;
            }
            json_t *said = brume_left_to_json(&price);
            json_object_set(said, "dataset", json_object_get(entry, "dataset"));
            json_array_append_new(cost, said);
        }
        json_object_del(one, "charges");
        json_array_foreach (json_object_get(one, "spent"), j, entry) {
            brume_filter filter;
            BRUME_TRY(brume_filter_parse(text_of(entry, "filter"), &filter, error));
            json_object_del(entry, "filter");
            BRUME_TRY(brume_filter_to_json(&filter, entry, error));
        }
        if (json_object_set_new(one, "cost", cost) != 0)
            return brume_no_memory(error, "the answer");
    }
    return BRUME_OK;
}

static void write_amount(const brume_call *call, const json_t *of)
{
    const json_t *rho = json_object_get(of, "rho");
    fprintf(
        call->out, "%s %s", json_is_real(rho) ? "rho" : "epsilon",
        brume_shortest(json_real_value(json_is_real(rho) ? rho : json_object_get(of, "epsilon")))
            .text);
}

static void write_review(const brume_call *call, const json_t *one)
{
    size_t i = 0;
    json_t *entry = NULL;
    const char *user = text_of(one, "user");
    fprintf(call->out, "%lld  %.19s  %s  %s, %lld of %lld approvals  asked by %s\n    ",
            (long long)json_integer_value(json_object_get(one, "id")), text_of(one, "time"),
            text_of(one, "project"), text_of(one, "state"),
            (long long)json_integer_value(json_object_get(one, "approvals")),
            (long long)json_integer_value(json_object_get(one, "needed")),
            user ? user : "the owner at the shell");
    brume_write_wrapped(call->out, text_of(one, "sql"), 4, 4);
    fprintf(call->out, "    purpose: ");
    brume_write_wrapped(call->out, text_of(one, "purpose"), 13, 13);
    json_array_foreach (json_object_get(one, "cost"), i, entry) {
        fprintf(call->out, "    cost: ");
        write_amount(call, entry);
        fprintf(call->out, " of %s\n", text_of(entry, "dataset"));
    }
    json_array_foreach (json_object_get(one, "spent"), i, entry) {
        fprintf(call->out, "    the project has spent ");
        write_amount(call, json_object_get(entry, "spent"));
        fprintf(call->out, " of %s\n", text_of(entry, "dataset"));
    }
    json_array_foreach (json_object_get(one, "decisions"), i, entry) {
        const char *by = text_of(entry, "by");
        fprintf(call->out, "    %s by %s: %s\n",
                json_is_true(json_object_get(entry, "approves")) ? "approved" : "rejected",
                by ? by : "the owner at the shell", text_of(entry, "reason"));
    }
}

static brume_status read_reviews(brume_call *call, brume_ledger *ledger, uint64_t id, json_t **out,
                                 brume_error *error)
{
    BRUME_TRY(brume_ledger_reviews(ledger, id, out, error));
    BRUME_TRY(brume_call_keep_json(call, *out, error));
    return shape_reviews(*out, error);
}

static brume_status write_reviews(brume_call *call, brume_ledger *ledger, uint64_t id,
                                  brume_error *error)
{
    json_t *reviews = NULL, *one = NULL;
    size_t i = 0;
    BRUME_TRY(read_reviews(call, ledger, id, &reviews, error));
    for (i = json_array_size(reviews); brume_call_has(call, "held") && i-- > 0;)
        if (strcmp(text_of(json_array_get(reviews, i), "state"), "held") != 0)
            json_array_remove(reviews, i);
    if (call->json)
        return brume_call_write_json(call, json_pack("{s:O}", "reviews", reviews), error);
    if (json_array_size(reviews) == 0)
        fprintf(call->out, "nothing to review\n");
    json_array_foreach (reviews, i, one)
        write_review(call, one);
    return BRUME_OK;
}

static brume_status run_reviews(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    return write_reviews(call, ledger, 0, error);
}

static brume_status read_id(const brume_call *call, uint64_t *id, brume_error *error)
{
    const char *typed = brume_call_operand(call, 0);
    char *end = NULL;
    *id = *typed >= '1' && *typed <= '9' && strlen(typed) < 19 ? strtoull(typed, &end, 10) : 0;
    return *id && !*end ? BRUME_OK
                        : brume_fail(error, BRUME_EARGUMENT, "'brume review list' has them",
                                     "'%.40s' is the number of no charge", typed);
}

static brume_status run_show(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    json_t *record = NULL;
    uint64_t id = 0;
    brume_query_answer *answer = NULL;
    BRUME_TRY(read_id(call, &id, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    BRUME_TRY(brume_ledger_review_answer(ledger, id, &record, error));
    BRUME_TRY(brume_call_keep_json(call, record, error));
    if (!json_object_get(record, "columns")) /* of a release that is no query */
        return brume_call_write_json(call, json_incref(record), error);
    BRUME_TRY(brume_query_answer_recorded(record, &answer, error));
    answer->cached = true;
    brume_status status = brume_write_answer(call, answer, error);
    brume_query_answer_close(answer);
    return status;
}

static brume_status decide(brume_call *call, bool approves, brume_error *error)
{
    brume_ledger *ledger = NULL;
    uint64_t id = 0;
    BRUME_TRY(read_id(call, &id, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    BRUME_TRY(brume_ledger_review(ledger, id, approves, brume_call_text(call, "reason"), error));
    return write_reviews(call, ledger, id, error);
}

static brume_status run_approve(brume_call *call, brume_error *error)
{
    return decide(call, true, error);
}

static brume_status run_reject(brume_call *call, brume_error *error)
{
    return decide(call, false, error);
}

const brume_command brume_command_review_list = {
    .name = "review list",
    .summary = "list the questions whose answers are or were held",
    .description =
        "Each with its purpose, its price, what its project has spent, and what reviewers decided. "
        "An analyst sees those of the projects that he or she is in. It shows no answers.",
    BRUME_OPTIONS(BRUME_FLAG("held", "only what waits for approvals"), BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("review list"),
    .run = run_reviews,
};

const brume_command brume_command_review_show = {
    .name = "review show",
    .summary = "show a held answer to its reviewer",
    .description =
        "The noisy answer as it was recorded, if the project shows its answers to reviewers "
        "(--show-answers true): to reviewers and owners, but to none who asked it or is a member.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "ID", "the number of a charge")),
    BRUME_OPTIONS(BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("review show 41"),
    .run = run_show,
};

#define REASON_OPTION                                                                              \
    BRUME_OPTION(TEXT, "reason", "TEXT", "why; it stays in the journal, so name nobody",           \
                 .required = true)

const brume_command brume_command_review_approve = {
    .name = "review approve",
    .summary = "approve a held answer",
    .description =
        "Who asked the question approves nothing, and nobody approves twice. With the last approval "
        "that it needs the answer can be read: asked again, which is free, or by its number.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "ID", "the number of a charge")),
    BRUME_OPTIONS(REASON_OPTION, BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("review approve 41 --reason 'no small groups'"),
    .run = run_approve,
};

const brume_command brume_command_review_reject = {
    .name = "review reject",
    .summary = "reject a held answer, for good",
    .description = "The answer is shown to nobody, ever. Its price stays spent.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "ID", "the number of a charge")),
    BRUME_OPTIONS(REASON_OPTION, BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("review reject 41 --reason 'another purpose'"),
    .run = run_reject,
};
