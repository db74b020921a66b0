/* brume explain: what a query would measure, at what price, with what error. Spends nothing. */
#include "command/query/ask.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "command/frame/output.h"
#include "command/frame/table.h"
#include "command/ledger/open_ledger.h"
#include "query/release/explain.h"
#include "query/release/spend.h"
#include "query/sql/parse.h"

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

enum { LONGEST_LINE = 700 };

static double share_of(const json_t *plan, size_t index)
{
    return json_number_value(json_object_get(json_array_get(plan, index), "share"));
}

/* Is all from this one on an estimate of bias? */
static bool is_bias(const json_t *plan, size_t from)
{
    for (size_t i = from; i < json_array_size(plan); i++) {
        const json_t *measure = json_object_get(json_array_get(plan, i), "measure");
        if (strncmp(json_string_value(measure), "bias", 4) != 0)
            return false;
    }
    return true;
}

/* Shares of the price: equal ones, or those of the measures and of the estimates of bias; else each
 * by itself, as where the number of a mean has a smaller one. */
static void write_shares(FILE *out, const json_t *plan)
{
    size_t count = json_array_size(plan), alike = 1;
    double first = share_of(plan, 0), last = count ? share_of(plan, count - 1) : 0;
    while (alike < count && fabs(share_of(plan, alike) - first) <= 1e-9 * first)
        alike++;
    if (count < 2)
        return;
    if (alike == count) {
        brume_write_sentence(out, "each of the %zu takes an equal share of the price", count);
    } else if (is_bias(plan, alike)) {
        brume_write_sentence(out, "each takes %.3g %% of the price, each estimate of bias %.3g %%",
                             100 * first, 100 * last);
    } else {
        char text[LONGEST_LINE] = "";
        for (size_t i = 0, used = 0; i < count && used < sizeof text; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%.3g %%",
                                     i == 0           ? ""
                                     : i + 1 == count ? " and "
                                                      : ", ",
                                     100 * share_of(plan, i));
        brume_write_sentence(out, "in this order they take %s of the price", text);
    }
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

typedef struct grouped {
    char text[2 * sizeof(brume_number_text)];
} grouped;

/* 2,661,710 */
static grouped thousands(const char *number)
{
    grouped out;
    brume_text_group(number, out.text, sizeof out.text);
    return out;
}

static grouped rounded(const json_t *number)
{
    return thousands(brume_rounded_up(json_number_value(number)).text);
}

static const char *word_of(const json_t *explanation, const char *name)
{
    const char *word =
        json_string_value(json_object_get(json_object_get(explanation, "words"), name));
    return word ? word : name;
}

/* "each patient counts with at most 256 visits", or that this is still to be chosen. */
static void write_most(char *text, size_t size, const json_t *explanation, const char *statistic,
                       const json_t *limit)
{
    const char *unit = word_of(explanation, "unit"), *rows = word_of(explanation, "rows");
    grouped most = thousands(brume_shortest(json_number_value(limit)).text);
    bool one = json_number_value(limit) == 1, sum = strcmp(statistic, "sum") == 0;
    bool groups = strcmp(statistic, "groups") == 0, values = strncmp(statistic, "dist", 4) == 0;
    const char *counted = groups ? "groups" : values ? "different values" : rows;
    if (!limit && sum)
        snprintf(text, size, "how much one %s adds at most is", unit);
    else if (!limit)
        snprintf(text, size, "%s how many %s each %s counts is", groups ? "in" : "with", counted,
                 unit);
    else if (sum)
        snprintf(text, size, "each %s adds at most %s,", unit, most.text);
    else if (one && !groups && !values)
        snprintf(text, size, "each %s counts once,", unit);
    else
        snprintf(text, size, "each %s counts %s at most %s %s,", unit, groups ? "in" : "with",
                 most.text, one && groups ? "group" : counted);
}

/* `before`: the line of the limit before it, which is not said twice. */
static void write_limit(FILE *out, const json_t *explanation, const json_t *one,
                        char before[LONGEST_LINE])
{
    static const char *const words[][2] = {{"auto", "chosen privately"},
                                           {"typed", "as typed"},
                                           {"policy", "the owner's ceiling"},
                                           {"ledger", "by what earlier queries found"}};
    const char *statistic = json_string_value(json_object_get(one, "statistic"));
    const char *chosen = json_string_value(json_object_get(one, "chosen"));
    const char *earlier = json_string_value(json_object_get(one, "earlier"));
    const json_t *limit = json_object_get(one, "limit");
    const char *how = NULL;
    char bars[300], most[300], line[LONGEST_LINE];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        how = strcmp(words[i][0], chosen) == 0 ? words[i][1] : how;
    if (!how || strcmp(statistic, "squares") == 0)
        return; /* nothing to limit: a unit is counted once; or in the units of nothing shown */
    if (earlier)
        how = strcmp(earlier, "noisy") == 0
                  ? "by what earlier queries found; this query looks once more"
                  : "chosen privately; earlier queries found too few to go by";
    write_ladder(bars, sizeof bars, json_object_get(one, "ladder"));
    write_most(most, sizeof most, explanation, statistic, limit);
    snprintf(line, sizeof line, "%s %s%s", most, how, bars);
    if (strcmp(line, before) != 0)
        brume_write_sentence(out, "%s", line);
    snprintf(before, sizeof line, "%s", line);
}

/* What limits are mostly on: "visits", or "groups" where they are on nothing else. */
static const char *limited_word(const json_t *explanation)
{
    const json_t *list = json_object_get(explanation, "limit_plan");
    bool groups = json_array_size(list) > 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        groups = groups &&
                 strcmp(json_string_value(json_object_get(json_array_get(list, i), "statistic")),
                        "groups") == 0;
    return groups ? "groups" : word_of(explanation, "rows");
}

/* Are all limits known, of this question or from earlier ones? */
static bool is_known(const json_t *explanation)
{
    const json_t *list = json_object_get(explanation, "limit_plan");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!json_object_get(json_array_get(list, i), "limit"))
            return false;
    return true;
}

/* "n: ± 12, or about as much", "n: between ± 11 and ± 1,100, by how much one patient has". */
static void write_bars(FILE *out, const json_t *explanation)
{
    const json_t *columns = json_object_get(explanation, "columns");
    bool known = is_known(explanation);
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const json_t *column = json_array_get(columns, i), *bar = json_object_get(column, "bar_95");
        const char *name = json_string_value(json_object_get(column, "name"));
        const json_t *rows = json_object_get(column, "bar_rows");
        if (json_is_number(bar) && rows)
            brume_write_sentence(out, "%s: about ± %s in a group of %s %s", name, rounded(bar).text,
                                 rounded(rows).text, word_of(explanation, "rows"));
        else if (json_is_number(bar))
            brume_write_sentence(out, "%s: %s± %s", name,
                                 json_is_true(json_object_get(column, "bar_about")) ? "about " : "",
                                 rounded(bar).text);
        else if (json_is_array(bar))
            brume_write_sentence(
                out,
                "%s: between ± %s and ± %s, depending on how much one %s has, and longer where "
                "some have more than 100 %s; 'brume limits' buys the answer to that alone",
                name, rounded(json_array_get(bar, 0)).text, rounded(json_array_get(bar, 1)).text,
                word_of(explanation, "unit"), limited_word(explanation));
        else if (json_is_null(bar) && known)
            brume_write_sentence(out,
                                 "%s: how far off it may be depends on the data, and comes with "
                                 "the answer",
                                 name);
        else if (json_is_null(bar))
            brume_write_sentence(
                out, "%s: how far off it may be depends on the data; 'brume limits' buys a look",
                name);
    }
}

/* What a declared ceiling would give: of the first column that it would help. */
static void write_ceiling(FILE *out, const json_t *explanation)
{
    const json_t *columns = json_object_get(explanation, "columns");
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const json_t *below = json_object_get(json_array_get(columns, i), "sure_below");
        if (!below)
            continue;
        brume_write_sentence(
            out,
            "if the owner knows that no %s has more than %s %s, a declared ceiling (max-rows) "
            "makes ± shorter, and sure",
            word_of(explanation, "unit"),
            thousands(brume_shortest(json_number_value(below)).text).text,
            word_of(explanation, "rows"));
        return;
    }
}

static void write_limits(FILE *out, const json_t *explanation)
{
    const json_t *list = json_object_get(explanation, "limit_plan");
    double share =
        json_number_value(json_object_get(json_object_get(explanation, "limits"), "share"));
    char before[LONGEST_LINE] = "";
    for (size_t i = 0; i < json_array_size(list); i++)
        write_limit(out, explanation, json_array_get(list, i), before);
    write_ceiling(out, explanation);
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
    brume_write_windows(out, json_object_get(explanation, "windows"), cost);
}

/* What is asked first, each with its price. */
static void write_stages(FILE *out, const json_t *stages)
{
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
}

/* Which groups are answered. */
static void write_groups(FILE *out, const json_t *explanation)
{
    const json_t *plan = json_object_get(explanation, "plan");
    const json_t *shape = json_object_get(explanation, "shape");
    const json_t *groups = json_object_get(shape, "groups");
    if (json_object_get(json_array_get(plan, 0), "half_shown_at"))
        brume_write_sentence(
            out,
            "groups are private: one of %lld %s is shown in half of the draws at least, a "
            "larger one more often",
            (long long)json_integer_value(json_object_get(shape, "threshold")),
            word_of(explanation, "units"));
    else if (json_is_true(json_object_get(shape, "private_keys")))
        brume_write_sentence(
            out,
            "groups are private: one is shown if its noisy number of %s is at least %lld; "
            "declared keys, and times with declared bounds or within those of WHERE, need no such "
            "test",
            word_of(explanation, "units"),
            (long long)json_integer_value(json_object_get(shape, "threshold")));
    else if (json_integer_value(groups) > 1)
        brume_write_sentence(out, "groups are public: all %lld are answered",
                             (long long)json_integer_value(groups));
}

static brume_status write_text(brume_call *call, const json_t *explanation, brume_error *error)
{
    FILE *out = call->out;
    const json_t *shape = json_object_get(explanation, "shape");
    brume_write_sentence(out, "%s", json_string_value(json_object_get(explanation, "sql")));
    if (brume_call_has(call, "verbose"))
        write_query(out, json_string_value(json_object_get(explanation, "normal")));
    fputc('\n', out);
    if (json_is_true(json_object_get(explanation, "public"))) {
        brume_write_sentence(out, "public tables only: answered exactly, and free of charge");
        return BRUME_OK;
    }
    const json_t *stages = json_object_get(explanation, "stages");
    write_stages(out, stages);
    if (json_is_true(json_object_get(explanation, "post_processed"))) {
        brume_write_sentence(out,
                             "then the SQL around them, on their answers: it costs nothing more");
        write_price(out, explanation);
        return BRUME_OK;
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
            out, "one %s counts in at most %lld %s, with at most %lld %s in each",
            word_of(explanation, "unit"),
            (long long)json_integer_value(json_object_get(shape, "max_groups")),
            json_integer_value(json_object_get(shape, "max_groups")) == 1 ? "group" : "groups",
            (long long)json_integer_value(json_object_get(shape, "max_rows")),
            json_integer_value(json_object_get(shape, "max_rows")) == 1 ? "row" : "rows");
    const json_t *plan = json_object_get(explanation, "plan");
    write_groups(out, explanation);
    write_selections(out, plan);
    const char *apart = json_string_value(json_object_get(explanation, "joint_sets_why"));
    if (json_is_true(json_object_get(explanation, "joint_sets")))
        brume_write_sentence(out,
                             "grouping sets are fitted to each other: every total is the sum of "
                             "its parts, and has less noise than was drawn for it");
    else if (apart)
        brume_write_sentence(out, "each grouping set is noised by itself: %s", apart);
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

/* ---- several statements ---- */

static void add_cost(json_t *cost, const json_t *more)
{
    static const char *const names[] = {"epsilon", "delta", "rho"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const json_t *a = json_object_get(cost, names[i]), *b = json_object_get(more, names[i]);
        if (json_is_number(b))
            json_object_set_new(
                cost, names[i],
                json_real(brume_spend_add(json_number_value(a), json_number_value(b))));
        else if (!a)
            json_object_set_new(cost, names[i], json_null());
    }
}

/* Add what a measurement costs, unless it is recorded or was added before: the same question at the
 * same price. */
static brume_status add_once(const json_t *one, json_t *seen, json_t *cost, brume_error *error)
{
    const json_t *price = json_object_get(one, "cost");
    json_t *key = json_pack("[O?,O?]", json_object_get(one, "normal"), price);
    char *text = key ? json_dumps(key, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(key);
    if (!text)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    if (!json_is_true(json_object_get(one, "recorded")) && !json_object_get(seen, text))
        add_cost(cost, price);
    json_object_set_new(seen, text, json_true());
    free(text);
    return BRUME_OK;
}

/* What the statements of a list would be charged together, one after the other. */
static brume_status cost_of(const json_t *statements, json_t **out, brume_error *error)
{
    json_t *seen = json_object(),
           *cost = json_pack("{s:f,s:f,s:n}", "epsilon", 0.0, "delta", 0.0, "rho");
    brume_status status = seen && cost ? BRUME_OK
                                       : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; status == BRUME_OK && i < json_array_size(statements); i++) {
        const json_t *one = json_array_get(statements, i), *stages = json_object_get(one, "stages");
        bool inner = json_is_true(json_object_get(one, "post_processed"));
        if (!inner)
            status = add_once(one, seen, cost, error);
        for (size_t j = 0; inner && status == BRUME_OK && j < json_array_size(stages); j++)
            status = add_once(json_array_get(stages, j), seen, cost, error);
    }
    json_decref(seen);
    if (status == BRUME_OK)
        *out = cost;
    else
        json_decref(cost);
    return status;
}

static void drop_normal(const brume_call *call, json_t *explanation)
{
    json_t *stages = json_object_get(explanation, "stages");
    if (brume_call_has(call, "verbose"))
        return;
    json_object_del(explanation, "normal");
    for (size_t i = 0; i < json_array_size(stages); i++)
        json_object_del(json_array_get(stages, i), "normal");
}

static brume_status write_list(brume_call *call, json_t *statements, brume_error *error)
{
    json_t *cost = NULL;
    BRUME_TRY(cost_of(statements, &cost, error));
    for (size_t i = 0; i < json_array_size(statements); i++)
        drop_normal(call, json_array_get(statements, i));
    if (call->json)
        return brume_call_write_json(
            call, json_pack("{s:O,s:o}", "statements", statements, "cost", cost), error);
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < json_array_size(statements); i++) {
        status = write_text(call, json_array_get(statements, i), error);
        fputc('\n', call->out);
    }
    bool concentrated = json_is_number(json_object_get(cost, "rho"));
    const char *unit = concentrated ? "rho" : "epsilon";
    brume_write_sentence(
        call->out,
        "all together: %s %s, delta %s; what is asked twice is paid for once, and what is recorded "
        "is free",
        unit, brume_shortest(json_number_value(json_object_get(cost, unit))).text,
        brume_rounded_up(json_number_value(json_object_get(cost, "delta"))).text);
    json_decref(cost);
    return status;
}

static brume_status explain_list(brume_call *call, brume_ledger *ledger, const brume_script *script,
                                 const brume_payment *payment, const brume_target *target,
                                 brume_error *error)
{
    json_t *list = json_array();
    brume_status status = list ? BRUME_OK : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; status == BRUME_OK && i < script->count; i++) {
        json_t *one = NULL;
        status = brume_explain(ledger, script->statements[i], payment, target, &one, error);
        if (status == BRUME_OK)
            json_array_append_new(list, one);
        else
            status = brume_script_failed(script, i, 0, status, error);
    }
    if (status == BRUME_OK)
        status = write_list(call, list, error);
    json_decref(list);
    return status;
}

static brume_status explain_one(brume_call *call, brume_ledger *ledger, const char *sql,
                                const brume_payment *payment, const brume_target *target,
                                brume_error *error)
{
    json_t *explanation = NULL;
    BRUME_TRY(brume_explain(ledger, sql, payment, target, &explanation, error));
    drop_normal(call, explanation);
    brume_status status = call->json ? brume_call_write_json(call, json_incref(explanation), error)
                                     : write_text(call, explanation, error);
    json_decref(explanation);
    return status;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_script script;
    brume_payment payment = brume_call_payment(call);
    brume_target target;
    const brume_target *asked = brume_call_target(call, &target) ? &target : NULL;
    BRUME_TRY(brume_call_check_price(call, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    brume_status status = brume_script_open(call, &script, error);
    bool list = script.count > 1 || brume_call_has(call, "file");
    if (status == BRUME_OK)
        status = list ? explain_list(call, ledger, &script, &payment, asked, error)
                      : explain_one(call, ledger, script.statements[0], &payment, asked, error);
    brume_sql_split_free(script.statements, script.count);
    return status;
}

const brume_command brume_command_explain = {
    .name = "explain",
    .summary = "show the plan, the price and the error of a query",
    .description = "Parses, plans and prices a query as 'query' would, reads no row and spends "
                   "nothing. Every number comes from the policy and the price.\n\n"
                   "Several statements, or a file of them, are priced together, as 'query' would "
                   "ask them: what they share is paid for once.",
    .usage = "(SQL | -f FILE | -) [--epsilon E [--delta D] | --rho R | --within A] [OPTION...]",
    BRUME_OPERANDS(BRUME_OPERAND(
        TEXT, "SQL",
        "SELECT ... over registered datasets; several are parted by ;. With - they come from "
        "standard input",
        .optional = true)),
    BRUME_OPTIONS(
        BRUME_OPTION(FILE, "file", "FILE", "read the SQL from a file", .letter = 'f'),
        BRUME_PAYMENT_OPTIONS, BRUME_AGE_OPTIONS, BRUME_WINDOWS_OPTION, BRUME_TARGET_OPTIONS,
        BRUME_LIMIT_OPTION, BRUME_WHERE_OPTION,
        BRUME_FLAG("verbose", "also what brume understood, which free re-reads are found by"),
        BRUME_PROJECT_OPTION, BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES(
        "explain 'SELECT ward, MEDIAN(age) FROM visits GROUP BY ward' --epsilon 0.5",
        "explain 'SELECT * FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) t' "
        "--epsilon 0.5"),
    .run = run,
};
