/* brume budget: what was spent and what is left. */
#include "command/command.h"

#include <math.h>
#include <string.h>

#include "command/host.h"
#include "command/ledger/open_ledger.h"
#include "command/user/user.h"
#include "ledger/user.h"

/* What is the user's own of it: "mine", null where there is no allotment. */
static brume_status add_mine(const brume_call *call, brume_ledger *ledger, const char *dataset,
                             json_t *object, brume_error *error)
{
    brume_filter filter;
    bool has = false;
    if (!call->host || !call->host->user)
        return BRUME_OK;
    BRUME_TRY(brume_ledger_allotment(ledger, call->host->user, dataset, &has, &filter, error));
    json_t *mine = has ? json_object() : json_null();
    if (json_object_set_new(object, "mine", mine) != 0)
        return brume_no_memory(error, "the answer");
    return has ? brume_filter_to_json(&filter, mine, error) : BRUME_OK;
}

/* Added to a list that is the call's. */
static brume_status add_json(const brume_call *call, brume_ledger *ledger,
                             const brume_dataset *dataset, json_t *list, brume_error *error)
{
    json_t *object = json_pack("{s:s,s:s,s:s}", "dataset", dataset->name, "rule",
                               brume_rule_word(dataset->filter.rule), "adjacency",
                               brume_adjacency_word(dataset->adjacency));
    if (json_array_append_new(list, object) != 0)
        return brume_no_memory(error, "the answer");
    BRUME_TRY(brume_filter_to_json(&dataset->filter, object, error));
    if (json_object_set_new(object, "queries", json_integer((json_int_t)dataset->queries)) != 0)
        return brume_no_memory(error, "the answer");
    return add_mine(call, ledger, dataset->name, object, error);
}

/* "12.34 of 50" as a bar of `width` characters: what is left in full blocks. */
static void write_bar(FILE *out, double left, double of, int width)
{
    double share = of > 0 ? fmin(fmax(left / of, 0), 1) : 0;
    int full = (int)floor(share * width + 0.5);
    if (full == 0 && left > 0)
        full = 1;
    for (int i = 0; i < width; i++)
        fputs(i < full ? "█" : "░", out);
}

/* What is left of delta: as it is where that is short, else four digits, rounded down. */
static brume_number_text delta_left(const brume_decimal *left)
{
    enum { SHORT = 10 };
    char exact[BRUME_DECIMAL_TEXT];
    brume_number_text text;
    brume_decimal_print(left, exact, sizeof exact);
    if (strlen(exact) > SHORT)
        return brume_digits_down(brume_decimal_nearest(left), 4);
    snprintf(text.text, sizeof text.text, "%s", exact);
    return text;
}

static void write_mine(const brume_call *call, brume_ledger *ledger, const char *dataset)
{
    brume_filter filter;
    brume_charge left;
    bool has = false;
    char amount[BRUME_DECIMAL_TEXT], limit[BRUME_DECIMAL_TEXT];
    if (!call->host || !call->host->user ||
        brume_ledger_allotment(ledger, call->host->user, dataset, &has, &filter, NULL) !=
            BRUME_OK ||
        !has || brume_filter_left(&filter, &left, NULL) != BRUME_OK)
        return;
    brume_decimal_print(&left.amount, amount, sizeof amount);
    brume_decimal_print(&filter.limit, limit, sizeof limit);
    fprintf(call->out, "%39syours: %s %s of %s left\n", "",
            filter.rule == BRUME_RULE_CONCENTRATED ? "rho" : "epsilon", amount, limit);
}

/* An epsilon as it was typed; a rho, which is computed from it, with four digits, never more than
 * it is. */
static void print_amount(const brume_decimal *amount, bool rho, char text[BRUME_DECIMAL_TEXT])
{
    double nearest = brume_decimal_nearest(amount);
    if (rho && nearest > 0)
        snprintf(text, BRUME_DECIMAL_TEXT, "%s", brume_digits_down(nearest, 4).text);
    else
        brume_decimal_print(amount, text, BRUME_DECIMAL_TEXT);
}

static void write_text(const brume_call *call, const brume_dataset *dataset)
{
    const brume_filter *filter = &dataset->filter;
    brume_charge left;
    char amount[BRUME_DECIMAL_TEXT], limit[BRUME_DECIMAL_TEXT], most[BRUME_DECIMAL_TEXT];
    if (brume_filter_left(filter, &left, NULL) != BRUME_OK)
        return;
    bool rho = filter->rule == BRUME_RULE_CONCENTRATED;
    print_amount(&left.amount, rho, amount);
    print_amount(&filter->limit, rho, limit);
    brume_decimal_print(&filter->limit_delta, most, sizeof most);
    fprintf(call->out, "%s%-16s%s ", brume_bold(call), dataset->name, brume_plain(call));
    write_bar(call->out, brume_decimal_nearest(&left.amount), brume_decimal_nearest(&filter->limit),
              20);
    fprintf(call->out, "  %s %s of %s left", rho ? "rho" : "epsilon", amount, limit);
    if (rho) {
        char epsilon[BRUME_DECIMAL_TEXT], delta[BRUME_DECIMAL_TEXT];
        brume_decimal_print(&filter->epsilon, epsilon, sizeof epsilon);
        brume_decimal_print(&filter->delta, delta, sizeof delta);
        fprintf(call->out, ", of epsilon %s, delta %s", epsilon, delta);
    }
    if (filter->rule != BRUME_RULE_PURE)
        fprintf(call->out, "\n%39sdelta %s of %s left", "", delta_left(&left.delta).text, most);
    fprintf(call->out, "\n%39s%s%llu %s, rule %s%s\n", "", brume_dim(call),
            (unsigned long long)dataset->queries, dataset->queries == 1 ? "query" : "queries",
            brume_rule_word(filter->rule), brume_plain(call));
}

static bool is_public(const brume_dataset *dataset)
{
    return json_is_true(json_object_get(dataset->policy, "public"));
}

static brume_status write_one(brume_call *call, brume_ledger *ledger, const char *name,
                              json_t *list, brume_error *error)
{
    brume_dataset *dataset = NULL;
    BRUME_TRY(brume_call_open_dataset(call, ledger, name, &dataset, error));
    if (is_public(dataset) && brume_call_operand(call, 0))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' is public and has no budget", name);
    if (is_public(dataset))
        return BRUME_OK;
    if (call->json)
        return add_json(call, ledger, dataset, list, error);
    write_text(call, dataset);
    write_mine(call, ledger, name);
    return BRUME_OK;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    json_t *names = NULL, *list = json_array();
    const char *name = brume_call_operand(call, 0);
    BRUME_TRY(brume_call_keep_json(call, list, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    if (name) {
        BRUME_TRY(write_one(call, ledger, name, list, error));
        return call->json ? brume_call_write_json(call, json_incref(json_array_get(list, 0)), error)
                          : BRUME_OK;
    }
    BRUME_TRY(brume_ledger_names(ledger, &names, error));
    BRUME_TRY(brume_call_keep_json(call, names, error));
    for (size_t i = 0; i < json_array_size(names); i++)
        BRUME_TRY(
            write_one(call, ledger, json_string_value(json_array_get(names, i)), list, error));
    return call->json ? brume_call_write_json(call, json_pack("{s:O}", "budgets", list), error)
                      : BRUME_OK;
}

const brume_command brume_command_budget = {
    .name = "budget",
    .summary = "show what was spent and what is left",
    .description =
        "The budget, the sum of what was charged, and what may still be spent. Under the rule "
        "concentrated the account is kept in rho. Through a server also what is left of the "
        "user's own allotment.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "NAME", "a registered dataset; all of them without it",
                                 .optional = true)),
    BRUME_OPTIONS(BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("budget visits"),
    .run = run,
};
