/* brume explain: what a query would measure, at what price, with what error. Spends nothing. */
#include "command/query/ask.h"

#include <string.h>

#include "command/ledger/open_ledger.h"
#include "command/frame/table.h"
#include "command/frame/wrap.h"
#include "query/release/explain.h"

/* The normalised query, a clause a line: it is broken at "; " outside of quotes. */
static void write_query(FILE *out, const char *text)
{
    while (*text) {
        bool quoted = false;
        size_t length = 0;
        for (; text[length] && (quoted || strncmp(text + length, "; ", 2) != 0); length++)
            quoted ^= text[length] == '\'';
        brume_write_sentence(out, "%.*s", (int)length, text);
        text += length;
        text += *text ? 2 : 0;
    }
}

/* "centred sum in 0..100000, for mean_income" */
static void write_meaning(brume_table *table, const json_t *one, bool private_keys)
{
    const json_t *bounds = json_object_get(one, "bounds"),
                 *columns = json_object_get(one, "columns");
    char within[80] = "", names[400] = "";
    if (bounds)
        snprintf(within, sizeof within, " in %s..%s",
                 brume_shortest(json_number_value(json_array_get(bounds, 0))).text,
                 brume_shortest(json_number_value(json_array_get(bounds, 1))).text);
    for (size_t i = 0, used = 0; i < json_array_size(columns) && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : ", for ",
                                 json_string_value(json_array_get(columns, i)));
    const char *measure = json_string_value(json_object_get(one, "measure"));
    if (private_keys && strcmp(measure, "units") == 0) /* the first of all measures */
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s which groups show",
                 *names ? " and for" : ", for");
    brume_table_cell(table, "%s%s%s", measure, within, names);
}

static void write_measure(brume_table *table, const json_t *one, bool private_keys)
{
    const json_t *scale = json_object_get(one, "scale"), *width = json_object_get(one, "error_95");
    const json_t *rank = json_object_get(one, "rank_error_95");
    scale = scale ? scale : json_object_get(one, "sigma");
    scale = scale ? scale : json_object_get(one, "rate");
    const json_t *sensitivity = json_object_get(one, "sensitivity");
    bool is_open = json_is_null(sensitivity); /* its limit is still to be chosen */
    brume_table_cell(table, "%s",
                     is_open ? "by limit" : brume_rounded_up(json_number_value(sensitivity)).text);
    brume_table_cell(table, "%s", json_string_value(json_object_get(one, "mechanism")));
    brume_table_cell(table, "%s", scale ? brume_rounded_up(json_number_value(scale)).text : "");
    if (rank)
        brume_table_cell(table, "rank %s", brume_rounded_up(json_number_value(rank)).text);
    else
        brume_table_cell(table, "%s", width ? brume_rounded_up(json_number_value(width)).text : "");
    write_meaning(table, one, private_keys);
}

/* Shares of the price: equal ones, or those of the measures and of the estimates of bias. */
static void write_shares(FILE *out, const json_t *plan)
{
    size_t count = json_array_size(plan);
    double first = json_number_value(json_object_get(json_array_get(plan, 0), "share"));
    double last = json_number_value(json_object_get(json_array_get(plan, count - 1), "share"));
    const char *measure =
        json_string_value(json_object_get(json_array_get(plan, count - 1), "measure"));
    bool bias = measure && strncmp(measure, "bias", 4) == 0;
    if (count > 1 && !bias)
        brume_write_sentence(out, "each of the %zu takes an equal share of the price", count);
    else if (count > 1 && first == last)
        brume_write_sentence(out, "each of the %zu takes an equal share of the price", count);
    else if (count > 1)
        brume_write_sentence(out, "each takes %.3g %% of the price, each estimate of bias %.3g %%",
                             100 * first, 100 * last);
}

static brume_status write_measures(brume_call *call, const json_t *plan, bool private_keys,
                                   brume_error *error)
{
    static const char *const heads[] = {">sensitivity", "noise",     ">scale",
                                        ">± 95 %",      "~measured", NULL};
    brume_table *table = brume_table_open(heads);
    for (size_t i = 0; i < json_array_size(plan); i++)
        write_measure(table, json_array_get(plan, i), private_keys);
    return brume_table_write(table, call, error);
}

/* What can be said of quantiles and modes before anything is drawn. */
static void write_selections(FILE *out, const json_t *plan)
{
    bool intervals = false;
    for (size_t i = 0; i < json_array_size(plan); i++)
        intervals = intervals || json_object_get(json_array_get(plan, i), "interval_share");
    if (intervals)
        brume_write_sentence(out, "half of the price of a quantile is for its interval of values");
    for (size_t i = 0; i < json_array_size(plan); i++) {
        const json_t *one = json_array_get(plan, i), *gap = json_object_get(one, "gap_95");
        const json_t *rows = json_object_get(one, "count_error_95");
        if (gap)
            brume_write_sentence(
                out,
                "a value may be the mode if its noisy number of units is at least %lld; of two "
                "values %s units or more apart the rarer one wins in 5 %% of draws at most",
                (long long)json_integer_value(json_object_get(one, "threshold")),
                brume_rounded_up(json_number_value(gap)).text);
        if (rows)
            brume_write_sentence(
                out,
                "the mode that is shown has at most %s rows fewer than the true one, in 95 %% "
                "of draws",
                brume_rounded_up(json_number_value(rows)).text);
    }
}

/* What a quantile or a mode would have for limits of 1, 10, ...: ": ± 3.3 ranks for 1, ± 33 for
 * 10". */
static void write_ladder(char *text, size_t size, const json_t *ladder)
{
    *text = 0;
    for (size_t i = 0, used = 0; i < json_array_size(ladder) && used < size; i++) {
        const json_t *step = json_array_get(ladder, i);
        const json_t *rank = json_object_get(step, "rank_error_95");
        const json_t *bar = rank ? rank : json_object_get(step, "count_error_95");
        if (!bar)
            return; /* said of the column */
        used += (size_t)snprintf(
            text + used, size - used, "%s± %s%s for %s", i ? ", " : ": ",
            brume_rounded_up(json_number_value(bar)).text,
            i      ? ""
            : rank ? " ranks"
                   : " rows",
            brume_shortest(json_number_value(json_object_get(step, "limit"))).text);
    }
}

static void write_limit(FILE *out, const json_t *one)
{
    static const char *const words[][2] = {{"auto", "chosen privately"},
                                           {"typed", "as typed"},
                                           {"policy", "the owner's ceiling"},
                                           {"ledger", "chosen before, in the ledger"}};
    const char *statistic = json_string_value(json_object_get(one, "statistic"));
    const char *chosen = json_string_value(json_object_get(one, "chosen"));
    const char *earlier = json_string_value(json_object_get(one, "earlier"));
    const json_t *limit = json_object_get(one, "limit");
    const char *how = NULL;
    char bars[300];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        how = strcmp(words[i][0], chosen) == 0 ? words[i][1] : how;
    if (!how)
        return; /* nothing to limit: a unit is counted once */
    if (earlier)
        how = strcmp(earlier, "noisy") == 0 ? "by what the ledger has; this query looks once more"
                                            : "chosen privately; nothing was found before";
    write_ladder(bars, sizeof bars, json_object_get(one, "ladder"));
    brume_write_sentence(out, "what one unit adds to the %s is limited to %s, %s%s", statistic,
                         limit ? brume_shortest(json_number_value(limit)).text : "T", how, bars);
}

/* "n: ± 12, or about as much", "n: between ± 11 and ± 1100, by how much one unit has". */
static void write_bars(FILE *out, const json_t *explanation)
{
    const json_t *columns = json_object_get(explanation, "columns");
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const json_t *column = json_array_get(columns, i), *bar = json_object_get(column, "bar_95");
        const char *name = json_string_value(json_object_get(column, "name"));
        if (json_is_number(bar))
            brume_write_sentence(out, "%s: %s± %s", name,
                                 json_is_true(json_object_get(column, "bar_about")) ? "about " : "",
                                 brume_rounded_up(json_number_value(bar)).text);
        else if (json_is_array(bar))
            brume_write_sentence(
                out,
                "%s: between ± %s and ± %s, depending on how much one unit has; 'brume limits' "
                "buys the answer to that alone",
                name, brume_rounded_up(json_number_value(json_array_get(bar, 0))).text,
                brume_rounded_up(json_number_value(json_array_get(bar, 1))).text);
    }
}

static void write_limits(FILE *out, const json_t *explanation)
{
    const json_t *list = json_object_get(explanation, "limit_plan");
    double share =
        json_number_value(json_object_get(json_object_get(explanation, "limits"), "share"));
    for (size_t i = 0; i < json_array_size(list); i++)
        write_limit(out, json_array_get(list, i));
    if (share > 0)
        brume_write_sentence(
            out,
            "choosing takes %.3g %% of the price, more where the first look asks for "
            "another (at most 47 %%)",
            100 * share);
}

static void write_price(FILE *out, const json_t *explanation)
{
    const json_t *cost = json_object_get(explanation, "cost");
    const char *unit = json_is_number(json_object_get(cost, "rho")) ? "rho" : "epsilon";
    const char *rule = json_string_value(json_object_get(explanation, "rule"));
    brume_write_sentence(
        out, "price: %s %s, delta %s%s%s%s%s; nothing was spent", unit,
        brume_shortest(json_number_value(json_object_get(cost, unit))).text,
        brume_rounded_up(json_number_value(json_object_get(cost, "delta"))).text,
        json_is_true(json_object_get(explanation, "delta_by_default")) ? " by default" : "",
        rule ? " (rule " : "", rule ? rule : "", rule ? ")" : "");
}

static brume_status write_text(brume_call *call, const json_t *explanation, brume_error *error)
{
    FILE *out = call->out;
    const json_t *shape = json_object_get(explanation, "shape");
    const json_t *groups = json_object_get(shape, "groups");
    brume_write_sentence(out, "%s", json_string_value(json_object_get(explanation, "sql")));
    if (brume_call_has(call, "verbose"))
        write_query(out, json_string_value(json_object_get(explanation, "normal")));
    fputc('\n', out);
    if (json_is_true(json_object_get(explanation, "public"))) {
        brume_write_sentence(out, "public tables only: answered exactly, and free of charge");
        return BRUME_OK;
    }
    const json_t *stages = json_object_get(explanation, "stages");
    for (size_t i = 0; i < json_array_size(stages); i++) {
        const json_t *one = json_array_get(stages, i), *price = json_object_get(one, "cost");
        const json_t *amount = json_object_get(price, "rho");
        bool concentrated = json_is_number(amount);
        amount = concentrated ? amount : json_object_get(price, "epsilon");
        const json_t *bar = json_array_get(json_object_get(one, "error_95"), 0);
        brume_write_sentence(out, "first, for %s %s: %s%s%s", concentrated ? "rho" : "epsilon",
                             brume_shortest(json_number_value(amount)).text,
                             json_string_value(json_object_get(one, "sql")),
                             json_is_number(bar) ? ", measured to ± " : "",
                             json_is_number(bar) ? brume_rounded_up(json_number_value(bar)).text
                                                 : "");
    }
    if (!shape) { /* only the stages cost something */
        brume_write_sentence(out,
                             "then the query, with a constant for each: it reads public tables "
                             "only, and costs nothing more");
        write_price(out, explanation);
        return BRUME_OK;
    }
    if (json_array_size(stages) > 0)
        brume_write_sentence(out, "then the query, with a constant for each:");
    BRUME_TRY(write_measures(call, json_object_get(explanation, "plan"),
                             json_is_true(json_object_get(shape, "private_keys")), error));
    fputc('\n', out);
    write_bars(out, explanation);
    write_shares(out, json_object_get(explanation, "plan"));
    if (json_array_size(json_object_get(explanation, "limit_plan")) > 0)
        write_limits(out, explanation);
    else
        brume_write_sentence(
            out, "one unit counts in at most %lld %s, with at most %lld %s in each",
            (long long)json_integer_value(json_object_get(shape, "max_groups")),
            json_integer_value(json_object_get(shape, "max_groups")) == 1 ? "group" : "groups",
            (long long)json_integer_value(json_object_get(shape, "max_rows")),
            json_integer_value(json_object_get(shape, "max_rows")) == 1 ? "row" : "rows");
    const json_t *plan = json_object_get(explanation, "plan");
    if (json_object_get(json_array_get(plan, 0), "half_shown_at"))
        brume_write_sentence(
            out,
            "groups are private: one of %lld units is shown in half of the draws at least, a "
            "larger one more often",
            (long long)json_integer_value(json_object_get(shape, "threshold")));
    else if (json_is_true(json_object_get(shape, "private_keys")))
        brume_write_sentence(
            out,
            "groups are private: one is shown if its noisy number of units is at least %lld; "
            "declared keys, and dates that WHERE bounds, need no such test",
            (long long)json_integer_value(json_object_get(shape, "threshold")));
    else
        brume_write_sentence(out, "groups are public: all %lld are answered",
                             (long long)json_integer_value(groups));
    write_selections(out, plan);
    if (json_is_string(json_object_get(explanation, "where_reason")))
        brume_write_sentence(
            out, "rows %s, %s",
            strcmp(json_string_value(json_object_get(explanation, "where")), "engine") == 0
                ? "are bounded on their server"
                : "are bounded in brume",
            json_string_value(json_object_get(explanation, "where_reason")));
    const json_t *warnings = json_object_get(explanation, "warnings");
    for (size_t i = 0; i < json_array_size(warnings); i++)
        brume_write_sentence(out, "warning: %s", json_string_value(json_array_get(warnings, i)));
    write_price(out, explanation);
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
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    BRUME_TRY(
        brume_explain(ledger, brume_call_operand(call, 0), &payment, asked, &explanation, error));
    BRUME_TRY(brume_call_keep_json(call, explanation, error));
    if (!brume_call_has(call, "verbose"))
        json_object_del(explanation, "normal");
    return call->json ? brume_call_write_json(call, json_incref(explanation), error)
                      : write_text(call, explanation, error);
}

const brume_command brume_command_explain = {
    .name = "explain",
    .summary = "show the plan, the price and the error of a query",
    .description = "Parses, plans and prices a query as 'query' would, reads no row and spends "
                   "nothing. Every number comes from the policy and the price.",
    .usage = "SQL [--epsilon E [--delta D] | --rho R | --within A] [OPTION...]",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "SQL", "one SELECT over registered datasets")),
    BRUME_OPTIONS(
        BRUME_PAYMENT_OPTIONS, BRUME_AGE_OPTIONS, BRUME_TARGET_OPTIONS, BRUME_LIMIT_OPTION,
        BRUME_WHERE_OPTION,
        BRUME_FLAG("verbose", "also what brume understood, which free re-reads are found by"),
        BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("explain 'SELECT ward, MEDIAN(age) FROM visits GROUP BY ward' --epsilon 0.5"),
    .run = run,
};
