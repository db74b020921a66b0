/* brume explain: what a query would measure, at what price, with what error. Spends nothing. */
#include "cli/ask.h"

#include <string.h>

#include "cli/open_ledger.h"
#include "cli/table.h"

static brume_status write_measures(brume_call *call, const json_t *plan, brume_error *error)
{
    static const char *const heads[] = {"measure", "noise", ">sensitivity", ">scale", ">± 95 %",
                                        ">share",  "of",    "bounds",       NULL};
    brume_table *table = NULL;
    BRUME_TRY(brume_table_open(heads, &table, error));
    for (size_t i = 0; i < json_array_size(plan); i++) {
        const json_t *one = json_array_get(plan, i);
        const json_t *scale = json_object_get(one, "scale"),
                     *bounds = json_object_get(one, "bounds");
        scale = scale ? scale : json_object_get(one, "sigma");
        scale = scale ? scale : json_object_get(one, "rate");
        const json_t *width = json_object_get(one, "error_95");
        const json_t *rank = json_object_get(one, "rank_error_95");
        brume_table_cell(table, "%s", json_string_value(json_object_get(one, "measure")));
        brume_table_cell(table, "%s", json_string_value(json_object_get(one, "mechanism")));
        brume_table_cell(
            table, "%s",
            brume_rounded(json_number_value(json_object_get(one, "sensitivity"))).text);
        brume_table_cell(table, "%s", scale ? brume_rounded(json_number_value(scale)).text : "");
        if (rank)
            brume_table_cell(table, "rank %s", brume_rounded(json_number_value(rank)).text);
        else
            brume_table_cell(table, "%s",
                             width ? brume_rounded(json_number_value(width)).text : "");
        brume_table_cell(table, "%.0f %%", 100 * json_number_value(json_object_get(one, "share")));
        const json_t *expression = json_object_get(one, "expression");
        if (expression)
            brume_table_cell(table, "x%lld", (long long)json_integer_value(expression));
        else
            brume_table_cell(table, "%s", "");
        if (bounds)
            brume_table_cell(table, "%s..%s",
                             brume_shortest(json_number_value(json_array_get(bounds, 0))).text,
                             brume_shortest(json_number_value(json_array_get(bounds, 1))).text);
        else
            brume_table_cell(table, "%s", "");
    }
    brume_status status = brume_table_write(table, call, error);
    brume_table_close(table);
    return status;
}

/* What can be said of modes before anything is drawn. */
static void write_modes(FILE *out, const json_t *plan)
{
    for (size_t i = 0; i < json_array_size(plan); i++) {
        const json_t *one = json_array_get(plan, i), *gap = json_object_get(one, "gap_95");
        const json_t *rows = json_object_get(one, "count_error_95");
        if (gap)
            fprintf(out,
                    "a value may be the mode if its noisy number of units is at least %lld; of two "
                    "values %s units or more apart the rarer one wins in 5 %% of draws at most\n",
                    (long long)json_integer_value(json_object_get(one, "threshold")),
                    brume_rounded(json_number_value(gap)).text);
        if (rows)
            fprintf(out,
                    "the mode that is shown has at most %s rows fewer than the true one, in 95 %% "
                    "of draws\n",
                    brume_rounded(json_number_value(rows)).text);
    }
}

static brume_status write_text(brume_call *call, const json_t *explanation, brume_error *error)
{
    FILE *out = call->out;
    const json_t *shape = json_object_get(explanation, "shape");
    const json_t *cost = json_object_get(explanation, "cost");
    const json_t *rho = json_object_get(cost, "rho"), *groups = json_object_get(shape, "groups");
    fprintf(out, "%s\n\n", json_string_value(json_object_get(explanation, "sql")));
    BRUME_TRY(write_measures(call, json_object_get(explanation, "plan"), error));
    fprintf(out, "\none unit counts in at most %lld %s, with at most %lld %s in each\n",
            (long long)json_integer_value(json_object_get(shape, "max_groups")),
            json_integer_value(json_object_get(shape, "max_groups")) == 1 ? "group" : "groups",
            (long long)json_integer_value(json_object_get(shape, "max_rows")),
            json_integer_value(json_object_get(shape, "max_rows")) == 1 ? "row" : "rows");
    const json_t *plan = json_object_get(explanation, "plan");
    if (json_object_get(json_array_get(plan, 0), "half_shown_at"))
        fprintf(out,
                "groups are private: one of %lld units is shown in half of the draws at least, a "
                "larger one more often\n",
                (long long)json_integer_value(json_object_get(shape, "threshold")));
    else if (json_is_true(json_object_get(shape, "private_keys")))
        fprintf(out,
                "groups are private: one is shown if its noisy number of units is at least "
                "%lld\n",
                (long long)json_integer_value(json_object_get(shape, "threshold")));
    else
        fprintf(out, "groups are public: all %lld are answered\n",
                (long long)json_integer_value(groups));
    write_modes(out, plan);
    const char *unit = json_is_number(rho) ? "rho" : "epsilon";
    fprintf(out, "price: %s %s, delta %s%s (rule %s); nothing was spent\n", unit,
            brume_shortest(json_number_value(json_object_get(cost, unit))).text,
            brume_rounded(json_number_value(json_object_get(cost, "delta"))).text,
            json_is_true(json_object_get(explanation, "delta_by_default")) ? " (by default)" : "",
            json_string_value(json_object_get(explanation, "rule")));
    return BRUME_OK;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    json_t *explanation = NULL;
    brume_payment payment = brume_call_payment(call);
    brume_target target;
    const brume_target *asked = brume_call_target(call, &target) ? &target : NULL;
    BRUME_TRY(brume_call_check_price(call, error));
    brume_status status = brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error);
    if (status == BRUME_OK)
        status = brume_explain(ledger, brume_call_operand(call, 0), &payment, asked, &explanation,
                               error);
    if (status == BRUME_OK)
        status = call->json ? brume_call_write_json(call, json_incref(explanation), error)
                            : write_text(call, explanation, error);
    json_decref(explanation);
    brume_ledger_close(ledger);
    return status;
}

static const brume_operand operands[] = {
    {.name = "SQL", .help = "one SELECT over registered datasets"}};
static const brume_option options[] = {BRUME_PAYMENT_OPTIONS, BRUME_TARGET_OPTIONS,
                                       BRUME_LEDGER_OPTION};

static const char *const examples[] = {
    "explain 'SELECT ward, MEDIAN(age) FROM visits GROUP BY ward' --epsilon 0.5",
    NULL,
};

const brume_command brume_command_explain = {
    .name = "explain",
    .summary = "show the plan, the price and the error of a query",
    .description = "Parses, plans and prices a query as 'query' would, reads no row and spends "
                   "nothing. Every number comes from the policy and the price.",
    .operands = BRUME_LIST(operands),
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
